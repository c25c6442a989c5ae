"""Answers to `forced`, `heal` and `speedup`."""

from itertools import accumulate

import numpy as np

from guidedviz.machines.machine import next_bytes
from tests.checks.answers import forced, heal, speedup

# -- forced --------------------------------------------------------------------------------------------------------


def first_way(machine, state):
    """Goes on with the first byte that may come, as if there were no choice."""
    run = b""
    while not machine.is_accepting(state):
        run += next_bytes(machine, state)[:1]
        state = machine.step(state, run[-1])
    return run


def one_state_after(machine, state):
    """Counts the states that may come next, not the bytes."""
    run = b""
    while not machine.is_accepting(state):
        ways = {machine.step(state, byte): byte for byte in next_bytes(machine, state)}
        if len(ways) > 1:
            break
        ((state, byte),) = ways.items()
        run += bytes([byte])
    return run


def state_0_is_nothing(machine, state):
    """Takes state 0 for None."""
    run = b""
    while not machine.is_accepting(state):
        ways = [byte for byte in range(256) if machine.step(state, byte)]
        if len(ways) != 1:
            break
        run, state = run + bytes(ways), machine.step(state, ways[0])
    return run


def state_stays(machine, state):
    run = b""
    while not machine.is_accepting(state) and len(ways := next_bytes(machine, state)) == 1:
        run += ways
    return run


def recursive(machine, state):
    ways = next_bytes(machine, state)
    if machine.is_accepting(state) or len(ways) != 1:
        return b""
    return ways + recursive(machine, machine.step(state, ways[0]))


# -- heal ----------------------------------------------------------------------------------------------------------


def goes_on(piece, left):
    return piece.startswith(left) and piece != left


def ends_of(tokens):
    return [b"".join(tokens[place:]) for place in range(len(tokens))]


def places(tokens, legal):
    """Every place where a legal piece begins with all that is left and is longer."""
    left = ends_of(tokens)
    return [place for place, pieces in enumerate(legal) if any(goes_on(one, left[place]) for one in pieces)]


def first_place(fits):
    """The first place at which a legal piece fits what is left."""

    def answer(tokens, legal):
        left = ends_of(tokens)
        return next(
            (i for i in range(len(tokens)) if any(fits(one, left[i], tokens[i]) for one in legal[i])), len(tokens)
        )

    return answer


def from_the_end(tokens, legal):
    """Stops at the first place, seen from the end, where nothing is longer."""
    keep = len(tokens)
    while keep - 1 in places(tokens, legal):
        keep -= 1
    return keep


def by_name(tokens, legal):
    """Looks a token up by what it is, not by where it stands."""
    found = (i for i, token in enumerate(tokens) if tokens.index(token) in places(tokens, legal))
    return next(found, len(tokens))


def as_text(tokens, legal):
    assert all(token.decode() for token in tokens)
    return heal(tokens, legal)


def take_off(tokens, legal):
    keep = heal(tokens, legal)
    del tokens[keep:]
    return keep


def wait(tokens, legal):
    while legal and len(legal[0]) > 1:
        pass
    return len(tokens)


def by_running_ends(tokens, legal):
    left = [*accumulate(tokens[::-1], lambda end, piece: piece + end)][::-1]
    unsafe = [any(goes_on(one, end) for one in pieces) for end, pieces in zip(left, legal, strict=True)]
    return np.int64((*unsafe, True).index(True))


def heal_by_recursion(tokens, legal):
    if not tokens or any(goes_on(one, b"".join(tokens)) for one in legal[0]):
        return 0
    return 1 + heal_by_recursion(tokens[1:], legal[1:])


# -- speedup -------------------------------------------------------------------------------------------------------


def price(reads_naive, reads_jump, pass_rows=False):
    """A speed-up by what a token is thought to cost to read, without jump-forward and with it."""

    def answer(fraction, pass_ms, token_ms, rows):
        pass_ms *= rows if pass_rows else 1
        naive = pass_ms + reads_naive(fraction, rows) * token_ms
        return naive / ((1 - fraction) * pass_ms + reads_jump(fraction, rows) * token_ms)

    return answer


