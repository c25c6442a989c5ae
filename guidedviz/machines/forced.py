"""Forced runs: the bytes that must come next, because only one byte is legal and the text may not end.

SGLang compresses such chains of states and does not run the model for them (LMSYS, "Fast JSON decoding for local LLMs
with compressed finite state machine", 2024-02).
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from guidedviz.machines.machine import Machine
from guidedviz.machines.regular.dfa import DFA

LONGEST = 10_000  # bytes per run
CONTINUING = range(0x80, 0xC0)  # continuation bytes of UTF-8


def forced_bytes(machine: Machine, state: Hashable, limit: int = LONGEST) -> bytes:
    """The bytes that must come next, up to a choice or an accepting state, cut to whole characters.

    >>> forced_bytes(gv.regex("name: [a-z]+"), 0), forced_bytes(gv.regex("cafés?"), 0), forced_bytes(gv.regex("é|è"), 0)
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
    """The only legal next byte; None if there are several, or if the text may end.

    >>> only_byte(gv.regex("ab?"), 0), only_byte(gv.regex("ab?"), 1), only_byte(gv.regex("[ab]"), 0)
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
    """Whether the next byte may continue a UTF-8 character."""
    return any(machine.step(state, byte) is not None for byte in CONTINUING)


def _last_whole(run: bytearray) -> int:
    """The index where the last character of the run begins."""
    end = len(run)
    while end and run[end - 1] in CONTINUING:
        end -= 1
    return max(0, end - 1)
