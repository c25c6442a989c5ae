"""`jupyter nbconvert --to guidedviz`: damaged states of widgets give the still output; what is missing is named."""

import re
import sys
from base64 import b64encode
from hashlib import sha256
from html import unescape

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import guidedviz as gv
from guidedviz.widgets import clean as cleaning
from guidedviz.widgets.notebook_page import STATE, VIEW, PageExporter


def nest(depth):
    inside = {}
    for _ in range(depth):
        inside = {"x": inside}
    return inside


def loop():
    inside = {}
    inside["x"] = inside
    return inside


def page(widgets, *views):
    """The page of a notebook with an output per view, and what follows its head."""
    stills = [{"text/plain": f"still {number}."} for number in range(len(views))]
    outputs = [new_output("display_data", still) for still in stills]
    for output, view in zip(outputs, views, strict=True):
        dict.__setitem__(output.data, VIEW, view)  # as it is: a NotebookNode would copy what is deep
    notebook = new_notebook(cells=[new_markdown_cell("# A"), new_code_cell("1", outputs=outputs)])
    dict.__setitem__(notebook.metadata, "widgets", widgets)
    html, _ = PageExporter().from_notebook_node(notebook)
    body = html.split("</head>")[1]
    assert all(f"still {number}." in body for number in range(len(views)))
    return html, body


def pages(*states):
    """The body of the page of a notebook with these states of widgets."""
    models = {f"m{number}": state for number, state in enumerate(states)}
    views = [{"model_id": name} for name in models]
    return page({STATE: {"state": models}}, *views)[1]


def film(**more):
    return {"state": {"kind": "film", "saved": SAVED, **more}}


SAVED = {"title": "a", "drawings": [], "frames": [], "cursor": 2}
WHOLE = {STATE: {"state": {"m0": film()}}}
MODELS = [None, [], "x", {"state": None}, {"state": []}, {"state": {"kind": "film"}}]
WIDGETS = [None, "x", {STATE: None}, {STATE: {"state": None}}, {STATE: {"state": "m0"}}]
STATES = [
    None,
    [],
    "x",
    7,
    {},
    [SAVED],
    nest(3000),
    loop(),
    {"x": {1}},
    {"x": object()},
    {("a", 1): 2},
    {"x": 10**5000},
]
VIEWS = [
    None,
    [],
    "m0",
    7,
    {},
    {"model_id": None},
    {"model_id": ["m0"]},
    {"model_id": "m9"},
    {"model_id": nest(3000)},
    nest(3000),
    loop(),
]
KINDS = ["", "player", "class", "map", "learning", "../film", "film\n", "__proto__", "constructor", 7, None, ["film"]]
CURSORS = [-1, True, "2", 2.0, None, [2], 10**12]


def test_damaged_widgets_give_their_still_outputs():
    for widgets in WIDGETS:
        assert "gv-place" not in page(widgets, {"model_id": "m0"})[1]
    damaged = [*(film(saved=one) for one in STATES), *(film(kind=one) for one in KINDS)]
    assert "gv-place" not in pages(*MODELS, *damaged)
    assert "gv-place" not in page(WHOLE, *VIEWS)[1]


def test_a_damaged_cursor_opens_the_first_step():
    films = [film(saved=SAVED | {"cursor": cursor}) for cursor in CURSORS]
    assert pages(*films).count('data-open="0"') == len(CURSORS)


def test_what_is_whole_has_a_place_with_the_nonce_of_its_page_beside_its_still():
    (html, body), (other, _) = (page(WHOLE, {"model_id": "m0"}) for _ in range(2))
    nonce = html.rpartition('data-nonce="')[2].partition('"')[0]
    assert len(nonce) > 40
    assert nonce not in other
    assert html.count(nonce) == 2, "the player's and the place's"
    assert body.count("gv-place") == body.count("gv-still") == 1
    assert 'data-open="2"' in body


def test_the_policy_of_a_page_names_each_of_its_scripts_by_hash_and_no_blob():
    html, _ = page(WHOLE, {"model_id": "m0"})
    policy = unescape(re.search('Content-Security-Policy" content="(.*?)"|content="(default-src.*?)"', html)[0])
    scripts = re.findall(r"<script(?! type=.text/plain)[^>]*>(.*?)</script>", html, re.DOTALL)
    pinned = [b64encode(sha256(script.encode()).digest()).decode() for script in scripts]
    assert len(pinned) == 2
    allowed = policy.partition("script-src ")[2].rstrip('"')
    assert allowed.split() == [f"'sha256-{digest}'" for digest in pinned]
    assert "blob:" not in policy
    for part in ("default-src 'none'", "base-uri 'none'", "form-action 'none'"):
        assert part in policy


def test_the_notebook_itself_stays_as_it_was():
    shown = new_output("display_data", {VIEW: {}, "text/plain": "a"})
    notebook = new_notebook(cells=[new_code_cell("1", outputs=[shown])], metadata={"widgets": WHOLE})
    before = repr(notebook)
    PageExporter().from_notebook_node(notebook)
    assert repr(notebook) == before


def test_code_that_a_notebook_hides_is_folded_on_its_page():
    said = [{"jupyter": {"source_hidden": True}}, {"jupyter": {"source_hidden": False}}, {"jupyter": {}}, {}]
    cells = [new_code_cell(f"seen_{number}", metadata=metadata) for number, metadata in enumerate(said)]
    html, _ = PageExporter().from_notebook_node(new_notebook(cells=cells))
    [folded] = re.findall(r"<details>.*?</details>", html, re.DOTALL)
    assert re.findall(r"seen_\d", folded) == ["seen_0"]
    assert re.findall(r"seen_\d", html.replace(folded, "")) == ["seen_1", "seen_2", "seen_3"]


def test_where_the_sanitizer_is_not_installed_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "nh3", None)
    cleaning._cleaner.cache_clear()
    with pytest.raises(
        gv.SettingError, match=r"nbconvert --to guidedviz: saw .*expected the package nh3.*try: pip install"
    ):
        PageExporter().from_notebook_node(new_notebook(cells=[new_markdown_cell("a")]))
    cleaning._cleaner.cache_clear()
