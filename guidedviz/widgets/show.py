"""What a notebook keeps of a widget: its picture and its words, and the widget itself where a kernel drives it."""

from __future__ import annotations

import asyncio
from typing import Any

from guidedviz.headless import headless
from guidedviz.views.figure import Figure, picture


class OnPage:
    """Something with a widget, made when it is first asked for; whoever has one says what it hears and tells."""

    kind = ""
    _wire: Any = None

    def _hear(self, said: dict[str, Any]) -> None:
        """What the page says."""

    def _news(self, everything: bool) -> dict[str, Any]:
        """What the page is told; everything, for a page that is new."""
        return {}

    def _everything(self) -> dict[str, Any]:
        """What a saved notebook keeps of it."""
        return self._news(True)

    @property
    def widget(self) -> Any:
        """The widget behind it."""
        if self._wire is None:
            from guidedviz.widgets.wire import Wire

            self._wire = Wire(self.kind, self._hear, self._news)
            self._wire.saved = self._everything()
        return self._wire

    def close(self) -> None:
        """Take it off the page."""
        if self._wire is not None:
            self._wire.close()
        self._wire = None

    def _tell(self) -> None:
        if self._wire is not None:
            self._wire.tell()


def show(figure: Figure, shown: Any, still: bool = False, **wanted: Any) -> Any:
    """The picture, and `shown.widget` with it unless nobody is there to click."""
    bundle = {"text/plain": figure.text, "text/html": picture(figure)}
    if still or headless():
        return bundle
    data, *about = shown.widget._repr_mimebundle_(**wanted)
    return ({**data, **bundle}, *about)


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The loop of the kernel, or None outside one."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
