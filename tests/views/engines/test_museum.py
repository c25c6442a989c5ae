"""The museum shows what was recorded, says when and with which versions, and escapes all of it."""

import json

import pytest

import guidedviz as gv
from guidedviz import files
from guidedviz.views.engines.museum import draw_museum, known_differences, read_record

ROW = {"kind": "known fault", "name": "<script>", "engine": "e", "exhibit": "<b>", "missing": "1: <i>", "extra": ""}
ABOUT = {"date": "2026-01-02T03:04", "versions": "e 1.0"}


def test_every_recorded_difference_is_in_it_once():
    record = read_record()
    pieces = known_differences(record)
    seen = {(row["kind"], row["name"]) for row in record["rows"]} - {("cannot take it", ""), ("stops", "")}
    shown = [(piece.kind, piece.name) for piece in pieces]
    assert len(set(shown)) == len(shown)
    assert set(shown) == {key for key in seen if key[0] not in ("cannot take it", "stops")}


def test_it_says_recorded_when_and_with_which_versions():
    record = read_record()
    text = draw_museum().text
    assert f"RECORDED {record['about']['date'][:10]}" in text
    assert record["about"]["versions"] in text


def test_what_was_recorded_stays_text():
    figure = draw_museum({"about": ABOUT | {"versions": "<u>"}, "rows": [ROW]})
    for tag in ("<script>", "<b>", "<i>", "<u>"):
        assert tag not in figure.svg


def test_an_engine_is_named_once_unless_only_its_other_setting_shows_it():
    both = [ROW | {"engine": "e"}, ROW | {"engine": "e, loud"}]
    assert known_differences({"rows": both})[0].engines == ("e",)
    assert known_differences({"rows": both[1:]})[0].engines == ("e with loud",)


def test_a_missing_record_says_what_is_missing(monkeypatch, tmp_path):
    read_record.cache_clear()
    monkeypatch.setattr(files, "PACKAGE", tmp_path / "guidedviz")
    with pytest.raises(gv.SettingError, match=r"no differences\.json"):
        draw_museum()
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "differences.json").write_text(json.dumps({"about": ABOUT, "rows": [ROW]}))
    assert "RECORDED 2026-01-02" in draw_museum().text
    read_record.cache_clear()
