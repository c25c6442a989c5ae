"""Forced runs: the bytes that must come next, because only one byte is legal and the text may not end.

SGLang compresses such chains of states and does not run the model for them (LMSYS, "Fast JSON decoding for local LLMs
with compressed finite state machine", 2024-02).
"""

from guidedviz.machines.machine import Machine, S, next_bytes

LONGEST = 10_000  # bytes per run
CONTINUING = range(0x80, 0xC0)  # continuation bytes of UTF-8


def forced_bytes(machine: Machine[S], state: S, limit: int = LONGEST) -> bytes:
    """The bytes that must come next, up to a choice or an accepting state, cut to whole characters.

    >>> forced_bytes(gv.regex("name: [a-z]+"), 0), forced_bytes(gv.regex("cafés?"), 0), forced_bytes(gv.regex("é|è"), 0)
    (b'name: ', b'caf\\xc3\\xa9', b'')
    """
    run, seen = bytearray(), {state}
    while len(run) < limit:
        choices = b"" if machine.is_accepting(state) else next_bytes(machine, state)
        after = machine.step(state, choices[0]) if len(choices) == 1 else None
        if after is None or after in seen:
            break
        run += choices
        seen.add(state := after)
    if any(byte in CONTINUING for byte in next_bytes(machine, state)):
        while run and run.pop() in CONTINUING:  # the last character is not complete
            pass
    return bytes(run)
