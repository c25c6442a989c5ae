"""What unfolds after a commitment, in parts: paragraphs, what a function printed, and drawings."""

import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Any, Literal

from guidedviz.errors import SettingError, quoted
from guidedviz.markup import Element, node, printable, with_code
from guidedviz.views.figure import Figure, show_figure

Reveal = str | Figure | Callable[[], Any] | Sequence[Any]


@dataclass(frozen=True)
class RevealPart:
    """One part of a reveal."""

    kind: Literal["text", "print", "drawing"]
    text: str
    figure: Figure | None = None

    @property
    def html(self) -> Element:
        """The part as HTML."""
        if self.figure:
            return show_figure(self.figure)
        if self.kind == "text":
            return node("p", with_code(self.text))
        return node("pre", self.text, style="font-family:monospace")


def unfold(reveal: Any, call: bool = True) -> Iterator[RevealPart]:
    """The parts of a reveal; a function is called, and what it prints comes before what it returns.

    Without `call` a function has no parts.

    >>> [part.text for part in unfold(["a line\\n  broken\\n\\nnext", lambda: print("1\\n2")])]
    ['a line broken', 'next', '1\\n2']
    """
    match reveal:
        case None:
            return
        case str():
            paragraphs = (" ".join(text.split()) for text in re.split(r"\n\s*\n", reveal))
            yield from (RevealPart("text", printable(text)) for text in paragraphs if text)
        case Figure():
            yield RevealPart("drawing", reveal.alt, reveal)
        case list() | tuple():
            for part in reveal:
                yield from unfold(part, call)
        case _ if callable(reveal) and not call:
            return
        case _ if callable(reveal):
            with redirect_stdout(io.StringIO()) as printed:
                result = reveal()
            if text := printed.getvalue().rstrip("\n"):
                yield RevealPart("print", printable(text))
            yield from unfold(result)
        case _:
            raise SettingError("gv.predict, reveal", seen=quoted(reveal), expected="a text, a Figure or a function")
