"""Drawings and pages as values: an element has a name, attributes and what is inside it.

One writer turns elements into SVG and HTML, and escapes every text. For the page the same drawing is a list of shapes:
the page creates elements of a fixed list, and parses nothing.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from guidedviz.errors import TraceError, quoted

FORBIDDEN = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # in XML 1.0
ELEMENTS = frozenset(
    "svg g path rect circle ellipse line polygon polyline text tspan title defs pattern mask image".split()
)
MAY_BE_EMPTY = ELEMENTS | frozenset("br img meta".split())
RAW = frozenset("style script".split())  # their text ends at the first "</"
PLAIN = frozenset(  # attributes that hold numbers and words
    "x y x1 x2 y1 y2 cx cy r rx ry width height d points transform viewBox opacity fill-opacity stroke-width "
    "stroke-dasharray stroke-linecap stroke-linejoin paint-order font-size font-family font-weight text-anchor "
    "text-decoration xml:space role aria-label aria-hidden maskUnits patternUnits image-rendering preserveAspectRatio "
    "data-state data-arrow data-rule data-part".split()
)
PAINT = r"none|transparent|currentColor|#[0-9a-fA-F]{3,8}|var\(--gv-[a-z]+\)|url\(#gv-[\w-]+\)"
FORMS = {  # attributes with a form of their own
    "class": re.compile(r"(gv-[\w-]+( gv-[\w-]+)*)?"),
    "id": re.compile(r"gv-[\w-]+"),
    "fill": re.compile(PAINT),
    "stroke": re.compile(PAINT),
    "mask": re.compile(r"url\(#gv-[\w-]+\)"),
    "href": re.compile(r"data:image/png;base64,[A-Za-z0-9+/]+=*"),
}
MARKED_TEXT = re.compile(  # code, then strong, then emphasis, then what is raised; the page has the same pattern
    r"`([^`\n]+)`|(?<![\w*])\*\*(?=\S)([^*\n]+)(?<=\S)\*\*(?![\w*])"
    r"|(?<![\w*])\*(?=\S)([^*\n]+)(?<=\S)\*(?![\w*])|<sup>([^<>\n]+)</sup>"
)
MARKED = ("code", "strong", "em", "sup")
DEEPEST = 40  # shapes inside shapes
LONGEST_TEXT = 1 << 20  # characters of one text; a map's picture is the longest

Shapes = list[Any]  # a name, the attributes, and texts or shapes


@dataclass(frozen=True, slots=True, eq=False)
class Element:
    """An element of SVG or HTML, or several without a name; `str` writes them."""

    name: str
    attributes: Mapping[str, str | float]
    inside: tuple[Element | str, ...] = ()

    def __str__(self) -> str:
        return "".join(self._write())

    def __repr__(self) -> str:
        return f"Element({self.name!r}, {len(self.inside)} inside)"

    def __add__(self, other: Element) -> Element:
        return together([self, other])

    def __bool__(self) -> bool:
        return bool(self.name or self.inside)

    def _write(self) -> Iterator[str]:
        if not self.name:
            yield from self._write_inside()
            return
        yield f"<{self.name}"
        for key, value in self.attributes.items():
            yield f' {key}="{escape(_short(value))}"'
        if not self.inside and self.name in MAY_BE_EMPTY:
            yield "/>"
            return
        yield ">"
        yield from self._write_inside()
        yield f"</{self.name}>"

    def _write_inside(self) -> Iterator[str]:
        for part in self.inside:
            if isinstance(part, Element):
                yield from part._write()
            else:
                yield inside_raw(part) if self.name in RAW else escape(part)

    @property
    def shapes(self) -> Shapes:
        """The drawing for the page, which has its own styles: a name, the attributes, and texts or shapes.

        >>> node("text", "a<b", x=1.25, style="color:red").shapes
        ['text', {'x': 1.25}, 'a<b']
        """
        kept = {key: value for key, value in self.attributes.items() if key in PLAIN or key in FORMS}
        parts = (part for part in self.inside if isinstance(part, str) or part.name in ELEMENTS)
        return [self.name, kept, *(printable(part) if isinstance(part, str) else part.shapes for part in parts)]


NOTHING = Element("", {})


def node(name: str, /, *inside: Element | str, **attributes: Any) -> Element:
    """One element; an underscore in the name of an attribute stands for a hyphen, and one with None is left out.

    >>> print(node("rect", x=1.50, stroke_width=2, fill='"<', rx=None), node("p", "a<b", node("br"), "c"))
    <rect x="1.5" stroke-width="2" fill="&quot;&lt;"/> <p>a&lt;b<br/>c</p>
    """
    named = {key.rstrip("_").replace("_", "-"): _value(value) for key, value in attributes.items() if value is not None}
    return Element(name, named, tuple(_flat(inside)))


def together(parts: Iterable[Element | str]) -> Element:
    """Several elements and texts as one value.

    >>> print(node("g", together([node("path"), "a<b"]) + node("path")))
    <g><path/>a&lt;b<path/></g>
    """
    return Element("", {}, tuple(_flat(parts)))


def notice(sign: str, colour: str, *inside: Element | str) -> Element:
    """A result in a notebook: its sign on a ground of one colour, and what follows."""
    look = f"background:{colour};color:#fff;border-radius:3px;padding:1px 8px;font-weight:600"
    frame = f"border-left:5px solid {colour};padding:6px 12px;margin:4px 0;max-width:60em"
    return node("div", node("span", sign, style=look), *inside, role="status", style=frame)


def table(rows: Iterable[tuple[str, Element | str]]) -> Element:
    """Names and values side by side."""
    left = {"style": "text-align:left;padding:1px 14px 1px 0;opacity:.75;vertical-align:top"}
    right = {"style": "text-align:left;padding:1px 0"}
    cells = (node("tr", node("td", name, **left), node("td", value, **right)) for name, value in rows)
    return node("table", *cells, style="margin:6px 0 0")


def with_marks(text: str) -> Element:
    """A text in which `code`, *emphasis*, **strong words** and what stands between <sup> and </sup> are elements.

    >>> print(with_marks("`a < b*c*` is *not* **2<sup>10</sup>** & <b>"))
    <code>a &lt; b*c*</code> is <em>not</em> <strong>2<sup>10</sup></strong> &amp; &lt;b&gt;
    """
    parts = list[Element | str]()
    end = 0
    for found in MARKED_TEXT.finditer(text):
        parts.append(text[end : found.start()])
        name = MARKED[(found.lastindex or 1) - 1]
        inside = found[found.lastindex or 1]
        parts.append(node(name, inside if name == "code" else with_marks(inside)))
        end = found.end()
    return together([*parts, text[end:]])


def _flat(inside: Iterable[Element | str]) -> Iterator[Element | str]:
    for part in inside:
        if isinstance(part, Element) and not part.name:
            yield from part.inside
        elif part:
            yield part


def _value(value: Any) -> str | float:
    if isinstance(value, float):
        return round(value, 2)
    return value if type(value) is int else str(value)


def _short(value: str | float) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)


def printable(text: str) -> str:
    r"""A text without the characters that XML forbids: control characters become their symbols.

    >>> printable("a\x00b\x1b"), printable("\ud800")
    ('a␀b␛', '�')
    """
    return FORBIDDEN.sub(lambda found: chr(0x2400 + ord(found[0])) if found[0] < " " else "\ufffd", text)


def escape(text: str) -> str:
    """A text as the inside of an element or an attribute of SVG or HTML."""
    return html.escape(printable(text))


def inside_raw(code: str) -> str:
    """A script or a style sheet as the inside of its element, which it cannot end."""
    return re.sub(r"<(?=/s(?:cript|tyle)|!--)", r"<\\", code, flags=re.IGNORECASE)


def check_shapes(shapes: Any, where: str, deep: int = 0) -> None:
    """Refuse what is no drawing; a recording may come from a stranger.

    >>> check_shapes(["g", {}, ["iframe", {}]], "recording, drawing")
    Traceback (most recent call last):
    guidedviz.errors.TraceError: recording, drawing: saw 'iframe', expected an element of a drawing
    """
    match shapes:
        case [str(name), {**attributes}, *inside] if name in ELEMENTS and deep < DEEPEST:
            for key, value in attributes.items():
                _check_attribute(key, value, where)
            for part in inside:
                if not isinstance(part, str):
                    check_shapes(part, where, deep + 1)
                elif len(part) > LONGEST_TEXT:
                    raise TraceError(where, seen=quoted(part), expected="a shorter text")
        case [str(name), dict(), *_]:
            raise TraceError(where, seen=quoted(name), expected="an element of a drawing")
        case _:
            raise TraceError(where, seen=quoted(shapes), expected="a name, attributes, and what is inside")


def _check_attribute(key: Any, value: Any, where: str) -> None:
    if key not in PLAIN and key not in FORMS:
        raise TraceError(where, seen=quoted(key), expected="an attribute of a drawing")
    text = None
    if type(value) in (int, float, str):
        text = str(value)
    if text is None or len(text) > LONGEST_TEXT or (key in FORMS and not FORMS[key].fullmatch(text)):
        raise TraceError(f"{where}, {key}", seen=quoted(value), expected="a value that a drawing has")
