"""A figure is a drawing and the same in words; it is shown in a notebook, saved as a file, and has a hash for tests.

Small functions make the elements of drawings.
"""

import base64
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import Any

from guidedviz.errors import SettingError, expect, quoted, shorten
from guidedviz.extras import for_site, headless, need
from guidedviz.files import write_whole
from guidedviz.markup import Element, node, printable
from guidedviz.views.theme import MONO, SANS, stand_alone, theme_css

EDGE = 16.0  # pixels between most pictures and their edge
NEAR_EDGE = 14.0  # the same of pictures of machines and stacks
PLOTLY = "application/vnd.plotly.v1+json"
SHARP = 2  # pixels of a PNG per unit of the drawing
LESS = 0.85  # of its size is the least at which a picture is shown: where there is less room, it scrolls
WIDE = 1100.0  # but one that is not wider becomes as small as a notebook is narrow, up to a point
NARROW = 700.0  # pixels of the narrowest notebook beside a file browser
Drawn = tuple[Element, float]  # elements that start at y = 0, and their height
Style = dict[str, Any]  # some attributes of an element


@dataclass(frozen=True)
class Figure:
    """A drawing, its short text, its description for people who cannot see it, and whether its numbers were timed now.

    The numbers of a live figure differ between runs, so a test compares only its text. A chart also has its numbers: a
    notebook shows them with Plotly.
    """

    drawing: Element
    text: str
    alt: str
    live: bool = False
    chart: dict[str, Any] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", printable(self.text))
        object.__setattr__(self, "alt", printable(self.alt))

    def __str__(self) -> str:
        return self.text

    @cached_property
    def svg(self) -> str:
        """The drawing as SVG."""
        return str(self.drawing)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        bundle: dict[str, Any] = {"text/plain": self.text, "text/html": str(show_figure(self))}
        if self.chart and not (self.live and headless()):
            bundle[PLOTLY] = self.chart
        return bundle

    @property
    def plotly(self) -> Any:
        """The chart as a `plotly.graph_objects.Figure`, to change or to export."""
        if self.chart is None:
            raise SettingError("Figure.plotly", seen="a drawing", expected="a chart", hint="figure.save('x.svg')")
        return need("plotly.graph_objects", "lab", "Figure.plotly").Figure(self.chart)

    def save(self, path: str | Path) -> Path:
        """Write the picture to a file that ends in .svg, .png or .html; each works offline and without a notebook."""
        file = Path(expect(path, str | Path, "Figure.save, path", "a file name"))
        match file.suffix.lower():
            case ".svg":
                data = stand_alone(self.svg).encode()
            case ".png":
                draw = need("resvg_py", "lab", "Figure.save").svg_to_bytes
                png = draw(svg_string=stand_alone(self.svg), zoom=SHARP, sans_serif_family="DejaVu Sans")
                data = bytes(png)
            case ".html":
                title = node("title", self.text.partition("\n")[0])
                head = node("head", node("meta", charset="utf-8"), title)
                page = node("html", head, node("body", self.drawing), lang="en")
                data = f"<!doctype html>\n{stand_alone(str(page))}\n".encode()
            case _:
                expected = "a name in .svg, .png or .html"
                raise SettingError("Figure.save, path", seen=quoted(file.name), expected=expected)
        write_whole(file, data)
        return file


def check_count(where: str, count: int, of: str, most: int, hint: str = "") -> None:
    """Refuse a picture of nothing, or of more things than have room or a person can follow."""
    if not 1 <= count <= most:
        raise SettingError(where, seen=f"{count:,} {of}", expected=f"1 to {most} {of}", hint=hint)


def check_list(where: str, things: object, of: str, most: int) -> None:
    """Refuse what is no list of 1 to `most` things."""
    listed: Sequence[object] = expect(things, list | tuple, where, f"a list of {of}")
    check_count(where, len(listed), of, most)


def show_figure(figure: Figure) -> Element:
    """The figure as HTML: part of the page in a live notebook and on the site, an `<img>` in a built notebook."""
    if headless() and not for_site():
        return picture(figure)
    colours = node("style", theme_css())  # of the page
    return node("div", colours, figure.drawing, class_="gv", style="overflow-x:auto")


