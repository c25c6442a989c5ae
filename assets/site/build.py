"""Build the site: a page that plays a run, every lab with recordings for its live widgets, slides, the API, a search.

    python assets/site/build.py                  build all pages into site/
    python assets/site/build.py 00_start_here    build the first page and one lab
    python assets/site/build.py --lite lite      with the course for a browser tab, and links to it where it has NumPy

Every page is a notebook that nbconvert renders with the template in page/. A lab is run once more for the site: with
GUIDEDVIZ_SITE=1 each live object gives its recording. A page loads nothing from other hosts, and opens from a file.
What a notebook brings to it is cleaned, and its scripts are files of the site.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from pygments.formatters import HtmlFormatter

from guidedviz.commands.slides import build_deck, find_names
from guidedviz.decoding.recording import compress
from guidedviz.views.theme import theme_css
from guidedviz.widgets.clean import clean
from guidedviz.widgets.display import RECORDING
from guidedviz.widgets.player_page import (
    BUNDLES,
    CSP,
    PAGES,
    PLAYER,
    bundles_of,
    kind_script,
    page_css,
    play_place,
    read_bundle,
)

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
POLICY = CSP.replace("style-src", "style-src 'self' file:").replace("img-src", "img-src 'self' file:")
POLICY += "; script-src 'self' file:"
RUN = """import guidedviz as gv

clerk = gv.load_model("clerk")
form = gv.regex(r'\\{"name": "[A-Z][a-z]+( [A-Z][a-z]+)*", "age": [0-9]+\\}')
prompt = "Hi! Tamsin Okoro is 42 years old, lives in Varnhem and works as a baker.\\nJSON with name, age:\\n"
gv.stage(clerk, prompt, gv.guide(form, clerk.vocabulary), constraint="name and age as JSON")"""
TITLE = "# How a language model is made to write valid JSON"
SAID = """At each step the machine strikes out every token that would break the JSON, and the next token is drawn from
the rest.

`→` next token · `←` back · `space` plays and pauses · click a struck token to read why"""
LIVE = """

[Open the first lab live in this tab]({}): Python and the model run in your browser, nothing is installed. Your work
stays in this browser."""
SLIDES = "\n\nSlides for a lecture: {}. Press `?` for their keys."
TEXTS = """

[The guide](guide.html) shows what it does, by task. [My output is wrong](wrong_output.html) starts from a symptom. [The
API](reference/index.html) lists every name with examples."""


@dataclass(frozen=True)
class Place:
    """Where a page lies in the site, and what it is called in the list of pages."""

    file: str
    title: str


def load(name: str, path: Path) -> ModuleType:
    """A module from a file that is not in a package."""
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} is missing")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# texts that the site shows as pages, by their places in the folder of assets
PAGES_OF_TEXTS = {
    "guide.md": Place("guide.html", "The guide"),
    "wrong_output.md": Place("wrong_output.html", "My output is wrong"),
    "reference/README.md": Place("reference/index.html", "The API"),
}

labs = load("labs_build", ROOT / "labs" / "build.py")
reading = load("site_reading", HERE / "reading.py")


# -- notebooks -----------------------------------------------------------------------------------------------------


def run(notebook: NotebookNode) -> NotebookNode:
    """Run a notebook so that its live objects give their recordings."""
    os.environ["GUIDEDVIZ_SITE"] = "1"
    labs.run_notebook(notebook)
    return notebook


def build_landing(live: str = "") -> NotebookNode:
    """The first page: a recorded run, what one sees in it, the questions of the labs, and the README's commands."""
    said = SAID
    if live:
        said += LIVE.format(live)
    decks = " · ".join(f"[{name[:2]}]({deck_file(name)})" for name in find_names("all"))
    table = "## The labs\n\n" + labs.table_of_labs() + SLIDES.format(decks) + TEXTS
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = lead_within_the_site(section(readme, "Two commands"))
    texts = [new_markdown_cell(text) for text in (TITLE, said, table, commands)]
    return new_notebook(cells=[texts[0], new_code_cell(RUN), *texts[1:]])


def build_text(path: str) -> NotebookNode:
    """A text of the folder of assets as a page."""
    return new_notebook(cells=[new_markdown_cell(lead_within_the_site(read_text(path), path))])


def read_text(path: str) -> str:
    """A text of the folder of assets."""
    return (ROOT / "assets" / path).read_text(encoding="utf-8")


