"""What is drawn of a machine, of any kind: the names of its states, and its arrows.

    [a-cx]+     names q0, q1        arrows q0 to q1 and q1 to q1, each for the bytes a to c and x

All bytes that lead from one state to another are one arrow. A grammar's call is an arrow, too.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from typing import Any

from guidedviz.errors import SettingError, shorten
from guidedviz.machines.graph import grouped
from guidedviz.machines.machine import LOW_CONTROLS
from guidedviz.machines.names import BYTE_SIGNS
from guidedviz.machines.pushdown.automaton import RuleNodes
from guidedviz.machines.pushdown.counting import Bounds
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.ranges import byte_ranges
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.nfa import NFA, Edge
from guidedviz.machines.visible import counted, name_node, name_state, visible, visible_bytes
from guidedviz.tokens.by_hand import GuidedFSM
from guidedviz.views.words import reading

Groups = tuple[tuple[str, frozenset[int]], ...]
Ranges = tuple[tuple[int, int], ...]  # of bytes, both ends included
DrawnRule = tuple[str, tuple[int, ...]]  # its name and its nodes, the start first
CUT_GROUP = "cut"  # the title of a group of states that are removed
ByState = dict[int, list["Arrow"]]


@dataclass(frozen=True)
class Arrow:
    """All bytes that lead from one state to another; without bytes it is an epsilon edge or the call of a rule."""

    source: int
    target: int
    ranges: Ranges
    call: str = ""  # the called rule
    times: str = field(default="", repr=False)  # of a counted rule, from its end back to its start: how often, in words
    through: tuple[int, ...] = field(default=(), repr=False)  # the states inside a folded chain or loop
    folds_loop: bool = field(default=False, repr=False)  # the states inside come back to the source in several ways


@dataclass(frozen=True)
class Sketch:
    """What is drawn of a machine. A state is an index into `names`.

    >>> digits = sketch_dfa(gv.regex("[0-9]+"))
    >>> digits.names, [(arrow.source, arrow.target) for arrow in digits.arrows], digits.accepting
    (('q0', 'q1'), [(0, 1), (1, 1)], frozenset({1}))
    """

    names: tuple[str, ...]
    arrows: tuple[Arrow, ...]
    initial: int
    accepting: frozenset[int]
    groups: Groups = ()  # titles and their states, drawn with a mark
    rules: tuple[DrawnRule, ...] = ()  # of a grammar
    repeats: tuple[tuple[str, str], ...] = ()  # the counted rules, and how often each is repeated
    unfolded: frozenset[int] = frozenset()  # the states inside unfolded chains
    ring_means: str = "may end here"  # what the legend says of an accepting state

    @cached_property
    def folded(self) -> frozenset[int]:
        """The states inside folded chains and loops."""
        return frozenset(state for arrow in self.arrows for state in arrow.through)

    @cached_property
    def cut(self) -> frozenset[int]:
        """The states that are removed."""
        return frozenset(state for title, states in self.groups for state in states if title == CUT_GROUP)

    @cached_property
    def below_cut(self) -> frozenset[int]:
        """The removed states that come after another removed one, so that nobody asked about them."""
        return self.cut & {arrow.target for arrow in self.arrows if arrow.source in self.cut}

    def is_chain(self, arrow: Arrow) -> bool:
        """Whether an arrow is a folded chain or one byte of an unfolded one."""
        return bool(arrow.through) or arrow.source in self.unfolded or arrow.target in self.unfolded


def is_one_byte(ranges: Ranges) -> bool:
    """Whether the ranges are one byte.

    >>> is_one_byte(((97, 97),)), is_one_byte(((97, 99),)), is_one_byte(())
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


def _reading_arrows(edges_of: Iterable[Iterable[Edge]]) -> list[Arrow]:
    """One arrow per pair of states, with all bytes that lead from one to the other."""
    ranges: defaultdict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for source, edges in enumerate(edges_of):
        for low, high, target in edges:
            ranges[source, target].append((low, high))
    return [Arrow(*ends, tuple(sorted(found))) for ends, found in ranges.items()]


