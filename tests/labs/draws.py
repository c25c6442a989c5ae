"""How near each draw of a lab comes to another token.

Another processor rounds otherwise: logits differ by up to 1e-5, and the limits between two tokens by 1e-7. A number
that is drawn so near to a limit gives another text there. `watch` notes what is near.
"""

from copy import deepcopy

import numpy as np
from IPython import get_ipython

from guidedviz.decoding import sampling

NUMBERS = 1e-5  # the least distance of a drawn number from a limit
LOGITS = 1e-4  # the least lead of the largest logit
TOY = 64  # tokens: the model with the fewest has 65; a toy has fewer, and its probabilities are written in the lab

NEAR = []  # what was nearer
COUNTED = []  # the distance of each draw


def note(distance, least, what):
    """Count a draw, and keep what it was if it is near."""
    COUNTED.append(float(distance))
    if distance < least:
        cell = len(get_ipython().user_ns["In"]) - 2  # the first one is the watch
        NEAR.append(f"code cell {cell}: {what} is {distance:.1e} from another token")


def to_a_limit(chances, number):
    """The distance of a number from 0 to 1 to the nearest limit between two tokens with these chances.

    >>> round(to_a_limit(np.array([0.0, 0.5, 0.5]), 0.4), 3), to_a_limit(np.array([0.0, 1.0]), 0.001)
    (0.1, 1.0)
    """
    edges = np.cumsum(chances)
    last = edges[-1]
    limits = edges[(edges > 0) & (edges < last)] / last
    return float(np.abs(limits - number).min(initial=1.0))


def lead(logits):
    """How much the largest logit leads. A tie counts as 1: only a toy has equal logits, and has them anywhere.

    >>> lead([0.5, 0.25, 0.0]), lead([0.0, 0.0])
    (0.25, 1.0)
    """
    second, first = np.sort(logits)[-2:]
    return float(first - second) or 1.0


def note_draw(chances, number, what):
    """Note a number and the tokens that it decides between."""
    if len(chances) > TOY:
        distance = to_a_limit(chances, number)
        note(distance, NUMBERS, f"{what}, number {number:.6f}")


def watch_tokens():
    """Note each draw of the decoding loop and each choice of the likeliest token."""
    sample, softmax = sampling.sample, sampling.softmax

    def noted_sample(probabilities, seed, position, stream=0):
        number = sampling.uniform(seed, position, stream)
        note_draw(probabilities, number, f"seed {seed}, position {position}")
        return sample(probabilities, seed, position, stream)

    def noted_softmax(logits, temperature=1.0):
        if temperature == 0 and len(logits) > 1:
            note(lead(logits), LOGITS, "the likeliest token")
        return softmax(logits, temperature)

    sampling.sample = noted_sample
    sampling.softmax = noted_softmax


def watch_drafts_and_samplers():
    """Note each judgement of a guess and each draw of the samplers."""
    from guidedviz.decoding import samplers, speculation

    accept = speculation.Dice.accept
    pick = samplers.pick

    def noted_accept(dice, chance, position):
        number = sampling.uniform(dice.seed, position, stream=1)
        distance = abs(number - chance)
        note(distance, NUMBERS, f"a guess, seed {dice.seed}, position {position}")
        return accept(dice, chance, position)

    def noted_pick(chances, random):
        note_draw(chances, deepcopy(random).random(), "a sampler's draw")
        return pick(chances, random)

    speculation.Dice.accept = noted_accept
    samplers.pick = noted_pick


def watch():
    """From now on, note the draws. It comes before the modules that import what it replaces."""
    watch_tokens()
    watch_drafts_and_samplers()
