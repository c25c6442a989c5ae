"""A walk over a trie that skips subtrees, and slices of a vocabulary that a machine can read whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from guidedviz.checks.guard import Failed, attempt
from guidedviz.checks.judge import (
    Case,
    Mistake,
    agrees,
    check_function,
    is_open,
    same_set,
    say_kind,
    shortest_wrong_token,
)
from guidedviz.checks.machines.finite_machines import DECIMAL, case_of_tokens
from guidedviz.checks.same_language import draw_path, say_start
from guidedviz.checks.verdict import Verdict, show
from guidedviz.machines.machine import read
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.regex import regex
from guidedviz.machines.visible import visible
from guidedviz.tokens.explain import explain_token
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.views.figure import Figure
from guidedviz.views.machine.films import sketch_trie
from guidedviz.views.machine.picture import draw_machine

STRING = r'"[^"\\\x00-\x1f]*"'
WALKS: tuple[tuple[str, bytes, list[bytes]], ...] = (  # a regex, the text read so far, and pieces
    ("3", b"", [b"3"]),
    ("3", b"", [b"x"]),
    ("3|4", b"", [b"3", b"4"]),
    ("34", b"", [b"3", b"34"]),
    ("34", b"", [b"34", b"35"]),
    ("34|4", b"", [b"34", b"4"]),
    ("4", b"", [b"34", b"35", b"4"]),
    ("(ab)*", b"", [b"ab", b"aba", b"b"]),
    ("ab*", b"", [b"a", b"abb", b"ac", b"acb", b"b", b"a"]),
    (DECIMAL, b"3", [b"3", b"42", b".", b".5", b"3.", b"7.5", b"..", b"3x", b"x"]),
    (DECIMAL, b"3.", [b"1", b"12", b"125", b"12.", b"1.5", b".", b".5", b"a", b"and", b"ant"]),
)
SLICES = (  # a regex, the text read so far, and the regex of a slice
    ("a*", b"", "a*"),
    ("a*", b"", "b*"),
    ("a*b", b"", "a*"),
    ("aa*", b"", "a*"),
    ("ab*", b"", "[ab]*"),
    ("a{0,3}", b"", "a*"),
    ("a{0,3}", b"", "a{0,3}"),
    ("a{0,3}", b"a", "a{0,3}"),
    ("a*", b"", "ab"),
    ("[ab]*c", b"b", "(ab)*"),
    ("a{0,30}", b"", "a*"),
    ("a{0,30}", b"", "a{0,30}"),
    (r"[^\x00]*", b"", r"[\x00-b]*"),
    (DECIMAL, b"3", "[0-9]*"),
    (DECIMAL, b"3", "[0-9.]*"),
    (STRING, b'"', "[a-z ]*"),
    (STRING, b'"', "[é-ë]*"),
    (STRING, b'"x"', "[a-z ]*"),
    ('"[a-z]*"', b'"', "[a-zé]*"),
)

# -- the walk that skips subtrees ----------------------------------------------------------------------------------


class Watched(Sequence[int]):
    """Numbers that record which of their places were read, also where NumPy reads them all."""

    def __init__(self, values: Iterable[int]) -> None:
        self.values, self.seen = tuple(values), set[int]()

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, place: Any) -> Any:
        found = range(len(self))[place]
        self.seen.update(found if isinstance(found, range) else [found])
        return self.values[place]

    def __repr__(self) -> str:
        return repr([*self.values])


class Flat(NamedTuple):
    """A trie depth first: for each node its byte, its depth, the nodes of its subtree, and the ids that end there."""

    byte: Watched
    depth: Watched
    size: list[int]
    ends: list[list[int]]


def flatten(pieces: Sequence[bytes]) -> Flat:
    """The trie of some pieces, depth first.

    >>> flatten([b"a", b"ab", b"ac", b"b"])
    Flat(byte=[97, 98, 99, 98], depth=[1, 2, 2, 1], size=[3, 1, 1, 1], ends=[[0], [1], [2], [3]])
    """
    nodes = list_nodes(pieces)
    size = [sum(other.startswith(one) for other in nodes) for one in nodes]
    ends = [[token for token, piece in enumerate(pieces) if piece == one] for one in nodes]
    return Flat(Watched(one[-1] for one in nodes), Watched(len(one) for one in nodes), size, ends)


def list_nodes(pieces: Sequence[bytes]) -> list[bytes]:
    """Each beginning of a piece once, depth first.

    >>> list_nodes([b"b", b"ab", b"ac"])
    [b'a', b'ab', b'ac', b'b']
    """
    return sorted({piece[:end] for piece in pieces for end in range(1, len(piece) + 1)})


def check_jump(answer: Callable[[DFA, Any, Flat], Iterable[int]] | Any) -> Verdict:
    """Does `answer(machine, state, tree)` find the legal ids without reading a node below a refused one?

    >>> check_jump(lambda machine, state, tree: {0})
    ✗ not yet right: on input 2 of 11, the smallest on which it fails
        input       regex 3, in q0: nothing was read
        pieces      [b'x']
        yours gave  {0}
        expected    set()
        because     token 0 is illegal: x cannot come: expected 3
    """

    def watched(machine: DFA, state: Any, pieces: list[bytes]) -> Any:
        tree, nodes = flatten(pieces), list_nodes(pieces)
        gave = attempt(answer, (machine, state, tree))
        if tree.ends != flatten(pieces).ends:
            gave = Failed("it changed tree.ends: collect the tokens in a set of its own")
        return gave if is_open(gave) else (gave, {nodes[place] for place in tree.byte.seen | tree.depth.seen})

    cases = [_walk(*one) for one in WALKS]
    verdict = check_function(watched if callable(answer) else answer, cases, _same_walk, _walk_mistake)
    return replace(verdict, said=f"{verdict.said}, and looks at no node below a refused one") if verdict else verdict


def _walk(text: str, begun: bytes, pieces: list[bytes]) -> Case:
    """The expected values are the legal ids, and the nodes below one that the machine refuses."""
    case = case_of_tokens(text, begun, pieces)
    machine, state, _ = case.arguments
    below = {node for node in list_nodes(pieces) if read(machine, node[:-1], state) is None}
    return replace(case, expected=(case.expected, below))


def _same_walk(value: Any, expected: Any) -> bool:
    return agrees(value[0], expected[0], same_set) and not value[1] & expected[1]


def _walk_mistake(case: Case, value: Any) -> Mistake:
    machine, state, pieces = case.arguments
    legal, below = case.expected
    gave, seen = value if isinstance(value, tuple) else (value, set())  # it was stopped: no node is known
    figure = _draw_seen(pieces, seen)
    if agrees(gave, legal, same_set):
        node = min(below & seen)
        refused = next(node[:end] for end in range(1, len(node)) if read(machine, node[:end], state) is None)
        said = f"{visible(refused)} was refused: continue after its subtree, and remove old states"
        return Mistake(said, figure, (("looked at", visible(node)),))
    facts = (("yours gave", show(gave)), ("expected", show(legal)))
    if isinstance(gave, Failed):
        return Mistake("", figure, facts)
    if (token := shortest_wrong_token(gave, legal, pieces)) is None:
        return Mistake(say_kind(gave, legal) or "an id is not in the vocabulary", figure, facts)
    why = explain_token(machine, Vocabulary(pieces), state, token)
    return Mistake(f"token {token} is {'legal' if why.legal else 'illegal'}: {why.reason}", figure, facts)


def _draw_seen(pieces: list[bytes], seen: set[bytes]) -> Figure:
    """The trie, with the nodes highlighted that the student's loop read."""
    vocabulary = Vocabulary(pieces)
    sketch = sketch_trie(vocabulary.trie, vocabulary)
    nodes = sorted(list_nodes(pieces), key=len)  # as the sketch numbers them, from 1
    lit = frozenset(place for place, one in enumerate(nodes, 1) if one in seen)
    arrows = frozenset((arrow.source, arrow.target) for arrow in sketch.arrows if arrow.target in lit)
    words = f"lit: what yours looked at, {len(lit)} of {len(nodes)} nodes"
    return draw_machine(replace(sketch, lit=lit, lit_arrows=arrows, words=words))


