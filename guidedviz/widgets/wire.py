"""The wire between kernel and page: not more messages than can be painted, so that nothing piles up.

What changes within a frame or two goes as one message. The page answers when it has painted; while too many answers
are missing nothing is sent, and what changed meanwhile goes with the next message.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from guidedviz.views.theme import theme_css
from guidedviz.widgets.show import running_loop

HERE = Path(__file__).parent
GAP = 1 / 40  # seconds between two messages
UNDER_WAY = 8  # messages that the page may not have painted yet
PATIENCE = 1.0  # seconds after which a page that does not answer is written to again


def _join(*names: str) -> str:
    return "\n".join((HERE / name).read_text(encoding="utf-8") for name in names)


class Wire(anywidget.AnyWidget):  # type: ignore[misc]
    """A widget that knows nothing but how to pass messages on."""

    _esm = _join(
        "distribution.js", "map.js", "mapask.js", "mapmarks.js", "mapview.js", "mapshow.js", "table.js", "diagram.js",
        "stack.js", "edit.js", "stagebuild.js", "stage.js", "film.js", "fold.js", "bias.js", "payoff.js",
        "fraction.js",
    )  # fmt: skip
    _css = theme_css() + _join("stage.css", "diagram.css", "stack.css", "edit.css", "map.css", "fraction.css")
    kind = traitlets.Unicode().tag(sync=True)
    saved = traitlets.Dict().tag(sync=True)  # the last picture, for a page that opens without a kernel

    def __init__(
        self, kind: str, on_message: Callable[[dict[str, Any]], None], news: Callable[[bool], dict[str, Any]]
    ) -> None:
        super().__init__(kind=kind)
        self._heard, self._news = on_message, news
        self._loop = running_loop()
        self._number = self._answered = 0
        self._waiting = self._everything = False
        self._timer: asyncio.TimerHandle | None = None
        self._sent_at = 0.0
        self.on_msg(self._receive)

    def tell(self, everything: bool = False) -> None:
        """Send what is new, now or as soon as the page can paint it."""
        self._everything |= everything
        if self._timer:
            return
        wait = self._sent_at + GAP - self._now()
        if self._loop and wait > 0:
            self._timer = self._loop.call_later(wait, self._post)
        else:
            self._post()

    def _post(self) -> None:
        self._timer = None
        self._waiting = self._number - self._answered >= UNDER_WAY and self._now() - self._sent_at < PATIENCE
        if self._waiting:
            return
        everything, self._everything = self._everything, False
        self._number += 1
        self._sent_at = self._now()
        self.send({"number": self._number, **self._news(everything)})

    def _receive(self, _: Any, content: dict[str, Any], __: Any) -> None:
        if self._loop and self._loop.is_running():
            self._loop.call_soon_threadsafe(self._hear, content)
        else:
            self._hear(content)

    def _hear(self, content: dict[str, Any]) -> None:
        if content.get("do") == "painted":
            self._answered = max(self._answered, int(content.get("number", 0)))
            if self._waiting:
                self.tell()
        elif content.get("do") == "hello":
            self._answered = self._number
            self.tell(everything=True)
        else:
            self._heard(content)

    def _now(self) -> float:
        return self._loop.time() if self._loop else 0.0
