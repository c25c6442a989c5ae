"""Why a token is legal or not: the machine reads its bytes one by one, up to the first byte that it rejects."""

from dataclasses import dataclass
from typing import Any

from guidedviz.errors import IllegalToken, SettingError, quoted
from guidedviz.machines.machine import Machine, S, next_bytes, read_path
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


def expected_next(machine: Machine[S], state: S) -> str:
    """What may come next, in words.

    >>> number = gv.regex("[0-9]+")
    >>> expected_next(number, 0), expected_next(number, 1)
    ('0-9', '0-9 or the end')
    """
    said = []
    choices = next_bytes(machine, state)
    if choices:
        said.append(visible_bytes(choices))
    if machine.is_accepting(state):
        said.append("the end")
    return " or ".join(said) or "nothing"


def token_path(machine: Machine[S], vocabulary: Vocabulary, state: S, token: int) -> tuple[S, ...]:
    """The states of the machine inside a token: the state before it, then one state per accepted byte.

    >>> token_path(gv.regex("[0-9]+"), gv.Vocabulary([b"42", b"4x"]), 0, 1)
    (0, 1)
    """
    token = vocabulary.as_id(token)
    piece = vocabulary.pieces[token] if vocabulary.is_text(token) else b""
    return read_path(machine, piece, state)


def explain_token(machine: Machine[Any], vocabulary: Vocabulary, state: Any, token: int) -> Explanation:
    """Explain a token by the states after each of its bytes.

    >>> why = explain_token(gv.regex("[0-9]+"), gv.Vocabulary([b"42", b"4x"]), 0, 1)
    >>> why.legal, why.died_at, why.states, why.reason
    (False, 1, ('q0', 'q1'), 'after 4, x cannot come: expected 0-9 or the end')
    """
    token = vocabulary.as_id(token)
    piece = vocabulary.pieces[token]
    states = token_path(machine, vocabulary, state, token)
    labels = tuple(map(machine.describe, states))
    passed = len(states) - 1  # bytes
    here = states[-1]
    expected = expected_next(machine, here)
    frame = machine.unfinished(here) if isinstance(machine, PDA) else None
    died_at = None
    if not vocabulary.is_text(token):
        legal = token in vocabulary.eos and machine.is_accepting(state)
        wanted = f"{frame.rule} is still open and waits for {frame.waits}" if frame else f"expected {expected}"
        reason = reason_of_no_text(vocabulary, token, legal, wanted)
    elif legal := passed == len(piece):
        reason = f"every byte passes: {labels[0]} to {labels[-1]}"
    else:
        died_at = passed
        wanted = f"expected {expected}"
        if isinstance(machine, PDA) and frame:
            which = "" if machine.frames(here)[0] == frame else " that cannot end here"
            wanted = f"the innermost open rule{which} is {frame.rule}, which waits for {frame.waits}"
        after = f"after {visible(piece[:passed])}, " if passed else ""
        reason = f"{after}{visible(piece[passed : passed + 1])} cannot come: {wanted}"
    return Explanation(token, piece, legal, died_at, expected, labels, machine.stack(here), reason)


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
    state = f" in {why.states[0]}" if why.states[0] else ""
    return IllegalToken(f"token {why.token} {vocabulary.display(why.token)!r}{state}: {why.reason}")
