"""The table state x token alive: search for tokens, point at a cell, hear why."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from guidedviz.errors import GuidedVizError
from guidedviz.tokens.guide import Guide
from guidedviz.views.figure import Figure, shorten
from guidedviz.views.search import WAYS
from guidedviz.views.token_table import TokenTable, draw_token_table, legend, say_size
from guidedviz.views.token_table import token_table as make_table
from guidedviz.views.words import short
from guidedviz.widgets.cells import move_in
from guidedviz.widgets.show import OnPage, show


def token_table(guide: Guide, tokens: str | Iterable[int] | None = None) -> TokenTableView:
    """The live table of a guide over a finite machine; `tokens` are ids, or a search."""
    return TokenTableView(guide, tokens)


class TokenTableView(OnPage):
    """What `gv.token_table` gives."""

    kind = "table"

    def __init__(self, guide: Guide, tokens: str | Iterable[int] | None) -> None:
        self.cell = ("", "")
        move_in(self)
        self.guide, self.note, self._why = guide, "", ""
        self.tokens = tokens if tokens is None or isinstance(tokens, str) else list(tokens)
        self.table: TokenTable = make_table(guide, self.tokens)

    def find(self, query: str) -> TokenTableView:
        """Only the tokens that a search finds; an empty search brings all back."""
        try:
            self.table, self.tokens, self.note = make_table(self.guide, query or None), query or None, ""
        except GuidedVizError as error:
            self.note = str(error)
        self._why = ""
        return self._moved()

    def explain(self, row: int, column: int) -> TokenTableView:
        """Why the first token of a cell is legal or not."""
        token = int(self.table.groups[column][0])
        why = self.guide.explain(row, token)
        self._why = f"{self.guide.vocabulary.display(token)} in {self.table.states[row]}: {why.reason}"
        return self._moved()

    @property
    def figure(self) -> Figure:
        """The same as a still picture."""
        return draw_token_table(self.guide, self.tokens)

    def __repr__(self) -> str:
        return self.figure.text

    def _repr_mimebundle_(self, **wanted: Any) -> Any:
        return show(self.figure, self, **wanted)

    def _moved(self) -> TokenTableView:
        self._tell()
        return self

    def _hear(self, said: dict[str, Any]) -> None:
        if said.get("do") == "find":
            self.find(str(said["text"]))
        elif said.get("do") == "why":
            self.explain(int(said["row"]), int(said["column"]))

    def _news(self, everything: bool) -> dict[str, Any]:
        made = self.table
        return {
            "about": say_size(made),
            "legend": legend(made),
            "ways": WAYS,
            "names": [shorten(name, 40) for name in made.names],
            "rows": [self._row(row) for row in range(len(made.states))],
            "why": self._why,
            "note": self.note,
        }

    def _row(self, row: int) -> list[Any]:
        made = self.table
        cells = [[short(float(p)), int(q)] for p, q in zip(made.filled[row], made.leads[row], strict=True)]
        return [shorten(made.states[row], 12), made.accepting[row], made.legal[row], cells]
