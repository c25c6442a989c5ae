"""Answers to `rms_norm` and `look`."""

import math

import numpy as np

from tests.checks.answers import look, rms_norm


def norm(mean=lambda squares: squares.mean(axis=-1, keepdims=True), add=1e-6, after=0.0):
    return lambda x, weights: x / (np.sqrt(mean(x**2) + add) + after) * weights


def in_place(x, weights):
    x /= np.sqrt((x**2).mean(axis=-1, keepdims=True) + 1e-6)
    return x * weights


def soft(matches):
    exponentials = np.exp(matches - matches.max())
    return exponentials / exponentials.sum()


def attend(scale=lambda query, keys: math.sqrt(len(query)), soft=soft):
    return lambda query, keys, values: soft(keys @ query / scale(query, keys)) @ values


def scaled_in_place(query, keys, values):
    keys /= math.sqrt(len(query))
    return soft(keys @ query) @ values


def norm_by_loops(x, weights):
    for row in x:
        size = math.sqrt(sum(number * number for number in row) / len(row) + 1e-6)
        yield [number / size * weight for number, weight in zip(row, weights, strict=True)]


def look_by_loops(query, keys, values):
    matches = [sum(q * k for q, k in zip(query, key, strict=True)) / math.sqrt(len(key)) for key in keys]
    powers = [math.exp(match - max(matches)) for match in matches]
    return [
        sum(p * v for p, v in zip(powers, column, strict=True)) / sum(powers) for column in zip(*values, strict=True)
    ]


WRONG = {
    "rms_norm": {
        "the sum of the squares": (norm(lambda squares: squares.sum(axis=-1, keepdims=True)), "mean"),
        "one mean for all rows": (norm(np.mean), "each row has a mean of its own"),
        "the mean of a column": (norm(lambda squares: squares.mean(axis=0)), "mean"),
        "no keepdims": (norm(lambda squares: squares.mean(axis=-1)), "ValueError|mean of its own"),
        "nothing added": (norm(add=0.0), "add 1e-6 to the mean"),
        "0.00001 added": (norm(add=1e-5), "under the root"),
        "added after the root": (norm(add=0.0, after=1e-6), "under the root"),
        "no weights": (lambda x, weights: rms_norm(x, 1), "multiply by the weights"),
        "weights added": (lambda x, weights: rms_norm(x, 1) + weights - 1, "multiply by the weights"),
        "divided by the weights": (lambda x, weights: rms_norm(x, 1 / weights), "multiply by the weights"),
        "no root": (lambda x, w: x / ((x**2).mean(axis=-1, keepdims=True) + 1e-6) * w, "root of the mean"),
        "the mean subtracted": (lambda x, weights: rms_norm(x - x.mean(axis=-1, keepdims=True), weights), "mean"),
        "the standard deviation": (lambda x, w: x / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-6) * w, "mean"),
        "a matrix product": (lambda x, weights: rms_norm(x, 1) @ weights, "an array of shape"),
        "its input changed": (in_place, "work on a copy"),
    },
    "look": {
        "the mean of the values": (lambda query, keys, values: values.mean(axis=0), "softmax of keys @ query"),
        "no softmax": (attend(soft=lambda matches: matches), "sees itself only|equal matches|softmax"),
        "not scaled": (attend(lambda query, keys: 1), "root of the length"),
        "scaled without a root": (attend(lambda query, keys: len(query)), "root of the length"),
        "scaled by the number of keys": (attend(lambda query, keys: math.sqrt(len(keys))), "root of the length"),
        "the largest not subtracted": (attend(soft=lambda m: np.exp(m) / np.exp(m).sum()), "subtract the largest"),
        "the best match": (lambda query, keys, values: values[(keys @ query).argmax()], "equal weights|softmax"),
        "the weights": (lambda query, keys, values: soft(keys @ query / math.sqrt(len(query))), "shape"),
        "keys for values": (lambda query, keys, values: look(query, keys, keys), "shape|itself"),
        "values for keys": (lambda query, keys, values: soft(values @ query[: values.shape[1]]) @ values, "|Error"),
        "the query added": (lambda query, keys, values: look(query, keys, values) + query.sum(), "itself"),
        "a list of weighted values": (
            lambda query, keys, values: soft(keys @ query / math.sqrt(len(query)))[:, None] * values,
            "an array of shape",
        ),
        "divided by the largest": (attend(soft=lambda m: m / m.max()), "equal matches|softmax"),
        "its keys changed": (scaled_in_place, "work on a copy"),
    },
}
RIGHT = {
    "rms_norm": {
        "a generator of lists": norm_by_loops,
        "a power of -1/2": lambda x, weights: x * weights * (np.mean(np.square(x), axis=1)[:, None] + 1e-6) ** -0.5,
        "row by row": lambda x, weights: np.array([norm(np.mean)(row, weights) for row in x]),
        "the norm of NumPy": lambda x, weights: (
            weights * x / np.sqrt(np.linalg.norm(x, axis=-1, keepdims=True) ** 2 / x.shape[-1] + 1e-6)
        ),
    },
    "look": {
        "lists": look_by_loops,
        "the query scaled": lambda query, keys, values: soft((query / math.sqrt(len(query))) @ keys.T) @ values,
        "einsum": lambda query, keys, values: np.einsum(
            "n,nv->v", soft(np.einsum("d,nd->n", query, keys) / keys.shape[1] ** 0.5), values
        ),
    },
}
