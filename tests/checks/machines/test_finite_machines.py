"""A wrong machine is shown with its path."""

import guidedviz as gv
from tests.checks.probes.machines.finite_machines import WORDS, WRONG, build


def test_the_first_transition_alone_is_not_done_yet():
    assert gv.checks.several_words(build(WORDS[0])).result == "open"


def test_a_loop_for_the_space_fails_on_a_name_that_ends_in_one_and_is_drawn_under_its_own_names():
    verdict = gv.checks.several_words(WRONG["several_words"]["a space as a loop"][0])
    assert verdict.result == "wrong"
    assert "A : a↵" in dict(verdict.facts)["text"].replace("␣", " ")
    assert "0 → 9 → 9 → 3 → 4 → 5 → 6" in dict(verdict.facts).values()
    assert "now in 6" in verdict.figure.text
    assert verdict.figure.alt.split("\n")[0] in verdict._repr_html_()


def test_a_machine_whose_last_transition_was_forgotten_is_drawn_with_the_state_that_nothing_leaves():
    verdict = gv.checks.several_words(build(*WORDS[:-1]))
    assert verdict.result == "wrong"
    assert dict(verdict.facts)["because"] == "no transition leaves 5 with ↵"
    assert "now in 5, where ↵ cannot come" in verdict.figure.text
