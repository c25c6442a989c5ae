"""Claims about a release: one version everywhere, changes that are read in three minutes, links that lead somewhere."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

import guidedviz as gv
from guidedviz.__main__ import build_parser

ROOT = Path(__file__).resolve().parent.parent
CHANGES = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RELEASE = re.compile(r"^## (\d+\.\d+\.\d+) \((\d{4}-\d\d-\d\d)\)\n(.*?)(?=^## )", re.MULTILINE | re.DOTALL)
WORDS = 180  # read per minute


def test_the_version_stands_in_one_place_and_changes_and_citation_have_the_same():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    version, date, _ = RELEASE.search(CHANGES).groups()
    assert version == gv.__version__
    assert (citation["version"], str(citation["date-released"])) == (version, date)
    assert "version" not in PYPROJECT["project"]
    assert PYPROJECT["tool"]["hatch"]["version"]["path"] == "guidedviz/__init__.py"


def test_a_release_is_read_in_three_minutes():
    for version, _, text in RELEASE.findall(CHANGES):
        assert len(text.split()) <= 3 * WORDS, version
    assert "Unreleased" not in CHANGES or re.search(r"^## Unreleased$", CHANGES, re.MULTILINE)


@pytest.mark.parametrize("name", ["README.md", "CHANGELOG.md", "assets/guide.md", "labs/teaching/course.md"])
def test_every_command_that_a_text_names_exists(name):
    commands = next(iter(build_parser()._subparsers._group_actions)).choices
    text = (ROOT / name).read_text(encoding="utf-8")
    named = set(re.findall(r"(?:^ {4}|`|=\.\.\. )guidedviz (\w+)", text, re.MULTILINE))
    assert named
    assert named <= {*commands}


@pytest.mark.parametrize("form", sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml")), ids=lambda path: path.stem)
def test_a_form_for_issues_asks_and_requires_something(form):
    said = yaml.safe_load(form.read_text(encoding="utf-8"))
    asked = [part for part in said["body"] if part["type"] != "markdown"]
    assert {"name", "description"} <= said.keys()
    assert len({part["id"] for part in asked}) == len(asked)
    assert any(part.get("validations", {}).get("required") for part in asked)


@pytest.mark.parametrize("pages", ["*.md", ".github/*.md", "assets/*.md", "labs/teaching/*.md"])
def test_the_links_of_the_documents_of_the_repository_lead_to_files(pages):
    for path in ROOT.glob(pages):
        for link in re.findall(r"\]\(([^):#]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
            assert (path.parent / link).exists(), f"{path.name}: {link}"
