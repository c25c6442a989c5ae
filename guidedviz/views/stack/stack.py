"""The stack of a pushdown machine: as a column, as its depth along a text, and as a table of what each byte changes.

Only recursive rules need a stack, because a call of any other rule could be inlined. So the table shows the recursive
rules, if there are any; `every` shows all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from guidedviz.errors import shorten
from guidedviz.machines.grammars.grammar import find_loops
from guidedviz.machines.machine import to_bytes
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.pushdown.stacks import Frame, State, first_stack
from guidedviz.machines.visible import visible
from guidedviz.markup import NOTHING, Element, node, together
from guidedviz.views.figure import Figure, drawing, heading, moved, soft, wide, write
from guidedviz.views.machine.highlight import check_pda, state_after
from guidedviz.views.words import label

WIDTH, EDGE, CARD, FOLD, MOST_CARDS = 252.0, 14.0, 42.0, 22.0, 12
OUTER = 2  # cards at the bottom of a folded stack


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


def fold_stack(frames: Sequence[Frame], depth: int, most: int) -> tuple[list[tuple[int, Frame]], int]:
    """At most `most` frames with their heights in the stack, and after how many of them the others are folded.

    >>> rows, inner = fold_stack([Frame("a", 0, "x", 0)] * 40, 40, 5)
    >>> [height for height, _ in rows], inner
    ([40, 39, 38, 2, 1], 3)
    """
    rows, inner = [(depth - place, frame) for place, frame in enumerate(frames)], most - OUTER
    if depth <= most:
        return rows, depth
    return rows[:inner] + (rows[-OUTER:] if len(rows) == depth else []), inner


def write_stack(pda: PDA, state: State, width: float, most: int = MOST_CARDS) -> tuple[Element, float]:
    """The column as part of a larger picture, and its height."""
    depth = pda.depth(state)
    rows, inner = fold_stack(pda.frames(state), depth, most)
    parts, y = [write(0, 11, "stack", font_weight="bold")], 24.0
    parts.append(soft(width, 11, f"depth {depth:,}", text_anchor="end"))
    if ways := say_ways(state):
        parts.append(soft(0, y + 5, ways))
        y += 18
    for place, (height, frame) in enumerate(rows):
        parts.append(moved(0, y, _card(frame, height, place == 0, width)))
        y += CARD + 4
        if place == inner - 1 and len(rows) < depth:
            more = f"⋮ {depth - len(rows):,} more"
            parts.append(soft(width / 2, y + 13, more, text_anchor="middle"))
            y += FOLD
    parts.append(node("path", d=f"M0,{y + 2:g}h{width:g}", stroke="var(--gv-ink)", stroke_width=3))
    hatch = "".join(f"M{x:g},{y + 4:g}l-5,6" for x in range(8, int(width), 10))
    parts.append(node("path", d=hatch, stroke="var(--gv-soft)", stroke_width=1))
    parts.append(soft(width, y + 26, say_ground(state), text_anchor="end"))
    return together(parts), y + 30


def _card(frame: Frame, height: int, now: bool, width: float) -> Element:
    line = {"stroke": "var(--gv-orange)", "stroke_width": 2.4} if now else {"stroke": "var(--gv-blue)"}
    box = node("rect", x=0, y=0, width=width, height=CARD, rx=5, fill="var(--gv-page)", **line)
    name = write(22, 17, shorten(frame.rule, 22), 14, mono=True, font_weight="bold")
    mark = write(8, 17, "▸", 13, fill="var(--gv-orange)") if now else NOTHING
    waits = soft(22, 34, shorten(f"{'now' if now else 'then'} {frame.waits}", int(width / 6.4) - 6))
    return box + mark + name + waits + soft(width - 8, 17, f"{height:,}", text_anchor="end")


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
    depth = pda.depth(state)
    rows, inner = fold_stack(pda.frames(state), depth, MOST_CARDS)
    wide = len(f"{depth:,}")
    ways = say_ways(state)
    lines = [f"stack: depth {depth:,}" + f" · {ways}" * bool(ways)]
    for place, (height, frame) in enumerate(rows):
        says = f"{'now' if not place else 'then'} {frame.waits}"
        lines.append(f"{'▸' if not place else ' '} {height:>{wide},} {frame.rule}  {says}")
    if len(rows) < depth:
        lines.insert(1 + inner, f"  ⋮ {depth - len(rows):,} more")
    return "\n".join([*lines, f"⏚ {say_ground(state)}"])


# --- the depth along a text ---


LEFT, TOP, RIGHT = 44.0, 34.0, 20.0
SPAN = 860.0
PITCH = 15.0  # the width of a byte in a short text
LEGIBLE, HIGH = 7.0, 120.0
MOST_COLUMNS = 430  # in a longer text several bytes share a column
TOLD = 60  # depths in the text


def depths(pda: PDA, data: bytes) -> list[int]:
    """The number of open rules before the text and after each of its bytes.

    >>> depths(gv.grammar('root ::= "(" root ")" | "x"'), b"((x))")
    [1, 1, 2, 2, 1, 0]
    """
    state, found = pda.initial, [pda.depth(pda.initial)]
    for place, byte in enumerate(data):
        state = pda.step(state, byte) or state_after(pda, data[: place + 1])  # raises, naming the byte
        found.append(pda.depth(state))
    return found


def draw_depth(pda: PDA, text: bytes | str) -> Figure:
    """The depth of the stack along a text.

    >>> draw_depth(gv.grammar('root ::= "(" root ")" | "x"'), "((x))").text
    'depth along ((x)): 1, then 1 2 2 1 0; deepest 2 after 2 bytes'
    """
    check_pda(pda, "draw_depth")
    data = to_bytes(text)
    found = depths(pda, data)
    columns = _columns(found[1:])
    pitch = min(PITCH, SPAN / max(1, len(columns)))
    top, most = max(found), max(1, *found)
    step = min(18.0, HIGH / most)
    ground = TOP + most * step
    width = LEFT + pitch * max(len(columns), 24) + RIGHT
    parts = [*_grid(most, step, ground, width), *_curve(found[0], columns, pitch, step, ground)]
    several = -(-len(data) // len(columns)) if columns else 1
    legible = several == 1 and pitch >= LEGIBLE
    parts += _letters(data, pitch, ground) if legible else [_ticks(data, pitch, several, ground)]
    about = f"deepest {top:,}" + (f" · {several} bytes per column, the deepest of them" if several > 1 else "")
    parts.append(heading(14, 18, "depth", about))
    said = _say(data, found)
    return Figure(drawing(width, ground + 40, *parts, alt=said), said, said)


def _columns(found: Sequence[int]) -> list[int]:
    several = -(-len(found) // MOST_COLUMNS) or 1
    return [max(found[place : place + several]) for place in range(0, len(found), several)]


def _grid(most: int, step: float, ground: float, width: float) -> Iterator[Element]:
    every = next(size * 10**power for power in range(20) for size in (1, 2, 5) if size * 10**power * 5 >= most)
    for depth in range(0, most + 1, every):
        y = ground - depth * step
        yield node("path", d=f"M{LEFT:g},{y:g}H{width - RIGHT:g}", stroke="var(--gv-line)", stroke_width=1)
        yield soft(LEFT - 8, y + 4, f"{depth:,}", 11, text_anchor="end")


def _curve(first: int, columns: Sequence[int], pitch: float, step: float, ground: float) -> list[Element]:
    way, x = f"M{LEFT - 5:g},{ground - first * step:g}H{LEFT:g}", LEFT
    area = f"M{LEFT:g},{ground:g}"
    for depth in columns:
        x += pitch
        turn = f"V{ground - depth * step:.5g}H{x:.5g}"
        way, area = way + turn, area + turn
    below = node("path", d=f"{area}V{ground:g}Z", fill="var(--gv-blue)", fill_opacity=0.12)
    return [below, node("path", d=way, fill="none", stroke="var(--gv-blue)", stroke_width=2)]


def _letters(data: bytes, pitch: float, ground: float) -> Iterator[Element]:
    """The characters of the text, each at its first byte; one with a long name is a box with a tooltip."""
    place, text = 0, data.decode("utf-8", "surrogateescape")
    for character in text:
        raw = character.encode("utf-8", "surrogateescape")
        name = visible(raw)
        words = name if len(name) == 1 else "▯"
        letter = write(LEFT + pitch * (place + 0.5), ground + 18, words, 13, mono=True, text_anchor="middle")
        place += len(raw)
        newest = {"data_newest": ""} if place == len(data) else {}
        yield node("g", node("title", label(raw)), letter, **newest)


def _ticks(data: bytes, pitch: float, several: int, ground: float) -> Element:
    ends = soft(LEFT, ground + 18, shorten(label(data[:40]), 30), 11, mono=True)
    right = LEFT + pitch * -(-len(data) // several)
    return ends + soft(right, ground + 18, f"{len(data):,} bytes", 11, text_anchor="end", data_newest="")


def _say(data: bytes, found: Sequence[int]) -> str:
    shown = " ".join(map(str, found[1 : TOLD + 1])) + (f" … {len(data) - TOLD:,} more" if len(data) > TOLD else "")
    said = f"depth along {shorten(label(data[:200]), TOLD)}: {found[0]}, then {shown or 'nothing'}"
    return f"{said}; deepest {max(found):,} after {found.index(max(found)):,} bytes"


# --- the table ---


MOST_BYTES, MOST_ROWS = 1000, 40
FIRST = 30  # rows above the fold of a longer table
LEVELS = 40  # of a stack that are compared, from the top
NAMED = 6  # rules of the stack in a row
ROW = 25.0
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
