"""A real engine as a guide. A state contains the tokens so far, so old states stay valid; matchers are copied for them.

The engine computes the mask and `advance`, even if they are wrong. Our machine reads the same tokens and provides the
explanations, the states and the stack.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from threading import RLock
from typing import Any

from guidedviz.errors import IllegalToken
from guidedviz.machines.forced import forced_bytes
from guidedviz.machines.machine import Machine, read
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.engines import llguidance, outlines_core, xgrammar
from guidedviz.tokens.engines.constraint import Asked, Compile, Matcher, ask
from guidedviz.tokens.explain import Explanation, explain_token, foreign_state, illegal_token, token_path
from guidedviz.tokens.vocabulary import Vocabulary

PREPARE: dict[str, Callable[[Vocabulary], Compile]] = {
    "xgrammar": xgrammar.prepare,
    "llguidance": llguidance.prepare,
    "outlines-core": outlines_core.prepare,
}
VARIANTS: dict[str, Callable[[Vocabulary], Compile]] = {  # the same engines with their defaults
    "llguidance, forcing": partial(llguidance.prepare, forcing=True),
    "xgrammar, special text": partial(xgrammar.prepare, special_text=True),
}
KEPT = 64  # matchers
ONE = RLock()  # the matchers of a vocabulary share a buffer, and a page may call them from several threads


@lru_cache(maxsize=10)
def prepared(name: str, vocabulary: Vocabulary) -> Compile:
    """An engine prepared for a vocabulary; it is cached."""
    return (PREPARE | VARIANTS)[name](vocabulary)


def real_guide(name: str, machine: Machine[Any], vocabulary: Vocabulary) -> RealGuide:
    """A guide whose masks are those of a real engine."""
    return RealGuide(name, ask(machine), vocabulary)


@dataclass(frozen=True)
class RealState:
    """The tokens so far and the machine's state; None if the engine allowed a token that the machine rejects."""

    tokens: tuple[int, ...]
    at: Hashable = field(compare=False)


class RealGuide:
    """The masks of a real engine, and the explanations of the machine."""

    def __init__(self, name: str, asked: Asked, vocabulary: Vocabulary) -> None:
        self.name, self.machine, self.vocabulary = name, asked.machine, vocabulary
        first = prepared(name, vocabulary)(asked)
        self._first, self._kept = first, OrderedDict[tuple[int, ...], Matcher]()

    def __repr__(self) -> str:
        return f"guide({self.machine!r}, {self.vocabulary!r}, {self.name!r})"

    @property
    def initial(self) -> RealState:
        """The state before the first token."""
        return RealState((), self.machine.initial)

    def _own(self, state: object) -> RealState:
        if not isinstance(state, RealState):
            raise foreign_state(self, state)
        return state

    def mask(self, state: RealState) -> Mask:
        """True for every id that the engine allows; read-only."""
        with ONE:
            return self.matcher(self._own(state).tokens).mask()

    def matcher(self, tokens: tuple[int, ...]) -> Matcher:
        """A matcher that has read these tokens. It must not be advanced, and it must not be used from two threads."""
        known = next((end for end in range(len(tokens), 0, -1) if tokens[:end] in self._kept), 0)
        for end in range(known, len(tokens)):
            after = self._matcher_at(tokens[:end]).copy()
            if not after.take(tokens[end]):
                said = f"{self.name} refuses token {tokens[end]} {self.vocabulary.display(tokens[end])!r}"
                raise IllegalToken(f"{said}, which its own mask allows")
            self._kept[tokens[: end + 1]] = after
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return self._matcher_at(tokens)

    def _matcher_at(self, tokens: tuple[int, ...]) -> Matcher:
        if not tokens:
            return self._first
        self._kept.move_to_end(tokens)
        return self._kept[tokens]

    def advance(self, state: RealState, token: int) -> RealState:
        """The state after a token that the engine allows. EOS has no bytes, so it does not change the state."""
        token = self.vocabulary.as_id(token)
        if not self.mask(state)[token]:
            raise illegal_token(self.vocabulary, self.explain(state, token))
        if token in self.vocabulary.eos:
            return state
        with ONE:
            self.matcher((*state.tokens, token))
        return RealState((*state.tokens, token), self._read(state, token))

    def _read(self, state: RealState, token: int) -> Hashable | None:
        text = state.at is not None and self.vocabulary.is_text(token)
        return read(self.machine, self.vocabulary.pieces[token], state.at) if text else None

    def is_accepting(self, state: RealState) -> bool:
        """Whether the engine allows the text to end here."""
        with ONE:
            return self.matcher(self._own(state).tokens).may_end()

    def forced(self, state: RealState) -> bytes:
        """The bytes that the machine forces next; xgrammar's own function is not used, as it can hang."""
        at = self._own(state).at
        return b"" if at is None else forced_bytes(self.machine, at)

    def path(self, state: RealState, token: int) -> tuple[Hashable, ...]:
        """The machine's states inside a token."""
        at = self._own(state).at
        return () if at is None else token_path(self.machine, self.vocabulary, at, token)

    def explain(self, state: RealState, token: int) -> Explanation:
        """Why the machine accepts or rejects the token, and the engine's answer if it differs."""
        token = self.vocabulary.as_id(token)
        legal = bool(self.mask(state)[token])
        verb = "allows" if legal else "forbids"
        if state.at is None:
            reason = f"{self.name} {verb} it, in a text that the machine refuses"
            return Explanation(
                token, self.vocabulary.pieces[token], legal, None, "nothing", (self.label(state),), (), reason
            )
        why = explain_token(self.machine, self.vocabulary, state.at, token)
        if why.legal == legal:
            return why
        return replace(why, legal=legal, reason=f"{self.name} {verb} it, against the machine: {why.reason}")

    def label(self, state: Any) -> str:
        """A readable name of the state."""
        at = state.at if isinstance(state, RealState) else state
        return "no state of the machine" if at is None else self.machine.describe(at)

    def stack(self, state: RealState) -> tuple[str, ...]:
        """The machine's open rules, innermost first."""
        at = self._own(state).at
        return () if at is None else self.machine.stack(at)
