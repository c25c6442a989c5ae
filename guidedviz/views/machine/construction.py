"""The algorithms of finite machines as films: reading, the two constructions of a DFA, and the walk of a trie.

A DFA is built from an NFA by sets of states, and made smallest by splitting blocks. All frames of a film have the
states of the last one, so one layout serves them and only arrows are added.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from guidedviz.machines.graph import grouped, reach
from guidedviz.machines.machine import Machine, as_machine
from guidedviz.machines.regular.dfa import DFA, DFAStep, build_dfa_steps
from guidedviz.machines.regular.minimal import MinStep, first_blocks, minimise_steps, trim
from guidedviz.machines.regular.nfa import NFA
from guidedviz.machines.regular.regex import machine_stages
from guidedviz.machines.visible import counted, name_node, name_state, visible, visible_bytes
from guidedviz.tokens.trie import Trie
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.tokens.walk import walk_steps
from guidedviz.views.figure import check_count
from guidedviz.views.layout.sketch import CUT_GROUP, Arrow, Sketch, sketch_dfa, sketch_nfa, values_in
from guidedviz.views.machine.film import MOST_WATCHED, check_machine, list_names, say_nodes
from guidedviz.views.machine.frame import MachineFrame


def dfa_frames(text: str) -> list[MachineFrame]:
    """The subset construction, state by state; a name contains the set of NFA states.

    >>> for frame in dfa_frames("ab*"):
    ...     print(frame.words)
    From q0 = {n0}: "a" leads to q1 {1,2,3}, which is new.
    From q1 = {n1 n2 n3}: "b" leads to q2 {2,3}, which is new.
    From q2 = {n2 n3}: "b" leads to q2 {2,3}.
    """
    nfa, dfa, _ = machine_stages(text)
    check_machine(text, dfa)
    steps = list(build_dfa_steps(nfa, whole=True))
    names = tuple(_name_set(step.state, step.subset) for step in steps)
    subsets = tuple(step.subset for step in steps)
    whole = replace(sketch_dfa(dfa), names=names)
    frames = []
    met = {0}
    for step in steps:
        targets = {target for _, _, target in step.edges}
        arrows = tuple(arrow for arrow in whole.arrows if arrow.source <= step.state)
        shown = MachineFrame(replace(whole, arrows=arrows), merged=subsets)
        moves = {f"{step.state}-{target}" for target in targets}
        words = _say_moves(step, whole, met)
        frames.append(shown.show(words, {step.state}, moves))
        met |= targets
    return frames


def _say_moves(step: DFAStep, whole: Sketch, met: set[int]) -> str:
    moves = []
    for arrow in whole.arrows:
        if arrow.source == step.state:
            move = f"{_say_byte_ranges(arrow.ranges)} leads to {whole.names[arrow.target]}"
            if arrow.target not in met:
                move += ", which is new"
            moves.append(move)
    here = f"From q{step.state} = {{{say_nodes(step.subset)}}}"
    if not moves:
        return f"{here} no byte leads on."
    return f"{here}: {'; '.join(moves)}."


def _name_set(state: int, subset: frozenset[int]) -> str:
    inside = [str(one) for one in sorted(subset)]
    if len(inside) > 4:
        inside = [*inside[:4], "…"]
    return f"{name_state(state)} {{{','.join(inside)}}}"


def _say_byte_ranges(ranges: Iterable[tuple[int, int]]) -> str:
    said = visible_bytes(values_in(ranges))
    return f'"{said}"' if len(said) == 1 else said


# --- to the smallest DFA ---


def minimal_frames(text: str) -> list[MachineFrame]:
    """Hopcroft's partition refinement: blocks are split until no byte distinguishes their states, then merged.

    >>> for frame in minimal_frames("ab|cb"):
    ...     print([title + str(sorted(states)) for title, states in frame.sketch.groups], frame.words)
    ['A[3]', 'B[0, 1, 2]'] In A the text may end, in B it may not.
    ['A[3]', 'B[0]', 'C[1, 2]'] "b" leads into A from q1 q2, but from no other state of B. New block C: q1 q2.
    [] Each block becomes one state: 3 states of 4.
    """
    _, dfa, minimal = machine_stages(text)
    check_machine(text, dfa)
    trimmed = trim(dfa)
    whole = sketch_dfa(trimmed)
    blocks = [frozenset(block) for block in first_blocks(trimmed)]
    words = "In A the text may end, in B it may not."
    if len(blocks) < 2:
        words = "All states are alike so far: one block."
    frames = [MachineFrame(_in_blocks(whole, blocks), words)]
    for step in minimise_steps(dfa):
        words = _say_split(step, whole.names, blocks)
        blocks[step.block] -= step.moved
        blocks.append(step.moved)
        byte = step.by[0][0]
        moves = set()
        for state in step.moved:
            target = trimmed.step(state, byte)
            if target in step.into:
                moves.add(f"{state}-{target}")
        shown = MachineFrame(_in_blocks(whole, blocks))
        frames.append(shown.show(words, step.moved, moves, visible(bytes([byte]))))
    merged = merged_states(dfa, minimal)
    names = tuple(_name_set(state, old) for state, old in enumerate(merged))
    words = "No two states are equivalent: all stay."
    if len(minimal) < len(dfa):
        words = f"Each block becomes one state: {len(minimal)} states of {len(dfa)}."
    smallest = replace(sketch_dfa(minimal), names=names)
    return [*frames, MachineFrame(smallest, words, merged=merged)]


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
    lead = f"{_say_byte_ranges(step.by)} leads into {into} from {moved}"
    return f"{lead}, but from no other state of {title_of(step.block)}. New block {title_of(step.new)}: {moved}."


def title_of(block: int) -> str:
    """The letter of a block.

    >>> title_of(0), title_of(27)
    ('A', 'B1')
    """
    letter = chr(ord("A") + block % 26)
    return f"{letter}{block // 26}" if block >= 26 else letter


def _in_blocks(sketch: Sketch, blocks: Iterable[frozenset[int]]) -> Sketch:
    """The sketch with its states in groups, one per block."""
    return replace(sketch, groups=tuple((title_of(number), block) for number, block in enumerate(blocks)))


# --- an NFA that reads a text ---


def nfa_reading_frames(regex: str, text: str) -> list[MachineFrame]:
    """Two frames per byte: the states that the byte leads to, then those that ε edges add.

    >>> for frame in nfa_reading_frames("a?b|a", "a"):
    ...     print(sorted(frame.lit), frame.words)
    [0] Nothing is read. The NFA starts in n0.
    [0, 1] ε edges add n1: the NFA is in 2 states.
    [1, 2] "a" is read. It leads to n1 n2.
    [1, 2] The text ends. n2 is lit and accepting: the NFA accepts it.
    """
    nfa, _, _ = machine_stages(regex)
    check_machine(regex, nfa)
    data = text.encode()
    whole = MachineFrame(sketch_nfa(nfa), tape=(data, 0))
    states = {nfa.initial}
    words = f"Nothing is read. The NFA starts in {name_node(nfa.initial)}."
    frames = [whole.show(words, states)]
    states = _add_closure(frames, nfa, states)
    for read, byte in enumerate(data, 1):
        moves = moves_by(nfa, states, byte)
        sign = visible(bytes([byte]))
        if not moves:
            words = f'No lit state reads "{sign}", so none is lit now: the NFA refuses the text.'
            return [*frames, whole.show(words, sign=sign)]
        states = {target for _, target in moves}
        whole = replace(whole, tape=(data, read))
        keys = {f"{source}-{target}" for source, target in moves}
        words = f'"{sign}" is read. It leads to {say_nodes(states)}.'
        frames.append(whole.show(words, states, keys, sign))
        states = _add_closure(frames, nfa, states)
    words = f"The text ends. {name_node(nfa.accepting)} is accepting and not lit: the NFA refuses it."
    if nfa.accepting in states:
        words = f"The text ends. {name_node(nfa.accepting)} is lit and accepting: the NFA accepts it."
    return [*frames, whole.show(words, states)]


def moves_by(nfa: NFA, states: Iterable[int], byte: int) -> list[tuple[int, int]]:
    """The edges that read this byte from these states.

    >>> moves_by(gv.machines.machine_stages("a?b|a")[0], {0}, ord("a"))
    [(0, 1), (0, 2)]
    """
    moves = []
    for state in sorted(states):
        for low, high, target in nfa.edges[state]:
            if low <= byte <= high:
                moves.append((state, target))
    return moves


def _add_closure(frames: list[MachineFrame], nfa: NFA, states: set[int]) -> set[int]:
    """The closure over ε edges, and its frame if it adds a state."""
    closed = set(reach(states, nfa.epsilon.__getitem__))
    added = closed - states
    if added:
        moves = {f"{state}~{target}" for state in closed for target in nfa.epsilon[state]}
        size = counted(len(closed), "state")
        words = f"ε edges add {say_nodes(added)}: the NFA is in {size}."
        frames.append(frames[-1].show(words, closed, moves))
    return closed


# --- the walk of a trie ---


def trie_frames(machine: Machine[Any], vocabulary: Vocabulary, state: Hashable | None = None) -> list[MachineFrame]:
    """One frame per node that the machine is asked about, depth first, from a state, by default the initial one.

    A tag at a node that is reached names the state of the machine there.

    >>> for frame in trie_frames(gv.regex("3+"), gv.Vocabulary([b"3", b"33", b".", b".5"])):
    ...     print(frame.words)
    4 tokens, 4 nodes below the start: a ring marks where a token ends. The machine is in q0.
    "." cannot be read in q0: the subtree is cut, "." and ".5" are illegal.
    "3" is read, q0 to q1: "3" is legal.
    "3" is read, q1 to q1: "33" is legal.
    The walk is over: "3" and "33" are legal in q0. The machine was asked about 3 of these nodes, and read 2.
    """
    machine = as_machine(machine, "trie_frames")
    trie = vocabulary.trie
    state = machine.initial if state is None else state
    check_count("trie_frames", len(trie), "nodes", MOST_WATCHED, "a toy vocabulary")
    names = {0: machine.describe(state)}  # of the machine's state at each node that it reaches
    for node, after in walk_steps(trie, machine, state):
        names[node] = machine.describe(after)
    whole = sketch_trie(trie, vocabulary)
    tokens = counted(len(vocabulary.text_ids), "token")
    nodes = counted(len(trie) - 1, "node")
    size = f"{tokens}, {nodes} below the start"
    words = f"{size}: a ring marks where a token ends. The machine is in {names[0]}."
    frames = [MachineFrame(whole, words, frozenset((0,)), lit_means="reached")]
    waiting = [*reversed(_children(trie, 0))]
    while waiting:
        node = waiting.pop()
        if node in names:
            waiting += reversed(_children(trie, node))
            frames.append(_read_node(frames[-1], trie, node, names))
        else:
            frames.append(_cut_node(frames[-1], trie, node, names))
    frames = [_tag_states(frame, names) for frame in frames]
    last = frames[-1]
    legal = last.lit & whole.accepting
    words = f"The walk is over: {_say_tokens(whole, legal)} legal in {names[0]}."
    words += f" The machine was asked about {len(frames) - 1} of these nodes, and read {len(names) - 1}."
    return [*frames, replace(last, words=words, lit=legal, lit_means="legal", ride=("", ()))]


def _tag_states(frame: MachineFrame, names: Mapping[int, str]) -> MachineFrame:
    """The frame with the state of the machine at each node that is reached."""
    nodes: dict[str, set[int]] = {}
    for node, name in names.items():
        if node in frame.lit:
            nodes.setdefault(name, set()).add(node)
    groups = [(name, frozenset(some)) for name, some in nodes.items()]
    return replace(frame, sketch=replace(frame.sketch, groups=(*groups, *frame.sketch.groups)))


def _read_node(before: MachineFrame, trie: Trie, node: int, names: Mapping[int, str]) -> MachineFrame:
    """The frame of a node that can be read."""
    sketch = before.sketch
    parent = int(trie.parent[node])
    sign = _sign_of(trie, node)
    follows = "on to what is below"
    if node in sketch.accepting:
        follows = f'"{sketch.names[node]}" is legal'
    words = f'"{sign}" is read, {names[parent]} to {names[node]}: {follows}.'
    move = f"{parent}-{node}"
    shown = before.show(words, before.lit | {node}, [move], sign)
    return replace(shown, lit_arrows=before.lit_arrows | {move})


def _cut_node(before: MachineFrame, trie: Trie, node: int, names: Mapping[int, str]) -> MachineFrame:
    """The frame of a node that cannot be read, nor what is below it."""
    sketch = before.sketch
    lost = frozenset(reach([node], partial(_children, trie)))
    said = f"{_say_tokens(sketch, lost)} illegal."
    if len(lost) > 1:
        said = f"the subtree is cut, {said}"
    parent = int(trie.parent[node])
    sign = _sign_of(trie, node)
    words = f'"{sign}" cannot be read in {names[parent]}: {said}'
    ride = sign, (f"{parent}-{node}",)
    cut = replace(sketch, groups=((CUT_GROUP, sketch.cut | lost),))
    return replace(before, sketch=cut, words=words, ride=ride)


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
    return Sketch(names, tuple(arrows), 0, ends, ring_means="a token ends here")


def _children(trie: Trie, node: int) -> range:
    first, end = trie.first[node : node + 2].tolist()
    return range(first, end)


def _sign_of(trie: Trie, node: int) -> str:
    """The byte that leads to a node."""
    return visible(bytes([int(trie.byte[node])]))


def _say_tokens(sketch: Sketch, nodes: frozenset[int]) -> str:
    """The pieces that end in these nodes, with the verb."""
    named = [f'"{sketch.names[node]}"' for node in sorted(nodes & sketch.accepting)]
    if len(named) > 1:
        *first, last = named
        return f"{', '.join(first)} and {last} are"
    return f"{named[0]} is" if named else "no token is"
