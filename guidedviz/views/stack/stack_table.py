"""A text read by a pushdown machine, as a table: the bytes, what was pushed and popped, and the stack after them.

Only recursive rules need a stack, because a call of any other rule could be inlined. So the table shows the recursive
rules, if there are any; `every` shows all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from guidedviz.errors import shorten
from guidedviz.machines.grammars.analysis import find_loops
from guidedviz.machines.machine import to_bytes
from guidedviz.machines.pushdown.call_stack import first_stack
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.pushdown.stack_graph import State
from guidedviz.markup import Element, node, together
from guidedviz.views.figure import Figure, drawing, soft, wide, write
from guidedviz.views.machine.pushdown_highlight import check_pda, state_after
from guidedviz.views.stack.column import say_ways
from guidedviz.views.words import label

MOST_BYTES, MOST_ROWS = 1000, 40
FIRST = 30  # rows above the fold of a longer table
LEVELS = 40  # of a stack that are compared, from the top
NAMED = 6  # rules of the stack in a row
ROW, EDGE = 25.0, 14.0
Levels = Mapping[int, tuple[int, str]]  # height in the stack -> number of the open call, its rule


@dataclass(frozen=True)
class StackRow:
    """Bytes of which the first changed the stack like this and the others did not change it."""

    read: bytes
    popped: tuple[str, ...]
    pushed: tuple[str, ...]
    changed: str  # a rule replaced its caller, whose last call it is
    stack: tuple[str, ...]  # after the bytes, innermost first
    deeper: bool = False  # more rules are below
    ways: str = ""  # in how many ways the text can be read, where there are several; the row shows the first stack
    other: bool = False  # the stack of the row before could not read on; this is another

    @property
    def action(self) -> str:
        """The change as text."""
        said = [f"{'not' if self.other else 'pop'} {' '.join(self.popped)}"] * bool(self.popped)
        said += [self.changed] * bool(self.changed)
        return ", ".join(said + [f"push {' '.join(self.pushed)}"] * bool(self.pushed)) or "—"


def stack_rows(pda: PDA, data: bytes, every: bool = False) -> tuple[StackRow, ...]:
    """One row per byte that pushes or pops, with the bytes after it that do not.

    >>> for row in stack_rows(gv.json(), b'{"a": [1]}'):
    ...     print(f"{row.read.decode():6} {row.action:24} {' '.join(row.stack)}")
    {      push object              object
    "a":   push member              member object
    [1     array in place of member array object
    ]      pop array                object
    }      pop object
    """
    keep = frozenset(pda.nodes.names) if every else nested_rules(pda)
    state, rows = pda.initial, list[StackRow]()
    before = _levels(pda, state, keep, {})
    for place, byte in enumerate(data):
        high, other = pda.depth(state), not _goes_on(pda, state, byte)
        state = pda.step(state, byte) or state_after(pda, data[: place + 1])  # raises, naming the byte
        after = _levels(pda, state, keep, dict(before.values()))
        if after == before and rows:
            rows[-1] = replace(rows[-1], read=rows[-1].read + bytes([byte]))
        else:
            row = _row(byte, before, after, max(high, pda.depth(state)) - LEVELS)
            rows.append(replace(row, ways=say_ways(state), other=other))
        before = after
    return tuple(rows)


def _goes_on(pda: PDA, state: State, byte: int) -> bool:
    """Whether the first stack can read a byte or has finished its top rule; if not, another stack reads it."""
    at = next((node for node, _ in state.tops), None)
    return at is None or at in pda.nodes.ends or byte in pda.closure(at).reads


def nested_rules(pda: PDA) -> frozenset[str]:
    """The recursive rules; all rules if none is recursive."""
    nodes = pda.nodes
    graph: dict[str, list[str]] = {name: [] for name in nodes.names}
    for at, calls in enumerate(nodes.calls):
        graph[nodes.name_of(at)] += [nodes.names[rule] for rule, _ in calls]
    return frozenset[str]().union(*find_loops(graph)) or frozenset(nodes.names)


def _levels(pda: PDA, state: State, keep: frozenset[str], known: Mapping[int, str]) -> Levels:
    """The first stack by heights; a rule that is not shown keeps the name of the rule that it replaced."""
    depth, found = pda.depth(state), {}
    for place, (at, cell) in enumerate(islice(first_stack(pda, state), LEVELS)):
        rule = pda.nodes.name_of(at)
        name = rule if rule in keep else known.get(cell.number, "")
        if name:
            found[depth - place] = cell.number, name
    return found


def _row(byte: int, before: Levels, after: Levels, hidden: int) -> StackRow:
    """The change in the levels that are compared."""
    old, new = dict(before.values()), dict(after.values())
    popped = tuple(name for level, (number, name) in before.items() if number not in new and level > hidden)
    pushed = tuple(name for level, (number, name) in after.items() if number not in old and level > hidden)
    changed = [f"{new[number]} in place of {name}" for number, name in old.items() if new.get(number, name) != name]
    return StackRow(bytes([byte]), popped, pushed[::-1], "".join(changed[:1]), tuple(new.values()), hidden > 0)


def draw_stack_table(pda: PDA, text: bytes | str, every: bool = False, unread: bytes = b"") -> Figure:
    """The table of a text; its last line says whether the text may end. `unread` are bytes that follow it.

    >>> print(draw_stack_table(gv.grammar('root ::= "(" root ")" | "x"'), "((x))").text)
    step  read  stack      stack after, top first
    1     (     —          root
    2     (x    push root  root root
    3     )     pop root   root
    4     )     pop root   empty
    end         accept: finished, and the stack is empty
    """
    check_pda(pda, "draw_stack_table")
    data = to_bytes(text)
    rows = enumerate(stack_rows(pda, data[:MOST_BYTES], every), 1)
    lines = _fold([(f"{n}", shorten(label(row.read), 28), row.action, _say_names(row)) for n, row in rows])
    lines.append(_last_line(pda, data, bool(lines) and lines[-1][3] == "empty", unread))
    widths = [max(wide(line[column], 13) for line in [HEAD, *lines[:-1]]) + 26 for column in range(4)]
    starts = [EDGE + sum(widths[:column]) for column in range(4)]
    width = max(EDGE + sum(widths), starts[1] + 8.0 * len(lines[-1][2]) + EDGE)
    parts = [_write_line(HEAD, starts, 20.0, True), _rule(width, 30.0)]
    for number, line in enumerate(lines):
        y = 30 + ROW * number
        parts += [_write_line(line, starts, y + 17, False)]
        parts += [_rule(width, y + ROW)] * (number == len(lines) - 2)
    said = _say_table([HEAD, *lines])
    return Figure(drawing(width, 40 + ROW * len(lines), *parts, alt=said), said, said)


HEAD = ("step", "read", "stack", "stack after, top first")


def _say_names(row: StackRow) -> str:
    left = len(row.stack) - NAMED
    more = f" … {'over ' * row.deeper}{left} more" if left > 0 else ""
    first = f" · {row.ways}" * bool(row.ways and row.stack)
    return (" ".join(row.stack[:NAMED]) + more or "empty") + first


def _fold(lines: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    if len(lines) <= MOST_ROWS:
        return lines
    last = MOST_ROWS - FIRST
    return [*lines[:FIRST], ("⋮", f"{len(lines) - MOST_ROWS:,} more rows", "", ""), *lines[-last:]]


def _last_line(pda: PDA, data: bytes, empty: bool, unread: bytes) -> tuple[str, ...]:
    if len(data) > MOST_BYTES:
        return "⋮", "", f"the table ends here; {len(data) - MOST_BYTES:,} more bytes are not in it", ""
    state = state_after(pda, data)
    if state.accepting and unread:
        return "end", "", f"not read: {shorten(label(unread), 28)}", ""
    if state.accepting:
        said = "finished, and the stack is empty" if empty else "all that is open may end here"
        return "end", "", f"accept: {said}", ""
    top = pda.unfinished(state)
    return "end", "", f"not finished: {top.rule} waits for {top.waits}" if top else "not finished", ""


def _write_line(line: tuple[str, ...], starts: list[float], y: float, head: bool) -> Element:
    if head:
        return together(soft(x, y, words, 13) for x, words in zip(starts, line, strict=True))
    step, read, action, stack = line
    last = step in ("end", "⋮")
    change = write(starts[1 if last and not read else 2], y, action, mono=not last, **_colour(action))
    others = zip((starts[0], starts[1], starts[3]), (step, read, stack), strict=True)
    return change + together(write(x, y, words, mono=True) for x, words in others)


def _colour(action: str) -> dict[str, Any]:
    """The colour of push and pop, which is that of their curves in the diagram."""
    for word, colour in (("accept", "green"), ("not", "orange"), ("push", "blue"), ("pop", "green")):
        if action.startswith(word):
            return {"fill": f"var(--gv-{colour})", "font_weight": "bold"}
    return {"fill": "var(--gv-ink)"}


def _rule(width: float, y: float) -> Element:
    return node("path", d=f"M{EDGE:g},{y:g}H{width - EDGE:g}", stroke="var(--gv-line)", stroke_width=1.2)


def _say_table(lines: list[tuple[str, ...]]) -> str:
    body = [line for line in lines if line[0] not in ("end", "⋮") or line[1]]
    widths = [max(len(line[column]) for line in body) + 2 for column in range(4)]
    lines = [line if line in body else (line[0], "", line[2], "") for line in lines]
    return "\n".join("".join(f"{words:<{w}}" for words, w in zip(line, widths, strict=True)).rstrip() for line in lines)
