"""A page that plays recordings: no kernel, no network.

Its policy allows the scripts that stand in it, each by its hash, and nothing else: no blob, no address. The page of a
run may ask the host that it comes from. The player takes only places with the nonce of the page, which stands at the
player's own script.
"""

from base64 import b64encode
from collections.abc import Callable, Collection, Iterable
from functools import cache
from hashlib import sha256
from pathlib import Path
from secrets import token_urlsafe
from typing import Any

from guidedviz.markup import Element, inside_raw, node, together
from guidedviz.views.machine.svg import STYLE
from guidedviz.views.stack import earley_chart, stack_film
from guidedviz.views.theme import theme_css

BUNDLES = Path(__file__).parent / "page" / "dist"
PLAYER = "player.js"
LOADED_LATE = {"stage": ("map", "learning")}  # the bundles that a kind of widget loads when they are needed first
AGAIN = "again"  # the bundle of a page that asks the host it comes from
PAGES = frozenset(("player", "class", "runs", "deck", AGAIN))  # bundles of whole pages
NO_KINDS = PAGES.union(*LOADED_LATE.values())  # bundles that are no kind of widget
CSP = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


def play_page(title: str, kind: str, recording: str, step: int) -> str:
    """A page that plays a recording of a kind of widget; it opens at a step."""
    heard = node("h1", title, class_="gv-heard")
    return page_document(title, kind, lambda nonce: heard + play_place(kind, recording, nonce, step))


def page_document(title: str, kind: str, inside: Callable[[str], Element], *pages: str) -> str:
    """A page of one kind of widget; `inside` makes what is on it, with places that have the nonce of the page."""
    nonce = token_urlsafe()
    body = node("body", node("main", inside(nonce)))
    return f"<!doctype html>\n{node('html', page_head(title, [kind], nonce, *pages), body, lang='en')}\n"


def page_head(title: str, kinds: Collection[str], nonce: str, *pages: str) -> Element:
    """The head of a page that plays some kinds of widgets."""
    return node(
        "head",
        node("meta", charset="utf-8"),
        play_head(kinds, nonce, *pages),
        node("meta", name="viewport", content="width=device-width"),
        node("meta", name="color-scheme", content="light dark"),
        node("title", title),
    )


def play_head(kinds: Collection[str], nonce: str, *pages: str) -> Element:
    """The policy of a page, the styles and scripts of some kinds of widgets, and the script that plays the places.

    `pages` are bundles of the page itself.
    """
    styles = page_css(*kinds, "player", *pages)
    codes = [kind_script(name) for name in bundles_of(kinds)]
    codes += [read_bundle(f"{page}.js") for page in pages]
    player = read_bundle(PLAYER)
    pinned = " ".join(f"'sha256-{_digest(code)}'" for code in [*codes, player])
    allowed = f"{CSP}; script-src {pinned}"
    if AGAIN in pages:
        allowed += "; connect-src 'self'"
    policy = node("meta", http_equiv="Content-Security-Policy", content=allowed)
    scripts = [node("script", code) for code in codes]
    return together([policy, node("style", styles), *scripts, node("script", player, data_nonce=nonce)])


def play_place(kind: str, recording: str, nonce: str, step: int = 0, **more: Any) -> Element:
    """The place of one recording on a page with this nonce."""
    kept = node("script", recording, type="text/plain")
    return node("div", kept, class_="gv-place", data_nonce=nonce, data_kind=kind, data_open=step, **more)


def bundles_of(kinds: Iterable[str]) -> list[str]:
    """The names of the scripts of some kinds of widgets.

    >>> bundles_of(["film", "stage"])
    ['film', 'stage', 'map', 'learning']
    """
    return [name for kind in kinds for name in (kind, *LOADED_LATE.get(kind, ()))]


def kind_script(kind: str) -> str:
    """The script of a kind of widget, which tells the player of the page where it is."""
    return f"{read_bundle(f'{kind}.js')}(window.guidedvizKinds ??= {{}}).{kind} = guidedvizKind.default;\n"


def _digest(script: str) -> str:
    return b64encode(sha256(inside_raw(script).encode()).digest()).decode()


def page_css(*kinds: str) -> str:
    """All styles of a page: its colours, those of drawings, which come to it as shapes, and those of some bundles."""
    drawings = STYLE + earley_chart.ITEM_STYLE + stack_film.FILM_STYLE
    return theme_css() + drawings + "".join(read_bundle(f"{kind}.css") for kind in kinds)


@cache
def read_bundle(name: str) -> str:
    """A script or a style sheet of the page."""
    return (BUNDLES / name).read_text(encoding="utf-8")
