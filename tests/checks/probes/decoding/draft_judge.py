"""Answers to `accept`."""

from collections import Counter

import numpy as np

from tests.checks.answers import accept as judge


def residual(p, q):
    more = {t: p[t] - q.get(t, 0) for t in p if p[t] > q.get(t, 0)}
    return {t: share / sum(more.values()) for t, share in more.items()}


def accepts(p, q, token, u):
    return u < min(1, p.get(token, 0) / q[token])


def changed(p, q, token, u):
    if accepts(p, q, token, u):
        return None
    p.pop(token, None)
    return residual(p, q)


WRONG = {
    "accept": {
        "every legal guess accepted": (lambda p, q, token, u: None if token in p else residual(p, q), "rejected"),
        "never accepted": (lambda p, q, token, u: residual(p, q) if p != q else {}, "accepted"),
        "by q": (lambda p, q, token, u: None if u < q[token] else residual(p, q), "accepted"),
        "by p": (lambda p, q, token, u: None if u < p.get(token, 0) else residual(p, q) if p != q else p, "accepted"),
        "by p > q": (
            lambda p, q, token, u: None if p.get(token, 0) >= q[token] else residual(p, q),
            "u is below",
        ),
        "the wrong way round": (
            lambda p, q, token, u: None if p.get(token) and u < q[token] / p[token] else residual(p, q),
            "rejected|residual|accept",
        ),
        "not divided": (
            lambda p, q, token, u: (
                None if accepts(p, q, token, u) else {t: p[t] - q.get(t, 0) for t in p if p[t] > q.get(t, 0)}
            ),
            "only b|divide",
        ),
        "p again": (lambda p, q, token, u: None if accepts(p, q, token, u) else p, "only b"),
        "p without the guess": (
            lambda p, q, token, u: (
                None if accepts(p, q, token, u) else {t: v / (1 - p.get(token, 0)) for t, v in p.items() if t != token}
            ),
            "divide|not listed",
        ),
        "absolute differences": (
            lambda p, q, token, u: (
                None
                if accepts(p, q, token, u)
                else {t: abs(p[t] - q.get(t, 0)) / sum(abs(p[s] - q.get(s, 0)) for s in p) for t in p}
            ),
            "only b",
        ),
        "missing tokens": (
            lambda p, q, token, u: None if u < p[token] / q[token] else residual(p, q),
            "missing in p",
        ),
        "u at most p / q": (
            lambda p, q, token, u: None if u <= p.get(token, 0) / q[token] else residual(p, q),
            "even at u = 0",
        ),
        "True": (lambda p, q, token, u: accepts(p, q, token, u) or residual(p, q), "None"),
        "its input changed": (changed, "work on a copy"),
    }
}
RIGHT = {
    "accept": {
        "a Counter": lambda p, q, token, u: (
            None if accepts(p, q, token, u) else Counter({t: float(v) for t, v in residual(p, q).items()})
        ),
        "without a division": lambda p, q, token, u: None if u * q[token] < p.get(token, 0) else residual(p, q),
        "NumPy scalars": lambda p, q, token, u: (
            {t: np.float64(v) for t, v in found.items()} if (found := judge(p, q, token, u)) else None
        ),
    }
}
