"""Build the lab notebooks: one solved source, two notebooks, for students and with solutions.

    python labs/build.py               build and run all labs
    python labs/build.py 01_logit_bias build and run one
    python labs/build.py --check       build in memory, run nothing, and say what drifted from the source

A source is `labs/src/NN_name.py`, in the percent format that editors know: `# %% [markdown]` opens a text cell, whose
lines are comments, `# %%` opens a code cell. `# %% [predict]` is a code cell whose output answers a question that was
just asked: the student's JupyterLab keeps it folded until the cell is run. `# %% [question]` is a code cell that asks
with `gv.predict`: the student's JupyterLab folds its code, which holds the answer. In a text, `{minutes}` stands for
the estimated minutes in class, `{with_home}` for those with the homework; the first line holds the question of a lab
for the table in the README. A paragraph `# hint: ...` becomes a folded hint. A code cell may hold
an exercise, solved; the heading above it ends with one to three stars. A heading that ends with `· home` makes all
that stands under it homework, up to the next heading:

    # solution:
    return powers / powers.sum()
    # open:
    # ...  # make the sum 1
    # end

The solution notebook keeps what stands under `# solution:`, the student notebook gets what stands under `# open:`
without its `# ` (one `...` if there is none). Cell ids are the lab's name and a number: nothing drifts by itself.

A cell that begins with `# slide: ...` is a slide of the lab's deck (`guidedviz slides`): the lines with this mark are
the sentence, what the cell shows is the picture. The sentence is kept in the cell's metadata and stands in no notebook.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

LABS = Path(__file__).resolve().parent
README = LABS.parent / "README.md"
ALIKE = {"GUIDEDVIZ_HEADLESS": "1", "CUDA_VISIBLE_DEVICES": ""}  # of a kernel: a graphics card rounds otherwise
PROJECT = "project"  # homework of two weeks: it is in no table of minutes
METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
MARKER = re.compile(r"^# %%(?: \[(markdown|predict|question)\])?\s*$", re.MULTILINE)
FOLDED = {"predict": "outputs_hidden", "question": "source_hidden"}  # of the student's notebook
SLIDE = re.compile(r"^# slide: (.*)\n", re.MULTILINE)
EXERCISE = re.compile(
    r"^(?P<indent> *)# solution:\n(?P<solved>.*?)(?:^ *# open:\n(?P<open>.*?))?^ *# end\n?", re.MULTILINE | re.DOTALL
)
WORDS = 180  # read per minute
PER_LINE = 7.5 / 60  # minutes to read a line of code
PER_QUESTION, PER_WIDGET = 2.0, 2.5  # minutes; readers new to the subject needed what this gives
PER_EXERCISE = {1: 7, 2: 13, 3: 18}  # minutes by stars
LIMIT = 50  # minutes of one class
STARS = re.compile(r"^#+ .*?(★+)(?: · home)?$", re.MULTILINE)
WIDGET = re.compile(r"\bgv\.(?:stage|film|text_tree|\w+_sliders?)\(")
HINT = re.compile(r"^hint: (.+?)(?=\n\n|\nhint: |\Z)", re.MULTILINE | re.DOTALL)
TABLE = re.compile(r"(<!-- labs: written by labs/build.py -->\n).*?(<!-- end of labs -->)", re.DOTALL)
SOLUTIONS = """> **Solutions.** This is the lab with its exercises solved. Try [the open one]({place}.ipynb) first."""


# -- source -> notebook --------------------------------------------------------------------------------------------


def read_cells(source: str) -> Iterator[tuple[str, str]]:
    """Kind and text of each cell of a percent source.

    >>> list(read_cells("# %% [markdown]\\n# # Hi\\n\\n# %%\\n1 + 1\\n"))
    [('markdown', '# Hi'), ('code', '1 + 1')]
    """
    parts = MARKER.split(SLIDE.sub("", source))[1:]
    for kind, body in zip(parts[::2], parts[1::2], strict=True):
        lines = body.strip("\n").split("\n")
        if kind == "markdown":
            yield kind, "\n".join(re.sub(r"^# ?", "", line) for line in lines).strip()
        else:
            yield kind or "code", "\n".join(lines).rstrip()


def read_slides(source: str) -> list[str]:
    """The sentence that stands on the slide of each cell, "" if the cell is no slide.

    >>> read_slides("# %% [markdown]\\n# # Hi\\n\\n# %%\\n# slide: One and\\n# slide: one is two.\\n1 + 1\\n")
    ['', 'One and one is two.']
    """
    bodies = MARKER.split(source)[2::2]
    return [" ".join(SLIDE.findall(body)) for body in bodies]


def settle_exercise(code: str, solved: bool) -> str:
    """The cell with its exercise solved, or open.

    >>> settle_exercise("# solution:\\nx = 1\\n# open:\\n# x = ...\\n# end", solved=False)
    'x = ...'
    """

    def settle(match: re.Match[str]) -> str:
        if solved:
            return match["solved"]
        if match["open"] is None:
            return f"{match['indent']}...\n"
        return re.sub(r"^( *)# ?", r"\1", match["open"], flags=re.MULTILINE)

    return EXERCISE.sub(settle, code + "\n").rstrip()


def fold_hints(text: str) -> str:
    """The text with its hints folded and numbered.

    >>> print(fold_hints("Write it.\\n\\nhint: Sum first.\\nhint: Then divide."))
    Write it.
    <BLANKLINE>
    <details><summary>Hint 1</summary>
    <BLANKLINE>
    Sum first.
    <BLANKLINE>
    </details>
    <details><summary>Hint 2</summary>
    <BLANKLINE>
    Then divide.
    <BLANKLINE>
    </details>
    """
    numbers = count(1)
    folded = "<details><summary>Hint {}</summary>\n\n{}\n\n</details>".format
    return HINT.sub(lambda hint: folded(next(numbers), hint[1]), text)


def read_source(name: str) -> str:
    """The source of a lab."""
    return (LABS / "src" / f"{name}.py").read_text(encoding="utf-8")


def table_of_labs() -> str:
    """The numbered labs, each with its question and its minutes; below them the optional pages."""
    minutes = {name: rounded(estimate(read_cells(read_source(name)))) for name in lab_names()}
    rows = [(name, *describe(read_source(name)), *times) for name, times in minutes.items() if name[0].isdigit()]
    pages = [
        f"[{title_of(read_source(name))}](labs/{name}.ipynb) ({with_home})"
        for name, (_, with_home) in minutes.items()
        if "/" in name
    ]
    return write_table(rows) + f"\n\nOptional pages, with their minutes: {', '.join(pages)}."


def build_notebook(name: str, solved: bool) -> NotebookNode:
    """The notebook of a lab, not yet run."""
    source = read_source(name)
    cells = list(read_cells(source))
    slides = read_slides(source)
    minutes, with_home = map(str, rounded(estimate(cells)))
    shown = {"minutes": minutes, "with_home": with_home}
    if solved:
        cells.insert(1, ("markdown", SOLUTIONS.format(place="../" * (1 + name.count("/")) + name)))
        slides.insert(1, "")
    notebook = new_notebook(metadata=METADATA)
    for index, (kind, text) in enumerate(cells):
        cell_id = f"{re.sub('[_/]', '-', name)}-{index:02}"
        on_slide = {"slide": slides[index]} if slides[index] else {}
        if kind == "markdown":
            text = fold_hints(re.sub(r"\{(minutes|with_home)\}", lambda match: shown[match[1]], text))
            notebook.cells.append(new_markdown_cell(text, id=cell_id, metadata=on_slide))
        else:
            tags = {"tags": ["exercise"]} if EXERCISE.search(text + "\n") else {}
            folded = {} if solved or kind not in FOLDED else {"jupyter": {FOLDED[kind]: True}}
            about = tags | folded | on_slide
            notebook.cells.append(new_code_cell(settle_exercise(text, solved), id=cell_id, metadata=about))
    return notebook


# -- minutes, and the table of labs -----------------------------------------------------------------------------------


def estimate(cells: Iterable[tuple[str, str]]) -> tuple[float, float]:
    """The minutes of a lab in class, and with the homework.

    >>> estimate([("markdown", "word " * 360), ("code", "gv.stage(model)"), ("question", "gv.predict()")])
    (6.625, 6.625)
    >>> estimate([("markdown", "## Sum ★★ · home"), ("code", "# solution:\\nx = 1\\n# end"), ("code", "print(x)")])[0]
    0.0
    """
    in_class, at_home, stars, home = 0.0, 0.0, 0, False
    for kind, text in cells:
        if kind == "markdown":
            minutes = len(text.split()) / WORDS
            for heading in re.findall(r"^#+ .*$", text, re.MULTILINE):
                home = heading.endswith(" · home")
                stars = len(found[0]) if (found := STARS.findall(heading)) else 0
        elif "# solution:" in text:
            minutes = PER_EXERCISE[stars]
        else:
            lines = [] if kind == "question" else [line for line in text.splitlines() if line.strip()]
            minutes = len(lines) * PER_LINE + PER_QUESTION * (kind == "question")
            minutes += PER_WIDGET * len(WIDGET.findall(text))
        in_class += 0 if home else minutes
        at_home += minutes if home else 0
    return in_class, in_class + at_home


def rounded(minutes: tuple[float, float]) -> tuple[int, int]:
    """Minutes in steps of five."""
    in_class, with_home = (5 * max(1, round(one / 5)) for one in minutes)
    return in_class, with_home


def too_long(names: Iterable[str]) -> Iterator[str]:
    """Which labs take more minutes than a class has."""
    for name in names:
        minutes = estimate(read_cells(read_source(name)))[0]
        if minutes > LIMIT and name[0].isdigit():
            yield (
                f"{name} takes {minutes:.1f} minutes in class, more than {LIMIT}; make an exercise homework "
                "(`· home` after its stars), or move a section to labs/src/deeper"
            )


def describe(source: str) -> tuple[str, str]:
    """The title of a lab and its question in one line, from its source.

    >>> describe("# question: What goes wrong?\\n# %% [markdown]\\n# # Lab 00 · Start here\\n")
    ('00 · Start here', 'What goes wrong?')
    """
    (question,) = re.findall(r"^# question: (.*)$", source, re.MULTILINE)
    (title,) = re.findall(r"^# # Lab (.*)$", source, re.MULTILINE)
    return title, question


def title_of(source: str) -> str:
    """The title of an optional page.

    >>> title_of("# %% [markdown]\\n# # Deeper · Who is right?\\n")
    'Who is right?'
    """
    return re.findall(r"^# # (?:Deeper · )?(.*)$", source, re.MULTILINE)[0]


def write_table(rows: Sequence[tuple[str, str, str, int, int]]) -> str:
    """A table in Markdown: file, title, question and minutes of each lab.

    >>> print(write_table([("00_start_here", "00 · Start here", "What goes wrong?", 20, 30)]))
    | lab | the question it answers | minutes in class | with homework |
    | --- | --- | --- | --- |
    | [00 · Start here](labs/00_start_here.ipynb) | What goes wrong? | 20 | 30 |
    """
    head = ["| lab | the question it answers | minutes in class | with homework |", "| --- | --- | --- | --- |"]
    return "\n".join(
        [
            *head,
            *(
                f"| [{title}](labs/{name}.ipynb) | {asked} | {in_class} | {with_home} |"
                for name, title, asked, in_class, with_home in rows
            ),
        ]
    )


def with_table(readme: Path, table: str) -> str:
    """The README with this table."""
    return TABLE.sub(lambda match: match[1] + table + "\n" + match[2], readme.read_text(encoding="utf-8"))


# -- running -------------------------------------------------------------------------------------------------------


def run_notebook(notebook: NotebookNode) -> None:
    """Run all cells in place; what only a living kernel could show is taken out."""
    from nbclient import NotebookClient

    client = NotebookClient(
        notebook, timeout=300, kernel_name="python3", record_timing=False, store_widget_state=False,
        resources={"metadata": {"path": str(LABS)}},
    )  # fmt: skip
    client.execute(env=os.environ | ALIKE)
    notebook.metadata = METADATA
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = _join_streams([kept for output in cell.outputs if (kept := _settle_output(cell.id, output))])


def _settle_output(cell_id: str, output: NotebookNode) -> NotebookNode | None:
    if output.output_type == "stream" and output.name == "stderr":
        raise SystemExit(f"{cell_id} wrote to stderr, which no lab should: {output.text.strip()[:300]}")
    if "data" in output:
        output.data.pop("application/vnd.jupyter.widget-view+json", None)
        output.metadata = {}
        return output if output.data else None
    return output


def _join_streams(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Prints that follow each other as one output: how a kernel cuts them is a matter of timing."""
    joined: list[NotebookNode] = []
    for output in outputs:
        if joined and output.output_type == joined[-1].output_type == "stream":
            joined[-1].text += output.text
        else:
            joined.append(output)
    return joined


