"""Steps that are computed when they are first asked for and then looked up in the state they start from.

A pushdown machine has too many states for a table, but a text visits few of them, and often the same ones.
"""

from collections.abc import Callable
from threading import RLock
from typing import Any, Generic, TypeVar

from guidedviz.machines.machine import Remembers, no_step

R = TypeVar("R", bound=Remembers)
NOT_COMPUTED = object()


class LazySteps(Generic[R]):
    """The steps of one machine. One thread at a time computes new ones: a page asks for masks and pictures at once."""

    def __init__(self, machine: object, kinds: bytes, read: Callable[[R, int], R | None], owns: Callable[[Any], bool]):
        self.machine = machine
        self.kinds = kinds
        self.read = read
        self.owns = owns
        self.lock = RLock()

    def step(self, state: R | None, byte: int) -> R | None:
        """The next state; None if no text can go on so. Only a step not known yet checks whose state it is."""
        try:
            kind = self.kinds[byte]
            after = state.moves.get(kind, NOT_COMPUTED)  # type: ignore[union-attr]
        except (AttributeError, IndexError, TypeError):
            if state is None:
                return None
            raise no_step(self.machine, state, byte) from None
        if after is NOT_COMPUTED:
            with self.lock:
                after = state.moves[kind] = self.read(self.own(state), byte)  # type: ignore[union-attr]
        next_state: R | None = after
        return next_state

    def own(self, state: Any) -> R:
        """The state, if it is one of this machine."""
        if not self.owns(state):
            raise no_step(self.machine, state)
        owned: R = state
        return owned
