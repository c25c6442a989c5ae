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


def test_after_the_trigger_only_the_machine_counts():
    model = toy(A, COLON, X)
    assert [s.piece for s in run(model).steps[:3]] == [b"A", b":", b"1"]
    assert run(model).steps[2].legal == 1


def test_a_model_that_wants_to_end_without_the_trigger_cannot():
    trace = run(toy(X, EOS), max_tokens=20)
    assert trace.steps[-1].end == "max_tokens"
    assert all(EOS not in [c.token for c in step.candidates if c.legal] for step in trace.steps)


def test_a_trigger_inside_the_thought_opens_the_window_at_once():
    trace = run(toy(X, TRIGGER, X, X, X))
    assert [s.piece for s in trace.steps][:3] == [b"x", b"A:", b"1"]


def test_a_token_may_hold_the_end_of_the_trigger_and_the_begin_of_the_window():
    model = toy(A, CROSSING, EOS)
    assert run(model).text == "A:1"
    guide = gv.guide(gv.tagged(**WINDOW), model.vocabulary)
    assert guide.mask(guide.advance(guide.initial, A))[CROSSING]
    assert guide.mask(guide.initial)[CROSSING]  # free text: no A before it


def test_half_a_trigger_that_goes_on_otherwise_is_free_text():
    assert run(toy(A, X, A, A, COLON, ONE, EOS)).text == "AxAA:1"


@pytest.mark.parametrize("tokens", range(4, 9))
def test_a_run_that_would_be_cut_is_closed_within_its_tokens(tokens):
    model = toy(X)
    cut = run(model, max_tokens=tokens)
    assert cut.steps[-1].end == "max_tokens"
    guide = gv.within(gv.guide(gv.tagged(**WINDOW), model.vocabulary), tokens)
    closed = gv.record(model, "x", guide, temperature=0, max_tokens=tokens)
    assert closed.text.endswith("A:1")
    assert closed.steps[-1].end in ("eos", "complete")
