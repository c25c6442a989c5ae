"""The stack of a pushdown machine as a column of cards, and a table of what each byte of a text does to it.

Only recursive rules need a stack, because a call of any other rule could be inlined. So the table shows the recursive
rules, if there are any; `every` shows all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, islice

from guidedviz.errors import expect, shorten
from guidedviz.machines.grammars.grammar import recursive_rules
from guidedviz.machines.machine import to_bytes
from guidedviz.machines.pushdown.pda import MOST_SHOWN, PDA, Frame, make_frame
from guidedviz.machines.pushdown.stack import Cell, State
from guidedviz.markup import Element, node, together
from guidedviz.views.figure import (
    NEAR_EDGE,
    Drawn,
    Figure,
    Style,
    bold,
    figure_of,
    moved,
    rect,
    ruled,
    soft,
    soft_right,
    wide,
    write,
)
from guidedviz.views.machine.highlight import check_pda, state_after, states_along
from guidedviz.views.theme import paint
from guidedviz.views.words import align, label

STRIP_HIGH = 28.0
STRIP_PITCH = 31.0  # of a strip, with the gap after it
EDGE_HIGH = 8.0  # of a strip of which only the edge is shown
EDGE_PITCH = 11.0
MOST_EDGES = 4
MOST_OTHER_STACKS = 12  # other stacks that are followed
GROUND_HIGH = 20.0  # the words below the ground
MOST_SAID_FRAMES = 12  # frames in words
OUTER_CARDS = 2  # cards at the bottom of a folded stack
FRAME_LOOKS: dict[bool, Style] = {  # whether it is the current one
    True: {"fill": "var(--gv-page)", "stroke": "var(--gv-orange)", "stroke_width": 2.4},
    False: {"fill": "var(--gv-page)", "stroke": "var(--gv-blue)"},
}
StackLine = tuple[str, str, str]  # a frame's height in the stack, its rule and what it waits for; a fold has no rule


def _list_frames(pda: PDA, state: State, most: int) -> list[StackLine]:
    """The frames, top first; of a deep stack the outer ones and how many are between them."""
    depth = pda.depth(state)
    rows = []
    for place, frame in enumerate(pda.frames(state)):
        rows.append((f"{depth - place:,}", frame.rule, say_when(frame.waits, place == 0)))
    if depth <= most:
        return rows
    first = rows[: most - OUTER_CARDS]
    last = rows[-OUTER_CARDS:]
    if len(rows) < depth:  # of a very deep stack the machine lists the innermost frames
        last = []
    hidden = depth - len(first) - len(last)
    return [*first, ("⋮", "", f"{hidden:,} more"), *last]


def write_strips(pda: PDA, state: State, width: float, room: float) -> Drawn:
    """The open rules as strips, and their height: they pile upward from the ground, the innermost on top.

    Where there is no room for all strips, the outer ones are edges, and those beyond are only counted.
    """
    depth = pda.depth(state)
    frames = pda.frames(state)
    whole = len(frames)
    edges = 0
    while whole > 2 and whole * STRIP_PITCH + edges * EDGE_PITCH > room:
        whole -= 1
        edges = min(MOST_EDGES, len(frames) - whole)
    parts = []
    y: float = 0
    for place, frame in enumerate(frames[:whole]):
        parts.append(moved(0, y, _write_strip(frame, depth - place, place == 0, width)))
        y += STRIP_PITCH
    for _ in range(edges):
        parts.append(rect(0, y, width, EDGE_HIGH, 4, fill="var(--gv-page)", stroke="var(--gv-blue)"))
        y += EDGE_PITCH
    said = [f"depth {depth:,}", say_ways(state)]
    if depth > whole:
        said.insert(0, f"… {depth - whole:,} more")
    parts.append(ruled(0, y, width, stroke="var(--gv-ink)", stroke_width=3))
    parts.append(write(0, y + GROUND_HIGH - 5, "stack", 13, font_weight="bold"))
    parts.append(soft(44, y + GROUND_HIGH - 5, " · ".join(filter(None, said))))
    parts.append(soft_right(width, y + GROUND_HIGH - 5, say_ground(state)))
    return together(parts), y + GROUND_HIGH


def _write_strip(frame: Frame, height: int, now: bool, width: float) -> Element:
    """One open rule: its name, where it will go on, and its height in the stack."""
    name = shorten(frame.rule, 22)
    strip = write_ground(width, STRIP_HIGH, 18, now)
    start = 32 + wide(name)
    strip += bold(22, 18, name, mono=True)
    strip += soft(start, 18, shorten(say_when(frame.waits, now), int((width - start - 30) / 6.4)))
    return node("g", strip + soft_right(width - 8, 18, f"{height:,}"), data_part="frame")


def write_ground(width: float, high: float, base: float, now: bool) -> Element:
    """The box of an open rule; that of the current one has a mark before its words."""
    box = rect(0, 0, width, high, 5, **FRAME_LOOKS[now])
    return box + write(8, base, "▸", fill="var(--gv-orange)") if now else box


def say_when(waits: str, now: bool) -> str:
    """What a rule waits for, now or when it goes on."""
    return f"now {waits}" if now else f"then {waits}"


def say_ways(state: State) -> str:
    """In how many ways the text can be read, each with a stack of its own; nothing if there is one way.

    >>> pda = gv.json()
    >>> say_ways(pda.step(pda.initial, ord("1")))
    '2 ways to read this so far'
    """
    several = len(state.configurations)
    return f"{several} ways to read this so far" if several > 1 else ""


def list_other_stacks(pda: PDA, state: State) -> list[list[Frame]]:
    r"""The frames of each other stack, top first, down to the one where it leaves the first stack.

    >>> from guidedviz.machines.machine import read
    >>> pda = gv.grammar('root ::= "[" number "]"\nnumber ::= [0-9]+')
    >>> [[frame.waits for frame in frames] for frames in list_other_stacks(pda, read(pda, b"[1"))]
    [[']']]
    """
    first = [frame.number for frame in pda.frames(state)]
    found: list[list[Frame]] = []
    for place, cell in state.configurations[1:MOST_OTHER_STACKS]:
        frames = _frames_down_to(pda, place, cell, first)
        leaves = frames[-1].number in first
        is_first = cell.number == first[0]  # at another node of the same call
        if leaves and not is_first and frames not in found:
            found.append(frames)
    return found


def _frames_down_to(pda: PDA, node: int, cell: Cell, first: Sequence[int]) -> list[Frame]:
    """The frames of the stack with this top, down to one of the first stack."""
    frames = []
    for place, call in islice(pda.stack_under(node, cell), MOST_SHOWN):
        frames.append(make_frame(pda.stacks, place, call))
        if call.number in first:
            break
    return frames


def say_ground(state: State) -> str:
    """What is said of the bottom of a stack."""
    return "bottom · the text may end" if state.accepting else "bottom"


def say_stack(pda: PDA, state: State) -> str:
    """The column as text.

    >>> from guidedviz.machines.machine import read
    >>> pda = gv.grammar('root ::= "[" root "]" | "x"')
    >>> print(say_stack(pda, read(pda, b"[[")))
    stack: depth 2
    ▸ 2 root  now [ or x
      1 root  then ]
    ⏚ bottom
    """
    depth = f"{pda.depth(state):,}"
    title = f"stack: depth {depth}"
    ways = say_ways(state)
    if ways:
        title += f" · {ways}"
    lines = [title]
    for place, (height, rule, waits) in enumerate(_list_frames(pda, state, MOST_SAID_FRAMES)):
        frame = f"{height} {waits}"
        if rule:
            frame = f"{height.rjust(len(depth))} {rule}  {waits}"
        lines.append(f"  {frame}" if place else f"▸ {frame}")
    return "\n".join([*lines, f"⏚ {say_ground(state)}"])


# --- the table ---


MOST_TABLE_BYTES = 300
MOST_TABLE_ROWS = 40  # rows
ABOVE_FOLD = 30  # rows above the fold of a longer table
MOST_RULES = 6  # rules of the stack in a row
MOVE_HIGH = 25.0  # the height of a row
EMPTY_STACK = "empty"
ACTION_COLOURS = {"accept": "green", "not": "magenta", "push": "blue", "pop": "green"}
TABLE_HEAD = ("step", "read", "stack", "stack after, top last")
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
    rows = list[StackRow]()
    old = _named_calls(pda, pda.initial, keep, {})
    before, *after = states_along(pda, data)
    for byte, state in zip(data, after, strict=True):
        calls = _named_calls(pda, state, keep, old)
        read = bytes([byte])
        if calls == old and rows:
            last = rows[-1]
            rows[-1] = replace(last, read=last.read + read)
        else:
            pop = "pop" if _goes_on(pda, before, byte) else "not"
            change = _say_change(old, calls, pop) or "—"
            stack = tuple(calls.values())
            rows.append(StackRow(read, change, stack, say_ways(state)))
        old = calls
        before = state
    return tuple(rows)


def _goes_on(pda: PDA, state: State, byte: int) -> bool:
    """Whether the first stack can read a byte or has finished its top rule; if not, another stack reads it."""
    at = next((node for node, _ in state.tops), None)
    if at is None or at in pda.nodes.ends:
        return True
    return byte in pda.stacks.closure(at).reads


def nested_rules(pda: PDA) -> frozenset[str]:
    """The recursive rules; all rules if none is recursive."""
    nodes = pda.nodes
    graph: dict[str, list[str]] = {name: [] for name in nodes.names}
    for at, calls in enumerate(nodes.calls):
        called = graph[nodes.name_of(at)]
        called += [nodes.names[rule] for rule, _ in calls]
    return recursive_rules(graph) or frozenset(nodes.names)


def _named_calls(pda: PDA, state: State, keep: frozenset[str], known: Mapping[int, str]) -> Calls:
    """The first stack; a rule that is not shown keeps the name of the rule that it replaced."""
    found = {}
    for at, cell in islice(pda.first_stack(state), pda.depth(state)):
        name = pda.nodes.name_of(at)
        if name not in keep:
            name = known.get(cell.number, "")
        if name:
            found[cell.number] = name
    return found


def _say_change(old: Calls, new: Calls, pop: str) -> str:
    """What a byte changed; a rule that is the last call of another takes its place."""
    popped = [name for number, name in old.items() if number not in new]
    pushed = [name for number, name in new.items() if number not in old]
    said = []
    if popped:
        said.append(f"{pop} {' '.join(popped)}")
    for number, name in old.items():
        if new.get(number, name) != name:
            said.append(f"{new[number]} in place of {name}")
            break
    if pushed:
        said.append(f"push {' '.join(reversed(pushed))}")
    return ", ".join(said)


def draw_stack_table(pda: PDA, text: bytes | str, every: bool = False, unread: bytes = b"") -> Figure:
    """The table of a text; its last line says whether the text may end. `unread` are bytes that follow it.

    >>> print(gv.draw_stack_table(gv.grammar('root ::= "(" root ")" | "x"'), "((x))").text)
    step  read  stack      stack after, top last
    1     (     —          root
    2     (x    push root  root root
    3     )     pop root   root
    4     )     pop root   empty
    end         accept: finished, and the stack is empty
    """
    check_pda(pda, "draw_stack_table")
    data = to_bytes(text)
    expect(unread, bytes, "draw_stack_table, unread", "bytes")
    rows = stack_rows(pda, data[:MOST_TABLE_BYTES], every)
    numbers = range(1, len(rows) + 1)
    lines = [TABLE_HEAD, *map(_say_stack_row, numbers, rows)]
    is_empty = lines[-1][3] == EMPTY_STACK
    verdict = _say_end(pda, data, is_empty, unread)
    more = len(rows) - MOST_TABLE_ROWS
    if more > 0:
        fold = ABOVE_FOLD + 1
        hidden = ("⋮", f"{more:,} more rows", "", "")
        lines[fold : fold + more] = [hidden]
    said = align(lines, ())
    last = "end".ljust(said[0].index("stack")) + verdict
    columns = zip(*lines, strict=True)
    widths = [max(map(wide, column)) + 26 for column in columns]
    starts = list(accumulate(widths, initial=NEAR_EDGE))
    low = 5 + MOVE_HIGH * len(lines)
    end = starts[1] + 8.0 * len(verdict)
    width = max(starts[-1], end + NEAR_EDGE)
    heads = zip(starts, TABLE_HEAD, strict=False)
    parts = [soft(x, 20, words, 13) for x, words in heads]
    for number, line in enumerate(lines[1:], 1):
        y = 22 + MOVE_HIGH * number
        for column, (x, words) in enumerate(zip(starts, line, strict=False)):
            colour = _colour_of(words) if column == 2 else ""
            parts.append(_write_cell(x, y, words, colour, True))
    base = low + 17
    parts.append(_write_cell(NEAR_EDGE, base, "end", "", True))
    parts.append(_write_cell(starts[1], base, verdict, _colour_of(verdict), False))
    parts += [ruled(NEAR_EDGE, y, width - 2 * NEAR_EDGE, stroke="var(--gv-line)") for y in (30.0, low)]
    text = "\n".join([*said, last])
    return figure_of(width, low + MOVE_HIGH + 10, text, *parts)


def _write_cell(x: float, y: float, words: str, colour: str, mono: bool) -> Element:
    weight = "bold" if colour else None
    return write(x, y, words, mono=mono, fill=paint(colour or "ink"), font_weight=weight)


def _say_stack_row(number: int, row: StackRow) -> tuple[str, str, str, str]:
    names = " ".join(reversed(row.stack[:MOST_RULES]))
    if len(row.stack) > MOST_RULES:
        names = f"{len(row.stack) - MOST_RULES} more … {names}"
    if names and row.ways:
        names += f" · {row.ways}"
    read = shorten(label(row.read), 28)
    return str(number), read, row.action, names or EMPTY_STACK


def _say_end(pda: PDA, data: bytes, empty: bool, unread: bytes) -> str:
    """Whether the text may end."""
    if len(data) > MOST_TABLE_BYTES:
        return f"the table ends here; {len(data) - MOST_TABLE_BYTES:,} more bytes are not in it"
    state = state_after(pda, data)
    if state.accepting and unread:
        return f"not read: {shorten(label(unread), 28)}"
    if state.accepting:
        return "accept: " + ("finished, and the stack is empty" if empty else "all that is open may end here")
    top = pda.unfinished(state)
    if top:
        return f"not finished: {top.rule} waits for {top.waits}"
    return "not finished"


def _colour_of(action: str) -> str:
    """The colour of push and pop, which is that of their curves in the diagram."""
    for word, colour in ACTION_COLOURS.items():
        if action.startswith(word):
            return colour
    return ""
