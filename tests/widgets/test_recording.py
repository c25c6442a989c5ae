"""A run in a file: it keeps what the page shows at every step, plays without a kernel, and a hostile one is refused."""

import gzip
import json
import os
import re
from base64 import b64encode
from dataclasses import replace
from unittest.mock import Mock

import pytest

import guidedviz as gv
from guidedviz.decoding import trace
from guidedviz.decoding.recording import compress, expand
from guidedviz.views.step_words import shown_candidates
from guidedviz.widgets.panels import show_run
from tests.widgets.toy import told

HOSTILE = '</script><script>window.hacked=1</script><img src=x onerror="window.hacked=1">'
FIELDS = {"name": {"type": "string"}, "age": {"type": "integer"}}
SCHEMA = {"type": "object", "properties": FIELDS, "required": list(FIELDS)}


@pytest.fixture(scope="module")
def run(clerk):
    """A run under a schema."""
    prompt = "Tamsin Okoro is 42 years old.\nJSON with name, age:\n"
    guide = gv.json_schema(SCHEMA)
    return gv.record(clerk, prompt, gv.guide(guide, clerk.vocabulary), seed=1)


@pytest.fixture
def file(run, tmp_path):
    run.save(tmp_path / "run.json")
    return tmp_path / "run.json"


def test_a_loaded_run_shows_at_every_step_what_the_live_stage_shows(run, file):
    live = gv.stage(run, guide=run.guide, steps=len(run.steps))
    again = gv.stage(gv.Trace.load(file), steps=len(run.steps))
    for cursor in (0, len(run.steps) // 2, len(run.steps)):
        one, other = (told(stage.go(cursor)) for stage in (live, again))
        for step in other["add"]:
            step.pop("whys")
        for name in ("add", "cursor", "drawings"):
            assert other[name] == one[name]
        assert other["map"]["bits"] == one["map"]["bits"]


def test_a_loaded_run_is_checked_once_and_knows_why_each_shown_forbidden_token_is_illegal(run, file, monkeypatch):
    read = Mock(side_effect=expand)
    monkeypatch.setattr(trace, "expand", read)
    stage = gv.stage(gv.Trace.load(file), steps=3)
    asked = [(cursor, c.token) for cursor in range(3) for c in shown_candidates(run.steps[cursor]) if not c.legal]
    assert asked
    for cursor, token in asked:
        stage.go(cursor).display.hear({"do": "choose", "token": token, "cursor": cursor})
        assert stage.display.news(False)["why"]["reason"]
    assert stage.display.record()["add"]
    assert read.call_count == 1


def test_a_recording_knows_all_its_steps_from_the_start(run, file):
    for given, cursor in (({}, 0), ({"show": 4}, 4)):
        for stage in (gv.stage(run, guide=run.guide, **given), gv.stage(gv.Trace.load(file), **given)):
            assert stage.player.cursor == cursor
            assert len(stage.display.news(True)["add"]) == len(run.steps)


def test_a_page_is_one_file_with_everything_in_it(run, tmp_path):
    replace(run, prompt=HOSTILE).page(tmp_path / "run.html", step=3)
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    assert len(page) < 400_000
    assert "<script>window.hacked" not in page
    assert not re.search(r"(src|href)\s*=\s*['\"]?https?:", page)
    assert "default-src &#x27;none&#x27;" in page
    assert "unsafe-inline" not in page.split("script-src")[1].split(">")[0]
    assert 'data-open="3"' in page
    for step in (-1, 99, True, "1"):
        with pytest.raises(gv.SettingError, match=r"Trace\.page"):
            run.page(tmp_path / "wrong.html", step=step)
    assert not (tmp_path / "wrong.html").exists()


STEP = ("add", 2)
DRAWING = ("drawings", "0", "shapes")
LAND = ("map", "land")
DAMAGE = {
    **{(*STEP, field): {"x": HOSTILE} for field in ("token", "rows", "path", "label", "masked", "back")},
    (*STEP, "whys", "x"): {}, (*STEP, "new"): 1, (*STEP, "rows", 0, 1): 7, (*STEP, "ms"): [1, 2], (*STEP, "mask"): -1,
    (*STEP, "maskedText"): None, (*STEP, "stack"): [None], (*STEP, "free"): 1, (*STEP, "inside"): "x",
    (*LAND, "width"): 1 << 20, (*LAND, "count"): 1 << 40, (*LAND, "chunk"): 0, (*LAND, "borders"): None,
}  # fmt: skip
SHAPES = [
    "<svg/>", 7, ["svg", {}, ["script", {}, "1"]], ["svg", {"onload": "x()"}], ["rect", {"fill": "url(http://a)"}],
    ["svg", {}, ["image", {"href": "http://a"}]], ["svg", {}, ["g:iframe", {"srcdoc": "<script>1</script>"}]],
    ["svg", {}, ["style", {}, "@import 'a'"]],
]  # fmt: skip


@pytest.fixture(scope="module")
def shown(run):
    return json.loads(json.dumps(show_run(run)))


def refuse(run, shown, where, value):
    """Put a value at a place of a recording, and expect that the place is named."""
    copy = json.loads(json.dumps(shown))
    at = copy
    for name in where[:-1]:
        at = at[name]
    at[where[-1]] = value
    path = re.escape("recording" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in where[:2]))
    with pytest.raises(gv.TraceError, match=path):
        expand(compress(copy), [step.token for step in run.steps])


