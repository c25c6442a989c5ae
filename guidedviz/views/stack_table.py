"""A text through the pushdown machine as a table: what was read, what was pushed and popped, the stack after it.

Only rules that can come to stand inside themselves need a stack: a call of any other could be written out in its place.
So the table shows those alone, if there are any; `every` shows all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice

from guidedviz.machines.machine import to_bytes
from guidedviz.machines.pda import PDA, State
from guidedviz.machines.settle import find_loops
from guidedviz.machines.stack import first_stack
from guidedviz.views.figure import Figure, drawing, node, shorten, wide, write
from guidedviz.views.pda import check_pda, state_after
from guidedviz.views.words import label

MOST_BYTES = 1000
MOST_ROWS = 40
FIRST = 30  # rows of a longer table that stand above its fold
LEVELS = 40  # of a stack, from the top
NAMED = 6  # rules of a stack that a row names
ROW = 25.0
EDGE = 14.0
Levels = Mapping[int, tuple[int, str]]  # from a height in the stack to an open call's number and its rule


@dataclass(frozen=True)
class StackRow:
    """Some bytes that were read: the first of them did this to the stack, the others left it alone."""

    read: bytes
    popped: tuple[str, ...]
    pushed: tuple[str, ...]
    changed: str  # a rule came in the place of the one that called it last
    stack: tuple[str, ...]  # after it, innermost first
    deeper: bool = False  # more lies below
    several: int = 1  # stacks that were possible then; the first is told
    other: bool = False  # the one told before could not go on: this is another

    @property
    def action(self) -> str:
        """What happened, in words."""
        said = [f"{'not' if self.other else 'pop'} {' '.join(self.popped)}"] * bool(self.popped)
        said += [self.changed] * bool(self.changed)
        return ", ".join(said + [f"push {' '.join(self.pushed)}"] * bool(self.pushed)) or "—"


def stack_rows(pda: PDA, data: bytes, every: bool = False) -> tuple[StackRow, ...]:
    """A row for every byte that pushes or pops, together with the bytes after it that do not.

    >>> from guidedviz.machines.json_grammar import json
    >>> for row in stack_rows(json(), b'{"a": [1]}'):
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
        state = pda.step(state, byte) or state_after(pda, data[: place + 1])  # which says where it cannot go on
        after = _levels(pda, state, keep, dict(before.values()))
        if after == before and rows:
            rows[-1] = replace(rows[-1], read=rows[-1].read + bytes([byte]))
        else:
            row = _row(byte, before, after, max(high, pda.depth(state)) - LEVELS)
            rows.append(replace(row, several=sum(len(cells) for _, cells in state.tops), other=other))
        before = after
    return tuple(rows)


def _goes_on(pda: PDA, state: State, byte: int) -> bool:
    """Whether the first stack reads a byte or has finished its top; if not, another one did."""
    at = next((node for node, _ in state.tops), None)
    return at is None or at in pda.nodes.ends or byte in pda.ways(at).reads


def nested_rules(pda: PDA) -> frozenset[str]:
    """The rules that can come to stand inside themselves; all rules if there are none."""
    nodes = pda.nodes
    graph: dict[str, list[str]] = {name: [] for name in nodes.names}
    for at, calls in enumerate(nodes.calls):
        graph[nodes.name_of(at)] += [nodes.names[rule] for rule, _ in calls]
    return frozenset[str]().union(*find_loops(graph)) or frozenset(nodes.names)


def _levels(pda: PDA, state: State, keep: frozenset[str], known: Mapping[int, str]) -> Levels:
    """The first stack by heights; a rule that is not kept stands in the name of the one that called it last."""
    depth, found = pda.depth(state), {}
    for place, (at, cell) in enumerate(islice(first_stack(pda, state), LEVELS)):
        rule = pda.nodes.name_of(at)
        name = rule if rule in keep else known.get(cell.number, "")
        if name:
            found[depth - place] = cell.number, name
    return found


def _row(byte: int, before: Levels, after: Levels, hidden: int) -> StackRow:
    """What happened above the levels that are too deep to be looked at."""
    old, new = dict(before.values()), dict(after.values())
    popped = tuple(name for level, (number, name) in before.items() if number not in new and level > hidden)
    pushed = tuple(name for level, (number, name) in after.items() if number not in old and level > hidden)
    changed = [f"{new[number]} in place of {name}" for number, name in old.items() if new.get(number, name) != name]
    return StackRow(bytes([byte]), popped, pushed[::-1], "".join(changed[:1]), tuple(new.values()), hidden > 0)


def draw_stack_table(pda: PDA, text: bytes | str, every: bool = False, unread: bytes = b"") -> Figure:
    """The table of a text; its last line says whether the text may end. It may not where more of it was left unread.

    >>> from guidedviz.machines.pda import grammar
    >>> print(draw_stack_table(grammar('root ::= "(" root ")" | "x"'), "((x))").text)
    step  read  stack      stack after, top first
    1     (     —          root
    2     (x    push root  root root
    3     )     pop root   root
    4     )     pop root   empty
    end         accept: finished, and the stack is empty
    """
    check_pda(pda, "draw_stack_table")
    data = to_bytes(text)
    lines = _fold(_lines(pda, data[:MOST_BYTES], every))
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


def _lines(pda: PDA, data: bytes, every: bool) -> list[tuple[str, ...]]:
    rows = stack_rows(pda, data, every)
    return [
        (str(number), shorten(label(row.read), 28), row.action, _say_names(row)) for number, row in enumerate(rows, 1)
    ]


def _say_names(row: StackRow) -> str:
    left = len(row.stack) - NAMED
    more = f" … {'over ' * row.deeper}{left} more" if left > 0 else ""
    first = f" · first of {row.several}" * (row.several > 1 and bool(row.stack))
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


def _write_line(line: tuple[str, ...], starts: list[float], y: float, head: bool) -> str:
    last, style = line[0] in ("end", "⋮"), {"fill": "var(--gv-soft)"} if head else {}
    parts = []
    for column, (x, words) in enumerate(zip(starts, line, strict=True)):
        colour = dict(style)
        if column == 2 and not head:
            colour = _colour(words)
            x = starts[1] if last and not line[1] else x
        parts.append(write(x, y, words, 13, mono=not head and not (last and column == 2), **colour))
    return node("g", *parts)


def _colour(action: str) -> dict[str, str]:
    """Beside the words push and pop, a colour: that of the way there and of the way back in the diagram."""
    for word, colour in (("accept", "green"), ("not", "orange"), ("push", "blue"), ("pop", "green")):
        if action.startswith(word):
            return {"fill": f"var(--gv-{colour})", "font_weight": "bold"}
    return {"fill": "var(--gv-ink)"}


def _rule(width: float, y: float) -> str:
    return node("path", d=f"M{EDGE:g},{y:g}H{width - EDGE:g}", stroke="var(--gv-line)", stroke_width=1.2)


def _say_table(lines: list[tuple[str, ...]]) -> str:
    body = [line for line in lines if line[0] not in ("end", "⋮") or line[1]]
    widths = [max(len(line[column]) for line in body) + 2 for column in range(4)]
    said = []
    for line in lines:
        if line in body:
            said.append("".join(f"{words:<{width}}" for words, width in zip(line, widths, strict=True)).rstrip())
        else:
            said.append(f"{line[0]:<{widths[0]}}{'':<{widths[1]}}{line[2]}")
    return "\n".join(said)
