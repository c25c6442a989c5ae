"""The live table state x token: search for tokens, click a cell to see why it is legal or illegal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from guidedviz.errors import GuidedVizError, expect, shorten
from guidedviz.tokens.guide import Guide
from guidedviz.views.figure import Figure
from guidedviz.views.vocabulary.table import WAYS, TokenTable, draw_token_table, legend, say_size
from guidedviz.views.vocabulary.table import token_table as make_table
from guidedviz.widgets.display import Display, Shown, said


def token_table(guide: Guide, tokens: str | Iterable[int] | None = None) -> TokenTableView:
    """A live table of the tokens that each state of a finite machine allows; `tokens` are ids or a search."""
    if tokens is not None and not isinstance(tokens, str):
        expect(tokens, Iterable, "gv.token_table, tokens", "token ids, or a search")
        tokens = [guide.vocabulary.as_id(token) for token in tokens]
    return TokenTableView(guide, tokens)


class TokenTableView(Shown):
    """What `gv.token_table` returns."""

    def __init__(self, guide: Guide, tokens: str | list[int] | None) -> None:
        self.guide, self.note, self._why = guide, "", ""
        self.tokens = tokens
        self.table: TokenTable = make_table(guide, self.tokens)
        self.display = Display("table", self._news, self._hear, record=self._record)

    def find(self, query: str) -> TokenTableView:
        """Show only the tokens that a search finds; an empty search shows all."""
        self._why = self.note = ""
        try:
            self.table, self.tokens = make_table(self.guide, query or None), query or None
        except GuidedVizError as error:
            self.note = str(error)
        self.display.tell()
        return self

    def explain(self, row: int, column: int) -> TokenTableView:
        """Show why the first token of a cell is legal or illegal."""
        self._why = self._explain(row, column)
        self.display.tell()
        return self

    @property
    def figure(self) -> Figure:
        """The table as a still picture."""
        return draw_token_table(self.guide, self.tokens)

    def _hear(self, heard: Any) -> None:
        made = self.table
        match heard:
            case {"do": "find", "text": str(query)}:
                self.find(query)
            case {"do": "why", "row": int(row), "column": int(column)} if 0 <= row < len(
                made.states
            ) and 0 <= column < len(made.groups):
                self.explain(row, column)

    def _record(self) -> dict[str, Any]:
        """The table with the reason of every cell."""
        cells = [(row, column) for row in range(len(self.table.states)) for column in range(len(self.table.groups))]
        moves = {said("why", row=row, column=column): place for place, (row, column) in enumerate(cells)}
        return self._news(True) | {"pages": [{"why": self._explain(*cell)} for cell in cells], "moves": moves}

    def _explain(self, row: int, column: int) -> str:
        token = int(self.table.groups[column][0])
        why = self.guide.explain(row, token)
        return f"{self.guide.vocabulary.display(token)} in {self.table.states[row]}: {why.reason}"

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
        cells = [[float(lead >= 0), lead] for lead in made.leads[row].tolist()]
        return [shorten(made.states[row], 12), made.accepting[row], made.legal[row], cells]
