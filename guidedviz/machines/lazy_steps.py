"""Steps that are computed when they are first asked for and then looked up in the state they start from."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import Any, Generic, Protocol, TypeVar

from guidedviz.machines.machine import no_step


class Remembers(Protocol):
    """A state with the steps that are known: kind of byte -> next state."""

    @property
    def moves(self) -> dict[int, Any]: ...


S = TypeVar("S", bound=Remembers)
UNASKED = object()


class LazySteps(Generic[S]):
    """The steps of one machine. One thread at a time computes new ones: a page asks for masks and pictures at once."""

    def __init__(self, machine: object, kinds: bytes, read: Callable[[S, int], S | None], owns: Callable[[Any], bool]):
        self.machine, self.kinds, self.read, self.owns = machine, kinds, read, owns
        self.lock = RLock()

    def step(self, state: S | None, byte: int) -> S | None:
        """The next state; None if no text can go on so. Only a step not known yet checks whose state it is."""
        try:
            kind = self.kinds[byte]
            after = state.moves.get(kind, UNASKED)  # type: ignore[union-attr]
        except (AttributeError, IndexError, TypeError):
            if state is None:
                return None
            raise no_step(self.machine, state, byte) from None
        if after is UNASKED:
            with self.lock:
                after = state.moves[kind] = self.read(self.own(state), byte)  # type: ignore[union-attr]
        next_state: S | None = after
        return next_state

    def own(self, state: Any) -> S:
        """The state, if it is one of this machine."""
        if not self.owns(state):
            raise no_step(self.machine, state)
        owned: S = state
        return owned
