"""Exercises on forced bytes and tokens, and on what they save."""

from collections.abc import Sequence
from typing import Any

from guidedviz.checks.cases import Case, cases_of, read_table, read_trials
from guidedviz.checks.compare import alike
from guidedviz.checks.function import Mistake, check_function
from guidedviz.checks.texts import draw_path, machine_cases
from guidedviz.checks.verdict import Verdict
from guidedviz.decoding.payoff import Cost
from guidedviz.machines.machine import Machine, next_bytes, read
from guidedviz.machines.visible import visible
from guidedviz.tokens.guide import expected_next

# -- forced tokens that are left to the model, and what jump-forward saves -----------------------------------------

# tokens, and the pieces that are legal at each
SPELLED = read_table(r"""
    [], []
    [b"a"], [{b"a"}]
    [b"a"], [{b"a", b"ba"}]
    [b"a"], [{b"a", b"ab"}]
    [b"ab"], [{b"a", b"ab", b"xyz"}]
    [b"a", b"b", b"c"], [{b"a", b"abd"}, {b"b"}, {b"c"}]
    [b"a", b"b"], [{b"a", b"ab"}, {b"b"}]
    [b"a", b"b"], [{b"a"}, {b"b", b"bc"}]
    [b"a", b"b"], [{b"a", b"acb"}, {b"b"}]
    [b"a", b"a"], [{b"a", b"aa"}, {b"a", b"aa"}]
    [b"or", b"der"], [{b"or", b"order", b"orderId"}, {b"der"}]
    [b"caf", b"\xc3"], [{b"caf"}, {b"\xc3", b"\xc3\xa9"}]
    [b'{"', b"na", b"me"], [{b"{", b'{"'}, {b"na", b"names"}, {b"m", b"me"}]
    [b'{"', b"na", b"me", b'"'], [{b'{"'}, {b"na", b'name":'}, {b"me", b'me"'}, {b'"', b'":'}]
""")
# the fraction, pass_ms and token_ms
PRICES = read_trials("""
nothing is forced, so nothing is saved
    0.0, 1.0, 0.0
    0.0, 9.0, 1.0
reading costs nothing here, so only the passes count: 1 - fraction of them remain
    0.75, 9.0, 0.0
a forced token takes no pass, but it is read: only pass_ms becomes less
    0.5, 1.0, 1.0
    0.75, 9.0, 1.0
    0.75, 9.0, 8.0
    0.95, 20.0, 3.2
""")


def check_heal(answer: Any) -> Verdict:
    """Does `answer(tokens, legal)` say how many of the tokens are safe, so that the model chooses the others?

    >>> check_heal(lambda tokens, legal: len(tokens))
    ✗ not yet right: on input 4 of 14, the first on which it fails
        tokens      [b'a']
        legal       [{b'a', b'ab'}]
        yours gave  1
        expected    0
        because     stop before the first place at which a legal piece begins with all that is left and is longer
    """
    why = "stop before the first place at which a legal piece begins with all that is left and is longer"
    return check_function(answer, cases_of(count_kept, {why: SPELLED}, "tokens", "legal"))


def count_kept(tokens: Sequence[bytes], legal: Sequence[set[bytes]]) -> int:
    """The number of tokens before the first place where a legal piece begins with all that is left and is longer.

    >>> count_kept([b"x", b"or", b"der"], [{b"x"}, {b"or", b"orderId"}, {b"der"}])
    1
    """
    for place in range(len(tokens)):
        left = b"".join(tokens[place:])
        if any(piece.startswith(left) and piece != left for piece in legal[place]):
            return place
    return len(tokens)


def check_speedup(answer: Any) -> Verdict:
    """Does `answer(fraction, pass_ms, token_ms)` say how many times as fast jump-forward is?

    >>> check_speedup(lambda fraction, pass_ms, token_ms: 1 / (1 - fraction))
    ✗ not yet right: on input 4 of 7, the first on which it fails
        fraction    0.5
        pass_ms     1
        token_ms    1
        yours gave  2
        expected    1.333
        because     a forced token takes no pass, but it is read: only pass_ms becomes less
    """

    def reference(fraction: float, pass_ms: float, token_ms: float) -> float:
        return Cost(pass_ms, token_ms).speedup(fraction)

    def explain(case: Case, value: Any) -> str:
        if alike(value * case.expected, 1.0):
            return "this is the time with jump-forward divided by the time without it: turn it round"
        if value in [round(case.expected, digits) for digits in (1, 2, 3, 4)]:
            return "this number is rounded: return it with all its digits"
        return ""

    return check_function(answer, cases_of(reference, PRICES, "fraction", "pass_ms", "token_ms"), explain)


# -- forced bytes --------------------------------------------------------------------------------------------------

# a regex, and the text read so far
BEGUN = read_table(r"""
    "a", b""
    "ab", b""
    "ab", b"a"
    "ab", b"ab"
    "a|b", b""
    "ab?", b""
    "ab?", b"a"
    "a[bc]d", b""
    "(ab)*", b""
    "(ab)*", b"a"
    "a+b", b""
    "a+b", b"a"
    "ab(cd)?", b""
    "ab(cd)?", b"ab"
    "ab(cd)?", b"abc"
    r"a\x00b?", b""
    "a{30}b?", b""
    "café[0-9]", b""
    "name: [a-z]+", b""
    "name: [a-z]+", b"name: "
    r'\{"id": [0-9]+\}', b'{"i'
    r'\{"id": [0-9]+\}', b""
    "[éè]", b""
    "caf[éè]s", b""
    "[éè]s", b"\xc3"
""")


def check_forced(answer: Any) -> Verdict:
    """Does `answer(machine, state)` give the bytes that must come next, also where they end inside a character?

    >>> check_forced(lambda machine, state: b"" if machine.is_accepting(state) else bytes(
    ...     byte for byte in range(256) if machine.step(state, byte) is not None)[:1])
    ✗ not yet right: on input 2 of 25, the first on which it fails
        machine     regex ab, in q0: nothing was read
        yours gave  b'a'
        expected    b'ab'
        because     after a may come: b
    """

    def say(case: Case, value: Any) -> Mistake:
        machine, state = case.arguments
        because = say_forced(machine, state, value)
        return Mistake(because, draw_path(machine, value, state, "the path of your bytes"))

    return check_function(answer, machine_cases(forced_run, BEGUN), say)


def forced_run(machine: Machine[Any], state: Any) -> bytes:
    """The forced bytes, not cut to whole characters as the library cuts them.

    >>> forced_run(gv.regex("caf[éè]"), 0)
    b'caf\\xc3'
    """
    run = b""
    while not machine.is_accepting(state):
        ways = next_bytes(machine, state)
        if len(ways) != 1:
            break
        run += ways
        state = machine.step(state, ways[0])
    return run


def say_forced(machine: Machine[Any], state: Any, gave: bytes) -> str:
    """What may come where some bytes differ from the forced bytes.

    >>> say_forced(gv.regex("ab(cd)?"), 0, b"abcd"), say_forced(gv.regex("[ab]"), 0, b"a")
    ('after ab may come: c or the end', 'here may come: a b')
    """
    same = forced_run(machine, state)
    while not gave.startswith(same):
        same = same[:-1]
    place = f"after {visible(same)}" if same else "here"
    reached: Any = read(machine, same, state)
    return f"{place} may come: {expected_next(machine, reached)}"
