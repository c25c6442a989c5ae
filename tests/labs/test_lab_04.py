"""What lab 04 says in prose is what its outputs show; what none of them shows is measured here."""

import re

import pytest

import guidedviz as gv
from guidedviz.machines.regular.nfa import build_nfa
from guidedviz.machines.regular.regex import parse_regex
from tests.checks.answers.walks import index
from tests.checks.answers.walks import walk as walk_trie
from tests.labs.solved import read_solved

LAB = read_solved("04_regex_to_tokens")
DECIMAL = r"[0-9]+(\.[0-9]+)?"  # in Rust, \d is more digits than ours
CLUMSY = r"\d+|\d+\.\d+|\d+,\d+"


@pytest.fixture(scope="module")
def llama3():
    return gv.Vocabulary.llama3()


@pytest.mark.parametrize(
    ("said", "words", "shown"),
    [
        ("`3.` is legal too", "output so far is `3`", "['3', '42', '.', '.5', '3.', '7.5', '</s>']"),
        ("with three branches", "nfa_reading_frames", "n1 is lit and accepting"),
        ("so they are one state now", "minimal_frames", "4 states of 6"),
        ("10 + 100 + 1,000", "which part of the nodes", "1,110 reached"),
        ("so 1987 became 1887", "What will the stale index do", "stale index 1887,18,57"),
        ("the dash became a comma", "What will the stale index do", "right index 1987-06-19"),
        ("inside a string the opposite", "How many percent", "123,092 of 128,256 tokens legal (96%)"),
        ('`"}` is illegal', "are legal inside the name", """'{"', '",'"""),
    ],
)  # fmt: skip
def test_what_the_prose_says_stands_in_an_output(said, words, shown):
    assert said in LAB.prose + LAB.output_of(words)
    assert shown in LAB.output_of(words)


def test_an_index_in_memory_is_quicker_than_any_other_line_and_the_trie_is_the_largest_cost():
    times = [float(time) for time in re.findall(r"([\d.]+) ms", LAB.output_of("time.perf_counter"))]
    two_loops, trie, own_index, ours, cached = times
    assert cached == min(times)
    assert trie == max(times)
    assert own_index < two_loops
    assert ours < two_loops


def test_the_clumsy_regex_has_so_many_states():
    nfa = build_nfa(parse_regex(CLUMSY))
    assert len(nfa) == 16
    assert 2 ** len(nfa) == 65_536
    assert len(gv.views.dfa_frames(CLUMSY)[-1].names) == 6
    assert gv.regex(CLUMSY) == gv.regex(r"\d+([.,]\d+)?")


def test_each_further_letter_doubles_the_states():
    assert [len(gv.regex(f"[ab]*a[ab]{{{n}}}")) for n in (8, 9, 10)] == [512, 1024, 2048]


def test_the_date_has_eleven_states_and_the_walks_give_the_index_of_the_engine(llama3):
    date = gv.regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
    ours, theirs = gv.build_index(date, llama3), index(llama3.trie.root, date, walk_trie)
    assert len(theirs) == len(date) == 11
    assert ours.legal.tolist()[:-1] == [len(theirs[state]) for state in range(10)]
    assert all(ours.next_state(state, token) == after for state in theirs for token, after in theirs[state].items())
    assert date.accepts(b"0000-00-00")


def test_the_examples_of_the_exercises():
    frames = gv.views.nfa_reading_frames(CLUMSY, "4")
    assert [len(frame.lit) for frame in frames] == [1, 4, 3, 9, 9]
    toy = gv.Vocabulary([b"3", b"42", b".", b".5", b"3.", b"7.5", b"..", b"3x", b"x"])
    assert walk_trie(toy.trie.root, gv.regex(DECIMAL), 2) == {0: 3, 1: 3}


def test_a_guide_refuses_the_stale_index():
    clerks, date = gv.load_model("clerk").vocabulary, gv.regex("[0-9]{4}")
    yesterday = gv.Vocabulary(clerks.pieces[1:] + clerks.pieces[:1], eos={len(clerks) - 1})
    with pytest.raises(gv.SettingError, match="stale index"):
        gv.guide(date, clerks, index=gv.build_index(date, yesterday))
    sign = {piece: clerks.pieces[id] for id, piece in enumerate(yesterday.pieces)}
    assert [sign[bytes([digit])] for digit in b"0129-"] == [b"/", b"0", b"1", b"8", b","]


def test_99_percent_are_illegal_after_the_point_and_three_bytes_are_legal_inside_the_character(llama3):
    mask = gv.guide(gv.regex(DECIMAL), llama3).mask(2)
    assert mask.mean() < 0.01
    accents = gv.guide(gv.regex("[é-ë]"), gv.load_model("clerk").vocabulary)
    assert [int(accents.mask(state).sum()) for state in range(3)] == [1, 3, 1]


def test_no_token_of_llama3_has_a_point_and_a_digit(llama3):
    pieces = [llama3.pieces[token] for token in llama3.text_ids]
    assert not [piece for piece in pieces if b"." in piece and any(byte in b"0123456789" for byte in piece)]


def test_outlines_core_loses_the_point(llama3):
    core = pytest.importorskip("outlines_core")
    text, (end, *_) = set(llama3.text_ids), sorted(llama3.eos)
    ids: dict[bytes, list[int]] = {}
    for token in text:
        ids.setdefault(llama3.pieces[token], []).append(token)
    index = core.Index(DECIMAL, core.Vocabulary(end, ids))
    after = index.get_next_state(index.get_initial_state(), llama3.ids(b"3")[0])
    allowed = [llama3.pieces[token] for token in index.get_allowed_tokens(after) if token != end]
    assert len(allowed) == 1110
    assert all(piece.isdigit() for piece in allowed), "whole numbers and nothing else"


def test_the_puzzle_ends_with_four_blocks():
    dfa = gv.machines.machine_stages(CLUMSY)[1]
    block = {state: dfa.is_accepting(state) for state in range(len(dfa))}
    while True:
        signs = {s: (block[s], *(block.get(dfa.step(s, byte)) for byte in b"0.,")) for s in block}
        if len({*signs.values()}) == len({*block.values()}):
            break
        block = signs
    assert len({*block.values()}) == len(gv.regex(CLUMSY)) == 4
