"""The frames of the three constructions of a regex: NFA, DFA, minimal DFA.

All frames of a film have the states of the last one, so one layout serves them and only arrows are added. The last
frame of a minimisation is another machine, in which every block is one state.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from guidedviz.errors import PatternError, quoted
from guidedviz.machines.names import name_node, name_state
from guidedviz.machines.regular.dfa import DFA, DFAStep, build_dfa_steps
from guidedviz.machines.regular.minimal import MinStep, first_blocks, minimise_steps, trim
from guidedviz.machines.regular.nfa import NFA, Edge, NFAStep, build_nfa_steps
from guidedviz.machines.regular.regex import machine_stages, parse_regex
from guidedviz.machines.regular.show_regex import show_regex
from guidedviz.machines.tree import Concat, Either, Repeat
from guidedviz.machines.visible import visible_bytes
from guidedviz.sketches.sketch import Sketch, sketch_dfa, sketch_nfa

Automaton = TypeVar("Automaton", NFA, DFA)
MOST_WATCHED = 80  # states that a person can follow
MOST_FRAMES = 300
NAMED = 6  # states that a sentence names


def nfa_frames(text: str) -> list[Sketch]:
    """Thompson's construction, from the whole expression to its parts.

    >>> for frame in nfa_frames("a?|b"):
    ...     print(frame.words)
    a?|b is any one of 2 ways from n0 to n1.
    a? may be left out: a free edge goes around it.
    a leads from n0 to n1.
    b leads from n0 to n1.
    """
    size = len(watchable(text, machine_stages(text)[0]))
    steps = list(build_nfa_steps(parse_regex(text)))
    if len(steps) > MOST_FRAMES:
        raise _too_long(text, f"{len(steps):,} steps", MOST_FRAMES)
    edges: list[list[Edge]] = [[] for _ in range(size)]
    free: list[list[int]] = [[] for _ in range(size)]
    frames = []
    for step in steps:
        for source, edge in step.edges:
            edges[source].append(edge)
        for source, target in step.free:
            free[source].append(target)
        new = {(source, edge[2]) for source, edge in step.edges} | set(step.free)
        sketch = sketch_nfa(NFA(tuple(map(tuple, edges)), tuple(map(tuple, free))))
        lit = frozenset({step.start, step.end})
        frames.append(replace(sketch, words=_say_wiring(step), lit=lit, lit_arrows=frozenset(new)))
    return frames


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
        raise _too_long(text, f"{len(machine):,} {type(machine).__name__} states", MOST_WATCHED)
    return machine


def _too_long(text: str, seen: str, most: int) -> PatternError:
    hint = "a shorter one, or the result alone: gv.draw_machine(gv.regex(text))"
    return PatternError(f"film of {quoted(text, 40)}", seen=seen, expected=f"at most {most}", hint=hint)


def _say_wiring(step: NFAStep) -> str:
    """The meaning of a part of the syntax tree, and its edges."""
    start, end, shown = name_node(step.start), name_node(step.end), show_regex(step.part)
    shown = shown if len(shown) <= 40 else shown[:39] + "…"
    match step.part:
        case Concat(()):
            return f"Nothing to read: a free edge leads from {start} to {end}."
        case Concat(parts):
            joints = [name_node(joint) for _, _, joint in step.inside[:-1]]
            return f"{shown} is {len(parts)} parts in a row, by way of {list_names(joints)}."
        case Either(options):
            return f"{shown} is any one of {len(options)} ways from {start} to {end}."
        case Repeat():
            return f"{shown} {_say_repeat(step.part)}"
    inner = any(source != step.start for source, _ in step.edges)
    return f"{shown} leads from {start} to {end}{', byte by byte' if inner else ''}."


def _say_repeat(repeat: Repeat) -> str:
    low, high = repeat.low, repeat.high
    if high is None:
        copies = f"is {low} copies, and the last" if low > 1 else "must come, and it"
        return f"{copies} may come again: a free edge leads back." if low else "is a loop, with free edges in and out."
    if high == 0:
        return "is nothing: a free edge."
    if (low, high) == (0, 1):
        return "may be left out: a free edge goes around it."
    optional = "" if low == high else f", and free edges leave after each from {low} on"
    return f"is {high} copies in a row{optional}."


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
