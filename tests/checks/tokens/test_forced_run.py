"""A wrong answer is told at the byte or the place where it goes wrong, and an endless one is stopped."""

from random import Random

import pytest

import guidedviz as gv
from guidedviz.checks.tokens.forced_run import PRICES, SPELLED, count_kept
from guidedviz.tokens.jump import find_jump
from guidedviz.tokens.vocabulary import longest_tokens
from tests.checks.answers import forced, speedup


def facts_of(verdict):
    assert verdict.result == "wrong", verdict
    return dict(verdict.facts)


# -- a forced run --------------------------------------------------------------------------------------------------


def test_the_picture_goes_the_way_of_the_student_s_bytes():
    past = gv.checks.forced(lambda *given: forced(*given, lambda *given: False)).figure
    assert "now in q2" in past.text
    dead = gv.checks.forced(lambda *given: forced(*given) + b"<x").figure
    assert "now in q1" in dead.text
    assert "&lt;" in dead.svg


# -- what is left to the model -------------------------------------------------------------------------------------


def test_the_inputs_tell_what_a_forced_run_is():
    """Each token is legal in its place."""
    assert all(token in pieces for tokens, legal in SPELLED for token, pieces in zip(tokens, legal, strict=True))
    assert {count_kept(tokens, legal) for tokens, legal in SPELLED} >= {0, 1, 2, 3}


def test_the_library_keeps_as_many_tokens():
    random, healed = Random(8), set()
    for _ in range(200):
        pieces = {b"a", b"b", *(bytes(random.choices(b"ab", k=random.randint(2, 4))) for _ in range(4))}
        v = gv.Vocabulary(sorted(pieces))
        run = "".join(random.choices("ab", k=random.randint(1, 6)))
        g = gv.guide(gv.regex(f"{run}[ab]"), v)
        tokens, states = list(longest_tokens(v, run.encode())), [g.initial]
        for token in tokens:
            states.append(g.advance(states[-1], token))
        legal = [{v.pieces[token] for token in g.mask(state).nonzero()[0]} for state in states[:-1]]
        keep = count_kept([v.pieces[token] for token in tokens], legal)
        healed.add(keep < len(tokens))
        if keep:
            assert find_jump(g, None, [], [g.initial], "longest").tokens == tuple(tokens[:keep])
    assert healed == {True, False}


# -- the speed-up --------------------------------------------------------------------------------------------------


def test_with_nothing_forced_nothing_is_gained_and_with_free_reading_it_is_the_bound():
    for fraction, pass_ms, token_ms, rows in PRICES:
        value = speedup(fraction, pass_ms, token_ms, rows)
        assert fraction or value == 1
        assert token_ms or value == pytest.approx(1 / (1 - fraction))
        assert rows < 10_000 or value == pytest.approx(1, abs=1e-3)
