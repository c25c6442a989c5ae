"""A figure: a drawing, and the same in words. Small functions write SVG in which every text is escaped."""

from __future__ import annotations

import base64
import html
import unicodedata
from dataclasses import dataclass
from typing import Any

from guidedviz.headless import headless
from guidedviz.views.theme import MONO, SANS, stand_alone, theme_css


@dataclass(frozen=True)
class Figure:
    """An SVG drawing, its short text, and what a person who cannot see it is told."""

    svg: str
    text: str
    alt: str

    def __str__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": self.text, "text/html": show_figure(self)}


def show_figure(figure: Figure) -> str:
    """The figure on a page: a part of it where a kernel lives, a picture where the page is kept."""
    return picture(figure) if headless() else inline(figure)


def picture(figure: Figure) -> str:
    """The figure as an `<img>` that carries its drawing: shown by every reader of a notebook, trusted or not."""
    data = base64.b64encode(stand_alone(figure.svg).encode()).decode()
    return f'<img alt="{html.escape(figure.alt)}" src="data:image/svg+xml;base64,{data}">'


def inline(figure: Figure) -> str:
    """The figure as a part of the page, in the colours of its theme."""
    return f'<div class="gv"><style>{theme_css()}</style>{figure.svg}</div>'


def drawing(width: float, height: float, *inside: str, alt: str) -> str:
    """A whole SVG on an opaque page, with its description."""
    page = node("rect", x=0, y=0, width=width, height=height, rx=8, fill="var(--gv-page)")
    size = {"viewBox": f"0 0 {_plain(width)} {_plain(height)}", "width": width, "height": height}
    about = {"xmlns": "http://www.w3.org/2000/svg", "role": "img", "aria-label": alt}
    style = f"max-width:100%;height:auto;font-family:{SANS}"
    return node("svg", page, *inside, **about, **size, style=style)


def node(name: str, *inside: str, **attributes: Any) -> str:
    """One SVG element; attribute values are escaped, the inside is SVG already.

    >>> node("rect", x=1.50, stroke_width=2, fill='"<')
    '<rect x="1.5" stroke-width="2" fill="&quot;&lt;"/>'
    """
    said = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(_plain(value))}"' for key, value in attributes.items()
    )
    return f"<{name}{said}>{''.join(inside)}</{name}>" if inside else f"<{name}{said}/>"


def write(x: float, y: float, words: str, size: float = 13, mono: bool = False, **attributes: Any) -> str:
    """A line of text; whatever it holds, it stays text.

    >>> "<script>" in write(0, 0, "<script>")
    False
    """
    style = {"font_family": MONO} if mono else {}
    colour = {"fill": "var(--gv-ink)"} | attributes
    spaced = {"xml:space": "preserve"} if "  " in words else {}
    return node("text", html.escape(words), x=x, y=y, font_size=size, **style, **colour, **spaced)


def wide(words: str, size: float = 13) -> float:
    """How wide a text in the fixed-width face will be, in pixels."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in words) * size * 0.602


def shorten(words: str, count: int) -> str:
    """The start of a text that is too long.

    >>> shorten("constrained", 8)
    'constra…'
    """
    return words if len(words) <= count else words[: count - 1] + "…"


def _plain(value: Any) -> str:
    return f"{round(value, 2):g}" if isinstance(value, float) else str(value)
