"""The stack of a pushdown machine: as a column on the stage, as a table of what each byte changes, and as what decides
the end of a token.

Only recursive rules need a stack, because a call of any other rule could be inlined. So the table shows the recursive
rules, if there are any; `every` shows all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise

from guidedviz.errors import SettingError, expect, quoted, shorten
from guidedviz.machines.grammars.grammar import recursive_rules
from guidedviz.machines.machine import read_path, to_bytes
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.pushdown.stack import State
from guidedviz.machines.pushdown.unknown_bottom import UnknownBottom
from guidedviz.machines.visible import visible
from guidedviz.markup import NOTHING, Element, node, together
from guidedviz.tokens.verdicts import ACCEPTED, DEPENDENT, classify
from guidedviz.views.figure import Figure, figure_of, heading, moved, rect, soft, wide, write
from guidedviz.views.machine.paths import check_pda, state_after, states_along
from guidedviz.views.words import align, label

EDGE, CARD, FOLD, MOST_CARDS = 14.0, 42.0, 22.0, 12
OUTER = 2  # cards at the bottom of a folded stack
Row = tuple[str, str, str]  # a frame's height in the stack, its rule and what it waits for; a fold: "⋮", "" and words


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


def write_stack(pda: PDA, state: State, width: float, most: int) -> tuple[Element, float]:
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
    box = rect(0, 0, width, CARD, 5, fill="var(--gv-page)", **line)
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
    """The column as text.

    >>> pda = gv.grammar('root ::= "[" root "]" | "x"')
    >>> print(say_stack(pda, state_after(pda, "[[")))
    stack: depth 2
    ▸ 2 root  now [ or x
      1 root  then ]
    ⏚ bottom
    """
    depth, ways = f"{pda.depth(state):,}", say_ways(state)
    lines = [f"stack: depth {depth}" + f" · {ways}" * bool(ways)]
    for place, (height, rule, waits) in enumerate(_rows(pda, state, MOST_CARDS)):
        frame = f"{height:>{len(depth)}} {rule}  {waits}" if rule else f"{height} {waits}"
        lines.append(f"{' ' if place else '▸'} {frame}")
    return "\n".join([*lines, f"⏚ {say_ground(state)}"])


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


# --- a token that the rule reads in part; the stack decides the rest ---


CUT, LINE, BOX, NODE, MOST_CUT = 62.0, 34.0, 38.0, 68.0, 12  # NODE: the column of return nodes; the most texts, bytes
DECIDED_BY_STACK = "context-dependent"
VERDICTS = {ACCEPTED: "accepted", DEPENDENT: DECIDED_BY_STACK}  # any other is rejected


def draw_cut(pda: PDA, texts: Sequence[str], piece: bytes | str) -> Figure:
    """The bytes of a token after several texts that reach the same node with different stacks.

    Where the rule ends, the node is drawn to which the machine returns: it decides the next byte.

    >>> lists = gv.grammar('root ::= "<" item ">" | "[" item "]"\\nitem ::= "*" [a-z]* "*"')
    >>> print(draw_cut(lists, ["<*a", "[*a"], "b*]").text)
    Token b*] at a node of item: item reads b*, the stack decides ]: context-dependent
    after <*a, stack root n3 › item n7: returns to n3, illegal at ]
    after [*a, stack root n4 › item n7: returns to n4, legal
    """
    check_pda(pda, "draw_cut")
    data = to_bytes(piece)
    expect(texts, list | tuple, "draw_cut, texts", "a list of texts")
    if not 0 < len(texts) <= MOST_CUT or not 0 < len(data) <= MOST_CUT:
        expected = f"1 to {MOST_CUT} texts and a token of 1 to {MOST_CUT} bytes"
        raise SettingError("draw_cut", seen=f"{len(texts)} texts, {len(data)} bytes", expected=expected)
    states = [state_after(pda, text) for text in texts]
    for text, state in zip(texts, states, strict=True):
        if pda.places(state) != pda.places(states[0]):
            raise SettingError("draw_cut, texts", seen=quoted(text), expected=f"the same node as {quoted(texts[0])}")
    own, verdict = cut_token(pda, states[0], data)
    rule, dependent = pda.nodes.name_of(pda.places(states[0])[0]), verdict == DECIDED_BY_STACK
    shown = [shorten(visible(text.encode()), 24) for text in texts]
    frames = [[(one.rule, f"n{one.node}") for one in pda.frames(state)] for state in states]
    stacks = [shorten(" › ".join(map(" ".join, reversed(one))), 52) for one in frames]
    backs = [one[1][1] if len(one) > 1 else "end" for one in frames]
    counts = [len(read_path(pda, data, state)) - 1 for state in states]
    results = ["legal" if n == len(data) else f"illegal at {visible(data[n : n + 1])}" for n in counts]
    parts = [f"{rule} reads {visible(data[:own])}"] * bool(own)
    parts += [f"the stack decides {visible(data[own:])}"] * dependent
    lines = [f"Token {visible(data)} at a node of {rule}: {', '.join(parts)}{': ' * bool(parts)}{verdict}"]
    returns = [f"returns to {back}, " * dependent for back in backs]
    lines += ["after {}, stack {}: {}{}".format(*row) for row in zip(shown, stacks, returns, results, strict=True)]

    first = 16 + max(map(wide, ["the text so far", *shown])) + 22
    start = first + max(wide("open rules, and where each goes on", 12), *map(wide, stacks)) + 26
    places = [start + BOX * place + NODE * (dependent and place >= own) for place in range(len(data))]
    end, split, ground = places[-1] + BOX, start + BOX * own, CUT + 52 + LINE * len(texts)
    drawn = [heading(16, 24, "a token, byte by byte", f"{visible(data)} at a node of the rule {rule}: {verdict}")]
    drawn += [soft(16, CUT + 30, "the text so far"), soft(first, CUT + 30, "open rules, and where each goes on")]
    drawn += [soft(split - 8, CUT - 8, f"{rule} reads", text_anchor="end")] * bool(own)
    for x, byte in zip(places, data, strict=True):  # a solid box is read by the rule, a dashed one by the stack
        colour = f"var(--gv-{'blue' if x < split else 'gold'})"
        look = {"fill": colour, "fill_opacity": 0.18, "stroke": colour, "stroke_width": 2}
        drawn.append(rect(x + 3, CUT + 6, BOX - 6, 32, 4, **look, stroke_dasharray="none" if x < split else "4 3"))
        sign, bold = visible(bytes([byte])), {"text_anchor": "middle", "font_weight": "bold"}
        drawn.append(write(x + BOX / 2, CUT + 27, sign, 15, mono=True, **bold))
    for number, (text, stack, back, n, result) in enumerate(zip(shown, stacks, backs, counts, results, strict=True)):
        y = CUT + 70 + LINE * number
        drawn += [write(16, y, text, mono=True), write(first, y, stack, mono=True)]
        for place, x in enumerate(places):  # a tick where a byte is read, a cross where it is refused
            sign, colour = ("✓", "blue") if place < n else ("✗", "orange") if place == n else ("·", "soft")
            drawn.append(write(x + BOX / 2, y, sign, 15, text_anchor="middle", fill=f"var(--gv-{colour})"))
        if dependent:
            x, ring = split + NODE / 2, {"fill": "var(--gv-page)", "stroke": "var(--gv-ink)", "stroke_width": 1.6}
            drawn.append(node("circle", cx=f"{x:g}", cy=f"{y - 5:g}", r=15, **ring))
            drawn.append(write(x, y - 1, back, 12, text_anchor="middle"))
        colour = f"var(--gv-{'blue' if result == 'legal' else 'orange'})"
        drawn.append(write(end + 14, y, result, fill=colour, font_weight="bold"))
    if dependent:
        drawn += [soft(split + 8, CUT - 8, "the stack decides"), soft(split + 8, CUT + 30, "returns to")]
        drawn.append(node("path", d=f"M{split:g} {CUT - 6:g}V{ground - 2:g}", stroke="var(--gv-ink)", stroke_width=2.5))
        drawn.append(soft(split, ground + 14, f"{rule} has ended here", text_anchor="middle"))
    return figure_of(max(end + 130, split + 240, 640.0), ground + 28, "\n".join(lines), *drawn)


def cut_token(pda: PDA, state: State, data: bytes) -> tuple[int, str]:
    """How many bytes the rule reads on every stack, and the verdict that holds without the stack.

    >>> words = gv.grammar('root ::= "<" item ">"\\nitem ::= "*" [a-z]* "*"')
    >>> [cut_token(words, state_after(words, "<*"), data) for data in (b"bc", b"b*>", b"b>")]
    [(2, 'accepted'), (2, 'context-dependent'), (1, 'rejected')]
    """
    unknown = UnknownBottom(pda, expand=False)
    path: list[State | None] = [unknown.known(state, 0)]
    for byte in data:
        path.append(unknown.step(path[-1], byte) if path[-1] else None)
    shared = [place for place, reached in enumerate(path) if reached is not None and not reached.guessed]
    return shared[-1], VERDICTS.get(classify(path[-1]), "rejected")
