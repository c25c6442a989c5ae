"""A run in a file: it keeps what the page shows at every step, plays without a kernel, and a hostile one is refused."""

from __future__ import annotations

import gzip
import json
import os
import re
from base64 import b64encode
from dataclasses import replace

import pytest

import guidedviz as gv
from guidedviz.decoding import trace
from guidedviz.decoding.recording import compress, expand
from guidedviz.widgets.recording import show_run

HOSTILE = '</script><script>window.hacked=1</script><img src=x onerror="window.hacked=1">'


def tokens(run):
    return [step.token for step in run.steps]


SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, "required": ["name", "age"]}  # fmt: skip  # noqa: E501
PROMPT = "Tamsin Okoro is 42 years old.\nJSON with name, age:\n"


@pytest.fixture(scope="module")
def run(clerk):
    """A run under a schema."""
    return gv.record(clerk, PROMPT, gv.guide(gv.json_schema(SCHEMA), clerk.vocabulary), seed=1)


def test_a_loaded_run_shows_at_every_step_what_the_live_stage_shows(run, tmp_path):
    run.save(tmp_path / "run.json")
    loaded = gv.Trace.load(tmp_path / "run.json")
    live = gv.stage(run, guide=run.guide, steps=len(run.steps))
    again = gv.stage(loaded, steps=len(run.steps))
    for cursor in range(len(run.steps) + 1):
        one, other = (json.loads(json.dumps(stage.go(cursor).display.news(True))) for stage in (live, again))
        for step in other["add"]:
            step.pop("whys")
        assert other["add"] == one["add"]
        assert (other["cursor"], other["drawings"]) == (one["cursor"], one["drawings"])
        assert other["map"]["bits"] == one["map"]["bits"]


def test_a_loaded_run_knows_why_each_shown_forbidden_token_is_illegal(run, tmp_path):
    run.save(tmp_path / "run.json")
    stage = gv.stage(gv.Trace.load(tmp_path / "run.json"), steps=3)
    asked = 0
    for cursor, step in enumerate(run.steps[:3]):
        stage.go(cursor)
        for candidate in [c for c in step.candidates[:9] if not c.legal]:
            stage.display.hear({"do": "choose", "token": candidate.token, "cursor": cursor})
            assert stage.display.news(False)["why"]["reason"]
            asked += 1
    assert asked


def test_a_run_of_another_guide_is_refused(clerk, run):
    digits = gv.guide(gv.regex("[0-9]+"), clerk.vocabulary)
    with pytest.raises(gv.TraceError, match=r"step 1.*expected a token that the guide allows"):
        show_run(replace(run, guide=digits))


def test_a_page_is_one_file_with_everything_in_it(run, tmp_path):
    run.page(tmp_path / "run.html", step=3, note=HOSTILE)
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    assert len(page) < 400_000
    assert "<script>window.hacked" not in page
    assert not re.search(r"(src|href)\s*=\s*['\"]?https?:", page)
    assert "default-src &#x27;none&#x27;" in page
    assert "unsafe-inline" not in page.split("script-src")[1].split(">")[0]
    assert 'data-open="3"' in page


@pytest.mark.parametrize(("step", "note"), [(-1, ""), (99, ""), (True, ""), ("1", ""), (0, 1)])
def test_a_wrong_step_or_note_is_an_error(run, tmp_path, step, note):
    with pytest.raises(gv.SettingError, match=r"Trace\.page"):
        run.page(tmp_path / "run.html", step=step, note=note)
    assert not (tmp_path / "run.html").exists()


def damage(shown, **changes):
    return compress(shown | changes)


@pytest.mark.parametrize(
    "shapes",
    [
        "<svg/>",
        ["svg", {}, ["script", {}, "1"]],
        ["svg", {"onload": "x()"}],
        ["svg", {}, ["image", {"href": "http://a"}]],
        ["svg", {}, ["g:iframe", {"srcdoc": "<script>1</script>"}]],
        ["svg", {}, ["style", {}, "@import 'a'"]],
        ["rect", {"fill": "url(http://a)"}],
        7,
    ],
)
def test_a_drawing_with_anything_but_shapes_is_refused(run, shapes):
    shown = json.loads(json.dumps(show_run(run)))
    with pytest.raises(gv.TraceError, match=r"recording\.drawings\.0\.shapes"):
        expand(damage(shown, drawings={"0": {"shapes": shapes, "words": ""}}), tokens(run))


