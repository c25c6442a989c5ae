"""Claims about the tables of the front ends and of the frameworks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from guidedviz.errors import SettingError
from guidedviz.serving.front_end import front_ends
from guidedviz.views.engines.front_end_table import draw_frameworks, draw_front_ends, read_frameworks

AGE = {"type": "object", "properties": {"age": {"type": "integer"}}}
ENDS = front_ends(AGE)


def test_each_front_end_is_a_row_with_its_names_and_version():
    figure = draw_front_ends(ENDS)
    for end in ENDS:
        assert f"{end.name}, {end.version}: {end.now}" in figure.text
        assert end.name in figure.svg
    assert figure.svg.count("guided_json") == 2  # the drawing and its description


@pytest.mark.parametrize("ends", [AGE, "vLLM", [AGE], [], None])
def test_what_are_no_records_is_refused(ends):
    with pytest.raises(SettingError, match="draw_front_ends, ends"):
        draw_front_ends(ends)


def test_texts_are_escaped():
    assert "<script>" not in draw_front_ends([replace(ENDS[0], name="<script>", note="<script>")]).svg


def test_each_framework_is_a_row_that_says_what_differs():
    record = read_frameworks()
    text = draw_frameworks().text
    assert text.count("\n") == len(record["rows"])
    for row in record["rows"]:
        assert f"masks differ at {row['differ']} of {row['steps']} steps" in text
    assert "adds numbers out of bounds" in text


def test_a_framework_that_did_not_run_says_why():
    row = read_frameworks()["rows"][0] | {"texts": [], "said": "it needs <another> package"}
    figure = draw_frameworks(read_frameworks() | {"rows": [row]})
    assert "did not run, it needs <another> package" in figure.text
    assert "<another>" not in figure.svg
