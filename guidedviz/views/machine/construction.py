"""The two constructions of a DFA as films: from an NFA by sets of states, and to the smallest one by splitting blocks.

All frames of a film have the states of the last one, so one layout serves them and only arrows are added. The last
frame of a minimisation is another machine, in which every block is one state.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from guidedviz.machines.graph import grouped, reach
from guidedviz.machines.regular.dfa import DFA, DFAStep, build_dfa_steps
from guidedviz.machines.regular.minimal import MinStep, first_blocks, minimise_steps, trim
from guidedviz.machines.regular.regex import machine_stages
from guidedviz.machines.visible import name_state, visible_bytes
from guidedviz.views.layout.sketch import Groups, Sketch, sketch_dfa
from guidedviz.views.machine.film import check_machine, list_names, say_nodes


def dfa_frames(text: str) -> list[Sketch]:
    """The subset construction, state by state; a name contains the set of NFA states.

    >>> for frame in dfa_frames("ab*"):
    ...     print(frame.words)
    From n0, which is q0: a leads to q1 {1,2,3} (new).
    From n1 n2 n3, which is q1: b leads to q2 {1,3} (new).
    From n1 n3, which is q2: b leads to q2 {1,3}.
    """
    nfa, dfa, _ = machine_stages(text)
    check_machine(text, dfa)
    steps = list(build_dfa_steps(nfa, whole=True))
    names = tuple(_name_set(step.state, step.subset) for step in steps)
    whole = replace(sketch_dfa(dfa), names=names)
    frames = []
    met = {0}
    for step in steps:
        targets = {target for _, _, target in step.edges}
        arrows = tuple(arrow for arrow in whole.arrows if arrow.source <= step.state)
        shown = replace(whole, arrows=arrows)
        moves = {f"{step.state}-{target}" for target in targets}
        frames.append(shown.frame(_say_moves(step, whole, met), {step.state}, moves))
        met |= targets
    return frames


def _say_moves(step: DFAStep, whole: Sketch, met: set[int]) -> str:
    moves = []
    for arrow in whole.arrows:
        if arrow.source == step.state:
            move = f"{_say_byte_ranges(arrow.ranges)} leads to {whole.names[arrow.target]}"
            moves.append(move if arrow.target in met else f"{move} (new)")
    here = f"From {say_nodes(step.subset)}, which is q{step.state}"
    if not moves:
        return f"{here}, no byte leads on."
    return f"{here}: {', '.join(moves)}."


def _name_set(state: int, subset: frozenset[int]) -> str:
    inside = [str(one) for one in sorted(subset)]
    if len(inside) > 4:
        inside = [*inside[:4], "…"]
    return f"{name_state(state)} {{{','.join(inside)}}}"


def _say_byte_ranges(ranges: Iterable[tuple[int, int]]) -> str:
    return visible_bytes(byte for low, high in ranges for byte in range(low, high + 1))


# --- to the smallest DFA ---


def minimal_frames(text: str) -> list[Sketch]:
    """Hopcroft's partition refinement: blocks are split until no byte distinguishes their states, then merged.

    >>> for frame in minimal_frames("ab|cb"):
    ...     print([title + str(sorted(states)) for title, states in frame.groups], frame.words)
    ['A[3]', 'B[0, 1, 2]'] In A the text may end, in B it may not.
    ['A[3]', 'B[0]', 'C[1, 2]'] On b, q1 q2 lead into A and the rest of B does not: they become C.
    [] Each block becomes one state: 3 states of 4.
    """
    _, dfa, minimal = machine_stages(text)
    check_machine(text, dfa)
    trimmed = trim(dfa)
    whole = sketch_dfa(trimmed)
    blocks = [frozenset(block) for block in first_blocks(trimmed)]
    words = "In A the text may end, in B it may not." if len(blocks) == 2 else "All states are alike so far: one block."
    frames = [whole.frame(words, groups=_lettered(blocks))]
    for step in minimise_steps(dfa):
        words = _say_split(step, whole.names, blocks)
        blocks[step.block] -= step.moved
        blocks.append(step.moved)
        byte = step.by[0][0]
        targets = {state: trimmed.step(state, byte) for state in step.moved}
        moves = {f"{state}-{target}" for state, target in targets.items() if target in step.into}
        frames.append(whole.frame(words, step.moved, moves, groups=_lettered(blocks)))
    merged = merged_states(dfa, minimal)
    names = tuple(_name_set(state, old) for state, old in enumerate(merged))
    words = "No two states are equivalent: all stay."
    if len(minimal) < len(dfa):
        words = f"Each block becomes one state: {len(minimal)} states of {len(dfa)}."
    return [*frames, replace(sketch_dfa(minimal), names=names, words=words)]


def merged_states(before: DFA, after: DFA) -> tuple[frozenset[int], ...]:
    """For every state of a smaller machine, the states of the larger one that it merges.

    >>> merged_states(*machine_stages("ab|cb")[1:])
    (frozenset({0}), frozenset({1, 2}), frozenset({3}))
    """

    def follow(pair: tuple[int, int]) -> Iterator[tuple[int, int]]:
        for low, _, target in before.edges[pair[0]]:
            twin = after.step(pair[1], low)
            if twin is not None:
                yield target, twin

    pairs = reach([(0, 0)], follow)
    merged = grouped((twin, state) for state, twin in pairs)
    return tuple(frozenset(merged[twin]) for twin in range(len(after)))


def _say_split(step: MinStep, names: tuple[str, ...], blocks: list[frozenset[int]]) -> str:
    if step.into in blocks:
        into = title_of(blocks.index(step.into))
    else:
        into = list_names(names[state] for state in sorted(step.into))
    moved = list_names(names[state] for state in sorted(step.moved))
    lead, become = ("leads", "it becomes") if len(step.moved) == 1 else ("lead", "they become")
    rest = f"the rest of {title_of(step.block)} does not"
    return f"On {_say_byte_ranges(step.by)}, {moved} {lead} into {into} and {rest}: {become} {title_of(step.new)}."


def title_of(block: int) -> str:
    """The letter of a block.

    >>> title_of(0), title_of(27)
    ('A', 'B1')
    """
    letter = chr(ord("A") + block % 26)
    return f"{letter}{block // 26}" if block >= 26 else letter


def _lettered(blocks: Iterable[frozenset[int]]) -> Groups:
    return tuple((title_of(number), block) for number, block in enumerate(blocks))
