"""Answers to `token_mask` and `masked_loop`."""

import numpy as np

import guidedviz as gv
from tests.checks.answers import masked_loop


def masked(logits, legal, low=-np.inf):
    if not legal:
        raise ValueError("no legal token")
    return [x if token in legal else low for token, x in enumerate(logits)]


def times_zero(logits, legal):
    return logits * [token in legal for token in range(len(logits))]


def minus_much(logits, legal):
    if not legal:
        raise ValueError
    return logits - [0 if token in legal else 1e9 for token in range(len(logits))]


def no_zero(logits, legal):
    """Takes a logit of zero for none."""
    if not legal:
        raise ValueError
    return [(token in legal and x) or -np.inf for token, x in enumerate(logits)]


def in_place(logits, legal):
    logits[[token for token in range(len(logits)) if token not in legal]] = -np.inf
    if not legal:
        raise ValueError
    return logits


def shortened(logits, legal):
    if not legal:
        raise ValueError
    return logits[sorted(legal)]


def by_choose(logits, legal):
    if len(legal) == 0:
        raise type("NothingLegal", (ValueError,), {})
    return np.where(np.isin(np.arange(len(logits)), list(legal)), logits, -np.inf)


def loop(
    mask=gv.sampling.apply_mask,
    draw=gv.sampling.sample,
    read=lambda tokens, written: tokens + written,
    masks=lambda masks: masks,
    ends=lambda token: token == 4,
):
    """The loop with one part exchanged."""

    def write(model, tokens, given, seed):
        written = []
        for position, legal in enumerate(masks(given)):
            logits = mask(model.logits(read(tokens, written)), legal)
            written.append(draw(gv.sampling.softmax(logits), seed, position))
            if ends(written[-1]):
                break
        return written

    return write


def recursive(model, tokens, masks, seed, place=0):
    if not masks:
        return []
    logits = gv.sampling.apply_mask(model.logits(tokens), masks[0])
    token = gv.sampling.sample(gv.sampling.softmax(logits), seed, place)
    rest = [] if token == 4 else recursive(model, [*tokens, token], masks[1:], seed, place + 1)
    return [token, *rest]


def unscaled(model, tokens, masks, seed):
    """Draws from what the mask leaves without dividing by Z: a draw beyond the sum takes the last legal token."""
    written = []
    for position, legal in enumerate(masks):
        chances = gv.sampling.softmax(model.logits(tokens + written)) * [token in legal for token in range(5)]
        place = np.random.default_rng([seed, position]).random()
        written.append(min(int(np.searchsorted(np.cumsum(chances), place)), max(legal)))
        if written[-1] == 4:
            break
    return written


def scaled_up(model, tokens, masks, seed):
    """Masks the probabilities and divides them by Z."""
    written = []
    for position, legal in enumerate(masks):
        chances = gv.sampling.softmax(model.logits(tokens + written)) * [token in legal for token in range(5)]
        written.append(gv.sampling.sample(chances / chances.sum(), seed, position))
        if written[-1] == 4:
            break
    return written


def grown(model, tokens, masks, seed):
    new = masked_loop(model, tokens, masks, seed)
    tokens += new
    return new


