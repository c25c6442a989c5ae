"""The page "My output is wrong": its session runs from top to bottom, and says what the page says."""

import re
from contextlib import chdir
from pathlib import Path

import pytest

import guidedviz as gv

PAGE = Path(gv.__file__).parents[1] / "assets" / "wrong_output.md"
TEXT = PAGE.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """The names after all code of the page, with clerk; its files are in a folder of their own."""
    names = {"__name__": "page"}
    with chdir(tmp_path_factory.mktemp("page")):
        for code in re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL):
            exec(code.replace("smollm2 or clerk", "clerk"), names)
    return names


def test_each_symptom_has_a_section_and_each_section_ends_at_a_stage():
    sections = TEXT.split("\n## ")[1:]
    assert len(re.findall(r"\]\(#[\w-]+\) \|$", TEXT, re.MULTILINE)) == len(sections) == 6
    assert all("gv.stage(" in section for section in sections)


def test_the_session_runs_and_finds_what_the_page_says(session):
    assert session["seen"].refusal.words in TEXT
    assert session["kept"].refusal == session["seen"].refusal
    assert gv.diagnose(session["kept"], session["guide"]).other_guide == ""
    assert gv.diagnose(session["run"]).names == ("over-tight constraint",)
    assert session["run"].text == '{"name": "Adaran", "age": 36}'
    assert "1 in 7,400" in gv.diagnose(session["run"]).findings[0].seen
    assert session["run"].steps[session["worst"]].piece == b"ran"
    assert gv.diagnose(session["cut"]).names == ("cut in the middle",)
    assert session["jumped"].passes < len(session["jumped"].tokens)
    assert session["loop"].text.count("Sure, here is the JSON with") == 3
    assert session["wanted"].refusal is None
    assert session["forced"].text.startswith("<tool_call>")
