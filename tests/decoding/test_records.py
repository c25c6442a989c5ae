"""One reader for the files of all records: what is wrong with a file is named, and an old file survives a failure."""

import json
import os
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Literal

import numpy as np
import pytest

from guidedviz.decoding.records import Between, Count, load_record, save_record
from guidedviz.errors import SettingError, TraceError


@dataclass(frozen=True)
class Part:
    share: Annotated[float, Between(0, 1)]
    piece: bytes
    fixed: bool = False


@dataclass(frozen=True)
class Sheet:
    name: str
    count: Count
    parts: tuple[Part, ...]
    span: tuple[float, float] = (0.0, 1.0)
    source: Literal["LIVE", "RECORDED", "TOY"] = "LIVE"


SHEET = Sheet('a\ud800\n"b', 2**100, (Part(0.5, b"\xff\x00"), Part(1.0, b"", True)))


def load(path):
    return load_record(Sheet, path, hint="save it again", check=lambda sheet: None)


@pytest.mark.parametrize(("source", "kept"), [("LIVE", "RECORDED"), ("RECORDED", "RECORDED"), ("TOY", "TOY")])
def test_a_file_gives_back_what_was_saved_and_is_never_live(tmp_path, source, kept):
    live = replace(SHEET, source=source, count=np.int64(3))
    save_record(live, tmp_path / "s.json")
    assert load(tmp_path / "s.json") == replace(SHEET, source=kept, count=3)
    assert os.listdir(tmp_path) == ["s.json"]


def test_a_save_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "s.json"
    save_record(SHEET, path)
    before = path.read_bytes()
    with pytest.raises(SettingError, match="record: saw <object"):
        save_record(replace(SHEET, name=object()), path)

    def full(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="disk full"):
        save_record(replace(SHEET, name="new"), path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["s.json"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        *((text, "saw no JSON .*expected a file that Sheet.save wrote; try: save it again") for text in (
            "", "{", "\x00", "[" * 200_000, '{"a":' * 200_000, "9" * 5000)),
        ("[]", "saw version None, expected version 1"),
        ('{"guidedviz_sheet": 0}', "saw version 0"),
        ('{"guidedviz_sheet": true}', "saw version True"),
        ('{"guidedviz_sheet": 1}', "name: saw nothing, expected all fields of a Sheet"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_record_is_refused(tmp_path, text, said):
    (tmp_path / "s.json").write_text(text)
    with pytest.raises(TraceError, match=said):
        load(tmp_path / "s.json")


@pytest.mark.parametrize(("name", "said"), [("", "not a regular"), ("none", "No such file")])
def test_a_file_that_is_not_there_is_refused(tmp_path, name, said):
    with pytest.raises(TraceError, match=said):
        load(tmp_path / name)


@pytest.mark.parametrize("use", [load, partial(save_record, SHEET)])
def test_a_path_is_the_path_of_a_file(use):
    with pytest.raises(SettingError, match="path: saw None, expected the path of a file"):
        use(None)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": 3}, "name: saw 3, expected a text"),
        ({"count": -1}, "count: saw -1, expected a whole number from 0"),
        ({"count": 10**40}, "count: saw 10000"),
        ({"span": [0.0]}, r"span: saw \[0.0\], expected a list of 2"),
        ({"span": [0.0, float("nan")]}, r"span\[1\]: saw nan, expected a number"),
        ({"span": [10**400, 0]}, r"span\[0\]: saw 1000"),
        ({"count": "\x1b" * 10_000}, "count: saw "),
        ({"x" * 10_000: 1}, "saw an unknown field"),
        ({"source": "TRUE"}, "source: saw 'TRUE', expected 'LIVE' or 'RECORDED' or 'TOY'"),
        ({"parts": {}}, "parts: saw {}, expected a list"),
        ({"parts": [{"share": 1.1}]}, r"parts\[0\].share: saw 1.1, expected a number from 0 to 1"),
        ({"parts": [{"share": 1}]}, r"parts\[0\].piece: saw nothing"),
        ({"parts": [{"share": 1, "piece": "\u0394"}]}, r"parts\[0\].piece: saw 'Δ', expected bytes as Latin-1 text"),
        ({"parts": [{"share": 1, "piece": "", "fixed": 1}]}, r"parts\[0\].fixed: saw 1, expected true or false"),
        ({"parts": [{"share": 1, "piece": "", "more": 1}]}, r"parts\[0\].'more': saw an unknown field"),
    ],
)
def test_a_damaged_field_is_named(tmp_path, change, said):
    save_record(SHEET, tmp_path / "s.json")
    data = json.loads((tmp_path / "s.json").read_text(encoding="utf-8"))
    (tmp_path / "s.json").write_text(json.dumps(data | change))
    with pytest.raises(TraceError, match=said) as error:
        load(tmp_path / "s.json")
    assert error.value.where.startswith("sheet file ")
    assert error.value.seen
    assert error.value.expected
    assert len(str(error.value)) < 500
    assert str(error.value).isprintable()
