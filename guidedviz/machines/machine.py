"""A machine reads bytes one by one; a state is a value, and None says that no complete text can follow.

Everything that constrains a text (regex, grammar, schema) becomes something of this shape.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Protocol

from guidedviz.errors import SettingError


class Steps(Protocol):
    """`step` returns a new state and changes nothing; None when no complete text is reachable any more."""

    def step(self, state: Any, byte: int) -> Hashable | None: ...


class Machine(Steps, Protocol):
    """A machine begins in its initial state, and knows where a text may end."""

    @property
    def initial(self) -> Hashable: ...
    def is_accepting(self, state: Any) -> bool: ...
    def accepts(self, data: bytes) -> bool: ...
    def accepts_prefix(self, data: bytes) -> bool: ...


def check_machine(machine: object, where: str) -> None:
    """Refuse what reads no bytes.

    >>> check_machine("[0-9]+", "draw")
    Traceback (most recent call last):
    guidedviz.errors.SettingError: draw: saw str, expected a machine; try: gv.regex(text)
    """
    if not all(hasattr(machine, name) for name in ("initial", "step", "is_accepting")):
        raise SettingError(where, seen=type(machine).__name__, expected="a machine", hint="gv.regex(text)")


def check_text(data: object) -> None:
    """Refuse a text that is not in bytes yet."""
    if not isinstance(data, Iterable) or isinstance(data, str):
        raise SettingError("text to read", seen=type(data).__name__, expected="bytes", hint="text.encode()")


def to_bytes(text: bytes | str) -> bytes:
    """A text as bytes; half a character stays what it is."""
    if not isinstance(text, bytes | str):
        raise SettingError("text", seen=type(text).__name__, expected="str or bytes")
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")


def read(machine: Machine, data: Iterable[int], state: Hashable | None = None) -> Hashable | None:
    """The state after these bytes, from `state` or from the initial one; None if they cannot be.

    >>> from guidedviz.machines.regex import regex
    >>> read(regex("a*b"), b"aab"), read(regex("a*b"), b"ba")
    (1, None)
    """
    check_text(data)
    state = machine.initial if state is None else state
    for byte in data:
        state = machine.step(state, byte)
        if state is None:
            return None
    return state


def no_state(machine: object, seen: object) -> SettingError:
    """The error of something that is no state of this machine.

    >>> print(no_state("the machine", None))
    state: saw None, expected a state of the machine; try: machine.initial, or what machine.step gives
    """
    shown = "a state of another machine" if hasattr(seen, "moves") else "None" if seen is None else type(seen).__name__
    hint = "machine.initial, or what machine.step gives"
    return SettingError("state", seen=shown, expected=f"a state of {machine!s}", hint=hint)


def stack_of(machine: Machine, state: Hashable) -> tuple[str, ...]:
    """The names of the rules that are open, innermost first; a finite machine has none.

    >>> from guidedviz.machines.pda import grammar
    >>> nested = grammar('root ::= "(" root ")" | "x"')
    >>> stack_of(nested, read(nested, b"(("))
    ('root', 'root')
    """
    names: tuple[str, ...] = machine.stack(state) if hasattr(machine, "stack") else ()
    return names


def next_bytes(machine: Machine, state: Hashable) -> bytes:
    """The bytes that may come next, in order.

    >>> from guidedviz.machines.regex import regex
    >>> next_bytes(regex("[0-3]x"), 0)
    b'0123'
    """
    return bytes(byte for byte in range(256) if machine.step(state, byte) is not None)
