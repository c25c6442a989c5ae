"""`jupyter nbconvert --to guidedviz`: a saved notebook as a page whose stages, maps and films play without a kernel.

Plain `--to html` shows a widget only with scripts from another host. This page loads nothing, and runs no other script.
"""

from copy import deepcopy
from typing import Any

from nbconvert.exporters import HTMLExporter

from guidedviz.decoding.recording import compress
from guidedviz.markup import together
from guidedviz.widgets.player_page import BUNDLES, play_head, play_place, policy

VIEW = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"
KINDS = {path.stem for path in BUNDLES.glob("*.js")} - {"player", "class"}
TEMPLATE = """{% extends 'lab/index.html.j2' %}
{% block html_head_js %}{{ resources.player }}{% endblock %}
{% block html_head_js_mathjax %}{% endblock %}
{% block html_head_js_mermaidjs %}{% endblock %}"""


class PageExporter(HTMLExporter):  # type: ignore[misc]
    """A page of a notebook; what its widgets saved is played by scripts on the page itself."""

    export_from_notebook = "HTML that plays"

    def __init__(self, **more: Any) -> None:
        super().__init__(raw_template=TEMPLATE, **more)

    def from_notebook_node(self, nb: Any, resources: Any = None, **more: Any) -> tuple[Any, dict[str, Any]]:
        """The page; a widget that is not ours is shown as its still output."""
        nb = deepcopy(nb)
        models: dict[Any, Any] = {}
        match nb.metadata.pop("widgets", {}).get(STATE):
            case {"state": {**known}}:
                models = known
        kinds: dict[str, None] = {}
        for data in (output.data for cell in nb.cells for output in cell.get("outputs", []) if "data" in output):
            match models.get(str(data.pop(VIEW, {}).get("model_id"))):
                case {"state": {"kind": str(kind), "saved": dict(saved)}} if kind in KINDS and saved:
                    kinds[kind] = None
                    step = saved.get("cursor", 0)
                    data["text/html"] = str(play_place(kind, compress(saved), step if type(step) is int else 0))
        head = together([policy(), play_head([*kinds])])
        page: tuple[Any, dict[str, Any]] = super().from_notebook_node(nb, {**(resources or {}), "player": head}, **more)
        return page
