"""A wrong loop is shown on the smallest trie on which it is wrong, a wrong answer to a slice by the text that dies."""

from itertools import product
from random import Random

import pytest

import guidedviz as gv
from guidedviz.checks.completer import GRAMMARS, complete, finished_items, show_rules
from guidedviz.checks.trie_jump import SLICES, flatten, shortest_refused
from tests.checks.answers import jump, whole


def facts_of(verdict):
    assert verdict.result == "wrong", verdict
    return dict(verdict.facts)


# -- the jump ------------------------------------------------------------------------------------------------------


def test_a_right_walk_is_told_that_it_skips():
    assert gv.checks.jump(jump).said.endswith("looks at no node below a refused one")


def walk_without_jumps(machine, state, tree):
    legal, states = set(), {0: state}
    for i in range(len(tree.byte)):
        above = states.get(tree.depth[i] - 1)
        states[tree.depth[i]] = after = None if above is None else machine.step(above, tree.byte[i])
        legal |= set(tree.ends[i]) if after is not None else set()
    return legal


def test_a_loop_that_goes_one_on_instead_of_jumping_is_shown_what_it_looked_at():
    facts = facts_of(gv.checks.jump(walk_without_jumps))
    assert facts["pieces"] == "[b'34', b'35', b'4']"
    assert facts["looked at"] == "34"
    assert "3 was refused" in facts["because"]


def test_old_states_that_stay_lead_to_a_wrong_mask():
    facts = facts_of(gv.checks.jump(lambda *given: jump(*given, back=lambda depth: depth + 1)))
    assert "token" in facts["because"]
    assert facts["yours gave"] != facts["expected"]


def test_a_loop_that_does_not_end_is_stopped():
    assert "does not end" in facts_of(gv.checks.jump(lambda *given: jump(*given, cut=lambda size: 0)))["yours gave"]


def test_a_loop_that_jumps_too_far_misses_a_token():
    facts = facts_of(gv.checks.jump(lambda *given: jump(*given, cut=lambda size: size + 1)))
    assert "is legal" in facts["because"]


def test_a_crash_and_a_wrong_kind_are_answers():
    assert "ZeroDivisionError" in facts_of(gv.checks.jump(lambda machine, state, tree: 1 / 0))["yours gave"]
    assert facts_of(gv.checks.jump(lambda machine, state, tree: 7))["yours gave"] == "7"
    assert facts_of(gv.checks.jump(7))["yours is"] == "7"


def test_a_walk_that_yields_its_tokens_is_watched_too():
    assert gv.checks.jump(lambda *given: iter(jump(*given)))

    def lazily(*given):
        yield from walk_without_jumps(*given)

    assert facts_of(gv.checks.jump(lazily))["looked at"] == "34"


def test_the_picture_lights_what_was_looked_at():
    verdict = gv.checks.jump(lambda machine, state, tree: {tree.byte[0]})
    assert "1 of 1 nodes" in verdict.figure.svg
    assert "looked at, 0 of 1 nodes" in gv.checks.jump(lambda machine, state, tree: {5}).figure.svg


def test_a_flat_trie_is_the_tree():
    random = Random(7)
    pieces = [bytes(random.choices(b"ab", k=random.randint(1, 5))) for _ in range(40)]
    tree = flatten(pieces)
    for node, size in enumerate(tree.size):
        below = list(tree.depth)[node + 1 : node + size]
        assert all(depth > tree.depth[node] for depth in below)
        assert node + size == len(tree.size) or tree.depth[node + size] <= tree.depth[node]
    assert sorted(token for ends in tree.ends for token in ends) == list(range(40))


# -- slices --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "slice_", "died"),
    [
        (lambda *given: whole(*given, most=1), "regex a*", "aaaa"),
        (lambda machine, state, part: True, "regex b*", "b"),
        (lambda machine, state, part: machine == part, "regex a*", None),
    ],
    ids=["only one byte", "always", "the same machine"],
)
def test_a_wrong_answer_is_shown_the_text_that_dies(answer, slice_, died):
    facts = facts_of(gv.checks.whole(answer))
    assert facts["slice"] == slice_
    assert facts["because"].startswith(f"{died} begins" if died else "the machine can read each text")


def test_a_search_that_looks_at_pairs_again_and_again_is_stopped():
    def endless(machine, state, part):
        pairs = [(state, part.initial)]
        for here, there in pairs:
            for byte in range(256):
                if (inner := part.step(there, byte)) is not None:
                    if (after := machine.step(here, byte)) is None:
                        return False
                    pairs.append((after, inner))
        return True

    facts = facts_of(gv.checks.whole(endless))
    assert facts["machine"].startswith("regex a*,")
    assert "does not end" in facts["yours gave"]


def test_an_answer_that_changes_a_machine_is_told_so():
    def spoil(machine, state, part):
        object.__setattr__(machine, "edges", part.edges)
        return True

    facts = facts_of(gv.checks.whole(spoil))
    assert facts["but"] == "it changed its input; work on a copy"
    assert "expected" not in facts


def test_the_truth_about_slices_is_that_of_brute_force():
    for text, begun, part in SLICES[:9]:
        machine, inner = gv.regex(text), gv.regex(part)
        state = machine.initial
        for byte in begun:
            state = machine.step(state, byte)
        texts = (bytes(row) for length in range(1, 6) for row in product(b"abc", repeat=length))
        dead = [one for one in texts if inner.accepts_prefix(one) and not machine.accepts_prefix(begun + one)]
        assert shortest_refused(machine, state, inner) == min(dead, key=lambda one: (len(one), one), default=None)


# -- complete ------------------------------------------------------------------------------------------------------


def test_the_items_may_come_in_any_order():
    assert gv.checks.complete(lambda chart, done: iter(complete(chart, done)[::-1])), "in any order"


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (lambda chart, done: [item.moved for item in chart[-1] if item.wanted == done.rule], "1, column 1"),
        (lambda chart, done: [item.moved for item in chart[0] if item.wanted == done.rule], "ax, column 2"),
        (lambda chart, done: [item for item in chart[done.origin] if item.wanted == done.rule], "1, column 1"),
        (lambda chart, done: [item.moved for item in chart[done.origin] if item.wanted], "1, column 1"),
        (lambda chart, done: complete(chart, done)[1:], "1, column 1"),
        (lambda chart, done: complete(chart, done)[:1], "1, column 1"),
    ],
    ids=["here", "first column", "dot stays", "whatever waits", "none", "the first alone"],
)
def test_a_wrong_move_is_shown_in_its_chart(answer, text):
    verdict = gv.checks.complete(answer)
    facts = facts_of(verdict)
    assert "•" in facts["expected"]
    assert verdict.figure.text.startswith("chart")
    assert facts["text"] == text


def test_an_answer_that_changes_the_chart_is_told_so():
    def extend(chart, done):
        new = complete(chart, done)
        chart[-1].extend(new)
        return new

    facts = facts_of(gv.checks.complete(extend))
    assert facts["but"] == "it changed its input; work on a copy"
    assert "expected" not in facts


def test_the_charts_are_those_of_the_library():
    for rules, text in GRAMMARS:
        chart, _ = list(finished_items(rules, text))[-1]
        columns = gv.earley(show_rules(rules)).chart(text.encode())
        assert [len(column) for column in chart[:-1]] == [len(column.items) for column in columns[:-1]]
