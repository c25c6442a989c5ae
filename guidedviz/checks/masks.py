"""Exercises on masks: sorted tokens, masks of nodes, storage, another engine, slices."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from guidedviz.checks.cases import cases_of, read_table, read_trials
from guidedviz.checks.function import check_function
from guidedviz.checks.texts import machine_cases
from guidedviz.checks.verdict import Verdict, show
from guidedviz.machines.machine import Machine, next_bytes, read
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.regex import regex
from guidedviz.machines.visible import visible

# -- sorted by one rule --------------------------------------------------------------------------------------------

# a regex, the text read so far, and a piece
TOKENS = read_table(r"""
    "a", b"", b"a"
    "a", b"", b"b"
    "a", b"", b"a}"
    "a", b"a", b"}"
    "a+", b"a", b"aa"
    "a*", b"", b"aa"
    "ab", b"", b"a}"
    "ab", b"", b"aa"
    "a(bcd)?", b"", b"abcx"
    "aé", b"a", b"\xc3\xa9"
    '"[a-z]+"', b'"', b"b"
    '"[a-z]+"', b'"', b"b}"
    '"[a-z]+"', b'"a', b'b"'
    '"[a-z]+"', b'"a', b'b""b"'
    '"[a-z]+"', b'"', b'"}'
    r"[0-9]+(\.[0-9]+)?", b"4", b"2}"
    r"[0-9]+(\.[0-9]+)?", b"4", b".}"
    r"[0-9]+(\.[0-9]+)?", b"4.", b"}"
    r"[0-9]+(\.[0-9]+)?", b"", b"}"
    "a", b"", b""
""")


def check_sort_token(answer: Any) -> Verdict:
    """Does `answer(rule, state, piece)` say "accepted", "rejected" or "dependent", knowing the rule alone?

    >>> check_sort_token(lambda rule, state, piece: "rejected" if rule.step(state, piece[0]) is None else "accepted")
    ✗ not yet right: on input 3 of 20, the first on which it fails
        machine     regex a, in q0: nothing was read
        piece       b'a}'
        yours gave  'accepted'
        expected    'dependent'
        because     after a the rule is finished and } is left over: the rules below it on the stack decide
    """

    def reference(rule: DFA, state: int, piece: bytes) -> str:
        return sort_by_ends(rule, state, piece)[0]

    def why(rule: DFA, state: int, piece: bytes) -> str:
        return sort_by_ends(rule, state, piece)[1]

    return check_function(answer, machine_cases(reference, TOKENS, "piece", why=why, title="the piece"))


def sort_by_ends(rule: Machine[Any], state: Hashable, piece: bytes) -> tuple[str, str]:
    """The answer and its reason, from every place inside the piece where the rule may end.

    >>> sort_by_ends(gv.regex("a+"), 1, b"a]")[0]
    'dependent'
    """
    if read(rule, piece, state) is not None:
        return "accepted", "the rule reads all of it"
    for end in range(len(piece) - 1, 0, -1):
        reached = read(rule, piece[:end], state)
        if reached is not None and rule.is_accepting(reached):
            left = f"{visible(piece[end:])} is left over: the rules below it on the stack decide"
            return "dependent", f"after {visible(piece[:end])} the rule is finished and {left}"
    return "rejected", "the rule cannot read it, and is finished after none of the bytes that it reads"


# -- the mask of several nodes -------------------------------------------------------------------------------------


NodeTokens = tuple[set[int], set[int]]  # the accepted and the context-dependent tokens of a node


@dataclass
class OnStack:
    """Says once whether a token is legal on the stack; refuses tokens for which no stack is needed."""

    legal: set[int]
    # the tokens that an engine has to look up here, and has not looked up yet; no student changes them
    waiting: set[int] = field(compare=False)

    def __repr__(self) -> str:
        return show(self.legal)

    def __call__(self, token: int) -> bool:
        if token not in self.waiting:
            raise LookupError(f"on_stack({show(token)}): the verdict of this token is known already")
        self.waiting.remove(token)
        return token in self.legal


def ask_stack(parts: Sequence[NodeTokens], legal: set[int]) -> tuple[Sequence[NodeTokens], OnStack]:
    """The sets of some nodes, and the stack on which these tokens are legal."""
    dependent = set[int]().union(*(unsure for _, unsure in parts))
    return parts, OnStack(legal, dependent.difference(*(sure for sure, _ in parts)))


NODES = read_trials(
    build=ask_stack,
    text="""
