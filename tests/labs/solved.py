"""A solved lab as it is committed: its prose, and what its cells have printed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

import nbformat

SOLUTIONS = Path(__file__).resolve().parents[2] / "labs" / "solutions"


@dataclass(frozen=True)
class Solved:
    """The cells of one lab."""

    cells: list[Any]

    @property
    def prose(self) -> str:
        """All that is told, in one line: the text cells, and the folded answers of the predictions."""
        told = [cell.source if cell.cell_type == "markdown" else folded(cell) for cell in self.cells]
        return " ".join(" ".join(told).split())

    def output_of(self, words: str) -> str:
        """What the first cell with these words shows; of a prediction, its folded answer."""
        cell = next(cell for cell in self.cells if cell.cell_type == "code" and words in cell.source)
        if asks(cell):
            return folded(cell)
        return "\n".join(output.get("text") or output.data["text/plain"] for output in cell.outputs)


def asks(cell: Any) -> bool:
    """Whether a cell is a prediction."""
    return cell.cell_type == "code" and "gv.predict(" in cell.source


def folded(cell: Any) -> str:
    """The folded answer of a prediction, as it can be read, with its code in backticks; of another cell nothing."""
    if not asks(cell):
        return ""
    html = cell.outputs[-1].data["text/html"].split("<summary>Answer</summary>")[1]
    html = re.sub(r"<img alt=\"([^\"]*)\"[^>]*>", r"\1", re.sub(r"</?code>", "`", html))
    return unescape(re.sub(r"<[^>]+>", "\n", html)).strip("\n")


def read_solved(name: str) -> Solved:
    """A lab by the name of its file."""
    return Solved(nbformat.read(SOLUTIONS / f"{name}.ipynb", as_version=4).cells)
