"""Guides over machines with a stack: their masks, by hand, by brute force, and from whole sentences."""

import time

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.errors import IllegalToken, PatternError, SettingError
from guidedviz.machines.machine import next_bytes, read
from tests.strategies import draw_walk, grammars, vocabularies

TOY = gv.Vocabulary([b"{", b"}", b'"a"', b'":', b":", b"[[", b"]", b"]}", b"1", b",", b" ", b"</s>"], eos={11})
TABLE = [  # what was written, and the tokens that may follow
    ("", '{ "a" ": ␣ [[ 1'),  # with ": a text begins whose first letter is a colon
    ("{", '} "a" ": ␣'),
    ('{"a"', ": ␣"),
    ('{"a":', '{ "a" ": [[ 1 ␣'),
    ('{"a":1', "} , 1 ␣"),
    ('{"a":[[', '{ "a" ": [[ ] 1 ␣'),
    ('{"a":[[]', "] ]} , ␣"),
    ('{"a":[[],', '{ "a" ": [[ 1 ␣'),
    ('{"a":[[]]', "} , ␣"),
    ('{"', '{ } ": : [[ ] ]} 1 , ␣'),
    ('{"a":[[]]}', "␣ </s>"),
    ("1", "␣ 1 </s>"),
]


@pytest.mark.parametrize(("written", "legal"), TABLE)
def test_json_on_a_toy_vocabulary(written, legal):
    guide = gv.guide(gv.json(), TOY)
    mask = guide.mask(read(guide.machine, written.encode()))
    assert {TOY.display(token) for token in np.flatnonzero(mask)} == set(legal.split())


def machine_of(text):
    """The machine of a random grammar, if it has any text and is not too ambiguous."""
    try:
        return gv.grammar(text)
    except PatternError:
        assume(False)


def can_be_completed(machine, state, most=300):
    """Search for a complete text; of machines with very many states nothing is claimed."""
    found = [state]
    seen = set(found)
    for one in found:
        if machine.is_accepting(one) or len(seen) > most:
            return True
        fresh = {machine.step(one, byte) for byte in next_bytes(machine, one)} - seen
        found += fresh
        seen |= fresh
    return False


@given(vocabularies(), grammars, st.data())
def test_masks_by_brute_force(v, text, data):
    guide = gv.guide(machine_of(text), v)
    for state, _ in draw_walk(data, guide, steps=3):
        mask = guide.mask(state)
        for token, piece in enumerate(v.pieces):
            after = read(guide.machine, piece, state) if token in v.text_ids else None
            if token in v.eos:
                legal = guide.is_accepting(state)
            else:
                legal = after is not None and can_be_completed(guide.machine, after)
            assert mask[token] == legal
            try:
                assert guide.advance(state, token) is (state if token in v.eos else after)
            except IllegalToken:
                assert not legal
            else:
                assert legal


SENTENCES = [
    (gv.json(), '{"a": [1, {"é": "x\\n"}, []], "b": -1.5e3}', st.sampled_from('{}[]",:1 eé\\')),
    (gv.grammar('root ::= root [+*] root | "(" root ")" | [0-9]+'), "(12+3)*((4)+5)", st.sampled_from("()+*1")),
    (gv.grammar('root ::= "<" name ">" root* "</" name ">"\nname ::= [a-c]'), "<a><b></b><c></c></a>",
     st.sampled_from("<>/abc")),
    (gv.grammar('root ::= s s\ns ::= "a" s "b" | "é"?'), "aabbaaébb", st.sampled_from("abé")),
]  # fmt: skip


def cuts_to_an_end(guide, data):
    """Follow every cut of the bytes into tokens; each piece that is legal on the way, and may the text end there?"""
    tokens = {piece: token for token, piece in enumerate(guide.vocabulary.pieces)}
    at, ends = {0: guide.initial}, False
    for start in range(len(data) + 1):
        if start in at:
            mask = guide.mask(at[start])
            ends = start == len(data) and bool(mask[list(guide.vocabulary.eos)].all())
            for end in range(start + 1, len(data) + 1):
                token = tokens.get(data[start:end])
                if token is not None and mask[token]:
                    after = guide.advance(at[start], token)
                    assert at.setdefault(end, after) is after, "two cuts of the same bytes lead to one state"
    return set(at), ends


def guide_of_parts(machine, text):
    """A guide whose tokens are all parts of a text of up to six bytes."""
    data = text.encode()
    pieces = sorted({data[start:end] for start in range(len(data)) for end in range(start + 1, start + 7)})
    return gv.guide(machine, gv.Vocabulary([*pieces, b"</s>"], eos={len(pieces)}))


@pytest.mark.parametrize(("machine", "text", "_"), SENTENCES)
def test_every_cut_of_a_sentence_is_legal_to_its_end(machine, text, _):
    assert cuts_to_an_end(guide_of_parts(machine, text), text.encode()) == (set(range(len(text.encode()) + 1)), True)


@given(st.sampled_from(SENTENCES), st.data())
def test_no_cut_of_a_wrong_sentence_ends_and_every_cut_of_a_right_one_does(case, data):
    machine, text, signs = case
    place = data.draw(st.integers(0, len(text)))
    text = text[:place] + data.draw(signs) + text[place + data.draw(st.integers(0, 1)) :]
    _, ends = cuts_to_an_end(guide_of_parts(machine, text), text.encode())
    assert ends == machine.accepts(text.encode())


def test_the_index_needs_a_finite_machine_and_says_so():
    with pytest.raises(SettingError, match=r"engine 'index': saw PDA, expected a finite machine; try: gv.guide"):
        gv.guide(gv.json(), TOY, engine="index")
    with pytest.raises(SettingError, match="index: saw PDA, expected a finite machine"):
        gv.build_index(gv.json(), TOY)


def test_masks_are_kept_and_cannot_be_written():
    guide = gv.guide(gv.json(), TOY)
    assert guide.mask(guide.initial) is guide.mask(guide.initial)
    assert not guide.mask(guide.initial).flags.writeable


def test_a_mask_inside_a_text_takes_milliseconds_at_any_depth():
    """Node by node it took 215 ms on this vocabulary."""
    vocabulary, took = gv.Vocabulary.llama3(), []
    guide = gv.guide(gv.json(), vocabulary)
    guide.mask(guide.initial)
    for depth in (1, 3, 1000):
        state = read(guide.machine, b"[" * depth + b'"')
        began = time.process_time()
        legal = guide.mask(state).sum()
        took.append(time.process_time() - began)
        assert 123_000 < legal < 125_000
    assert min(took) < 0.05
