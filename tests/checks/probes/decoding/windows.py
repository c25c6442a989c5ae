"""Answers to `window_step`."""

from tests.checks.answers import window_step


def forgetful(machine, trigger, state, byte):
    """It begins again at b"" where the end of the text may begin the trigger."""
    kind, read = state
    if kind == "in":
        return window_step(machine, trigger, state, byte)
    read += bytes([byte])
    if read == trigger:
        return "in", machine.initial
    return "free", read if trigger.startswith(read) else b""


def one_byte_back(machine, trigger, state, byte):
    """It keeps at most the last byte."""
    kind, read = state
    if kind == "free" and not trigger.startswith(read + bytes([byte])):
        return "free", bytes([byte]) if trigger[:1] == bytes([byte]) else b""
    return window_step(machine, trigger, state, byte)


def reopened(machine, trigger, state, byte):
    """In the window it looks for the trigger as well."""
    kind, _ = state
    if kind == "in" and bytes([byte]) == trigger[-1:]:
        return "in", machine.initial
    return window_step(machine, trigger, state, byte)


def closed(machine, trigger, state, byte):
    """A refused byte leads back to free text."""
    return window_step(machine, trigger, state, byte) or ("free", b"")


def remembers_all(machine, trigger, state, byte):
    """The whole text, not the part of the trigger."""
    kind, read = state
    if kind == "free" and not (read + bytes([byte])).endswith(trigger):
        return "free", read + bytes([byte])
    return window_step(machine, trigger, state, byte)


def printable_only(machine, trigger, state, byte):
    return None if byte > 127 else window_step(machine, trigger, state, byte)


def reads_the_trigger(machine, trigger, state, byte):
    """The last byte of the trigger is read by the machine, too."""
    after = window_step(machine, trigger, state, byte)
    if state[0] == "free" and after[0] == "in":
        return "in", machine.step(machine.initial, byte)
    return after


WRONG = {
    "window_step": {
        "begins again": (forgetful, "longest beginning"),
        "one byte back": (one_byte_back, "longest beginning"),
        "the trigger inside the window": (reopened, "only the machine counts|machine reads"),
        "back to free text": (closed, "illegal: None"),
        "the whole text": (remembers_all, "leaves b''"),
        "ASCII only": (printable_only, "every byte is legal"),
        "the machine reads the trigger": (reads_the_trigger, "initial state"),
        "never opened": (lambda machine, trigger, state, byte: ("free", b""), "initial state"),
        "opened at once": (lambda machine, trigger, state, byte: ("in", machine.initial), "every byte is legal"),
        "a state only": (lambda machine, trigger, state, byte: state[1], "a pair is expected"),
        "True": (lambda machine, trigger, state, byte: True, "a pair is expected"),
        "other words": (
            lambda machine, trigger, state, byte: ("outside", b""),
            '"free" or "in"',
        ),
    }
}


def by_slices(machine, trigger, state, byte):
    kind, read = state
    if kind == "in":
        after = machine.step(read, byte)
        return after if after is None else ["in", after]
    text = read + bytes([byte])
    if text == trigger:
        return ["in", machine.initial]
    return ["free", max((text[i:] for i in range(len(text) + 1) if trigger.startswith(text[i:])), key=len)]


def recursive(machine, trigger, state, byte):
    kind, read = state
    if kind == "in" or trigger.startswith(read + bytes([byte])) or not read:
        return window_step(machine, trigger, state, byte)
    return recursive(
        machine,
        trigger,
        ("free", next(read[i:] for i in range(1, len(read) + 1) if trigger.startswith(read[i:]))),
        byte,
    )


RIGHT = {
    "window_step": {
        "lists and the longest slice": by_slices,
        "Knuth, Morris and Pratt": recursive,
        "a match statement": lambda machine, trigger, state, byte: window_step(machine, trigger, tuple(state), byte),
    }
}
