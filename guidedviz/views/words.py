"""Records in words: pieces made visible, and one line that says what a step did. The stage and its picture share it."""

from __future__ import annotations

from collections.abc import Sequence

from guidedviz.decoding.trace import Candidate, End, Source, Step
from guidedviz.machines.visible import counted, visible

ENDS: dict[End, str] = {
    "eos": "the model ended its output (EOS)",
    "complete": "complete: nothing more may follow",
    "max_tokens": "stopped at the token limit",
    "stop": "stopped",
    "dead_end": "dead end: no token is legal here",
}
FREE = 0.999999  # a legal mass above this is all of it
ROWS = 9  # candidates a distribution shows, one a digit key


def label(piece: bytes) -> str:
    """A piece as a person can read it; never nothing.

    >>> label(b" a"), label(b"")
    ('␣a', '∅')
    """
    return visible(piece) or "∅"


def reading(text: str) -> str:
    """A text as a person reads it: blanks inside stay blanks, those at its ends and all else unseen get a sign.

    >>> reading(" two words\\n")
    '␣two words↵'
    """
    inner = "".join(c if c == " " else visible(c.encode("utf-8", "replace")) for c in text.strip(" "))
    left = len(text) - len(text.lstrip(" "))
    return visible(b" " * left) + inner + visible(b" " * (len(text) - left - len(text.strip(" "))))


def probability(p: float) -> str:
    """Two decimals, and never a zero that is none.

    >>> probability(0.876), probability(0.0), probability(0.0004), probability(0.9999)
    ('0.88', '0', '<0.01', '>0.99')
    """
    if p == 0 or p == 1:
        return f"{p:.0f}"
    return "<0.01" if p < 0.005 else ">0.99" if p > 0.995 else f"{p:.2f}"


def short(p: float) -> float:
    """Four digits that count: small to send, and small is still not zero.

    >>> short(0.123456), short(0.0000123456)
    (0.1235, 1.235e-05)
    """
    return float(f"{p:.4g}")


def milliseconds(ms: float) -> str:
    """A time in the unit that suits it.

    >>> milliseconds(2.13), milliseconds(0.0031), milliseconds(1250.0)
    ('2.1 ms', '3 µs', '1.25 s')
    """
    if ms >= 1000:
        return f"{ms / 1000:.2f} s"
    return f"{ms:.0f} ms" if ms >= 100 else f"{ms:.1f} ms" if ms >= 0.1 else f"{ms * 1000:.0f} µs"


def say_origin(model: str, device: str, tokens: int) -> str:
    """What ran where, and over how many tokens.

    >>> say_origin("clerk", "cpu", 4096)
    'clerk · cpu · 4,096 tokens'
    """
    return f"{model} · {device} · {tokens:,} tokens"


def kept_source(source: Source) -> Source:
    """The source of a picture that is kept: it is never live.

    >>> kept_source("LIVE"), kept_source("TOY")
    ('RECORDED', 'TOY')
    """
    return "RECORDED" if source == "LIVE" else source


def say_step(step: Step) -> str:
    """What happened at this step, without its number."""
    if step.how == "none":
        return ENDS[step.end]
    end = f" · {ENDS[step.end]}" if step.end else ""
    if step.how == "forced":
        back = f" · takes back {counted(step.back, 'token')}" if step.back else ""
        return f"“{label(step.piece)}” forced, there was no choice: the model was not asked{back}{end}"
    came = {"sampled": "sampled", "inserted": "put in by you"}[step.how]
    odds = f"p {probability(step.raw)}"
    if step.mass <= FREE:
        odds = f"p {probability(step.masked)} of the legal, {probability(step.raw)} of all"
    if step.how == "sampled" and not is_plain(step):
        odds += f", drawn with {probability(step.drawn)}"
    return f"“{label(step.piece)}” {came}, {odds}{end}"


def is_plain(step: Step) -> bool:
    """Whether the draw went by the masked probabilities as they are, at temperature 1 and with nothing cut."""
    return all(abs(c.drawn - c.masked) < 1e-6 for c in step.candidates)


def is_free(step: Step) -> bool:
    """Whether nothing that matters is forbidden or tempered: then before and after are the same; one bar is enough."""
    return step.mass > FREE and is_plain(step)


def after_name(step: Step) -> str:
    """What the second bar shows: the mask's doing, or the temperature's and the cuts' as well."""
    return "after the mask" if is_plain(step) else "as drawn"


def shown_candidates(step: Step, count: int = ROWS) -> tuple[Candidate, ...]:
    """The few candidates worth a row: likely before or after the mask, the chosen always, in the order before it."""
    first = sorted(step.candidates, key=lambda c: (c.token != step.token, -max(c.raw, c.masked, c.drawn)))[:count]
    return tuple(sorted(first, key=lambda c: (-c.raw, c.token)))


def others(step: Step, shown: Sequence[Candidate]) -> tuple[float, float]:
    """The probability before and after that the shown candidates leave to all other tokens."""
    raw, drawn = (sum(c.raw for c in shown), sum(c.drawn for c in shown))
    left = (1 - raw, 1 - drawn if step.legal else 0.0)
    return left[0] if left[0] > 1e-6 else 0.0, left[1] if left[1] > 1e-6 else 0.0
