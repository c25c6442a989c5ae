"""A token that the rule reads in part: the stack decides the rest."""

from collections.abc import Sequence

from guidedviz.errors import SettingError, expect, quoted, shorten
from guidedviz.machines.machine import read_path, to_bytes
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.pushdown.stack import State
from guidedviz.machines.pushdown.unknown_bottom import UnknownBottom
from guidedviz.machines.visible import visible
from guidedviz.markup import node
from guidedviz.tokens.verdicts import ACCEPTED, DEPENDENT, classify
from guidedviz.views.figure import Figure, figure_of, heading, rect, soft, wide, write
from guidedviz.views.machine.paths import check_pda, state_after

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
