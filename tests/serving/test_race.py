"""The race times an engine beside ours and says where its time goes; a wrong engine gets no times."""

from importlib.util import find_spec
from time import sleep

import pytest

import guidedviz as gv
from guidedviz.errors import SettingError
from guidedviz.serving import race
from guidedviz.tokens.own_engine import start_engine as start
from tests.checks.answers.own_engine import engine_space
from tests.common import with_end

MyEngine = engine_space()["MyEngine"]
LETTERS = [bytes([byte]) for byte in b'{}[]":, abc']
V = with_end(LETTERS)


def race_on_a(engine, vocabulary=V, **settings):
    return gv.race(engine, gv.regex("a+"), "aa", vocabulary, **settings)


@pytest.fixture(autouse=True)
def without_xgrammar(monkeypatch):
    """To load it takes seconds."""

    def llguidance_only(name):
        return name == "llguidance" and find_spec(name)

    monkeypatch.setattr(race, "installed", llguidance_only)


def test_only_the_usual_race_is_told_to_the_class(monkeypatch):
    told = []

    def report(place, state, answer):
        told.append((place, answer))

    monkeypatch.setattr(race, "report", report)
    found = gv.race(MyEngine, engines=())
    ours, own = found.laps
    pairs = zip(own[1:], ours[1:], strict=True)
    ratios = [mine / base for mine, base in pairs]
    assert told == [*zip(race.RACE_PLACES, ratios, strict=True)]
    gv.race(MyEngine, gv.json(), '{"a": [{}, "bc"]}', V, engines=())
    assert len(told) == 3


def test_the_laps_are_those_of_all_engines_and_ours_is_the_first():
    found = gv.race(MyEngine, gv.json(), '{"a": [{}, "bc"]}', V)
    names = [lap.name for lap in found.laps]
    assert names[:2] == ["guidedviz", "MyEngine"]
    assert len(found.laps) + len(found.notes) == 4
    for lap in found.laps:
        assert lap.first > 0
        assert lap.warm > 0
    assert {"split_node", "push_byte"} <= {part.name for part in found.parts}
    assert sum(part.share for part in found.parts) <= 1.001
    assert "MyEngine" in found._repr_html_()


def test_an_engine_that_is_not_installed_is_named_with_its_command(monkeypatch):
    monkeypatch.setattr(race, "installed", lambda name: "")
    found = race_on_a(MyEngine)
    assert [lap.name for lap in found.laps] == ["guidedviz", "MyEngine"]
    assert found.notes[0] == "xgrammar is not installed: pip install 'guidedviz[engines]'"


def test_a_name_of_a_stranger_is_shown_as_text():
    hostile = type("<script>", (MyEngine,), {})
    assert "<script>" not in race_on_a(hostile)._repr_html_()


def test_an_engine_that_refuses_the_text_is_sent_to_the_exam():
    class Refuses(MyEngine):
        def advance(self, state, token):
            return None

    with pytest.raises(SettingError, match=r"race, Refuses: saw it refuses a, .*gv\.checks\.engine\(Refuses\)"):
        race_on_a(Refuses)
    with pytest.raises(SettingError, match="race: saw int, expected the class of your engine"):
        gv.race(7)


@pytest.mark.parametrize(("masks", "said"), [(set(), "forbids a"), ({0, 1, 2}, "allows ]")])
def test_an_engine_with_wrong_masks_is_refused_and_gets_no_times(masks, said):
    class Empty(MyEngine):
        def mask(self, state):
            return masks

    v = with_end([b"]", b"a"])
    said = rf"race, Empty: saw its mask {said} after b'', .*gv\.checks\.engine\(Empty\)"
    with pytest.raises(SettingError, match=said):
        race_on_a(Empty, v, engines=())


def test_to_compile_is_to_read_the_vocabulary_too_in_each_round_and_for_ours(monkeypatch):
    read = []

    def start_engine(make, given, vocabulary):
        read.append(vocabulary)
        return start(make, given, vocabulary)

    def guide(machine, vocabulary):
        read.append(vocabulary)
        return gv.guide(machine, vocabulary)

    monkeypatch.setattr(race, "start_engine", start_engine)
    monkeypatch.setattr(race, "guide", guide)
    race_on_a(MyEngine, engines=())
    fresh = [one for one in read if one is not V]
    assert len(set(map(id, fresh))) == 2 * race.RACE_ROUNDS
    assert race.compute_index.cache_info().misses == 1  # of the last round


def test_where_the_time_goes_counts_the_compiling_and_names_no_function_of_the_library():
    found = race_on_a(MyEngine, engines=())
    names = {part.name for part in found.parts}
    assert "build_trie" in names
    assert not names & {"take", "start_engine"}


def test_a_stall_in_one_round_is_not_in_the_times():
    waits = iter([0.2, 0.0, 0.0])

    def list_asks(made):
        wait = next(waits)
        return [lambda: sleep(wait)]

    assert race.time_rounds("yours", V, lambda vocabulary: vocabulary, list_asks).warm < 0.1
