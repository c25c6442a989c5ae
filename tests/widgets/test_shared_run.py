"""Claims about the messages of a run that is shown: they bring the same steps, and a hostile one is refused."""

from __future__ import annotations

import json

import pytest

import guidedviz as gv
from guidedviz.decoding.player import LiveWalk, Player
from guidedviz.decoding.recording import compress
from guidedviz.decoding.sampling import Settings
from guidedviz.errors import GuidedVizError, TraceError
from guidedviz.widgets import sharing
from guidedviz.widgets.sharing import (
    MOST_MESSAGE,
    Record,
    make_head,
    pack_machine,
    read_change,
    unpack_machine,
    write_changes,
)

PATTERN = "[a-z]{2,40}( [a-z]+)*"


@pytest.fixture(scope="module")
def player(bard):
    walk = LiveWalk(bard, "To be", gv.guide(gv.regex(PATTERN), bard.vocabulary))
    now = Player(walk, Settings(temperature=0.7, seed=3, bias={5: 1.5}))
    for _ in range(30):
        now = now.forward()
    return now.look()


@pytest.fixture(scope="module")
def head(bard, player):
    trace = gv.Trace((), "To be", "bard", "cpu", "2026-01-01", "", 3, 0.7, len(bard.vocabulary))
    return make_head(trace, player.walk.guide, bard.vocabulary.fingerprint, player.settings)


def heard(messages):
    """What a host makes of the messages, as a late follower gets it."""
    out = {"run": "", "version": 0, "head": None, "from": 0, "add": [], "next": None, "cursor": 0, "ended": False}
    for message in map(json.loads, messages):
        add = [*out["add"][: message["from"]], *message["add"]]
        out |= message | {"from": 0, "add": add, "head": message["head"] or out["head"]}
    return read_change(json.dumps(out).encode())


def test_steps_arrive_as_they_were_in_messages_of_a_bounded_size(player, head):
    messages = [*write_changes("r", head, player, 0)]
    assert len(messages) > 1
    assert max(map(len, messages)) < MOST_MESSAGE + 8192
    found = heard(messages)
    assert tuple(record.step for record in found.add) == player.steps
    assert found.head == head
    assert found.next == Record(player.peek.step, player.settings)
    assert (found.cursor, found.ended) == (30, False)
    assert found.add[0].settings == player.settings


def test_a_move_is_one_small_message(player):
    for now, start, added in ((player.go(12), 30, 0), (player, 29, 1)):
        [message] = map(json.loads, write_changes("r", None, now, start))
        assert (len(message["add"]), message["cursor"]) == (added, now.cursor)


@pytest.mark.parametrize(
    "machine", [gv.json(), gv.json_schema({"type": "string", "maxLength": 90}), gv.regex("(é|b)*")]
)
def test_a_machine_arrives_with_its_language(machine, bard):
    found = unpack_machine(pack_machine(gv.guide(machine, bard.vocabulary)))
    for text in ("", '"a"', '{"a": [1, 2]}', '"' + "x" * 91 + '"', "éb", "ébc"):
        assert found.accepts(text.encode()) == machine.accepts(text.encode())


def test_a_guide_that_is_no_machine_or_too_large_sends_none(bard, monkeypatch):
    guide = gv.guide(gv.regex("[a-z]+"), bard.vocabulary)
    assert pack_machine(None) == pack_machine(gv.within(guide, 9)) == ""
    monkeypatch.setattr(sharing, "MOST_MACHINE", 10)
    assert pack_machine(guide) == ""


@pytest.mark.parametrize(
    "text",
    [
        "", "x", "AAAA", compress([]), compress({}), compress({"edges": [], "accepting": []}), compress({"grammar": 7}),
        compress({"grammar": "root ::= ("}), compress({"edges": [[[0, 300, 0]]], "accepting": [0]}),
        compress({"edges": [[[9, 3, 0]]], "accepting": []}),
        compress({"edges": [[[0, 5, 0], [5, 9, 0]]], "accepting": []}),
        compress({"edges": [[[0, 5, 1]]], "accepting": []}), compress({"edges": [[]], "accepting": [1]}),
        compress({"edges": [[[0, 5]]], "accepting": []}), compress({"edges": "x", "accepting": [0]}),
        compress([[]] * (1 << 21)),
    ],
)  # fmt: skip
def test_a_machine_of_another_shape_is_refused(text):
    with pytest.raises(GuidedVizError):
        unpack_machine(text)


def test_an_answer_of_another_shape_is_refused(player, head):
    good = json.loads(next(iter(write_changes("r", head, player, 0)))) | {"version": 1}
    assert read_change(json.dumps(good).encode()).version == 1
    step = good["add"][0]["step"]
    hostile = [
        b"", b"[]", b"[" * 99_999, b"null", {"version": -1}, {"cursor": "1"}, {"add": [{}]}, {"head": {}},
        {"next": []}, {"add": [{"step": step, "settings": {"draft": 1}}]},
        {"add": [{"step": step | {"piece": "\u4e00"}, "settings": {}}]},
        {"add": [{"step": step, "settings": {"temperature": float("nan")}}]}, {"__class__": "os.system"},
    ]  # fmt: skip
    for said in hostile:
        with pytest.raises(TraceError):
            read_change(said if isinstance(said, bytes) else json.dumps(good | said).encode())
