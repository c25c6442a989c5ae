"""A check says right, not done yet, or on which smallest input an answer fails; it never raises."""

import numpy as np
import pytest

import guidedviz as gv
from guidedviz.checks.judge import Case, check_function
from guidedviz.checks.position_masks import BARD
from guidedviz.checks.verdict import Verdict, show
from tests.checks.answers import FUNCTIONS, LOWER, TOY, VALUES, advance, check, softmax, spellings


def crash(*_):
    raise ZeroDivisionError("oh no")


class Rude:
    """A value that fails whatever is done with it."""

    def __repr__(self):
        raise RuntimeError("no repr")

    def __eq__(self, other):
        raise RuntimeError("no equality")

    def __iter__(self):
        raise RuntimeError("no iteration")

    __hash__ = None


@pytest.mark.parametrize("name", [*FUNCTIONS, *VALUES])
def test_a_right_answer_is_right(name):
    verdict = check(name, {**FUNCTIONS, **VALUES}[name])
    assert verdict.result == "right"
    assert "agrees on" in verdict.said or "all 3 prompts" in verdict.said
    assert verdict.figure is None


def not_written(*_):
    raise NotImplementedError


@pytest.mark.parametrize("name", FUNCTIONS)
class TestEveryFunction:
    @pytest.mark.parametrize("empty", [None, ..., lambda *_: None, lambda *_: ..., not_written])
    def test_an_empty_answer_is_not_done_yet(self, name, empty):
        assert check(name, empty).result == "open"

    @pytest.mark.parametrize(
        "wrong",
        [
            crash,
            lambda *_: "?",
            lambda *_: 3.5,
            lambda *_: 7,
            lambda *_: float("nan"),
            lambda *_: (1, 2, 3),
            lambda *_: Rude(),
            lambda: 1,
            lambda *_: [None],
            lambda *_: {1: 2},
            lambda *_: ValueError("returned, not raised"),
            lambda *_: ValueError,
            7,
            "x",
        ],
    )
    def test_a_wrong_one_is_wrong_and_never_raises(self, name, wrong):
        verdict = check(name, wrong)
        assert verdict.result == "wrong"
        assert repr(verdict)
        assert verdict._repr_html_()

    def test_a_crash_is_shown_with_its_input(self, name):
        facts = check(name, crash).facts
        assert dict(facts)["yours gave"] == "ZeroDivisionError: oh no"
        assert facts[0][0] != "yours gave"


def test_the_first_failing_input_is_shown():
    verdict = check_function(
        lambda x: x if x < 2 else 0, [Case((1,), 1), Case((2,), 2), Case((3,), 3)], lambda a, b: a == b
    )
    assert dict(verdict.facts)["input"] == "2"
    assert "input 2 of 3" in verdict.said


def test_a_changed_input_is_wrong():
    def in_place(logits, legal):
        for token in range(len(logits)):
            if token not in legal:
                logits[token] = -np.inf
        if not legal:
            raise ValueError
        return logits

    verdict = gv.checks.token_mask(in_place)
    assert verdict.result == "wrong"
    assert "copy" in dict(verdict.facts)["but"]


def test_a_generator_is_as_good_as_a_list():
    assert gv.checks.spellings(lambda pieces, word: (token for token in spellings(pieces, word)))


def test_a_forgotten_temperature_is_found_and_named():
    verdict = gv.checks.softmax(lambda logits, temperature: softmax(logits, 1))
    assert dict(verdict.facts)["input"] == "[0, 1], 0.5"
    assert "temperature" in dict(verdict.facts)["because"]


def test_an_overflow_is_found():
    verdict = gv.checks.softmax(lambda logits, t: np.exp(logits / t) / np.exp(logits / t).sum())
    assert dict(verdict.facts)["input"] == "[1000, 0], 1"


def test_a_low_number_is_no_mask():
    verdict = gv.checks.token_mask(
        lambda logits, legal: np.where([i in legal for i in range(len(logits))], logits, -1e9)
    )
    assert verdict.result == "wrong"


def test_name_masks_are_shown_as_character_classes():
    verdict = gv.checks.name_masks(lambda letters: [LOWER] * letters)
    assert dict(verdict.facts)["expected"] == "A-Z | : | ␣"
    assert dict(verdict.facts)["yours gave"] == "a-z"


@pytest.mark.parametrize(
    ("mistake", "shown"),
    [
        (lambda moves, state, token: next((t for s, _, t in moves if s == state), None), "[(0, {5}, 1)], 0, 6"),
        (lambda moves, state, token: next((t for _, ids, t in moves if token in ids), None), "[(0, {5}, 1)], 1, 5"),
        (lambda moves, state, token: advance(moves, state, token) or None, "[(0, {5, 6}, 0)], 0, 6"),
        (lambda moves, state, token: advance(moves[:1], state, token), "[(0, {5}, 1), (0, {6}, 2)], 0, 6"),
    ],
    ids=["any token", "any state", "0 is false", "first transition only"],
)
def test_a_wrong_advance_fails_on_the_smallest_machine_that_shows_it(mistake, shown):
    assert dict(gv.checks.advance(mistake).facts)["input"] == shown


@pytest.mark.parametrize("bias", [None, ..., {}])
def test_an_empty_bias_is_not_done_yet(bias):
    assert check("only_answers", bias).result == "open"


def test_the_same_bias_on_yes_and_no_is_right():
    assert gv.checks.only_answers({0: 100, 1: 100}, TOY)


def test_bans_on_all_others_are_right_too():
    assert gv.checks.only_answers({token: -100 for token in range(2, 260)}, TOY)


@pytest.mark.parametrize(
    ("bias", "word"),
    [
        ({0: 100}, "expected"),
        ({0: 100, 1: 99}, "because"),
        ({0: 5, 1: 5}, "expected"),
        ({0: 1000}, "because"),
        ({999: 1}, "because"),
        ({"yes": 100}, "because"),
        ({0: Rude()}, "because"),
        (3, "because"),
    ],
)
def test_a_wrong_bias_is_told_why(bias, word):
    verdict = check("only_answers", bias)
    assert verdict.result == "wrong"
    assert word in dict(verdict.facts)


def test_a_verdict_is_true_only_when_right():
    assert [bool(Verdict(result, "")) for result in ("right", "wrong", "open")] == [True, False, False]


def test_a_card_escapes_what_a_student_wrote():
    assert "<b>" not in Verdict("wrong", "<b>", (("<b>", "<b>"),))._repr_html_()


def test_a_long_value_is_cut():
    assert len(show(list(range(1000)))) == 160


def test_bard_has_the_65_characters_in_order():
    model = gv.load_model("bard")
    assert b"".join(model.vocabulary.pieces).decode() == BARD
