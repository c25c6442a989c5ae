"""Texts, numbers and sources as people read them: pieces, prompts, probabilities, times, tables, badges.

A badge says live, recorded or a toy, and on which model. A picture that is kept is never LIVE.
"""

import re
from collections.abc import Collection, Iterable, Sequence

from guidedviz.decoding.overlap import Overlap
from guidedviz.decoding.payoff import Payoff
from guidedviz.decoding.spellings import Spellings
from guidedviz.decoding.trace import Trace
from guidedviz.errors import shorten
from guidedviz.extras import headless
from guidedviz.machines.visible import visible
from guidedviz.markup import Element
from guidedviz.models.model import Source
from guidedviz.views.figure import EDGE, bold, soft, wide
from guidedviz.views.theme import paint

LONGEST_NAME = 40  # characters of the name of a special token


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
    words = [visible(part.encode("utf-8", "replace")) for part in text.split(" ")]
    return re.sub(r"^ +| +\Z", lambda found: visible(found[0].encode()), " ".join(words))


def shown_parts(parts: Iterable[str]) -> tuple[str, ...]:
    """Texts and the names of special tokens in turn, as they are shown."""
    shown = [reading(part) for part in parts]
    shown[1::2] = [shorten(name, LONGEST_NAME) for name in shown[1::2]]
    return tuple(shown)


def prompt_parts(trace: Trace) -> tuple[str, ...]:
    """The prompt as it is shown: its texts and the names of its special tokens in turn; often one text."""
    return shown_parts(trace.prompt_parts or (trace.prompt,))


def special_name(text: str) -> str:
    """What a chip shows of a special token, without the usual signs around the name.

    >>> special_name("<|im_end|>"), special_name("</s>")
    ('im_end', '</s>')
    """
    return shorten(re.sub(r"^<\|(.+)\|>$", r"\1", text), LONGEST_NAME)


def characters(data: bytes, room: float) -> list[tuple[float, str]]:
    """The characters of a text, each with the middle of its bytes; one that is wider than `room` pixels is a box.

    >>> characters("é1".encode() + b"\\xff", 8.0)
    [(1.0, 'é'), (2.5, '1'), (3.5, '▯')]
    """
    found = []
    place = 0
    for character in data.decode("utf-8", "surrogateescape"):
        raw = character.encode("utf-8", "surrogateescape")
        name = visible(raw)
        if wide(name, 12) > room:
            name = "▯"
        found.append((place + len(raw) / 2, name))
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
    lines = []
    for row in rows:
        cells = list(map(str.ljust, row, widths))
        for column in right:
            cells[column] = row[column].rjust(widths[column])
        lines.append("  ".join(cells).rstrip())
    return lines


def share(part: float) -> str:
    """A percentage with two significant digits; it is 0% or 100% only if exact.

    >>> share(0.9637), share(0.5), share(0.0000312), share(0.0), share(0.99996)
    ('96%', '50%', '0.0031%', '0%', '>99.9%')
    """
    percent = 100 * part
    if 0.999 < part < 1:
        return ">99.9%"
    if 0.99 <= part < 1:
        return f"{percent:.1f}%"
    rounded = float(f"{percent:.2g}")
    return f"{rounded:.10g}%"


def milliseconds(ms: float) -> str:
    """A time in seconds, milliseconds or microseconds.

    >>> milliseconds(2.13), milliseconds(0.0031), milliseconds(1250.0)
    ('2.1 ms', '3 µs', '1.25 s')
    """
    if ms >= 1000:
        return f"{ms / 1000:.2f} s"
    if ms >= 100:
        return f"{ms:.0f} ms"
    if ms >= 0.1:
        return f"{ms:.1f} ms"
    return f"{ms * 1000:.0f} µs"


# --- the source of a picture ---


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


def say_measured(record: Overlap | Payoff) -> tuple[str, str]:
    """Where measured times come from, as the note of a chart and as the end of its title."""
    source = where = "live"
    if record.source != "LIVE":
        source = record.source
        where = f"{source}, {record.date}"
    note = f"{where} · {record.model} · {record.device}"
    return note, f"{source}: {record.model}; {record.device}"


BADGES = {"LIVE": "●", "RECORDED": "◼", "TOY": "◆"}
BADGE_COLOURS = {"●": "ink", "◼": "blue", "◆": "green"}
Origin = Trace | Spellings  # a record of one model


def write_badge(y: float, record: Origin) -> Element:
    """The badge as SVG, and beside it the model, device and, for a recording, the date."""
    sign, _, about = say_badge(record).partition(" · ")
    colour = paint(BADGE_COLOURS[sign[0]])
    badge = bold(EDGE, y, sign, 14, fill=colour)
    return badge + soft(EDGE + 108, y, about, 13)


def say_badge(record: Origin) -> str:
    """The same as one line.

    >>> say_badge(gv.record(gv.ToyModel([b"a", b"b"], lambda tokens: [0.0, 1.0]), "a", max_tokens=1))
    '◆ TOY · toy · cpu · 2 tokens'
    """
    source = kept_source(record.source) if headless() else record.source
    about = say_origin(record.model, record.device, record.vocabulary_size)
    if source == "RECORDED":
        about += f" · {record.date}"
    return f"{BADGES[source]} {source} · {shorten(about, 70)}"
