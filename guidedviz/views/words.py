"""Records in words: pieces as readable text, one line per step, all that is shown of it, and the source of a picture.

The stage and its still picture show the same labels, rows and words, because both take them from `pack_step`.
"""

import re
from collections.abc import Collection, Sequence

from guidedviz.decoding.recording import PackedRest, PackedRow, PackedStep
from guidedviz.decoding.sampling import probability
from guidedviz.decoding.trace import ENDS, Candidate, Step, Trace
from guidedviz.errors import shorten
from guidedviz.extras import headless
from guidedviz.machines.visible import counted, visible
from guidedviz.markup import Element
from guidedviz.models.model import Source
from guidedviz.views.figure import soft, wide, write

FREE = 0.999999  # a legal mass above this counts as 1
LONG = 6  # characters of a probability that is not said twice
LONGEST = 40  # characters of the name of a special token
ROWS = 9  # candidates in a distribution, one per digit key


def label(piece: bytes) -> str:
    """A piece as readable text, never empty.

    >>> label(b" a"), label(b"")
    ('␣a', '∅')
    """
    return visible(piece) or "∅"


def reading(text: str) -> str:
    """A text with signs for spaces at its ends and for invisible characters; spaces inside stay spaces.

    >>> reading(" two words\\n")
    '␣two words↵'
    """
    inner = "".join(c if c == " " else visible(c.encode("utf-8", "replace")) for c in text.strip(" "))
    left = len(text) - len(text.lstrip(" "))
    return visible(b" " * left) + inner + visible(b" " * (len(text) - left - len(text.strip(" "))))


def prompt_parts(trace: Trace) -> tuple[str, ...]:
    """The prompt as it is shown: its texts and the names of its special tokens in turn; often one text."""
    parts = trace.parts or (trace.prompt,)
    return tuple(shorten(reading(part), LONGEST) if place % 2 else reading(part) for place, part in enumerate(parts))


def special_name(text: str) -> str:
    """What a chip shows of a special token, without the usual signs around the name.

    >>> special_name("<|im_end|>"), special_name("</s>")
    ('im_end', '</s>')
    """
    return shorten(re.sub(r"^<\|(.+)\|>$", r"\1", text), LONGEST)


def characters(data: bytes, room: float) -> list[tuple[float, str]]:
    """The characters of a text, each with the middle of its bytes; one that is wider than `room` pixels is a box.

    >>> characters("é1".encode() + b"\\xff", 8.0)
    [(1.0, 'é'), (2.5, '1'), (3.5, '▯')]
    """
    found, place = [], 0
    for character in data.decode("utf-8", "surrogateescape"):
        raw = character.encode("utf-8", "surrogateescape")
        name = visible(raw)
        found.append((place + len(raw) / 2, name if wide(name, 12) <= room else "▯"))
        place += len(raw)
    return found


def short(p: float) -> float:
    """Four significant digits: short to send, and never zero for a small value.

    >>> short(0.123456), short(0.0000123456)
    (0.1235, 1.235e-05)
    """
    return float(f"{p:.4g}")