# -- files ---------------------------------------------------------------------------------------------------------


def target(name: str, solved: bool) -> Path:
    """Where a notebook lies."""
    return (LABS / "solutions" if solved else LABS) / f"{name}.ipynb"


def lab_names() -> list[str]:
    """All labs that have a source, in order; then the optional pages, by their folder and name, and the project."""
    source = LABS / "src"
    pages = [*sorted(source.glob("[0-9][0-9]_*.py")), *sorted(source.glob("deeper/*.py"))]
    if (source / f"{PROJECT}.py").exists():
        pages.append(source / f"{PROJECT}.py")
    return [path.relative_to(source).with_suffix("").as_posix() for path in pages]


def bare(notebook: NotebookNode) -> list[object]:
    """What must not drift: metadata, and each cell without its outputs."""
    return [dict(notebook.metadata), *((c.id, c.cell_type, c.source, dict(c.metadata)) for c in notebook.cells)]


def find_drift(name: str, solved: bool) -> str:
    """What is wrong with a committed notebook, "" if nothing is."""
    path = target(name, solved)
    if not path.exists():
        return "is missing"
    found, wanted = nbformat.read(path, as_version=4), build_notebook(name, solved)
    if any(c.cell_type == "code" and c.source and c.execution_count is None for c in found.cells):
        return "has cells that were not run"
    pairs = zip(bare(found), bare(wanted), strict=False)
    where = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(found.cells), len(wanted.cells)) + 1)
    if where == 0:
        return "has other metadata than its source gives"
    return "" if where > len(found.cells) == len(wanted.cells) else f"differs from its source in cell {where}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Build the lab notebooks from labs/src.")
    parser.add_argument("names", nargs="*", metavar="NN_name", help="labs to build; all if none is given")
    parser.add_argument("--check", action="store_true", help="build nothing, say what drifted")
    chosen = parser.parse_args(arguments)
    unknown = set(chosen.names) - set(lab_names())
    if unknown:
        parser.error(f"no such lab: {', '.join(sorted(unknown))}; there are {', '.join(lab_names())}")
    names = chosen.names or lab_names()
    return check(names) if chosen.check else build(names)


