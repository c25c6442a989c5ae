"""The frames of two constructions: from an NFA to a DFA, from a DFA to the minimal one.

All frames of a film have the states of the last one, so one layout serves them and only arrows are added. The last
frame of a minimisation is another machine, in which every block is one state.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from guidedviz.errors import PatternError, quoted
from guidedviz.machines.regular.dfa import DFA, DFAStep, build_dfa_steps
from guidedviz.machines.regular.minimal import MinStep, first_blocks, minimise_steps, trim
from guidedviz.machines.regular.nfa import NFA
from guidedviz.machines.regular.regex import machine_stages
from guidedviz.machines.visible import name_state, visible_bytes
from guidedviz.sketches.sketch import Sketch, sketch_dfa

Automaton = TypeVar("Automaton", NFA, DFA)
MOST_WATCHED = 80  # states that a person can follow
NAMED = 6  # states that a sentence names


def dfa_frames(text: str) -> list[Sketch]:
    """The subset construction, state by state; a name contains the set of NFA states.

    >>> for frame in dfa_frames("ab*"):
    ...     print(frame.words)
    From n0, which is q0: a leads to q1 {1,3} (new).
    From n1 n3, which is q1: b leads to q1 {1,3}.
    """
    nfa, dfa, _ = machine_stages(text)
    watchable(text, dfa)
    steps = list(build_dfa_steps(nfa))
    whole = replace(sketch_dfa(dfa), names=tuple(_name(step.state, step.subset) for step in steps))
    frames, met = [], {0}
    for step in steps:
        arrows = tuple(arrow for arrow in whole.arrows if arrow.source <= step.state)
        taken = frozenset((step.state, target) for _, _, target in step.edges)
        words = _say_moves(step, whole.names, met)
        frames.append(replace(whole, arrows=arrows, words=words, lit=frozenset({step.state}), lit_arrows=taken))
        met.update(target for _, _, target in step.edges)
    return frames


def minimal_frames(text: str) -> list[Sketch]:
    """Hopcroft's partition refinement: blocks are split until no byte distinguishes their states, then merged.

    >>> for frame in minimal_frames("ab|cb"):
    ...     print([title + str(sorted(states)) for title, states in frame.groups], frame.words)
    ['A[3]', 'B[0, 1, 2]'] In A the text may end, in B it may not.
    ['A[3]', 'B[0]', 'C[1, 2]'] On b, q1 q2 lead into A and the rest of B does not: they become C.
    [] Each block becomes one state: 3 states of 4.
    """
    _, dfa, minimal = machine_stages(text)
    trimmed = trim(watchable(text, dfa))
    whole, blocks = sketch_dfa(trimmed), [frozenset(block) for block in first_blocks(trimmed)]
    words = "In A the text may end, in B it may not." if len(blocks) == 2 else "All states are alike so far: one block."
    frames = [replace(whole, groups=_title(blocks), words=words)]
    for step in minimise_steps(dfa):
        taken = _taken(trimmed, step)
        words = _say_split(step, whole.names, blocks)
        blocks[step.block] -= step.moved
        blocks.append(step.moved)
        frames.append(replace(whole, groups=_title(blocks), words=words, lit=step.moved, lit_arrows=taken))
    return [*frames, _merged(dfa, minimal)]


def merged_states(before: DFA, after: DFA) -> tuple[frozenset[int], ...]:
    """For every state of a smaller machine, the states of the larger one that it merges.

    >>> merged_states(*machine_stages("ab|cb")[1:])
    (frozenset({0}), frozenset({1, 2}), frozenset({3}))
    """
    together: list[set[int]] = [set() for _ in after.edges]
    together[0].add(0)
    for state, twin in (queue := [(0, 0)]):
        for low, _, target in before.edges[state]:
            onward = after.step(twin, low)
            if onward is not None and target not in together[onward]:
                together[onward].add(target)
                queue.append((target, onward))
    return tuple(map(frozenset, together))


def watchable(text: str, machine: Automaton) -> Automaton:
    """The machine, unless a person could not follow it."""
    if len(machine) > MOST_WATCHED:
        seen = f"{len(machine):,} {type(machine).__name__} states"
        hint = "a shorter one, or the result alone: gv.draw_machine(gv.regex(text))"
        raise PatternError(f"film of {quoted(text, 40)}", seen=seen, expected=f"at most {MOST_WATCHED}", hint=hint)
    return machine


def list_names(names: Iterable[str]) -> str:
    """Names in a sentence, the first few of them."""
    named = list(names)
    return " ".join(named[:NAMED]) + (f" and {len(named) - NAMED} more" if len(named) > NAMED else "")


def _name(state: int, subset: frozenset[int]) -> str:
    inside = sorted(subset)
    return f"{name_state(state)} {{{','.join(map(str, inside[:3]))}{',…' if len(inside) > 3 else ''}}}"


def _say_moves(step: DFAStep, names: tuple[str, ...], met: set[int]) -> str:
    ranges: dict[int, list[tuple[int, int]]] = {}
    for low, high, target in step.edges:
        ranges.setdefault(target, []).append((low, high))
    ways = [
        f"{_show_ranges(spans)} leads to {names[target]}{'' if target in met else ' (new)'}"
        for target, spans in ranges.items()
    ]
    here = f"{list_names(f'n{state}' for state in sorted(step.subset))}, which is q{step.state}"
    return f"From {here}: {', '.join(ways)}." if ways else f"From {here}, no byte leads on."


def _show_ranges(ranges: Iterable[tuple[int, int]]) -> str:
    """Ranges of bytes as text."""
    return visible_bytes(byte for low, high in ranges for byte in range(low, high + 1))


def title_of(block: int) -> str:
    """The letter of a block.

    >>> title_of(0), title_of(27)
    ('A', 'B1')
    """
    return chr(ord("A") + block % 26) + (str(block // 26) if block >= 26 else "")


def _title(blocks: Iterable[frozenset[int]]) -> tuple[tuple[str, frozenset[int]], ...]:
    return tuple((title_of(number), block) for number, block in enumerate(blocks))


def _say_split(step: MinStep, names: tuple[str, ...], blocks: list[frozenset[int]]) -> str:
    who = list_names(names[state] for state in sorted(step.moved))
    into = title_of(blocks.index(step.into)) if step.into in blocks else list_names(names[s] for s in sorted(step.into))
    lead, become = ("leads", "it becomes") if len(step.moved) == 1 else ("lead", "they become")
    old, new = title_of(step.block), title_of(step.new)
    return f"On {_show_ranges(step.by)}, {who} {lead} into {into} and the rest of {old} does not: {become} {new}."


def _taken(dfa: DFA, step: MinStep) -> frozenset[tuple[int, int]]:
    """The arrows that distinguish the moved states."""
    byte = step.by[0][0]
    return frozenset((state, target) for state in step.moved if (target := dfa.step(state, byte)) in step.into)


def _merged(before: DFA, after: DFA) -> Sketch:
    names = tuple(_name(state, old) for state, old in enumerate(merged_states(before, after)))
    same = len(before) == len(after)
    merged = f"Each block becomes one state: {len(after)} states of {len(before)}."
    words = "No two states are equivalent: all stay." if same else merged
    return replace(sketch_dfa(after), names=names, words=words)
