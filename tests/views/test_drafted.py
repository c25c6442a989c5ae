"""Accepted and rejected drafts are shown by a sign and by words, not by colour alone."""

import guidedviz as gv
from guidedviz.decoding.speculation import Guess
from guidedviz.views.step_words import say_step

PIECES = [b"a", b"<b>", b"c", b"</s>"]


class Always:
    """It guesses the same tokens everywhere."""

    size = 2

    def guess(self, model, guide, point, settings, dice):
        return Guess(0), Guess(1)


def trace():
    toy = gv.ToyModel(PIECES, lambda tokens: [2, 1, 0, -9] if len(tokens) < 3 else [0, 1, 2, -9], eos={3})
    return gv.record(toy, "a", temperature=0, max_tokens=4, draft=Always())


def test_words_say_which_tokens_were_drafted_accepted_and_rejected():
    said = [say_step(step) for step in trace().steps]
    ways = [step.how for step in trace().steps]
    assert ways == ["accepted", "sampled", "sampled", "sampled"]
    assert said[0].startswith("“a” drafted and accepted")
    assert said[1].endswith("rejected draft: <b>")
    assert said[2].endswith("rejected draft: a")


def test_the_strip_ticks_accepted_tokens_and_strikes_rejected_ones():
    svg = gv.views.draw_strip(trace()).svg
    assert svg.count("✓") == 1
    assert svg.count("line-through") == 2
    assert "<b>" not in svg
