"""Claims about the message of a run that is shown: it brings the same steps, and a hostile one is refused."""

import json

import pytest

import guidedviz as gv
from guidedviz.decoding.player import LiveWalk, Player
from guidedviz.decoding.recording import compress
from guidedviz.decoding.records import to_plain
from guidedviz.decoding.sampling import Settings
from guidedviz.errors import GuidedVizError, SettingError, TraceError
from guidedviz.widgets import sharing
from guidedviz.widgets.sharing import (
    SentMachine,
    make_run,
    pack_shared_run,
    read_latest,
    read_machine,
    read_run,
    send_machine,
)
from tests.common import regex_guide

PATTERN = "[a-z]{2,40}( [a-z]+)*"


@pytest.fixture(scope="module")
def player(bard):
    guide = regex_guide(bard, PATTERN)
    walk = LiveWalk(bard, "To be", guide)
    settings = Settings(temperature=0.7, seed=3, bias={5: 1.5})
    now = Player(walk, settings)
    for _ in range(30):
        now = now.forward()
    return now.look()


@pytest.fixture(scope="module")
def run(bard, player):
    trace = gv.Trace((), "To be", "bard", "cpu", "2026-01-01", "", 3, 0.7, len(bard.vocabulary))
    return make_run(trace, player.walk.guide, player, bard.vocabulary.fingerprint)


def test_a_run_arrives_as_it_was(player, run):
    message = json.loads(pack_shared_run(run))
    found = read_run(message["shown"])
    assert found == run
    assert message["steps"] == 30
    assert tuple(record.step for record in found.records) == player.steps
    assert found.next == sharing.Record(player.peek.step, player.settings)
    assert (found.cursor, found.ended) == (30, False)


def test_a_message_is_small_and_a_longer_run_than_a_host_takes_is_refused(run, monkeypatch):
    assert len(pack_shared_run(run)) < 30_000
    monkeypatch.setattr(sharing, "MOST_RUN", 1000)
    with pytest.raises(SettingError, match="saw 30 steps"):
        pack_shared_run(run)


@pytest.mark.parametrize(
    "machine", [gv.json(), gv.json_schema({"type": "string", "maxLength": 90}), gv.regex("(é|b)*")]
)
def test_a_machine_arrives_with_its_language(machine, bard):
    found = read_machine(send_machine(gv.guide(machine, bard.vocabulary)))
    for text in ("", '"a"', '{"a": [1, 2]}', '"' + "x" * 91 + '"', "éb", "ébc"):
        assert found.accepts(text.encode()) == machine.accepts(text.encode())


def test_a_guide_that_is_no_machine_or_too_large_sends_none(bard, monkeypatch):
    guide = regex_guide(bard, "[a-z]+")
    assert send_machine(None) is send_machine(gv.within(guide, 9)) is None
    monkeypatch.setattr(sharing, "MOST_MACHINE", 10)
    assert send_machine(guide) is None


@pytest.mark.parametrize(
    "said",
    [SentMachine(), SentMachine(grammar="root ::= ("), SentMachine((((0, 300, 0),),), (0,)),
     SentMachine((((9, 3, 0),),)), SentMachine((((0, 5, 0), (5, 9, 0)),)), SentMachine((((0, 5, 1),),)),
     SentMachine(((),), (1,))],
)  # fmt: skip
def test_a_machine_that_is_none_is_refused(said):
    with pytest.raises(GuidedVizError):
        read_machine(said)


def test_a_run_of_another_shape_is_refused(run):
    good = json.loads(json.dumps(run, default=to_plain))
    step = good["records"][0]["step"]
    hostile = [
        {"cursor": "1"}, {"cursor": -1}, {"records": [{}]}, {"records": "x"}, {"head": {}}, {"next": []},
        {"records": [{"step": step, "settings": {"draft": 1}}]},
        {"records": [{"step": step | {"piece": "\u4e00"}, "settings": {}}]},
        {"records": [{"step": step, "settings": {"temperature": float("nan")}}]}, {"__class__": "os.system"},
        *({"head": good["head"] | {"machine": machine}} for machine in
          (7, [], {"grammar": 7}, {"edges": "x"}, {"edges": [[[0, 5]]]}, {"edges": [[["a", 1, 2]]]})),
    ]  # fmt: skip
    for said in hostile:
        with pytest.raises(TraceError):
            read_run(compress(good | said))
    for packed in ("", "x", "AAAA", compress([]), compress({}), compress([[]] * (1 << 21))):
        with pytest.raises(TraceError):
            read_run(packed)


@pytest.mark.parametrize("body", [b"", b"[]", b"[" * 99_999, b"null", b"{}", b'{"known": 1, "shown": ""}'])
def test_an_answer_of_another_shape_is_refused(body):
    with pytest.raises(TraceError):
        read_latest(body)
