"""Why the mask of a framework for a schema differs from ours: the schema is relaxed step by step until a token fits."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any

import numpy as np

from guidedviz.machines.machine import Machine
from guidedviz.machines.pushdown.pda import json
from guidedviz.machines.schema.json_schema import json_schema
from guidedviz.serving.front_end import rewrite
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.guide import Guide
from guidedviz.tokens.vocabulary import Vocabulary

BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")


@dataclass(frozen=True)
class Difference:
    """Tokens that one side allows and the other does not, for one reason."""

    reason: str
    extra: bool  # the framework allows them
    steps: tuple[int, ...]  # the steps at which this happens
    tokens: int  # in all steps together
    example: str  # the first of them


@dataclass
class Relaxed:
    """A schema, and machines that allow more and more."""

    schema: dict[str, Any]
    looser: dict[str, Machine] = field(init=False)
    stricter: dict[str, Machine] = field(init=False)

    def __post_init__(self) -> None:
        free = rewrite(self.schema, lambda part: {key: value for key, value in part.items() if key not in BOUNDS})
        mixed, loose = rewrite(free, _any_order), rewrite(free, _any_number)
        self.looser = {
            "white space": json_schema(self.schema, whitespace="any"),
            "numbers out of bounds": json_schema(free, whitespace="any"),
            "keys in another order": json_schema(mixed, whitespace="any"),
            "other keys": json_schema(mixed, whitespace="any", extra_keys="open"),
            "integers with an exponent": json_schema(rewrite(loose, _any_order), whitespace="any", extra_keys="open"),
        }
        self.stricter = {"white space": json_schema(self.schema, whitespace="one")}

    def why_extra(self, text: bytes, piece: bytes) -> str:
        """The first relaxation that allows the token."""
        for name, machine in self.looser.items():
            if machine.accepts_prefix(text + piece):
                return name
        if not _may_be_utf8(text + piece):
            return "not UTF-8"
        return "JSON in another way" if json().accepts_prefix(text + piece) else "not JSON"

    def why_missing(self, text: bytes, piece: bytes, allowed: int) -> str:
        """Why a framework may leave the token out."""
        for name, machine in self.stricter.items():
            if not machine.accepts_prefix(text + piece):
                return name
        if allowed == 1:
            return "forced run: one token"
        if b"\x7f" in piece:
            return "the character DEL"
        return "JSON in fewer ways" if _may_be_utf8(piece) else "parts of characters"


def _any_order(part: dict[str, Any]) -> dict[str, Any]:
    if part.get("type") != "object" or "properties" not in part:
        return part
    orders = [dict(each) for each in permutations(part["properties"].items())]
    rest = {key: value for key, value in part.items() if key not in ("$defs", "properties")}
    shared = {"$defs": part["$defs"]} if "$defs" in part else {}
    return shared | {"anyOf": [rest | {"properties": each} for each in orders]}


def _any_number(part: dict[str, Any]) -> dict[str, Any]:
    return part | {"type": "number"} if part.get("type") == "integer" else part


def _may_be_utf8(data: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:
        return False
    return True


def compare_masks(guide: Guide, relaxed: Relaxed, tokens: Sequence[int], masks: Sequence[Mask]) -> list[Difference]:
    """The differences along a text, grouped by reason, those of the most steps first."""
    found: dict[tuple[str, bool], list[tuple[int, int]]] = {}
    state, text = guide.initial, b""
    for step, (token, theirs) in enumerate(zip(tokens, masks, strict=True)):
        for reason, extra, other in _differ(guide.vocabulary, relaxed, text, guide.mask(state), theirs):
            found.setdefault((reason, extra), []).append((step, other))
        state, text = guide.advance(state, token), text + guide.vocabulary.pieces[token]
    rows = [
        Difference(
            reason,
            extra,
            tuple(sorted({step for step, _ in each})),
            len(each),
            f"step {each[0][0]}: {guide.vocabulary.display(each[0][1])}",
        )
        for (reason, extra), each in found.items()
    ]
    return sorted(rows, key=lambda row: -len(row.steps))


def _differ(
    vocabulary: Vocabulary, relaxed: Relaxed, text: bytes, ours: Mask, theirs: Mask
) -> Iterator[tuple[str, bool, int]]:
    """The tokens of one step on which the masks differ, each with its reason."""
    allowed = int(theirs.sum())
    for token in np.flatnonzero(ours != theirs).tolist():
        extra = bool(theirs[token])
        if not vocabulary.is_text(token):
            reason = "the end"
        elif extra:
            reason = relaxed.why_extra(text, vocabulary.pieces[token])
        else:
            reason = relaxed.why_missing(text, vocabulary.pieces[token], allowed)
        yield reason, extra, token
