"""A step in words, and all that is shown of it.

The stage and its still picture show the same labels, rows and words, because both take them from `pack_step`.
"""

from collections.abc import Iterator, Sequence

from guidedviz.decoding.recording import PackedRow, PackedStep
from guidedviz.decoding.sampling import probability
from guidedviz.decoding.trace import END_IN_WORDS, Candidate, Step, is_likeliest
from guidedviz.machines.names import is_name
from guidedviz.machines.visible import counted
from guidedviz.views.words import label, milliseconds, short

FULL_MASS = 0.999999  # a legal mass above this counts as 1
NOISE = 1e-6  # what rounding leaves of nothing
OTHERS = -1  # the token of a row for many tokens
MOST_CANDIDATES = 8  # candidates in a distribution, one per digit key
CAME = {"sampled": "sampled", "inserted": "put in by you", "accepted": "drafted and accepted", "given": "given"}


def say_step(step: Step) -> str:
    """What happened in this step, without its number."""
    if step.how == "none":
        said = END_IN_WORDS[step.end]
        return f"{said} · {step.refused.words}" if step.refused else said
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
    masked = probability(step.masked)
    raw = probability(step.raw)
    odds = f"p {raw}"
    if step.mass <= FULL_MASS and masked != raw:
        odds = f"p {masked} of the legal, {raw} of all"
    came = CAME[step.how]
    if is_likeliest(step):
        came = "taken as the likeliest"
    elif step.how not in ("inserted", "given") and not is_plain(step):
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
    chosen = step.refused.token if step.refused else step.token

    def rank(candidate: Candidate) -> tuple[bool, float]:
        likeliest = max(candidate.raw, candidate.masked, candidate.drawn)
        return candidate.token != chosen, -likeliest

    first = sorted(step.candidates, key=rank)[:count]
    return tuple(sorted(first, key=lambda c: (-c.raw, c.token)))


def forbidden_candidates(step: Step) -> list[Candidate]:
    """Those of the shown candidates that are forbidden."""
    return [candidate for candidate in shown_candidates(step) if not candidate.legal]


def shown_token(step: Step) -> str:
    """The token of a step; a sign where it has none."""
    return "⊘" if step.how == "none" else label(step.piece)


def pack_step(step: Step, back: Sequence[int] = ()) -> PackedStep:
    """What is shown of a step; `back` are the places of the steps whose tokens it takes back."""
    shown = shown_candidates(step)
    plain = is_plain(step)
    spent = (step.forward_ms, step.mask_ms, step.sample_ms)
    packed: PackedStep = {
        "token": step.token,
        "label": shown_token(step),
        "how": step.how,
        "masked": short(step.masked),
        "maskedText": probability(step.masked),
        "rows": tuple(map(_pack_row, shown)),
        "others": tuple(_pack_others(step, shown)),
        "legal": step.legal,
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
        "inside": step.inside,
    }
    if step.stages and not plain:
        packed["stages"] = tuple(_pack_stages(step, shown))
    names = {c.token for c in shown if is_name(c.piece)}
    if is_name(step.piece):
        names.add(step.token)
    if names:
        packed["names"] = tuple(sorted(names))
    return packed


def _pack_others(step: Step, shown: Sequence[Candidate]) -> Iterator[PackedRow]:
    """All tokens without a row of their own, legal and forbidden ones; nothing if the model was not asked."""
    if not shown:
        return
    for legal, mass in ((True, step.mass), (False, 1 - step.mass)):
        rows = [c for c in shown if c.legal == legal]
        raw = mass - sum(c.raw for c in rows)
        drawn = float(legal and step.legal > 0) - sum(c.drawn for c in rows)
        if max(raw, drawn) > NOISE:
            name = "others legal" if legal else "others forbidden"
            yield PackedRow(OTHERS, name, short(raw), short(drawn), legal, probability(raw), probability(drawn))


def _pack_stages(step: Step, shown: Sequence[Candidate]) -> Iterator[tuple[float, ...]]:
    """For each stage of the sampler before the last the probabilities of the shown rows, then of all others."""
    places = [step.candidates.index(c) for c in shown]
    for shares in step.stages:
        rows = [shares[place] for place in places]
        others = 1 - sum(rows)
        if others < NOISE:
            others = 0.0
        yield tuple(map(short, (*rows, others)))


def _pack_row(c: Candidate) -> PackedRow:
    after = probability(c.drawn) if c.legal else "forbidden"
    return PackedRow(c.token, label(c.piece), short(c.raw), short(c.drawn), c.legal, probability(c.raw), after)
