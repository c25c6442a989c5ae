"""The connection between kernel and page. It sends no more messages than the page can paint.

All changes within a frame or two are one message. The page answers each message when it has painted it. While too many
answers are missing, nothing is sent; the next message then holds all changes.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import anywidget
import ipywidgets
import traitlets

from guidedviz.files import as_sent
from guidedviz.widgets.player_page import BUNDLES, LOADED_LATE, page_css, read_bundle
from guidedviz.widgets.runner import running_loop

LOADER = BUNDLES.with_name("loader.js").read_text(encoding="utf-8")
GAP = 1 / 40  # seconds between two messages
UNDER_WAY = 8  # messages that wait for an answer
PAGE_PATIENCE = 1.0  # seconds until a page that does not answer gets a message again


class Code(ipywidgets.Widget):  # type: ignore[misc]
    """The script and the style sheet of a kind of widget: all widgets of this kind share them."""

    script = traitlets.Unicode().tag(sync=True)
    style = traitlets.Unicode().tag(sync=True)
    map = traitlets.Unicode().tag(sync=True)  # these are loaded late
    learning = traitlets.Unicode().tag(sync=True)

    def __init__(self, kind: str) -> None:
        late = {name: read_bundle(f"{name}.js") for name in LOADED_LATE.get(kind, ())}
        super().__init__(script=read_bundle(f"{kind}.js"), style=page_css(kind), **late)

    @property
    def parts(self) -> dict[str, str]:
        """All scripts and the style sheet, by their names."""
        return {name: getattr(self, name) for name in ("script", "style", "map", "learning")}


_codes: dict[str, Code] = {}


def _code(kind: str) -> Code:
    if kind not in _codes or _codes[kind].comm is None:  # closed, as by Widget.close_all
        _codes[kind] = Code(kind)
    return _codes[kind]


class Wire(anywidget.AnyWidget):  # type: ignore[misc]
    """A widget that only passes messages."""

    _esm = traitlets.Unicode().tag(sync=True)
    kind = traitlets.Unicode().tag(sync=True)
    code = traitlets.Instance(Code).tag(sync=True, **ipywidgets.widget_serialization)
    saved = traitlets.Dict().tag(sync=True, to_json=lambda value, _: as_sent(value))  # for a page without a kernel

    def __init__(self, kind: str, on_message: Callable[[Any], None], news: Callable[[bool], dict[str, Any]]) -> None:
        super().__init__(kind=kind, _esm=LOADER, code=_code(kind))
        self._heard = on_message
        self._news = news
        self._loop = running_loop()
        self._number = self._answered = 0
        self._waiting = self._everything = False
        self._timer: asyncio.TimerHandle | None = None
        self._sent_at = 0.0
        self.on_msg(self._receive)

    def tell(self, everything: bool = False) -> None:
        """Send what is new as soon as the page can paint it."""
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
        self._waiting = self._number - self._answered >= UNDER_WAY and self._now() - self._sent_at < PAGE_PATIENCE
        if self._waiting:
            return
        everything = self._everything
        self._everything = False
        self._number += 1
        self._sent_at = self._now()
        self.send(as_sent({"number": self._number, **self._news(everything)}))

    def _receive(self, _: Any, content: Any, __: Any) -> None:
        if self._loop and self._loop.is_running():
            self._loop.call_soon_threadsafe(self.hear, content)
        else:
            self.hear(content)

    def hear(self, content: Any) -> None:
        """Read what the page says."""
        match content:
            case {"do": "painted", "number": int(number)}:
                self._answered = max(self._answered, min(number, self._number))
                if self._waiting:
                    self.tell()
            case {"do": "hello"}:
                self._answered = self._number
                self.tell(everything=True)
            case {"do": "code"}:  # of a page that was opened again without it
                self.send({"code": self.code.parts})
            case {**said}:
                self._heard({key: _sendable(value) for key, value in said.items()})

    def _now(self) -> float:
        return self._loop.time() if self._loop else 0.0


def _sendable(value: Any) -> Any:
    """A text without lone surrogates, so that it can be sent back; anything else as it is."""
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    return value
