"""The index holds what brute force finds: for every state its tokens, for every token its next state, in few kinds."""

import pytest
from hypothesis import given

import guidedviz as gv
from guidedviz.errors import SettingError
from guidedviz.machines.regular.dfa import DFA
from guidedviz.tokens import build_guide, index
from tests.common import assert_mask_is_told
from tests.strategies import regexes, vocabularies

DECIMAL = r"[0-9]+(\.[0-9]+)?"
TOY = gv.Vocabulary([b"3", b".5", b".", b"42", b"4x", b"x", b"", b"<pad>", b"</s>", b"<eot>", b"3"],
                    eos={8, 9}, special={7, 8})  # fmt: skip


@given(vocabularies(), regexes)
def test_tokens_of_one_kind_move_every_state_alike_and_of_two_kinds_do_not(v, pattern):
    built = index.compute_index(gv.regex(pattern), v)
    states = range(len(built.machine))

    def column(token):
        return tuple(built.next_state(state, token) for state in states)

    pairs = {(int(built.kind[token]), column(token)) for token in v.text_ids}
    kinds = {kind for kind, _ in pairs}
    columns = {moves for _, moves in pairs}
    assert len(kinds) == len(columns) == len(pairs)


@given(vocabularies(), regexes)
def test_the_index_holds_what_the_plain_loop_finds(v, pattern):
    built = gv.build_index(gv.regex(pattern), v)
    for state, legal in index.plain_index(built.machine, v).items():
        found = {token: built.next_state(state, token) for token in v.text_ids}
        live = {token: reached for token, reached in found.items() if reached is not None}
        assert legal == live
        mask = built.mask(state)
        assert mask.nonzero()[0].tolist() == sorted([*live, *(v.eos if built.machine.is_accepting(state) else ())])
        assert built.legal[state] == mask.sum()


def test_to_a_date_128k_tokens_are_a_handful_of_kinds():
    built = gv.build_index(gv.regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}"), gv.Vocabulary.llama3())
    assert len(set(built.kind.tolist())) == 6  # no digit string; of one, two or three digits; "-"; and EOS
    assert built.legal[0] == 1110
    assert repr(built) == "Index(11 states, 128,256 tokens of 6 kinds)"


def test_states_without_a_way_to_the_end_are_dead():
    """A machine made by hand may walk into a trap: no token may."""
    trap = DFA((((97, 97, 1), (98, 98, 2)), ((97, 97, 1),), ()), frozenset({2}))
    v = gv.Vocabulary([b"a", b"b", b"aa", b"ab"])
    for engine in ("index", "trie"):
        guide = gv.guide(trap, v, engine)
        assert guide.mask(0).tolist() == [False, True, False, False]
        assert_mask_is_told(guide, 0)


def test_a_guide_serves_the_index_that_it_is_given_and_builds_one_otherwise():
    machine = gv.regex(DECIMAL)
    known = index.compute_index(machine, TOY)
    assert gv.guide(machine, TOY, index=known).index is known
    assert gv.guide(machine, TOY).index is gv.build_index(machine, TOY)


def test_a_stale_index_shows_wrong_tokens_and_is_refused():
    """The tokenizer changed: the same ids stand for other bytes."""
    machine = gv.regex(DECIMAL)
    old = gv.Vocabulary([b"3", b".5", b".", b"42", b"x"])
    new = gv.Vocabulary([b"x", b"3", b".5", b".", b"42"])
    built = gv.build_index(machine, old)
    assert [new.display(token) for token in built.mask(0).nonzero()[0]] == ["x", "."]
    assert gv.guide(gv.regex(r"\d+(?:\.\d+)?"), old, index=built).index is built
    versions = f"saw vocabulary {new.fingerprint[:12]}, expected vocabulary {old.fingerprint[:12]}"
    for asked, vocabulary, engine, index_of, said in (
        (machine, new, "auto", built, versions),
        (gv.regex("[0-9]+"), old, "auto", built, "stale index: saw machine"),
        (machine, old, "auto", "built", "saw str, expected an Index"),
        (machine, old, "trie", built, "saw engine 'trie', expected an Index and its engine"),
    ):
        with pytest.raises(SettingError, match=said):
            gv.guide(asked, vocabulary, engine, index=index_of)


def test_what_is_no_finite_machine_has_no_index():
    with pytest.raises(SettingError, match="a finite machine"):
        gv.build_index(gv.json(), TOY)


def test_kinds_are_bounded(monkeypatch):
    monkeypatch.setattr(index, "MOST_ENTRIES", 1000)
    pieces = [b"a" * length for length in range(1, 80)]
    v = gv.Vocabulary(pieces)
    with pytest.raises(SettingError, match="more than 1,000 entries"):
        index.compute_index(gv.regex("a{100}"), v)


def test_masks_that_do_not_fit_are_walked_when_asked(monkeypatch):
    monkeypatch.setattr(build_guide, "MASK_BYTES", 1)
    machine = gv.regex(DECIMAL)
    guide = gv.guide(machine, TOY)
    assert guide.index is None
    built = gv.build_index(machine, TOY)
    for state in range(len(machine)):
        assert guide.mask(state).tolist() == built.mask(state).tolist()