WRONG = {
    "forced": {
        "nothing": (lambda machine, state: b"", "here only a may come, and the text may not end, so a is"),
        "one byte": (lambda *given: forced(*given)[:1], "after a only b may come"),
        "at most 20 bytes": (lambda *given: forced(*given)[:20], "only a may come"),
        "from the start": (lambda machine, state: forced(machine, 0), "here only b may come"),
        "the first choice": (first_way, "here there is a choice, a b, so a is not forced"),
        "one state, two bytes": (one_state_after, "here there is a choice"),
        "past an accepting state": (
            lambda *given: forced(*given, lambda *_: False),
            "after a the text may end, so b is",
        ),
        "accepting asked once": (
            lambda machine, state: b"" if machine.is_accepting(state) else forced(machine, state, lambda *_: False),
            "after a the text may end, so b is not forced",
        ),
        "state 0 taken for None": (state_0_is_nothing, "here only b may come"),
        "a byte too many": (lambda *given: forced(*given) + b"x", "after a x cannot come"),
        "no byte 0": (lambda *given: forced(*given, bytes_=range(1, 256)), "after a only <0x00> may come"),
        "ASCII only": (lambda *given: forced(*given, bytes_=range(128)), "after caf only <0xC3> may come"),
        "a list": (lambda *given: list(forced(*given)), "bytes are expected"),
        "a text": (lambda *given: forced(*given).decode(errors="replace"), "bytes are expected"),
        "the state stays": (state_stays, "does not end|MemoryError"),
        "the state, not the bytes": (lambda machine, state: machine.step(state, 97) or 0, "bytes are expected"),
    },
    "heal": {
        "none": (lambda tokens, legal: 0, "what is left from place 0 is a, and no legal piece begins with it"),
        "all": (lambda tokens, legal: len(tokens), "left from place 0 is a, and ab begins with it and is longer"),
        "all but one": (lambda tokens, legal: len(tokens) - 1, "a number of tokens is expected, from 0 to 0"),
        "the last token only": (
            lambda tokens, legal: len(tokens) - (len(tokens) - 1 in places(tokens, legal)),
            "left from place 0 is ab, and abc",
        ),
        "the last place": (lambda *given: (places(*given) or [len(given[0])])[-1], 'place 1 is name"'),
        "from the end": (from_the_end, "left from place 0 is ab"),
        "one token, not all that is left": (
            first_place(lambda one, left, token: goes_on(one, token)),
            "no legal piece",
        ),
        "equal is beyond": (
            first_place(lambda one, left, token: one.startswith(left)),
            "no legal piece begins with it",
        ),
        "longer is beyond": (
            first_place(lambda one, left, token: len(one) > len(left)),
            "no legal piece begins with it",
        ),
        "the piece holds it": (first_place(lambda one, left, token: left in one[1:]), "begins with it"),
        "it begins with the piece": (first_place(lambda one, left, token: left.startswith(one)), "begins with it"),
        "by name": (by_name, "left from place 1 is a, and aa begins"),
        "True and False": (lambda *given: bool(places(*given)), "a number of tokens is expected"),
        "the tokens": (lambda tokens, legal: tokens[: heal(tokens, legal)], "a number of tokens is expected"),
        "texts": (as_text, "UnicodeDecodeError"),
        "its tokens removed": (take_off, "work on a copy"),
        "endless": (wait, "does not end"),
    },
    "speedup": {
        "reading is free": (lambda fraction, *given: 1 / (1 - fraction), r"\(1 - 0.5\) × 1 \+ 1 × 1 = 1.5 ms with it"),
        "upside down": (lambda *given: 1 / speedup(*given), "ms without jump-forward"),
        "none": (lambda *given: 1.0, "ms without jump-forward"),
        "the free fraction": (
            lambda fraction, *given: speedup(min(1 - fraction, 0.5), *given),
            "ms without jump-forward",
        ),
        "one row": (lambda *given: speedup(*given[:3], 1), "1 × 8"),
        "forced tokens are not read": (price(lambda f, rows: rows, lambda f, rows: (1 - f) * rows), "with it"),
        "free tokens are not read": (price(lambda f, rows: rows, lambda f, rows: f * rows), "with it"),
        "no reading without jump-forward": (price(lambda f, rows: 0, lambda f, rows: rows), "without jump-forward"),
        "one row with jump-forward": (price(lambda f, rows: rows, lambda f, rows: 1), "1 × 8"),
        "a pass per row": (price(lambda f, rows: rows, lambda f, rows: rows, True), "1 × 8"),
        "rounded": (lambda *given: round(speedup(*given), 2), "ms with it"),
        "a text": (lambda *given: f"{speedup(*given)} times", "a number is expected"),
        "milliseconds saved": (lambda fraction, pass_ms, *given: fraction * pass_ms, "ms"),
        "percent": (lambda *given: 100 * speedup(*given), "ms"),
    },
}
RIGHT = {
    "forced": {
        "recursion": recursive,
        "a bytearray": lambda *given: bytearray(forced(*given)),
        "NumPy bytes": lambda *given: np.array(list(forced(*given)), dtype=np.uint8).tobytes(),
    },
    "heal": {
        "recursion": heal_by_recursion,
        "a NumPy integer": by_running_ends,
        "the smallest place": lambda tokens, legal: min([*places(tokens, legal), len(tokens)]),
    },
    "speedup": {
        "a NumPy scalar": lambda fraction, a, c, rows: np.float64(a + c * rows) / (a * (1 - fraction) + c * rows),
        "milliseconds saved": lambda fraction, a, c, rows: 1 / (1 - fraction * a / (a + c * rows)),
        "float32": lambda *given: np.float32(speedup(*given)),
        "an array of one number": lambda *given: np.array(speedup(*given)),
    },
}
