"""A run as a recording, which holds what the page shows at every step, and a page that plays it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from guidedviz.decoding.player import ClosedWalk, Player, Run, Taken, Walk, recorded_settings
from guidedviz.decoding.recording import compress
from guidedviz.decoding.records import check_path, write_whole
from guidedviz.decoding.settings import Settings
from guidedviz.decoding.trace import Point, Step, Trace
from guidedviz.errors import IllegalToken, SettingError, TraceError, quoted
from guidedviz.tokens.guide import Guide
from guidedviz.views.words import kept_source, label
from guidedviz.widgets.panels import Panels, pack_head, pack_player, pack_times
from guidedviz.widgets.player_page import play_page

ALL_TEXTS = 20_000  # tokens of a vocabulary whose texts are all kept; of a larger one only those that the steps show


def recording_of(trace: Trace) -> str:
    """The recording of a trace: the one it was loaded with, once it is checked, or a new one."""
    return trace.recording if trace.shown else compress(show_run(trace))


def show_run(trace: Trace) -> dict[str, Any]:
    """What the page shows at every step of a trace."""
    player = _finished(trace)
    panels = Panels(trace.guide, None, lambda: None)
    shown: dict[str, Any] = {**pack_player(player)} | pack_times(player.steps) | panels.kept(player)
    shown |= {"head": pack_head(trace, player) | {"source": kept_source(trace.source)}, "cursor": 0, "turn": 0}
    shown |= {"playing": False, "speed": 4, "note": "", "why": None}
    if trace.guide is not None:
        for step, whys in zip(shown["add"], panels.explain_steps(player), strict=True):
            step["whys"] = whys
    if panels.map:
        shown["map"]["answers"] = list(panels.map.texts(_ranks(shown, trace.vocabulary_size)))
    return shown


def _ranks(shown: Mapping[str, Any], tokens: int) -> list[int]:
    """The places on the map whose texts are kept."""
    return [*range(tokens)] if tokens <= ALL_TEXTS else [rank for step in shown["add"] for rank in step["ranks"]]


def _finished(trace: Trace) -> Player:
    """A player that has taken all steps of a trace, with the state after each."""
    guide: Guide | None = trace.guide
    settings = recorded_settings(trace)
    walk = ClosedWalk(Point((), (guide.initial if guide else None,)))
    run = read_taken("step", guide, walk.first, [(step, settings, walk) for step in trace.steps])
    return Player(walk, settings, run, len(run))


def read_taken(
    where: str, guide: Guide | None, point: Point, steps: Sequence[tuple[Step, Settings, Walk]], before: Run = ()
) -> Run:
    """The steps `before` and after them these steps, whose tokens the guide reads; `point` is where they begin."""
    run = [*before]
    for step, settings, walk in steps:
        if step.how != "none":
            at = point.back(step.back)
            try:
                state = guide.advance(at.state, step.token) if guide else at.state
            except IllegalToken:
                seen, expected = quoted(label(step.piece)), "a token that the guide allows"
                raise TraceError(f"{where} {len(run) + 1}", seen=seen, expected=expected) from None
            point = at.then(step.token, state)
        run.append(Taken(step, point, settings, walk))
    return tuple(run)


def save_page(trace: Trace, path: str | Path, step: int, note: str) -> None:
    """Write a page that plays a trace."""
    file = check_path(path)
    write_whole(file, page_of(trace, step, note).encode("utf-8", "replace"))


def page_of(trace: Trace, step: int = 0, note: str = "") -> str:
    """A page that plays a trace."""
    if isinstance(step, bool) or not isinstance(step, int) or not 0 <= step <= len(trace.steps):
        raise SettingError("Trace.page, step", seen=quoted(step), expected=f"0 to {len(trace.steps)}")
    if not isinstance(note, str):
        raise SettingError("Trace.page, note", seen=quoted(note), expected="a text")
    return play_page(f"{trace.model}: {trace.prompt.strip()[:60]}", [("stage", recording_of(trace), step)], note)
