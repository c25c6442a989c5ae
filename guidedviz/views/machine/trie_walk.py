"""The walk of a trie as a film: one frame per node that the machine is asked about."""

from collections.abc import Hashable
from dataclasses import replace
from functools import partial
from typing import Any

from guidedviz.machines.machine import Machine, as_machine
from guidedviz.machines.visible import counted, visible
from guidedviz.machines.work import reach
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
    trie, state = vocabulary.trie, machine.initial if state is None else state
    check_watchable("trie_frames", len(trie), "nodes", "a toy vocabulary")
    reached, whole = {0: state} | dict(walk_steps(trie, machine, state)), sketch_trie(trie, vocabulary)
    live = {node: machine.describe(after) for node, after in reached.items()}
    said = f"{counted(len(vocabulary.text_ids), 'token')}, {counted(len(trie) - 1, 'node')} below the start"
    said += f": a ring marks where a token ends. The machine is in {live[0]}."
    frames, waiting = [whole.frame(said, {0})], [*reversed(_under(trie, 0))]
    while waiting:
        child = waiting.pop()
        above = int(trie.parent[child])
        before, sign, source = frames[-1], visible(bytes([int(trie.byte[child])])), live[above]
        if child in live:
            waiting += reversed(_under(trie, child))
            legal = f"{before.names[child]} is legal." if child in before.accepting else "on to what is below."
            words = f'"{sign}" is read, {source} to {live[child]}: {legal}'
            frames.append(before.frame(words, before.lit | {child}, before.lit_arrows | {f"{above}-{child}"}))
        else:
            lost = frozenset(reach([child], partial(_under, trie)))
            cut = lost.union(*(nodes for _, nodes in before.groups))
            lost_said = "the subtree is cut, " * (len(lost) > 1) + _say_tokens(before, lost)
            words = f'"{sign}" cannot be read in {source}: {lost_said} illegal.'
            frames.append(replace(before, words=words, groups=(("cut", cut),)))
    found = frames[-1].lit & whole.accepting
    said = f"The walk is over: {_say_tokens(whole, found)} legal in {live[0]}. "
    said += f"The machine was asked about {len(frames) - 1} of these nodes."
    return [*frames, replace(frames[-1], words=said, lit=found)]


def sketch_trie(trie: Trie, vocabulary: Vocabulary) -> Sketch:
    """The trie; a node's name is its prefix, and a node where a piece ends is accepting.

    >>> v = Vocabulary([b"a", b"ab"])
    >>> sketch_trie(v.trie, v).names
    ('start', 'a', 'ab')
    """
    begun = [b""]
    for child in range(1, len(trie)):
        begun.append(begun[trie.parent[child]] + bytes([int(trie.byte[child])]))
    arrows = (Arrow(int(trie.parent[n]), n, ((int(trie.byte[n]),) * 2,)) for n in range(1, len(trie)))
    names = ("start", *map(visible, begun[1:]))
    ends = frozenset(map(int, trie.node_of[list(vocabulary.text_ids)]))
    return Sketch(names, tuple(arrows), 0, ends, ring="a token ends here")


def _under(trie: Trie, node: int) -> range:
    """The children of a node."""
    return range(int(trie.first[node]), int(trie.first[node + 1]))


def _say_tokens(sketch: Sketch, nodes: frozenset[int]) -> str:
    """The pieces that end in these nodes, with the verb."""
    named = [sketch.names[node] for node in sorted(nodes) if node in sketch.accepting] or ["no token"]
    return f"{named[0]} is" if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]} are"
