"""The depth of the stack after each byte of a text, as a curve."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from guidedviz.errors import shorten
from guidedviz.machines.machine import to_bytes
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.visible import visible
from guidedviz.markup import Element, node
from guidedviz.views.figure import Figure, drawing, heading, soft, write
from guidedviz.views.machine.pushdown_highlight import check_pda, state_after
from guidedviz.views.words import label

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
