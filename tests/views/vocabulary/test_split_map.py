"""The split in pictures: the three colours are the split's answers cell by cell, and the table its counts."""

import base64
import re
import xml.etree.ElementTree as ET
from html import unescape

import pytest

import guidedviz as gv
from guidedviz.errors import shorten
from guidedviz.machines.machine import read
from guidedviz.views.vocabulary.atlas import atlas
from guidedviz.views.vocabulary.map import split_kinds, write_map
from guidedviz.views.vocabulary.tables import split_rows
from tests.views.vocabulary.test_map import read_png

GRAMMAR = 'root ::= "(" root ")" | "[" root "]" | "x"'
PIECES = [b"(", b")", b"x", b"x)", b"[x])", b"]", b"x)]", b"x))", b"</s>"]
TOY = gv.Vocabulary(PIECES, eos={8})


@pytest.fixture(scope="module")
def nested():
    return gv.build_split(gv.grammar(GRAMMAR), TOY)


def draw_after(split, text):
    """The map as a stage shows it after a text."""
    made = atlas(split.vocabulary)
    return str(write_map(made, split_kinds(split, made, read(split.pda, text)), "", 920.0)[0])


def stencils(split, drawn):
    """The tokens of each colour, as they are painted."""
    made = atlas(split.vocabulary)
    found = re.findall(r"image/png;base64,([^\"]+)", drawn)
    pictures = [read_png(base64.b64decode(data)) for data in found]
    return [set(made.vocabulary.order[picture[made.cells[:, 1], made.cells[:, 0]]].tolist()) for picture in pictures]


def test_at_a_node_the_three_colours_are_what_it_knows(nested):
    yes, no, ask = stencils(nested, gv.draw_split(nested, 0).svg)
    assert {TOY.pieces[t] for t in yes} == {b"(", b"x"}
    asking = {TOY.pieces[t] for t in ask}
    assert asking == {b"x)", b"[x])", b"x)]", b"x))"}
    assert sorted([*yes, *no, *ask]) == list(range(len(TOY)))


def test_after_a_text_the_askers_wear_what_the_stack_said(nested):
    text = b"[("
    yes, no, legal, illegal = stencils(nested, draw_after(nested, text))
    state = read(nested.pda, text)
    assert yes | legal == {t for t in TOY.text_ids if read(nested.pda, TOY.pieces[t], state) is not None}
    assert {TOY.pieces[t] for t in legal} == {b"x)]"}
    assert {TOY.pieces[t] for t in illegal} == {b"x))"}
    assert sorted([*yes, *no, *legal, *illegal]) == list(range(len(TOY)))


def test_colour_is_not_alone_askers_have_a_line_around_them_and_a_count(nested):
    node = gv.draw_split(nested, 0).svg
    state = draw_after(nested, b"[(")
    assert "context-dependent 4" in node
    assert node.count("gv-outline") == 2  # the line and its seam
    assert "context-dependent, legal 1" in state
    assert "context-dependent, illegal 1" in state
    assert state.count('stroke-dasharray="3 2"') == 1  # in the legend
    assert len(re.findall('gv-outline"[^>]*stroke-dasharray', state)) == 1  # on the map
    assert "gv-outline" not in gv.draw_split(nested, 4).svg, "nobody asks there"


def test_the_table_says_each_row_and_the_total_in_the_drawing_and_in_words():
    pieces = [bytes([b]) for b in range(256)]
    vocabulary = gv.Vocabulary([*pieces, b'"}', b'": ', b"}}"])
    split = gv.build_split(gv.json(), vocabulary)
    figure = gv.views.draw_split_nodes(split)
    shown = [e.text for e in ET.fromstring(figure.svg).iter() if e.tag.endswith("text")]
    for lines in (shown, figure.text.splitlines()):
        assert f"{split.nbytes:,} bytes kept" in "\n".join(lines)
        named = {line.split()[0] for line in lines if line.split()}
        for row in split_rows(split):
            assert f"n{row[0].node}" in named


def test_on_a_large_map_the_context_dependent_tokens_are_enlarged_with_their_texts(clerk):
    split = gv.build_split(gv.json(), clerk.vocabulary, inline=False, expand=False)
    (node,) = split.pda.places(read(split.pda, b'"'))
    svg = gv.draw_split(split, node).svg
    texts = re.findall(r"<text [^>]*>([^<]*)</text>", svg)
    shown = list(map(unescape, texts))
    assert "enlarged: 15 of the 15 outlined cells, each with the text of its token" in shown
    assert {shorten(split.vocabulary.display(token), 11) for token in split.node(node).dependent} <= set(shown)
