"""The exact distributions of a small task: all its texts as a tree, with three probabilities each.

The target is the model's own distribution over whole texts, conditioned on the language: P(text | text is legal).
Masked decoding draws from another distribution, because a mask looks one token ahead and no further. The labs import
the samplers and the estimates from here, too.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from guidedviz.decoding.estimates import legal_of as legal_of
from guidedviz.decoding.estimates import share_of as share_of
from guidedviz.decoding.estimates import total_variation_of as total_variation_of
from guidedviz.decoding.samplers import Adaptive as Adaptive
from guidedviz.decoding.samplers import Asap as Asap
from guidedviz.decoding.samplers import Masked as Masked
from guidedviz.decoding.samplers import Particles as Particles
from guidedviz.decoding.samplers import Rejection as Rejection
from guidedviz.decoding.task import Draw as Draw
from guidedviz.decoding.task import Task as Task
from guidedviz.decoding.task import Text
from guidedviz.errors import SettingError

MOST_EXACT_TEXTS = 20_000


@dataclass(frozen=True)
class Branch:
    """All legal texts that begin with the same tokens: the sums of their probabilities.

    The three are: without a mask, under masked decoding, and conditioned on the language. `free` also counts what goes
    on with an illegal token; this part is `illegal`. A branch without branches is a whole text.
    """

    tokens: tuple[int, ...]
    text: bytes
    free: float
    masked: float
    conditioned: float
    illegal: float = 0.0
    branches: tuple["Branch", ...] = ()


def branch(task: Task) -> Branch:
    """All legal texts of a task as a tree, token by token.

    >>> toy = gv.ToyModel([b"a", b"b"], lambda tokens: np.log([0.9, 0.1] if tokens[-1] == 0 else [0.5, 0.5]))
    >>> tree = branch(Task(toy, "b", gv.guide(gv.regex("ab|b[ab]"), toy.vocabulary)))
    >>> [(one.tokens, round(one.free, 2), round(one.illegal, 2), round(one.conditioned, 2)) for one in tree.branches]
    [((0,), 0.5, 0.45, 0.09), ((1,), 0.5, 0.0, 0.91)]
    """
    tree = _grow_branch(task, task.start, 1.0, 1.0, Counter())
    task.counter.clear()
    return _divide(tree, tree.conditioned or 1.0)


def _grow_branch(task: Task, text: Text, free: float, masked: float, found: Counter[str]) -> Branch:
    """The tree after a text. Its `conditioned` are not yet divided by the probability of the language."""
    if text.ended:
        found["texts"] += 1
        return Branch(text.tokens, task.output(text), free, masked, free)
    if not task.is_open(text) or found["texts"] > MOST_EXACT_TEXTS:
        limit = f"at most {MOST_EXACT_TEXTS:,} texts of at most {task.max_tokens} tokens"
        raise SettingError("all_texts", seen="more texts or longer ones", expected=limit, hint="draw samples")
    chances = task.chances(text)
    mask = task.mask(text)
    legal = float(chances[mask].sum())
    below = []
    for token in np.flatnonzero(mask & (chances > 0)).tolist():
        after = task.then(text, token)
        if after:
            share = float(chances[token])
            own = masked * share / legal
            grown = _grow_branch(task, after, free * share, own, found)
            if grown.conditioned:  # one without a text leads nowhere
                below.append(grown)
    return Branch(
        text.tokens,
        task.output(text),
        free,
        masked=sum(one.masked for one in below),
        conditioned=sum(one.conditioned for one in below),
        illegal=max(0.0, free - sum(one.free for one in below)),
        branches=tuple(below),
    )


def _divide(tree: Branch, whole: float) -> Branch:
    below = tuple(_divide(one, whole) for one in tree.branches)
    return replace(tree, conditioned=tree.conditioned / whole, branches=below)


def all_texts(task: Task) -> tuple[Branch, ...]:
    """All legal texts of a task, the likeliest first.

    >>> toy = gv.ToyModel([b"a", b"b", b"</s>"], lambda tokens: np.log([0.5, 0.3, 0.2]), eos={2})
    >>> for one in all_texts(Task(toy, "a", gv.guide(gv.regex("a|bb"), toy.vocabulary))):
    ...     print(one.text, *(round(p, 3) for p in (one.free, one.masked, one.conditioned)))
    b'a' 0.1 0.625 0.847
    b'bb' 0.018 0.375 0.153
    """
    return tuple(sorted(_leaves(branch(task)), key=lambda text: -text.conditioned))


def _leaves(tree: Branch) -> list[Branch]:
    if not tree.branches:
        return [tree] if tree.conditioned else []
    return [leaf for one in reversed(tree.branches) for leaf in _leaves(one)]


def shares(draws: Iterable[Draw]) -> dict[tuple[int, ...], float]:
    """The share of each text among draws, by their weights."""
    totals: dict[tuple[int, ...], float] = {}
    for draw in draws:
        totals[draw.tokens] = totals.get(draw.tokens, 0.0) + draw.weight
    whole = sum(totals.values())
    return {tokens: weight / whole for tokens, weight in totals.items() if weight}


def total_variation(one: Mapping[Any, float], two: Mapping[Any, float]) -> float:
    """Half the sum of the differences: 0 for equal distributions, 1 for distributions that share no text.

    >>> total_variation({"a": 0.5, "b": 0.5}, {"a": 1.0})
    0.5
    """
    return 0.5 * sum(abs(one.get(key, 0.0) - two.get(key, 0.0)) for key in one.keys() | two.keys())
