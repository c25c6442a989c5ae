"""Constructions as films: from an NFA to a DFA, to the minimal one, an NFA that reads a text, a walk of a trie.

All frames of a film have the states of the last one, so one layout serves them and only arrows are added. The last
frame of a minimisation is another machine, in which every block is one state.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from guidedviz.errors import SettingError, quoted
from guidedviz.machines.machine import Machine, as_machine
from guidedviz.machines.regular.dfa import DFA, DFAStep, build_dfa_steps
from guidedviz.machines.regular.minimal import MinStep, first_blocks, minimise_steps, trim
from guidedviz.machines.regular.nfa import NFA
from guidedviz.machines.regular.regex import machine_stages
from guidedviz.machines.visible import counted, name_node, name_state, visible, visible_bytes
from guidedviz.machines.work import grouped, reach
from guidedviz.markup import Element, node
from guidedviz.tokens.trie import Trie
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.tokens.walk import walk_steps
from guidedviz.views.figure import drawing, moved
from guidedviz.views.layout.diagram import lay_out
from guidedviz.views.layout.sketch import Arrow, Groups, Sketch, sketch_dfa, sketch_nfa, sketch_of
from guidedviz.views.machine.highlight import STYLE, arrow_key, write_diagram
from guidedviz.views.machine.picture import CELL, EDGE, STRIP, bare, mark_bytes, write_bytes

MOST_WATCHED = 80  # states that a person can follow
NAMED = 9  # states that a sentence names


def dfa_frames(text: str) -> list[Sketch]:
    """The subset construction, state by state; a name contains the set of NFA states.

    >>> for frame in dfa_frames("ab*"):
    ...     print(frame.words)
    From n0, which is q0: a leads to q1 {1,2,3} (new).
    From n1 n2 n3, which is q1: b leads to q2 {1,3} (new).
    From n1 n3, which is q2: b leads to q2 {1,3}.
    """
    nfa, dfa, _ = machine_stages(text)
    _check_machine(text, dfa)
    steps = list(build_dfa_steps(nfa, whole=True))
    whole = replace(sketch_dfa(dfa), names=tuple(_name(step.state, step.subset) for step in steps))
    frames, met = [], {0}
    for step in steps:
        shown = replace(whole, arrows=tuple(arrow for arrow in whole.arrows if arrow.source <= step.state))
        moves = {f"{step.state}-{target}" for _, _, target in step.edges}
        frames.append(shown.frame(_say_moves(step, whole, met), {step.state}, moves))
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
    _check_machine(text, dfa)
    trimmed = trim(dfa)
    whole, blocks = sketch_dfa(trimmed), [frozenset(block) for block in first_blocks(trimmed)]
    words = "In A the text may end, in B it may not." if len(blocks) == 2 else "All states are alike so far: one block."
    frames = [whole.frame(words, groups=_lettered(blocks))]
    for step in minimise_steps(dfa):
        words, byte = _say_split(step, whole.names, blocks), step.by[0][0]
        blocks[step.block] -= step.moved
        blocks.append(step.moved)
        moves = {f"{s}-{target}" for s in step.moved if (target := trimmed.step(s, byte)) in step.into}
        frames.append(whole.frame(words, step.moved, moves, groups=_lettered(blocks)))
    names = tuple(_name(state, old) for state, old in enumerate(merged_states(dfa, minimal)))
    merged = f"Each block becomes one state: {len(minimal)} states of {len(dfa)}."
    words = "No two states are equivalent: all stay." if len(dfa) == len(minimal) else merged
    return [*frames, replace(sketch_dfa(minimal), names=names, words=words)]


def merged_states(before: DFA, after: DFA) -> tuple[frozenset[int], ...]:
    """For every state of a smaller machine, the states of the larger one that it merges.

    >>> merged_states(*machine_stages("ab|cb")[1:])
    (frozenset({0}), frozenset({1, 2}), frozenset({3}))
    """

    def follow(pair: tuple[int, int]) -> Iterator[tuple[int, int]]:
        for low, _, target in before.edges[pair[0]]:
            if (twin := after.step(pair[1], low)) is not None:
                yield target, twin

    merged = grouped((twin, state) for state, twin in reach([(0, 0)], follow))
    return tuple(frozenset(merged[twin]) for twin in range(len(after)))


def check_watchable(where: str, size: int, of: str, hint: str, most: int = MOST_WATCHED) -> None:
    """Refuse a film that a person could not follow."""
    if size > most:
        raise SettingError(where, seen=f"{size:,} {of}", expected=f"at most {most}", hint=hint)


def _check_machine(text: str, machine: NFA | DFA) -> None:
    of, hint = f"{type(machine).__name__} states", "a shorter one, or the result alone: gv.draw_machine(gv.regex(text))"
    check_watchable(f"film of {quoted(text, 40)}", len(machine), of, hint)


def list_names(names: Iterable[str]) -> str:
    """Names in a sentence, the first few of them."""
    named = list(names)
    return " ".join(named[:NAMED]) + (f" and {len(named) - NAMED} more" if len(named) > NAMED else "")


def _name(state: int, subset: frozenset[int]) -> str:
    inside = sorted(subset)
    return f"{name_state(state)} {{{','.join(map(str, inside[:4]))}{',…' if len(inside) > 4 else ''}}}"


def _say_moves(step: DFAStep, whole: Sketch, met: set[int]) -> str:
    out = [(_show_ranges(arrow.ranges), arrow.target) for arrow in whole.arrows if arrow.source == step.state]
    ways = [f"{read} leads to {whole.names[target]}" + " (new)" * (target not in met) for read, target in out]
    here = f"{_say(step.subset)}, which is q{step.state}"
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


def _lettered(blocks: Iterable[frozenset[int]]) -> Groups:
    return tuple((title_of(number), block) for number, block in enumerate(blocks))


def _say_split(step: MinStep, names: tuple[str, ...], blocks: list[frozenset[int]]) -> str:
    who, into = (list_names(names[state] for state in sorted(states)) for states in (step.moved, step.into))
    into = title_of(blocks.index(step.into)) if step.into in blocks else into
    lead, become = ("leads", "it becomes") if len(step.moved) == 1 else ("lead", "they become")
    old, new = title_of(step.block), title_of(step.new)
    return f"On {_show_ranges(step.by)}, {who} {lead} into {into} and the rest of {old} does not: {become} {new}."


# --- an NFA that reads a text ---


def nfa_reading_frames(regex: str, text: str) -> list[Sketch]:
    """Two frames per byte: the states that the byte leads to, then those that ε edges add.

    >>> for frame in nfa_reading_frames("a?b|a", "a"):
    ...     print(sorted(frame.lit), frame.words)
    [0] Nothing is read. The NFA starts in n0.
    [0, 2] ε edges add n2: the NFA is in 2 states.
    [1, 2] "a" is read. It leads to n1 n2.
    [1, 2] The text ends. n1 is lit and accepting: the NFA accepts it.
    """
    nfa = machine_stages(regex)[0]
    _check_machine(regex, nfa)
    data, states = text.encode(), {nfa.initial}
    whole = replace(sketch_nfa(nfa), tape=(data, 0))
    frames = [whole.frame(f"Nothing is read. The NFA starts in {name_node(nfa.initial)}.", states)]
    states = _add_closure(frames, nfa, states)
    for place, byte in enumerate(data, 1):
        moves, sign = moves_by(nfa, states, byte), visible(bytes([byte]))
        if not moves:
            return [*frames, whole.frame(f'No lit state reads "{sign}", so none is lit now: the NFA refuses the text.')]
        states, whole = {target for _, target in moves}, replace(whole, tape=(data, place))
        words, keys = f'"{sign}" is read. It leads to {_say(states)}.', {f"{one}-{other}" for one, other in moves}
        frames.append(whole.frame(words, states, keys))
        states = _add_closure(frames, nfa, states)
    lit = nfa.accepting in states
    verdict = "lit and accepting: the NFA accepts it" if lit else "accepting and not lit: the NFA refuses it"
    return [*frames, whole.frame(f"The text ends. {name_node(nfa.accepting)} is {verdict}.", states)]


def moves_by(nfa: NFA, states: Iterable[int], byte: int) -> list[tuple[int, int]]:
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
        moves = {f"{state}~{target}" for state in closed for target in nfa.epsilon[state]}
        words = f"ε edges add {_say(added)}: the NFA is in {counted(len(closed), 'state')}."
        frames.append(frames[-1].frame(words, closed, moves))
    return closed


def _say(states: Iterable[int]) -> str:
    return list_names(map(name_node, sorted(states)))


# --- the walk of a trie ---


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


# --- drawings and packed frames ---


PAD = 2.0  # around a machine in a film
MOST_FRAMES = 300


@dataclass(frozen=True)
class FilmDrawings:
    """The drawings of a film and, per frame, its drawing and the parts that are visible and highlighted."""

    drawings: tuple[Element, ...]
    frames: tuple[dict[str, Any], ...]


def pack_frame(
    states: Sequence[int], arrows: Sequence[str], lit: Iterable[int], on: Sequence[str], words: str, **more: Any
) -> dict[str, Any]:
    """A frame for the page: the visible states and arrows, and which of them are highlighted."""
    seen = {"drawing": 0, "states": states, "arrows": arrows, "lit": list(lit), "on": on, "groups": [], "words": words}
    return seen | more


def build_film(frames: Iterable[Any]) -> FilmDrawings:
    """Lay out every set of states once, with the arrows of all its frames."""
    sketches = [sketch_of(frame, "gv.film, frames") for frame in frames]
    if not sketches:
        raise SettingError("gv.film", seen="no frames", expected="one sketch or more", hint="gv.views.dfa_frames(text)")
    kinds = grouped(((sketch.names, sketch.initial), sketch) for sketch in sketches)
    drawings = tuple(bare_drawing(overlay(of_kind), frames=of_kind) for of_kind in kinds.values())
    return FilmDrawings(drawings, tuple(_pack(s, [*kinds].index((s.names, s.initial))) for s in sketches))


def overlay(sketches: Sequence[Sketch]) -> Sketch:
    """One sketch with the arrows of all; of an arrow that gains bytes the last version.

    >>> one = Sketch(("a", "b"), (Arrow(0, 1, ((97, 97),)),), 0, frozenset())
    >>> len(overlay([one, replace(one, arrows=(Arrow(1, 1, ()),))]).arrows)
    2
    """
    arrows: dict[tuple[int, int, bool], Arrow] = {}
    for sketch in sketches:
        arrows |= {(arrow.source, arrow.target, not arrow.ranges): arrow for arrow in sketch.arrows}
    accepting = frozenset[int]().union(*(sketch.accepting for sketch in sketches))
    return replace(bare(sketches[-1]), arrows=tuple(arrows.values()), accepting=accepting)


def bare_drawing(sketch: Sketch, at: int = -1, compact: bool | None = False, frames: Iterable[Sketch] = ()) -> Element:
    """A machine without highlights, and the tape of its frames; the page adds the highlights."""
    diagram, tapes = lay_out(sketch, at, compact), [frame.tape for frame in frames if frame.tape[0]]
    top, alt = STRIP * bool(tapes), f"a machine of {len(sketch.names):,} states"
    parts = [node("style", STYLE), moved(PAD, top, write_diagram(diagram)), *write_bytes(tapes[0][0] if tapes else b"")]
    marks = {key: mark for tape in tapes for key, mark in mark_bytes(*tape)}
    parts += [node("g", mark, data_arrow=key) for key, mark in marks.items()]
    width = max([diagram.width + 2 * PAD, *(2 * EDGE + CELL * len(text) for text, _ in tapes)])
    return drawing(width, top + diagram.height, *parts, alt=alt)


def _pack(sketch: Sketch, place: int) -> dict[str, Any]:
    """The parts of a frame; a state is visible once an arrow touches it."""
    touched = {end for arrow in sketch.arrows for end in (arrow.source, arrow.target)}
    shown = touched | {sketch.initial} | sketch.lit | {state for _, states in sketch.groups for state in states}
    arrows = [*map(arrow_key, sketch.arrows), *dict(mark_bytes(*sketch.tape))]
    groups = [[title, sorted(states)] for title, states in sketch.groups]
    on = sorted(sketch.lit_arrows)
    return pack_frame(sorted(shown), arrows, sorted(sketch.lit), on, sketch.words, drawing=place, groups=groups)
