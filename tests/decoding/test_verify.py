"""With a draft every text has exactly the probability of plain masked decoding: all outcomes are enumerated."""

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest

import guidedviz as gv
from guidedviz.decoding import distribution as exact
from guidedviz.decoding.loop import start, take_pass
from guidedviz.decoding.samplers import Task
from guidedviz.decoding.sampling import Settings
from guidedviz.decoding.speculation import Forced, Guess, LookUp, Small
from tests.common import regex_guide

PIECES = [b"a", b"b", b"ab", b"</s>"]


class Script:
    """Dice that follow a script, then take the first possible side; they remember what else was possible."""

    def __init__(self, script):
        self.script = script
        self.sides = []
        self.chance = 1.0

    def _take(self, chances):
        possible = [side for side, chance in enumerate(chances) if chance > 0]
        place = len(self.sides)
        side = self.script[place] if place < len(self.script) else 0
        self.sides.append(len(possible))
        self.chance *= chances[possible[side]]
        return possible[side]

    def draw(self, chances, position):
        return self._take(list(chances))

    guess = draw

    def accept(self, chance, position):
        return bool(self._take([1 - chance, chance]))


def outcomes(run):
    """Every outcome of a function of dice, with its probability."""
    waits = [[]]
    while waits:
        script = waits.pop()
        dice = Script(script)
        yield run(dice), dice.chance
        for place in range(len(script), len(dice.sides)):
            done = script + [0] * (place - len(script))
            others = range(1, dice.sides[place])
            waits += [[*done, side] for side in others]


def toy(seed, scale=1.5):
    noise = np.random.default_rng(seed)
    table = noise.normal(size=(4, 4)) * scale

    def rule(tokens):
        return table[tokens[-1]] + 0.1 * len(tokens)

    return gv.ToyModel(PIECES, rule, eos={3})


def distribution(model, guide, settings, draft):
    """The probability of every text: all outcomes of a pass, and after each of them the same again."""
    known = {}
    drafted = replace(settings, draft=draft)

    def after(point):
        def last_of_a_pass(dice):
            return take_pass(model, point, guide, drafted, dice)[-1]

        if point.output not in known:
            table = known[point.output] = defaultdict(float)
            passes = outcomes(last_of_a_pass)
            ends = defaultdict(float)
            for last, chance in passes:
                ends[last.after.output, bool(last.step.end), last.after] += chance
            for (output, ended, then), chance in ends.items():
                for text, share in ({output: 1.0} if ended else after(then)).items():
                    table[text] += chance * share
        return known[point.output]

    return dict(after(start(model, "a", guide)))


class Fixed:
    """A draft of certain guesses that are always the same."""

    size = 3

    def __init__(self, *guesses):
        self.guesses = guesses

    def guess(self, model, guide, point, settings, dice):
        return self.guesses


SMALL = toy(99)
DRAFTS = {
    "a smaller model": Small(SMALL, 2),
    "a smaller model without a mask": Small(SMALL, 2, masked=False),
    "look-up": LookUp(2),
    "a forced run": Forced(),
    "certain guesses": Fixed(Guess(0), Guess(1)),
    "an illegal guess": Fixed(Guess(3)),
    "no guess": Fixed(),
}


@pytest.mark.parametrize("name", DRAFTS)
@pytest.mark.parametrize("pattern", ["a(b|aa)?", "(ab?){1,2}", "ab|abab"])
def test_every_text_has_the_probability_of_plain_masked_decoding(pattern, name):
    model = toy(1)
    guide = regex_guide(model, pattern)
    found = distribution(model, guide, Settings(), DRAFTS[name])
    texts = exact.all_texts(Task(model, "a", guide))
    expected = {text.tokens: text.masked for text in texts}
    assert sum(found.values()) == pytest.approx(1)
    assert found == pytest.approx(expected)


@pytest.mark.parametrize(
    "settings", [Settings(temperature=0.5), Settings(top_k=2), Settings(top_p=0.8), Settings(bias={2: 3.0})]
)
def test_settings_change_the_distribution_as_they_do_without_a_draft(settings):
    model = toy(2)
    guide = regex_guide(model, "(ab?){1,2}")
    plain = distribution(model, guide, settings, DRAFTS["no guess"])
    drafted = distribution(model, guide, settings, DRAFTS["a smaller model"])
    possible = {output: chance for output, chance in plain.items() if chance > 0}
    assert drafted == pytest.approx(possible)
