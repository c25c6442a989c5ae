"""An NFA that reads a text, as a film: the states that each byte leads to, then those that ε edges add."""

from collections.abc import Iterable
from dataclasses import replace

from guidedviz.machines.graph import reach
from guidedviz.machines.regular.nfa import NFA
from guidedviz.machines.regular.regex import machine_stages
from guidedviz.machines.visible import counted, name_node, visible
from guidedviz.views.layout.sketch import Sketch, sketch_nfa
from guidedviz.views.machine.film import check_machine, say_nodes


def nfa_reading_frames(regex: str, text: str) -> list[Sketch]:
    """Two frames per byte: the states that the byte leads to, then those that ε edges add.

    >>> for frame in nfa_reading_frames("a?b|a", "a"):
    ...     print(sorted(frame.lit), frame.words)
    [0] Nothing is read. The NFA starts in n0.
    [0, 2] ε edges add n2: the NFA is in 2 states.
    [1, 2] "a" is read. It leads to n1 n2.
    [1, 2] The text ends. n1 is lit and accepting: the NFA accepts it.
    """
    nfa, _, _ = machine_stages(regex)
    check_machine(regex, nfa)
    data = text.encode()
    whole = replace(sketch_nfa(nfa), tape=(data, 0))
    frames = [whole.frame(f"Nothing is read. The NFA starts in {name_node(nfa.initial)}.", {nfa.initial})]
    states = _add_closure(frames, nfa, {nfa.initial})
    for read, byte in enumerate(data, 1):
        moves = moves_by(nfa, states, byte)
        sign = visible(bytes([byte]))
        if not moves:
            frames.append(whole.frame(f'No lit state reads "{sign}", so none is lit now: the NFA refuses the text.'))
            return frames
        states = {target for _, target in moves}
        whole = replace(whole, tape=(data, read))
        keys = {f"{source}-{target}" for source, target in moves}
        frames.append(whole.frame(f'"{sign}" is read. It leads to {say_nodes(states)}.', states, keys))
        states = _add_closure(frames, nfa, states)
    verdict = "accepting and not lit: the NFA refuses it"
    if nfa.accepting in states:
        verdict = "lit and accepting: the NFA accepts it"
    frames.append(whole.frame(f"The text ends. {name_node(nfa.accepting)} is {verdict}.", states))
    return frames


def moves_by(nfa: NFA, states: Iterable[int], byte: int) -> list[tuple[int, int]]:
    """The edges that read this byte from these states.

    >>> moves_by(gv.machines.machine_stages("a?b|a")[0], {0}, ord("a"))
    [(0, 2), (0, 1)]
    """
    moves = []
    for state in sorted(states):
        moves += [(state, target) for low, high, target in nfa.edges[state] if low <= byte <= high]
    return moves


def _add_closure(frames: list[Sketch], nfa: NFA, states: set[int]) -> set[int]:
    """The closure over ε edges, and its frame if it adds a state."""
    closed = set(reach(states, nfa.epsilon.__getitem__))
    added = closed - states
    if added:
        moves = {f"{state}~{target}" for state in closed for target in nfa.epsilon[state]}
        words = f"ε edges add {say_nodes(added)}: the NFA is in {counted(len(closed), 'state')}."
        frames.append(frames[-1].frame(words, closed, moves))
    return closed