def check(names: list[str]) -> int:
    """Say what drifted; 1 if anything did."""
    drifted = int(with_table(README, table_of_labs()) != README.read_text(encoding="utf-8"))
    if drifted:
        print("README.md has another table of labs; run: python labs/build.py")
    for said in too_long(names):
        drifted = 1
        print(said)
    for name in names:
        for solved in (False, True):
            said = find_drift(name, solved)
            drifted |= bool(said)
            if said:
                print(f"{target(name, solved).relative_to(LABS.parent)} {said}; run: python labs/build.py {name}")
    return int(drifted)


def build(names: list[str]) -> int:
    """Build and run the notebooks, and write them and the table in the README."""
    README.write_text(with_table(README, table_of_labs()), encoding="utf-8")
    for name in names:
        for solved in (False, True):
            began = time.perf_counter()
            notebook = build_notebook(name, solved)
            run_notebook(notebook)
            path = target(name, solved)
            path.parent.mkdir(parents=True, exist_ok=True)
            nbformat.write(notebook, path)
            print(f"{path.relative_to(LABS.parent)}: {len(notebook.cells)} cells, {time.perf_counter() - began:.0f} s")
    long = list(too_long(names))
    print(*long, sep="\n", end="\n" * bool(long))
    return int(bool(long))


if __name__ == "__main__":
    sys.exit(main())
