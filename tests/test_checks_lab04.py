"""A wrong mask is shown by its shortest wrong token, and by the byte at which it is wrong."""

import pytest

import guidedviz as gv
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
    verdict = gv.check_legal_tokens(mistake)
    facts = dict(verdict.facts)
    (token,) = [name for name in facts if name.startswith("token ")]
    assert verdict.result == "wrong"
    assert facts["input"].endswith(f": {read_before} was read")
    assert (facts[token], facts["yours says"]) == (piece, says)
    assert facts["expected"] == {"legal": "illegal", "illegal": "legal"}[says]
    assert facts["because"]


def test_an_id_that_does_not_exist_is_wrong_too():
    verdict = gv.check_legal_tokens(lambda *case: by_first_byte(*case) | {len(case[2])})
    assert dict(verdict.facts)["yours gave"] == "{0, 1}"


def test_a_machine_is_not_to_be_changed():
    def greedy(machine, state, pieces):
        legal = {token for token, piece in enumerate(pieces) if read(machine, piece, state) is not None}
        pieces.clear()
        return legal

    verdict = gv.check_legal_tokens(greedy)
    assert verdict.result == "wrong"
    assert "copy" in dict(verdict.facts)["but"]
