"""A machine reads bytes one by one; a state is a value, and None says that no complete text can follow.

Everything that constrains a text (regex, grammar, schema) becomes something of this shape.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Protocol


class Machine(Protocol):
    """`step` returns a new state and changes nothing; None when no complete text is reachable any more."""

    @property
    def initial(self) -> Hashable: ...
    def step(self, state: Any, byte: int) -> Hashable | None: ...
    def is_accepting(self, state: Any) -> bool: ...
    def accepts(self, data: bytes) -> bool: ...
    def accepts_prefix(self, data: bytes) -> bool: ...


def read(machine: Machine, data: Iterable[int], state: Hashable | None = None) -> Hashable | None:
    """The state after these bytes, from `state` or from the initial one; None if they cannot be.

    >>> from guidedviz.machines.regex import regex
    >>> read(regex("a*b"), b"aab"), read(regex("a*b"), b"ba")
    (1, None)
    """
    state = machine.initial if state is None else state
    for byte in data:
        state = machine.step(state, byte)
        if state is None:
            return None
    return state


def next_bytes(machine: Machine, state: Hashable) -> bytes:
    """The bytes that may come next, in order.

    >>> from guidedviz.machines.regex import regex
    >>> next_bytes(regex("[0-3]x"), 0)
    b'0123'
    """
    return bytes(byte for byte in range(256) if machine.step(state, byte) is not None)


def forced_bytes(machine: Machine, state: Hashable, limit: int = 10_000) -> bytes:
    """The bytes that must come next: as long as there is one way on, and until the text may end.

    >>> from guidedviz.machines.regex import regex
    >>> forced_bytes(regex("name: [a-z]+"), 0)
    b'name: '
    """
    forced, seen = bytearray(), {state}
    while not machine.is_accepting(state) and len(forced) < limit:
        choices = next_bytes(machine, state)
        following = machine.step(state, choices[0]) if len(choices) == 1 else None
        if following is None or following in seen:
            break
        forced.append(choices[0])
        seen.add(state := following)
    return bytes(forced)
