"""The folded machine without a page: what it is told, and what it says."""

from __future__ import annotations

import json

import pytest

import guidedviz as gv
from guidedviz.errors import SettingError

MACHINE = gv.regex("[0-9]kg(red|green)x")


def told(shown):
    return json.loads(json.dumps(shown.display.news(True)))


def test_the_page_gets_the_drawing_and_finds_every_chain_on_it():
    shown = gv.folded(MACHINE)
    for chain in [None, *(chain["name"] for chain in told(shown)["chains"])]:
        shown.turn(chain) if chain else None
        news = told(shown)
        drawn = str(news["drawing"])
        assert all(f"'data-arrow': '{key}'" in drawn for chain in news["chains"] for key in chain["arrows"])
        assert all(f"'data-state': {state}}}" in drawn for chain in news["chains"] for state in chain["states"])


def test_a_chain_keeps_its_key_when_it_unfolds_so_that_the_keyboard_keeps_its_place():
    shown = gv.folded(MACHINE)
    before = [chain["arrows"][0] for chain in told(shown)["chains"]]
    assert [chain["arrows"][0] for chain in told(shown.turn_all())["chains"]] == before


def test_a_chain_unfolds_and_folds_by_any_state_inside():
    shown = gv.folded(gv.regex("abcd"))
    assert shown.turn(2).unfolded == {1}
    assert told(shown)["words"] == "5 states"
    assert shown.turn(3).unfolded == frozenset()
    assert told(shown)["words"] == "5 states, 3 of them folded"
    assert shown.turn(0).unfolded == frozenset(), "no chain goes through the start"


def test_a_machine_without_chains_says_so():
    assert told(gv.folded(gv.regex("[ab]+")))["legend"].startswith("Nothing to fold")
    assert "Press a thick arrow" in told(gv.folded(MACHINE))["legend"]


def test_all_at_once():
    shown = gv.folded(MACHINE)
    for first in (True, False):
        shown.display.hear({"do": "all", "unfold": first})
        shown.display.hear({"do": "turn", "chain": told(shown)["chains"][0]["name"]})
        shown.display.hear({"do": "all", "unfold": True})
        assert told(shown)["words"] == f"{len(MACHINE)} states"
        shown.display.hear({"do": "all", "unfold": False})
        assert shown.unfolded == frozenset()


@pytest.mark.usefixtures("headless")
def test_headless_it_is_the_folded_picture():
    shown = gv.folded(MACHINE)
    assert sorted(shown._repr_mimebundle_()) == ["text/html", "text/plain"]
    assert shown._repr_mimebundle_()["text/plain"] == gv.draw_machine(MACHINE, folded=True).text


def test_what_is_no_machine_is_an_error():
    for wrong, seen in (("abc", "str"), (3, "int"), (None, "NoneType")):
        with pytest.raises(SettingError, match=rf"^gv.folded: saw {seen}, expected a machine; try: gv.regex") as raised:
            gv.folded(wrong)
        assert "draw_machine" not in str(raised.value)


@pytest.mark.parametrize(
    "junk",
    [{}, {"do": "turn"}, {"do": "turn", "chain": "x"}, {"do": "turn", "chain": None}, {"do": "turn", "chain": [1]},
     {"do": "turn", "chain": 10**30}, {"do": "turn", "chain": -1}, {"do": 3}, {"chain": 1}, None, "turn", 7],
)  # fmt: skip
def test_a_page_that_says_nonsense_changes_nothing(junk):
    shown = gv.folded(MACHINE).turn_all()
    before = told(shown)
    shown.display.hear(junk)
    assert told(shown) == before
