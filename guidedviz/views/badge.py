"""Where a picture comes from: live, recorded or a toy, on which model. What is made to be kept is not live."""

from __future__ import annotations

from guidedviz.decoding.trace import Source
from guidedviz.headless import headless
from guidedviz.views.figure import shorten, write
from guidedviz.views.words import kept_source, say_origin

BADGES = {"LIVE": ("●", "orange"), "RECORDED": ("◼", "blue"), "TOY": ("◆", "green")}


def write_badge(x: float, y: float, source: Source, model: str, device: str, tokens: int, date: str) -> str:
    """The badge, and what ran where; the day only where it is not now."""
    source = kept_source(source) if headless() else source
    sign, colour = BADGES[source]
    about = say_origin(model, device, tokens) + f" · {date}" * (source == "RECORDED")
    badge = write(x, y, f"{sign} {source}", 14, fill=f"var(--gv-{colour})", font_weight="bold")
    return badge + write(x + 108, y, shorten(about, 70), fill="var(--gv-soft)")
