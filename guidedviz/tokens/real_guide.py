"""The guide of a real engine. A state contains the tokens so far, so it stays valid; a matcher is copied for each.

The engine computes the mask and `advance`, even if they are wrong. Our machine reads the same tokens and provides the
explanations, the states and the stack.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from threading import RLock
from typing import Any

from guidedviz.errors import IllegalToken
from guidedviz.machines.machine import Machine, read
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.engines import Asked, Matcher, prepared
from guidedviz.tokens.explain import Explanation, foreign_state, illegal_token
from guidedviz.tokens.guide import Guide
from guidedviz.tokens.vocabulary import Vocabulary

MATCHERS = 64  # of a real engine that a guide keeps
ONE_THREAD = RLock()  # the matchers of a vocabulary share a buffer, and a page may call them from several threads


@dataclass(frozen=True)
class RealState:
    """The tokens so far and the machine's state; None if the engine allowed a token that the machine rejects."""

    tokens: tuple[int, ...]
    at: Hashable = field(compare=False)


class RealGuide(Guide):
    """The masks of a real engine, and the explanations of the machine."""

    def __init__(self, name: str, asked: Asked, vocabulary: Vocabulary) -> None:
        self.name = name
        self.vocabulary = vocabulary
        self.machine: Machine[Any] = asked.machine
        self.initial = RealState((), asked.machine.initial)
        self._kept: dict[tuple[int, ...], Matcher] = {(): prepared(name, vocabulary)(asked)}

    def __repr__(self) -> str:
        return f"guide({self.machine!r}, {self.vocabulary!r}, {self.name!r})"

    def at(self, state: Any) -> Any:
        """The machine's state; None if the engine allowed a token that the machine rejects."""
        if not isinstance(state, RealState):
            raise foreign_state(self, state)
        return state.at

    def mask(self, state: RealState) -> Mask:
        """True for every id that the engine allows; read-only."""
        self.at(state)
        with ONE_THREAD:
            return self.matcher(state.tokens).mask()

    def is_accepting(self, state: RealState) -> bool:
        """Whether the engine allows the text to end here."""
        self.at(state)
        with ONE_THREAD:
            return self.matcher(state.tokens).may_end()

    def matcher(self, tokens: tuple[int, ...]) -> Matcher:
        """A matcher that has read these tokens. It must not be advanced, and it must not be used from two threads."""
        known = next(end for end in range(len(tokens), -1, -1) if tokens[:end] in self._kept)
        matcher = self._kept[tokens[:known]]
        for end in range(known, len(tokens)):
            matcher = matcher.copy()
            if not matcher.take(tokens[end]):
                said = f"{self.name} refuses token {tokens[end]} {self.vocabulary.display(tokens[end])!r}"
                raise IllegalToken(f"{said}, which its own mask allows")
            if len(self._kept) > MATCHERS:
                self._kept = {(): self._kept[()]}
            self._kept[tokens[: end + 1]] = matcher
        return matcher

    def advance(self, state: RealState, token: int) -> RealState:
        """The state after a token that the engine allows. EOS has no bytes, so it does not change the state."""
        token = self.vocabulary.as_id(token)
        if not self.mask(state)[token]:
            raise illegal_token(self.vocabulary, self.explain(state, token))
        if token in self.vocabulary.eos:
            return state
        text = state.at is not None and self.vocabulary.is_text(token)
        at = read(self.machine, self.vocabulary.pieces[token], state.at) if text else None
        after = RealState((*state.tokens, token), at)
        self.is_accepting(after)  # the engine may refuse a token that its mask allows
        return after

    def explain(self, state: RealState, token: int) -> Explanation:
        """Why the machine accepts or rejects the token, and the engine's answer if it differs."""
        why = super().explain(state, token)
        legal = bool(self.mask(state)[why.token])
        if why.legal == legal:
            return why
        verb = "allows" if legal else "forbids"
        return replace(why, legal=legal, reason=f"{self.name} {verb} it, against the machine: {why.reason}")
