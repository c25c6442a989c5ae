"""A machine reads bytes one by one. A state is a value; None is the dead state, from which no text can be completed.

Regexes, grammars and schemas all become machines.

Next: `machines/regular/nfa.py`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Protocol

from guidedviz.errors import SettingError, expect, quoted
from guidedviz.machines.byte_kinds import first_bytes, kinds_of


class Steps(Protocol):
    """`step` returns a new state; None if no complete text can be reached."""

    def step(self, state: Any, byte: int) -> Hashable | None: ...


class Machine(Steps, Protocol):
    """A machine has an initial state and knows in which states a text may end."""

    @property
    def initial(self) -> Hashable: ...
    def is_accepting(self, state: Any) -> bool: ...
    def accepts(self, data: bytes) -> bool: ...
    def accepts_prefix(self, data: bytes) -> bool: ...


def check_machine(machine: object, where: str) -> None:
    """Refuse what is not a machine.

    >>> check_machine("[0-9]+", "draw")
    Traceback (most recent call last):
    guidedviz.errors.SettingError: draw: saw str, expected a machine; try: gv.regex(text)
    """
    if not all(hasattr(machine, name) for name in ("initial", "step", "is_accepting")):
        raise SettingError(where, seen=type(machine).__name__, expected="a machine", hint="gv.regex(text)")


def check_text(data: object) -> None:
    """Refuse a text that is not bytes."""
    if not isinstance(data, Iterable) or isinstance(data, str):
        raise SettingError("text to read", seen=type(data).__name__, expected="bytes", hint="text.encode()")


def to_bytes(text: bytes | str) -> bytes:
    """A text as bytes; lone surrogates are encoded too."""
    expect(text, bytes | str, "text", "str or bytes")
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")


def read(machine: Machine, data: Iterable[int], state: Hashable | None = None) -> Hashable | None:
    """The state after these bytes, from `state` or the initial one; None if they are not possible.

    >>> read(gv.regex("a*b"), b"aab"), read(gv.regex("a*b"), b"ba")
    (1, None)
    """
    check_text(data)
    state = machine.initial if state is None else state
    for byte in data:
        state = machine.step(state, byte)
        if state is None:
            return None
    return state


def no_step(machine: object, state: object, byte: object = 0) -> SettingError:
    """The error of a step from something that is not a state of this machine, or by something that is not a byte.

    >>> print(no_step("the machine", "q0"))
    state: saw str, expected a state of the machine; try: machine.initial, or what machine.step returns
    >>> print(no_step("the machine", 0, 256))
    byte: saw 256, expected a number from 0 to 255
    """
    if not (isinstance(byte, int) and 0 <= byte < 256):
        return SettingError("byte", seen=quoted(byte), expected="a number from 0 to 255")
    if state is None:
        hint = "if state is None, before; machine.step gives None for a byte that cannot come"
        return SettingError("state", seen="None, which is no state", expected=f"a state of {machine!s}", hint=hint)
    seen = "a state of another machine" if hasattr(state, "moves") else quoted(state)
    if not hasattr(state, "moves") and not isinstance(state, int):
        seen = type(state).__name__
    hint = "machine.initial, or what machine.step returns"
    return SettingError("state", seen=seen, expected=f"a state of {machine!s}", hint=hint)


def stack_of(machine: Machine, state: Hashable) -> tuple[str, ...]:
    """The names of the open rules, innermost first; a finite machine has none.

    >>> nested = gv.grammar('root ::= "(" root ")" | "x"')
    >>> stack_of(nested, read(nested, b"(("))
    ('root', 'root')
    """
    names: tuple[str, ...] = machine.stack(state) if hasattr(machine, "stack") else ()
    return names


def next_bytes(machine: Machine, state: Hashable) -> bytes:
    """The bytes that may come next, in order.

    >>> next_bytes(gv.regex("[0-3]x"), 0)
    b'0123'
    """
    kinds = kinds_of(machine)
    live = {kind for kind, byte in first_bytes(kinds).items() if machine.step(state, byte) is not None}
    return bytes([byte for byte, kind in enumerate(kinds) if kind in live])
