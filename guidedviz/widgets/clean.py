"""HTML of a stranger's notebook as it may stand on a page: nothing of it runs, loads, leaves or lies over the page.

Everything that is not in the lists here is removed by nh3, which reads HTML as browsers do. Drawings keep what
`guidedviz/markup.py` allows them. A class is kept where it belongs to a drawing, to highlighted code or to the frame
that nbconvert puts around a cell; no style moves a part out of its place.
"""

import re
from functools import cache
from typing import Any

from guidedviz.extras import need
from guidedviz.markup import ELEMENTS, FORMS, PLAIN, printable
from guidedviz.widgets.player_page import page_css

TAGS = frozenset(
    "a abbr b blockquote br caption code dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr i img kbd li mark ol p pre s "
    "samp small span strong sub summary sup table tbody td tfoot th thead tr u ul var".split()
)
ANYWHERE = frozenset("class id style role aria-label aria-hidden data-mime-type".split())
OWN_ATTRIBUTES = {
    "a": {"href", "title"}, "details": {"open"}, "img": {"src", "alt", "title", "width", "height"}, "ol": {"start"},
    "td": {"colspan", "rowspan"}, "th": {"colspan", "rowspan", "scope"},
}  # fmt: skip
FRAME = """anchor-link cm-editor cm-s-jupyter gv highlight hl-ipython3 jp-Cell jp-Cell-inputArea jp-Cell-inputCollapser
    jp-Cell-inputWrapper jp-CodeMirrorEditor jp-Collapser jp-Editor jp-InputArea jp-InputArea-editor jp-InputArea-prompt
    jp-InputCollapser jp-InputPrompt jp-MarkdownCell jp-MarkdownOutput jp-Notebook-cell jp-OutputArea-child
    jp-OutputArea-executeResult jp-OutputArea-output jp-OutputArea-prompt jp-OutputPrompt jp-RenderedHTML
    jp-RenderedHTMLCommon jp-RenderedImage jp-RenderedLatex jp-RenderedMarkdown jp-RenderedSVG jp-RenderedText"""
STYLES = frozenset(
    "background background-color border border-left border-radius color font-family font-style font-weight height "
    "margin max-width min-width opacity padding text-align text-decoration vertical-align white-space".split()
)
HARMLESS_STYLE = re.compile(
    r"(?:[^()\\@]|rgba?\([\d ,.%]+\)|var\(--(gv|jp)-[\w-]+(,[^()\\@]*)?\))*"
)  # loads no address
MOVES = re.compile(r"(?<![\w#-])-\s*[\d.]|height:(?!\s*auto)", re.IGNORECASE)  # moves over what stands beside it
PICTURE = re.compile(r"data:image/|(?!/)[\w./%-]+$")
LINK = re.compile(r"https?:|mailto:|[^:]*$|[^:]*[/?#]", re.IGNORECASE)


def clean(html: str) -> str:
    """HTML without anything that does something; unclosed elements are closed.

    >>> clean('<p class="gv-place" onclick="a()">one<script>b()</script><a href="javascript:c()">two</a>')
    '<p>one<a rel="noopener noreferrer">two</a></p>'
    """
    return str(_cleaner().clean(printable(html)))


@cache
def _cleaner() -> Any:
    nh3 = need("nh3", "lab", "jupyter nbconvert --to guidedviz")
    drawn = {name: PLAIN | FORMS.keys() for name in ELEMENTS}
    drawn["svg"] = drawn["svg"] - {"transform"}  # on a whole drawing it moves the drawing over the page
    return nh3.Cleaner(
        tags=TAGS | ELEMENTS,
        attributes={"*": set(ANYWHERE), **OWN_ATTRIBUTES, **drawn},
        attribute_filter=_filter,
        filter_style_properties=STYLES,
        url_schemes={"http", "https", "mailto", "data"},
    )


def _filter(tag: str, name: str, value: str) -> str | None:
    """The value of an attribute; None if it is removed."""
    if name == "class":
        return " ".join(word for word in value.split() if _is_kept(tag, word)) or None
    return value if _is_harmless(tag, name, value) else None


def _is_harmless(tag: str, name: str, value: str) -> bool:
    """Whether an attribute loads nothing, runs nothing, and moves nothing over the page."""
    if name == "style":
        return bool(HARMLESS_STYLE.fullmatch(value)) and not MOVES.search(value)
    if name == "src":
        return bool(PICTURE.match(value))
    if tag == "a" and name == "href":
        return bool(LINK.match(value))
    if tag in ELEMENTS and name in FORMS:
        return bool(FORMS[name].fullmatch(value))
    return True


def _is_kept(tag: str, word: str) -> bool:
    """Whether a class is kept. A part of a drawing stays within the drawing, whatever its class is."""
    if tag in ELEMENTS and tag != "svg":
        return word.startswith("gv-") and word != "gv-place"
    return word.startswith("ansi-") or word in _classes()


@cache
def _classes() -> frozenset[str]:
    """The classes of drawings, of highlighted code and of nbconvert's frame; none moves a part over another."""
    code = need("pygments.token", "lab").STANDARD_TYPES.values()
    return frozenset([*re.findall(r"\.(gv-[\w-]+)", page_css()), *code, *FRAME.split()])
