"""What a notebook shows of an object: a still picture, and a live widget beside it where somebody can click.

A second run of the object's cell closes what the first run left.
"""

import json
from collections.abc import Callable
from typing import Any, Protocol
from weakref import WeakKeyDictionary

from guidedviz.extras import for_site, headless, how_to_install, is_missing, need
from guidedviz.front_end import find_shell
from guidedviz.markup import node
from guidedviz.views.figure import Figure, picture, show_figure

Cell = tuple[str, str]  # the cell's id and the number of its run; empty outside a notebook


OPEN_DISPLAYS: WeakKeyDictionary["Display", Cell] = WeakKeyDictionary()


def close_older(new: "Display") -> None:
    """Close what an earlier run of this cell, or a deleted cell, left open; then remember the new object."""
    now, deleted = this_cell()
    here, run = now
    for other, (cell, its_run) in list(OPEN_DISPLAYS.items()):
        if cell in deleted or (cell and cell == here and its_run != run):
            other.close()
    OPEN_DISPLAYS[new] = now


def this_cell() -> tuple[Cell, set[str]]:
    """The cell that runs now, and the ids of the deleted cells."""
    shell = find_shell()
    parent = shell.get_parent() if hasattr(shell, "get_parent") else {}
    about = parent.get("metadata", {})
    run = parent.get("header", {}).get("msg_id", "")
    return (str(about.get("cellId", "")), str(run)), set(about.get("deletedCells", ()))


Message = dict[str, Any]
RECORDING = "application/vnd.guidedviz.recording+json"


def said(do: str, **about: Any) -> str:
    """What a page says, as text: the key of an answer in a recording.

    >>> said("turn", chain=3)
    '{"do":"turn","chain":3}'
    """
    return json.dumps({"do": do, **about}, separators=(",", ":"))


class Shown(Protocol):
    """An object that a notebook shows: a still picture in words and as a drawing, and its widget."""

    display: "Display"

    @property
    def figure(self) -> Figure: ...

    def __repr__(self) -> str:
        return self.figure.text

    def _repr_mimebundle_(self, **wanted: Any) -> Any:
        return self.display.bundle(self.figure, **wanted)


class Display:
    """The widget of one object, made when it is first shown; a second run of the object's cell closes it.

    `news` returns what the page is told, or all of it to a new page; `hear` receives what the page says;
    `saved` returns what a saved notebook keeps, `record` what plays without a kernel, from the step `opens_at` on.
    A recording may hold `pages` of changes, and `moves`: what the page says -> the number of the page that answers it.
    """

    def __init__(
        self,
        kind: str,
        news: Callable[[bool], Message] = lambda everything: {},
        hear: Callable[[Any], None] = lambda said: None,
        *,
        saved: Callable[[], Message] | None = None,
        record: Callable[[], Message] | None = None,
        on_close: Callable[[], None] = lambda: None,
    ) -> None:
        self._kind = kind
        self.news = news
        self.hear = hear
        self.saved = saved or (lambda: news(True))
        self.record = record or self.saved
        self.opens_at = 0
        self._on_close = on_close
        self.wire: Any = None
        close_older(self)

    @property
    def widget(self) -> Any:
        """The widget."""
        if self.wire is None:
            need("anywidget", "lab", f"the widget of a {self._kind}")
            from guidedviz.widgets.wire import Wire

            self.wire = Wire(self._kind, self.hear, self.news)
            self.save()
        return self.wire

    def tell(self) -> None:
        """Tell the page what is new, if there is a page."""
        if self.wire is not None:
            self.wire.tell()

    def save(self) -> None:
        """Update what a saved notebook keeps."""
        if self.wire is not None:
            self.wire.saved = self.saved()

    def close(self) -> None:
        """Release what the object holds and remove the widget."""
        self._on_close()
        if self.wire is not None:
            self.wire.close()
        self.wire = None

    def bundle(self, figure: Figure, still: bool = False, **wanted: Any) -> Any:
        """The picture with its words, and the widget unless `still`; on the site, the recording of the widget."""
        bundle = mime_bundle(figure, None if still else lambda: self.widget, **wanted)
        if for_site() and not still:
            bundle[RECORDING] = {"kind": self._kind, "shown": self.record(), "step": self.opens_at}
        return bundle


def is_still() -> bool:
    """Whether there is nobody to click: in a headless notebook, or where widgets are not installed."""
    return headless() or is_missing("anywidget")


def mime_bundle(figure: Figure, make_widget: Callable[[], Any] | None, **wanted: Any) -> Any:
    """A picture with its words, and a widget beside it; where widgets are not installed, what to install."""
    html = show_figure(figure) if for_site() else picture(figure)
    bundle = {"text/plain": figure.text, "text/html": str(html)}
    return bundle if make_widget is None else bundle_with_widget(bundle, make_widget, **wanted)


def bundle_with_widget(bundle: Message, make_widget: Callable[[], Any], **wanted: Any) -> Any:
    """What is shown without a widget, and the widget beside it; where widgets are not installed, what to install."""
    if headless():
        return bundle
    if is_still():
        note = f"This is a still picture. The live one needs the package anywidget: {how_to_install('lab')}"
        return {"text/plain": f"{bundle['text/plain']}\n{note}", "text/html": f"{bundle['text/html']}{node('p', note)}"}
    found = make_widget()._repr_mimebundle_(**wanted)
    if isinstance(found, tuple):  # anywidget adds metadata
        data, about = found
        return {**data, **bundle}, about
    return {**found, **bundle}, {}
