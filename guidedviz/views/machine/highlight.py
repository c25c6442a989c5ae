"""The highlighted parts of a diagram, by the machine's own numbers: the current states, the path, the open calls.

Of several stacks each is highlighted, down to its innermost forty calls.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from typing import Any

from guidedviz.decoding.trace import Step, tokens_before
from guidedviz.errors import SettingError, expect
from guidedviz.machines.graph import grouped, reach
from guidedviz.machines.machine import read_path, to_bytes
from guidedviz.machines.pushdown.automaton import RuleNodes
from guidedviz.machines.pushdown.pda import MOST_SHOWN, PDA
from guidedviz.machines.pushdown.stack import Cell, State
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.visible import visible
from guidedviz.views.layout.sketch import Arrow

MOST_TOPS = 60


@dataclass(frozen=True)
class Highlight:
    """The current states, the path to them with the numbers of its bytes, and the open calls of a grammar."""

    now: frozenset[int] = frozenset()
    met: frozenset[int] = frozenset()
    arrows: frozenset[str] = frozenset()  # by their keys
    numbers: Mapping[tuple[int, int], str] = field(default_factory=dict)  # of the bytes that took an arrow
    cross: tuple[int, str] | None = None  # the state where a text died, and the byte that it could not read
    calls: tuple[tuple[str, int], ...] = ()  # keys of open calls, with how often each is open
    last: frozenset[str] = frozenset()  # keys of last calls, which leave nothing on the stack
    back: frozenset[int] = frozenset()  # the nodes where the callers continue
    rules: frozenset[str] = frozenset()  # the current rules
    opened: frozenset[str] = frozenset()  # the rules on the stack
    counts: tuple[tuple[str, str], ...] = ()  # the open counted rules, each with its counter

    @classmethod
    def of_path(cls, path: Sequence[int], died: str = "") -> "Highlight":
        """The highlight of a path; its arrows are numbered if there are several.

        >>> Highlight.of_path([0, 1, 1]).numbers
        {(0, 1): '1', (1, 1): '2'}
        """
        numbered = enumerate(pairwise(path), 1)
        steps = grouped((pair, number) for number, pair in numbered)
        arrows = frozenset(f"{source}-{target}" for source, target in steps)
        numbers = {}
        if len(path) > 2 or (died and len(path) == 2):
            numbers = {pair: say_numbers(found) for pair, found in steps.items()}
        cross = (path[-1], died) if died else None
        return cls(frozenset(path[-1:]), frozenset(path), arrows, numbers, cross)

    @classmethod
    def of_state(cls, pda: PDA, state: State) -> "Highlight":
        """The current nodes, the open calls, and the nodes where these continue.

        >>> from guidedviz.views.machine.highlight import state_after
        >>> pda = gv.grammar('root ::= "(" root ")" | "x"')
        >>> lit = Highlight.of_state(pda, state_after(pda, "(("))
        >>> sorted(lit.now), lit.calls, sorted(lit.back)
        ([1], (('1:root', 1),), [3])
        """
        nodes = pda.nodes
        calls: Counter[str] = Counter()
        opened: set[tuple[int, int]] = set()  # a called rule, and the rule that is open now
        counts: dict[str, str] = {}
        back: set[int] = set()
        for top in state.configurations[:MOST_TOPS]:
            stack = list(islice(pda.stack_under(*top), MOST_SHOWN))
            calls |= _open_calls(nodes, stack)
            back.update(after for after, _ in stack[1:])
            for node, cell in stack:
                opened.add((cell.rule, nodes.rule_of[node]))
                bounds = nodes.counts[cell.rule]
                if bounds:
                    counts.setdefault(nodes.names[cell.rule], bounds.describe(cell.counts))
        last = frozenset(key for called, now in opened for key in _last_calls(nodes, called, now))
        rules = frozenset(nodes.name_of(node) for node, _ in state.tops)
        lit = cls(frozenset(pda.places(state)), rules=rules)
        lit = replace(lit, calls=tuple(calls.items()), counts=tuple(counts.items()))
        return replace(lit, last=last, back=frozenset(back), opened=frozenset(map(nodes.name_of, back)))


UNLIT = Highlight()


def say_numbers(numbers: Sequence[int]) -> str:
    """The steps that took an arrow, as its label.

    >>> say_numbers([1]), say_numbers([1, 2]), say_numbers([1, 2, 3, 4, 5])
    ('1', '1 2', '1 2 … 5')
    """
    if len(numbers) <= 3:
        return " ".join(map(str, numbers))
    first, second, *_, last = numbers
    return f"{first} {second} … {last}"


def arrow_key(arrow: Arrow) -> str:
    """The key of an arrow on the page; it differs for arrows that read, that are free, and that call a rule.

    >>> arrow_key(Arrow(0, 1, ((97, 97),))), arrow_key(Arrow(0, 1, ())), arrow_key(Arrow(0, 1, (), "array"))
    ('0-1', '0~1', '0:array')
    """
    if arrow.call:
        return f"{arrow.source}:{arrow.call}"
    source, target = arrow_ends(arrow)
    return f"{source}{'-' if arrow.ranges else '~'}{target}"


def arrow_ends(arrow: Arrow) -> tuple[int, int]:
    """The states before and after an arrow's first byte; two chains between the same states differ in them.

    >>> arrow_ends(Arrow(0, 3, ((97, 97), (98, 98), (99, 99)), through=(1, 2)))
    (0, 1)
    """
    return arrow.source, arrow.through[0] if arrow.through else arrow.target


def taken_arrows(pda: PDA, state: State, byte: int) -> tuple[str, ...]:
    """The keys of the arrows that read a byte, at the state or at the start of a rule that it calls.

    >>> from guidedviz.views.machine.highlight import state_after
    >>> pda = gv.grammar('root ::= "(" root ")" | "x"')
    >>> taken_arrows(pda, state_after(pda, "("), ord("x"))
    ('0-2',)
    """
    nodes = pda.nodes
    keys = []
    free = dict[int, None]()  # without duplicates, in order
    for place in pda.places(state):
        free |= dict.fromkeys(free_places(nodes, place))
    for node in free:
        for low, high, target in nodes.edges[node]:
            if low <= byte <= high:
                keys.append(f"{node}-{nodes.past_tick(target)}")
    return tuple(keys)


def free_places(nodes: RuleNodes, start: int) -> Iterable[int]:
    """The nodes that calls reach from a node without a byte, the node itself first."""

    def follow(node: int) -> Iterator[int]:
        for rule, after in nodes.calls[node]:
            yield nodes.starts[rule]
            if rule in nodes.skipped:
                yield after

    return reach([start], follow)


def _open_calls(nodes: RuleNodes, stack: Sequence[tuple[int, Cell]]) -> Counter[str]:
    """The keys of the calls on a stack, and how often each is there."""
    calls: Counter[str] = Counter()
    for (_, cell), (after, _) in pairwise(stack):
        for node in free_places(nodes, cell.node):
            if (cell.rule, after) in nodes.calls[node]:
                calls[f"{node}:{nodes.names[cell.rule]}"] += 1
    return calls


def _last_calls(nodes: RuleNodes, rule: int, target: int) -> tuple[str, ...]:
    """The keys of the last calls that lead from an open rule to the current one and are not on the stack."""
    came: dict[int, tuple[str, ...]] = {rule: ()}
    ends = (*nodes.starts[1:], len(nodes))
    waiting = [rule]
    for caller in waiting:
        for node in range(nodes.starts[caller], ends[caller]):
            for called, after in nodes.calls[node]:
                is_last = after in nodes.byteless and not nodes.counts[called]
                if is_last and called not in came:
                    key = f"{node}:{nodes.names[called]}"
                    came[called] = (*came[caller], key)
                    waiting.append(called)
    return came.get(target, ())


# --- the states along a text, and along a recording ---


Drawable = DFA | PDA
StatePath = tuple[Any, ...]


def check_pda(machine: object, where: str) -> None:
    """Refuse a machine without a stack.

    >>> check_pda(gv.regex("a"), "draw_stack_table")
    Traceback (most recent call last):
    guidedviz.errors.SettingError: draw_stack_table: saw DFA, expected a pushdown machine; try: gv.grammar(text)
    """
    expect(machine, PDA, where, "a pushdown machine", "gv.grammar(text)")


def state_after(pda: PDA, text: State | bytes | str, where: str = "text") -> State:
    """The state after a text, or the state itself; an error names the first byte that cannot be read.

    >>> state_after(gv.grammar('root ::= "a"*'), "ab")
    Traceback (most recent call last):
    guidedviz.errors.SettingError: text, byte 1: saw b, expected a or its end
    """
    check_pda(pda, where)
    if isinstance(text, State):
        pda.is_accepting(text)  # raises for a state of another machine
        return text
    return states_along(pda, to_bytes(text))[-1]


def states_along(pda: PDA, data: bytes) -> tuple[State, ...]:
    """The state before the first byte of a text and after each; an error names the first byte that cannot be read."""
    path: tuple[State, ...] = read_path(pda, data)
    if (read := len(path) - 1) < len(data):
        top = pda.frames(path[-1])
        expected = top[0].waits if top else "the end"
        seen = visible(data[read : read + 1])
        raise SettingError(f"text, byte {read}", seen=seen, expected=expected)
    return path


def read_bytes(step: Step) -> bytes:
    """The bytes that a machine reads at a step; the end reads none."""
    if step.how == "none" or step.end == "eos":
        return b""
    return step.piece


def recorded_paths(machine: Drawable, steps: Sequence[Step]) -> list[StatePath]:
    """The initial state, and the path of every step; each starts where the step that it follows ends."""
    paths: list[StatePath] = [(machine.initial,)]
    for step, place in zip(steps, tokens_before(steps), strict=True):
        before = paths[place][-1]
        paths.append(read_path(machine, read_bytes(step), before))
    return paths
