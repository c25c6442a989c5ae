"""A mask of another engine, judged byte by byte: the tokens that it omits, and those that it must not allow."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from guidedviz.checks.judge import Case, Mistake, check_function, same_set, say_not_ids
from guidedviz.checks.machines.finite_machines import DECIMAL
from guidedviz.checks.same_language import say_start
from guidedviz.checks.verdict import Verdict, show
from guidedviz.machines.machine import read
from guidedviz.machines.regular.regex import regex
from guidedviz.machines.visible import visible

Faults = tuple[Iterable[int], Iterable[int]]
MASKS: tuple[tuple[str, bytes, list[bytes], set[int]], ...] = (  # a regex, the text so far, pieces, the engine's ids
    ("a", b"", [b"a"], {0}),
    ("a", b"", [b"a"], set()),
    ("a", b"", [b"a", b"b"], {0, 1}),
    ("ab", b"", [b"a", b"ab", b"b"], {0, 2}),
    ("ab", b"a", [b"a", b"ab", b"b"], {0, 2}),
    ("ab", b"a", [b"b", b"bb", b"ba"], {1, 2}),
    ("a|ab", b"", [b"a", b"ab", b"abc", b"a"], {0, 2}),
    (DECIMAL, b"3", [b".", b".5", b"3.", b"x", b"3x", b".."], {1, 4}),
    ("[^\\x00]*é", b"", [b"\xc3", b"\xa9", b"\x00", b"\xc3\xa9"], {1, 3}),
)


def check_faults(answer: Callable[[Any, Any, list[bytes], set[int]], Faults]) -> Verdict:
    """Does `answer(machine, state, pieces, allowed)` give the legal ids that are missing, and the illegal ones?

    >>> check_faults(lambda machine, state, pieces, allowed: (set(), set()))
    ✗ not yet right: on input 2 of 9, the smallest on which it fails
        machine     regex a, in q0: nothing was read
        pieces      [b'a']
        allowed     set()
        yours gave  (set(), set())
        expected    ({0}, set())
        because     token 0, a, is legal, and the engine omits it, so it is missing
    """
    return check_function(answer, [_mask(*one) for one in MASKS], _same, _mistake)


def _mask(text: str, begun: bytes, pieces: list[bytes], allowed: set[int]) -> Case:
    machine = regex(text)
    state: Any = read(machine, begun)
    legal = {token for token, piece in enumerate(pieces) if read(machine, piece, state) is not None}
    given = (("machine", say_start(text, begun, state)), ("pieces", show(pieces)), ("allowed", show(allowed)))
    return Case((machine, state, list(pieces), set(allowed)), (legal - allowed, allowed - legal), given=given)


def _same(value: Any, expected: tuple[set[int], set[int]]) -> bool:
    missing, extra = value
    return same_set(missing, expected[0]) and same_set(extra, expected[1])


def _mistake(case: Case, value: Any) -> Mistake:
    machine, state, pieces, allowed = case.arguments
    if not isinstance(value, tuple | list) or len(value) != 2:
        return Mistake("two sets of ids are expected: the missing, then the extra")
    for name, gave, right in zip(("missing", "extra"), value, case.expected, strict=True):
        if said := say_not_ids(gave):
            return Mistake(f"{name}: {said}")
        for token in sorted(set(gave) ^ right):
            if not 0 <= token < len(pieces):
                return Mistake(f"{name}: {token} is not in the vocabulary")
            legal = "legal" if read(machine, pieces[token], state) is not None else "illegal"
            does = "allows" if token in allowed else "omits"
            is_fault = f"so it {'is' if token in right else 'is not'} {name}"
            return Mistake(f"token {token}, {visible(pieces[token])}, is {legal}, and the engine {does} it, {is_fault}")
    return Mistake()
