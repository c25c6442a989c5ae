"""Runs the cells of labs and says which outputs are not those in the notebooks.

    echo labs solved 03_fsm | GUIDEDVIZ_HEADLESS=1 python -m tests.labs.cells    one answer per line, as JSON

A lab runs in a child of this process, which has loaded what each lab loads: no lab sees what another one did. `solved`
runs the solution, `half` the first half of its cells, and `open` the student's notebook.

A lab must run where only the extra `lab` is installed: packages of other extras cannot be imported. A page in
`labs/deeper` may show one of them.
"""

import configparser
import gc
import json
import os
import re
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import nbformat
from IPython.core.displayhook import DisplayHook
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from nbformat import NotebookNode
from traitlets.config import Config

import guidedviz as gv

BLOCKED = {"torch", "transformers", "safetensors", "xgrammar", "llguidance", "outlines_core", "mistral_common", "gguf"}
SECONDS = 120  # of one notebook; the slowest takes 5
NOT_COMPARED = {"application/vnd.jupyter.widget-view+json", "image/png"}  # the first has random names


class Absent:
    """A finder that has none of the blocked packages."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


class ShowValue(DisplayHook):
    """Shows the value of a cell as a notebook's kernel does: as an output, not as a print."""

    def write_output_prompt(self) -> None:
        pass

    def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
        self.shell.display_pub.publish(format_dict, md_dict)

    def finish_displayhook(self) -> None:
        pass


def read_rules() -> list[tuple[str, str]]:
    """What may differ between two machines, and what is compared in its place."""
    rules = configparser.RawConfigParser(delimiters=":")
    path = Path(__file__).resolve().parents[2] / "labs" / "sanitize.cfg"
    rules.read(path, encoding="utf-8")
    sections = [rules[name] for name in rules.sections()]
    return [(section["regex"], section["replace"]) for section in sections]


RULES = read_rules()


def settle(text: str) -> str:
    """A text with what may differ replaced."""
    for regex, replace in RULES:
        text = re.sub(regex, replace, text)
    return text


def comparable(printed: str, shown: list[dict[str, Any]]) -> list[str]:
    """What a cell gave as texts: what it printed, then each kind of each output."""
    texts = [f"printed: {printed}"]
    for data in shown:
        for kind in sorted(data.keys() - NOT_COMPARED):
            value = data[kind]
            texts.append(f"{kind}: {value if isinstance(value, str) else json.dumps(value, sort_keys=True)}")
    return [settle(text) for text in texts]


def committed(cell: NotebookNode) -> list[str]:
    """What a cell gave when its notebook was built."""
    texts = [output.text for output in cell.outputs if output.output_type == "stream"]
    printed = "".join(texts)
    return comparable(printed, [output.data for output in cell.outputs if "data" in output])


def run_cell(shell: InteractiveShell, cell: NotebookNode) -> dict[str, Any]:
    """Run a cell; {} if it gives what is committed."""
    with capture_output() as seen:
        done = shell.run_cell(cell.source)
    error = done.error_before_exec or done.error_in_exec
    if error is not None:
        said = f"{type(error).__name__}: {error}"
        return {"cell": cell.id, "error": said}
    if seen.stderr:
        return {"cell": cell.id, "error": f"wrote to stderr: {seen.stderr}"}
    given = comparable(seen.stdout, [output.data for output in seen.outputs])
    if given == committed(cell) or "NBVAL_IGNORE_OUTPUT" in cell.source:
        return {}
    return {"cell": cell.id, "committed": committed(cell), "given": given}


def code_cells(path: Path) -> list[NotebookNode]:
    cells = nbformat.read(path, as_version=4).cells
    return [cell for cell in cells if cell.cell_type == "code"]


def run_lab(place: str, part: str, name: str) -> list[dict[str, Any]]:
    """Run one notebook of a lab in a folder; the cells that do not give what is committed."""
    folder = Path(place).resolve()
    notebook = folder / f"{name}.ipynb" if part == "open" else folder / "solutions" / f"{name}.ipynb"
    cells = code_cells(notebook)
    if part == "half":
        cells = cells[: len(cells) // 2]
    os.chdir((folder / name).parent)
    if "/" not in name:
        sys.meta_path.insert(0, Absent())
    no_history = Config({"HistoryManager": {"enabled": False}})
    shell = InteractiveShell.instance(config=no_history, user_ns={}, displayhook_class=ShowValue)
    return [found for cell in cells if (found := run_cell(shell, cell))]


def in_a_child(act: Callable[[], Any]) -> Any:
    """What a function returns in a fork of this process."""
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(receive)
        signal.alarm(SECONDS)
        with open(send, "w", encoding="utf-8") as answer:
            json.dump(act(), answer)
        os._exit(0)
    os.close(send)
    with open(receive, encoding="utf-8") as answer:
        said = answer.read()
    _, status = os.waitpid(child, 0)
    if status != 0:
        return [{"error": f"the process ended with {os.waitstatus_to_exitcode(status)} after at most {SECONDS} s"}]
    return json.loads(said)


def main() -> None:
    """Run each notebook that is asked for; its answer is one line."""
    gv.load_model("clerk")
    _ = gv.Vocabulary.llama3().trie  # a third of the labs would read these 128,256 tokens
    sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]
    # jsonschema would build 38 parsers with it, in a second or more, to check addresses that no lab asks for
    for room in (gv, gv.views, gv.checks):
        for name in room.__all__:
            getattr(room, name)  # loads its module, which otherwise each lab would load
    gc.set_threshold(500_000)  # as in the other tests
    gc.freeze()
    for line in sys.stdin:
        found = in_a_child(partial(run_lab, *line.split()))
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
