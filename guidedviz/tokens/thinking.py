"""A guide that ends a model's thinking after so many tokens: then only the end of thinking is legal.

A machine reads bytes and counts no tokens, so the count is in the guide's states, as in a budget (`budget.py`).
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from guidedviz.machines.machine import Machine, as_machine, read
from guidedviz.machines.thinking import Thinking
from guidedviz.machines.visible import visible
from guidedviz.tokens.arrays import Mask, read_only
from guidedviz.tokens.guide import Explanation, Guide, foreign_state, illegal_token


@dataclass(frozen=True)
class Thought:
    """A state of the inner guide, and the thinking so far."""

    state: Any
    begun: bytes  # how much of the opening mark has been read
    left: int | None  # tokens that may still be thought; None: thinking is over
    tail: bytes = b""  # the last bytes, in which the end of thinking may have begun


class CountingGuide(Guide):
    """A guide around another one, with a count in its states."""

    machine: Machine[Any]
    kind: type[Any]  # of its states, which have the state of the inner guide

    def __init__(self, guide: Guide, where: str) -> None:
        self.guide = guide
        self.vocabulary = guide.vocabulary
        self.machine = as_machine(guide.machine, where)

    def inner(self, counted: Any) -> Any:
        """The state of the inner guide."""
        if not isinstance(counted, self.kind):
            raise foreign_state(self, counted)
        return counted.state

    def at(self, state: Any) -> Any:
        """The machine's state."""
        return self.guide.at(self.inner(state))

    def is_accepting(self, state: Any) -> bool:
        """Whether the text may end here."""
        return self.guide.is_accepting(self.inner(state))


class ThinkingGuide(CountingGuide):
    """A guide whose states count the tokens of thinking."""

    kind = Thought

    def __init__(self, guide: Guide, thinking: Thinking) -> None:
        super().__init__(guide, "guide")
        self.thinking = thinking
        self.initial = Thought(guide.initial, b"", thinking.limit)

    def __repr__(self) -> str:
        return f"{self.guide!r}, at most {self.thinking.limit:,} tokens of thinking"

    def end_left(self, thought: Thought) -> bytes:
        """What is left of the end of thinking, if nothing else may come; b"" if more may be thought."""
        self.inner(thought)  # refuses states of other guides
        if thought.left != 0 or thought.begun != self.thinking.begin:
            return b""
        end = self.thinking.end
        sizes = range(len(end) - 1, -1, -1)
        known = next((size for size in sizes if thought.tail.endswith(end[:size])), 0)
        return end[known:]

    def mask(self, thought: Thought) -> Mask:
        """True for every legal id: after the last token of thinking, only for those that end it."""
        mask = self.guide.mask(self.inner(thought))
        rest = self.end_left(thought)
        if not rest:
            return mask
        ends = np.zeros_like(mask)
        for size in range(1, len(rest) + 1):
            ends[list(self.reads.ids(rest[:size]))] = True
        ends &= mask
        return read_only(ends) if ends.any() else mask  # inside a character, the character comes first

    def advance(self, thought: Thought, token: int) -> Thought:
        """The state after a legal token, with one token of thinking less."""
        after = self.guide.advance(self.inner(thought), token)
        if self.end_left(thought) and not self.mask(thought)[token]:
            raise illegal_token(self.vocabulary, self.explain(thought, token))
        return self._count(replace(thought, state=after), self.reads.pieces[token])

    def _count(self, thought: Thought, piece: bytes) -> Thought:
        """The thinking so far with another token."""
        left = thought.left
        if left is None:
            return thought
        begin = self.thinking.begin
        if thought.begun != begin:
            read = thought.begun + piece
            thought = replace(thought, begun=read[: len(begin)])
            piece = read[len(begin) :]
            if not piece:
                return thought
        read = thought.tail + piece
        if self.thinking.end in read:
            return replace(thought, left=None, tail=b"")
        return replace(thought, left=max(0, left - 1), tail=read[-len(self.thinking.end) :])

    def forced(self, thought: Thought) -> bytes:
        """The bytes that must come next: the end of thinking, too."""
        rest = self.end_left(thought)
        at = self.at(thought)
        if rest and at is not None and read(self.machine, rest, at) is not None:  # not inside a character
            return rest
        return self.guide.forced(self.inner(thought))

    def explain(self, thought: Thought, token: int) -> Explanation:
        """Why the token is legal or not."""
        why = self.guide.explain(self.inner(thought), token)
        if not why.legal or self.mask(thought)[why.token]:
            return why
        end = visible(self.thinking.end)
        said = f"{self.thinking.limit:,} tokens have been thought, so only {end} may come"
        return replace(why, legal=False, reason=said)