def sketch_nfa(nfa: NFA) -> Sketch:
    """An NFA with its epsilon edges.

    >>> sketch_nfa(gv.machines.machine_stages("a?")[0]).arrows[-1]
    Arrow(source=0, target=1, ranges=(), call='')
    """
    arrows = _reading_arrows(nfa.edges)
    for source, targets in enumerate(nfa.epsilon):
        arrows += [Arrow(source, target, ()) for target in dict.fromkeys(targets)]
    names = tuple(map(name_node, range(len(nfa))))
    return Sketch(names, tuple(arrows), nfa.initial, frozenset({nfa.accepting}))


def sketch_fsm(fsm: GuidedFSM) -> Sketch:
    """A machine over tokens, with its own names of states; if a token has several bytes, the smallest DFA instead.

    >>> fsm = gv.GuidedFSM(gv.Vocabulary([b"a", b"b"]), start="start")
    >>> fsm.add_transition("start", {0, 1}, "end")
    >>> sketch_fsm(fsm).names, sketch_fsm(fsm).arrows
    (('start', 'end'), (Arrow(source=0, target=1, ranges=((97, 98),), call=''),))
    """
    number = {state: n for n, state in enumerate(fsm.transitions)}
    read: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for source, targets in fsm.transitions.items():
        for token, target in targets.items():
            piece = fsm.vocabulary.pieces[token]
            if len(piece) > 1:
                return sketch_dfa(fsm.machine())
            read[number[source], number[target]] += piece
    arrows = tuple(Arrow(*ends, tuple(byte_ranges(found))) for ends, found in read.items())
    accepting = frozenset(n for state, n in number.items() if fsm.is_accepting(state))
    names = tuple(map(str, number))
    return Sketch(names, arrows, number[fsm.start], accepting)


def sketch_pda(pda: PDA) -> Sketch:
    """The automata of a grammar's rules; a call is an arrow with the rule's name.

    >>> sketch = sketch_pda(gv.grammar('root ::= "(" root ")" | "x"'))
    >>> sketch.rules, [arrow for arrow in sketch.arrows if arrow.call]
    ((('root', (0, 1, 2, 3)),), [Arrow(source=1, target=3, ranges=(), call='root')])
    """
    nodes = pda.nodes

    def past_ticks(edges: Iterable[Edge]) -> list[Edge]:
        return [(low, high, nodes.past_tick(target)) for low, high, target in edges]

    arrows = _reading_arrows(map(past_ticks, nodes.edges))
    for node, calls in enumerate(nodes.calls):
        arrows += [Arrow(node, after, (), nodes.names[rule]) for rule, after in calls]
    rules = _nodes_of_rules(nodes, arrows)
    for end in sorted(nodes.accepting):
        rule = nodes.rule_of[end]
        bounds = nodes.counts[rule]
        if isinstance(bounds, Bounds):
            again = Arrow(end, nodes.starts[rule], (), times=str(bounds))
            arrows.append(again)
    names = tuple(map(name_node, range(len(nodes))))
    counted_rules = zip(nodes.names, nodes.counts, strict=True)
    repeats = tuple((name, str(bounds)) for name, bounds in counted_rules if bounds)
    return Sketch(names, tuple(arrows), nodes.starts[0], nodes.accepting, rules=rules, repeats=repeats)


def _nodes_of_rules(nodes: RuleNodes, arrows: Iterable[Arrow]) -> tuple[DrawnRule, ...]:
    """The nodes of every rule in order, without those that no arrow reaches: nothing can be completed from them."""
    found = [[start] for start in nodes.starts]
    reached = {arrow.target for arrow in arrows}
    for node in sorted(reached.difference(nodes.starts)):
        found[nodes.rule_of[node]].append(node)
    return tuple(zip(nodes.names, map(tuple, found), strict=True))


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
    groups = [(reading(title), states) for title, states in sketch.groups]
    return replace(sketch, names=names, groups=tuple(groups))


def by_state(arrows: Collection[Arrow]) -> tuple[ByState, ByState]:
    """The arrows into each state, and those out of it."""
    into = grouped((arrow.target, arrow) for arrow in arrows)
    return into, grouped((arrow.source, arrow) for arrow in arrows)


# --- the bytes of an arrow as text ---


