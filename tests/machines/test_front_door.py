"""A wrong type at the front door is an error of ours, and a message quotes little of what it was given."""

import pytest

import guidedviz as gv
from guidedviz.errors import GuidedVizError
from guidedviz.machines.source import compile_text

WRONG = [None, 5, b"a", {}, ["\ud800" * 999], "\ud800\x00\u202e" * 10_000 + "("]
DOORS = {
    "regex": gv.regex,
    "grammar": gv.grammar,
    "root": lambda value: gv.grammar('root ::= "a"', root=value),
    "lark": gv.lark,
    "start": lambda value: gv.lark('start: "a"', start=value),
    "earley": gv.earley,
    "to_gbnf": gv.machines.to_gbnf,
    "difference": lambda value: gv.machines.difference(gv.regex("a"), value),
    "compare": lambda value: gv.machines.compare_machines(gv.regex("a"), value),
    "bytes_to_end": lambda value: gv.machines.bytes_to_end(value, 0),
    "tags": lambda value: gv.tagged(value),
    "structural_tag": gv.structural_tag,
    "kind": lambda value: compile_text(value, "a"),
    "pattern": lambda value: gv.pattern([value]),
    "how often": lambda value: gv.pattern([("a", value)]),
    "state": lambda value: gv.machines.bytes_to_end(gv.regex("a"), f"{value}"),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("value", WRONG, ids=[type(value).__name__ for value in WRONG])
def test_what_is_wrong_is_an_error_that_says_what_was_seen_and_expected_and_quotes_little(door, value):
    with pytest.raises(GuidedVizError) as caught:
        DOORS[door](value)
    assert caught.value.where
    assert caught.value.seen
    assert caught.value.expected
    assert len(str(caught.value)) < 600
    assert all(map(str.isprintable, str(caught.value).split("\n")))
