"""The messages about a decode and its steps: short, plain, with every token in visible characters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from guidedviz.decoding.player import LiveWalk, Player, Run, Taken, Walk, shared_steps
from guidedviz.decoding.sampling import probability
from guidedviz.decoding.settings import Settings
from guidedviz.decoding.trace import Step, Trace
from guidedviz.errors import shorten
from guidedviz.tokens.guide import Explanation
from guidedviz.views.charts.costs import find_top, times_asked
from guidedviz.views.words import (
    after_name,
    is_free,
    label,
    milliseconds,
    others,
    reading,
    say_origin,
    say_step,
    short,
    shown_candidates,
)

BRANCH_LENGTH = 121  # characters of a branch that are read; one less is shown
SPEEDS = (1, 2, 4, 8, 15, 30, 60)  # steps per second


def pack_head(head: Trace, player: Player) -> dict[str, Any]:
    """Where the steps come from, and their constraint."""
    now = player.settings
    biased = [f"{len(now.bias)} biased"] * bool(now.bias)
    return {
        "source": head.source,
        "about": say_origin(head.model, head.device, head.vocabulary_size),
        "date": head.date if head.source == "RECORDED" else "",
        "prompt": reading(head.prompt),
        "constraint": " · ".join([head.constraint or "no constraint", *say_cuts(now), *biased]),
        "vocabulary": head.vocabulary_size,
        "live": isinstance(player.walk, LiveWalk),
        "speeds": SPEEDS,
    }


def pack_player(player: Player) -> dict[str, Any]:
    """The cursor, and the settings of the next step."""
    return {
        "cursor": player.cursor,
        "ended": player.go(len(player.taken)).at_end,
        "branches": [pack_branch(player, run) for run in player.branches],
        "stale": player.outdated,
        "temperature": player.settings.temperature,
        "seed": player.settings.seed,
    }


def pack_branch(player: Player, run: Run) -> list[Any]:
    """A run that was left: the number of steps that it shares with the current run, and the text after them."""
    same = shared_steps(player.taken, run)
    start = run[same : same + BRANCH_LENGTH]  # every token shows at least one character
    return [same, len(run) - same, shorten("".join(label(taken.step.piece) for taken in start), BRANCH_LENGTH - 1)]


def pack_times(steps: Sequence[Step]) -> dict[str, Any]:
    """The milliseconds of a full bar, as a number and as text."""
    top = find_top(times_asked(steps))
    return {"top": [round(top, 4), milliseconds(top)]}


def pack_taken(taken: Taken, walk: Walk) -> dict[str, Any]:
    """A step, and how it was sampled if not in the plain way; `walk` is the current walk."""
    now, sampled = taken.settings, taken.step.how in ("sampled", "accepted")
    ways = [f"at temperature {now.temperature:g}"] * (now.temperature != 1) + say_cuts(now)
    ways += ["with a bias"] * bool(now.bias)
    packed = pack_step(taken.step) | {"drawn": ", ".join(ways) if sampled else ""}
    return packed if taken.walk is walk else packed | {"words": f"{packed['words']} · under the earlier constraint"}


def say_cuts(now: Settings) -> list[str]:
    """How the distribution is cut.

    >>> say_cuts(Settings(top_k=40, top_p=0.9))
    ['top-k 40', 'top-p 0.9']
    """
    return [f"top-k {now.top_k}"] * bool(now.top_k) + [f"top-p {now.top_p:g}"] * (now.top_p < 1)


def pack_step(step: Step) -> dict[str, Any]:
    """A step for the page."""
    shown = shown_candidates(step)
    rows = [(c, _both(c.raw, c.drawn)) for c in shown]
    return {
        "token": step.token,
        "label": label(step.piece) if step.how != "none" else "⊘",
        "how": step.how,
        "masked": short(step.masked),
        "maskedText": probability(step.masked),
        "rows": [[c.token, label(c.piece), *bars, c.legal, *said] for c, (bars, said) in rows],
        "rest": [part for both in _both(*others(step, shown)) for part in both],
        "legal": step.legal,
        "free": is_free(step),
        "after": after_name(step),
        "mass": short(step.mass),
        "massText": probability(step.mass),
        "state": step.state,
        "stack": step.stack,
        "ms": [round(ms, 4) for ms in (step.forward_ms, step.mask_ms, step.sample_ms)],
        "times": [milliseconds(ms) for ms in (step.forward_ms, step.mask_ms, step.sample_ms)],
        "end": step.end,
        "words": say_step(step),
        "dropped": "".join(map(label, step.dropped)),
    }


def _both(before: float, after: float) -> tuple[list[float], list[str]]:
    """Two probabilities as numbers, and as text."""
    return [short(before), short(after)], [probability(before), probability(after)]


def pack_explanation(why: Explanation) -> dict[str, Any]:
    """A token byte by byte up to the rejected one."""
    rows, names = [], why.states
    for place in range(len(why.piece)):
        died = place == why.died_at
        state = names[place] if place < len(names) else ""
        after = names[place + 1] if place + 1 < len(names) else ""
        fate = f"expected {why.expected}" if died else after and f"→ {after}"
        rows.append([label(why.piece[place : place + 1]), state, fate, died])
        if died:
            break
    return {"label": label(why.piece), "reason": why.reason, "rows": rows, "stack": list(why.stack)}
