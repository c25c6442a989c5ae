"""A window of `gv.tagged` switches the mask on at its trigger: also one that is late, early, cut, or inside a token."""

import pytest

import guidedviz as gv

PIECES = [b"x", b"A", b":", b"1", b"A:", b":1", b"</s>"]
X, A, COLON, ONE, TRIGGER, CROSSING, EOS = range(7)
WINDOW = {"begin": "A:", "machine": gv.regex("1{1,3}"), "at_least_one": True, "stop_after_first": True}


def toy(*wish):
    """A model that wants these tokens, one after the other, and then the last one for ever."""
    return gv.ToyModel(
        PIECES, lambda tokens: [9.0 * (t == wish[min(len(tokens), len(wish)) - 1]) for t in range(7)], eos={EOS}
    )


def run(model, **settings):
    guide = gv.guide(gv.tagged(**WINDOW), model.vocabulary)
    return gv.record(model, "x", guide, temperature=0, **settings)


@pytest.mark.parametrize(
    ("wish", "text"),
    [
        ((A, COLON, X, X, X), "A:111"),  # after the trigger only the machine counts
        ((X, TRIGGER, X, X, X), "xA:111"),  # a trigger inside one token opens the window at once
        ((A, CROSSING, EOS), "A:1"),  # a token may hold the end of the trigger and the begin of the window
        ((A, X, A, A, COLON, ONE, EOS), "AxAA:1"),  # half a trigger that goes on otherwise is free text
    ],
)
def test_the_window_opens_where_the_trigger_ends(wish, text):
    assert run(toy(*wish)).text == text


def test_a_model_that_wants_to_end_without_the_trigger_cannot():
    trace = run(toy(X, EOS), max_tokens=20)
    assert trace.steps[-1].end == "max_tokens"
    assert all(EOS not in [c.token for c in step.candidates if c.legal] for step in trace.steps)


@pytest.mark.parametrize("tokens", range(4, 9))
def test_a_run_that_would_be_cut_is_closed_within_its_tokens(tokens):
    model = toy(X)
    cut = run(model, max_tokens=tokens)
    assert cut.steps[-1].end == "max_tokens"
    guide = gv.within(gv.guide(gv.tagged(**WINDOW), model.vocabulary), tokens)
    closed = gv.record(model, "x", guide, temperature=0, max_tokens=tokens)
    assert closed.text.endswith("A:1")
    assert closed.steps[-1].end in ("eos", "complete")
