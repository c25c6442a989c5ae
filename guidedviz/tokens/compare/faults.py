"""The reason why a real engine's mask differs from the machine in one token: the first match in a list.

Every fault here was observed by running the engine; `python -m guidedviz.bench differences` checks them again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from guidedviz.machines.forced import forced_bytes
from guidedviz.machines.grammars.lint import lint
from guidedviz.machines.machine import read
from guidedviz.machines.pushdown.json_grammar import json
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.engines.constraint import Asked, Matcher
from guidedviz.tokens.explain import token_path
from guidedviz.tokens.vocabulary import Vocabulary


@dataclass(frozen=True)
class Position:
    """A position of a text in our machine and in an engine."""

    engine: str
    asked: Asked
    vocabulary: Vocabulary
    text: bytes  # the text so far
    state: Hashable  # the machine's state
    matcher: Matcher
    allowed: int  # tokens in the engine's mask
    may_ask: bool  # whether tokens may be passed one by one to its accept function
    written_out: Callable[[], Mask | None]  # its mask here if it gets the machine instead of a text; None if it fails

    @cached_property
    def accepting(self) -> bool:
        """Whether the text may end here."""
        return bool(self.asked.machine.is_accepting(self.state))

    @property
    def is_schema(self) -> bool:
        """Whether the engine compiled a schema itself, so that it may use its own JSON format."""
        return self.asked.kind == "schema"

    @property
    def one_eos(self) -> bool:
        """outlines-core supports a single EOS id."""
        return self.engine == "outlines-core"

    @property
    def forces(self) -> bool:
        """Whether the engine reduces the masks of forced runs to one token, and this mask has one token."""
        return self.engine.endswith("forcing") and self.allowed == 1

    @cached_property
    def forced(self) -> bytes:
        """The forced bytes after this position."""
        return forced_bytes(self.asked.machine, self.state)

    @cached_property
    def never_ends(self) -> bool:
        """Whether a rule of the grammar can never finish."""
        grammar = self.asked.kind == "grammar"
        return grammar and any(found.kind == "unproductive" for found in lint(self.asked.text))

    @property
    def long_hex(self) -> bool:
        """Whether the grammar has a digit after \\xHH, and the engine reads it as part of the escape."""
        text = self.asked.text if self.engine.startswith("xgrammar") and self.asked.kind == "grammar" else ""
        return bool(re.search(r"\\x[0-9A-Fa-f]{3}", text))

    @cached_property
    def exact(self) -> Mask | None:
        """The engine's mask if it gets the exact machine instead of a regex."""
        return self.written_out() if self.asked.kind == "regex" else None

    @cached_property
    def json_state(self) -> Any:
        """The state of a JSON machine after the text; None if the machine rejects the text."""
        return read(json(), self.text)


@dataclass(frozen=True)
class Doubt:
    """A token on which the masks differ: only the engine allows it (`extra`), or only our mask allows it."""

    place: Position
    token: int
    extra: bool

    @property
    def piece(self) -> bytes:
        """Its bytes."""
        return self.place.vocabulary.pieces[self.token]

    @property
    def special(self) -> bool:
        """Whether the token has no text, such as EOS or a special token."""
        return not self.place.vocabulary.is_text(self.token)

    @cached_property
    def after(self) -> Hashable | None:
        """The state after its bytes, read one by one; None if the machine rejects one of them."""
        return None if self.special else read(self.place.asked.machine, self.piece, self.place.state)

    @property
    def legal(self) -> bool:
        """Whether the token is legal, tested without trie or cache."""
        return self.place.accepting if self.token in self.place.vocabulary.eos else self.after is not None

    @property
    def died_on(self) -> bytes:
        """The text and the token, up to and including the byte that the machine rejects."""
        place = self.place
        passed = len(token_path(place.asked.machine, place.vocabulary, place.state, self.token)) - 1
        return place.text + self.piece[: passed + 1]

    @property
    def accepted(self) -> bool:
        """Whether the engine's accept function accepts the token, regardless of its mask."""
        return self.place.may_ask and self.place.matcher.copy().take(self.token)


