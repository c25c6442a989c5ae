"""A real engine as a guide: a state is the tokens so far, so an old one stays good; copies of matchers stand behind it.

The machine walks along beside the engine: it says why, where and what is open. The mask is the engine's alone, right or
wrong, and `advance` follows the mask.
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
from guidedviz.machines.machine import Machine, read, stack_of
from guidedviz.tokens.explain import check_id, explain_token, illegal_token, is_text, label_state, token_path
from guidedviz.tokens.guide import Explanation, Mask
from guidedviz.tokens.real import llguidance, outlines_core, xgrammar
from guidedviz.tokens.real.asked import Asked, ask
from guidedviz.tokens.real.matcher import Compile, Matcher
from guidedviz.tokens.vocabulary import Vocabulary

PREPARE: dict[str, Callable[[Vocabulary], Compile]] = {
    "xgrammar": xgrammar.prepare,
    "llguidance": llguidance.prepare,
    "outlines-core": outlines_core.prepare,
}
VARIANTS: dict[str, Callable[[Vocabulary], Compile]] = {  # the same as most people meet them
    "llguidance, forcing": partial(llguidance.prepare, forcing=True),
    "xgrammar, special text": partial(xgrammar.prepare, special_text=True),
}
KEPT = 64  # matchers
ONE = RLock()  # matchers of a vocabulary share a buffer, and a page asks for masks and for pictures at once


@lru_cache(maxsize=10)
def prepared(name: str, vocabulary: Vocabulary) -> Compile:
    """An engine made ready for a vocabulary, once."""
    return (PREPARE | VARIANTS)[name](vocabulary)


def real_guide(name: str, machine: Machine, vocabulary: Vocabulary) -> RealGuide:
    """A guide whose masks are those of a real engine."""
    return RealGuide(name, ask(machine), vocabulary)


@dataclass(frozen=True)
class RealState:
    """The tokens so far, and where the machine stands; None where the engine went on without it."""

    tokens: tuple[int, ...]
    at: Hashable = field(compare=False)

    def __str__(self) -> str:
        return "no state of the machine" if self.at is None else label_state(self.at)


class RealGuide:
    """The masks of a real engine, with the machine beside them."""

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

    def mask(self, state: RealState) -> Mask:
        """True for every id that the engine allows; read-only."""
        with ONE:
            return self.matcher(state.tokens).mask()

    def matcher(self, tokens: tuple[int, ...]) -> Matcher:
        """A matcher that has taken these tokens; nobody may move it on, nor ask it in two threads."""
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
        """The state after a token that the engine allows; EOS reads no byte, so the state stays."""
        token = check_id(self.vocabulary, token)
        if not self.mask(state)[token]:
            raise illegal_token(self.vocabulary, self.explain(state, token))
        if token in self.vocabulary.eos:
            return state
        with ONE:
            self.matcher((*state.tokens, token))
        return RealState((*state.tokens, token), self._read(state, token))

    def _read(self, state: RealState, token: int) -> Hashable | None:
        text = state.at is not None and is_text(self.vocabulary, token)
        return read(self.machine, self.vocabulary.pieces[token], state.at) if text else None

    def is_accepting(self, state: RealState) -> bool:
        """May the text end here, says the engine?"""
        with ONE:
            return self.matcher(state.tokens).may_end()

    def forced(self, state: RealState) -> bytes:
        """The bytes that must come next, says the machine: xgrammar's own way to ask can hang."""
        return b"" if state.at is None else forced_bytes(self.machine, state.at)

    def path(self, state: RealState, token: int) -> tuple[Hashable, ...]:
        """The machine's states inside a token."""
        return () if state.at is None else token_path(self.machine, self.vocabulary, state.at, token)

    def explain(self, state: RealState, token: int) -> Explanation:
        """Why the token is legal by the machine, and what the engine says where it says something else."""
        token = check_id(self.vocabulary, token)
        legal = bool(self.mask(state)[token])
        verb = "allows" if legal else "forbids"
        if state.at is None:
            reason = f"{self.name} {verb} it, in a text that the machine does not know"
            return Explanation(token, self.vocabulary.pieces[token], legal, None, "nothing", (str(state),), (), reason)
        why = explain_token(self.machine, self.vocabulary, state.at, token)
        if why.legal == legal:
            return why
        return replace(why, legal=legal, reason=f"{self.name} {verb} it, against the machine: {why.reason}")

    def label(self, state: Any) -> str:
        """The state's name for people."""
        return str(state) if isinstance(state, RealState) else label_state(state)

    def stack(self, state: RealState) -> tuple[str, ...]:
        """What is open by the machine, innermost first."""
        return () if state.at is None else stack_of(self.machine, state.at)
