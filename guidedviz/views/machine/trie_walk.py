"""The walk of a trie as a film: one frame per node that the machine is asked about."""

from collections.abc import Hashable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from guidedviz.machines.graph import reach
from guidedviz.machines.machine import Machine, as_machine
from guidedviz.machines.visible import counted, visible
from guidedviz.tokens.trie import Trie
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.tokens.walk import walk_steps
from guidedviz.views.layout.sketch import Arrow, Sketch
from guidedviz.views.machine.film import check_watchable


def trie_frames(machine: Machine[Any], vocabulary: Vocabulary, state: Hashable | None = None) -> list[Sketch]:
    """One frame per node that the machine is asked about, depth first, from a state, by default the initial one.

    >>> for frame in trie_frames(gv.regex("3+"), gv.Vocabulary([b"3", b"33", b".", b".5"])):
    ...     print(frame.words)
    4 tokens, 4 nodes below the start: a ring marks where a token ends. The machine is in q0.
    "." cannot be read in q0: the subtree is cut, . and .5 are illegal.
    "3" is read, q0 to q1: 3 is legal.
    "3" is read, q1 to q1: 33 is legal.
    The walk is over: 3 and 33 are legal in q0. The machine was asked about 3 of these nodes.
    """
    machine = as_machine(machine, "trie_frames")
    trie = vocabulary.trie
    state = machine.initial if state is None else state
    check_watchable("trie_frames", len(trie), "nodes", "a toy vocabulary")
    names = {0: machine.describe(state)}  # of the machine's state at each node that it reaches
    for node, after in walk_steps(trie, machine, state):
        names[node] = machine.describe(after)
    whole = sketch_trie(trie, vocabulary)
    tokens = counted(len(vocabulary.text_ids), "token")
    nodes = counted(len(trie) - 1, "node")
    size = f"{tokens}, {nodes} below the start"
    frames = [whole.frame(f"{size}: a ring marks where a token ends. The machine is in {names[0]}.", {0})]
    waiting = [*reversed(_children(trie, 0))]
    while waiting:
        node = waiting.pop()
        if node in names:
            waiting += reversed(_children(trie, node))
            frames.append(_read_node(frames[-1], trie, node, names))
        else:
            frames.append(_cut_node(frames[-1], trie, node, names))
    last = frames[-1]
    legal = last.lit & whole.accepting
    said = f"The walk is over: {_say_tokens(whole, legal)} legal in {names[0]}."
    asked = f"The machine was asked about {len(frames) - 1} of these nodes."
    return [*frames, replace(last, words=f"{said} {asked}", lit=legal)]


def _read_node(before: Sketch, trie: Trie, node: int, names: Mapping[int, str]) -> Sketch:
    """The frame of a node that can be read."""
    parent = int(trie.parent[node])
    legal = f"{before.names[node]} is legal." if node in before.accepting else "on to what is below."
    words = f'"{_sign_of(trie, node)}" is read, {names[parent]} to {names[node]}: {legal}'
    return before.frame(words, before.lit | {node}, before.lit_arrows | {f"{parent}-{node}"})


def _cut_node(before: Sketch, trie: Trie, node: int, names: Mapping[int, str]) -> Sketch:
    """The frame of a node that cannot be read, nor what is below it."""
    lost = frozenset(reach([node], partial(_children, trie)))
    cut = lost.union(*(nodes for _, nodes in before.groups))
    said = f"{_say_tokens(before, lost)} illegal."
    if len(lost) > 1:
        said = f"the subtree is cut, {said}"
    words = f'"{_sign_of(trie, node)}" cannot be read in {names[int(trie.parent[node])]}: {said}'
    return replace(before, words=words, groups=(("cut", cut),))


def sketch_trie(trie: Trie, vocabulary: Vocabulary) -> Sketch:
    """The trie; a node's name is its prefix, and a node where a piece ends is accepting.

    >>> v = Vocabulary([b"a", b"ab"])
    >>> sketch_trie(v.trie, v).names
    ('start', 'a', 'ab')
    """
    prefixes = [b""]
    arrows = []
    for node in range(1, len(trie)):
        parent = int(trie.parent[node])
        byte = int(trie.byte[node])
        prefixes.append(prefixes[parent] + bytes([byte]))
        arrows.append(Arrow(parent, node, ((byte, byte),)))
    names = ("start", *map(visible, prefixes[1:]))
    ends = frozenset(map(int, trie.node_of[list(vocabulary.text_ids)]))
    return Sketch(names, tuple(arrows), 0, ends, ring="a token ends here")


def _children(trie: Trie, node: int) -> range:
    return range(int(trie.first[node]), int(trie.first[node + 1]))


def _sign_of(trie: Trie, node: int) -> str:
    """The byte that leads to a node."""
    return visible(bytes([int(trie.byte[node])]))


def _say_tokens(sketch: Sketch, nodes: frozenset[int]) -> str:
    """The pieces that end in these nodes, with the verb."""
    named = [sketch.names[node] for node in sorted(nodes) if node in sketch.accepting]
    if len(named) > 1:
        return f"{', '.join(named[:-1])} and {named[-1]} are"
    return f"{named[0]} is" if named else "no token is"
