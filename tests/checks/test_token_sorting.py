"""A wrong answer of lab 06 is shown on the smallest input, with the student's own words beside the right ones."""

import re

import pytest

import guidedviz as gv
from guidedviz.checks.token_sorting import SETS, TOKENS, sort_by_ends, ways_to_store
from guidedviz.machines.regular.regex import regex
from tests.checks.answers import sort_token


def facts_of(verdict):
    assert verdict.result == "wrong", verdict
    return dict(verdict.facts)


@pytest.mark.parametrize(("text", "begun", "piece"), TOKENS)
def test_the_right_answer_is_what_python_s_re_says_of_the_rule(text, begun, piece):
    """It asks where some beginning of what is read completes the rule; it is sure where more can complete it."""
    machine, data = regex(text), (begun + piece).decode()
    ends = [end for end in range(len(begun), len(data)) if re.fullmatch(text, data[:end])]
    goes_on = any(re.fullmatch(text, data + rest) for rest in ("", "0", "b", '"', 'a"'))
    state = machine.initial
    for byte in begun:
        state = machine.step(state, byte)
    assert sort_by_ends(machine, state, piece)[0] == ("yes" if goes_on else "ask" if ends else "no")


def only_at_the_end(rule, state, piece):
    """Forgets that a rule may have been finished before the byte where it died."""
    for byte in piece:
        before, state = state, rule.step(state, byte)
        if state is None:
            return "ask" if rule.is_accepting(before) else "no"
    return "yes"


def never_at_once(rule, state, piece):
    """Forgets that a rule may be finished before the first byte."""
    answer = sort_token(rule, state, piece)
    return "no" if answer == "ask" and rule.step(state, piece[0]) is None else answer


@pytest.mark.parametrize(
    ("answer", "piece", "yours", "expected"),
    [
        (lambda rule, state, piece: "ask", "a", "'ask'", "'yes'"),
        (lambda rule, state, piece: "yes", "b", "'yes'", "'no'"),
        (never_at_once, "}", "'no'", "'ask'"),
        (only_at_the_end, ".}", "'no'", "'ask'"),
    ],
)
def test_wrongly_sorted_tokens(answer, piece, yours, expected):
    facts = facts_of(gv.checks.sort_token(answer))
    assert (facts["piece"], facts["yours gave"], facts["expected"]) == (piece, yours, expected)


def test_the_student_sees_where_the_piece_leaves_the_rule():
    verdict = gv.checks.sort_token(only_at_the_end)
    assert facts_of(verdict)["because"] == (
        "before the piece the rule is finished and .} is left over: the rules below it on the stack decide"
    )
    assert "now in q2, where } cannot come" in verdict.figure.text


@pytest.mark.parametrize(
    ("answer", "because"),
    [
        (lambda parts: (set(), set()), "token 1 is surely legal at one node, so no stack can forbid it"),
        (
            lambda parts: (set.union(*(yes for yes, _ in parts)), set()),
            "token 2 asks at one node and is surely legal at none: the stack decides",
        ),
        (lambda parts: ({1, 9}, {2}), "token 9 is in no set of any node"),
    ],
)
def test_wrongly_merged_places(answer, because):
    assert facts_of(gv.checks.merge(answer))["because"] == because


def test_places_may_not_be_changed():
    def merge(parts):
        for yes, ask in parts[1:]:
            parts[0][0].update(yes)
            parts[0][1].update(ask)
        return parts[0][0], parts[0][1] - parts[0][0]

    assert "changed its input" in dict(gv.checks.merge(merge).facts)["but"]


@pytest.mark.parametrize(
    ("answer", "seen"),
    [
        (lambda count, size: ("accepted", 4 * count), "8 of 8 tokens are in the set"),
        (lambda count, size: ("bits", size // 8), "0 of 8 tokens are in the set"),
        (lambda count, size: min(ways_to_store(count, size // 8 * 8).items(), key=lambda way: way[1]), "20 of 41"),
    ],
)
def test_wasted_bytes(answer, seen):
    assert facts_of(gv.checks.storage(answer))["input"].startswith(seen)


def test_no_set_of_the_check_can_be_kept_in_two_ways_of_the_same_size():
    for count, size in SETS:
        ways = sorted(ways_to_store(count, size).values())
        assert ways[0] < ways[1]
