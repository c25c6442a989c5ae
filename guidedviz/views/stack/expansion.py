"""Context expansion: the bytes of a token after the end of its rule are tried on all that may follow the rule.

The picture is that of `cut.py` without the stacks: what may follow is the same for all of them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from guidedviz.machines.machine import to_bytes
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.pushdown.stack import State
from guidedviz.machines.pushdown.unknown_bottom import UnknownBottom
from guidedviz.machines.visible import visible, visible_bytes
from guidedviz.markup import Element
from guidedviz.tokens.verdicts import classify
from guidedviz.views.figure import (
    EDGE,
    Figure,
    bold,
    centred,
    check_count,
    check_list,
    figure_of,
    heading,
    rect,
    soft,
    soft_right,
    upright,
    wide,
)
from guidedviz.views.machine.highlight import state_after
from guidedviz.views.stack.cut import CUT_PITCH, CUT_VERDICTS, DECIDED_BY_STACK, MOST_CUT
from guidedviz.views.theme import paint

TOKENS_TOP = 84.0  # the height above the first token
ROW = 62.0  # the height of a token
CHIP_HIGH = 26.0
MOST_CHIPS = 8  # more bytes are shown as ranges on one chip
NEXT_HEAD = "the lookahead: what may come next on some stack"


@dataclass(frozen=True)
class Trial:
    """A byte after the end of the rule: what was read before it, and which bytes may come there on some stack."""

    byte: str
    before: str
    possible: tuple[str, ...]
    read: bool

    def __str__(self) -> str:
        said = f"after {self.before} may come {' '.join(self.possible)}"
        return said if self.read else f"{said}, not {self.byte}"


@dataclass(frozen=True)
class ExpandedToken:
    """A token at a node: the rule reads its first `own` bytes, the others are tried one by one."""

    data: bytes
    own: int
    trials: tuple[Trial, ...]
    verdict: str

    def __str__(self) -> str:
        said = "; ".join(map(str, self.trials)) or "the rule reads all of it"
        return f"{visible(self.data)}: {said}: {self.verdict}"


def draw_expansion(pda: PDA, text: str, pieces: Sequence[bytes | str]) -> Figure:
    """Tokens at the node of a text: how context expansion tries the bytes after the end of the rule.

    >>> lists = gv.grammar('root ::= "<" item ">" | "[" item "]"\\nitem ::= "*" [a-z]* "*"')
    >>> print(draw_expansion(lists, "<*a", ["b*]", "b*?"]).text)
    b*]: after b* may come > ]: context-dependent
    b*?: after b* may come > ], not ?: rejected
    """
    check_list("draw_expansion, pieces", pieces, "tokens", MOST_CUT)
    datas = [to_bytes(piece) for piece in pieces]
    for data in datas:
        check_count("draw_expansion, a token", len(data), "bytes", MOST_CUT)
    real = state_after(pda, text, "draw_expansion")
    unknown = UnknownBottom(pda)
    state = unknown.cut_to(real, 0)
    tokens = [expand_token(unknown, state, data) for data in datas]
    rule = pda.nodes.name_of(pda.places(real)[0])

    own_head = f"{rule} reads"
    boxes = CUT_PITCH * max(token.own for token in tokens)
    names = max(wide(visible(data)) for data in datas)
    split = EDGE + names + 20 + max(boxes, wide(own_head, 12)) + 8
    starts = _trial_starts(tokens, split + 14)
    low = TOKENS_TOP + ROW * len(tokens)
    parts = [heading(EDGE, 24, "context expansion", f"tokens at a node of the rule {rule}, before decoding")]
    parts.append(soft_right(split - 8, TOKENS_TOP - 28, own_head))
    parts.append(soft(starts[0], TOKENS_TOP - 28, NEXT_HEAD))
    parts.append(upright(split, TOKENS_TOP - 38, low - TOKENS_TOP + 30, stroke="var(--gv-ink)", stroke_width=2.5))
    for place, token in enumerate(tokens):
        parts += _write_token(token, split, starts, TOKENS_TOP + ROW * place)
    width = max(starts[-1] + wide(DECIDED_BY_STACK) + 10, starts[0] + wide(NEXT_HEAD, 12)) + EDGE
    return figure_of(width, low, "\n".join(map(str, tokens)), *parts)


def _trial_starts(tokens: Sequence[ExpandedToken], x: float) -> list[float]:
    """Where the first trials begin, the second ones, and so on, and last the verdicts."""
    starts = [x]
    for trials in zip_longest(*(token.trials for token in tokens)):
        x += max(_trial_width(trial) for trial in trials if trial)
        starts.append(x)
    return starts


def expand_token(unknown: UnknownBottom, state: State, data: bytes) -> ExpandedToken:
    """Which bytes the rule reads on every stack, and how the others are tried, up to the first that nothing reads."""
    own = 0
    trials = []
    reached: State | None = state
    for place, byte in enumerate(data):
        before = reached
        reached = unknown.step(before, byte) if before else None
        if reached and reached.sure:
            own = place + 1
        elif before:
            possible = bytes(one for one in range(256) if unknown.step(before, one))
            read_before = visible(data[:place]) or "the text"
            trials.append(Trial(visible(bytes([byte])), read_before, _chips_of(possible), reached is not None))
    verdict = CUT_VERDICTS.get(classify(reached), "rejected")
    return ExpandedToken(data, own, tuple(trials), verdict)


def _chips_of(possible: bytes) -> tuple[str, ...]:
    if len(possible) > MOST_CHIPS:
        return (visible_bytes(possible),)
    return tuple(visible(bytes([one])) for one in possible)


def _trial_width(trial: Trial) -> float:
    chips = sum(map(_chip_width, trial.possible))
    refused = 0 if trial.read else 14 + _chip_width(trial.byte)
    return max(chips + refused, wide(f"after {trial.before}", 12)) + 28


def _chip_width(words: str) -> float:
    return wide(words) + 18


def _write_token(token: ExpandedToken, split: float, starts: Sequence[float], y: float) -> Iterator[Element]:
    """The bytes that the rule reads, a group of chips per trial, and the verdict."""
    for place in range(token.own):
        x = split - CUT_PITCH * (token.own - place) - 6
        yield rect(x + 3, y, CUT_PITCH - 6, CHIP_HIGH, 4, fill=paint("blue"), fill_opacity=0.18, stroke=paint("blue"))
        yield bold(x + CUT_PITCH / 2, y + 18, visible(token.data[place : place + 1]), mono=True, text_anchor="middle")
    yield bold(EDGE, y + 18, visible(token.data), mono=True)
    for trial, x in zip(token.trials, starts, strict=False):
        yield soft(x, y - 5, f"after {trial.before}")
        for name in trial.possible:
            lit = trial.read and (name == trial.byte or len(trial.possible) == 1)
            yield from _write_chip(name, x, y, lit)
            x += _chip_width(name)
        if not trial.read:
            yield bold(x + 6, y + 18, f"✗ {trial.byte}", mono=True, fill=paint("magenta"))
    colour = "magenta" if token.verdict == "rejected" else "ink"
    yield bold(starts[-1], y + 18, token.verdict, fill=paint(colour))


def _write_chip(name: str, x: float, y: float, lit: bool) -> Iterator[Element]:
    """A byte that may come; the one of the token is filled."""
    width = _chip_width(name) - 5
    if lit:
        gold = paint("gold")
        yield rect(x, y, width, CHIP_HIGH, 4, fill=gold, fill_opacity=0.3, stroke=gold, stroke_width=2)
    else:
        yield rect(x, y, width, CHIP_HIGH, 4, fill=paint("page"), stroke=paint("line"))
    yield centred(x + width / 2, y + 18, name, mono=True)
