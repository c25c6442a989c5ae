"""Why a token is legal or not: feed its bytes to the machine one by one and say where it died."""

from __future__ import annotations

from collections.abc import Hashable
from operator import index
from typing import Any

from guidedviz.errors import IllegalToken
from guidedviz.machines.machine import Machine, next_bytes, stack_of
from guidedviz.machines.visible import visible, visible_bytes
from guidedviz.tokens.guide import Explanation
from guidedviz.tokens.vocabulary import Vocabulary


def label_state(state: Hashable) -> str:
    """A state's name for people.

    >>> label_state(3)
    'q3'
    """
    return f"q{state}" if isinstance(state, int) else str(state)


def expected_next(machine: Machine, state: Hashable) -> str:
    """What may come next, in words.

    >>> from guidedviz.machines.regex import regex
    >>> number = regex("[0-9]+")
    >>> expected_next(number, 0), expected_next(number, 1)
    ('0-9', '0-9 or the end')
    """
    choices, may_end = next_bytes(machine, state), machine.is_accepting(state)
    if not choices:
        return "the end" if may_end else "nothing"
    return visible_bytes(choices) + (" or the end" if may_end else "")


def token_path(machine: Machine, vocabulary: Vocabulary, state: Hashable, token: int) -> tuple[Hashable, ...]:
    """The states of the machine inside a token: the one before it, then one more for every byte that passed.

    >>> from guidedviz.machines.regex import regex
    >>> token_path(regex("[0-9]+"), Vocabulary([b"42", b"4x"]), 0, 1)
    (0, 1)
    """
    token = check_id(vocabulary, token)
    states = [state]
    for byte in vocabulary.pieces[token] if is_text(vocabulary, token) else b"":
        if (reached := machine.step(states[-1], byte)) is None:
            break
        states.append(reached)
    return tuple(states)


def explain_token(machine: Machine, vocabulary: Vocabulary, state: Hashable, token: int) -> Explanation:
    """The token's way through the machine.

    >>> from guidedviz.machines.regex import regex
    >>> why = explain_token(regex("[0-9]+"), Vocabulary([b"42", b"4x"]), 0, 1)
    >>> why.legal, why.died_at, why.states, why.reason
    (False, 1, ('q0', 'q1'), 'after 4, x cannot come: expected 0-9 or the end')
    """
    token = check_id(vocabulary, token)
    piece = vocabulary.pieces[token]
    if not is_text(vocabulary, token):
        return _explain_other(machine, vocabulary, state, token)
    states = token_path(machine, vocabulary, state, token)
    passed = len(states) - 1
    legal = passed == len(piece)
    expected = expected_next(machine, states[-1])
    labels = tuple(map(label_state, states))
    stack = stack_of(machine, states[-1])
    wanted = _say_wanted(machine, states[-1], expected)
    reason = f"every byte passes: {labels[0]} to {labels[-1]}" if legal else _death(piece, passed, wanted)
    return Explanation(token, piece, legal, None if legal else passed, expected, labels, stack, reason)


def _death(piece: bytes, passed: int, wanted: str) -> str:
    where = f"after {visible(piece[:passed])}, " if passed else ""
    return f"{where}{visible(piece[passed : passed + 1])} cannot come: {wanted}"


def _say_wanted(machine: Any, state: Hashable, expected: str) -> str:
    """What stands in the way: the innermost open rule that cannot end, or else all that was expected."""
    frame = _unfinished(machine, state)
    if frame is None:
        return f"expected {expected}"
    innermost = machine.frames(state)[0] == frame
    which = "the innermost open rule" if innermost else "the innermost open rule that cannot end here"
    return f"{which} is {frame.rule}, which waits for {frame.waits}"


def _say_open(machine: Any, state: Hashable, expected: str) -> str:
    """Why the text cannot end."""
    frame = _unfinished(machine, state)
    return f"{frame.rule} is still open and waits for {frame.waits}" if frame else f"expected {expected}"


def _unfinished(machine: Any, state: Hashable) -> Any:
    """The frame of a stack that cannot be left yet; None where there is none, or no stack."""
    return machine.unfinished(state) if hasattr(machine, "unfinished") else None


def _explain_other(machine: Machine, vocabulary: Vocabulary, state: Hashable, token: int) -> Explanation:
    """EOS, special ids and ids without bytes."""
    expected = expected_next(machine, state)
    legal = token in vocabulary.eos and machine.is_accepting(state)
    reason = reason_of_no_text(vocabulary, token, legal, _say_open(machine, state, expected))
    labels, stack = (label_state(state),), stack_of(machine, state)
    return Explanation(token, vocabulary.pieces[token], legal, None, expected, labels, stack, reason)


def reason_of_no_text(vocabulary: Vocabulary, token: int, legal: bool, wanted: str) -> str:
    """One sentence about an id that stands for no text.

    >>> reason_of_no_text(Vocabulary([b"</s>"], eos={0}), 0, False, "expected 0-9")
    'EOS would end the text before it is complete: expected 0-9'
    """
    if token in vocabulary.eos:
        return "EOS: the text may end here" if legal else f"EOS would end the text before it is complete: {wanted}"
    return "a special token is never text" if token in vocabulary.special else "the token has no bytes"


def is_text(vocabulary: Vocabulary, token: int) -> bool:
    """May this id stand for text?

    >>> v = Vocabulary([b"a", b"", b"</s>"], eos={2})
    >>> [is_text(v, token) for token in range(3)]
    [True, False, False]
    """
    return bool(vocabulary.pieces[token]) and token not in vocabulary.eos and token not in vocabulary.special


def check_id(vocabulary: Vocabulary, token: Any) -> int:
    """The token id as a plain int; anything else is refused.

    >>> check_id(Vocabulary([b"a"]), 1)
    Traceback (most recent call last):
    guidedviz.errors.IllegalToken: token 1: saw no such id, expected 0 to 0
    """
    try:
        if 0 <= index(token) < len(vocabulary):
            return index(token)
    except TypeError:
        pass
    raise IllegalToken(f"token {token!r}", seen="no such id", expected=f"0 to {len(vocabulary) - 1}")


def illegal_token(vocabulary: Vocabulary, why: Explanation) -> IllegalToken:
    """The error of a token that the mask forbids."""
    return IllegalToken(f"token {why.token} {vocabulary.display(why.token)!r} in {why.states[0]}: {why.reason}")