@pytest.mark.parametrize("field", ["token", "rows", "path", "label", "masked", "back"])
def test_a_step_with_a_wrong_field_is_refused_by_name(run, field):
    shown = json.loads(json.dumps(show_run(run)))
    shown["add"][2][field] = {"x": HOSTILE}
    with pytest.raises(gv.TraceError, match=rf"add\[2\]\.{field}"):
        expand(compress(shown), tokens(run))


@pytest.mark.parametrize("text", [
    "", "x", "AAAA", b64encode(b"no gzip").decode(), b64encode(gzip.compress(b"[" * 100_000, mtime=0)).decode(),
    b64encode(gzip.compress(b"[]", mtime=0)).decode(), b64encode(gzip.compress(b'{"add": []}', mtime=0)).decode(),
])  # fmt: skip
def test_a_damaged_recording_is_refused(run, text):
    with pytest.raises(gv.TraceError):
        expand(text, tokens(run))


def pack(text):
    return b64encode(gzip.compress(text.encode())).decode()


def test_a_recording_that_unpacks_to_too_much_is_refused(run):
    with pytest.raises(gv.TraceError, match="more than 32 MB"):
        expand(pack(" " * (33 << 20)), tokens(run))


def test_values_are_counted_before_they_take_memory(run):
    with pytest.raises(gv.TraceError, match=r"values, more than 1,000,000"):
        expand(pack('{"add":[' + "[]," * 2_000_000 + "0]}"), tokens(run))


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("path",), None),
        (("whys", "x"), {}),
        (("new",), 1),
        (("rows", 0, 1), 7),
        (("ms",), [1, 2]),
        (("mask",), -1),
        (("masked",), "0.5"),
        (("stack",), [None]),
        (("free",), 1),
    ],
)
def test_a_field_of_another_form_is_refused(run, where, value):
    shown = json.loads(json.dumps(show_run(run)))
    at = shown["add"][2]
    for name in where[:-1]:
        at = at[name]
    at[where[-1]] = value
    with pytest.raises(gv.TraceError, match=r"recording\.add\[2\]"):
        expand(compress(shown), tokens(run))


@pytest.mark.parametrize(("name", "value"), [("width", 1 << 20), ("count", 1 << 40), ("chunk", 0), ("borders", None)])
def test_a_map_too_large_for_the_page_is_refused(run, name, value):
    shown = json.loads(json.dumps(show_run(run)))
    shown["map"]["land"][name] = value
    with pytest.raises(gv.TraceError, match=rf"recording\.map\.land\.{name}"):
        expand(compress(shown), tokens(run))


def change(path, act):
    data = json.loads(path.read_text(encoding="utf-8"))
    act(data)
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def test_a_file_is_checked_when_it_is_loaded(run, tmp_path):
    run.save(tmp_path / "run.json")
    shown = json.loads(json.dumps(show_run(run)))
    shown["drawings"]["0"]["shapes"] = ["g", {}, ["script", {}, "1"]]
    file = change(tmp_path / "run.json", lambda data: data.update(recording=compress(shown)))
    with pytest.raises(gv.TraceError, match=r"saw 'script', expected an element of a drawing$"):
        gv.Trace.load(file)


def test_a_loaded_recording_is_checked_once(run, tmp_path, monkeypatch):
    run.save(tmp_path / "run.json")
    read = []
    monkeypatch.setattr(trace, "expand", lambda *given: read.append(given) or expand(*given))
    stage = gv.stage(gv.Trace.load(tmp_path / "run.json"), steps=3)
    assert stage.display.record()["add"]
    assert len(read) == 1


def test_a_file_of_another_version_is_refused(run, tmp_path):
    run.save(tmp_path / "run.json")
    file = change(tmp_path / "run.json", lambda data: data.update(guidedviz_trace=2))
    with pytest.raises(gv.TraceError, match="saw version 2, expected version 3"):
        gv.Trace.load(file)


def test_a_pipe_and_a_huge_file_are_no_trace(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(gv.TraceError, match="not a regular file"):
        gv.Trace.load(tmp_path / "pipe.json")
    with (tmp_path / "huge.json").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(gv.TraceError, match="1,099,511,627,776 bytes"):
        gv.Trace.load(tmp_path / "huge.json")
