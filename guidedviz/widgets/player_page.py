"""A page that plays recordings: no kernel, no network."""

from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from guidedviz.markup import Element, node, together, within
from guidedviz.views.machine.highlight import STYLE
from guidedviz.views.stack import cards, earley
from guidedviz.views.theme import theme_css

BUNDLES = Path(__file__).parent / "page" / "dist"
PLAYER = "player.js"
CSP = "default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"


def play_page(title: str, kind: str, recording: str, step: int) -> str:
    """A page that plays a recording of a kind of widget; it opens at a step."""
    head = node(
        "head",
        node("meta", charset="utf-8"),
        policy(),
        node("meta", name="viewport", content="width=device-width"),
        node("meta", name="color-scheme", content="light dark"),
        node("title", title),
        play_head([kind]),
    )
    body = node("body", node("main", node("h1", title, class_="gv-heard"), play_place(kind, recording, step)))
    return f"<!doctype html>\n{node('html', head, body, lang='en')}\n"


def play_head(kinds: list[str]) -> Element:
    """The styles and the scripts of some kinds of widgets, and the script that starts them."""
    styles = page_css() + "".join(read_bundle(f"{kind}.css") for kind in [*kinds, "player"])
    scripts = (node("script", read_bundle(f"{kind}.js"), type="text/plain", data_code=kind) for kind in kinds)
    return node("style", styles) + together(scripts) + node("script", read_bundle(PLAYER), type="module")


def play_place(kind: str, recording: str, step: int = 0, **more: Any) -> Element:
    """The place of one recording on a page."""
    kept = node("script", recording, type="text/plain")
    return node("div", kept, class_="gv-place", data_kind=kind, data_open=step, **more)


def policy() -> Element:
    """Allows the player as the only script that stands in the page, and no address."""
    digest = b64encode(sha256(within(read_bundle(PLAYER)).encode()).digest()).decode()
    content = f"{CSP}; script-src blob: 'sha256-{digest}'"
    return node("meta", http_equiv="Content-Security-Policy", content=content)


def page_css() -> str:
    """The colours of the page, and the styles of drawings, which come to it as shapes."""
    return theme_css() + STYLE + earley.STYLE + cards.MORE


@cache
def read_bundle(name: str) -> str:
    """A script or a style sheet of the page."""
    return (BUNDLES / name).read_text(encoding="utf-8")
