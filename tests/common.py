"""Small things that many tests need: all single bytes and short texts, what a mask allows, a limit of time."""

import time
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any

import numpy as np

import guidedviz as gv
from guidedviz.tokens.guide import Guide
from guidedviz.tokens.vocabulary import Vocabulary

BYTES = [bytes([byte]) for byte in range(256)]
FIELDS = {"name": {"type": "string"}, "age": {"type": "integer"}}
PERSON = {"type": "object", "properties": FIELDS, "required": list(FIELDS)}


def texts_up_to(letters: Any, longest: int) -> Iterator[str]:
    """All texts of at most so many letters, the short ones first."""
    for length in range(longest + 1):
        yield from map("".join, product(letters, repeat=length))


def legal_tokens(guide: Guide, state: Hashable) -> list[int]:
    return np.flatnonzero(guide.mask(state)).tolist()


def assert_reads(machine: Any, good: Iterable[str], bad: Iterable[str] = ()) -> None:
    """The machine accepts the good texts and none of the bad ones."""
    for text in good:
        assert machine.accepts(text.encode()), text
    for text in bad:
        assert not machine.accepts(text.encode()), text


def bytes_of(vocabulary: Vocabulary, tokens: Iterable[int]) -> bytes:
    """The bytes of tokens in a row; an EOS has none."""
    return b"".join(vocabulary.pieces[token] for token in tokens if token not in vocabulary.eos)


def regex_guide(model: Any, pattern: str) -> Guide:
    return gv.guide(gv.regex(pattern), model.vocabulary)


@contextmanager
def in_time(seconds: float) -> Iterator[None]:
    """What is done inside takes less processor time."""
    began = time.process_time()
    yield
    spent = time.process_time() - began
    assert spent < seconds, f"it took {spent:.1f} s"


def constant_model(pieces: list[bytes], logits: Any, *ends: Any, **settings: Any) -> gv.ToyModel:
    """A toy model that gives the same logits after every text."""
    return gv.ToyModel(pieces, lambda tokens: logits, *ends, **settings)


def with_end(pieces: list[bytes]) -> Vocabulary:
    """A vocabulary of these pieces, and an EOS after them."""
    return Vocabulary([*pieces, b"</s>"], eos={len(pieces)})
