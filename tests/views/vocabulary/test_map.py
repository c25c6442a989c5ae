"""The map of a vocabulary: a cell a token, neighbours in byte order are neighbours, and the picture is the mask."""

import base64
import re
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.views.vocabulary.atlas import atlas, curve, kind, size_for

HOSTILE = [b"<script>alert(1)</script>", b'"onload="x', b"]]>", b"&amp;", b"\x00\x1b\xff", "\u202e\u200b".encode()]
HOSTILE += [b"", b"\n", b" a", b"a", b"7", b"42", b"</s>"]
TOY = gv.Vocabulary(HOSTILE, eos={12})
pieces = st.lists(st.binary(max_size=5), min_size=1, max_size=300)


@pytest.mark.parametrize("count", [1, 2, 3, 65, 4096, 128256])
def test_the_curve_visits_every_cell_once_and_steps_to_a_neighbour(count):
    width, height = size_for(count)
    assert count <= width * height
    assert width * height - count <= 2 * height, "no more than two columns stay empty"
    places = curve(width, height)
    cells = {(x, y) for x, y in places.tolist()}
    assert len(cells) == width * height == len(places)
    moves = np.abs(np.diff(places, axis=0)).sum(1)
    assert (moves == 1).all()


@given(pieces, st.sets(st.integers(0, 20)))
def test_every_token_has_one_place_in_byte_order_and_no_text_comes_last(listed, special):
    known = {t for t in special if t < len(listed)}
    vocabulary = gv.Vocabulary(listed, special=known)
    order = vocabulary.order
    assert sorted(order.tolist()) == list(range(len(listed)))
    assert (order[vocabulary.rank] == np.arange(len(listed))).all()
    with_text = order[: len(vocabulary.text_ids)]
    text = [listed[t] for t in with_text]
    assert text == sorted(text)
    regions = atlas(vocabulary).regions
    assert [0, *(place.stop for place in regions)] == [*(place.start for place in regions), len(listed)]


def walk_moves(made):
    """The cells as the page finds them."""
    bits = np.unpackbits(np.frombuffer(made.moves, np.uint8), bitorder="little")
    pairs = bits[: 2 * (made.width * made.height - 1)].reshape(-1, 2)
    ways = np.array([(1, 0), (0, 1), (-1, 0), (0, -1)])[pairs @ (1, 2)]
    places = ways.cumsum(axis=0).tolist()
    return [(0, 0), *map(tuple, places)]


def test_the_moves_that_travel_are_the_curve(llama3):
    for vocabulary in (TOY, llama3):
        made = atlas(vocabulary)
        cells = [tuple(cell) for cell in made.cells.tolist()]
        assert walk_moves(made)[: len(made)] == cells


def read_png(data):
    """A reader that knows only what the PNG standard says of one-bit pictures."""
    header = data[16:26]
    width, height, depth, colour = struct.unpack(">IIBB", header)
    assert (data[:8], depth, colour) == (b"\x89PNG\r\n\x1a\n", 1, 0)
    place = data.index(b"IDAT")
    length = int.from_bytes(data[place - 4 : place])
    end = place + 4 + length
    assert zlib.crc32(data[place:end]) == int.from_bytes(data[end : end + 4])
    rows = np.frombuffer(zlib.decompress(data[place + 4 : end]), np.uint8).reshape(height, -1)
    assert (rows[:, 0] == 0).all()
    pixels = np.unpackbits(rows[:, 1:], axis=1, count=width)
    return pixels.astype(bool)


def stencils(figure):
    found = re.findall(r"image/png;base64,([^\"]+)", figure.svg)
    return [read_png(base64.b64decode(data)) for data in found]


def test_the_picture_is_the_mask_cell_by_cell(llama3):
    guide = gv.guide(gv.regex(r'"([^"\\\x00-\x1f]|\\["\\/bfnrt])*"'), llama3)
    made = atlas(llama3)
    mask = guide.mask(1)
    figure = gv.draw_map(guide, 1)
    legal, illegal = stencils(figure)
    x, y = made.cells.T
    assert (legal[y, x] == mask[made.vocabulary.order]).all()
    assert legal.sum() == mask.sum()
    assert illegal.sum() == (~mask).sum()
    assert figure.text.startswith(f"Vocabulary map, q1: {mask.sum():,} of 128,256 tokens legal (")
    assert len(figure.svg) < 40_000, "128k tokens in a picture that a notebook can hold"


def test_a_few_legal_tokens_among_128k_get_a_dot_each(llama3):
    words, digits = (gv.guide(gv.regex(text), llama3) for text in ("true|false", "[0-9]+"))
    assert gv.draw_map(words).svg.count("<circle") == words.mask(words.initial).sum() < 20
    assert "<circle" not in gv.draw_map(digits).svg


def test_a_place_is_named_by_what_its_tokens_begin_with(llama3):
    made = atlas(llama3)
    sizes = {place.name: place.stop - place.start for place in made.regions}
    assert (sizes["0–9"], sizes["no text"]) == (1110, 256)
    for place in made.regions:
        kinds = [kind(llama3.pieces[t]) for t in made.vocabulary.order[place.start : place.stop]]
        assert place.name == "no text" or kinds.count(place.name) > len(kinds) / 2, place
    assert made.regions[-1].name == "no text"
