"""Each example in the table of refused constructs is refused."""

import re
from pathlib import Path

import pytest

import guidedviz as gv
from tests.common import in_time

TABLE = Path(__file__).resolve().parents[3] / "assets" / "schemas.md"
ROWS = re.findall(r"^\| (.+) \| .+ \| `(.+)` \|$", TABLE.read_text(), re.MULTILINE)


def test_the_table_has_all_its_rows():
    assert len(ROWS) == TABLE.read_text().count("\n| ") - 2


@pytest.mark.parametrize("example", [example for _, example in ROWS], ids=[what for what, _ in ROWS])
def test_what_the_table_lists_is_refused(example):
    with in_time(2), pytest.raises(gv.PatternError, match=r"schema, #"):
        gv.json_schema(example)
