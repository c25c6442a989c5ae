"""A wrongly sorted token is shown on the smallest input, with the student's own words beside the right ones."""

import re

import pytest

import guidedviz as gv
from guidedviz.checks.tokens.token_sorting import SETS, TOKENS, sort_by_ends, ways_to_store
from guidedviz.machines.regular.regex import regex
from tests.checks.probes.tokens.token_sorting import only_at_the_end


def facts_of(verdict):
    assert verdict.result == "wrong", verdict
    return dict(verdict.facts)


@pytest.mark.parametrize(("text", "begun", "piece"), TOKENS)
def test_the_right_answer_is_what_python_s_re_says_of_the_rule(text, begun, piece):
    """Dependent where some beginning of what is read completes the rule, accepted where more can complete it."""
    machine, data = regex(text), (begun + piece).decode()
    ends = [end for end in range(len(begun), len(data)) if re.fullmatch(text, data[:end])]
    goes_on = any(re.fullmatch(text, data + rest) for rest in ("", "0", "b", '"', 'a"'))
    state = machine.initial
    for byte in begun:
        state = machine.step(state, byte)
    assert sort_by_ends(machine, state, piece)[0] == ("accepted" if goes_on else "dependent" if ends else "rejected")


def test_the_student_sees_where_the_piece_leaves_the_rule():
    verdict = gv.checks.sort_token(only_at_the_end)
    assert facts_of(verdict)["because"] == (
        "before the piece the rule is finished and .} is left over: the rules below it on the stack decide"
    )
    assert "now in q2, where } cannot come" in verdict.figure.text


def test_no_set_of_the_check_can_be_kept_in_two_ways_of_the_same_size():
    for count, size in SETS:
        ways = sorted(ways_to_store(count, size).values())
        assert ways[0] < ways[1]