def is_surrogate(data: bytes) -> bool:
    """Whether these bytes end in the beginning of an encoded surrogate, which UTF-8 forbids.

    >>> is_surrogate(b"a\\xed\\xa0"), is_surrogate(b"\\xed\\x9f")
    (True, False)
    """
    return len(data) > 1 and data[-2] == 0xED and data[-1] >= 0xA0


def _leaves_an_end(doubt: Doubt) -> bool:
    """Whether the text may end before the token's last byte and not after it."""
    place = doubt.place
    path = token_path(place.asked.machine, place.vocabulary, place.state, doubt.token)
    ends = [place.asked.machine.is_accepting(state) for state in path[-2:]]
    return place.engine == "outlines-core" and ends == [True, False]


def _first_alternative(doubt: Doubt) -> bool:
    """Whether the engine's regex has an alternative or a lazy quantifier."""
    return doubt.place.engine == "outlines-core" and bool(re.search(r"\||[*+?}]\?", doubt.place.asked.regex))


def _is_forced(doubt: Doubt) -> bool:
    """Whether the continuation is forced, by the machine or by the engine's own compilation of a schema."""
    return doubt.place.forces and (bool(doubt.place.forced) or doubt.accepted)


def _reads_otherwise(doubt: Doubt) -> bool:
    exact = doubt.place.exact
    return exact is not None and bool(exact[doubt.token]) == doubt.legal


def _reads_unicode(doubt: Doubt) -> bool:
    classes = re.search(r"\\[dws]", doubt.place.asked.text, re.IGNORECASE)
    return bool(classes) and not doubt.piece.isascii() and _reads_otherwise(doubt)


def _newline_for_dot(doubt: Doubt) -> bool:
    return doubt.place.asked.kind == "regex" and doubt.died_on.endswith(b"\n") and "." in doubt.place.asked.text


def _still_json(doubt: Doubt) -> bool:
    state = doubt.place.json_state
    return not doubt.special and state is not None and read(json(), doubt.piece, state) is not None


Reason = tuple[str, str, Callable[[Doubt], bool]]
UNICODE: Reason = ("lawful choice", "reads \\d, \\w and \\s as Unicode", _reads_unicode)
OTHERWISE: Reason = ("lawful choice", "reads the regex in another way than Python", _reads_otherwise)
LONG_HEX: Reason = ("known fault", "reads more than two digits after \\x", lambda doubt: doubt.place.long_hex)
WRONG: tuple[Reason, ...] = (("ours", "the machine says so", lambda doubt: doubt.legal == doubt.extra),)
EXTRA: tuple[Reason, ...] = (
    ("known fault", "takes special ids for text", lambda doubt: doubt.token in doubt.place.vocabulary.special),
    ("known fault", "takes surrogates, which UTF-8 has not", lambda doubt: is_surrogate(doubt.died_on)),
    ("known fault", "takes a newline for .", _newline_for_dot),
    LONG_HEX,
    ("known fault", "enters a rule that can never finish", lambda doubt: doubt.place.never_ends),
    ("lawful choice", "JSON written in more ways", lambda doubt: doubt.place.is_schema and _still_json(doubt)),
    UNICODE,
    OTHERWISE,
)
MISSING: tuple[Reason, ...] = (
    ("forced only", "the canonical token of a forced run", _is_forced),
    LONG_HEX,
    ("known fault", "its mask omits what its accept takes", lambda doubt: doubt.accepted),
    (
        "known fault",
        "knows one EOS id",
        lambda doubt: doubt.place.one_eos and doubt.token in doubt.place.vocabulary.eos,
    ),
    ("known fault", "drops a token that leaves an end with its last byte", _leaves_an_end),
    ("lawful choice", "JSON written in fewer ways", lambda doubt: doubt.place.is_schema),
    UNICODE,
    ("known fault", "takes the first alternative that fits", _first_alternative),
    OTHERWISE,
)
UNKNOWN = ("not known", "seen for the first time")


def find_reason(doubt: Doubt) -> tuple[str, str]:
    """The kind and the name of a difference."""
    reasons = WRONG + (EXTRA if doubt.extra else MISSING)
    return next(((kind, name) for kind, name, fits in reasons if fits(doubt)), UNKNOWN)
