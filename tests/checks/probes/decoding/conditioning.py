"""Answers to `conditioned`."""

from collections import Counter

import numpy as np

from tests.checks.answers import conditioned


def popped(chances, legal):
    for text in [text for text in chances if text not in legal]:
        del chances[text]
    return {text: share / sum(chances.values()) for text, share in chances.items()}


WRONG = {
    "conditioned": {
        "not divided": (lambda chances, legal: {text: chances[text] for text in legal}, "add up to 1"),
        "divided by all": (
            lambda chances, legal: {text: chances[text] / sum(chances.values()) for text in legal},
            "add up to 1",
        ),
        "equal shares": (lambda chances, legal: dict.fromkeys(legal, 1 / len(legal)), "keep their ratios"),
        "illegal texts at 0": (
            lambda chances, legal: {text: conditioned(chances, legal).get(text, 0.0) for text in chances},
            "only the legal texts",
        ),
        "illegal texts kept": (lambda chances, legal: chances, "only the legal texts"),
        "the sum only": (lambda chances, legal: sum(chances[text] for text in legal), "a dict is expected"),
        "a list": (lambda chances, legal: list(conditioned(chances, legal).values()), "a dict is expected"),
        "a softmax": (
            lambda chances, legal: {
                text: np.exp(chances[text]) / sum(np.exp(chances[one]) for one in legal) for text in legal
            },
            "keep their ratios",
        ),
        "rounded": (
            lambda chances, legal: {text: round(share, 2) for text, share in conditioned(chances, legal).items()},
            "keep their ratios",
        ),
        "small ones dropped": (
            lambda chances, legal: conditioned(
                chances, {text for text in legal if chances[text] > 1e-9} or set(chances)
            ),
            "only the legal|small",
        ),
        "the likeliest": (lambda chances, legal: {max(legal, key=chances.get): 1.0}, "keep their ratios"),
        "its input changed": (popped, "work on a copy"),
    }
}
RIGHT = {
    "conditioned": {
        "a Counter": lambda chances, legal: Counter(conditioned(chances, legal)),
        "NumPy scalars": lambda chances, legal: {k: np.float64(v) for k, v in conditioned(chances, legal).items()},
        "another order": lambda chances, legal: dict(sorted(conditioned(chances, legal).items(), reverse=True)),
    }
}
