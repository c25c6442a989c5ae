"""A wrong loop is shown on the smallest trie on which it is wrong, a wrong answer to a slice by the text that dies."""

from itertools import product
from random import Random

import guidedviz as gv
from guidedviz.checks.machines.completer import GRAMMARS, finished_items, show_rules
from guidedviz.checks.tokens.trie_jump import SLICES, flatten, shortest_refused
from tests.checks.answers import jump
from tests.checks.probes.machines.completer import WRONG
from tests.checks.probes.tokens.trie_jump import walk_without_jumps


def facts_of(verdict):
    assert verdict.result == "wrong", verdict
    return dict(verdict.facts)


# -- the jump ------------------------------------------------------------------------------------------------------


def test_a_right_walk_is_told_that_it_skips():
    assert gv.checks.jump(jump).said.endswith("looks at no node below a refused one")


def test_a_loop_that_goes_one_on_instead_of_jumping_is_shown_what_it_looked_at():
    facts = facts_of(gv.checks.jump(walk_without_jumps))
    assert facts["pieces"] == "[b'34', b'35', b'4']"
    assert facts["looked at"] == "34"
    assert "3 was refused" in facts["because"]


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


def test_a_wrong_move_is_shown_in_its_chart():
    verdict = gv.checks.complete(WRONG["complete"]["the first column"][0])
    facts = facts_of(verdict)
    assert "•" in facts["expected"]
    assert facts["text"] == "ax, column 2"
    assert verdict.figure.text.startswith("chart")


def test_the_charts_are_those_of_the_library():
    for rules, text in GRAMMARS:
        chart, _ = list(finished_items(rules, text))[-1]
        columns = gv.earley(show_rules(rules)).chart(text.encode())
        assert [len(column) for column in chart[:-1]] == [len(column.items) for column in columns[:-1]]