# -- slices that a machine can read whole --------------------------------------------------------------------------


def check_whole(answer: Callable[[Any, Any, Any], bool]) -> Verdict:
    """Does `answer(machine, state, part)` say whether the machine can read from its state all that a part can?

    >>> check_whole(lambda machine, state, part: all(
    ...     machine.step(state, byte) is not None for byte in range(256) if part.step(0, byte) is not None))
    ✗ not yet right: on input 6 of 19, the smallest on which it fails
        machine     regex a{0,3}, in q0: nothing was read
        slice       regex a*
        yours gave  True
        expected    False
        because     aaaa begins a text of the slice, and the machine refuses its last byte
    """
    return check_function(answer, [_slice(*one) for one in SLICES], lambda value, expected: value is expected)


def _slice(text: str, begun: bytes, part: str) -> Case:
    machine, inner = regex(text), regex(part)
    state: Any = read(machine, begun)
    refused = shortest_refused(machine, state, inner)
    why = "the machine can read each text that the slice can read"
    if refused is not None:
        why = f"{visible(refused)} begins a text of the slice, and the machine refuses its last byte"
    given = (("machine", say_start(text, begun, state)), ("slice", f"regex {part}"))
    draw = partial(draw_path, machine, refused or b"", state, "the machine")
    return Case((machine, state, inner), refused is None, why, given, draw)


def shortest_refused(machine: DFA, state: Any, part: DFA) -> bytes | None:
    """The shortest text that a slice can read and a machine, from its state, cannot; None if there is none.

    >>> shortest_refused(regex("a{0,3}"), 0, regex("a*")), shortest_refused(regex("a*b"), 0, regex("a*"))
    (b'aaaa', None)
    """
    found = {(state, part.initial): b""}
    waiting = [(state, part.initial)]
    for here, there in waiting:
        for low, high, inner in part.edges[there]:
            for byte in range(low, high + 1):
                text, after = found[here, there] + bytes([byte]), machine.step(here, byte)
                if after is None:
                    return text
                if (after, inner) not in found:
                    found[after, inner] = text
                    waiting.append((after, inner))
    return None
