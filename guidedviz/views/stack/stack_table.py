"""What each byte of a text does to the stack, as a table.

Only recursive rules need a stack, because a call of any other rule could be inlined. So the table shows the recursive
rules, if there are any; `every` shows all.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice, pairwise

from guidedviz.errors import expect, shorten
from guidedviz.machines.grammars.grammar import recursive_rules
from guidedviz.machines.machine import to_bytes
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.pushdown.stack import State
from guidedviz.markup import Element, node
from guidedviz.views.figure import Figure, figure_of, soft, wide, write
from guidedviz.views.machine.paths import check_pda, state_after, states_along
from guidedviz.views.stack.column import EDGE, say_ways
from guidedviz.views.words import align, label

MOST_BYTES, MOST_ROWS = 300, 40
FIRST = 30  # rows above the fold of a longer table
NAMED = 6  # rules of the stack in a row
ROW = 25.0
HEAD = ("step", "read", "stack", "stack after, top first")
Calls = dict[int, str]  # the first stack, top first: the number of each open call, and its rule


@dataclass(frozen=True)
class StackRow:
    """Bytes of which the first changed the stack and the others did not."""

    read: bytes
    action: str
    stack: tuple[str, ...]  # after the bytes, innermost first
    ways: str = ""  # in how many ways the text can be read, where there are several; the row shows the first stack


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
    rows, calls = list[StackRow](), _calls(pda, pda.initial, keep, {})
    for byte, (before, state) in zip(data, pairwise(states_along(pda, data)), strict=True):
        old, calls = calls, _calls(pda, state, keep, calls)
        if calls == old and rows:
            rows[-1] = replace(rows[-1], read=rows[-1].read + bytes([byte]))
        else:
            change = _say_change(old, calls, "pop" if _goes_on(pda, before, byte) else "not")
            rows.append(StackRow(bytes([byte]), change, tuple(calls.values()), say_ways(state)))
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
    return recursive_rules(graph) or frozenset(nodes.names)


def _calls(pda: PDA, state: State, keep: frozenset[str], known: Mapping[int, str]) -> Calls:
    """The first stack; a rule that is not shown keeps the name of the rule that it replaced."""
    found = {}
    for at, cell in islice(pda.first_stack(state), pda.depth(state)):
        rule = pda.nodes.name_of(at)
        if name := rule if rule in keep else known.get(cell.number, ""):
            found[cell.number] = name
    return found


def _say_change(old: Calls, new: Calls, pop: str) -> str:
    """What a byte changed; a rule that is the last call of another takes its place."""
    popped = [name for number, name in old.items() if number not in new]
    pushed = [name for number, name in new.items() if number not in old]
    replaced = [f"{new[number]} in place of {name}" for number, name in old.items() if new.get(number, name) != name]
    said = [f"{pop} {' '.join(popped)}"] * bool(popped) + replaced[:1]
    return ", ".join(said + [f"push {' '.join(reversed(pushed))}"] * bool(pushed)) or "—"


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
    lines = [HEAD, *((f"{n}", shorten(label(row.read), 28), row.action, _say_names(row)) for n, row in rows)]
    verdict = _say_end(pda, data, lines[-1][3] == "empty", expect(unread, bytes, "draw_stack_table, unread", "bytes"))
    if (more := len(lines) - 1 - MOST_ROWS) > 0:
        lines[FIRST + 1 : FIRST + 1 + more] = [("⋮", f"{more:,} more rows", "", "")]
    said = align(lines, ())
    said.append("end".ljust(said[0].index("stack")) + verdict)
    widths = [max(wide(words, 13) for words in column) + 26 for column in zip(*lines, strict=True)]
    starts = [EDGE + sum(widths[:column]) for column in range(4)]
    width, low = max(EDGE + sum(widths), starts[1] + 8.0 * len(verdict) + EDGE), 5 + ROW * len(lines)
    parts = [soft(x, 20, words, 13) for x, words in zip(starts, HEAD, strict=True)]
    for number, line in enumerate(lines[1:], 1):
        looks = ("", "", _colour(line[2]), "")
        cells = zip(starts, line, looks, strict=True)
        parts += [_cell(x, 22 + ROW * number, words, look, True) for x, words, look in cells]
    parts += [_cell(EDGE, low + 17, "end", "", True), _cell(starts[1], low + 17, verdict, _colour(verdict), False)]
    parts += [node("path", d=f"M{EDGE:g},{y:g}H{width - EDGE:g}", stroke="var(--gv-line)") for y in (30.0, low)]
    return figure_of(width, low + ROW + 10, "\n".join(said), *parts)


def _cell(x: float, y: float, words: str, colour: str, mono: bool) -> Element:
    bold = "bold" if colour else None
    return write(x, y, words, mono=mono, fill=f"var(--gv-{colour or 'ink'})", font_weight=bold)


def _say_names(row: StackRow) -> str:
    left = len(row.stack) - NAMED
    more = f" … {left} more" if left > 0 else ""
    first = f" · {row.ways}" * bool(row.ways and row.stack)
    return (" ".join(row.stack[:NAMED]) + more or "empty") + first


def _say_end(pda: PDA, data: bytes, empty: bool, unread: bytes) -> str:
    """Whether the text may end."""
    if len(data) > MOST_BYTES:
        return f"the table ends here; {len(data) - MOST_BYTES:,} more bytes are not in it"
    state = state_after(pda, data)
    if state.accepting and unread:
        return f"not read: {shorten(label(unread), 28)}"
    if state.accepting:
        return "accept: " + ("finished, and the stack is empty" if empty else "all that is open may end here")
    top = pda.unfinished(state)
    return f"not finished: {top.rule} waits for {top.waits}" if top else "not finished"


def _colour(action: str) -> str:
    """The colour of push and pop, which is that of their curves in the diagram."""
    colours = {"accept": "green", "not": "orange", "push": "blue", "pop": "green"}
    return next((colour for word, colour in colours.items() if action.startswith(word)), "")
