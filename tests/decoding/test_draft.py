"""Decoding with a draft: the same texts in fewer passes, honest records, and clear errors."""

import pytest

import guidedviz as gv
from guidedviz.decoding.player import LiveWalk, Player
from guidedviz.decoding.sampling import Settings
from guidedviz.decoding.speculation import LookUp, Small, as_draft
from guidedviz.errors import SettingError
from tests.common import PERSON

ADA = "Ada Lovelace is 36 and lives in London.\nJSON with name, age:\n"
DATE = ("We met on May 3, 1987.\nDate as YYYY-MM-DD:\n", gv.regex(r"\d{4}-\d\d-\d\d"))
TASKS = [(ADA, gv.json_schema(PERSON)), DATE, ("The bag holds a pen.\nNested JSON:\n", gv.json())]


@pytest.fixture(scope="module")
def person(clerk):
    return gv.guide(gv.json_schema(PERSON), clerk.vocabulary)


@pytest.mark.parametrize(("prompt", "machine"), TASKS, ids=["person", "date", "json"])
@pytest.mark.quick("person")
def test_greedy_texts_are_those_of_plain_decoding_in_fewer_passes(clerk, prompt, machine):
    guide = gv.guide(machine, clerk.vocabulary)
    settings = {"temperature": 0, "max_tokens": 25}
    plain = gv.record(clerk, prompt, guide, **settings)
    for draft in ("lookup", "forced", Small(clerk, 3, masked=False), LookUp(3), clerk):
        trace = gv.record(clerk, prompt, guide, **settings, draft=draft)
        assert trace.tokens == plain.tokens
        assert trace.steps[-1].end == plain.steps[-1].end
        assert trace.passes <= plain.passes
        assert trace.passes + trace.drafted[0] - len(trace.steps) in (0, 1)
    assert trace.passes <= plain.passes / 3, "with the model as its own draft"


@pytest.mark.parametrize("most", [1, 3, 7])
def test_a_draft_does_not_pass_the_limit_of_tokens(clerk, person, most):
    trace = gv.record(clerk, ADA, person, max_tokens=most, draft=clerk)
    assert len(trace.steps) == most
    assert trace.steps[-1].end == "max_tokens"


def test_rejected_tokens_are_recorded_saved_and_counted(clerk, person, tmp_path):
    trace = gv.record(clerk, ADA, person, temperature=0, draft="lookup")
    accepted, drafted = trace.drafted
    assert 0 < accepted < drafted
    assert {step.how for step in trace.steps if step.dropped} == {"sampled"}
    trace.save(tmp_path / "run.json")
    loaded = gv.Trace.load(tmp_path / "run.json")
    assert (loaded.steps, loaded.drafted) == (trace.steps, trace.drafted)


def test_without_a_guide_a_draft_gives_the_text_of_the_model(clerk):
    free = gv.record(clerk, ADA, temperature=0, max_tokens=9)
    assert gv.record(clerk, ADA, temperature=0, max_tokens=9, draft="lookup").tokens == free.tokens


def test_a_person_may_insert_another_token_inside_an_accepted_draft(clerk, drafted):
    for _ in range(6):
        drafted = drafted.forward()
    ways = [step.how for step in drafted.steps]
    assert ways[:3] == ["accepted"] * 3
    bo = clerk.encode("Bo")[0]
    changed = drafted.go(4).choose(bo).forward()
    assert changed.steps[4].how == "inserted"
    assert changed.point(6).tokens[-2] == bo


@pytest.fixture
def drafted(clerk, person):
    """A player whose model is its own draft."""
    return Player(LiveWalk(clerk, ADA, person), Settings(temperature=0, draft=as_draft(clerk, clerk)))


def test_changed_settings_do_not_use_steps_that_were_judged_with_others(drafted):
    player = drafted.forward()
    assert player.change(draft=None).forward().steps[-1].how == "sampled"
    assert player.forward().steps[-1].how == "accepted"


def test_look_up_finds_the_longest_match_and_the_latest_place():
    draft = LookUp(2)
    assert draft.find((1, 2, 9, 5, 2, 8, 1, 2)) == (9, 5)
    assert draft.find((1, 2, 3)) == ()
    assert draft.find((1,)) == ()


@pytest.mark.parametrize(
    ("draft", "said"),
    [
        *((wrong, "^draft: saw") for wrong in ("lookups", 4, object(), ["lookup"], True)),
        *((LookUp(size), "^draft, size: saw .*, expected a whole number from 1 to 64") for size in (0, 65, 2.5, None)),
        (gv.load_model("bard"), "the same vocabulary"),
    ],
)
def test_what_is_no_draft_is_refused(clerk, draft, said):
    with pytest.raises(SettingError, match=said):
        gv.record(clerk, ADA, draft=draft)