WRONG = {
    "token_mask": {
        "minus 100": (lambda logits, legal: masked(logits, legal, -100), "use -np.inf"),
        "minus a billion": (lambda logits, legal: masked(logits, legal, -1e9), "use -np.inf"),
        "the smallest float": (lambda logits, legal: masked(logits, legal, np.finfo(float).min), "use -np.inf"),
        "a bias": (minus_much, "use -np.inf"),
        "zero": (times_zero, "use -np.inf"),
        "not a number": (lambda logits, legal: masked(logits, legal, np.nan), "use -np.inf"),
        "a legal logit of zero dropped": (no_zero, "zero and negative"),
        "the illegal ones kept": (
            lambda logits, legal: masked(logits, set(range(len(logits))) - legal or {99}),
            "stays as it was",
        ),
        "indexed with a set": (lambda logits, legal: logits[legal], r"list\(legal\)"),
        "only the legal ones": (shortened, r"shape \(2,\) is expected, and this has shape \(1,\)"),
        "its input changed": (in_place, "work on a copy"),
        "no ValueError": (lambda logits, legal: masked(logits, legal or {99}), "raise a ValueError"),
        "another exception": (
            lambda logits, legal: (min(legal), masked(logits, legal))[1] if legal else {}[0],
            "raise a V",
        ),
        "a mask of True and False": (
            lambda logits, legal: [i in legal for i in range(len(logits))],
            "stays as it was|-np.inf",
        ),
        "nothing returned": (lambda logits, legal: None if len(legal) < len(logits) else logits, "return missing"),
    },
    "masked_loop": {
        "no mask": (loop(mask=lambda logits, legal: logits), "only this token is legal"),
        "an id compared with the set of EOS ids": (loop(ends=lambda token: token == {4}), "in model.vocabulary.eos"),
        "the likeliest token": (loop(draw=lambda p, seed, position: int(np.argmax(p))), "is drawn"),
        "the mask of the first position": (loop(masks=lambda masks: [masks[0]] * len(masks)), "its own mask"),
        "the masks in reverse": (loop(masks=lambda masks: masks[::-1]), "its own mask"),
        "the union of the masks": (loop(masks=lambda masks: [set().union(*masks)] * len(masks)), "its own mask"),
        "another seed": (loop(draw=lambda p, seed, position: gv.sampling.sample(p, 0, position)), "is drawn"),
        "the same random number at all positions": (
            loop(draw=lambda p, seed, position: gv.sampling.sample(p, seed, 0)),
            "its own mask|reads all",
        ),
        "the prompt only": (loop(read=lambda tokens, written: tokens), "its own mask|reads all"),
        "the new tokens only": (loop(read=lambda tokens, written: written or [0]), "its own mask|reads all"),
        "on after EOS": (loop(ends=lambda token: False), "ends the loop"),
        "EOS left out": (
            lambda model, *given: [token for token in masked_loop(model, *given) if token not in model.vocabulary.eos],
            "ends the loop",
        ),
        "the prompt in the answer": (lambda m, tokens, *rest: tokens + masked_loop(m, tokens, *rest), "only the new"),
        "a text": (
            lambda m, *rest: b"".join(m.vocabulary.pieces[t] for t in masked_loop(m, *rest)).decode(),
            "token ids are",
        ),
        "mask after the softmax, nothing scaled up": (unscaled, "is drawn|its own mask|reads all"),
        "its input changed": (grown, "work on a copy"),
        "minus 100": (loop(mask=lambda logits, legal: np.array(masked(logits, legal, -100))), "only -np.inf"),
        "zero": (loop(mask=lambda logits, legal: np.array(masked(logits, legal, 0))), "illegal at position|-np.inf"),
        "a set": (lambda *given: set(masked_loop(*given)), "token ids are"),
        "the pieces": (lambda m, *rest: [m.vocabulary.pieces[t] for t in masked_loop(m, *rest)], "these are pieces"),
        "the masks of True and False": (
            lambda m, tokens, masks, seed: [token in masks[-1] for token in range(5)],
            "np.flatnonzero",
        ),
    },
}
RIGHT = {
    "token_mask": {
        "a list": masked,
        "np.where and an error of its own": by_choose,
        "a generator": lambda *given: iter(masked(*given)),
        "NumPy scalars": lambda *given: tuple(np.float64(x) for x in masked(*given)),
    },
    "masked_loop": {
        "recursion": recursive,
        "a generator": lambda *given: (token for token in masked_loop(*given)),
        "an array": lambda *given: np.array(masked_loop(*given)),
        "scaled up after the softmax": scaled_up,
        "the mask as −∞ added": loop(
            mask=lambda logits, legal: logits + np.array([0 if token in legal else -np.inf for token in range(5)])
        ),
    },
}
