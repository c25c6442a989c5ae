"""Each example in the table of refused constructs is refused, and compiles with approximate=True where it says so."""

import re
import time
from pathlib import Path

import pytest

import guidedviz as gv

TABLE = Path(__file__).resolve().parents[3] / "assets" / "schemas.md"
ROWS = re.findall(r"^\| (.+) \| .+ \| (yes|no) \| `(.+)` \|$", TABLE.read_text(), re.MULTILINE)


def test_the_table_has_all_its_rows():
    assert len(ROWS) == TABLE.read_text().count("\n| ") - 2


@pytest.mark.parametrize(("what", "approximate", "example"), ROWS, ids=[what for what, _, _ in ROWS])
def test_what_the_table_lists_is_refused(what, approximate, example):
    start = time.process_time()
    with pytest.raises(gv.PatternError, match=r"schema, #") as caught:
        gv.json_schema(example)
    assert ("approximate=True" in str(caught.value)) == (approximate == "yes")
    if approximate == "yes":
        machine = gv.json_schema(example, approximate=True)
        assert "not enforced" in " ".join(machine.notes)
        assert machine.initial is not None
    else:
        with pytest.raises(gv.PatternError):
            gv.json_schema(example, approximate=True)
    assert time.process_time() - start < 2
