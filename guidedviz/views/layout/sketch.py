"""What is drawn of a machine, of any kind: its state names and arrows. The frames of a construction are sketches too.

A chain, bytes in a row without a choice such as the keys of a schema, folds to one arrow that reads several bytes, as
in SGLang's compressed finite state machine (LMSYS, 2024-02). So does a loop such as a JSON string, with its escapes.

Large machines consist mostly of runs: the letters of a key, a class repeated thirty times, the bytes of a character.
A state inside a run is a dot on a line with one label; it can still be highlighted.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from typing import Any

from guidedviz.errors import SettingError, shorten
from guidedviz.machines.pushdown.automaton import RuleNodes
from guidedviz.machines.pushdown.counting import Bounds
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.nfa import NFA
from guidedviz.machines.visible import byte_ranges, counted, name_node, name_state, visible, visible_bytes
from guidedviz.machines.work import grouped, reach
from guidedviz.tokens.by_hand import GuidedFSM
from guidedviz.views.words import reading

Groups = tuple[tuple[str, frozenset[int]], ...]
Ranges = tuple[tuple[int, int], ...]  # of bytes, both ends included


@dataclass(frozen=True)
class Arrow:
    """All bytes that lead from one state to another; without bytes it is an epsilon edge or the call of a rule."""

    source: int
    target: int
    ranges: Ranges
    call: str = ""  # the called rule
    loop: str = field(default="", repr=False)  # of a counted rule, from its end to its start: how often
    through: tuple[int, ...] = field(default=(), repr=False)  # the states inside a folded chain or loop
    folds_loop: bool = field(default=False, repr=False)  # the states inside come back to the source in several ways


@dataclass(frozen=True)
class Sketch:
    """States are indices into `names`; a frame of an animation highlights its subject."""

    names: tuple[str, ...]
    arrows: tuple[Arrow, ...]
    initial: int
    accepting: frozenset[int]
    groups: Groups = ()  # titles and their states, drawn with a mark
    words: str = ""  # a sentence about this frame
    lit: frozenset[int] = frozenset()
    lit_arrows: frozenset[str] = frozenset()  # by their keys
    rules: tuple[tuple[str, tuple[int, ...]], ...] = ()  # of a grammar: names and nodes, the start first
    repeats: tuple[tuple[str, str], ...] = ()  # the counted rules, and how often each is repeated
    opened: frozenset[int] = frozenset()  # the states inside unfolded chains
    tape: tuple[bytes, int] = (b"", 0)  # a text, and how many of its bytes are read
    ring: str = "may end here"  # what a double ring means

    @cached_property
    def folded(self) -> frozenset[int]:
        """The states inside folded chains and loops."""
        return frozenset(state for arrow in self.arrows for state in arrow.through)

    def frame(self, words: str, lit: Iterable[int] = (), moves: Iterable[str] = (), **changes: Any) -> "Sketch":
        """A frame of a film with these states and arrows highlighted."""
        return replace(self, words=words, lit=frozenset(lit), lit_arrows=frozenset(moves), **changes)

    def is_chain(self, arrow: Arrow) -> bool:
        """Whether an arrow is a folded chain or one byte of an unfolded one."""
        return bool(arrow.through) or arrow.source in self.opened or arrow.target in self.opened


def is_single(ranges: Ranges) -> bool:
    """Whether the ranges are one byte.

    >>> is_single(((97, 97),)), is_single(((97, 99),)), is_single(())
    (True, False, False)
    """
    return len(ranges) == 1 and ranges[0][0] == ranges[0][1]


def sketch_dfa(dfa: DFA) -> Sketch:
    """A DFA, state 0 first.

    >>> sketch_dfa(gv.regex("[a-cx]")).arrows
    (Arrow(source=0, target=1, ranges=((97, 99), (120, 120)), call=''),)
    """
    names = tuple(map(name_state, range(len(dfa))))
    return Sketch(names, tuple(_reading_arrows(dfa.edges)), dfa.initial, dfa.accepting)


def _reading_arrows(edges_of: Iterable[Iterable[tuple[int, int, int]]]) -> list[Arrow]:
    """One arrow per pair of states, with all bytes that lead from one to the other."""
    every = ((source, edge) for source, edges in enumerate(edges_of) for edge in edges)
    ranges = grouped(((source, target), (low, high)) for source, (low, high, target) in every)
    return [Arrow(*ends, tuple(sorted(found))) for ends, found in ranges.items()]


def sketch_nfa(nfa: NFA) -> Sketch:
    """An NFA with its epsilon edges.

    >>> sketch_nfa(gv.machines.machine_stages("a?")[0]).arrows[-1]
    Arrow(source=0, target=1, ranges=(), call='')
    """
    arrows = _reading_arrows(nfa.edges)
    arrows += dict.fromkeys(Arrow(source, target, ()) for source, free in enumerate(nfa.epsilon) for target in free)
    names = tuple(map(name_node, range(len(nfa))))
    return Sketch(names, tuple(arrows), nfa.initial, frozenset({nfa.accepting}))


def sketch_fsm(fsm: GuidedFSM) -> Sketch:
    """A machine over tokens under its own names; where a token has several bytes, the smallest DFA.

    >>> fsm = gv.GuidedFSM(gv.Vocabulary([b"a", b"b"]), start="start")
    >>> fsm.add_transition("start", {0, 1}, "end")
    >>> sketch_fsm(fsm).names, sketch_fsm(fsm).arrows
    (('start', 'end'), (Arrow(source=0, target=1, ranges=((97, 98),), call=''),))
    """
    pieces, number = fsm.vocabulary.pieces, {state: n for n, state in enumerate(fsm.transitions)}
    moves = [(source, *way) for source, ways in fsm.transitions.items() for way in ways.items()]
    if any(len(pieces[token]) > 1 for _, token, _ in moves):
        return sketch_dfa(fsm.machine())
    between = grouped(((number[source], number[target]), pieces[token][0]) for source, token, target in moves)
    arrows = tuple(Arrow(*ends, tuple(byte_ranges(values))) for ends, values in between.items())
    accepting = frozenset(number[state] for state in fsm.transitions if fsm.is_accepting(state))
    return Sketch(tuple(map(str, fsm.transitions)), arrows, number[fsm.start], accepting)


def sketch_pda(pda: PDA) -> Sketch:
    """The automata of a grammar's rules; a call is an arrow with the rule's name.

    >>> sketch = sketch_pda(gv.grammar('root ::= "(" root ")" | "x"'))
    >>> sketch.rules, [arrow for arrow in sketch.arrows if arrow.call]
    ((('root', (0, 1, 2, 3)),), [Arrow(source=1, target=3, ranges=(), call='root')])
    """
    nodes = pda.nodes
    arrows = _reading_arrows([(low, up, nodes.settled(to)) for low, up, to in edges] for edges in nodes.edges)
    arrows += [Arrow(at, after, (), nodes.names[rule]) for at, calls in enumerate(nodes.calls) for rule, after in calls]
    names, rules = tuple(map(name_node, range(len(nodes)))), _nodes_of_rules(nodes, arrows)
    repeats = tuple((nodes.names[rule], str(bounds)) for rule, bounds in enumerate(nodes.counts) if bounds)
    arrows += [
        Arrow(end, nodes.starts[nodes.rule_of[end]], (), loop=str(bounds))
        for end in sorted(nodes.accepting)
        if isinstance(bounds := nodes.counts[nodes.rule_of[end]], Bounds)
    ]
    return Sketch(names, tuple(arrows), nodes.starts[0], nodes.accepting, rules=rules, repeats=repeats)


def _nodes_of_rules(nodes: RuleNodes, arrows: list[Arrow]) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """The nodes of every rule in order, without those that no arrow reaches: nothing can be completed from them."""
    used = {*nodes.starts, *(arrow.target for arrow in arrows)}
    others = grouped((nodes.rule_of[node], node) for node in sorted(used - {*nodes.starts}))
    return tuple((name, (nodes.starts[rule], *others[rule])) for rule, name in enumerate(nodes.names))


def sketch_of(machine: Any, where: str = "draw_machine") -> Sketch:
    """The sketch of a machine; an error names the function that needed it.

    >>> sketch_of(gv.regex("ab")).names
    ('q0', 'q1', 'q2')
    """
    match machine:
        case Sketch():
            return _visible(machine)
        case DFA():
            return sketch_dfa(machine)
        case NFA():
            return sketch_nfa(machine)
        case PDA():
            return sketch_pda(machine)
        case GuidedFSM():
            return _visible(sketch_fsm(machine))
    raise SettingError(where, seen=type(machine).__name__, expected="a machine", hint="gv.regex(text)")


def _visible(sketch: Sketch) -> Sketch:
    """A sketch with printable names, wherever they come from."""
    names = tuple(reading(name) or "∅" for name in sketch.names)
    groups = tuple((reading(title), states) for title, states in sketch.groups)
    return replace(sketch, names=names, groups=groups, words=reading(sketch.words))


# --- chains and loops as one arrow ---


Chain = tuple[Arrow, ...]  # in a row, one byte each
FEWEST_INSIDE = 4  # states of a loop that is folded, besides the one where it begins


def by_state(arrows: Iterable[Arrow]) -> tuple[dict[int, list[Arrow]], dict[int, list[Arrow]]]:
    """The arrows into each state, and those out of it."""
    every = list(arrows)
    return grouped((arrow.target, arrow) for arrow in every), grouped((arrow.source, arrow) for arrow in every)


def find_rows(arrows: Collection[Arrow], inside: Callable[[int, Arrow, Arrow], bool]) -> list[Chain]:
    """Maximal rows of arrows through states with one arrow in and one out, of which `inside` holds."""
    into, out = by_state(arrows)
    single = [state for state in into if len(into[state]) == len(out[state]) == 1]
    inner = {state for state in single if inside(state, into[state][0], out[state][0])}

    def follow(arrow: Arrow) -> Iterator[Arrow]:
        yield arrow
        while arrow.target in inner:
            (arrow,) = out[arrow.target]
            yield arrow

    return [tuple(follow(arrow)) for arrow in arrows if arrow.target in inner and arrow.source not in inner]


def find_chains(sketch: Sketch) -> list[Chain]:
    """Rows of single bytes without a choice; no text begins or ends inside.

    >>> [bytes(arrow.ranges[0][0] for arrow in chain) for chain in find_chains(sketch_dfa(gv.regex("[0-9]kg|xy")))]
    [b'xy', b'kg']
    """
    ends, single = _ends(sketch), {arrow for arrow in sketch.arrows if is_single(arrow.ranges)}
    return find_rows(sketch.arrows, lambda state, into, out: state not in ends and {into, out} <= single)


def _ends(sketch: Sketch) -> set[int]:
    """The states where a text or a rule may begin or end."""
    return {sketch.initial, *sketch.accepting, *(nodes[0] for _, nodes in sketch.rules)}


def inside_chain(chain: Chain) -> tuple[int, ...]:
    """The states inside a chain."""
    return tuple(arrow.target for arrow in chain[:-1])


def join(chain: Chain) -> Arrow:
    """A chain as one arrow that reads its bytes in order."""
    ranges = tuple(arrow.ranges[0] for arrow in chain)
    return Arrow(chain[0].source, chain[-1].target, ranges, through=inside_chain(chain))


def fold(sketch: Sketch, around: Set[int] = frozenset()) -> Sketch:
    """Every chain as one arrow, except those with a state of `around` inside.

    >>> [(arrow.source, arrow.target, arrow.through) for arrow in fold(sketch_dfa(gv.regex("abc[0-9]"))).arrows]
    [(0, 3, (1, 2)), (3, 4, ())]
    """
    arrows: dict[Arrow, Arrow | None] = {arrow: arrow for arrow in sketch.arrows}
    opened: set[int] = set()
    for chain in find_chains(sketch):
        inside = inside_chain(chain)
        if not around.isdisjoint(inside):
            opened.update(inside)
            continue
        arrows |= dict.fromkeys(chain)
        arrows[chain[0]] = join(chain)
    return replace(sketch, arrows=tuple(filter(None, arrows.values())), opened=frozenset(opened))


def fold_loops(sketch: Sketch, around: Set[int] = frozenset()) -> Sketch:
    """Each loop of several states that can be left only where it begins as one arrow, except loops with a chain inside.

    >>> [(arrow.source, arrow.target, arrow.through) for arrow in fold_loops(sketch_dfa(gv.regex('"[^"]*"'))).arrows]
    [(0, 1, ()), (1, 2, ()), (1, 1, (3, 4, 5, 6, 7, 8, 9))]
    """
    kept = _ends(sketch) | {state for chain in find_chains(sketch) for state in inside_chain(chain)}
    _, out = by_state(sketch.arrows)
    arrows = list(sketch.arrows)
    for hub in range(len(sketch.names)):
        ways = (_reach(out, way.target, hub, kept) for way in out[hub] if way.target not in {hub, *kept})
        inside = frozenset().union(*(way for way in ways if way.isdisjoint(kept)))
        if len(inside) < FEWEST_INSIDE or not inside.isdisjoint(around):
            continue
        loop = [arrow for arrow in arrows if {arrow.source, arrow.target} <= {hub, *inside}]
        entered = any(arrow.target in inside for arrow in arrows if arrow not in loop)
        if not loop or entered:
            continue  # without arrows it is inside a loop that is folded already
        first = sorted({bounds for arrow in loop if arrow.source == hub for bounds in arrow.ranges})
        arrows = [arrow for arrow in arrows if arrow not in loop]
        arrows.append(Arrow(hub, hub, tuple(first), through=tuple(sorted(inside)), folds_loop=True))
    return replace(sketch, arrows=tuple(arrows))


def _reach(out: Mapping[int, Sequence[Arrow]], start: int, without: int, kept: Set[int]) -> frozenset[int]:
    """The states that a state reaches, itself included, without one state; the search ends at any of `kept`."""
    found, waiting = {start}, [start]
    while waiting and found.isdisjoint(kept):
        new = {arrow.target for arrow in out[waiting.pop()]} - found - {without}
        found |= new
        waiting += new
    return frozenset(found)


# --- the bytes of an arrow as text: short for its label, in full for its tooltip ---


LABEL = 16  # characters of a label; the tooltip has the rest
ASCII = frozenset(range(128))
CONTROLS = frozenset(range(32))


def say_arrow(arrow: Arrow, whole: bool = False) -> str:
    """The bytes of an arrow; those of a folded chain as one text.

    >>> chain = Arrow(0, 4, ((97, 97), (195, 195), (169, 169), (32, 32)), through=(1, 2, 3))
    >>> say_arrow(chain), say_arrow(chain, whole=True), say_arrow(Arrow(0, 1, ((48, 57),)))
    ('aé␣', 'aé␣ (3 states inside)', '0-9')
    """
    if arrow.call:
        return f"calls {arrow.call}"
    if arrow.loop:
        return f"again, {arrow.loop} times in all" if whole else f"{arrow.loop} times"
    chain = arrow.through and not arrow.folds_loop
    if chain:
        text = visible(bytes(low for low, _ in arrow.ranges))
    else:
        text = say_ranges(arrow.ranges, 64 if whole or arrow.folds_loop else 4, whole)
    if not whole:
        return shorten(text, 2 * LABEL if chain else LABEL)
    return text + (f" ({counted(len(arrow.through), 'state')} inside)" if arrow.through else "")


def say_row(row: Sequence[Ranges]) -> Iterator[str]:
    """Arrows in a row: single bytes as one text, equal classes as one with a count.

    >>> list(say_row([((58, 58),), ((32, 32),), ((48, 57),), ((48, 57),)]))
    [':␣', '0-9 ×2']
    """
    for single, group in groupby(row, key=is_single):
        if single:
            yield visible(bytes(ranges[0][0] for ranges in group))
            continue
        for ranges, same in groupby(group):
            count = len(list(same))
            yield say_ranges(ranges) + (f" ×{count}" if count > 1 else "")


def say_ranges(ranges: Ranges, limit: int = 4, whole: bool = False) -> str:
    """Ranges of bytes, short for a label or in full for a tooltip.

    >>> say_ranges(((48, 57),)), say_ranges(((0, 33), (35, 91), (93, 127))), say_ranges(((0xC2, 0xDF),)), say_ranges(())
    ('0-9', 'any but " \\\\', '0xC2-0xDF', 'ε')
    """
    if not ranges:
        return "an epsilon edge: reads nothing" if whole else "ε"
    values = frozenset(value for low, high in ranges for value in range(low, high + 1))
    if len(values) == 256:
        return "any byte"
    parts = [_say_ascii(values & ASCII, limit, whole)] if values & ASCII else []
    parts += [f"0x{low:02X}" + f"-0x{high:02X}" * (high > low) for low, high in byte_ranges(values - ASCII)]
    return (", " if whole else " ").join(parts)


def _say_ascii(values: frozenset[int], limit: int, whole: bool) -> str:
    missing = ASCII - values
    kind = "any ASCII" if whole or not missing else "any"
    seen = missing - CONTROLS if missing >= CONTROLS else missing
    if len(values) <= 64 or len(seen) > 8:
        return visible_bytes(values, limit)
    words = [visible_bytes(seen, 8)] * bool(seen) + ["controls" if whole else "ctrl"] * (seen != missing)
    return f"{kind} but {' '.join(words)}" if words else kind


# --- which states are discs, and which are dots on a line ---


MANY = 16  # states above which runs are drawn as runs
LONG = 2  # a run has more arrows than this
INSIDE = 3  # a bundle has at least so many states


@dataclass(frozen=True)
class ArrowLine:
    """Arrows drawn as one line from disc to disc, the states between them as dots on it."""

    arrows: tuple[int, ...]  # numbers in the sketch's arrows, in order
    dots: tuple[int, ...]
    label: str
    full: str  # the label in full, for the tooltip


@dataclass(frozen=True)
class Bundle:
    """The states inside characters beyond ASCII between two discs, in columns by the bytes still to come."""

    source: int
    target: int
    columns: tuple[tuple[int, ...], ...]  # most bytes to come first
    arrows: tuple[int, ...]


@dataclass(frozen=True)
class Plan:
    """How states and arrows are drawn."""

    discs: tuple[int, ...]
    lines: tuple[ArrowLine, ...]
    bundles: tuple[Bundle, ...]
    calls: tuple[int, ...]  # rule calls, one box per call


def make_plan(sketch: Sketch, keep: Collection[int], compact: bool | None = None) -> Plan:
    """The plan for these states; with `compact` None only large machines have runs."""
    number = {arrow: n for n, arrow in enumerate(sketch.arrows) if arrow.source in keep and arrow.target in keep}
    bundles = [] if compact is False else find_bundles(sketch, number, keep)
    bundled = {sketch.arrows[n] for bundle in bundles for n in bundle.arrows}
    runs = find_runs(sketch, number, bundled) if compact or (compact is None and len(keep) > MANY) else []
    lines = []
    for run in runs:
        full = " ".join(say_row([arrow.ranges for arrow in run]))
        lines.append(ArrowLine(tuple(number[a] for a in run), inside_chain(run), shorten(full, 2 * LABEL), full))
    done = bundled.union(*runs)
    single = [arrow for arrow in number if arrow not in done and not arrow.call]
    lines += [ArrowLine((number[a],), (), say_arrow(a), say_arrow(a, whole=True)) for a in single]
    groups = [*(line.dots for line in lines), *(column for bundle in bundles for column in bundle.columns)]
    discs = tuple(sorted({*keep}.difference(*groups)))
    return Plan(discs, tuple(lines), tuple(bundles), tuple(n for arrow, n in number.items() if arrow.call))


def find_runs(sketch: Sketch, arrows: Collection[Arrow], others: Collection[Arrow]) -> list[Chain]:
    """Long rows of arrows without a choice, which touch no other arrows; no text begins or ends inside."""
    apart = [arrow for arrow in arrows if arrow in others or arrow.call or sketch.is_chain(arrow)]
    ends = {sketch.initial, *sketch.accepting, *(end for arrow in apart for end in (arrow.source, arrow.target))}
    return [row for row in find_rows(arrows, lambda state, into, out: state not in ends) if len(row) > LONG]


def find_bundles(sketch: Sketch, number: Mapping[Arrow, int], keep: Collection[int]) -> list[Bundle]:
    """The connected groups of states inside UTF-8 characters, each between one state and another."""
    inside = inside_characters(sketch, number, keep)
    into, out = by_state(number)

    def near(state: int) -> frozenset[int]:
        return inside & {*(a.source for a in into[state]), *(a.target for a in out[state])}

    bundles = []
    while inside:
        part = frozenset(reach([min(inside)], near))
        inside -= part
        touching = [arrow for arrow in number if not part.isdisjoint((arrow.source, arrow.target))]
        around = {arrow.source for arrow in touching} - part, {arrow.target for arrow in touching} - part
        if len(part) >= INSIDE and list(map(len, around)) == [1, 1]:
            (source,), (target,) = around
            bundles.append(Bundle(source, target, _columns(touching, target, part), tuple(number[a] for a in touching)))
    return bundles


def _columns(arrows: Sequence[Arrow], target: int, part: Collection[int]) -> tuple[tuple[int, ...], ...]:
    """The states of a bundle by the number of bytes to come."""
    left = {target: 0}
    for _ in part:
        left |= {a.source: left[a.target] + 1 for a in arrows if a.source in part and a.target in left}
    most = max(left.values())
    return tuple(tuple(s for s in sorted(part) if left.get(s, most) == count) for count in range(most, 0, -1))


def inside_characters(sketch: Sketch, arrows: Iterable[Arrow], keep: Collection[int]) -> frozenset[int]:
    """States whose arrows in read bytes beyond ASCII and whose arrows out read continuation bytes."""
    into, out = by_state(arrows)

    def inside(state: int) -> bool:
        arrows = into[state] + out[state]
        if not (into[state] and out[state] and all(a.ranges and not sketch.is_chain(a) for a in arrows)):
            return False
        high = all(a.ranges[0][0] >= 0x80 for a in into[state])
        return high and all(low >= 0x80 and up <= 0xBF for a in out[state] for low, up in a.ranges)

    return frozenset(filter(inside, set(keep) - sketch.accepting - {sketch.initial}))
