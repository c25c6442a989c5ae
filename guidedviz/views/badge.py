"""The source of a picture: live, recorded or a toy, and on which model. A picture that is kept is never LIVE."""

from guidedviz.errors import shorten
from guidedviz.extras import headless
from guidedviz.markup import Element
from guidedviz.models.model import Source
from guidedviz.views.figure import soft, write


def say_origin(model: str, device: str, tokens: int) -> str:
    """The model, its device and the size of its vocabulary.

    >>> say_origin("clerk", "cpu", 4096)
    'clerk · cpu · 4,096 tokens'
    """
    return f"{model} · {device} · {tokens:,} tokens"


def kept_source(source: Source) -> Source:
    """The source of a kept picture: RECORDED instead of LIVE.

    >>> kept_source("LIVE"), kept_source("TOY")
    ('RECORDED', 'TOY')
    """
    return "RECORDED" if source == "LIVE" else source


BADGES = {"LIVE": "●", "RECORDED": "◼", "TOY": "◆"}
BADGE_COLOURS = {"●": "orange", "◼": "blue", "◆": "green"}


def write_badge(x: float, y: float, source: Source, model: str, device: str, tokens: int, date: str) -> Element:
    """The badge as SVG, and beside it the model, device and, for a recording, the date."""
    sign, _, about = say_badge(source, model, device, tokens, date).partition(" · ")
    colour = BADGE_COLOURS[sign[0]]
    badge = write(x, y, sign, 14, fill=f"var(--gv-{colour})", font_weight="bold")
    return badge + soft(x + 108, y, about, 13)


def say_badge(source: Source, model: str, device: str, tokens: int, date: str) -> str:
    """The same as one line.

    >>> say_badge("TOY", "toy", "cpu", 6, "2026-11-22")
    '◆ TOY · toy · cpu · 6 tokens'
    """
    source = kept_source(source) if headless() else source
    about = say_origin(model, device, tokens)
    if source == "RECORDED":
        about += f" · {date}"
    return f"{BADGES[source]} {source} · {shorten(about, 70)}"
