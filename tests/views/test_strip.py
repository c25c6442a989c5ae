"""A strip: what came without a pass, what was taken back, and the lines of a prompt."""

import re

import guidedviz as gv
from guidedviz.views.strip import PROMPT_WORDS
from tests.common import constant_model, regex_guide


def test_a_forced_token_is_dashed_in_ink_and_a_token_that_was_taken_back_has_no_fill():
    pieces = [b"n", b"o", b"no", b"t", b"!"]
    toy = constant_model(pieces, [5, 4, 3, 2, 1])
    guide = regex_guide(toy, "(n|x)o[t!]")
    run = gv.record(toy, "t", guide, temperature=0, jump_forward=True)
    svg = gv.draw_strip(run).svg
    back, forced, chosen = re.findall(r"<rect [^>]*fill-opacity[^>]*>", svg)
    assert 'fill-opacity="0"' in back
    assert "--gv-ink" in forced
    assert "stroke-dasharray" in forced
    assert 'fill-opacity="0"' not in chosen


def test_a_strip_of_z_says_so_in_the_picture():
    toy = constant_model([b"n", b"o"], [1, 1])
    guide = regex_guide(toy, "no")
    trace = gv.record(toy, "n", guide)
    assert "below each token: its step, and Z" in gv.draw_strip(trace, mass=True).svg
    assert "below each token" not in gv.draw_strip(trace).svg


def test_a_prompt_is_wrapped_between_words_and_only_a_very_long_word_is_broken():
    assert PROMPT_WORDS.findall("a word↵and more") == ["a ", "word↵", "and ", "more"]
    words = PROMPT_WORDS.findall("x" * 100 + " y")
    assert [len(word) for word in words] == [88, 13, 1]
