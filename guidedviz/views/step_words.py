"""A step in words, and all that is shown of it.

The stage and its still picture show the same labels, rows and words, because both take them from `pack_step`.
"""

from collections.abc import Sequence

from guidedviz.decoding.recording import PackedRest, PackedRow, PackedStep
from guidedviz.decoding.sampling import probability
from guidedviz.decoding.trace import ENDS, Candidate, Step
from guidedviz.machines.visible import counted
from guidedviz.views.words import label, milliseconds, short

FREE = 0.999999  # a legal mass above this counts as 1
LONG = 6  # characters of a probability that is not said twice
ROWS = 9  # candidates in a distribution, one per digit key


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
