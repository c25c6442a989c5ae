"""The walk as a film: a small trie, and a machine that goes down it and cuts whatever it cannot read."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace

from guidedviz.errors import SettingError
from guidedviz.machines.machine import Machine
from guidedviz.machines.sketch import Arrow, Sketch
from guidedviz.machines.visible import counted, visible
from guidedviz.tokens.explain import label_state
from guidedviz.tokens.trie import Trie, build_trie, walk_steps
from guidedviz.tokens.vocabulary import Vocabulary

MOST_WATCHED = 80  # nodes of a film that a person can follow


def trie_frames(machine: Machine, vocabulary: Vocabulary, state: Hashable | None = None) -> list[Sketch]:
    """One frame for every node that the machine is asked about, from a state, the initial one by default.

    >>> from guidedviz.machines.regex import regex
    >>> for frame in trie_frames(regex("3+"), Vocabulary([b"3", b"33", b".", b".5"])):
    ...     print(frame.words)
    4 pieces, 5 nodes: a ring marks where a piece ends. The machine is in q0.
    "." cannot be read in q0: illegal with all below, . and .5.
    "3" is read, q0 to q1: 3 is legal.
    "3" is read, q1 to q1: 33 is legal.
    """
    trie, state = build_trie(vocabulary), machine.initial if state is None else state
    if len(trie) > MOST_WATCHED:
        expected = f"at most {MOST_WATCHED}"
        raise SettingError("trie_frames", seen=f"{len(trie):,} nodes", expected=expected, hint="a toy vocabulary")
    live, whole = {0: state} | dict(walk_steps(trie, machine, state)), sketch_trie(trie, vocabulary)
    said = (
        f"{counted(len(vocabulary.text_ids), 'piece')}, {counted(len(trie), 'node')}: a ring marks where a piece ends."
    )
    frames = [replace(whole, words=f"{said} The machine is in {label_state(state)}.", lit=frozenset({0}))]
    for node in range(1, len(trie)):
        if (above := int(trie.parent[node])) in live:
            frames.append(_frame(trie, frames[-1], node, above, live))
    return frames


def _frame(trie: Trie, before: Sketch, node: int, above: int, live: Mapping[int, Hashable]) -> Sketch:
    """One node more is lit, or it is cut with all below."""
    sign, source = visible(bytes([int(trie.byte[node])])), label_state(live[above])
    if node in live:
        legal = f"{before.names[node]} is legal." if node in before.accepting else "on to what is below."
        words = f'"{sign}" is read, {source} to {label_state(live[node])}: {legal}'
        return replace(before, words=words, lit=before.lit | {node}, lit_arrows=before.lit_arrows | {(above, node)})
    lost = _below(trie, node)
    cut = lost.union(*(nodes for _, nodes in before.groups))
    words = f'"{sign}" cannot be read in {source}: {_say_lost(before, lost)}'
    return replace(before, words=words, groups=(("cut", cut),))


def sketch_trie(trie: Trie, vocabulary: Vocabulary) -> Sketch:
    """The tree with the beginning that each node stands for; where a piece ends is marked as accepting.

    >>> v = Vocabulary([b"a", b"ab"])
    >>> sketch_trie(build_trie(v), v).names
    ('start', 'a', 'ab')
    """
    begun = [b""]
    for node in range(1, len(trie)):
        begun.append(begun[trie.parent[node]] + bytes([int(trie.byte[node])]))
    arrows = (Arrow(int(trie.parent[n]), n, ((int(trie.byte[n]),) * 2,)) for n in range(1, len(trie)))
    names = ("start", *map(visible, begun[1:]))
    return Sketch(names, tuple(arrows), 0, frozenset(map(int, trie.node_of[list(vocabulary.text_ids)])))


def _below(trie: Trie, node: int) -> frozenset[int]:
    """A node and everything under it."""
    found = [node]
    for one in found:
        found.extend(range(trie.first[one], trie.first[one + 1]))
    return frozenset(found)


def _say_lost(sketch: Sketch, nodes: frozenset[int]) -> str:
    lost = [sketch.names[node] for node in sorted(nodes) if node in sketch.accepting]
    if len(nodes) == 1:
        return f"{lost[0]} is illegal."
    said = ", ".join(lost[:-1]) + " and " * (len(lost) > 1) + lost[-1]
    return f"illegal with all below, {said}."