def picture(figure: Figure) -> Element:
    """The figure as an `<img>` with its data: every reader of a notebook shows it, trusted or not."""
    data = base64.b64encode(stand_alone(figure.svg).encode()).decode()
    mark = "live" if figure.live else fingerprint(figure.drawing)  # tests of notebooks compare this and not `src`
    least = _least_width(float(figure.drawing.attributes.get("width", 0)))
    return node("img", alt=figure.alt, data_drawing=mark, src=f"data:image/svg+xml;base64,{data}", style=least)


def _least_width(width: float) -> str:
    """The style of a picture that its box scrolls where its letters would become too small, as on a phone."""
    least = LESS * width
    if width <= WIDE:
        least = min(least, NARROW)
    return f"min-width:{least:.0f}px"


def drawing(width: float, height: float, *inside: Element | str, alt: str) -> Element:
    """A whole SVG on an opaque page, with its description."""
    page = rect(0, 0, width, height, 8, fill="var(--gv-page)")
    view = f"0 0 {round(width, 2):g} {round(height, 2):g}"
    size = {"viewBox": view, "width": width, "height": height}
    about = {"xmlns": "http://www.w3.org/2000/svg", "role": "img", "aria-label": alt}
    style = f"max-width:100%;{_least_width(width)};height:auto;font-family:{SANS}"
    return node("svg", page, *inside, **about, **size, style=style)


def figure_of(width: float, height: float, said: str, *parts: Element | str, alt: str = "") -> Figure:
    """A figure; its text is its description, too, unless that says more."""
    alt = alt or said
    return Figure(drawing(width, height, *parts, alt=alt), said, alt)


def write(x: float, y: float, words: str, size: float = 13, mono: bool = False, **attributes: Any) -> Element:
    """A line of text.

    >>> "<script>" in str(write(0, 0, "<script>"))
    False
    """
    look = {"font_family": MONO if mono else None, "fill": "var(--gv-ink)"} | attributes
    if "  " in words:
        look["xml:space"] = "preserve"
    return node("text", words, x=x, y=y, font_size=size, **look)


def bold(x: float, y: float, words: str, size: float = 13, mono: bool = False, **look: Any) -> Element:
    """A bold line of text, such as a title."""
    return write(x, y, words, size, mono, **look, font_weight="bold")


def write_right(x: float, y: float, words: str, size: float = 13, mono: bool = False, **look: Any) -> Element:
    """A line of text that ends at x."""
    return write(x, y, words, size, mono, **look, text_anchor="end")


def soft(x: float, y: float, words: str, size: float = 12, **attributes: Any) -> Element:
    """A line of text in the secondary colour."""
    return write(x, y, words, size, **{"fill": "var(--gv-soft)"} | attributes)


def centred(x: float, y: float, words: str, size: float = 13, mono: bool = False, **look: Any) -> Element:
    """A line of text around x."""
    return write(x, y, words, size, mono, text_anchor="middle", **look)


def soft_centred(x: float, y: float, words: str, size: float = 12, **look: Any) -> Element:
    """A line of text around x in the secondary colour."""
    return soft(x, y, words, size, text_anchor="middle", **look)


def soft_right(x: float, y: float, words: str, size: float = 12, **look: Any) -> Element:
    """A line of text that ends at x, in the secondary colour."""
    return soft(x, y, words, size, text_anchor="end", **look)


def path_of(way: str, **look: Any) -> Element:
    """A path along the steps of its `d`.

    >>> print(path_of("M0,0h9", stroke="none"))
    <path d="M0,0h9" stroke="none"/>
    """
    return node("path", d=way, **look)


def write_polyline(points: Iterable[tuple[float, float]], **look: Any) -> Element:
    """Straight lines from point to point.

    >>> print(write_polyline([(0, 1.5), (2, 3)]))
    <path d="M0,1.5L2,3" fill="none"/>
    """
    way = "L".join(f"{x:g},{y:g}" for x, y in points)
    return path_of(f"M{way}" if way else "", fill="none", **look)


