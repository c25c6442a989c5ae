"""A pushdown machine at one state: what of its diagram is lit, and what a byte took.

Of several stacks all are lit, each down to the innermost forty calls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice, pairwise

from guidedviz.errors import SettingError
from guidedviz.machines.machine import to_bytes
from guidedviz.machines.pda import PDA, Cell, State
from guidedviz.machines.rule_nodes import RuleNodes
from guidedviz.machines.stack import MOST_SHOWN
from guidedviz.machines.visible import visible
from guidedviz.views.light import Light

MOST_TOPS = 60


def check_pda(machine: object, where: str) -> None:
    """Refuse to draw the stack of what has none.

    >>> from guidedviz.machines.regex import regex
    >>> check_pda(regex("a"), "draw_stack")
    Traceback (most recent call last):
    guidedviz.errors.SettingError: draw_stack: saw DFA, expected a pushdown machine; try: gv.grammar(text)
    """
    if not isinstance(machine, PDA):
        seen, expected = type(machine).__name__, "a pushdown machine"
        raise SettingError(where, seen=seen, expected=expected, hint="gv.grammar(text)")


def state_after(pda: PDA, text: State | bytes | str) -> State:
    """The state after a text, or the state itself; a text that cannot be read is an error that says where.

    >>> from guidedviz.machines.pda import grammar
    >>> state_after(grammar('root ::= "a"*'), "ab")
    Traceback (most recent call last):
    guidedviz.errors.SettingError: text, byte 1: saw b, expected a or its end
    """
    if isinstance(text, State):
        pda.is_accepting(text)  # refuses a state of another machine
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


def light_state(pda: PDA, state: State) -> Light:
    """The nodes one can be at, the calls that are open, and where they will go on.

    >>> from guidedviz.machines.pda import grammar
    >>> pda = grammar('root ::= "(" root ")" | "x"')
    >>> light = light_state(pda, state_after(pda, "(("))
    >>> sorted(light.now), light.calls, sorted(light.back)
    ([1], (('1:root', 1),), [3])
    """
    calls: Counter[str] = Counter()
    ways: set[tuple[int, int]] = set()  # from the rule that was called to the one that is open now
    back: set[int] = set()
    tops = [(node, cell) for node, cells in state.tops for cell in cells]
    for node, cell in tops[:MOST_TOPS]:
        stack = list(islice(_stack(pda, node, cell), MOST_SHOWN))
        back |= {after for after, _ in stack[1:]}
        calls |= Counter(key for (_, cell), (after, _) in pairwise(stack) for key in _callers(pda.nodes, cell, after))
        ways |= {(cell.rule, pda.nodes.rule_of[at]) for at, cell in stack}
    rules = frozenset(pda.nodes.name_of(node) for node, _ in state.tops)
    return Light(
        frozenset(pda.places(state)),
        calls=tuple(calls.items()),
        last=frozenset(key for way in ways for key in _last_calls(pda.nodes, *way)),
        back=frozenset(back),
        rules=rules,
        opened=frozenset(map(pda.nodes.name_of, back)),
    )


def taken_arrows(pda: PDA, state: State, byte: int) -> tuple[str, ...]:
    """The keys of the arrows by which a byte is read: rules that are called on the way read it at their start.

    >>> from guidedviz.machines.pda import grammar
    >>> pda = grammar('root ::= "(" root ")" | "x"')
    >>> taken_arrows(pda, state_after(pda, "("), ord("x"))
    ('0-2',)
    """
    reached = {at: None for node in pda.places(state) for at in free_places(pda.nodes, node)}
    return tuple(f"{at}-{target}" for at in reached for low, high, target in pda.nodes.edges[at] if low <= byte <= high)


def free_places(nodes: RuleNodes, node: int) -> list[int]:
    """The nodes that calls lead to from a node before a byte is read, the node itself first."""
    found = {node: None}
    waiting = [node]
    for at in waiting:
        for rule, after in nodes.calls[at]:
            for place in (nodes.starts[rule], *[after] * (nodes.starts[rule] in nodes.ends)):
                if place not in found:
                    found[place] = None
                    waiting.append(place)
    return waiting


def _stack(pda: PDA, node: int, cell: Cell) -> Iterator[tuple[int, Cell]]:
    yield node, cell
    while cell is not pda.bottom:
        node, cell = next(iter(pda.below(cell)))
        yield node, cell


def _callers(nodes: RuleNodes, cell: Cell, after: int) -> Iterator[str]:
    """The keys of the arrows by which a call was opened that goes on at this node."""
    for at in free_places(nodes, cell.node):
        if (cell.rule, after) in nodes.calls[at]:
            yield f"{at}:{nodes.names[cell.rule]}"


def _last_calls(nodes: RuleNodes, rule: int, target: int) -> list[str]:
    """The keys of the calls by which one came from an open rule to another that is not on the stack."""
    came: dict[int, tuple[int, int]] = {rule: (-1, rule)}
    ends = (*nodes.starts[1:], len(nodes))
    for at_rule in (waiting := [rule] if rule != target else []):
        for at in range(nodes.starts[at_rule], ends[at_rule]):
            for called, after in nodes.calls[at]:
                if after in nodes.last and called not in came:
                    came[called] = at, at_rule
                    waiting.append(called)
    keys: list[str] = []
    while target in came and target != rule:
        at, before = came[target]
        keys.append(f"{at}:{nodes.names[target]}")
        target = before
    return keys
