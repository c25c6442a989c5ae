"""What the spellings of a forced run are worth, against every way through the masks."""

from math import isclose, log

import numpy as np
import pytest

import guidedviz as gv
from guidedviz.decoding.spellings import LEAST_EXPLORED
from guidedviz.errors import SettingError
from tests.common import constant_model, legal_tokens, regex_guide

PIECES = [b"n", b"a", b"m", b"e", b"na", b"am", b"me", b"nam", b"name", b"es", b"s", b":", b"\n"]


def moody(tokens):
    """Logits that hang on every token before."""
    return np.random.default_rng(tokens).normal(0, 2, len(PIECES))


@pytest.fixture
def toy():
    return gv.ToyModel(PIECES, moody)


def brute_force(model, guide, before, state, left):
    """The probability of every way through the masks until so many bytes are spelled."""
    logits = np.asarray(model.logits(before), float)
    powers = np.exp(logits) * guide.mask(state)
    found = {}
    for token in legal_tokens(guide, state):
        odds = powers[token] / sum(powers)
        size = len(model.vocabulary.pieces[token])
        if size >= left:
            found[(token,)] = odds
        else:
            after = guide.advance(state, token)
            longer = brute_force(model, guide, [*before, token], after, left - size)
            for rest, part in longer.items():
                found[(token, *rest)] = odds * part
    return found


def total(record):
    listed = sum(spelling.probability for spelling in record.spellings)
    return listed + record.rest + record.lost + record.faint[1]


@pytest.mark.parametrize("regex", ["names?:", "(name|names)\n", "name:"])
def test_all_spellings_have_the_probability_that_the_masks_give_them(toy, regex):
    guide = regex_guide(toy, regex)
    record = gv.spellings(toy, "\n", guide, limit=1000)
    expected = brute_force(toy, guide, toy.encode("\n"), guide.initial, len(record.run))
    found = {one.tokens: one.probability for one in record.spellings}
    assert found == pytest.approx(expected)
    assert record.rest == 0
    assert record.count + record.count_beyond == len(expected)
    for limit in (1, 2, 3, 1000):
        few = gv.spellings(toy, "\n", guide, limit)
        assert few.passes <= limit
        assert isclose(total(few), 1)


def test_the_canonical_is_looked_at_first_however_unlikely_it_is():
    toy = constant_model(PIECES, [30.0 if len(piece) == 1 else 0.0 for piece in PIECES])
    canonical = gv.spellings(toy, "\n", regex_guide(toy, "name:"), limit=2).canonical
    assert (canonical.pieces, canonical.longest) == ((b"name", b":"), True)
    assert canonical.probability < 1e-12
    assert isclose(canonical.cost, 30, abs_tol=1e-6)


def test_what_is_too_unlikely_to_list_is_counted():
    toy = constant_model(PIECES, [30.0 if piece == b"n" else 0.0 for piece in PIECES])
    record = gv.spellings(toy, "\n", regex_guide(toy, "name"))
    for one in record.spellings:
        assert one.canonical or one.probability >= LEAST_EXPLORED
    assert record.faint[0] == record.count - len(record.spellings) > 0
    assert isclose(total(record), 1)


def test_a_token_that_goes_beyond_the_run_is_a_spelling_too(toy):
    record = gv.spellings(toy, "\n", regex_guide(toy, "(name|names)\n"))
    beyond = {one.pieces[-1] for one in record.spellings if sum(map(len, one.pieces)) > len(b"name")}
    assert (record.run, beyond) == (b"name", {b"es"})


def test_a_dead_end_was_looked_at_and_is_lost():
    toy = constant_model([b"n", b"nam", b"ame", b"\n"], [0.0, log(3), 0.0, 0.0])
    guide = regex_guide(toy, "name")
    record = gv.spellings(toy, "\n", guide)
    assert [one.pieces for one in record.spellings] == [(b"n", b"ame")]
    [part] = record.open
    assert part.pieces == (b"nam",)
    assert part.dead
    assert record.rest == 0
    assert isclose(record.lost, 0.75, rel_tol=1e-6)
    few = gv.spellings(toy, "\n", guide, limit=1)
    assert (few.lost, few.rest) == (0, 1), "it is not known to be one before it is looked at"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"limit": 0}, "^spellings, limit: saw 0, expected a whole number from 1"),
        ({"limit": None}, "^spellings, limit: saw None"),
        ({"model": "clerk"}, "^model: saw .*, expected a model; try: gv.load_model"),
        ({"guide": None}, r"^guide: saw \w+, expected a guide; try: gv.guide"),
        ({"guide": gv.guide(gv.regex("n|a"), gv.Vocabulary(PIECES))}, "a choice at the start, expected a forced run"),
    ],
)
def test_wrong_arguments_are_named(toy, arguments, said):
    good = {"model": toy, "prompt": "\n", "guide": regex_guide(toy, "name")}
    with pytest.raises(SettingError, match=said):
        gv.spellings(**good | arguments)
