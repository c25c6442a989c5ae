"""The tree of what was read: it spells the text, its branches are open where rules are, and depth is no matter."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from guidedviz.errors import PatternError
from guidedviz.machines.earley.derivation import ParseLeaf, derivation, walk_tree
from guidedviz.machines.earley.earley import build_earley, earley
from guidedviz.machines.grammars.gbnf import parse_grammar
from guidedviz.machines.regular.dfa import build_dfa
from guidedviz.machines.regular.nfa import build_nfa
from guidedviz.machines.syntax import literal, map_calls, optional
from tests.machines.oracle import Listing
from tests.strategies import grammars

LIST = earley('root ::= "[" (item ("," item)*)? "]"\nitem ::= [0-9]+ | root')
SUM = earley('root ::= y ";"\ny ::= "(" y ")" | y "+" y | "1"')


def branches_of(parts):
    return [part for part in parts if not isinstance(part, ParseLeaf)]


def all_branches(tree):
    return branches_of(part for _, part in walk_tree(tree))


def shown(machine, text):
    return str(derivation(machine, text)).split()


def spell(tree):
    leaves = [part for _, part in walk_tree(tree) if isinstance(part, ParseLeaf)]
    return b"".join(leaf.data for leaf in leaves)


def test_a_beginning_is_open_down_to_where_it_is_read():
    assert shown(LIST, b"[12,[") == ["root…", '"["', "item", '"12"', '","', "item…", "root…", '"["']
    assert str(derivation(LIST, b"")) == "root…"


def test_the_branch_with_a_second_tree_says_so():
    marks = [part.ambiguous for part in all_branches(derivation(SUM, b"1+1+1;"))]
    assert marks == [False, True, False, False, False, False]
    assert "?" not in str(derivation(SUM, b"1+(1);"))
    assert shown(earley('root ::= a\na ::= a | "x"'), b"x") == ["root", "a?", '"x"']


def test_a_rule_that_is_empty_in_two_ways_says_so_and_has_no_parts():
    machine = earley('root ::= "x" s "y"\ns ::= t\nt ::= "" | u\nu ::= ""')
    assert shown(machine, b"xy") == ["root", '"x"', "s?", '"y"']
    machine = earley('root ::= "x" s "y"\ns ::= "z"?')
    assert shown(machine, b"xy") == ["root", '"x"', "s", '"y"']


def test_depth_is_no_matter():
    tree = derivation(LIST, b"[" * 5000 + b"]" * 5000)
    assert max(depth for depth, _ in walk_tree(tree)) == 9999
    assert (tree.name, tree.end) == ("root", 10_000)


def test_a_text_that_cannot_be_is_an_error_at_its_byte():
    with pytest.raises(PatternError, match=r"derivation, byte 3: saw x after \[12, expected , 0-9 \]"):
        derivation(LIST, b"[12x")
    with pytest.raises(PatternError, match="derivation, byte 2: saw ! after 1;, expected the end of the text"):
        derivation(SUM, b"1;!")


@given(grammars, st.data())
def test_every_branch_is_its_rule_and_the_leaves_are_the_text(text, data):
    grammar = parse_grammar(text)
    sizes = [rule.tree.weight.states for rule in grammar.rules]
    assume(max(sizes) <= 150)  # check_branch needs the DFA of each rule
    listed = Listing(grammar, 5)
    assume(listed.finishing["root"])
    machine = build_earley(grammar)
    empty = {name for name, texts in listed.texts.items() if b"" in texts}
    words = st.sampled_from(sorted(listed.begun["root"]))
    for word in data.draw(st.lists(words, max_size=5)):
        tree = derivation(machine, word)
        assert spell(tree) == word
        assert tree.name == "root"
        assert (tree.start, tree.end) == (0, len(word))
        assert tree.open is (word not in listed.texts["root"])
        for branch in all_branches(tree):
            check_branch(branch, grammar, empty)


def check_branch(branch, grammar, empty):
    """What it read, with a letter of its own for each call, is a text of its rule as a regex over these letters."""
    letters = {name: chr(number) for number, name in enumerate(grammar.named, 0xE000)}
    place = branch.start
    read = b""
    for child in branch.children:
        assert child.start == place
        place = child.end
        if isinstance(child, ParseLeaf):
            read += child.data
        else:
            read += letters[child.name].encode()
    assert place == branch.end

    def flat(call):
        letter = literal(letters[call.name])
        return optional(letter) if call.name in empty else letter

    tree = map_calls(grammar.named[branch.name].tree, flat)
    machine = build_dfa(build_nfa(tree))
    if branch.open:
        assert machine.accepts_prefix(read)
    else:
        assert machine.accepts(read) or (branch.name in empty and not read)
        assert not any(child.open for child in branches_of(branch.children))
