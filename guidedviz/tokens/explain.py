"""Explain why a token is legal or not: the machine reads its bytes one by one, up to the first byte that it rejects."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from guidedviz.errors import IllegalToken, SettingError, quoted
from guidedviz.machines.machine import Machine, next_bytes
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.visible import visible, visible_bytes
from guidedviz.tokens.vocabulary import Vocabulary


@dataclass(frozen=True)
class Explanation:
    """Why a token is legal or not: its bytes one by one, and the byte that is refused."""

    token: int
    piece: bytes
    legal: bool
    died_at: int | None  # index of the byte that no complete output allows; None if every byte passed
    expected: str  # what was expected there, in words
    states: tuple[str, ...]  # the state before each byte that passed, and the one after the last
    stack: tuple[str, ...]
    reason: str  # one sentence


def expected_next(machine: Machine[Any], state: Hashable) -> str:
    """What may come next, in words.

    >>> number = gv.regex("[0-9]+")
    >>> expected_next(number, 0), expected_next(number, 1)
    ('0-9', '0-9 or the end')
    """
    choices, may_end = next_bytes(machine, state), machine.is_accepting(state)
    if not choices:
        return "the end" if may_end else "nothing"
    return visible_bytes(choices) + (" or the end" if may_end else "")


def token_path(machine: Machine[Any], vocabulary: Vocabulary, state: Hashable, token: int) -> tuple[Hashable, ...]:
    """The states of the machine inside a token: the state before it, then one state per accepted byte.

    >>> token_path(gv.regex("[0-9]+"), gv.Vocabulary([b"42", b"4x"]), 0, 1)
    (0, 1)
    """
    token = vocabulary.as_id(token)
    states = [state]
    for byte in vocabulary.pieces[token] if vocabulary.is_text(token) else b"":
        if (reached := machine.step(states[-1], byte)) is None:
            break
        states.append(reached)
    return tuple(states)


def explain_token(machine: Machine[Any], vocabulary: Vocabulary, state: Hashable, token: int) -> Explanation:
    """Explain a token by the states after each of its bytes.

    >>> why = explain_token(gv.regex("[0-9]+"), gv.Vocabulary([b"42", b"4x"]), 0, 1)
    >>> why.legal, why.died_at, why.states, why.reason
    (False, 1, ('q0', 'q1'), 'after 4, x cannot come: expected 0-9 or the end')
    """
    token = vocabulary.as_id(token)
    piece = vocabulary.pieces[token]
    if not vocabulary.is_text(token):
        return _explain_other(machine, vocabulary, state, token)
    states = token_path(machine, vocabulary, state, token)
    passed = len(states) - 1
    legal = passed == len(piece)
    expected = expected_next(machine, states[-1])
    labels = tuple(map(machine.describe, states))
    stack = machine.stack(states[-1])
    wanted = _say_wanted(machine, states[-1], expected)
    reason = f"every byte passes: {labels[0]} to {labels[-1]}" if legal else _death(piece, passed, wanted)
    return Explanation(token, piece, legal, None if legal else passed, expected, labels, stack, reason)


def _death(piece: bytes, passed: int, wanted: str) -> str:
    where = f"after {visible(piece[:passed])}, " if passed else ""
    return f"{where}{visible(piece[passed : passed + 1])} cannot come: {wanted}"


def _say_wanted(machine: Machine[Any], state: Any, expected: str) -> str:
    """Describe what is missing: the innermost open rule that cannot end, or else everything expected."""
    frame = machine.unfinished(state) if isinstance(machine, PDA) else None
    if not isinstance(machine, PDA) or frame is None:
        return f"expected {expected}"
    innermost = machine.frames(state)[0] == frame
    which = "the innermost open rule" if innermost else "the innermost open rule that cannot end here"
    return f"{which} is {frame.rule}, which waits for {frame.waits}"


def _say_open(machine: Machine[Any], state: Any, expected: str) -> str:
    """Why the text cannot end."""
    frame = machine.unfinished(state) if isinstance(machine, PDA) else None
    return f"{frame.rule} is still open and waits for {frame.waits}" if frame else f"expected {expected}"


def _explain_other(machine: Machine[Any], vocabulary: Vocabulary, state: Hashable, token: int) -> Explanation:
    """Explain EOS, special ids and ids without bytes."""
    expected = expected_next(machine, state)
    legal = token in vocabulary.eos and machine.is_accepting(state)
    reason = reason_of_no_text(vocabulary, token, legal, _say_open(machine, state, expected))
    labels, stack = (machine.describe(state),), machine.stack(state)
    return Explanation(token, vocabulary.pieces[token], legal, None, expected, labels, stack, reason)


def reason_of_no_text(vocabulary: Vocabulary, token: int, legal: bool, wanted: str) -> str:
    """One sentence that explains why an id without text is legal or not.

    >>> reason_of_no_text(Vocabulary([b"</s>"], eos={0}), 0, False, "expected 0-9")
    'EOS would end the text before it is complete: expected 0-9'
    """
    if token in vocabulary.eos:
        return "EOS: the text may end here" if legal else f"EOS would end the text before it is complete: {wanted}"
    return "a special token is never text" if token in vocabulary.special else "the token has no bytes"


def foreign_state(guide: object, state: object) -> SettingError:
    """The error for something that is not a state of this guide.

    >>> print(foreign_state("the guide", 3.5))
    state: saw 3.5, expected a state of the guide; try: guide.initial, or what guide.advance returns
    """
    hint = "guide.initial, or what guide.advance returns"
    return SettingError("state", seen=quoted(state), expected=f"a state of {guide!s}", hint=hint)


def illegal_token(vocabulary: Vocabulary, why: Explanation) -> IllegalToken:
    """The error for a token that the mask forbids."""
    return IllegalToken(f"token {why.token} {vocabulary.display(why.token)!r} in {why.states[0]}: {why.reason}")
