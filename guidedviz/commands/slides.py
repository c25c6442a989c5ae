"""`guidedviz slides`: the deck of a lab, made from its notebook and the teacher's page about it.

A cell whose metadata has a sentence as `slide` is a slide: what the cell shows is its picture, and the text before it
is in the notes. The cells run first, so that stages and films play on the slide; with `--still` nothing runs.
"""

import argparse
import json
import os
import re
import webbrowser
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from guidedviz.commands.exercises import HOME, numbered_labs, read_title, without_check, without_shows
from guidedviz.commands.labs import find_course, find_labs, writing
from guidedviz.errors import SettingError, escaped, quoted
from guidedviz.extras import need
from guidedviz.files import write_whole
from guidedviz.widgets.deck_page import LONGEST_LINE, Slide, deck_page, text_slide, with_notes
from guidedviz.widgets.display import RECORDING

Cell = Mapping[str, Any]
COMMAND = "guidedviz slides"
SLIDES_FOLDER = "guidedviz-slides"
EVERY = "all"
FIRST_NOTES = ("In two minutes", "Goals", "Fifty minutes")  # sections of the teacher's page
LAST_NOTES = ("Ask", "Misconceptions")
PLAYS = {"GUIDEDVIZ_HEADLESS": "1", "GUIDEDVIZ_SITE": "1"}  # each live object gives its recording
FEW = 2  # lines that say little without the code that prints them
CELL_SECONDS = 300  # for one cell
HEADING = re.compile(r"^#+ .*$", re.MULTILINE)
LINKS = re.compile(r'<a class="anchor-link".*?</a>|</?a\b[^>]*>')
QUIET = ["--log-level=ERROR"]


def add_slides(parser: argparse.ArgumentParser) -> None:
    """The options of `slides`."""
    parser.add_argument("lab", help="the start of its name, such as 03; or all")
    parser.add_argument(
        "folder", nargs="?", type=Path, default=SLIDES_FOLDER, help="where the pages go; default: %(default)s"
    )
    parser.add_argument("--still", action="store_true", help="run nothing: pictures instead of what plays")
    parser.add_argument("--no-open", action="store_true", help="only write the pages")
    parser.set_defaults(run=run_slides)


def run_slides(options: argparse.Namespace) -> None:
    """Write the decks, and open the first one in the browser."""
    folder = options.folder.expanduser()
    pages = []
    for name in find_names(options.lab):
        page = folder / f"{name}.html"
        deck = build_deck(name, not options.still)
        with writing("slides", folder):
            folder.mkdir(parents=True, exist_ok=True)
            write_whole(page, deck.encode())
        print(f"slides: {escaped(str(page))}")
        pages.append(page)
    if not options.no_open:
        webbrowser.open(pages[0].resolve().as_uri())


def find_names(lab: str) -> list[str]:
    """The labs with this start of their names.

    >>> find_names("03")
    ['03_fsm']
    """
    names = [name for name in numbered_labs() if name[0].isdigit()]
    found = [name for name in names if lab == EVERY or name.startswith(lab)]
    if not lab or (lab != EVERY and len(found) != 1):
        seen = f"{quoted(lab)}, {len(found)} labs"
        raise SettingError("slides", seen=seen, expected="the start of one name, such as 03, or all")
    return found


def build_deck(name: str, play: bool = False) -> str:
    """The page with the slides of a lab."""
    return deck_page(read_title(name), read_deck(name, play))


def read_deck(name: str, play: bool = False) -> list[Slide]:
    """The slides of a lab, in order.

    >>> read_deck("03_fsm")[0].kind
    'picture'
    """
    labs = find_labs(solutions=True)
    solved = labs[f"solutions/{name}.ipynb"]
    cells = run_cells(solved) if play else json.loads(solved.read_bytes())["cells"]
    del cells[1]  # it says that these are the solutions
    opened = json.loads(labs[f"{name}.ipynb"].read_bytes())["cells"]
    slides = []
    before: list[str] = []
    at_home = False
    seen = ""  # what the last slide of this section showed
    for cell, open_cell in zip(cells, opened, strict=True):
        if cell["cell_type"] == "markdown":
            before.append("".join(cell["source"]))
            for heading in HEADING.findall(before[-1]):
                at_home = heading.endswith(HOME)
                seen = ""
        sentence = cell["metadata"].get("slide", "")
        if sentence:
            notes = as_html("\n\n".join(before))
            slide = replace(make_slide(sentence, cell, open_cell, notes), at_home=at_home)
            if slide.kind == "question":
                slide = replace(slide, before=seen)
            seen = "" if slide.kind == "question" or is_exercise(open_cell) else slide.shown
            slides.append(slide)
            before = []
    if not slides:
        raise SettingError(f"slides, lab {quoted(name)}", seen="no slide", expected="cells with a slide")
    page = read_sections((find_course() / "teaching" / f"{name[:2]}.md").read_text(encoding="utf-8"))
    slides[0] = with_notes(slides[0], choose_sections(page, FIRST_NOTES), "")
    slides[-1] = with_notes(slides[-1], "", choose_sections(page, LAST_NOTES))
    return slides


