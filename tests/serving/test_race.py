"""The race times an engine beside ours and says where its time goes; a wrong engine gets no times."""

from importlib.util import find_spec

import pytest

import guidedviz as gv
from guidedviz.errors import SettingError
from guidedviz.serving import race
from tests.checks.answers.own_engine import engine_space

MyEngine = engine_space()["MyEngine"]
V = gv.Vocabulary([bytes([byte]) for byte in b'{}[]":, abc'] + [b"</s>"], eos={11})


@pytest.fixture(autouse=True)
def without_xgrammar(monkeypatch):
    """To load it takes seconds."""
    monkeypatch.setattr(race, "installed", lambda name: name == "llguidance" and find_spec(name))


def test_only_the_usual_race_is_told_to_the_class(monkeypatch):
    told = []
    monkeypatch.setattr(race, "report", lambda place, state, answer: told.append((place, answer)))
    found = gv.race(MyEngine, engines=())
    ours, own = found.laps
    ratios = [mine / base for mine, base in zip(own[1:], ours[1:], strict=True)]
    assert told == [*zip(race.RACE_PLACES, ratios, strict=True)]
    gv.race(MyEngine, gv.json(), '{"a": [{}, "bc"]}', V, engines=())
    assert len(told) == 3


def test_the_laps_are_those_of_all_engines_and_ours_is_the_first():
    found = gv.race(MyEngine, gv.json(), '{"a": [{}, "bc"]}', V)
    assert [lap.name for lap in found.laps][:2] == ["guidedviz", "MyEngine"]
    assert len(found.laps) + len(found.unable) == 4
    assert all(lap.first > 0 and lap.warm > 0 for lap in found.laps)
    assert {"split_node", "push_byte"} <= {part.name for part in found.parts}
    assert sum(part.share for part in found.parts) <= 1.001
    assert "MyEngine" in found._repr_html_()


def test_an_engine_that_is_not_installed_is_named_with_its_command(monkeypatch):
    monkeypatch.setattr(race, "installed", lambda name: "")
    found = gv.race(MyEngine, gv.regex("a+"), "aa", V)
    assert [lap.name for lap in found.laps] == ["guidedviz", "MyEngine"]
    assert found.unable[0] == "xgrammar is not installed: pip install 'guidedviz[engines]'"


def test_a_name_of_a_stranger_is_shown_as_text():
    hostile = type("<script>", (MyEngine,), {})
    assert "<script>" not in gv.race(hostile, gv.regex("a+"), "aa", V)._repr_html_()


def test_an_engine_that_refuses_the_text_is_sent_to_the_exam():
    class Refuses(MyEngine):
        def advance(self, state, token):
            return None

    with pytest.raises(SettingError, match=r"race, Refuses: saw it refuses a, .*gv\.checks\.engine\(Refuses\)"):
        gv.race(Refuses, gv.regex("a+"), "aa", V)
    with pytest.raises(SettingError, match="race: saw int, expected the class of your engine"):
        gv.race(7)
