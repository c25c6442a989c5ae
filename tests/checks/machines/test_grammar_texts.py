"""A wrong grammar is shown by the shortest text on which it is wrong, and by the rule that stood in the way."""

import pytest

import guidedviz as gv
from guidedviz.checks.machines.grammar_texts import GIVEN, LISTS, MIRROR, MOST_PAIRS
from guidedviz.machines.compare import compare_machines
from tests.checks.probes.machines.grammar_texts import levels

CHECKS = {MIRROR: gv.checks.mirror, LISTS: gv.checks.lists}
each_check = pytest.mark.parametrize("truth", CHECKS, ids=["mirror", "lists"])


def facts_of(verdict):
    assert verdict.result == "wrong", verdict
    return dict(verdict.facts)


@each_check
def test_the_right_grammar_is_right(truth):
    verdict = CHECKS[truth](truth)
    assert verdict
    assert int(verdict.said.split("up to ")[1].split()[0]) >= 10, "bytes of the texts that were tried"


@each_check
def test_the_given_grammar_is_not_done_yet_whatever_its_blanks(truth):
    assert CHECKS[truth](f"\n{GIVEN[truth]}\n").result == "open"
    for empty in (None, ..., "", " \n"):
        assert CHECKS[truth](empty).result == "open"


def test_the_student_sees_the_own_stack_as_far_as_the_text_was_read():
    drawn = gv.checks.mirror('root ::= "a" root [ab] | "b" root "b" | "c"').figure.text
    assert "accept" in drawn, "yours takes acb"
    shallow = gv.checks.mirror('root ::= "a" root "a" | "b" "c" "b" | "c"')
    assert "not finished: root waits for c" in shallow.figure.text


def test_the_bugs_of_the_list_come_one_after_another():
    first = GIVEN[LISTS]
    second = first.replace('item ("," item?)*', '(item ("," item?)*)?')
    third = second.replace("[0-9]+", '"0" | [1-9] [0-9]*')
    shown = [dict(gv.checks.lists(lists).facts)["text"] for lists in (first, second, third)]
    assert shown == ["[]", "[00]", "[0,]"]
    assert gv.checks.lists(third.replace("item?", "item"))


def test_a_grammar_that_cannot_be_read_is_shown_with_its_caret():
    facts = facts_of(gv.checks.mirror('root ::= "a" bold'))
    assert "^" in facts["error"]
    assert facts_of(gv.checks.mirror(7))["because"] == "a grammar is a text"
    assert "never finish" in facts_of(gv.checks.mirror('root ::= "a" root'))["error"]


@pytest.mark.parametrize("count", [5, 12, 49])
def test_a_grammar_of_some_levels_fails_one_level_deeper(count):
    verdict = gv.checks.mirror(levels(count))
    assert facts_of(verdict)["text"].startswith("a" * (count + 1))
    assert verdict.said.startswith("every text of up to ")
    assert dict(verdict.facts)["because"].endswith("which waits for c")
    assert len(dict(verdict.facts)["because"]) <= 160


def test_the_shortest_text_is_found_where_machines_part_late():
    one, other = (gv.grammar(f'root ::= "(" root ")" | "{end}"') for end in ("xyzzy", "xyzzx"))
    found = compare_machines(one, other, MOST_PAIRS)
    assert (found.text, found.length) == (b"xyzzx", 5)
