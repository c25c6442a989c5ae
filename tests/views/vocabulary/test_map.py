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
from guidedviz.views.vocabulary.atlas import Atlas, atlas, curve, kind, size_for

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
    special = {t for t in special if t < len(listed)}
    made = atlas(gv.Vocabulary(listed, special=special))
    order = made.vocabulary.order
    assert sorted(order.tolist()) == list(range(len(listed)))
    assert (order[made.vocabulary.rank] == np.arange(len(listed))).all()
    tokens = order[: len(made.vocabulary.text_ids)]
    text = [made.vocabulary.pieces[t] for t in tokens]
    assert text == sorted(text)
    starts = [place.start for place in made.regions]
    stops = [place.stop for place in made.regions]
    assert starts[1:] == stops[:-1]
    assert (starts[0], stops[-1]) == (0, len(listed))


def walk_moves(made: Atlas) -> list[tuple[int, int]]:
    """The cells as the page finds them."""
    bits = np.unpackbits(np.frombuffer(made.moves, np.uint8), bitorder="little")
    x = 0
    y = 0
    way = [(0, 0)]
    count = made.width * made.height - 1
    for low, high in bits[: 2 * count].reshape(-1, 2).tolist():
        across, down = ((1, 0), (0, 1), (-1, 0), (0, -1))[low + 2 * high]
        x += across
        y += down
        way.append((x, y))
    return way


def test_the_moves_that_travel_are_the_curve(llama3):
    for vocabulary in (TOY, llama3):
        made = atlas(vocabulary)
        cells = [tuple(cell) for cell in made.cells.tolist()]
        assert walk_moves(made)[: len(made)] == cells


def read_png(data: bytes) -> np.ndarray:
    """A reader that knows only what the PNG standard says of one-bit pictures."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height, depth, colour = struct.unpack(">IIBB", data[16:26])
    assert (depth, colour) == (1, 0)
    place, packed = 8, b""
    while place < len(data):
        long, name = struct.unpack(">I4s", data[place : place + 8])
        end = place + 8 + long
        (checksum,) = struct.unpack(">I", data[end : end + 4])
        assert zlib.crc32(data[place + 4 : end]) == checksum
        packed += data[place + 8 : end] if name == b"IDAT" else b""
        place += long + 12
    rows = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, -1)
    assert (rows[:, 0] == 0).all()
    return np.unpackbits(rows[:, 1:], axis=1, count=width).astype(bool)


def stencils(figure: gv.Figure) -> list[np.ndarray]:
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
    guide = gv.guide(gv.regex("true|false"), llama3)
    mask = guide.mask(guide.initial)
    assert gv.draw_map(guide).svg.count("<circle") == mask.sum() < 20
    guide = gv.guide(gv.regex("[0-9]+"), llama3)
    assert "<circle" not in gv.draw_map(guide).svg


def test_a_place_is_named_by_what_its_tokens_begin_with(llama3):
    made = atlas(llama3)
    digits = next(place for place in made.regions if place.name == "0–9")
    tokens = made.vocabulary.order[digits.start : digits.stop]
    inside = [llama3.pieces[t] for t in tokens]
    assert len(inside) == 1110
    assert all(piece[:1].isdigit() for piece in inside)
    for place in made.regions:
        tokens = made.vocabulary.order[place.start : place.stop]
        kinds = [kind(llama3.pieces[t]) for t in tokens]
        assert place.name == "no text" or kinds.count(place.name) > len(kinds) / 2, place
    assert made.regions[-1].name == "no text"
    last = made.regions[-1]
    assert last.stop - last.start == 256
