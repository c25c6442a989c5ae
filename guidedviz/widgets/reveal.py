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
            yield from _paragraphs(reveal)
        case Figure():
            yield RevealPart("drawing", reveal.alt, reveal)
        case list() | tuple():
            for part in reveal:
                yield from unfold(part, call)
        case _ if callable(reveal):
            if call:
                yield from _call(reveal)
        case _:
            raise SettingError("gv.predict, reveal", seen=quoted(reveal), expected="a text, a Figure or a function")


def _paragraphs(text: str) -> Iterator[RevealPart]:
    """The paragraphs of a text, which empty lines part."""
    for paragraph in re.split(r"\n\s*\n", text):
        words = " ".join(paragraph.split())
        if words:
            yield RevealPart("text", printable(words))


def _call(function: Callable[[], Any]) -> Iterator[RevealPart]:
    """What a function prints, and the parts of what it returns."""
    with redirect_stdout(io.StringIO()) as printed:
        result = function()
    text = printed.getvalue().rstrip("\n")
    if text:
        yield RevealPart("print", printable(text))
    yield from unfold(result)