a token that one node accepts is legal on every stack
    [({1}, set())], set()
    [({1}, set()), ({2}, set())], set()
    [(set(), {1}), ({1}, set())], set()
a context-dependent token is legal if on_stack says so
    [({1}, {2})], {2}
    [({1}, {2})], set()
    [(set(), {0, 1, 3}), (set(), {2})], {0, 2, 3}
    [(set(), {1, 2}), ({2}, {3})], {1}
    [(set(), {1, 2}), (set(), {2, 3})], {2}
    [({4}, {1, 2}), ({2}, {3}), ({3, 5}, {5, 6})], {6, 7}
""",
)


def check_fill_mask(answer: Any) -> Verdict:
    """Does `answer(parts, on_stack)` give the legal tokens of a state from the sets of its nodes?

    >>> check_fill_mask(lambda parts, on_stack: set.union(*(accepted for accepted, dependent in parts)))
    ✗ not yet right: on input 4 of 9, the first on which it fails
        parts       [({1}, {2})]
        on_stack    {2}
        yours gave  {1}
        expected    {1, 2}
        because     a context-dependent token is legal if on_stack says so
    """

    def reference(parts: Sequence[NodeTokens], on_stack: OnStack) -> set[int]:
        asked = on_stack.waiting & on_stack.legal
        return asked.union(*(sure for sure, _ in parts))

    return check_function(answer, cases_of(reference, NODES, "parts", "on_stack"))


# -- the fewest bytes for a set ------------------------------------------------------------------------------------

# the number of tokens in a set, and in the vocabulary
SETS = read_table("""
    0, 8
    8, 8
    1, 40
    2, 40
    39, 40
    20, 41
    423, 128256
    126625, 128256
    123180, 128256
""")


def check_storage(answer: Any) -> Verdict:
    """Does `answer(count, size)` choose the storage with the fewest bytes, and give their number?

    >>> check_storage(lambda count, size: min(("accepted", 4 * count), ("rejected", 4 * (size - count))))
    ✗ not yet right: on input 2 of 9, the first on which it fails
        count       8
        size        8
        yours gave  ('accepted', 32)
        expected    ('rejected', 0)
        because     accepted takes 32 bytes, rejected 0, bits 1
    """

    def reference(count: int, size: int) -> tuple[str, int]:
        return min(ways_to_store(count, size).items(), key=lambda way: way[1])

    cases = []
    for count, size in SETS:
        ways = ways_to_store(count, size)
        why = f"accepted takes {ways['accepted']:,} bytes, rejected {ways['rejected']:,}, bits {ways['bits']:,}"
        cases += cases_of(reference, {why: [(count, size)]}, "count", "size")
    return check_function(answer, cases)


def ways_to_store(count: int, size: int) -> dict[str, int]:
    """The bytes of the three kinds of storage: four per id, or one bit per token, rounded up to whole bytes.

    >>> ways_to_store(20, 41)
    {'accepted': 80, 'rejected': 84, 'bits': 6}
    """
    return {"accepted": 4 * count, "rejected": 4 * (size - count), "bits": -(-size // 8)}


# -- the mask of another engine, judged byte by byte ---------------------------------------------------------------

Faults = tuple[Iterable[int], Iterable[int]]  # the ids that it omits, and those that it must not allow
# a regex, the text read so far, the pieces, and the ids that the engine allows
MASKS = read_table(r"""
    "a", b"", [b"a"], {0}
    "a", b"", [b"a"], set()
    "a", b"", [b"a", b"b"], {0, 1}
    "a*", b"", [b"a", b"b"], {1}
    "ab", b"", [b"a", b"ab", b"b"], {0, 2}
    "ab", b"a", [b"b", b"bb", b"ba"], {1, 2}
    "a|ab", b"", [b"a", b"ab", b"abc", b"a"], {0, 2}
    r"\d+(\.\d+)?", b"3", [b".", b".5", b"3.", b"x", b"3x", b".."], {1, 4}
    r"[^\x00]*é", b"", [b"\xc3", b"\xa9", b"\x00", b"\xc3\xa9"], {1, 3}
