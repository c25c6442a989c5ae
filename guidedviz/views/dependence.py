"""What a token depends on, as one strip: the tokens before it, each with a number and a shade."""

from typing import Any, NamedTuple

from guidedviz.decoding.left_out import Dependence, LeftOut
from guidedviz.decoding.sampling import probability
from guidedviz.errors import expect, shorten
from guidedviz.markup import node
from guidedviz.views.figure import EDGE, Drawn, Figure, centred, figure_of, moved, rect, soft, wide
from guidedviz.views.strip import CHIP_HEIGHT, STAGE_WIDTH, wrap_chips
from guidedviz.views.words import label

LONGEST_PART = 40  # characters of a part that are shown


class ShownPart(NamedTuple):
    """A part of the text as it is shown: its text, the probability without it in words, and the share that is lost."""

    label: str
    said: str
    lost: float


def draw_dependence(found: Dependence) -> Figure:
    """The text before a token; each part has the token's probability without it, and is darker the more is lost.

    >>> toy = gv.ToyModel([b"a", b"b"], lambda tokens: [0, 9 * tokens.count(1)])
    >>> print(draw_dependence(gv.decoding.leave_out(toy, [0, 1, 0], token=1)).text)
    "b" has probability >0.99 · without a >0.99 · without b 0.50 · without a >0.99
    """
    expect(found, Dependence, "draw_dependence", "what a token depends on", "gv.decoding.leave_out")
    parts = [show_part(found, part) for part in found.parts]
    rows, height = wrap_chips([_write_part(part) for part in parts])
    lines = say_dependence(found)
    inside = [moved(EDGE, EDGE, *rows)]
    bottom = EDGE + height
    for number, line in enumerate(lines, 1):
        inside.append(soft(EDGE, bottom + 20 * number, line, 13))
    said = [f"without {part.label} {part.said}" for part in parts]
    text = f'"{label(found.piece)}" has probability {probability(found.probability)}'
    return figure_of(STAGE_WIDTH, bottom + 20 * len(lines) + EDGE, " · ".join([text, *said]), *inside)


def show_part(found: Dependence, part: LeftOut) -> ShownPart:
    """A part in words."""
    text = shorten("".join(map(label, part.pieces)), LONGEST_PART)
    return ShownPart(text, probability(part.probability), round(found.lost(part), 3))


def say_dependence(found: Dependence) -> tuple[str, ...]:
    """What the numbers mean, and what they do not mean."""
    token = shorten(label(found.piece), LONGEST_PART)
    return (
        f"Each number is the model's probability of “{token}”, before the mask, without that part of the text.",
        f"With the whole text it is {probability(found.probability)}. The darker a part is, the more of it is lost.",
        "This shows what the prediction depends on, not how the model computes it. "
        "If two parts say the same, one alone may change nothing.",
    )


def pack_dependence(found: Dependence, place: int) -> dict[str, Any]:
    """A dependence as a page shows it at a cursor."""
    return {
        "place": place,
        "words": list(say_dependence(found)),
        "rows": [list(show_part(found, part)) for part in found.parts],
    }


def _write_part(part: ShownPart) -> Drawn:
    """A part of the text in a box, and below it the probability without it; and its width."""
    width = max(wide(part.label, 15), 0.9 * wide(part.said, 12)) + 12
    shade = 0.5 * part.lost
    ground = rect(0, 0, width, CHIP_HEIGHT, 4, fill="var(--gv-orange)", fill_opacity=shade, stroke="var(--gv-line)")
    words = centred(width / 2, 20, part.label, 15, mono=True)
    return node("g", ground, words, centred(width / 2, 37, part.said, 12), data_part="token"), width
