"""The frames of an NFA that reads a text: it is in several states at the same time, and all of them are lit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from guidedviz.machines.regular.nfa import NFA
from guidedviz.machines.regular.regex import machine_stages
from guidedviz.machines.visible import counted, name_node, visible
from guidedviz.machines.work import reach
from guidedviz.sketches.construction import list_names, watchable
from guidedviz.sketches.sketch import Sketch, sketch_nfa

Moves = list[tuple[int, int]]  # source, target


def nfa_reading_frames(regex: str, text: str) -> list[Sketch]:
    """Two frames per byte: the states that the byte leads to, then those that ε edges add.

    >>> for frame in nfa_reading_frames("a?b|a", "a"):
    ...     print(sorted(frame.lit), frame.words)
    [0] Nothing is read. The NFA starts in n0.
    [0, 2] ε edges add n2: the NFA is in 2 states.
    [1, 2] "a" is read. It leads to n1 n2.
    [1, 2] The text ends. n1 is lit and accepting: the NFA accepts it.
    """
    nfa = watchable(regex, machine_stages(regex)[0])
    whole = sketch_nfa(nfa)
    frames = [_frame(whole, {nfa.initial}, [], f"Nothing is read. The NFA starts in {name_node(nfa.initial)}.")]
    states = _add_closure(frames, nfa, {nfa.initial})
    for byte in text.encode():
        moves = moves_by(nfa, states, byte)
        if not moves:
            words = f'No lit state reads "{visible(bytes([byte]))}": the NFA refuses the text.'
            return [*frames, _frame(whole, states, [], words)]
        states = {target for _, target in moves}
        words = f'"{visible(bytes([byte]))}" is read. It leads to {_say(states)}.'
        frames.append(_frame(whole, states, moves, words))
        states = _add_closure(frames, nfa, states)
    end, lit = name_node(nfa.accepting), nfa.accepting in states
    verdict = "lit and accepting: the NFA accepts it" if lit else "accepting and not lit: the NFA refuses it"
    return [*frames, _frame(whole, states, [], f"The text ends. {end} is {verdict}.")]


def moves_by(nfa: NFA, states: Iterable[int], byte: int) -> Moves:
    """The edges that read this byte from these states.

    >>> moves_by(gv.machines.machine_stages("a?b|a")[0], {0}, ord("a"))
    [(0, 2), (0, 1)]
    """
    edges = ((state, edge) for state in sorted(states) for edge in nfa.edges[state])
    return [(state, target) for state, (low, high, target) in edges if low <= byte <= high]


def _add_closure(frames: list[Sketch], nfa: NFA, states: set[int]) -> set[int]:
    """The closure over ε edges, and its frame if it adds a state."""
    closed = set(reach(states, nfa.epsilon.__getitem__))
    if added := closed - states:
        moves = [(state, target) for state in closed for target in nfa.epsilon[state]]
        words = f"ε edges add {_say(added)}: the NFA is in {counted(len(closed), 'state')}."
        frames.append(_frame(frames[0], closed, moves, words))
    return closed


def _frame(whole: Sketch, lit: Iterable[int], moves: Moves, words: str) -> Sketch:
    return replace(whole, lit=frozenset(lit), lit_arrows=frozenset(moves), words=words)


def _say(states: Iterable[int]) -> str:
    return list_names(map(name_node, sorted(states)))