def align(rows: Sequence[Sequence[str]], right: Collection[int]) -> list[str]:
    """The rows of a table as lines; the columns in `right` end together.

    >>> align([("node", "bytes"), ("n10", "8")], {1})
    ['node  bytes', 'n10       8']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    sides = [">" if column in right else "<" for column in range(len(widths))]
    return ["  ".join(f"{w:{s}{n}}" for w, s, n in zip(row, sides, widths, strict=True)).rstrip() for row in rows]


def share(part: float) -> str:
    """A percentage with two significant digits; it is 0% or 100% only if exact.

    >>> share(0.9637), share(0.5), share(0.0000312), share(0.0), share(0.99996)
    ('96%', '50%', '0.0031%', '0%', '>99.9%')
    """
    if 0.99 <= part < 1:
        return ">99.9%" if part > 0.999 else f"{100 * part:.1f}%"
    return f"{float(f'{100 * part:.2g}'):.10g}%"


def milliseconds(ms: float) -> str:
    """A time in seconds, milliseconds or microseconds.

    >>> milliseconds(2.13), milliseconds(0.0031), milliseconds(1250.0)
    ('2.1 ms', '3 µs', '1.25 s')
    """
    if ms >= 1000:
        return f"{ms / 1000:.2f} s"
    return f"{ms:.0f} ms" if ms >= 100 else f"{ms:.1f} ms" if ms >= 0.1 else f"{ms * 1000:.0f} µs"


def say_origin(model: str, device: str, tokens: int) -> str:
    """The model, its device and the size of its vocabulary.

    >>> say_origin("clerk", "cpu", 4096)
    'clerk · cpu · 4,096 tokens'
    """
    return f"{model} · {device} · {tokens:,} tokens"


def kept_source(source: Source) -> Source:
    """The source of a kept picture: RECORDED instead of LIVE.

    >>> kept_source("LIVE"), kept_source("TOY")
    ('RECORDED', 'TOY')
    """
    return "RECORDED" if source == "LIVE" else source


def say_step(step: Step) -> str:
    """What happened in this step, without its number."""
    if step.how == "none":
        return ENDS[step.end]
    end = f" · {ENDS[step.end]}" if step.end else ""
    if step.how == "forced":
        back = f" · takes back {counted(step.back, 'token')}" if step.back else ""
        return f"“{label(step.piece)}” forced, the text was fixed: the model was not asked{back}{end}"
    came = {"sampled": "sampled", "inserted": "put in by you", "accepted": "drafted and accepted"}[step.how]
    odds = f"p {probability(step.raw)}"
    if step.mass <= FREE:
        odds = f"p {probability(step.masked)} of the legal, {probability(step.raw)} of all"
    if step.how in ("sampled", "accepted") and not is_plain(step):
        odds += f", drawn with {probability(step.drawn)}"
    gone = f" · rejected draft: {' '.join(map(label, step.dropped))}" if step.dropped else ""
    return f"“{label(step.piece)}” {came}, {odds}{gone}{end}"


def is_plain(step: Step) -> bool:
    """Whether the token was drawn from the masked probabilities alone: temperature 1, no top-k or top-p."""
    return all(abs(c.drawn - c.masked) < 1e-6 for c in step.candidates)


def shown_candidates(step: Step, count: int = ROWS) -> tuple[Candidate, ...]:
    """The likeliest candidates before or after the mask and the chosen one, sorted by probability before the mask."""
    first = sorted(step.candidates, key=lambda c: (c.token != step.token, -max(c.raw, c.masked, c.drawn)))[:count]
    return tuple(sorted(first, key=lambda c: (-c.raw, c.token)))


def pack_step(step: Step, back: Sequence[int] = ()) -> PackedStep:
    """What is shown of a step; `back` are the places of the steps whose tokens it takes back."""
    shown = shown_candidates(step)
    left = [1 - sum(c.raw for c in shown), 1 - sum(c.drawn for c in shown) if step.legal else 0.0]
    left = [part if part > 1e-6 else 0.0 for part in left]
    plain = is_plain(step)  # a second bar is needed only where a token is forbidden or the probabilities differ
    spent = (step.forward_ms, step.mask_ms, step.sample_ms)
    return {
        "token": step.token,
        "label": label(step.piece) if step.how != "none" else "⊘",
        "how": step.how,
        "masked": short(step.masked),
        "maskedText": probability(step.masked),
        "rows": tuple(
            PackedRow(
                c.token, label(c.piece), short(c.raw), short(c.drawn), c.legal, *say_change(c.raw, c.drawn, c.legal)
            )
            for c in shown
        ),
        "rest": PackedRest(short(left[0]), short(left[1]), *say_change(left[0], left[1])),
        "legal": step.legal,
        "free": step.mass > FREE and plain and all(candidate.legal for candidate in step.candidates),
        "after": "after the mask" if plain else "as drawn",
        "changes": "" if plain else step.changes,
        "mass": short(step.mass),
        "massText": probability(step.mass),
        "state": step.state,
        "stack": step.stack,
        "ms": (round(spent[0], 4), round(spent[1], 4), round(spent[2], 4)),
        "times": (milliseconds(spent[0]), milliseconds(spent[1]), milliseconds(spent[2])),
        "end": step.end,
        "words": say_step(step),
        "dropped": "".join(map(label, step.dropped)),
        "back": tuple(back),
    }


def say_change(before: float, after: float, legal: bool = True) -> tuple[str, str]:
    """A probability before and after the mask; a long one that does not change is not said twice.

    >>> say_change(0.1, 0.2), say_change(0.1, 0, legal=False), say_change(1.5e-7, 1.5e-7)
    (('0.10', '0.20'), ('0.10', 'forbidden'), ('1 in 10⁷', 'same'))
    """
    said = probability(before), probability(after)
    if not legal:
        return said[0], "forbidden"
    return (said[0], "same") if said[0] == said[1] and len(said[0]) > LONG else said


# The source of a picture: live, recorded or a toy, and on which model. A picture that is kept is never LIVE.


BADGES = {"LIVE": ("●", "orange"), "RECORDED": ("◼", "blue"), "TOY": ("◆", "green")}


def write_badge(x: float, y: float, source: Source, model: str, device: str, tokens: int, date: str) -> Element:
    """The badge as SVG, and beside it the model, device and, for a recording, the date."""
    sign, _, about = say_badge(source, model, device, tokens, date).partition(" · ")
    colour = BADGES[sign.partition(" ")[2]][1]
    badge = write(x, y, sign, 14, fill=f"var(--gv-{colour})", font_weight="bold")
    return badge + soft(x + 108, y, about, 13)


def say_badge(source: Source, model: str, device: str, tokens: int, date: str) -> str:
    """The same as one line.

    >>> say_badge("TOY", "toy", "cpu", 6, "2026-11-22")
    '◆ TOY · toy · cpu · 6 tokens'
    """
    source = kept_source(source) if headless() else source
    about = say_origin(model, device, tokens) + f" · {date}" * (source == "RECORDED")
    return f"{BADGES[source][0]} {source} · {shorten(about, 70)}"