def circle_at(x: float, y: float, r: float, **look: Any) -> Element:
    """A circle around a place."""
    return node("circle", cx=x, cy=y, r=r, **look)


def ruled(x: float, y: float, width: float, **look: Any) -> Element:
    """A horizontal line."""
    return path_of(f"M{x:g},{y:g}h{width:g}", **look)


def upright(x: float, y: float, height: float, **look: Any) -> Element:
    """A vertical line."""
    return path_of(f"M{x:g},{y:g}v{height:g}", **look)


def heading(x: float, y: float, name: str, about: str) -> Element:
    """The name of a picture, and beside it what it shows."""
    right = x + 10 + 7.8 * len(name)
    return bold(x, y, name) + soft(right, y, about)


def rect(x: float, y: float, width: float, height: float, rx: float = 0, /, **attributes: Any) -> Element:
    """A rectangle, with round corners if `rx` is given."""
    return node("rect", x=x, y=y, width=width, height=height, rx=rx or None, **attributes)


def write_box(
    x: float, y: float, width: float, height: float, words: str = "", *, struck: bool = False, **look: Any
) -> Element:
    """A box with as much of a text as has room in its middle."""
    box = rect(x, y, max(0.6, width), height, 4, **{"fill": "var(--gv-card)"} | look)
    room = int((width - 2) / wide("n"))
    if not words or room < 1:
        return box
    if len(words) > room:
        words = shorten(words, room) if room > 3 else "…"
    line = "line-through" if struck else None
    middle = x + width / 2
    base = y + height / 2 + 5
    return box + centred(middle, base, words, mono=True, text_decoration=line)


def write_legend(
    signs: Iterable[tuple[Element, str]], x: float, y: float, limit: float = inf
) -> tuple[list[Element], float, float]:
    """Signs around (9, 0), each with its meaning, in lines up to `limit`; the right end, and the y of the last line."""
    parts = list[Element]()
    left = right = x
    for sign, meaning in signs:
        width = 44 + 6.6 * len(meaning)
        if x > left and x + width > limit:
            x = left
            y += 20
        parts.append(moved(x, y - 4, sign))
        parts.append(soft(x + 24, y, meaning))
        x += width
        right = max(right, x)
    return parts, right, y


def moved(x: float, y: float, *inside: Element | str, **attributes: Any) -> Element:
    """Elements moved to a place.

    >>> print(moved(2, 3.5, node("path")))
    <g transform="translate(2 3.5)"><path/></g>
    """
    place = f"translate({x:g} {y:g})"
    return node("g", *inside, transform=place, **attributes)


def wide(words: str, size: float = 13) -> float:
    """The width of a text in the monospaced font, in pixels."""
    if words.isascii():
        return len(words) * size * 0.602
    double = sum(unicodedata.east_asian_width(c) in "WF" for c in words)
    return (len(words) + double) * size * 0.602


# --- a hash for tests ---


KEPT_ATTRIBUTES = frozenset("class fill stroke font-weight text-decoration data-arrow data-state data-rule".split())
VARIES = re.compile(r"\d{4}-\d\d-\d\d|\b(cpu|mps|cuda(:\d+)?)\b|[\d,]*\.?\d+ (s|ms|µs)\b")


def fingerprint(drawn: Element) -> str:
    """Twelve hex digits of the elements of a drawing, their classes and colours, and its texts.

    >>> from guidedviz.markup import node
    >>> fingerprint(node("text", "a", x=1)) == fingerprint(node("text", "a", x=2))
    True
    >>> fingerprint(node("text", "a", x=1)) == fingerprint(node("text", "b", x=1))
    False
    """
    content = "\n".join(_content(drawn))
    return sha256(content.encode("utf-8", "replace")).hexdigest()[:12]


def _content(element: Element) -> Iterator[str]:
    if element.attributes.get("class") == "gv-nth":
        return  # the number of a step: short arrows have no room for one
    said = f"<{element.name}"
    for name in sorted(element.attributes.keys() & KEPT_ATTRIBUTES):
        said += f" {name}={element.attributes[name]}"
    yield said
    for part in element.inside:
        if isinstance(part, str):
            yield VARIES.sub("…", part)
        else:
            yield from _content(part)
