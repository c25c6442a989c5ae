"""The chips of the strip: the prompt in lines, the names of its special tokens, and the tokens of a run."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from guidedviz.decoding.recording import PackedStep
from guidedviz.errors import shorten
from guidedviz.markup import Element, node
from guidedviz.views.figure import Drawn, centred, moved, rect, soft, soft_centred, wide
from guidedviz.views.words import special_name

CHIP_HEIGHT = 44.0
CHIP_GAP = 4.0  # after each chip
PROMPT_LINES = re.compile(".{1,88}")
PROMPT_WORDS = re.compile("[^ ↵]{0,87}[ ↵]|[^ ↵]{1,88}")
SPECIAL = "special token"
CAME_BELOW = {"none": "end", "inserted": "inserted", "forced": "forced"}  # what is said below a token that is not drawn


@dataclass(frozen=True)
class Chip:
    """A token of a run, the number that colours it, and how it is shown."""

    step: PackedStep
    share: float
    said: str  # the number in words
    special: bool  # the end, in a run with special tokens
    current: bool
    pale: bool
    gone: bool  # taken back


def write_prompt(parts: Sequence[str]) -> Iterator[Drawn]:
    """The prompt in lines; where it has special tokens, which are chips, in words."""
    if len(parts) == 1:
        for line in PROMPT_LINES.findall(parts[0]):
            yield soft(0, 26, line, 15, mono=True), wide(line, 15) + 6.0
        return
    for place, part in enumerate(parts):
        if place % 2:
            yield write_special(part, 26)
            continue
        for word in PROMPT_WORDS.findall(part):
            gap = -CHIP_GAP if word.endswith(" ") else 0.0
            yield soft(0, 26, word, 15, mono=True), wide(word, 15) + gap


def write_special(text: str, y: float) -> Drawn:
    """The name of a special token on a chip, and its width."""
    name = special_name(text)
    width = wide(name, 13) + 16
    ground = rect(0, y - 15, width, 21, 10.5, fill="var(--gv-soft)")
    words = centred(width / 2, y, name, 13, mono=True, fill="var(--gv-page)")
    return node("g", ground, words, role="img", aria_label=f"{SPECIAL} {text}", data_part="special"), width


def write_chip(chip: Chip) -> Drawn:
    """A token, and below it how it came; one that is taken back is struck through. And its width."""
    how = chip.step["how"]
    words = shorten(chip.step["label"], 80)
    dropped = shorten(chip.step["dropped"], 24)
    below = "taken back" if chip.gone else _say_below(how, chip.said)
    left = wide(dropped, 12) + 6 if dropped else 0.0  # of what is below
    name, long = write_special(words, 20)
    if not chip.special:
        long = wide(words, 15)
    width = max(long, left + 0.9 * wide(below, 12)) + 12
    parts = [_write_ground(chip, width)]
    if chip.special:
        parts.append(moved((width - long) / 2, 0, name))
    else:
        struck = "line-through" if chip.gone else None
        parts.append(centred(width / 2, 20, words, 15, mono=True, text_decoration=struck))
    parts.append(soft_centred((width + left) / 2, 37, below))
    if dropped:
        parts.append(soft(6, 37, dropped, mono=True, text_decoration="line-through"))
    if how == "accepted":
        way = f"M2 {CHIP_HEIGHT - 1:g}H{width - 2:g}"
        parts.append(node("path", d=way, stroke="var(--gv-green)", stroke_width=3))
    return node("g", *parts, opacity=0.6 if chip.pale else 1, data_part="token"), width


def _say_below(how: str, said: str) -> str:
    if how == "accepted":
        return f"✓ {said}"
    return CAME_BELOW.get(how, said)


def _write_ground(chip: Chip, width: float) -> Element:
    """The box of a token; the likelier it was, the darker it is."""
    how = chip.step["how"]
    opacity = 0.08 + 0.42 * chip.share if how in ("sampled", "accepted") else 0.0
    colour = "var(--gv-orange)" if chip.current or how in ("inserted", "none") else "var(--gv-line)"
    line = {"stroke": colour, "stroke_width": 2.5 if chip.current else 1}
    dashes = "3 2" if how == "forced" and not chip.current else None
    fill = {"fill": "var(--gv-blue)", "fill_opacity": opacity}
    return rect(0, 0, width, CHIP_HEIGHT, 4, **fill, **line, stroke_dasharray=dashes)