def run_cells(notebook: Path) -> list[Cell]:
    """The cells of a notebook, run so that live objects give their recordings."""
    need("nbclient", "lab", COMMAND)
    from nbclient import NotebookClient

    read = need("nbformat", "lab", COMMAND).read(notebook, as_version=4)
    place = {"metadata": {"path": str(notebook.parent)}}
    client = NotebookClient(read, timeout=CELL_SECONDS, kernel_name="python3", resources=place, extra_arguments=QUIET)
    client.execute(env=os.environ | PLAYS)
    return list(read["cells"])


def make_slide(sentence: str, cell: Cell, opened: Cell, notes: str) -> Slide:
    """The slide of a cell: of what it shows, else its code; of an exercise the code with which students begin."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return Slide(sentence, "picture", as_html(source), notes)
    if is_exercise(opened):
        begun = without_shows(without_check("".join(opened["source"])))
        return text_slide(sentence, begun, notes)
    found = [output["data"] for output in cell["outputs"] if "data" in output]
    drawn = [data for data in found if "text/html" in data]
    if not drawn:
        return text_slide(sentence, printed_with_code(cell), notes)
    html = "".join(drawn[-1]["text/html"])
    if "gv.predict(" in source:
        return Slide(sentence, "question", html, f"{notes}{html}")
    return Slide(sentence, "picture", html, notes, drawn[-1].get(RECORDING))


def is_exercise(opened: Cell) -> bool:
    """Whether students write this cell."""
    return "exercise" in opened["metadata"].get("tags", ())


def printed(cell: Cell) -> str:
    """What a cell printed, and the value of its last line."""
    parts = []
    for output in cell["outputs"]:
        text = output.get("text") or output.get("data", {}).get("text/plain", "")
        parts.append("".join(text).strip("\n"))
    return "\n".join(parts)


def printed_with_code(cell: Cell) -> str:
    """What a cell printed; below its code if it is so little that one must know what was asked, and the code fits."""
    source = "".join(cell["source"])
    text = printed(cell)
    if text and max(map(len, source.splitlines())) > LONGEST_LINE:
        return text
    lines = len(text.splitlines())
    if lines > FEW or (lines > 1 and len(source.splitlines()) > FEW):
        return text
    return f"{source}\n\n→ {text}" if lines == 1 else f"{source}\n\n{text}".strip()


def as_html(markdown: str) -> str:
    """A text of a notebook as HTML, without its links: on a page that stands alone they lead nowhere. Not yet cleaned.

    >>> as_html("[Lab 02](02_static_masks.ipynb)").strip()
    '<p>Lab 02</p>'
    """
    html = str(need("nbconvert.filters", "lab", COMMAND).markdown2html(markdown))
    return LINKS.sub("", html)


def read_sections(page: str) -> dict[str, str]:
    """The sections of a teacher's page by their headings.

    >>> read_sections("# Lab\\n\\n## Goals\\n\\none\\n\\n## Ask\\n\\ntwo")
    {'Goals': 'one', 'Ask': 'two'}
    """
    _, *parts = re.split(r"^## (.*)$", page, flags=re.MULTILINE)
    texts = map(str.strip, parts[1::2])
    return dict(zip(parts[::2], texts, strict=True))


def choose_sections(page: Mapping[str, str], names: tuple[str, ...]) -> str:
    """Some sections of a teacher's page as HTML."""
    return as_html("\n\n".join(f"### {name}\n\n{page[name]}" for name in names if name in page))