def lead_within_the_site(text: str, path: str = "") -> str:
    """A text whose links lead to pages of the site; a link to any other page is its words alone.

    >>> lead_within_the_site("[one](assets/guide.md#install), [two](../labs/03_fsm.ipynb), [three](deploy/serve.yaml)")
    '[one](guide.html#Install), [two](labs/03_fsm.ipynb), three'
    """

    def lead(link: re.Match[str]) -> str:
        words, address = link.groups()
        file, _, anchor = address.removeprefix("../").removeprefix("assets/").partition("#")
        if file.startswith("labs/"):
            return f"[{words}]({file})"
        if (file or path) not in PAGES_OF_TEXTS:
            return str(words)
        page = PAGES_OF_TEXTS[file].file if file else ""
        return f"[{words}]({page}{'#' if anchor else ''}{name_anchor(file or path, anchor)})"

    return re.sub(r"(?<!!)\[([^]]+)\]\(([^)]+)\)", lead, text)


def name_anchor(path: str, anchor: str) -> str:
    """An anchor of a text as its page names it: with the capitals and signs of the heading.

    >>> name_anchor("wrong_output.md", "2-it-is-json-and-wrong")
    '2.-It-is-JSON,-and-wrong'
    """
    headings = re.findall(r"^#+ (.*)$", read_text(path), re.MULTILINE)
    names = {re.sub(r"[^\w -]", "", heading).lower(): heading for heading in headings}
    return names.get(anchor.replace("-", " "), anchor).replace(" ", "-")


