"""Forced runs: the bytes that must come next, because there is one way on and the text may not end.

SGLang folds such chains of states and skips the model there (LMSYS, "Fast JSON decoding for local LLMs with compressed
finite state machine", 2024-02).
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from guidedviz.machines.dfa import DFA
from guidedviz.machines.machine import Machine

LONGEST = 10_000  # bytes of a run
CONTINUING = range(0x80, 0xC0)  # bytes inside a character of UTF-8


def forced_bytes(machine: Machine, state: Hashable, limit: int = LONGEST) -> bytes:
    """The bytes that must come next: up to a choice, up to where the text may end, and only whole characters.

    >>> from guidedviz.machines.regex import regex
    >>> forced_bytes(regex("name: [a-z]+"), 0), forced_bytes(regex("cafés?"), 0), forced_bytes(regex("é|è"), 0)
    (b'name: ', b'caf\\xc3\\xa9', b'')
    """
    run, seen = bytearray(), {state}
    while len(run) < limit and (byte := only_byte(machine, state)) is not None:
        after = machine.step(state, byte)
        if after is None or after in seen:
            break
        run.append(byte)
        seen.add(state := after)
    return bytes(run[: _last_whole(run)] if is_inside_character(machine, state) else run)


def only_byte(machine: Machine, state: Any) -> int | None:
    """The one byte that may come; None where there are several, or where the text may end.

    >>> from guidedviz.machines.regex import regex
    >>> only_byte(regex("ab?"), 0), only_byte(regex("ab?"), 1), only_byte(regex("[ab]"), 0)
    (97, None, None)
    """
    if machine.is_accepting(state):
        return None
    if isinstance(machine, DFA):
        edges = machine.edges[state]
        return edges[0][0] if len(edges) == 1 and edges[0][0] == edges[0][1] else None
    found = None
    for byte in range(256):
        if machine.step(state, byte) is not None:
            if found is not None:
                return None
            found = byte
    return found


def is_inside_character(machine: Machine, state: Any) -> bool:
    """Whether the bytes that may come next go on with a character of UTF-8 that has begun."""
    return any(machine.step(state, byte) is not None for byte in CONTINUING)


def _last_whole(run: bytearray) -> int:
    """Where the character begins that the run ends in."""
    end = len(run)
    while end and run[end - 1] in CONTINUING:
        end -= 1
    return max(0, end - 1)
