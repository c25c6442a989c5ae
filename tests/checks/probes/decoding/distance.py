"""Answers to `distance`."""

import numpy as np

from tests.checks.answers import distance


def emptied(weights):
    total = 0.0
    share = sum(weights) / len(weights)
    while weights:
        total += abs(1 - weights.pop() / share)
    return total


WRONG = {
    "distance": {
        "no mean": (lambda weights: sum(abs(1 - w) for w in weights) / len(weights) / 2, "mean weight"),
        "the sum, not the mean": (
            lambda weights: sum(abs(1 - w / sum(weights)) for w in weights) / len(weights) / 2,
            "mean weight",
        ),
        "not halved": (lambda weights: 2 * distance(weights), "half"),
        "not divided by the number": (lambda weights: distance(weights) * len(weights), "half|mean distance"),
        "no abs": (lambda weights: sum(1 - w * len(weights) / sum(weights) for w in weights) / 2, "half"),
        "squares": (
            lambda weights: sum((1 - w * len(weights) / sum(weights)) ** 2 for w in weights) / len(weights) / 2,
            "mean distance|half|tiny|few",
        ),
        "the largest": (lambda weights: max(abs(1 - w * len(weights) / sum(weights)) for w in weights) / 2, "mean|few"),
        "rounded weights": (
            lambda weights: distance([round(w, 3) for w in weights]) if any(weights) else 0,
            "tiny|divi",
        ),
        "negative": (lambda weights: -distance(weights), "never negative"),
        "a list": (lambda weights: [abs(1 - w) for w in weights], "one number"),
        "its input changed": (emptied, "work on a copy"),
    }
}
RIGHT = {
    "distance": {
        "NumPy": lambda weights: np.abs(1 - np.array(weights) / np.mean(weights)).mean() / 2,
        "the positive part only": lambda weights: (
            sum(max(0, w * len(weights) / sum(weights) - 1) for w in weights) / len(weights)
        ),
        "a NumPy scalar": lambda weights: (
            np.float32(distance(weights)).astype(float) if distance(weights) in (0, 0.5, 0.25) else distance(weights)
        ),
    }
}