def section(text: str, title: str) -> str:
    """A section of a Markdown text with its heading.

    >>> section("# A\\n\\n## B\\nb\\n\\n## C\\nc", "B")
    '## B\\nb\\n'
    """
    found = re.search(rf"^## {re.escape(title)}$.*?(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if not found:
        raise SystemExit(f'README.md has no section "{title}", which the site shows')
    return found[0].rstrip("\n") + "\n"


def lab_place(name: str) -> Place:
    """The page of a lab."""
    return Place(f"labs/{name}.html", labs.title_of(labs.read_source(name)).removeprefix("Lab "))


def deck_file(name: str) -> str:
    """Where the slides of a lab lie in the site."""
    return f"slides/{name}.html"


# -- pages ---------------------------------------------------------------------------------------------------------


def render(notebook: NotebookNode, place: Place, pages: list[Place], plays: bool = False, live: str = "") -> str:
    """The page of a notebook; with `plays` its run starts at once, and its code is not shown."""
    recordings = [output.data[RECORDING] for output in outputs(notebook) if RECORDING in output.get("data", {})]
    at = next((number for number, page in enumerate(pages) if page.file == place.file), 0)
    kinds = list(dict.fromkeys(recording["kind"] for recording in recordings))
    about = {
        "title": place.title if place.file == "index.html" else f"{place.title} · guidedviz",
        "file": place.file,
        "root": "../" * place.file.count("/"),
        "policy": POLICY,
        "nonce": nonce_of(notebook),
        "kinds": kinds,
        "scripts": bundles_of(kinds),
        "pages": pages,
        "before": pages[at - 1] if at else None,
        "after": pages[at + 1] if at + 1 < len(pages) else None,
        "plays": plays,
        "live": live and "../" * place.file.count("/") + live,
    }
    exporter = HTMLExporter(template_name="page", extra_template_basedirs=[str(HERE)])
    exporter.register_filter("clean", clean)
    exporter.register_filter("place", place_recording)
    exporter.environment.globals["recording"] = RECORDING
    html, _ = exporter.from_notebook_node(notebook, resources={"site": about})
    html = re.sub(r"<th([^>]*)></th>", r"<td\1></td>", html)  # an empty cell is the head of nothing
    return re.sub(r'(<a\s[^>]*href="[^":?]*)\.ipynb(["#])', r"\1.html\2", html)


def outputs(notebook: NotebookNode) -> list[NotebookNode]:
    """All outputs of a notebook."""
    return [output for cell in notebook.cells for output in cell.get("outputs", [])]


def nonce_of(notebook: NotebookNode) -> str:
    """The nonce of a page: a digest of all that its notebook brings, which can therefore not hold it."""
    brought = [[cell.source, cell.get("outputs", [])] for cell in notebook.cells]
    return sha256(json.dumps(brought).encode()).hexdigest()


def place_recording(recording: dict[str, Any], site: dict[str, Any]) -> str:
    """The place of a recording on a page."""
    more = {"data_plays": ""} if site["plays"] else {}
    shown = compress(recording["shown"])
    return str(play_place(recording["kind"], shown, site["nonce"], recording["step"], **more))


def write_files(folder: Path) -> None:
    """What all pages share. The scripts are no modules: a page from a file may not import those."""
    folder.mkdir(parents=True)
    (folder / PLAYER).write_text(read_bundle(PLAYER), encoding="utf-8")
    for script in BUNDLES.glob("*.js"):
        if script.stem not in PAGES:  # a host has the pages of the class and of runs
            (folder / script.name).write_text(kind_script(script.stem), encoding="utf-8")
    for sheet in BUNDLES.glob("*.css"):
        shutil.copy(sheet, folder)
    for name in ("site.js", "theme.js"):
        shutil.copy(HERE / name, folder)
    night = "[data-jp-theme-light='false'] "
    colours = theme_css("body.site").replace(f"{night}body", "body[data-jp-theme-light='false']")
    light = HtmlFormatter(style="xcode").get_style_defs(".highlight")
    dark = HtmlFormatter(style="github-dark").get_style_defs(f"{night}.highlight")
    styles = [colours, light, dark, page_css("player"), (HERE / "site.css").read_text()]
    (folder / "site.css").write_text("\n".join(styles), encoding="utf-8")


# -- the site ------------------------------------------------------------------------------------------------------


def live_address(name: str) -> str:
    """Where a lab opens live in a browser tab."""
    return f"lite/notebooks/index.html?path=labs/{name}.ipynb"


def runs_labs(lite: Path) -> bool:
    """Whether a lab runs in this course for a browser tab: it was not built without NumPy."""
    return any(lite.glob("static/pyodide-*/numpy-*.whl"))


def build(folder: Path, names: list[str], lite: Path | None = None) -> None:
    """Build the first page, the reference and some labs; a broken link is an error."""
    lab_places = {name: lab_place(name) for name in labs.lab_names()}
    pages = [Place("index.html", "Start"), *lab_places.values(), *PAGES_OF_TEXTS.values()]
    live = dict.fromkeys(("00_start_here", *names), "")
    if lite and runs_labs(lite):
        live = {name: live_address(name) for name in live}
    first = build_landing(live["00_start_here"])
    notebooks = [first, *(labs.build_notebook(name, solved=False) for name in names)]
    with ThreadPoolExecutor(2) as pool:
        ran = list(pool.map(run, notebooks))
    shutil.rmtree(folder, ignore_errors=True)
    write_files(folder / "files")
    written = {"index.html": render(ran[0], Place("index.html", "guidedviz"), pages, plays=True)}
    for path, place in PAGES_OF_TEXTS.items():
        written[place.file] = render(build_text(path), place, pages)
    for name, notebook in zip(names, ran[1:], strict=True):
        written[lab_places[name].file] = render(notebook, lab_places[name], pages, live=live[name])
    for name, html in written.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(html, encoding="utf-8")
    for picture in (ROOT / "assets" / "reference").glob("*.svg"):
        shutil.copy(picture, folder / "reference")
    shutil.copytree(ROOT / "assets" / "pictures", folder / "pictures")
    found = reading.read_site(folder)
    write_decks(folder, names)
    if lite:
        shutil.copytree(lite, folder / "lite")
    (folder / "files" / "index.js").write_text(reading.search_index(found), encoding="utf-8")
    planned = {page.file for page in pages} | {deck_file(name) for name in find_names("all")}
    if broken := reading.find_broken(folder, found, planned):
        raise SystemExit("\n".join(["links that lead nowhere:", *broken]))


def write_decks(folder: Path, names: list[str]) -> None:
    """The slides of these labs, each a page that stands alone."""
    (folder / "slides").mkdir()
    for name in set(names) & set(find_names("all")):
        (folder / deck_file(name)).write_text(build_deck(name, play=True), encoding="utf-8")


def main() -> None:
    """Build the site, and say how long it took and how large it is."""
    parser = argparse.ArgumentParser(description="Build the site into site/.")
    parser.add_argument("names", nargs="*", metavar="NN_name", help="labs to build; all if none is given")
    parser.add_argument("--to", type=Path, default=ROOT / "site", help="the folder, which is made anew")
    parser.add_argument("--lite", type=Path, help="what assets/lite/build.py wrote")
    chosen = parser.parse_args()
    began = time.perf_counter()
    build(chosen.to, chosen.names or labs.lab_names(), chosen.lite)
    sizes = {file: file.stat().st_size for file in chosen.to.rglob("*") if file.is_file()}
    largest = max(sizes, key=lambda file: sizes[file])
    print(f"{chosen.to}: {len(sizes)} files, {sum(sizes.values()) / 1e6:.1f} MB, {time.perf_counter() - began:.0f} s")
    print(f"the largest: {largest.relative_to(chosen.to)}, {sizes[largest] / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
