"""The stack of a pushdown machine as people read it: open rules, what each waits for, and what keeps its number."""

from operator import eq

import guidedviz as gv
from guidedviz.machines.machine import read
from tests.common import with_end

JSON = gv.json()
NESTED = b'{"key": {"b": [1, "x"]}}'
TWO = gv.grammar('root ::= "a" root "b" | u | ""\nu ::= "a" root "c"')  # b closes the one, c the other


def at(text, machine=JSON):
    return read(machine, text)


def test_each_frame_says_where_its_rule_stands_and_what_it_waits_for():
    frames = JSON.frames(at(b'{"key": {"b": [1'))
    assert [frame.rule for frame in frames] == ["number", "array", "object", "object", "root"]
    assert JSON.depth(at(b'{"key": {"b": [1')) == 5
    waits = [frame.waits for frame in frames]
    assert waits == [". 0-9 E e or its end", ", or ]", ", or }", ", or }", "⇥ ↵ <0x0D> ␣ or its end"]
    for frame in frames:
        assert JSON.nodes.name_of(frame.node) == frame.rule


def test_a_number_stays_with_its_call_from_push_to_pop():
    """What is new was pushed, what is gone was popped, and nothing else moves."""
    before = ()
    for size in range(len(NESTED) + 1):
        frames = JSON.frames(at(NESTED[:size]))
        numbers = tuple(frame.number for frame in reversed(frames))
        shared = sum(map(eq, before, numbers))
        assert len(set(numbers)) == len(numbers)
        assert len(before) - shared <= 3
        assert len(numbers) - shared <= 2
        assert numbers[:1] == (0,)
        before = numbers


def test_the_innermost_rule_that_cannot_end_stands_in_the_way():
    texts = [b"", b"[1", b'[{"a"', b'[{"a":1}']
    frames = [JSON.unfinished(at(text)) for text in texts]
    assert [frame.rule for frame in frames] == ["root", "array", "member", "array"]
    assert [frame.waits for frame in frames] == ['" - 0-9 [ f n t or {', ", or ]", ":", ", or ]"]
    assert JSON.unfinished(at(b"[1]")) is None


def test_a_deep_stack_shows_its_innermost_rules_and_counts_the_others():
    state = at(b'{"a":' * 2000 + b"[" * 30)
    assert JSON.depth(state) == 2031
    shown = ["array"] * 30 + ["object"] * 10
    assert JSON.stack(state) == (*shown, "… 1,991 more")
    assert [frame.rule for frame in JSON.frames(state)] == shown
    assert len(JSON.branches(state)) == 60


def test_shared_stacks_stand_there_once():
    state = at(b"a" * 8, TWO)
    shared = TWO.branches(state)
    numbers = {stack.number for stack in shared}
    assert len(numbers) == len(shared) < 60, "two to the eighth stacks"
    for stack in shared:
        assert {0, *numbers}.issuperset(stack.below)
    nodes = [node for node, cells in state.tops for _ in cells]
    assert [stack.node for stack in shared[:4]] == nodes
    assert any(len(stack.below) == 2 for stack in shared)
    before = TWO.branches(at(b"a" * 7, TWO))
    assert not numbers.isdisjoint(stack.number for stack in before)


def test_explain_names_the_rule_that_forbids_and_the_stack_where_the_token_died():
    guide = gv.guide(JSON, with_end([b"}", b'"a":[}']))
    why = guide.explain(at(b"[1"), 0)
    assert why.reason == "} cannot come: the innermost open rule that cannot end here is array, which waits for , or ]"
    why = guide.explain(at(b'{"a":1'), 2)
    assert why.reason == "EOS would end the text before it is complete: object is still open and waits for , or }"
    assert guide.explain(at(b"{"), 1).stack == ("array", "object", "root")