""")


def check_faults(answer: Any) -> Verdict:
    """Does `answer(machine, state, pieces, allowed)` give the legal ids that are missing, and the illegal ones?

    >>> check_faults(lambda machine, state, pieces, allowed: (set(), set()))
    ✗ not yet right: on input 2 of 9, the first on which it fails
        machine     regex a, in q0: nothing was read
        pieces      [b'a']
        allowed     set()
        yours gave  (set(), set())
        expected    ({0}, set())
        because     first the legal ids that the engine omits, then the illegal ids that it allows
    """

    def reference(machine: DFA, state: Any, pieces: list[bytes], allowed: set[int]) -> Faults:
        legal = legal_tokens(machine, state, pieces)
        return legal - allowed, allowed - legal

    why = "first the legal ids that the engine omits, then the illegal ids that it allows"
    return check_function(answer, machine_cases(reference, MASKS, "pieces", "allowed", why=lambda *given: why))


def legal_tokens(machine: DFA, state: Any, pieces: Sequence[bytes]) -> set[int]:
    """The ids of the pieces that a machine can read from a state."""
    return {token for token, piece in enumerate(pieces) if read(machine, piece, state) is not None}


# -- slices that a machine can read whole --------------------------------------------------------------------------

# a regex, the text read so far, and the regex of a slice
SLICES = read_table(r"""
    "a*", b"", "a*"
    "a*", b"", "b*"
    "a*", b"", "ab"
    "a*", b"", "a{0,3}"
    "a*b", b"", "a*"
    "aa*", b"", "a*"
    "ab*", b"", "[ab]*"
    "a{0,3}", b"", "a*"
    "a{0,3}", b"", "a{0,3}"
    "a{0,3}", b"a", "a{0,3}"
    "[ab]*c", b"b", "(ab)*"
    "a{0,30}", b"", "a*"
    "a{0,30}", b"", "a{0,30}"
    r"[^\x00]*", b"", r"[\x00-b]*"
    r"\d+(\.\d+)?", b"3", "[0-9]*"
    r"\d+(\.\d+)?", b"3", "[0-9.]*"
    r'"[^"\\\x00-\x1f]*"', b'"', "[a-z ]*"
    r'"[^"\\\x00-\x1f]*"', b'"', "[é-ë]*"
    r'"[^"\\\x00-\x1f]*"', b'"x"', "[a-z ]*"
    '"[a-z]*"', b'"', "[a-zé]*"
""")


def check_whole(answer: Any) -> Verdict:
    """Does `answer(machine, state, part)` say whether the machine can read from its state all that a part can?

    >>> check_whole(lambda machine, state, part: all(
    ...     machine.step(state, byte) is not None for byte in range(256) if part.step(0, byte) is not None))
    ✗ not yet right: on input 3 of 20, the first on which it fails
        machine     regex a*, in q0: nothing was read
        slice       regex ab
        yours gave  True
        expected    False
        because     ab begins a text of the slice, and the machine refuses its last byte
    """

    def why(machine: DFA, state: Any, part: DFA) -> str:
        refused = shortest_refused(machine, state, part)
        if refused is None:
            return "the machine can read each text that the slice can read"
        return f"{visible(refused)} begins a text of the slice, and the machine refuses its last byte"

    def reference(machine: DFA, state: Any, part: DFA) -> bool:
        return shortest_refused(machine, state, part) is None

    names = {regex(part): f"regex {part}" for _, _, part in SLICES}
    rows = [(text, begun, regex(part)) for text, begun, part in SLICES]
    cases = machine_cases(reference, rows, "slice", why=why, spell=names.__getitem__)
    return check_function(answer, cases)


def shortest_refused(machine: DFA, state: Any, part: DFA) -> bytes | None:
    """The shortest text that a slice can read and a machine, from its state, cannot; None if there is none.

    >>> shortest_refused(gv.regex("a{0,3}"), 0, gv.regex("a*")), shortest_refused(gv.regex("a*b"), 0, gv.regex("a*"))
    (b'aaaa', None)
    """
    found: dict[Any, bytes] = {(state, part.initial): b""}
    waiting = list(found)
    for here, there in waiting:  # it grows
        for byte in next_bytes(part, there):
            text = found[here, there] + bytes([byte])
            after = machine.step(here, byte)
            if after is None:
                return text
            pair = (after, part.step(there, byte))
            if pair not in found:
                found[pair] = text
                waiting.append(pair)
    return None
