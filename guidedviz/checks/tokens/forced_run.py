"""The forced bytes of a state, how many tokens of their spelling are safe, and the speed-up of jump-forward."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from guidedviz.checks.judge import Case, Mistake, check_function, close
from guidedviz.checks.same_language import draw_path, say_start
from guidedviz.checks.verdict import Verdict, show
from guidedviz.decoding.jump import Cost
from guidedviz.machines.forced import forced_bytes
from guidedviz.machines.machine import next_bytes, read
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.regex import regex
from guidedviz.machines.visible import visible, visible_bytes

BEGUN = {  # for each regex the texts read so far
    "a": [b""],
    "ab": [b"", b"a", b"ab"],
    "a|b": [b""],
    "ab?": [b"", b"a"],
    "a[bc]d": [b""],
    "(ab)*": [b"", b"a"],
    "a+b": [b"", b"a"],
    "ab(cd)?": [b"", b"ab", b"abc"],
    r"a\x00b?": [b""],
    "a{30}b?": [b""],
    "café[0-9]": [b""],
    "name: [a-z]+": [b"", b"name: "],
    r'\{"id": [0-9]+\}': [b"", b'{"i', b'{"id": 7'],
    r'\{"name": "[a-z]+"\}': [b""],
}
RUNS = [(text, begun) for text, texts in BEGUN.items() for begun in texts]
SPELLED: tuple[tuple[list[bytes], list[set[bytes]]], ...] = (  # tokens, and the pieces that are legal at each
    ([], []),
    ([b"a"], [{b"a"}]),
    ([b"a"], [{b"a", b"ab"}]),
    ([b"ab"], [{b"a", b"ab", b"abc"}]),
    ([b"ab"], [{b"a", b"ab", b"xyz"}]),
    ([b"a", b"b"], [{b"a", b"ab"}, {b"b"}]),
    ([b"a", b"b"], [{b"a"}, {b"b", b"bc"}]),
    ([b"a", b"b"], [{b"a", b"acb"}, {b"b"}]),
    ([b"a", b"b"], [{b"a", b"abc"}, {b"b"}]),
    ([b"a", b"a"], [{b"a", b"aa"}, {b"a", b"aa"}]),
    ([b"or", b"der"], [{b"or", b"order", b"orderId"}, {b"der"}]),
    ([b"caf", b"\xc3"], [{b"caf"}, {b"\xc3", b"\xc3\xa9"}]),
    ([b'{"', b"na", b"me"], [{b"{", b'{"'}, {b"na", b"name"}, {b"m", b"me"}]),
    ([b'{"', b"na", b"me"], [{b"{", b'{"'}, {b"na", b"names"}, {b"m", b"me"}]),
    ([b'{"', b"na", b"me", b'"'], [{b'{"'}, {b"na", b'name":'}, {b"me", b'me"'}, {b'"', b'":'}]),
)
PRICES = (  # the fraction, pass_ms, token_ms, and the rows
    (0.0, 1.0, 0.0, 1),
    (0.5, 1.0, 0.0, 1),
    (0.75, 9.0, 0.0, 1),
    (0.0, 9.0, 1.0, 1),
    (0.5, 1.0, 1.0, 1),
    (0.75, 9.0, 1.0, 1),
    (0.75, 9.0, 1.0, 8),
    (0.75, 9.0, 1.0, 10_000),
    (0.95, 20.0, 0.05, 64),
)


def check_forced(answer: Callable[[DFA, Any], bytes] | Any) -> Verdict:
    """Does `answer(machine, state)` give the bytes that must come next?

    >>> check_forced(lambda machine, state: b"" if machine.is_accepting(state) else bytes(
    ...     byte for byte in range(256) if machine.step(state, byte) is not None)[:1])
    ✗ not yet right: on input 2 of 24, the smallest on which it fails
        input       regex ab, in q0: nothing was read
        yours gave  b'a'
        expected    b'ab'
        because     after a only b may come, and the text may not end, so b is forced
    """
    return check_function(answer, [_run(*one) for one in RUNS], explain=_run_mistake)


def _run(text: str, begun: bytes) -> Case:
    machine = regex(text)
    state: Any = read(machine, begun)
    return Case((machine, state), forced_bytes(machine, state), given=(("input", say_start(text, begun, state)),))


def _run_mistake(case: Case, value: Any) -> Mistake:
    """The path of the student's bytes through the machine, and the first byte that is wrong or missing."""
    if not isinstance(value, bytes):
        return Mistake()
    machine, state = case.arguments
    return Mistake(say_forced(machine, state, value), draw_path(machine, value, state, "the path of your bytes"))


