"""The frames of a trie walk: the machine descends a small trie and cuts what it cannot read."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace

from guidedviz.errors import SettingError
from guidedviz.machines.machine import Machine
from guidedviz.machines.visible import counted, visible
from guidedviz.sketches.sketch import Arrow, Sketch
from guidedviz.tokens.explain import label_state
from guidedviz.tokens.trie import Trie, walk_steps
from guidedviz.tokens.vocabulary import Vocabulary

MOST_WATCHED = 80  # nodes that a person can follow


def trie_frames(machine: Machine, vocabulary: Vocabulary, state: Hashable | None = None) -> list[Sketch]:
    """One frame per node that the machine is asked about, from a state, by default the initial one.

    >>> for frame in trie_frames(gv.regex("3+"), gv.Vocabulary([b"3", b"33", b".", b".5"])):
    ...     print(frame.words)
    4 pieces, 5 nodes: a ring marks where a piece ends. The machine is in q0.
    "." cannot be read in q0: the subtree is cut, . and .5 are illegal.
    "3" is read, q0 to q1: 3 is legal.
    "3" is read, q1 to q1: 33 is legal.
    """
    trie, state = vocabulary.trie, machine.initial if state is None else state
    if len(trie) > MOST_WATCHED:
        expected = f"at most {MOST_WATCHED}"
        raise SettingError("trie_frames", seen=f"{len(trie):,} nodes", expected=expected, hint="a toy vocabulary")
    live, whole = {0: state} | dict(walk_steps(trie, machine, state)), sketch_trie(trie, vocabulary)
    said = f"{counted(len(vocabulary.text_ids), 'piece')}, {counted(len(trie), 'node')}"
    said += f": a ring marks where a piece ends. The machine is in {label_state(state)}."
    frames = [replace(whole, words=said, lit=frozenset({0}))]
    for node in range(1, len(trie)):
        if (above := int(trie.parent[node])) in live:
            frames.append(_frame(trie, frames[-1], node, above, live))
    return frames


def _frame(trie: Trie, before: Sketch, node: int, above: int, live: Mapping[int, Hashable]) -> Sketch:
    """The next frame: one more node is live, or it is cut with all nodes below it."""
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
    """The trie; a node's name is its prefix, and a node where a piece ends is accepting.

    >>> v = Vocabulary([b"a", b"ab"])
    >>> sketch_trie(v.trie, v).names
    ('start', 'a', 'ab')
    """
    begun = [b""]
    for node in range(1, len(trie)):
        begun.append(begun[trie.parent[node]] + bytes([int(trie.byte[node])]))
    arrows = (Arrow(int(trie.parent[n]), n, ((int(trie.byte[n]),) * 2,)) for n in range(1, len(trie)))
    names = ("start", *map(visible, begun[1:]))
    return Sketch(names, tuple(arrows), 0, frozenset(map(int, trie.node_of[list(vocabulary.text_ids)])))


def _below(trie: Trie, node: int) -> frozenset[int]:
    """A node and all nodes below it."""
    found = [node]
    for one in found:
        found.extend(range(trie.first[one], trie.first[one + 1]))
    return frozenset(found)


def _say_lost(sketch: Sketch, nodes: frozenset[int]) -> str:
    lost = [sketch.names[node] for node in sorted(nodes) if node in sketch.accepting]
    if len(nodes) == 1:
        return f"{lost[0]} is illegal."
    said = f"{lost[0]} is" if len(lost) == 1 else f"{', '.join(lost[:-1])} and {lost[-1]} are"
    return f"the subtree is cut, {said} illegal."
