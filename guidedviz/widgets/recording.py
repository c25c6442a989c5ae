"""A run as a recording, which holds what the page shows at every step, and a page that plays it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from guidedviz.decoding.recording import compress
from guidedviz.decoding.records import check_path, write_whole
from guidedviz.decoding.trace import Trace
from guidedviz.errors import SettingError, expect, quoted
from guidedviz.views.words import kept_source
from guidedviz.widgets.panels import Page, Panels, pack_head, pack_player, pack_times, read_record
from guidedviz.widgets.player_page import play_page

ALL_TEXTS = 20_000  # tokens of a vocabulary whose texts are all kept; of a larger one only those that the steps show


def show_run(trace: Trace) -> dict[str, Any]:
    """What the page shows at every step of a trace."""
    player = read_record("step", trace.guide, trace)
    panels = Panels(trace.guide, None, lambda: None, stack=False)
    shown: dict[str, Any] = {**pack_player(player)} | pack_times(player.steps) | panels.news(player, 0, Page())
    shown |= {"head": pack_head(trace, player) | {"source": kept_source(trace.source)}, "cursor": 0, "turn": 0}
    shown |= {"playing": False, "speed": 4, "note": "", "why": None}
    if panels.map:
        for step, whys in zip(shown["add"], panels.explain_steps(player), strict=True):
            step["whys"] = whys
        every = trace.vocabulary_size <= ALL_TEXTS
        ranks = range(trace.vocabulary_size) if every else {rank for step in shown["add"] for rank in step["ranks"]}
        shown["map"]["answers"] = panels.map.texts(ranks)
    return shown


def recording_of(trace: Trace) -> str:
    """The recording of a trace: the one it was loaded with, once it is checked, or a new one."""
    return trace.recording if trace.shown else compress(show_run(trace))


def save_page(trace: Trace, path: str | Path, step: int, note: str) -> None:
    """Write a page that plays a trace."""
    file = check_path(path)
    write_whole(file, page_of(trace, step, note).encode("utf-8", "replace"))


def page_of(trace: Trace, step: int = 0, note: str = "") -> str:
    """A page that plays a trace."""
    if type(step) is not int or not 0 <= step <= len(trace.steps):
        raise SettingError("Trace.page, step", seen=quoted(step), expected=f"0 to {len(trace.steps)}")
    expect(note, str, "Trace.page, note", "a text")
    asked = "".join(trace.parts[::2]) or trace.prompt
    return play_page(f"{trace.model}: {asked.strip()[:60]}", [("stage", recording_of(trace), step)], note)
