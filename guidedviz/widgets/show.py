"""What a notebook keeps of a widget: its picture and its words, and the widget itself where a kernel drives it."""

from __future__ import annotations

from typing import Any

from guidedviz.headless import headless
from guidedviz.views.figure import Figure, picture


def show(figure: Figure, shown: Any, still: bool = False, **wanted: Any) -> Any:
    """The picture, and `shown.widget` with it unless nobody is there to click."""
    bundle = {"text/plain": figure.text, "text/html": picture(figure)}
    if still or headless():
        return bundle
    data, *about = shown.widget._repr_mimebundle_(**wanted)
    return ({**data, **bundle}, *about)
