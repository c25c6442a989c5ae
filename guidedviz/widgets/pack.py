"""What the page is told of a decode and its steps: short, plain, and every token already made visible."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from guidedviz.decoding.sampling import Settings
from guidedviz.decoding.trace import Step, Trace
from guidedviz.tokens.guide import Explanation
from guidedviz.views.costs import find_top, times_asked
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
from guidedviz.widgets.player import LiveWalk, Player, Taken, Walk

SPEEDS = (1, 2, 4, 8, 15, 30, 60)  # steps a second


def shared_steps(old: Player, new: Player) -> int:
    """How many first steps two players have in common."""
    count = min(len(old.taken), len(new.taken))
    while count and old.taken[count - 1] is not new.taken[count - 1]:
        count -= 1
    return count


def pack_head(head: Trace, player: Player) -> dict[str, Any]:
    """Where the steps come from, and under which constraint: this is the same for all of them."""
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
        "limit": now.max_tokens,
    }


def pack_player(player: Player) -> dict[str, Any]:
    """Where the cursor stands, and what the next step would be made with."""
    return {
        "cursor": player.cursor,
        "ended": player.at_end,
        "stale": player.stale,
        "temperature": player.settings.temperature,
        "seed": player.settings.seed,
    }


def pack_times(steps: Sequence[Step]) -> dict[str, Any]:
    """How many milliseconds a full bar is, and the same in words."""
    top = find_top(times_asked(steps))
    return {"top": [round(top, 4), milliseconds(top)]}


def pack_taken(taken: Taken, walk: Walk) -> dict[str, Any]:
    """A step, and how it was drawn where that is not the plain way; `walk` is the one that goes on now."""
    now, sampled = taken.settings, taken.step.how == "sampled"
    ways = [f"at temperature {now.temperature:g}"] * (now.temperature != 1) + say_cuts(now)
    packed = pack_step(taken.step) | {"drawn": ", ".join(ways) if sampled else ""}
    return packed if taken.walk is walk else packed | {"words": f"{packed['words']} · under the constraint before"}


def say_cuts(now: Settings) -> list[str]:
    """What is cut off the distribution.

    >>> say_cuts(Settings(top_k=40, top_p=0.9))
    ['top-k 40', 'top-p 0.9']
    """
    return [f"top-k {now.top_k}"] * bool(now.top_k) + [f"top-p {now.top_p:g}"] * (now.top_p < 1)


def pack_step(step: Step) -> dict[str, Any]:
    """A step as the page wants it: short, and every token already made visible."""
    shown = shown_candidates(step)
    return {
        "token": step.token,
        "label": label(step.piece) if step.how != "none" else "⊘",
        "how": step.how,
        "back": step.back,
        "raw": short(step.raw),
        "masked": short(step.masked),
        "rows": [[c.token, label(c.piece), short(c.raw), short(c.drawn), c.legal] for c in shown],
        "rest": [short(p) for p in others(step, shown)],
        "legal": step.legal,
        "free": is_free(step),
        "after": after_name(step),
        "mass": short(step.mass),
        "state": step.state,
        "stack": step.stack,
        "ms": [round(ms, 4) for ms in (step.forward_ms, step.mask_ms, step.sample_ms)],
        "times": [milliseconds(ms) for ms in (step.forward_ms, step.mask_ms, step.sample_ms)],
        "end": step.end,
        "words": say_step(step),
    }


def pack_explanation(why: Explanation, names: Sequence[str]) -> dict[str, Any]:
    """A token's way byte by byte, up to the one where it died; `names` are those of the states."""
    rows = []
    for place in range(len(why.piece)):
        died = place == why.died_at
        state = names[place] if place < len(names) else ""
        after = names[place + 1] if place + 1 < len(names) else ""
        fate = f"expected {why.expected}" if died else after and f"→ {after}"
        rows.append([label(why.piece[place : place + 1]), state, fate, died])
        if died:
            break
    return {"label": label(why.piece), "reason": why.reason, "rows": rows, "stack": list(why.stack)}