@pytest.mark.parametrize("where", DAMAGE)
@pytest.mark.quick(every=4)
def test_a_field_of_another_form_is_refused_by_its_place(run, shown, where):
    refuse(run, shown, where, DAMAGE[where])


def test_a_drawing_with_anything_but_shapes_is_refused(run, shown):
    for shapes in SHAPES:
        refuse(run, shown, DRAWING, shapes)


def pack(text):
    return b64encode(gzip.compress(text.encode())).decode()


def test_a_damaged_or_huge_recording_is_refused():
    texts = ["", "x", "AAAA", b64encode(b"no gzip").decode(), *map(pack, ("[" * 100_000, "[]", '{"add": []}'))]
    said = dict.fromkeys(texts, "recording") | {pack(" " * (33 << 20)): "more than 32 MB"}
    said |= {pack('{"add":[' + "[]," * 2_000_000 + "0]}"): "values, more than 1,000,000"}
    for text, words in said.items():
        with pytest.raises(gv.TraceError, match=words):
            expand(text, [])


@pytest.mark.slow
def test_a_prompt_and_the_lists_of_a_step_have_a_most(run, shown, file):
    """A page draws every row and every frame; a prompt of 60 MB was accepted."""
    saved = file.read_text("utf-8")
    changes = [
        (r"prompt: saw 60,000,000 characters, expected at most 1,048,576", {"prompt": "x" * 60_000_000}, {}),
        (r"constraint: saw 2,000,000 char", {"constraint": "x" * 2_000_000}, {}),
        (r"parts: saw 5,000 entries, expected at most 4,096", {"parts": ["x"] * 5000}, {}),
        (r"steps\[2\]\.stack: saw 5,000 entries", {}, {"stack": ["x"] * 5000}),
        (r"steps\[2\]\.dropped: saw 5,000 entries", {}, {"dropped": ["x"] * 5000}),
    ]
    for words, whole, step in changes:
        changed = json.loads(saved) | whole
        changed["steps"][2] |= step
        file.write_text(json.dumps(changed), "utf-8")
        with pytest.raises(gv.TraceError, match=words):
            gv.Trace.load(file)
    rows = shown["add"][2]["rows"][:1] * 5000
    for name, value in {"rows": rows, "stack": ["x"] * 5000, "path": [1] * 5000, "bytes": ["x"] * 5000}.items():
        refuse(run, shown, (*STEP, name), value)
    refuse(run, shown, ("head", "prompt"), "x" * (1 << 21))


def test_what_is_no_trace_is_refused(file, tmp_path):
    file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | {"guidedviz_trace": 2}), "utf-8")
    os.mkfifo(tmp_path / "pipe.json")
    with (tmp_path / "huge.json").open("wb") as huge:
        huge.truncate(1 << 40)
    said = {"run": "saw version 2, expected version 3", "pipe": "not a regular file", "huge": "1,099,511,627,776 bytes"}
    for name, words in said.items():
        with pytest.raises(gv.TraceError, match=words):
            gv.Trace.load(tmp_path / f"{name}.json")
