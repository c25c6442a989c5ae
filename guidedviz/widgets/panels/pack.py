"""The messages about a decode: short, plain, with every token in visible characters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from guidedviz.decoding.player import LiveWalk, Player, Run, Taken, Walk, shared_steps
from guidedviz.decoding.recording import PackedBranch, PackedByte, PackedHead, PackedPlayer, PackedStep, PackedWhy
from guidedviz.decoding.trace import Step, Trace
from guidedviz.errors import shorten
from guidedviz.tokens.guide import Explanation
from guidedviz.views.charts.costs import find_top, times_asked
from guidedviz.views.words import label, milliseconds, pack_step, reading, say_origin

BRANCH_LENGTH = 121  # characters of a branch that are read; one less is shown
SPEEDS = (1, 2, 4, 8, 15, 30, 60)  # steps per second


class Times(TypedDict):
    """The milliseconds of a full bar, as a number and as text."""

    top: tuple[float, str]


def pack_head(head: Trace, player: Player) -> PackedHead:
    """Where the steps come from, and their constraint."""
    now = player.settings
    biased = [f"{len(now.bias)} biased"] * bool(now.bias)
    return {
        "source": head.source,
        "about": say_origin(head.model, head.device, head.vocabulary_size),
        "date": head.date if head.source == "RECORDED" else "",
        "prompt": reading(head.prompt),
        "constraint": " · ".join([head.constraint or "no constraint", *now.cuts, *biased]),
        "vocabulary": head.vocabulary_size,
        "live": isinstance(player.walk, LiveWalk),
        "speeds": SPEEDS,
    }


def pack_player(player: Player) -> PackedPlayer:
    """The cursor, and the settings of the next step."""
    return {
        "cursor": player.cursor,
        "ended": player.go(len(player.taken)).at_end,
        "branches": tuple(pack_branch(player, run) for run in player.branches),
        "stale": tuple(player.outdated),
        "temperature": player.settings.temperature,
        "seed": player.settings.seed,
    }


def pack_branch(player: Player, run: Run) -> PackedBranch:
    """A run that was left."""
    same = shared_steps(player.taken, run)
    start = run[same : same + BRANCH_LENGTH]  # every token shows at least one character
    text = shorten("".join(label(taken.step.piece) for taken in start), BRANCH_LENGTH - 1)
    return PackedBranch(same, len(run) - same, text)


def pack_times(steps: Sequence[Step]) -> Times:
    """The milliseconds of a full bar."""
    top = find_top(times_asked(steps))
    return {"top": (round(top, 4), milliseconds(top))}


def pack_taken(taken: Taken, walk: Walk, back: Sequence[int]) -> PackedStep:
    """A step; `walk` is the current walk."""
    packed = pack_step(taken.step, back)
    if taken.walk is not walk:
        packed["words"] += " · under the earlier constraint"
    return packed


def pack_explanation(why: Explanation) -> PackedWhy:
    """A token byte by byte up to the rejected one."""
    rows, names = [], why.states
    for place in range(len(why.piece)):
        died = place == why.died_at
        state = names[place] if place < len(names) else ""
        after = names[place + 1] if place + 1 < len(names) else ""
        fate = f"expected {why.expected}" if died else after and f"→ {after}"
        rows.append(PackedByte(label(why.piece[place : place + 1]), state, fate, died))
        if died:
            break
    return {"label": label(why.piece), "reason": why.reason, "rows": tuple(rows), "stack": why.stack}