LABEL_LENGTH = 16  # characters of a label, and twice as many of a chain's; the tooltip has the rest
ASCII_BYTES = frozenset(range(128))


def say_arrow(arrow: Arrow) -> str:
    """The bytes of an arrow, short for its label; those of a folded chain as one text.

    >>> say_arrow(Arrow(0, 1, ((48, 57),))), say_arrow(Arrow(0, 2, ((97, 97), (32, 32)), through=(1,)))
    ('0-9', 'a␣')
    """
    if arrow.times:
        return f"{arrow.times} times"
    if arrow.folds_loop:
        return shorten(say_ranges(arrow.ranges, 64), LABEL_LENGTH)
    if arrow.through:
        return shorten(_say_chain(arrow), 2 * LABEL_LENGTH)
    return shorten(say_ranges(arrow.ranges), LABEL_LENGTH)


def say_arrow_in_full(arrow: Arrow) -> str:
    """The bytes of an arrow in full, for its tooltip.

    >>> say_arrow_in_full(Arrow(0, 4, ((97, 97), (195, 195), (169, 169), (32, 32)), through=(1, 2, 3)))
    'aé␣ (3 states inside)'
    """
    if arrow.call:
        return f"calls {arrow.call}"
    if arrow.times:
        return f"again, {arrow.times} times in all"
    text = say_ranges(arrow.ranges, 64, whole=True)
    if not arrow.through:
        return text
    if not arrow.folds_loop:
        text = _say_chain(arrow)
    return f"{text} ({counted(len(arrow.through), 'state')} inside)"


def _say_chain(arrow: Arrow) -> str:
    return visible(bytes(low for low, _ in arrow.ranges))


def say_row(row: Sequence[Ranges]) -> Iterator[str]:
    """Arrows in a row: single bytes as one text, equal classes as one with a count.

    >>> list(say_row([((58, 58),), ((32, 32),), ((48, 57),), ((48, 57),)]))
    [':␣', '0-9 ×2']
    """
    for single, group in groupby(row, key=is_one_byte):
        if single:
            yield visible(bytes(low for [(low, _)] in group))
            continue
        for ranges, same in groupby(group):
            count = len(list(same))
            said = say_ranges(ranges)
            yield said if count == 1 else f"{said} ×{count}"


def say_ranges(ranges: Ranges, limit: int = 4, whole: bool = False) -> str:
    """Ranges of bytes, short for a label or in full for a tooltip.

    >>> say_ranges(((48, 57),)), say_ranges(((0, 33), (35, 91), (93, 127))), say_ranges(((0xC2, 0xDF),)), say_ranges(())
    ('0-9', 'any but " \\\\', '0xC2-0xDF', 'ε')
    """
    if not ranges:
        return "an epsilon edge: reads nothing" if whole else "ε"
    values = values_in(ranges)
    if len(values) == 256:
        return "any byte"
    parts = []
    if values & ASCII_BYTES:
        parts.append(_say_ascii(values & ASCII_BYTES, limit, whole))
    for low, high in byte_ranges(values - ASCII_BYTES):
        said = BYTE_SIGNS.get(low, f"0x{low:02X}")
        if low < high:
            said += f"-0x{high:02X}"
        parts.append(said)
    return (", " if whole else " ").join(parts)


def values_in(ranges: Iterable[tuple[int, int]]) -> set[int]:
    """The bytes in these ranges.

    >>> sorted(values_in([(48, 50), (65, 65)]))
    [48, 49, 50, 65]
    """
    return {value for low, high in ranges for value in range(low, high + 1)}


def _say_ascii(values: Set[int], limit: int, whole: bool) -> str:
    """A few characters as they are, and many by what is missing of them."""
    missing = ASCII_BYTES - values
    without_controls = missing >= LOW_CONTROLS
    seen = missing - LOW_CONTROLS if without_controls else missing
    if len(values) <= 64 or len(seen) > 8:
        return visible_bytes(values, limit)
    kind = "any ASCII" if whole or not missing else "any"
    words = [visible_bytes(seen, 8)] if seen else []
    if without_controls:
        words.append("controls" if whole else "ctrl")
    missed = (" and " if whole else " ").join(words)
    return f"{kind} but {missed}" if words else kind
