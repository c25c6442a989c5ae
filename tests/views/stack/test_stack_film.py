"""The film of a pushdown automaton says what the machine says."""

import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import pairwise

import pytest

import guidedviz as gv
from guidedviz.views.stack.stack_film import MOST_FILM_CARDS, build_stack_film, draw_stack_frame, stack_frames

NESTED = gv.grammar('root ::= "(" item ")"\nitem ::= "x" | root')


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("((x))", "the stack is empty: the text is complete."),
        ("((x)", "root cannot end at n2. The text is not complete."),
        ("(x)x", "The stack is empty, and x is left. The text is refused."),
        ("(]", "n1 cannot read ], and root cannot end there. The text is refused."),
    ],
)
def test_the_last_frame_gives_the_verdict(text, words):
    last = stack_frames(NESTED, text)[-1]
    assert last.words.endswith(words)
    assert words.endswith("is complete.") == NESTED.accepts(text.encode())


def test_a_frame_reads_one_byte_or_moves_one_node():
    for before, after in pairwise(stack_frames(NESTED, "((x))")):
        grown = len(after.stack) - len(before.stack)
        read = after.read - before.read
        assert (after.move, grown, read) in {("call", 1, 0), ("read", 0, 1), ("return", -1, 0)}


FRAMES = gv.views.stack_frames(NESTED, "((x))")


def test_a_call_and_a_return_have_their_word_and_their_curve():
    for move, word in (("call", "push"), ("return", "pop")):
        frame = next(frame for frame in FRAMES if frame.move == move)
        svg = draw_stack_frame(frame).svg
        source, target, *_ = frame.way
        assert f'data-arrow="{move} {source} {target}"' in svg
        assert f">{word} " in svg
        assert "gv-taken" in svg


def test_a_deep_stack_is_cut_below():
    figure = draw_stack_frame(replace(FRAMES[0], stack=(2,) * 10_000))
    assert figure.svg.count('data-arrow="card ') == MOST_FILM_CARDS - 1
    assert "9,991 more" in figure.svg
    assert figure.text.endswith("… 9,991 more")


def test_each_frame_of_a_deep_film_shows_its_cards_one_below_the_other():
    [drawing], packed = build_stack_film(stack_frames(NESTED, "(" * 6 + "x" + ")" * 6))
    drawn = {n.get("data-arrow"): n for n in ET.fromstring(str(drawing)).iter() if n.get("data-arrow")}
    for frame in packed:
        shown = frame["arrows"]
        cards = [drawn[key] for key in shown if key.startswith(("card", "top"))]
        heights = [float(card[0].get("transform").split()[-1].rstrip(")")) for card in cards]
        assert len(cards) <= MOST_FILM_CARDS
        assert [low - high for low, high in pairwise(heights)] == pytest.approx([46] * (len(cards) - 1))
