"""A page that plays recordings: no kernel, no network."""

from __future__ import annotations

from pathlib import Path

from guidedviz.decoding.records import check_path, write_whole
from guidedviz.decoding.trace import Trace
from guidedviz.errors import SettingError, quoted
from guidedviz.views.figure import escape
from guidedviz.views.theme import theme_css
from guidedviz.widgets.panels.packed_run import expand
from guidedviz.widgets.recordings.recording import recording_of

BUNDLES = Path(__file__).parents[1] / "page" / "dist"
CSP = "default-src 'none'; script-src 'unsafe-inline' blob:; style-src 'unsafe-inline'; img-src data: blob:"


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
    recording = recording_of(trace)
    if trace.recording:
        expand(recording, trace)
    return play_page(f"{trace.model}: {trace.prompt.strip()[:60]}", [("stage", recording, step)], note)


def play_page(title: str, runs: list[tuple[str, str, int]], note: str = "") -> str:
    """A page that plays recordings; each is a kind of widget, its recording, and the step that it opens at."""
    kinds = list(dict.fromkeys(kind for kind, _, _ in runs))
    about = f'<p class="note">{escape(note)}</p>' if note else ""
    places = "".join(play_place(kind, recording, step) for kind, recording, step in runs)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{CSP}">'
        '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">'
        f"<title>{escape(title)}</title>{play_head(kinds)}</head>"
        f'<body><main><h1 class="gv-heard">{escape(title)}</h1>{about}{places}</main></body></html>\n'
    )


def play_head(kinds: list[str]) -> str:
    """The styles and the scripts of some kinds of widgets, and the script that starts them."""
    styles = theme_css() + "".join(read_bundle(f"{kind}.css") for kind in [*kinds, "player"])
    scripts = "".join(f'<script type="text/plain" data-code="{kind}">{_inside(kind)}</script>' for kind in kinds)
    return f'<style>{styles}</style>{scripts}<script type="module">{_inside("player")}</script>'


def play_place(kind: str, recording: str, step: int = 0) -> str:
    """The place of one recording on a page."""
    kept = f'<script type="text/plain">{recording}</script>'
    return f'<div class="gv-place" data-kind="{kind}" data-open="{step}">{kept}</div>'


def _inside(kind: str) -> str:
    """A script as the inside of an element."""
    return read_bundle(f"{kind}.js").replace("</script", "<\\/script")


def read_bundle(name: str) -> str:
    """A script or a style sheet of the page."""
    return (BUNDLES / name).read_text(encoding="utf-8")
