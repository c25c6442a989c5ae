"""The trie holds exactly the pieces, level by level, and both walks of it are one walk."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guidedviz.machines.machine import read
from guidedviz.machines.pushdown.pda import grammar, json
from guidedviz.machines.pushdown.unknown_bottom import UnknownBottom
from guidedviz.machines.regular.regex import regex
from guidedviz.tokens import trie as trie_file
from guidedviz.tokens import walk as walk_file
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.tokens.walk import MoveTable, walk_apart, walk_steps
from tests.strategies import regexes, vocabularies
from tests.tokens.plain_walk import spell, walk


def live_nodes(trie, machine, state):
    """The quick walk of a machine: its live nodes, root included."""
    live = np.zeros(len(trie) + 1, dtype=np.bool_)
    nodes, labels = MoveTable(machine.step, machine.kinds).walk(trie, state)
    assert nodes.tolist() == sorted(set(nodes.tolist())), "each once, in order"
    assert labels.all()
    live[nodes] = True
    return live


@given(vocabularies())
def test_every_text_id_is_spelled_by_its_node_and_no_other_id_has_one(v):
    trie = v.trie
    for token in range(len(v)):
        node = trie.node_of[token]
        if token in v.text_ids:
            assert spell(trie, node) == v.pieces[token]
        else:
            assert node == -1


@given(vocabularies())
def test_nodes_are_exactly_the_beginnings_of_pieces_in_level_order(v):
    trie = v.trie
    spelled = [spell(trie, node) for node in range(len(trie))]
    beginnings = {b""}
    for token in v.text_ids:
        piece = v.pieces[token]
        beginnings |= {piece[:end] for end in range(len(piece) + 1)}
    assert spelled == sorted(beginnings, key=lambda piece: (len(piece), piece))
    for depth, (low, high) in enumerate(pairwise(trie.levels)):
        lengths = {len(piece) for piece in spelled[low:high]}
        assert lengths == {depth}
    assert trie.levels[-1] == len(trie)


@pytest.mark.parametrize("few", [0, 10**9])
@given(vocabularies(), st.data())
def test_the_tokens_of_some_nodes_are_those_whose_bytes_end_there(few, v, data):
    trie = v.trie
    ids = st.integers(0, len(trie) - 1)
    nodes = sorted(data.draw(st.sets(ids)))
    labels = np.zeros(len(trie) + 1, dtype=np.intp)
    labels[nodes] = np.arange(1, len(nodes) + 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trie_file, "SPARSE_LOOKUP", few)
        tokens, found = trie.tokens(np.array(nodes, np.intp), labels[nodes])
    given_labels = np.zeros(len(v), dtype=np.intp)
    given_labels[tokens] = found
    assert given_labels.tolist() == [labels[node] for node in trie.node_of]


@pytest.mark.parametrize("few", [0, 10**9])
@given(vocabularies(), regexes)
def test_both_ways_of_going_down_a_level_are_one(few, v, pattern):
    trie = v.trie
    machine = regex(pattern)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walk_file, "SPARSE_LEVEL", few)
        live = live_nodes(trie, machine, 0)
    assert live.tolist() == walk(trie, machine, 0).tolist()


GRAMMARS = [
    'root ::= "a" root "b" | "A" root "B" | ""',
    'root ::= s\ns ::= s s | "a" | "b" | "é"',
    'root ::= root "1" | "(" root ")" | [^b]',
    'root ::= (word " ")* word\nword ::= [a-z] word? | "\\n"{2}',
]

short_texts = st.text(st.sampled_from("abAB1é\n "), max_size=4)


@given(vocabularies(), st.sampled_from(GRAMMARS), short_texts)
def test_the_quick_walk_of_a_grammar_is_the_plain_walk(v, text, written):
    trie = v.trie
    machine = grammar(text)
    state = read(machine, written.encode()) or machine.initial
    live = live_nodes(trie, machine, state)
    assert live.tolist() == walk(trie, machine, state).tolist()


@pytest.mark.parametrize("many", [0, 16])
@given(vocabularies(), st.sampled_from(GRAMMARS))
def test_the_plain_walk_along_the_bytes_that_a_machine_reads_is_the_plain_walk(many, v, text):
    stacks = UnknownBottom(grammar(text))
    start = stacks.at(0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walk_file, "MANY_CHILDREN", many)
        found = dict(walk_steps(v.trie, stacks, start, stacks.reads))
    assert found == dict(walk_steps(v.trie, stacks, start))


@given(
    vocabularies(), st.sampled_from([*GRAMMARS, 'root ::= (name | [a-zA-Z "]+) "1"\nname ::= "a" [^A]* "b"']), st.data()
)
def test_two_states_are_walked_exactly_where_they_lead_to_different_ones(v, text, data):
    stacks = UnknownBottom(grammar(text))
    nodes = st.integers(0, len(stacks.nodes) - 1)
    one = stacks.at(data.draw(nodes))
    other = stacks.at(data.draw(nodes))
    ones = dict(walk_steps(v.trie, stacks, one))
    others = dict(walk_steps(v.trie, stacks, other))
    live = ones.keys() | others.keys()
    apart = {node: ones.get(node) for node in live if ones.get(node) is not others.get(node)}
    assert dict(walk_apart(v.trie, stacks, one, other, stacks.differ)) == apart


def test_a_table_that_grew_too_large_begins_anew(monkeypatch):
    trie = Vocabulary([b"a", b"(a)", b"((", b"))"]).trie
    machine = grammar('root ::= "(" root ")" | "a"')
    monkeypatch.setattr(walk_file, "MOST_TABLE_STATES", 3)
    table = MoveTable(machine.step, machine.kinds)
    for text in (b"", b"(", b"((a", b"(", b"((("):
        state = read(machine, text)
        nodes, _ = table.walk(trie, state)
        assert nodes.tolist() == np.flatnonzero(walk(trie, machine, state)).tolist()


@pytest.mark.parametrize("text", [b"", b'{"a', b'{"a":["', b"[1", b'{"a"', b'["\\u0', b"{}\n"])
def test_the_quick_walk_of_json_is_the_plain_walk_on_a_large_vocabulary(text):
    trie = Vocabulary.llama3().trie
    machine = json()
    state = read(machine, text)
    assert (live_nodes(trie, machine, state) == walk(trie, machine, state)).all()


@given(vocabularies())
def test_what_lies_below_a_node_is_all_that_begins_with_it(v):
    trie = v.trie
    spelled = [spell(trie, node) for node in range(len(trie))]
    for node, each in enumerate(spelled):
        begins_with_it = sum(one.startswith(each) for one in spelled)
        assert trie.below[node] == begins_with_it - 1


@pytest.mark.parametrize("pieces", [[b""], [b"", b"<s>"], [b"\x00"], [b"a" * 5000]])
def test_odd_vocabularies_have_a_trie(pieces):
    special = {1} & set(range(len(pieces)))
    trie = Vocabulary(pieces, special=special).trie
    texts = [piece for piece in pieces if piece != b"<s>"]
    assert len(trie) == 1 + max(map(len, texts))
