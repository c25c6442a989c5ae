"""A solved lab as it is committed: its prose, and what its cells have printed."""

from __future__ import annotations

from dataclasses import dataclass
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
        """All that is told, in one line."""
        return " ".join(" ".join(cell.source for cell in self.cells if cell.cell_type == "markdown").split())

    def output_of(self, words: str) -> str:
        """What the first cell with these words shows."""
        cell = next(cell for cell in self.cells if cell.cell_type == "code" and words in cell.source)
        return "\n".join(output.get("text") or output.data["text/plain"] for output in cell.outputs)

    def folded_answer(self, question: str) -> str:
        """The folded part of the first prediction whose cell has these words."""
        cell = next(cell for cell in self.cells if "gv.predict(" in cell.source and question in cell.source)
        return str(cell.outputs[-1].data["text/html"].split("<details>")[1])


def read_solved(name: str) -> Solved:
    """A lab by the name of its file."""
    return Solved(nbformat.read(SOLUTIONS / f"{name}.ipynb", as_version=4).cells)
