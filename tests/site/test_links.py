"""Addresses of the repository come from one line of pyproject.toml; where it is missing, nothing points anywhere."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.site.load import load, load_site

ROOT = Path(__file__).resolve().parents[2]
HOSTS = r"(?:github\.com|mybinder\.org/v2/gh|colab\.research\.google\.com/github)"
OWN = re.compile(rf"https://{HOSTS}/([\w.-]+/guidedviz)\b")
GUESSED = re.compile(r"OWNER/REPOSITORY|mybinder\.org|colab\.research\.google\.com")


@pytest.fixture(scope="module")
def links():
    return load("site_links", ROOT / "assets/site/links.py")


@pytest.fixture(scope="module")
def repository(links):
    return links.read_repository((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_readme_has_the_links_of_this_setting(links, repository):
    readme = links.README.read_text(encoding="utf-8")
    assert links.BLOCK.search(readme), "the marks"
    assert links.with_links(readme, links.write_links(repository)) == readme, "run: python assets/site/links.py"


def test_one_line_of_pyproject_makes_every_link(links):
    address = links.read_repository('[project]\n[project.urls]\nRepository = "https://github.com/ada/lab"')
    made = links.write_links(address)
    assert set(re.findall(rf"https://{HOSTS}/([\w.-]+/[\w.-]+)", made)) == {"ada/lab"}
    for kind in ("Tests", "Binder", "Colab"):
        assert f"[![{kind}](" in made
    readme = links.README.read_text(encoding="utf-8")
    once = links.with_links(readme, made)
    assert once.count(made) == 1
    assert links.with_links(once, "") == links.with_links(readme, "")


@pytest.mark.parametrize(
    "wrong", ["lab", "https://github.com/ada", "https://ada.example/lab", "https://github.com/a/b/c"]
)
def test_an_address_of_another_form_is_refused(links, wrong):
    with pytest.raises(SystemExit, match=r"expected https://github\.com/OWNER/NAME"):
        links.write_links(wrong)


def test_no_text_of_the_repository_guesses_its_address(repository):
    tracked = subprocess.run(["git", "ls-files", "*.md", "*.ipynb", "*.yml", "*.cff", "*.toml", "*.py", "*.j2"],
                             cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()  # fmt: skip
    allowed = {repository.removeprefix("https://github.com/")}
    found = {}
    for name in set(tracked) - {"assets/site/links.py", "tests/site/test_links.py"}:
        text = (ROOT / name).read_text(encoding="utf-8")
        others = [owner for owner in OWN.findall(text) if owner not in allowed]
        if not repository:
            others += GUESSED.findall(text)
        if others:
            found[name] = others
    assert found == {}
    assert "README.md" in tracked


def test_the_first_page_and_the_texts_of_the_site_have_no_address_of_another_repository(repository):
    site = load_site()
    places = [site.lab_place("00_start_here")]
    pages = [site.Place("index.html", "Start"), *places, *site.PAGES_OF_TEXTS.values()]
    first = site.render(site.build_landing(places), pages[0], pages)
    texts = [site.render(site.build_text(path), place, pages) for path, place in site.PAGES_OF_TEXTS.items()]
    for html in (first, *texts):
        assert not GUESSED.search(html)
        assert {*OWN.findall(html)} <= {repository.removeprefix("https://github.com/")}
