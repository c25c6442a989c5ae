"""Lab 03's machines: any that is equal is right, a wrong one is shown as the student wired it."""

import pytest

import guidedviz as gv
from guidedviz.checks.finite_machines import check_clock, check_several_words
from guidedviz.checks.position_masks import BARD

VOCABULARY = gv.Vocabulary([character.encode() for character in BARD])
WORDS = [
    (0, "UPPER", 1), (1, "UPPER", 1), (1, " ", 2), (2, "UPPER", 1), (1, ":", 3), (3, " ", 4),
    (4, "LOWER", 5), (5, "LOWER", 5), (5, "\n", 6),
]  # fmt: skip


def build(*ways, start=0, accepting=6):
    fsm = gv.GuidedFSM(VOCABULARY, start=start, accepting=accepting)
    for source, what, target in ways:
        fsm.add_transition(source, what, target)
    return fsm


def test_nine_transitions_are_right():
    assert check_several_words(build(*WORDS))


def test_states_may_be_more_and_named_as_one_likes():
    renamed = [(f"s{source}", what, f"s{target}") for source, what, target in WORDS]
    assert check_several_words(build(*renamed, ("s6", "LOWER", "nowhere"), start="s0", accepting="s6"))


@pytest.mark.parametrize("missing", range(len(WORDS)))
def test_every_transition_counts(missing):
    assert not check_several_words(build(*(way for place, way in enumerate(WORDS) if place != missing)))


def test_the_first_transition_alone_is_not_done_yet():
    assert check_several_words(build(WORDS[0])).result == "open"


def test_a_loop_for_the_space_fails_on_a_name_that_ends_in_one_and_is_drawn_under_its_own_names():
    wired = build((0, "UPPER", 9), (9, ["UPPER", " "], 9), (9, ":", 3), *(way for way in WORDS if way[0] > 2))
    verdict = check_several_words(wired)
    assert verdict.result == "wrong"
    assert "A : a↵" in dict(verdict.facts)["text"].replace("␣", " ")
    assert "0 → 9 → 9 → 3 → 4 → 5 → 6" in dict(verdict.facts).values()
    assert "now in 6" in verdict.figure.text
    assert verdict.figure.alt.split("\n")[0] in verdict._repr_html_()


def test_an_empty_regex_is_not_done_yet():
    assert check_clock("").result == "open"


@pytest.mark.parametrize(
    ("answer", "text"),
    [(r"\d\d:\d\d", "00:60"), (r"[0-2]\d:[0-5]\d", "24:00"), (r"[01]\d:[0-5]\d|2[0-3]:[0-5]", "20:0"), (r"\d", "0")],
)
def test_a_wrong_clock_shows_its_smallest_wrong_time(answer, text):
    assert dict(check_clock(answer).facts)["text"] == text


@pytest.mark.parametrize("answer", ["(", 7, r"(?>2)\d", ["00:00"]])
def test_what_is_no_regex_is_wrong_and_never_raises(answer):
    assert check_clock(answer).result == "wrong"


def test_a_clock_may_be_written_in_many_ways():
    assert check_clock(r"(0\d|1\d|20|21|22|23):(0|1|2|3|4|5)[0-9]")
