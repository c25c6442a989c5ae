"""A check says right, not done yet, or on which smallest input an answer fails; it never raises."""

import pytest

import guidedviz as gv
from guidedviz.checks.judge import Case, check_function
from guidedviz.checks.verdict import Verdict, show
from tests.checks.answers import BARD, FUNCTIONS, VALUES, check

pytestmark = pytest.mark.usefixtures("in_this_process")


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
    assert "agrees on" in verdict.said or "all 4 prompts" in verdict.said
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


@pytest.mark.parametrize("bias", [None, ..., {}])
def test_an_empty_bias_is_not_done_yet(bias):
    assert check("only_answers", bias).result == "open"


def test_a_verdict_is_true_only_when_right():
    assert [bool(Verdict(result, "")) for result in ("right", "wrong", "open")] == [True, False, False]


def test_a_card_escapes_what_a_student_wrote():
    assert "<b>" not in Verdict("wrong", "<b>", (("<b>", "<b>"),))._repr_html_()


def test_a_long_value_is_cut():
    assert len(show(list(range(1000)))) == 160


def test_bard_has_the_65_characters_in_order():
    model = gv.load_model("bard")
    assert b"".join(model.vocabulary.pieces).decode() == BARD
