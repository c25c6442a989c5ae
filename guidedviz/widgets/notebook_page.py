"""`jupyter nbconvert --to guidedviz`: a saved notebook as a page whose stages, maps and films play without a kernel.

Plain `--to html` shows a widget only with scripts from another host. This page loads nothing, and runs no other script:
whatever the cells of the notebook bring to it is cleaned, and only the exporter knows the nonce of a place that plays.
"""

from secrets import token_urlsafe
from typing import Any

from nbconvert.exporters import HTMLExporter

from guidedviz.decoding.recording import compress
from guidedviz.widgets.clean import clean
from guidedviz.widgets.player_page import BUNDLES, NO_KINDS, play_head, play_place

VIEW = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"
KINDS = {path.stem for path in BUNDLES.glob("*.js")} - NO_KINDS
MOST_STEP = 10**9
TEMPLATE = """{% extends 'lab/index.html.j2' %}
{% block html_head_js %}{{ resources.player }}{% endblock %}
{% block html_head_js_mathjax %}{% endblock %}
{% block html_head_js_mermaidjs %}{% endblock %}
{% block any_cell %}{% set _ = cell.metadata.pop("tags", None) %}{{ super() }}{% endblock %}
{% block input_group %}
{%- if (cell.metadata.jupyter or {}).source_hidden %}<details><summary>code</summary>{{ super() | clean }}</details>
{%- else %}{{ super() | clean }}{% endif %}
{% endblock %}
{% block output %}
{%- if output.place %}{{ output.place }}<figure class="gv-still">{{ super() | clean }}</figure>
{%- else %}{{ super() | clean }}{% endif %}
{% endblock %}
{% block markdowncell %}{{ super() | clean }}{% endblock %}
{% block rawcell %}{{ super() | clean }}{% endblock %}
{% block unknowncell %}{% endblock %}"""


class PageExporter(HTMLExporter):  # type: ignore[misc]
    """A page of a notebook; what its widgets saved is played by scripts on the page itself."""

    export_from_notebook = "HTML that plays"

    def __init__(self, **more: Any) -> None:
        super().__init__(raw_template=TEMPLATE, **more)
        self.register_filter("clean", clean)

    def from_notebook_node(self, nb: Any, resources: Any = None, **more: Any) -> tuple[Any, dict[str, Any]]:
        """The page; a widget that is not ours, or whose state is damaged, is shown as its still output."""
        models = saved_models(nb.metadata.get("widgets"))
        nonce = token_urlsafe()
        cells = [place_widgets(cell, models, nonce) for cell in nb.cells]
        outputs = [output for cell in cells for output in cell.get("outputs") or []]
        kinds = dict.fromkeys(output["kind"] for output in outputs if output["place"])
        bare = type(nb)({**nb, "cells": cells, "metadata": without(nb.metadata, "widgets")})
        about = {**(resources or {}), "player": play_head(kinds, nonce)}
        page: tuple[Any, dict[str, Any]] = super().from_notebook_node(bare, about, **more)
        return page


def without(known: Any, name: str) -> Any:
    """A part of a notebook without one of its fields."""
    return type(known)({key: value for key, value in known.items() if key != name})


def saved_models(widgets: Any) -> dict[Any, Any]:
    """What a notebook keeps of its widgets, by their names; nothing if this is damaged."""
    match widgets.get(STATE) if isinstance(widgets, dict) else None:
        case {"state": {**known}}:
            return known
    return {}


def place_widgets(cell: Any, models: dict[Any, Any], nonce: str) -> Any:
    """A cell in which each output has its place on the page."""
    if not cell.get("outputs"):
        return cell
    outputs = [place_output(output, models, nonce) for output in cell["outputs"]]
    return type(cell)({**cell, "outputs": outputs})


def place_output(output: Any, models: dict[Any, Any], nonce: str) -> Any:
    """An output with the place of the recording that its widget saved, "" for none. Neither is the author's word."""
    new = {**output, "kind": "", "place": ""}
    data = output.get("data")
    if isinstance(data, dict):
        new["data"] = without(data, VIEW)
        if found := find_saved(models, data.get(VIEW)):
            kind, saved, step = found
            new["kind"] = kind
            new["place"] = str(play_place(kind, saved, nonce, step))
    return type(output)(new)


def find_saved(models: dict[Any, Any], view: Any) -> tuple[str, str, int] | None:
    """The kind of a widget, its recording and its step; None if it is not ours or damaged."""
    match view:
        case {"model_id": str(name)}:
            model = models.get(name)
        case _:
            return None
    match model:
        case {"state": {"kind": str(kind), "saved": {**saved}}} if kind in KINDS and saved:
            try:
                packed = compress(saved)
            except (ValueError, TypeError, RecursionError):
                return None
            return kind, packed, step_of(saved.get("cursor"))
    return None


def step_of(cursor: Any) -> int:
    """The step at which a recording opens; the first one if the saved cursor is damaged."""
    if type(cursor) is int and 0 <= cursor <= MOST_STEP:
        return cursor
    return 0
