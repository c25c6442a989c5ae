"""The source of a picture: live, recorded or a toy, and on which model. A picture that is kept is never LIVE."""

from guidedviz.decoding.spellings import Spellings
from guidedviz.decoding.trace import Trace
from guidedviz.errors import shorten
from guidedviz.extras import headless
from guidedviz.markup import Element
from guidedviz.models.model import Source
from guidedviz.views.figure import soft, write
from guidedviz.views.theme import paint


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
Origin = Trace | Spellings  # a record of one model


def write_badge(x: float, y: float, record: Origin) -> Element:
    """The badge as SVG, and beside it the model, device and, for a recording, the date."""
    sign, _, about = say_badge(record).partition(" · ")
    badge = write(x, y, sign, 14, fill=paint(BADGE_COLOURS[sign[0]]), font_weight="bold")
    return badge + soft(x + 108, y, about, 13)


def say_badge(record: Origin) -> str:
    """The same as one line.

    >>> say_badge(gv.record(gv.ToyModel([b"a", b"b"], lambda tokens: [0.0, 1.0]), "a", max_tokens=1))
    '◆ TOY · toy · cpu · 2 tokens'
    """
    source = kept_source(record.source) if headless() else record.source
    about = say_origin(record.model, record.device, record.vocabulary_size)
    if source == "RECORDED":
        about += f" · {record.date}"
    return f"{BADGES[source]} {source} · {shorten(about, 70)}"
