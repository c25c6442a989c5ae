"""Small things that many tests need: all single bytes and short texts, what a mask allows, a limit of time."""

import json
import time
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

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


def read_cases(test: str, name: str) -> list[Any]:
    """The cases in a file of JSON that lies beside a test."""
    return json.loads(Path(test).with_name(name).read_text(encoding="utf-8"))


def assert_reads(machine: Any, good: Iterable[str | bytes], bad: Iterable[str | bytes] = ()) -> None:
    """The machine accepts the good texts and none of the bad ones."""
    for texts, legal in ((good, True), (bad, False)):
        for text in texts:
            data = text if isinstance(text, bytes) else text.encode()
            assert machine.accepts(data) == legal, text


def assert_mask_is_told(guide: Any, state: Hashable) -> None:
    """A token of the mask is one with which the guide advances, and one that it explains as legal."""
    for token, legal in enumerate(guide.mask(state).tolist()):
        assert guide.explain(state, token).legal == legal, token
        with nullcontext() if legal else pytest.raises(gv.IllegalToken):
            guide.advance(state, token)


def choose_tokens(guide: Any, random: Random, steps: int, drawn: int = 1) -> list[int]:
    """Up to so many legal tokens in a row, no EOS among them; each is the longest of so many that are drawn."""
    tokens: list[int] = []
    state = guide.initial
    for _ in range(steps):
        legal = [token for token in legal_tokens(guide, state) if token not in guide.vocabulary.eos]
        if not legal:
            break
        some = random.choices(legal, k=drawn)
        tokens.append(max(some, key=lambda token: len(guide.vocabulary.pieces[token])))
        state = guide.advance(state, tokens[-1])
    return tokens


def assert_alike(one: Any, other: Any, tokens: Iterable[int]) -> None:
    """Two guides allow and force the same before each of the tokens and after them."""
    state = one.initial
    same = other.initial
    for token in [*tokens, None]:
        assert np.array_equal(one.mask(state), other.mask(same)), token
        assert one.forced(state) == other.forced(same), token
        assert one.is_accepting(state) == other.is_accepting(same), token
        if token is not None:
            state = one.advance(state, token)
            same = other.advance(same, token)


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
