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
from guidedviz.tokens.walk import MoveTable, walk_steps
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
def test_nodes_are_exactly_the_beginnings_of_pieces_in_level_order(v):
    trie = v.trie
    spelled = [spell(trie, node) for node in range(len(trie))]
    beginnings = {b""}
    for token in v.text_ids:
        piece = v.pieces[token]
        beginnings |= {piece[:end] for end in range(len(piece) + 1)}
    by_length = sorted(beginnings, key=lambda piece: (len(piece), piece))
    assert spelled == by_length
    for depth, (low, high) in enumerate(pairwise(trie.levels)):
        lengths = {len(piece) for piece in spelled[low:high]}
        assert lengths == {depth}
    assert trie.levels[-1] == len(trie)
    by_token = [v.pieces[token] if token in v.text_ids else None for token in range(len(v))]
    texts = [None if node == -1 else spelled[node] for node in trie.node_of]
    assert texts == by_token


@pytest.mark.parametrize("few", [0, 10**9])
@given(vocabularies(), st.data())
def test_the_tokens_of_some_nodes_are_those_whose_bytes_end_there(few, v, data):
    nodes = sorted(data.draw(st.sets(st.integers(0, len(v.trie) - 1))))
    labels = np.arange(len(nodes)) + 7
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trie_file, "SPARSE_LOOKUP", few)
        found = v.trie.tokens(np.array(nodes, np.intp), labels)
    expected = [(token, 7 + nodes.index(node)) for token, node in enumerate(v.trie.node_of) if node in nodes]
    assert sorted(zip(*found, strict=True)) == expected


GRAMMARS = [
    'root ::= "a" root "b" | "A" root "B" | ""',
    'root ::= s\ns ::= s s | "a" | "b" | "é"',
    'root ::= root "1" | "(" root ")" | [^b]',
    'root ::= (word " ")* word\nword ::= [a-z] word? | "\\n"{2}',
]

short_texts = st.text(st.sampled_from("abAB1é\n "), max_size=4)


@pytest.mark.parametrize("few", [0, 10**9])
@given(vocabularies(), st.sampled_from(GRAMMARS).map(grammar) | regexes.map(regex), short_texts)
def test_the_quick_walk_is_the_plain_walk_on_full_and_on_sparse_levels(few, v, machine, written):
    state = read(machine, written.encode())
    state = machine.initial if state is None else state
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walk_file, "SPARSE_LEVEL", few)
        live = live_nodes(v.trie, machine, state)
    assert live.tolist() == walk(v.trie, machine, state).tolist()


@pytest.mark.parametrize("many", [0, 16])
@given(vocabularies(), st.sampled_from(GRAMMARS))
def test_the_plain_walk_along_the_bytes_that_a_machine_reads_is_the_plain_walk(many, v, text):
    stacks = UnknownBottom(grammar(text))
    start = stacks.at(0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walk_file, "MANY_CHILDREN", many)
        found = dict(walk_steps(v.trie, stacks, start, stacks.reads))
    assert found == dict(walk_steps(v.trie, stacks, start))


@given(st.sampled_from(GRAMMARS), vocabularies(), st.data())
def test_a_table_that_asks_for_spans_has_the_states_of_single_steps(text, v, data):
    stacks = UnknownBottom(grammar(text))
    start = stacks.at(data.draw(st.integers(0, len(stacks.nodes) - 1)))
    table = MoveTable(stacks.step, stacks.kinds, stacks.span)
    nodes, labels = table.walk(v.trie, start)
    found = {node: table.states[label] for node, label in zip(nodes.tolist(), labels.tolist(), strict=True) if node}
    assert found == dict(walk_steps(v.trie, stacks, start))


def test_a_table_that_grew_too_large_begins_anew(monkeypatch):
    trie = Vocabulary([b"a", b"(a)", b"((", b"))"]).trie
    machine = grammar('root ::= "(" root ")" | "a"')
    monkeypatch.setattr(walk_file, "MOST_TABLE_STATES", 3)
    table = MoveTable(machine.step, machine.kinds)
    for text in (b"", b"(", b"((a", b"(", b"((("):
        state = read(machine, text)
        nodes, _ = table.walk(trie, state)
        assert nodes.tolist() == np.flatnonzero(walk(trie, machine, state)).tolist()


@pytest.mark.parametrize("text", [b"", b'{"a":["', b"[1"])
def test_the_quick_walk_of_json_is_the_plain_walk_on_a_large_vocabulary(text):
    trie = Vocabulary.llama3().trie
    machine = json()
    state = read(machine, text)
    assert (live_nodes(trie, machine, state) == walk(trie, machine, state)).all()
