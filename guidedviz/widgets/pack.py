"""What the page is told of a step: short, plain, and every token already made visible."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from guidedviz.decoding.trace import Step
from guidedviz.tokens.guide import Explanation
from guidedviz.views.words import after_name, is_free, label, milliseconds, others, say_step, short, shown_candidates
from guidedviz.widgets.player import Player, Taken, Walk


def shared_steps(old: Player, new: Player) -> int:
    """How many first steps two players have in common."""
    count = min(len(old.taken), len(new.taken))
    while count and old.taken[count - 1] is not new.taken[count - 1]:
        count -= 1
    return count


def pack_taken(taken: Taken, walk: Walk) -> dict[str, Any]:
    """A step, and how it was drawn where that is not the plain way; `walk` is the one that goes on now."""
    now, sampled = taken.settings, taken.step.how == "sampled"
    ways = [f"at temperature {now.temperature:g}"] * (now.temperature != 1)
    ways += [f"top-k {now.top_k}"] * bool(now.top_k) + [f"top-p {now.top_p:g}"] * (now.top_p < 1)
    packed = pack_step(taken.step) | {"drawn": ", ".join(ways) if sampled else ""}
    return packed if taken.walk is walk else packed | {"words": f"{packed['words']} · under the constraint before"}


def pack_step(step: Step) -> dict[str, Any]:
    """A step as the page wants it: short, and every token already made visible."""
    shown = shown_candidates(step)
    return {
        "token": step.token,
        "label": label(step.piece) if step.how != "none" else "⊘",
        "how": step.how,
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
