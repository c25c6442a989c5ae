"""A schema with a stack keeps its rules if it has many of them; a small one, and one without a stack, is inlined."""

import guidedviz as gv
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.dfa import DFA


def nested(count):
    text = {"type": "string", "format": "date-time"}
    properties = {f"key{number}": text for number in range(3)}
    inner = {"type": "object", "properties": properties}
    parts = {f"part{number}": inner for number in range(count)}
    return {"type": "object", "properties": parts}


def test_only_a_large_schema_with_a_stack_keeps_its_rules():
    large = gv.json_schema(nested(8), extra_keys="open")
    assert len(large.nodes.names) > 40
    small = gv.json_schema(nested(1), extra_keys="open")
    assert len(small.nodes.names) < 10
    assert isinstance(gv.json_schema(nested(8)), DFA)
    assert isinstance(large, PDA)
