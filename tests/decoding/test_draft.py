"""Decoding with a draft: the same texts in fewer passes, honest records, and clear errors."""

import pytest

import guidedviz as gv
from guidedviz.decoding.player import LiveWalk, Player
from guidedviz.decoding.sampling import Settings
from guidedviz.decoding.speculation import LookUp, Small, as_draft
from guidedviz.errors import SettingError

TEXT = {"type": "string"}
FIELDS = {"name": TEXT, "age": {"type": "integer"}, "city": TEXT}
PERSON = gv.json_schema({"type": "object", "properties": FIELDS, "required": list(FIELDS)})
ADA = "Ada Lovelace is 36 and lives in London.\nJSON with name, age, city:\n"
TASKS = [
    (ADA, PERSON),
    ("We met on May 3, 1987.\nDate as YYYY-MM-DD:\n", gv.regex(r"\d{4}-\d\d-\d\d")),
    ("The bag holds a pen.\nNested JSON:\n", gv.json()),
]


@pytest.fixture(scope="module")
def clerk():
    return gv.load_model("clerk")


def person_guide(model):
    return gv.guide(PERSON, model.vocabulary)


@pytest.mark.parametrize(("prompt", "machine"), TASKS)
@pytest.mark.quick(every=2)
def test_greedy_texts_are_those_of_plain_decoding_in_fewer_passes(clerk, prompt, machine):
    guide = gv.guide(machine, clerk.vocabulary)
    plain = gv.record(clerk, prompt, guide, temperature=0, max_tokens=40)
    small = Small(clerk, 3, masked=False)
    for draft in ("lookup", "forced", clerk, small, LookUp(3)):
        trace = gv.record(clerk, prompt, guide, temperature=0, max_tokens=40, draft=draft)
        assert trace.tokens == plain.tokens
        assert trace.steps[-1].end == plain.steps[-1].end
        assert trace.passes <= plain.passes
        read = trace.passes + trace.drafted[0]
        assert read - len(trace.steps) in (0, 1)
    trace = gv.record(clerk, prompt, guide, temperature=0, max_tokens=40, draft=clerk)
    assert trace.passes <= plain.passes / 3


@pytest.mark.parametrize("most", range(1, 8))
def test_a_draft_does_not_pass_the_limit_of_tokens(clerk, most):
    trace = gv.record(clerk, ADA, person_guide(clerk), max_tokens=most, draft=clerk)
    assert len(trace.steps) == most
    assert trace.steps[-1].end == "max_tokens"


def test_rejected_tokens_are_recorded_saved_and_counted(clerk, tmp_path):
    trace = gv.record(clerk, ADA, person_guide(clerk), temperature=0, draft="lookup")
    accepted, drafted = trace.drafted
    assert 0 < accepted < drafted
    free = gv.record(clerk, ADA, temperature=0, max_tokens=9)
    looked_up = gv.record(clerk, ADA, temperature=0, max_tokens=9, draft="lookup")
    assert looked_up.tokens == free.tokens
    rejected = next(step for step in trace.steps if step.dropped)
    assert rejected.how == "sampled"
    trace.save(tmp_path / "run.json")
    loaded = gv.Trace.load(tmp_path / "run.json")
    assert loaded.steps == trace.steps
    assert loaded.drafted == trace.drafted


def test_a_person_may_insert_another_token_inside_an_accepted_draft(clerk):
    guide = person_guide(clerk)
    settings = Settings(temperature=0, draft=as_draft(clerk, clerk))
    player = Player(LiveWalk(clerk, ADA, guide), settings)
    for _ in range(6):
        player = player.forward()
    ways = [step.how for step in player.steps]
    assert ways[:3] == ["accepted"] * 3
    bo = clerk.encode("Bo")[0]
    changed = player.go(4).choose(bo).forward()
    assert changed.steps[4].how == "inserted"
    assert changed.point(6).tokens[-2] == bo


def test_changed_settings_do_not_use_steps_that_were_judged_with_others(clerk):
    walk = LiveWalk(clerk, ADA, person_guide(clerk))
    settings = Settings(temperature=0, draft=as_draft(clerk, clerk))
    player = Player(walk, settings).forward()
    after = player.change(draft=None).forward()
    assert after.steps[-1].how == "sampled"
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
