"""The stack of a pushdown machine: as a column, as its depth along a text, and as a table of what each byte changes.

Only recursive rules need a stack, because a call of any other rule could be inlined. So the table shows the recursive
rules, if there are any; `every` shows all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from guidedviz.errors import shorten
from guidedviz.machines.grammars.grammar import find_loops
from guidedviz.machines.machine import to_bytes
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.pushdown.stacks import State, first_stack
from guidedviz.markup import NOTHING, Element, node, together
from guidedviz.views.charts.plot import Axis, Chart, Series, draw_chart, round_ticks
from guidedviz.views.figure import Figure, drawing, moved, soft, wide, write
from guidedviz.views.machine.highlight import check_pda, state_after
from guidedviz.views.words import characters, label

WIDTH, EDGE, CARD, FOLD, MOST_CARDS = 252.0, 14.0, 42.0, 22.0, 12
OUTER = 2  # cards at the bottom of a folded stack
Row = tuple[str, str, str]  # a frame's height in the stack, its rule and what it waits for; a fold: "⋮", "" and words


def draw_stack(pda: PDA, text: State | bytes | str) -> Figure:
    """The open rules at a state or after a text; of several stacks, the first.

    >>> print(draw_stack(gv.grammar('root ::= "[" root "]" | "x"'), "[[").text)
    stack: depth 2
    ▸ 2 root  now [ or x
      1 root  then ]
    ⏚ bottom
    """
    state = state_after(pda, text, "draw_stack")
    svg, height = write_stack(pda, state, WIDTH - 2 * EDGE)
    said = say_stack(pda, state)
    return Figure(drawing(WIDTH, height + 2 * EDGE, moved(EDGE, EDGE, svg), alt=said), said, said)


def _rows(pda: PDA, state: State, most: int) -> list[Row]:
    """The frames, top first; of a deep stack the outer ones and how many are between them."""
    depth, frames = pda.depth(state), pda.frames(state)
    rows = [
        (f"{depth - place:,}", frame.rule, f"{'then' if place else 'now'} {frame.waits}")
        for place, frame in enumerate(frames)
    ]
    if depth <= most:
        return rows
    last = rows[-OUTER:] if len(rows) == depth else []  # of a very deep stack the machine lists the innermost frames
    first = rows[: most - OUTER]
    return [*first, ("⋮", "", f"{depth - len(first) - len(last):,} more"), *last]


def write_stack(pda: PDA, state: State, width: float, most: int = MOST_CARDS) -> tuple[Element, float]:
    """The column as part of a larger picture, and its height."""
    parts, y = [write(0, 11, "stack", font_weight="bold")], 24.0
    parts.append(soft(width, 11, f"depth {pda.depth(state):,}", text_anchor="end"))
    if ways := say_ways(state):
        parts.append(soft(0, y + 5, ways))
        y += 18
    for place, (height, rule, waits) in enumerate(_rows(pda, state, most)):
        if rule:
            parts.append(moved(0, y, write_card(rule, waits, height, place == 0, width)))
            y += CARD + 4
        else:
            parts.append(soft(width / 2, y + 13, f"{height} {waits}", text_anchor="middle"))
            y += FOLD
    parts.append(node("path", d=f"M0,{y + 2:g}h{width:g}", stroke="var(--gv-ink)", stroke_width=3))
    parts.append(soft(width, y + 20, say_ground(state), text_anchor="end"))
    return together(parts), y + 24


def write_card(name: str, waits: str, height: str, now: bool, width: float) -> Element:
    """The card of a frame."""
    line = {"stroke": "var(--gv-orange)", "stroke_width": 2.4} if now else {"stroke": "var(--gv-blue)"}
    box = node("rect", x=0, y=0, width=width, height=CARD, rx=5, fill="var(--gv-page)", **line)
    mark = write(8, 17, "▸", 13, fill="var(--gv-orange)") if now else NOTHING
    name_line = write(22, 17, shorten(name, 22), 14, mono=True, font_weight="bold")
    about = soft(22, 34, shorten(waits, int(width / 6.4) - 6))
    return box + mark + name_line + about + soft(width - 8, 17, height, text_anchor="end")


def say_ways(state: State) -> str:
    """In how many ways the text can be read, each with a stack of its own; nothing if there is one way.

    >>> pda = gv.json()
    >>> say_ways(pda.step(pda.initial, ord("1")))
    '2 ways to read this so far'
    """
    several = sum(len(cells) for _, cells in state.tops)
    return f"{several} ways to read this so far" if several > 1 else ""


def say_ground(state: State) -> str:
    """What is said of the bottom of a stack."""
    return "bottom · the text may end" if state.accepting else "bottom"


def say_stack(pda: PDA, state: State) -> str:
    """The column as text."""
    depth, ways = f"{pda.depth(state):,}", say_ways(state)
    lines = [f"stack: depth {depth}" + f" · {ways}" * bool(ways)]
    for place, (height, rule, waits) in enumerate(_rows(pda, state, MOST_CARDS)):
        frame = f"{height:>{len(depth)}} {rule}  {waits}" if rule else f"{height} {waits}"
        lines.append(f"{' ' if place else '▸'} {frame}")
    return "\n".join([*lines, f"⏚ {say_ground(state)}"])


# --- the depth along a text ---


SPAN, PITCH, LEAST = 860.0, 17.0, 24  # pixels of the curve and of a byte; bytes that a short text has room for
LEGIBLE = 80  # bytes whose characters are written below the curve
MOST_COLUMNS = 430  # in a longer text several bytes share a column
TOLD = 60  # depths in the text


def draw_depth(pda: PDA, text: bytes | str) -> Figure:
    """The depth of the stack along a text.

    >>> draw_depth(gv.grammar('root ::= "(" root ")" | "x"'), "((x))").text
    'depth along ((x)): 1, then 1 2 2 1 0; deepest 2 after 2 bytes'
    """
    check_pda(pda, "draw_depth")
    data, state = to_bytes(text), pda.initial
    found = [pda.depth(state)]
    for place, byte in enumerate(data):
        state = pda.step(state, byte) or state_after(pda, data[: place + 1])  # raises, naming the byte
        found.append(pda.depth(state))
    several = -(-len(data) // MOST_COLUMNS) or 1
    columns = [max(found[place : place + several]) for place in range(1, len(found), several)]
    most, count = max(5, *found), max(LEAST, len(columns))
    pitch = min(PITCH, SPAN / count)
    ticks = (
        characters(data, pitch - 2) if len(data) <= LEGIBLE else [(0.0, "0"), (float(len(columns)), f"{len(data):,}")]
    )
    x = Axis("" if len(data) <= LEGIBLE else "bytes", 0.0, count, tuple(ticks), grid=False, mono=len(data) <= LEGIBLE)
    y = Axis("", 0.0, most, round_ticks(0.0, most, 5))
    middles = [place + 0.5 for place in range(len(columns))]
    earlier = Series("", "bars", tuple(middles[:-1]), tuple(columns[:-1]), look="hollow", thick=1.0)
    last = Series("", "bars", tuple(middles[-1:]), tuple(columns[-1:]), thick=1.0, part="newest")
    about = f"deepest {max(found):,}" + f" · {several} bytes per column, the deepest of them" * (several > 1)
    shown = " ".join(map(str, found[1 : TOLD + 1])) + f" … {len(data) - TOLD:,} more" * (len(data) > TOLD)
    said = f"depth along {shorten(label(data[:200]), TOLD)}: {found[0]}, then {shown or 'nothing'}"
    said += f"; deepest {max(found):,} after {found.index(max(found)):,} bytes"
    return draw_chart(Chart("depth", x, y, (earlier, last), (about,), pitch * count, 110.0), said)


# --- the table ---


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
    state, rows = pda.initial, list[StackRow]()
    before = _calls(pda, state, keep, {})
    for place, byte in enumerate(data):
        pop = "pop" if _goes_on(pda, state, byte) else "not"
        state = pda.step(state, byte) or state_after(pda, data[: place + 1])  # raises, naming the byte
        after = _calls(pda, state, keep, before)
        if after == before and rows:
            rows[-1] = replace(rows[-1], read=rows[-1].read + bytes([byte]))
        else:
            names = tuple(after.values())
            rows.append(StackRow(bytes([byte]), _say_change(before, after, pop), names, say_ways(state)))
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


def _calls(pda: PDA, state: State, keep: frozenset[str], known: Mapping[int, str]) -> Calls:
    """The first stack; a rule that is not shown keeps the name of the rule that it replaced."""
    found = {}
    for at, cell in islice(first_stack(pda, state), pda.depth(state)):
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
    verdict = _say_end(pda, data, lines[-1][3] == "empty", unread)
    if (more := len(lines) - 1 - MOST_ROWS) > 0:
        lines[FIRST + 1 : FIRST + 1 + more] = [("⋮", f"{more:,} more rows", "", "")]
    letters = [max(map(len, column)) + 2 for column in zip(*lines, strict=True)]
    said = "\n".join(
        "".join(f"{words:<{room}}" for words, room in zip(line, letters, strict=True)).rstrip()
        for line in (*lines, ("end", "", verdict, ""))
    )
    widths = [max(wide(words, 13) for words in column) + 26 for column in zip(*lines, strict=True)]
    starts = [EDGE + sum(widths[:column]) for column in range(4)]
    width, low = max(EDGE + sum(widths), starts[1] + 8.0 * len(verdict) + EDGE), 5 + ROW * len(lines)
    parts = [soft(x, 20, words, 13) for x, words in zip(starts, HEAD, strict=True)]
    for number, line in enumerate(lines[1:], 1):
        looks = ("", "", _colour(line[2]), "")
        cells = zip(starts, line, looks, strict=True)
        parts += [_cell(x, 22 + ROW * number, words, look, True) for x, words, look in cells]
    parts += [_cell(EDGE, low + 17, "end", "", True), _cell(starts[1], low + 17, verdict, _colour(verdict), False)]
    lines_y = (30.0, low)
    parts += [node("path", d=f"M{EDGE:g},{y:g}H{width - EDGE:g}", stroke="var(--gv-line)") for y in lines_y]
    return Figure(drawing(width, low + ROW + 10, *parts, alt=said), said, said)


def _cell(x: float, y: float, words: str, colour: str, mono: bool) -> Element:
    look: dict[str, Any] = {"fill": f"var(--gv-{colour})", "font_weight": "bold"} if colour else {}
    return write(x, y, words, mono=mono, **look)


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
