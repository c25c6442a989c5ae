"""Claims about the bodies of the protocol: what is packed is read again, and anything else is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from guidedviz.errors import GuidedVizError, SettingError
from guidedviz.models import frames
from guidedviz.models.frames import Ask, pack_ask, pack_rows, pack_vocabulary, read_ask, read_vocabulary, unpack_rows
from guidedviz.tokens.vocabulary import Vocabulary

LOGITS = arrays(np.float32, (2, 9), elements=st.floats(-100, 100, width=32))


@given(st.lists(st.integers(0, 2**31 - 1), max_size=20), st.integers(-1, 9))
def test_a_request_is_read_as_it_was_packed(tokens, start):
    ask = Ask(tuple(tokens), start)
    assert read_ask(pack_ask(ask)) == ask


@given(LOGITS)
def test_a_logit_is_rounded_by_at_most_a_2048th_of_its_distance_to_the_largest(logits):
    body = pack_rows(logits)
    assert len(body) == frames.rows_bytes(2, 9)
    largest = logits.max(axis=1, keepdims=True)
    near = (largest - logits) / 2048 + 2e-5  # and by the 32 bits of the sum
    assert (abs(unpack_rows(body, 2, 9) - logits) <= near).all()


def test_values_out_of_range_stay_finite_and_infinite_ones_stay_infinite():
    logits = np.array([[0.0, -1e9, -np.inf], [-np.inf] * 3], np.float32)
    found = unpack_rows(pack_rows(logits), 2, 3)
    assert found.tolist() == [[0.0, -65504.0, -np.inf], [-np.inf] * 3]


@pytest.mark.parametrize("read", [read_ask, read_vocabulary, lambda body: unpack_rows(body, 1, 3)])
@given(body=st.binary(max_size=60))
def test_other_bodies_are_refused_by_an_error_of_ours(read, body):
    for one in (body, b"GVQ2" + body + b"x"):
        with pytest.raises(GuidedVizError):
            read(one)


WORDS = pack_vocabulary(Vocabulary([b"a", b"bc"], eos={1}))


@pytest.mark.parametrize(
    "body", [WORDS[:-1], WORDS + b"x", WORDS[:4] + b"\xff" * 4 + WORDS[8:], WORDS[:8] + b"\xff" * 4 + WORDS[12:]]
)
def test_counts_that_do_not_fit_a_vocabulary_are_refused(body):
    with pytest.raises(GuidedVizError):
        read_vocabulary(body)


@pytest.mark.parametrize(("count", "size"), [(1, 3), (2, 4)])
def test_counts_that_do_not_fit_the_rows_are_refused(count, size):
    rows = pack_rows(np.zeros((2, 3), np.float32))
    with pytest.raises(SettingError):
        unpack_rows(rows, count, size)


def test_ids_beyond_the_vocabulary_are_refused():
    with pytest.raises(SettingError, match="ids from 9 to 9"):
        frames.read_ids(b"\x09\0\0\0", size=4)


def test_a_vocabulary_is_read_as_it_was_packed(clerk, bard):
    for model in (clerk, bard):
        assert read_vocabulary(pack_vocabulary(model.vocabulary)) == model.vocabulary
