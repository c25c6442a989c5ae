"""A wrong mask is shown by its shortest wrong token, and by the byte at which it is wrong."""

import json

import pytest

import guidedviz as gv
from guidedviz.checks.finite_machines import EVENT
from guidedviz.machines.machine import read


def by_first_byte(machine, state, pieces):
    return {token for token, piece in enumerate(pieces) if machine.step(state, piece[0]) is not None}


def only_complete(machine, state, pieces):
    return {t for t, piece in enumerate(pieces) if machine.is_accepting(read(machine, piece, state) or 0)}


def from_the_start(machine, state, pieces):
    return {token for token, piece in enumerate(pieces) if read(machine, piece) is not None}


def skips_what_it_cannot_read(machine, state, pieces):
    legal = set()
    for token, piece in enumerate(pieces):
        here = state
        for byte in piece:
            here = here if (after := machine.step(here, byte)) is None else after
        if here != state:
            legal.add(token)
    return legal


def one_id_for_the_same_bytes(machine, state, pieces):
    return {pieces.index(piece) for piece in pieces if read(machine, piece, state) is not None}


def characters_only(machine, state, pieces):
    legal = set()
    for token, piece in enumerate(pieces):
        try:
            piece.decode()
        except UnicodeDecodeError:
            continue
        if read(machine, piece, state) is not None:
            legal.add(token)
    return legal


@pytest.mark.parametrize(
    ("mistake", "read_before", "piece", "says"),
    [
        (by_first_byte, "nothing", "b'3x'", "legal"),
        (only_complete, "'3'", "b'.'", "illegal"),
        (from_the_start, "'3'", "b'3'", "legal"),
        (skips_what_it_cannot_read, "nothing", "b'3x'", "legal"),
        (one_id_for_the_same_bytes, "nothing", "b'3'", "illegal"),
        (characters_only, "nothing", "b'\\xc3'", "illegal"),
    ],
)
def test_a_mistake_is_shown_by_its_shortest_token(mistake, read_before, piece, says):
    verdict = gv.checks.legal_tokens(mistake)
    facts = dict(verdict.facts)
    (token,) = [name for name in facts if name.startswith("token ")]
    assert verdict.result == "wrong"
    assert facts["input"].endswith(f": {read_before} was read")
    assert (facts[token], facts["yours says"]) == (piece, says)
    assert facts["expected"] == {"legal": "illegal", "illegal": "legal"}[says]
    assert facts["because"]
    assert ("cannot come" in verdict.figure.text) == (says == "legal"), "its way is drawn, and where it died"


def test_an_id_that_does_not_exist_is_wrong_too():
    verdict = gv.checks.legal_tokens(lambda *case: by_first_byte(*case) | {len(case[2])})
    assert dict(verdict.facts)["yours gave"] == "{0, 1}"


def test_a_machine_is_not_to_be_changed():
    def greedy(machine, state, pieces):
        legal = {token for token, piece in enumerate(pieces) if read(machine, piece, state) is not None}
        pieces.clear()
        return legal

    verdict = gv.checks.legal_tokens(greedy)
    assert verdict.result == "wrong"
    assert "copy" in dict(verdict.facts)["but"]


SMALLEST = '{"event":"concert","date":"0000-01-01","seats":1}'


def change(key, value):
    return {**EVENT, "properties": {**EVENT["properties"], key: value}}


@pytest.mark.parametrize(
    ("answer", "text", "yours"),
    [
        (change("event", {"type": "string"}), '{"event":"","date":"0000-01-01","seats":1}', "accepts it"),
        (change("date", {"type": "string"}), '{"event":"concert","date":"","seats":1}', "accepts it"),
        (change("seats", {"type": "integer"}), '{"event":"concert","date":"0000-01-01","seats":0}', "accepts it"),
        (EVENT | {"required": []}, "{}", "accepts it"),
        (EVENT | {"properties": dict(reversed(EVENT["properties"].items()))}, SMALLEST, "refuses it"),
    ],
)
def test_a_wrong_schema_is_shown_by_its_shortest_text(answer, text, yours):
    verdict = gv.checks.event_schema(answer)
    facts = dict(verdict.facts)
    assert verdict.result == "wrong"
    assert facts.get("text") == text
    assert facts.get("yours") == yours


def test_a_schema_may_be_written_as_text_and_in_other_words():
    seats = {"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 1000}
    assert gv.checks.event_schema(change("seats", seats))
    assert gv.checks.event_schema(json.dumps(EVENT))


@pytest.mark.parametrize("empty", [None, ..., "", {"type": "object", "properties": {}}, {}])
def test_an_empty_schema_is_not_done_yet(empty):
    assert gv.checks.event_schema(empty).result == "open"


def test_an_unknown_keyword_is_said_with_its_path():
    verdict = gv.checks.event_schema(change("seats", {"type": "integer", "below": 1000}))
    assert verdict.result == "wrong"
    assert "below" in dict(verdict.facts)["because"]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (r"\$[0-9]{1,5}\.[0-9]{2}", "$00.00"),
        (r"\$(0|[1-9][0-9]{0,4})(\.[0-9]{2})?", "$0"),
        (r"\$(0|[1-9][0-9]{0,4}).[0-9]{2}", "$0a00"),
        (r"\$[1-9][0-9]{0,4}\.[0-9]{2}", "$0.00"),
        (r"$(0|[1-9][0-9]{0,4})\.[0-9]{2}", None),
    ],
)
def test_a_wrong_price_is_shown(answer, text):
    verdict = gv.checks.price(answer)
    assert verdict.result == "wrong"
    assert dict(verdict.facts).get("text") == text


def test_a_price_is_right_however_it_is_written():
    assert gv.checks.price(r"\$([1-9]\d?\d?\d?\d?|0)[.]\d\d")
