"""The highlight of a pushdown machine at a state, and the arrows that a byte takes.

All of several stacks are highlighted, each down to its innermost forty calls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice, pairwise

from guidedviz.errors import SettingError, expect
from guidedviz.machines.machine import to_bytes
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.pushdown.rules import RuleNodes, say_count
from guidedviz.machines.pushdown.stacks import MOST_SHOWN, Cell, State
from guidedviz.machines.visible import visible
from guidedviz.machines.work import reach
from guidedviz.views.machine.highlight import Highlight

MOST_TOPS = 60


def check_pda(machine: object, where: str) -> None:
    """Refuse a machine without a stack.

    >>> check_pda(gv.regex("a"), "draw_stack")
    Traceback (most recent call last):
    guidedviz.errors.SettingError: draw_stack: saw DFA, expected a pushdown machine; try: gv.grammar(text)
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
    state = pda.initial
    for place, byte in enumerate(to_bytes(text)):
        following = pda.step(state, byte)
        if following is None:
            top = pda.frames(state)
            expected = top[0].waits if top else "the end"
            raise SettingError(f"text, byte {place}", seen=visible(bytes([byte])), expected=expected)
        state = following
    return state


def highlight_state(pda: PDA, state: State) -> Highlight:
    """The current nodes, the open calls, and the nodes where these continue.

    >>> pda = gv.grammar('root ::= "(" root ")" | "x"')
    >>> lit = highlight_state(pda, state_after(pda, "(("))
    >>> sorted(lit.now), lit.calls, sorted(lit.back)
    ([1], (('1:root', 1),), [3])
    """
    calls: Counter[str] = Counter()
    ways: set[tuple[int, int]] = set()  # from a called rule to the one that is open now
    counts: dict[str, str] = {}
    back: set[int] = set()
    tops = [(node, cell) for node, cells in state.tops for cell in cells]
    for node, cell in tops[:MOST_TOPS]:
        stack = list(islice(_stack(pda, node, cell), MOST_SHOWN))
        back |= {after for after, _ in stack[1:]}
        calls |= Counter(key for (_, cell), (after, _) in pairwise(stack) for key in _callers(pda.nodes, cell, after))
        counts = {
            pda.nodes.names[cell.rule]: said for _, cell in reversed(stack) if (said := _counter(pda, cell))
        } | counts
        ways |= {(cell.rule, pda.nodes.rule_of[at]) for at, cell in stack}
    rules = frozenset(pda.nodes.name_of(node) for node, _ in state.tops)
    return Highlight(
        frozenset(pda.places(state)),
        calls=tuple(calls.items()),
        last=frozenset(key for way in ways for key in _last_calls(pda.nodes, *way)),
        back=frozenset(back),
        rules=rules,
        opened=frozenset(map(pda.nodes.name_of, back)),
        counts=tuple(counts.items()),
    )


def _counter(pda: PDA, cell: Cell) -> str:
    """The counter of a counted rule."""
    bounds = pda.nodes.counts[cell.rule]
    return say_count(cell.counts, bounds) if bounds else ""


def taken_arrows(pda: PDA, state: State, byte: int) -> tuple[str, ...]:
    """The keys of the arrows that read a byte, at the state or at the start of a rule that it calls.

    >>> pda = gv.grammar('root ::= "(" root ")" | "x"')
    >>> taken_arrows(pda, state_after(pda, "("), ord("x"))
    ('0-2',)
    """
    reached = {at: None for node in pda.places(state) for at in free_places(pda.nodes, node)}
    edges = ((at, *edge) for at in reached for edge in pda.nodes.edges[at])
    return tuple(f"{at}-{pda.nodes.settled(target)}" for at, low, high, target in edges if low <= byte <= high)


def free_places(nodes: RuleNodes, node: int) -> list[int]:
    """The nodes that calls reach from a node without a byte, the node itself first."""

    def called(at: int) -> Iterator[int]:
        for rule, after in nodes.calls[at]:
            yield from (nodes.starts[rule], *[after] * (rule in nodes.skipped))

    return reach([node], called)


def _stack(pda: PDA, node: int, cell: Cell) -> Iterator[tuple[int, Cell]]:
    yield node, cell
    while cell is not pda.bottom:
        node, cell = next(iter(pda.below(cell)))
        yield node, cell


def _callers(nodes: RuleNodes, cell: Cell, after: int) -> Iterator[str]:
    """The keys of the calls that continue at this node."""
    for at in free_places(nodes, cell.node):
        if (cell.rule, after) in nodes.calls[at]:
            yield f"{at}:{nodes.names[cell.rule]}"


def _last_calls(nodes: RuleNodes, rule: int, target: int) -> list[str]:
    """The keys of the last calls that lead from an open rule to the current one and are not on the stack."""
    came: dict[int, tuple[int, int]] = {rule: (-1, rule)}
    ends = (*nodes.starts[1:], len(nodes))
    for at_rule in (waiting := [rule] if rule != target else []):
        for at in range(nodes.starts[at_rule], ends[at_rule]):
            for called, after in nodes.calls[at]:
                if after in nodes.last and not nodes.counts[called] and called not in came:
                    came[called] = at, at_rule
                    waiting.append(called)
    keys: list[str] = []
    while target in came and target != rule:
        at, before = came[target]
        keys.append(f"{at}:{nodes.names[target]}")
        target = before
    return keys
