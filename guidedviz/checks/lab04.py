"""Lab 04: the legal tokens of a state, a price, and the schema of an event."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from guidedviz.checks.machine import check_machine, follow
from guidedviz.checks.verdict import Case, Verdict, agrees, call, check_function, same_set, show
from guidedviz.machines.dfa import DFA
from guidedviz.machines.machine import read
from guidedviz.machines.regex import regex
from guidedviz.machines.schema import flat_schema
from guidedviz.machines.sketch import sketch_dfa
from guidedviz.machines.visible import visible
from guidedviz.tokens.explain import explain_token
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.views.figure import Figure
from guidedviz.views.machine import draw_machine

DECIMAL = r"\d+(\.\d+)?"
# A regex, what was read of it, and pieces; from one token that is all there is to say to a small vocabulary.
TRIALS: tuple[tuple[str, bytes, list[bytes]], ...] = (
    ("3", b"", [b"3"]),
    ("3", b"", [b"x"]),
    ("3", b"", [b"x", b"3"]),
    ("3", b"", [b"3x", b"x3", b"3", b"3"]),
    ("34", b"3", [b"3", b"4"]),
    (DECIMAL, b"3", [b".", b".5", b"x"]),
    (DECIMAL, b"3.", [b".5", b"5", b"5.", b"55"]),
    ("(a[.]b|x)+", b"x", [b"a.", b"a.bx", b"a-b", b"a.xb", b"xxa"]),
    ("[é-ë]", b"", ["é".encode(), b"\xc3", b"\xa9", "ì".encode(), b"e"]),
    ("[é-ë]", b"\xc3", ["é".encode(), b"\xc3", b"\xa9", b"\xac"]),
    (DECIMAL, b"", [b"3", b"42", b".", b".5", b"3.", b"7.5", b"..", b"3x", b"x", b" 3"]),
)


def check_legal_tokens(answer: Callable[[DFA, int, Sequence[bytes]], Iterable[int]]) -> Verdict:
    """Lab 04: does `answer(machine, state, pieces)` find the ids of all pieces that the machine can read?

    >>> check_legal_tokens(lambda machine, state, pieces: [
    ...     token for token, piece in enumerate(pieces) if machine.step(state, piece[0]) is not None])
    ✗ not yet right: on input 4 of 11, the smallest on which it fails
        input       regex 3, in q0: nothing was read
        pieces      [b'3x', b'x3', b'3', b'3']
        token 0     b'3x'
        yours says  legal
        expected    illegal
        because     after 3, x cannot come: expected the end
    """
    cases = [_case(*trial) for trial in TRIALS]
    verdict = check_function(answer, cases, same_set)
    if verdict.result != "wrong" or not callable(answer):
        return verdict
    for trial, case in zip(TRIALS, cases, strict=True):
        value, _ = call(answer, case.arguments)
        if not agrees(value, case.expected, same_set):
            token = _wrong_token(case, value)
            facts = (*_setting(trial, case), *_mistake(case, value, token))
            return Verdict("wrong", verdict.said, facts, None if token is None else _draw_token(case, token))
    return verdict  # it changed its input


def _case(text: str, begun: bytes, pieces: list[bytes]) -> Case:
    machine = regex(text)
    state = read(machine, begun)
    legal = {token for token, piece in enumerate(pieces) if read(machine, piece, state) is not None}
    return Case((machine, state, pieces), legal)


def _setting(trial: tuple[str, bytes, list[bytes]], case: Case) -> tuple[tuple[str, str], ...]:
    """What the answer was asked."""
    text, begun, pieces = trial
    read_so_far = show(begun)[1:] if begun else "nothing"
    return ("input", f"regex {text}, in q{case.arguments[1]}: {read_so_far} was read"), ("pieces", show(pieces))


def _wrong_token(case: Case, value: Any) -> int | None:
    """The shortest token on which an answer is wrong; None if the answer is no set of ids, or has ids of no token."""
    try:
        wrong = {int(token) for token in value} ^ case.expected
    except (TypeError, ValueError):
        return None
    pieces = case.arguments[2]
    return min((t for t in wrong if 0 <= t < len(pieces)), key=lambda t: (len(pieces[t]), t), default=None)


def _mistake(case: Case, value: Any, token: int | None) -> tuple[tuple[str, str], ...]:
    """What the answer says of a token, what it is, and why."""
    if token is None:
        return ("yours gave", show(value)), ("expected", show(case.expected))
    machine, state, pieces = case.arguments
    says, right = ("illegal", "legal") if token in case.expected else ("legal", "illegal")
    why = explain_token(machine, Vocabulary(pieces), state, token).reason
    return (f"token {token}", show(pieces[token])), ("yours says", says), ("expected", right), ("because", why)


def _draw_token(case: Case, token: int) -> Figure:
    """The way of a token through the machine, and the byte where it died."""
    machine, state, pieces = case.arguments
    path = follow(sketch_dfa(machine), pieces[token], state)
    died = visible(pieces[token][len(path) - 1 : len(path)])
    return draw_machine(machine, path, title=f"token {token}, {visible(pieces[token])}", died=died)


def check_price(answer: str) -> Verdict:
    """Lab 04: does a regex accept prices such as `$0.50` and `$12.00`?

    >>> check_price(r"\\$[0-9]{1,5}\\.[0-9]{2}").facts[0]
    ('text', '$00.00')
    """
    return check_machine(answer, regex(r"\$(0|[1-9][0-9]{0,4})\.[0-9]{2}"))


EVENT = {
    "type": "object",
    "properties": {
        "event": {"enum": ["concert", "meeting", "wedding"]},
        "date": {"type": "string", "format": "date"},
        "seats": {"type": "integer", "minimum": 1, "maximum": 999},
    },
    "required": ["event", "date", "seats"],
}


def check_event_schema(answer: dict[str, Any]) -> Verdict:
    """Lab 04: does a schema accept the three keys of an event and nothing else?

    >>> check_event_schema(EVENT | {"required": ["event", "date"]}).facts[1]
    ('yours', 'accepts it')
    """
    if isinstance(answer, dict) and not answer.get("properties"):
        return Verdict("open", "the schema has no properties so far")
    return check_machine(answer, flat_schema(EVENT), read=flat_schema)