def say_forced(machine: DFA, state: Any, gave: bytes) -> str:
    """Why some bytes are not the forced bytes: at the first byte that is wrong or missing.

    >>> say_forced(regex("ab(cd)?"), 0, b"abcd"), say_forced(regex("[ab]"), 0, b"a")
    ('after ab the text may end, so c is not forced', 'here there is a choice, a b, so a is not forced')
    """
    right = forced_bytes(machine, state)
    at = max(end for end in range(len(right) + 1) if gave.startswith(right[:end]))
    here: Any = read(machine, right[:at], state)
    where = f"after {visible(right[:at])}" if at else "here"
    if at < len(right):
        byte = visible(right[at : at + 1])
        return f"{where} only {byte} may come, and the text may not end, so {byte} is forced"
    byte, choices = visible(gave[at : at + 1]), next_bytes(machine, here)
    if gave[at] not in choices:
        return f"{where} {byte} cannot come"
    if machine.is_accepting(here):
        return f"{where} the text may end, so {byte} is not forced"
    return f"{where} there is a choice, {visible_bytes(choices)}, so {byte} is not forced"


def check_heal(answer: Callable[[Sequence[bytes], Sequence[set[bytes]]], int] | Any) -> Verdict:
    """Does `answer(tokens, legal)` say how many of the tokens are safe, so that the model chooses the others?

    >>> check_heal(lambda tokens, legal: len(tokens))
    ✗ not yet right: on input 3 of 15, the smallest on which it fails
        tokens      [b'a']
        legal[0]    {b'a', b'ab'}
        yours gave  1
        expected    0
        because     what is left from place 0 is a, and ab begins with it and is longer
    """
    cases = []
    for tokens, legal in SPELLED:
        given = (("tokens", show(tokens)), *((f"legal[{place}]", show(pieces)) for place, pieces in enumerate(legal)))
        cases.append(Case((list(tokens), list(legal)), count_kept(tokens, legal), given=given))
    return check_function(answer, cases, explain=_kept_mistake)


def count_kept(tokens: Sequence[bytes], legal: Sequence[set[bytes]]) -> int:
    """The number of tokens before the first place where a legal piece begins with all that is left and is longer.

    >>> count_kept([b"x", b"or", b"der"], [{b"x"}, {b"or", b"orderId"}, {b"der"}])
    1
    """
    return next((place for place in range(len(tokens)) if _longer(tokens, legal, place)), len(tokens))


def _longer(tokens: Sequence[bytes], legal: Sequence[set[bytes]], place: int) -> list[bytes]:
    """The legal pieces that begin with all that is left, and are longer."""
    left = b"".join(tokens[place:])
    return sorted(piece for piece in legal[place] if piece.startswith(left) and piece != left)


def _kept_mistake(case: Case, value: Any) -> Mistake:
    tokens, legal = case.arguments
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= len(tokens):
        return Mistake(f"a number of tokens is expected, from 0 to {len(tokens)}")
    place = min(value, case.expected)
    longer = _longer(tokens, legal, place)
    left, which = visible(b"".join(tokens[place:])), visible(longer[0]) if longer else "no legal piece"
    return Mistake(f"what is left from place {place} is {left}, and {which} begins with it and is longer")


def check_speedup(answer: Callable[[float, float, float, int], float] | Any) -> Verdict:
    """Does `answer(fraction, pass_ms, token_ms, rows)` say how many times as fast jump-forward is?

    >>> check_speedup(lambda fraction, pass_ms, token_ms, rows: 1 / (1 - fraction))
    ✗ not yet right: on input 5 of 9, the smallest on which it fails
        fraction    0.5
        pass_ms     1
        token_ms    1
        rows        1
        yours gave  2
        expected    1.333
        because     a token takes 1 + 1 × 1 = 2 ms without jump-forward, and (1 - 0.5) × 1 + 1 × 1 = 1.5 ms with it
    """
    return check_function(answer, [_price(*price) for price in PRICES], close)


def _price(fraction: float, pass_ms: float, token_ms: float, rows: int) -> Case:
    numbers = (fraction, pass_ms, token_ms, rows)
    names = ("fraction", "pass_ms", "token_ms", "rows")
    given = tuple((name, show(number)) for name, number in zip(names, numbers, strict=True))
    reading = token_ms * rows
    naive = f"{pass_ms:g} + {token_ms:g} × {rows} = {pass_ms + reading:g} ms"
    jumped = f"(1 - {fraction:g}) × {pass_ms:g} + {token_ms:g} × {rows} = {(1 - fraction) * pass_ms + reading:g} ms"
    why = f"a token takes {naive} without jump-forward, and {jumped} with it"
    return Case(numbers, Cost(pass_ms, token_ms).speedup(fraction, rows), why, given)
