"""A figure is a drawing in SVG, the same in words, and for charts the data for Plotly.

Small functions write SVG; they escape every text.
"""

from __future__ import annotations

import base64
import html
import re
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from guidedviz.errors import SettingError, expect, quoted
from guidedviz.extras import need
from guidedviz.headless import for_site, headless
from guidedviz.views.fingerprint import fingerprint
from guidedviz.views.theme import MONO, SANS, stand_alone, theme_css

PLOTLY = "application/vnd.plotly.v1+json"
SHARP = 2  # pixels of a PNG per unit of the drawing
FORBIDDEN = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # in XML 1.0
TRACE_HINT = "gv.record(model, prompt, guide)"


@dataclass(frozen=True)
class Figure:
    """An SVG drawing, its short text, and its description for people who cannot see it.

    A chart also has its data for Plotly. A notebook shows the Plotly chart; with "live" only if a person runs it (its
    numbers differ between runs), with "no" never, because the drawing shows more.
    """

    svg: str
    text: str
    alt: str
    chart: dict[str, Any] | None = field(default=None, compare=False, repr=False)
    interactive: Literal["yes", "live", "no"] = "yes"

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", printable(self.text))
        object.__setattr__(self, "alt", printable(self.alt))

    def __str__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        bundle: dict[str, Any] = {"text/plain": self.text, "text/html": show_figure(self)}
        if self.chart and (self.interactive == "yes" or (self.interactive == "live" and not headless())):
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
                file.write_text(stand_alone(self.svg), encoding="utf-8")
            case ".png":
                file.write_bytes(render_png(self))
            case ".html":
                file.write_text(html_page(self), encoding="utf-8")
            case _:
                expected = "a name in .svg, .png or .html"
                raise SettingError("Figure.save, path", seen=quoted(file.name), expected=expected)
        return file


def show_figure(figure: Figure) -> str:
    """The figure as HTML: part of the page in a live notebook and on the site, an `<img>` in a built notebook."""
    return picture(figure) if headless() and not for_site() else inline(figure)


def picture(figure: Figure) -> str:
    """The figure as an `<img>` with its data: every reader of a notebook shows it, trusted or not."""
    data = base64.b64encode(stand_alone(figure.svg).encode()).decode()
    mark = "live" if figure.interactive == "live" else fingerprint(figure.svg)  # nbval compares this and not `src`
    return f'<img alt="{escape(figure.alt)}" data-drawing="{mark}" src="data:image/svg+xml;base64,{data}">'


def inline(figure: Figure) -> str:
    """The figure as part of the page, in the colours of the page's theme."""
    return f'<div class="gv"><style>{theme_css()}</style>{figure.svg}</div>'


def html_page(figure: Figure) -> str:
    """The figure as a page in one file; a chart becomes interactive and carries the Plotly script (5 MB)."""
    if figure.chart and figure.interactive != "no":
        return str(figure.plotly.to_html(include_plotlyjs=True, config={"displaylogo": False}))
    head = f'<meta charset="utf-8"><title>{escape(figure.text.splitlines()[0] if figure.text else "figure")}</title>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>{stand_alone(figure.svg)}</body></html>\n'


def render_png(figure: Figure) -> bytes:
    """The figure as a PNG, two pixels per unit."""
    draw = need("resvg_py", "lab", "Figure.save").svg_to_bytes
    return bytes(draw(svg_string=stand_alone(figure.svg), zoom=SHARP, sans_serif_family="DejaVu Sans"))


def printable(text: str) -> str:
    r"""A text without the characters that XML forbids: control characters become their symbols.

    >>> printable("a\x00b\x1b"), printable("\ud800")
    ('a␀b␛', '�')
    """
    return FORBIDDEN.sub(lambda found: chr(0x2400 + ord(found[0])) if found[0] < " " else "\ufffd", text)


def escape(text: str) -> str:
    """A text as the inside of an element or an attribute of SVG or HTML."""
    return html.escape(printable(text))


def drawing(width: float, height: float, *inside: str, alt: str) -> str:
    """A whole SVG on an opaque page, with its description."""
    page = node("rect", x=0, y=0, width=width, height=height, rx=8, fill="var(--gv-page)")
    size = {"viewBox": f"0 0 {_short(width)} {_short(height)}", "width": width, "height": height}
    about = {"xmlns": "http://www.w3.org/2000/svg", "role": "img", "aria-label": alt}
    style = f"max-width:100%;height:auto;font-family:{SANS}"
    return node("svg", page, *inside, **about, **size, style=style)


def node(name: str, *inside: str, **attributes: Any) -> str:
    """One SVG element; attribute values are escaped, the inside is SVG already.

    >>> node("rect", x=1.50, stroke_width=2, fill='"<')
    '<rect x="1.5" stroke-width="2" fill="&quot;&lt;"/>'
    """
    said = "".join(f' {key.rstrip("_").replace("_", "-")}="{escape(_short(v))}"' for key, v in attributes.items())
    return f"<{name}{said}>{''.join(inside)}</{name}>" if inside else f"<{name}{said}/>"


def write(x: float, y: float, words: str, size: float = 13, mono: bool = False, **attributes: Any) -> str:
    """A line of text, always escaped.

    >>> "<script>" in write(0, 0, "<script>")
    False
    """
    style = {"font_family": MONO} if mono else {}
    colour = {"fill": "var(--gv-ink)"} | attributes
    spaced = {"xml:space": "preserve"} if "  " in words else {}
    return node("text", escape(words), x=x, y=y, font_size=size, **style, **colour, **spaced)


def soft(x: float, y: float, words: str, size: float = 12, **attributes: Any) -> str:
    """A line of text in the secondary colour."""
    return write(x, y, words, size, **{"fill": "var(--gv-soft)"} | attributes)


def heading(x: float, y: float, name: str, about: str) -> str:
    """The name of a picture, and beside it what it shows."""
    beside = soft(x + 10 + 7.8 * len(name), y, about) if about else ""
    return write(x, y, name, font_weight="bold") + beside


def moved(x: float, y: float, *inside: str, **attributes: Any) -> str:
    """Elements moved to a place.

    >>> moved(2, 3.5, "<path/>")
    '<g transform="translate(2 3.5)"><path/></g>'
    """
    return node("g", *inside, transform=f"translate({x:g} {y:g})", **attributes)


def wide(words: str, size: float = 13) -> float:
    """The width of a text in the monospaced font, in pixels."""
    if words.isascii():
        return len(words) * size * 0.602
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in words) * size * 0.602


def _short(value: Any) -> str:
    return f"{round(value, 2):g}" if isinstance(value, float) else str(value)
