"""A step in words, and all that is shown of it.

The stage and its still picture show the same labels, rows and words, because both take them from `pack_step`.
"""

from collections.abc import Iterable, Sequence

from guidedviz.decoding.recording import PackedRest, PackedRow, PackedStep
from guidedviz.decoding.sampling import probability
from guidedviz.decoding.trace import END_IN_WORDS, Candidate, Step
from guidedviz.machines.visible import counted
from guidedviz.views.words import label, milliseconds, short

FULL_MASS = 0.999999  # a legal mass above this counts as 1
SHORT_ODDS = 6  # characters of a probability that is said twice even if it does not change
MOST_CANDIDATES = 9  # candidates in a distribution, one per digit key
COLD = "T 0.00"  # nothing is drawn: the likeliest token is taken
CAME = {"sampled": "sampled", "inserted": "put in by you", "accepted": "drafted and accepted"}


def say_step(step: Step) -> str:
    """What happened in this step, without its number."""
    if step.how == "none":
        return END_IN_WORDS[step.end]
    said = _say_forced(step) if step.how == "forced" else _say_drawn(step)
    if step.end:
        said += f" · {END_IN_WORDS[step.end]}"
    return said


def _say_forced(step: Step) -> str:
    said = f"“{label(step.piece)}” forced, the text was fixed: the model was not asked"
    if step.back:
        said += f" · takes back {counted(step.back, 'token')}"
    return said


def _say_drawn(step: Step) -> str:
    odds = f"p {probability(step.raw)}"
    if step.mass <= FULL_MASS:
        odds = f"p {probability(step.masked)} of the legal, {probability(step.raw)} of all"
    came = CAME[step.how]
    if step.how == "sampled" and COLD in step.changes:
        came = "taken as the likeliest"
    elif step.how != "inserted" and not is_plain(step):
        odds += f", drawn with {probability(step.drawn)}"
    said = f"“{label(step.piece)}” {came}, {odds}"
    if step.dropped:
        said += f" · rejected draft: {' '.join(map(label, step.dropped))}"
    return said


def is_plain(step: Step) -> bool:
    """Whether the token was drawn from the masked probabilities alone: temperature 1, no top-k or top-p."""
    return all(abs(c.drawn - c.masked) < 1e-6 for c in step.candidates)


def shown_candidates(step: Step, count: int = MOST_CANDIDATES) -> tuple[Candidate, ...]:
    """The likeliest candidates before or after the mask and the chosen one, sorted by probability before the mask."""

    def rank(candidate: Candidate) -> tuple[bool, float]:
        likeliest = max(candidate.raw, candidate.masked, candidate.drawn)
        return candidate.token != step.token, -likeliest

    first = sorted(step.candidates, key=rank)[:count]
    return tuple(sorted(first, key=lambda c: (-c.raw, c.token)))


def pack_step(step: Step, back: Sequence[int] = ()) -> PackedStep:
    """What is shown of a step; `back` are the places of the steps whose tokens it takes back."""
    shown = shown_candidates(step)
    raw = _share_left(c.raw for c in shown)
    drawn = _share_left(c.drawn for c in shown) if step.legal else 0.0
    plain = is_plain(step)  # a second bar is needed only where a token is forbidden or the probabilities differ
    unmasked = step.mass > FULL_MASS and all(c.legal for c in step.candidates)
    spent = (step.forward_ms, step.mask_ms, step.sample_ms)
    return {
        "token": step.token,
        "label": label(step.piece) if step.how != "none" else "⊘",
        "how": step.how,
        "masked": short(step.masked),
        "maskedText": probability(step.masked),
        "rows": tuple(map(_pack_row, shown)),
        "rest": PackedRest(short(raw), short(drawn), *say_change(raw, drawn)),
        "legal": step.legal,
        "free": unmasked and plain,
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


def _share_left(parts: Iterable[float]) -> float:
    """What is missing to 1, without the noise of rounding."""
    left = 1 - sum(parts)
    return left if left > 1e-6 else 0.0


def _pack_row(c: Candidate) -> PackedRow:
    odds = (short(c.raw), short(c.drawn))
    words = say_change(c.raw, c.drawn, c.legal)
    return PackedRow(c.token, label(c.piece), *odds, c.legal, *words)


def say_change(before: float, after: float, legal: bool = True) -> tuple[str, str]:
    """A probability before and after the mask; a long one that does not change is not said twice.

    >>> say_change(0.1, 0.2), say_change(0.1, 0, legal=False), say_change(1.5e-7, 1.5e-7)
    (('0.10', '0.20'), ('0.10', 'forbidden'), ('1 in 10⁷', 'same'))
    """
    old = probability(before)
    if not legal:
        return old, "forbidden"
    new = probability(after)
    if old == new and len(old) > SHORT_ODDS:
        return old, "same"
    return old, new
