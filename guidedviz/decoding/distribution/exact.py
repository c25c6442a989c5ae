"""The exact distributions of a small task: all its texts, with three probabilities each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from guidedviz.decoding.distribution.task import Draw, Task, Text
from guidedviz.errors import SettingError

MOST_TEXTS = 20_000


@dataclass(frozen=True)
class Chance:
    """A whole text: its probability without a mask, under masked decoding, and conditioned on the language."""

    tokens: tuple[int, ...]
    text: bytes
    free: float
    masked: float
    conditioned: float = 0.0


def all_texts(task: Task) -> tuple[Chance, ...]:
    """All legal texts of a task, the likeliest first.

    >>> toy = gv.ToyModel([b"a", b"b", b"</s>"], lambda tokens: np.log([0.5, 0.3, 0.2]), eos={2})
    >>> for one in all_texts(Task(toy, "a", gv.guide(gv.regex("a|bb"), toy.vocabulary))):
    ...     print(one.text, *(round(p, 3) for p in (one.free, one.masked, one.conditioned)))
    b'a' 0.1 0.625 0.847
    b'bb' 0.018 0.375 0.153
    """
    found, waits = [], [(task.start, 1.0, 1.0)]
    while waits:
        text, free, masked = waits.pop()
        if text.ended:
            found.append(_chance(task, text, free, masked))
            continue
        if not task.is_open(text) or len(found) + len(waits) > MOST_TEXTS:
            limit = f"at most {MOST_TEXTS:,} texts of at most {task.max_tokens} tokens"
            raise SettingError("all_texts", seen="more texts or longer ones", expected=limit, hint="draw samples")
        chances, mask = task.chances(text), task.mask(text)
        legal = float(chances[mask].sum())
        for token in np.flatnonzero(mask & (chances > 0)).tolist():
            after = task.then(text, token)
            if after is not None:
                waits.append((after, free * chances[token], masked * chances[token] / legal))
    whole = sum(chance.free for chance in found)
    found = [replace(chance, conditioned=chance.free / whole) for chance in found]
    return tuple(sorted(found, key=lambda chance: -chance.conditioned))


def _chance(task: Task, text: Text, free: float, masked: float) -> Chance:
    return Chance(text.tokens, task.finish(text).text, free, masked)


@dataclass(frozen=True)
class Branch:
    """All texts that begin with the same tokens, with the sums of their probabilities.

    `illegal` is the part of `free` in which the next token is illegal.
    """

    tokens: tuple[int, ...]
    free: float
    masked: float
    conditioned: float
    illegal: float
    branches: tuple[Branch, ...] = ()


def branch(task: Task) -> Branch:
    """All legal texts of a task as a tree, token by token.

    >>> toy = gv.ToyModel([b"a", b"b"], lambda tokens: np.log([0.9, 0.1] if tokens[-1] == 0 else [0.5, 0.5]))
    >>> tree = branch(Task(toy, "b", gv.guide(gv.regex("ab|b[ab]"), toy.vocabulary)))
    >>> [(one.tokens, round(one.free, 2), round(one.illegal, 2), round(one.conditioned, 2)) for one in tree.branches]
    [((0,), 0.5, 0.45, 0.09), ((1,), 0.5, 0.0, 0.91)]
    """
    return _branch(task, task.start, 1.0, all_texts(task))


def _branch(task: Task, text: Text, free: float, texts: tuple[Chance, ...]) -> Branch:
    masked, conditioned = (
        float(sum(shares)) for shares in zip(*((t.masked, t.conditioned) for t in texts), strict=True)
    )
    if text.ended:
        return Branch(text.tokens, free, masked, conditioned, 0.0)
    chances, legal, below = task.chances(text), 0.0, []
    for token in sorted({t.tokens[len(text.tokens)] for t in texts}):
        after = task.then(text, token)
        if after is not None:
            inside = tuple(t for t in texts if t.tokens[: len(after.tokens)] == after.tokens)
            below.append(_branch(task, after, free * float(chances[token]), inside))
            legal += float(chances[token])
    return Branch(text.tokens, free, masked, conditioned, max(0.0, free * (1 - legal)), tuple(below))


def shares(draws: Iterable[Draw]) -> dict[tuple[int, ...], float]:
    """The share of each text among draws, by their weights."""
    totals: dict[tuple[int, ...], float] = {}
    for draw in draws:
        totals[draw.tokens] = totals.get(draw.tokens, 0.0) + draw.weight
    whole = sum(totals.values())
    return {tokens: weight / whole for tokens, weight in totals.items() if weight} if whole else {}


def total_variation(one: Mapping[Any, float], two: Mapping[Any, float]) -> float:
    """Half the sum of the differences: 0 for equal distributions, 1 for distributions that share no text.

    >>> total_variation({"a": 0.5, "b": 0.5}, {"a": 1.0})
    0.5
    """
    return 0.5 * sum(abs(one.get(key, 0.0) - two.get(key, 0.0)) for key in one.keys() | two.keys())
