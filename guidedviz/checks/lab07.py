"""Lab 07: the loop that jumps over subtrees, watched while it walks: right ids, and nothing below a refused node."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from guidedviz.checks.verdict import Verdict, agrees, same_set, show
from guidedviz.machines.dfa import DFA
from guidedviz.machines.machine import read
from guidedviz.machines.regex import regex
from guidedviz.machines.visible import visible
from guidedviz.tokens.explain import explain_token
from guidedviz.tokens.frames import sketch_trie
from guidedviz.tokens.trie import build_trie
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.views.figure import Figure
from guidedviz.views.machine import draw_machine

DECIMAL = r"\d+(\.\d+)?"
ROUNDS = 50  # a loop that looks at a node more often does not end
WALKS: tuple[tuple[str, bytes, list[bytes]], ...] = (  # a regex, what was read of it, and pieces
    ("3", b"", [b"3"]),
    ("3", b"", [b"x"]),
    ("3|4", b"", [b"3", b"4"]),
    ("34", b"", [b"3", b"34"]),
    ("34", b"", [b"34", b"35"]),
    ("34|4", b"", [b"34", b"4"]),
    ("4", b"", [b"34", b"35", b"4"]),
    ("ab*", b"", [b"a", b"abb", b"ac", b"acb", b"b", b"a"]),
    (DECIMAL, b"3", [b"3", b"42", b".", b".5", b"3.", b"7.5", b"..", b"3x", b"x"]),
    (DECIMAL, b"3.", [b"1", b"12", b"125", b"12.", b"1.5", b".", b".5", b"a", b"and", b"ant"]),
)


class Watched(list[int]):
    """Numbers that notice which of them are looked at, and stop a loop that does not end."""

    def __init__(self, values: Iterable[int]) -> None:
        super().__init__(values)
        self.places = range(super().__len__())
        self.seen, self.looks = set[int](), 0

    def __getitem__(self, place: Any) -> Any:
        self._look()
        found = self.places[place]
        self.seen.update(found if isinstance(found, range) else [found])
        return super().__getitem__(place)

    def __iter__(self) -> Iterator[int]:
        return (self[place] for place in self.places)

    def __len__(self) -> int:
        self._look()
        return len(self.places)

    def _look(self) -> None:
        self.looks += 1
        if self.looks > ROUNDS * (len(self.places) + 1):
            raise RuntimeError("the loop does not end; is i changed in every round?")


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
    """Every beginning of a piece once, depth first.

    >>> list_nodes([b"b", b"ab", b"ac"])
    [b'a', b'ab', b'ac', b'b']
    """
    return sorted({piece[:end] for piece in pieces for end in range(1, len(piece) + 1)})


def say_start(text: str, begun: bytes, state: int) -> str:
    """Where a machine stands.

    >>> say_start("ab", b"a", 1)
    "regex ab, in q1: 'a' was read"
    """
    return f"regex {text}, in q{state}: {show(begun)[1:] if begun else 'nothing'} was read"


@dataclass(frozen=True)
class Tried:
    """What a student's loop did with the pieces of one input."""

    text: str  # of the regex
    begun: bytes
    pieces: list[bytes]
    gave: Any  # its set, or what it raised
    seen: frozenset[bytes]  # the nodes that it looked at

    @cached_property
    def machine(self) -> DFA:
        return regex(self.text)

    @cached_property
    def state(self) -> Any:
        return read(self.machine, self.begun)

    @cached_property
    def expected(self) -> set[int]:
        """The legal ids, byte by byte."""
        return {t for t, piece in enumerate(self.pieces) if read(self.machine, piece, self.state) is not None}

    @cached_property
    def below(self) -> list[bytes]:
        """Nodes that lie below one that the machine refuses, and were looked at all the same."""
        return sorted(one for one in self.seen if read(self.machine, one[:-1], self.state) is None)

    @property
    def token(self) -> int | None:
        """The shortest piece on which it is wrong."""
        try:
            wrong = {int(token) for token in self.gave} ^ self.expected
        except (TypeError, ValueError):
            return None
        places = (token for token in wrong if 0 <= token < len(self.pieces))
        return min(places, key=lambda token: (len(self.pieces[token]), token), default=None)

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        facts = (("input", say_start(self.text, self.begun, self.state)), ("pieces", show(self.pieces)))
        if agrees(self.gave, self.expected, same_set):
            node = self.below[0]
            cut = next(node[:end] for end in range(1, len(node)) if read(self.machine, node[:end], self.state) is None)
            said = f"{visible(cut)} was refused: go on behind its subtree, and let old states go"
            return (*facts, ("looked at", visible(node)), ("because", said))
        gave = () if self.token is None else (("because", self.reason(self.token)),)
        return (*facts, ("yours gave", show(self.gave)), ("expected", show(self.expected)), *gave)

    def reason(self, token: int) -> str:
        """Why a token is legal or not."""
        why = explain_token(self.machine, Vocabulary(self.pieces), self.state, token)
        return f"token {token} is {'legal' if why.legal else 'illegal'}: {why.reason}"

    def draw(self) -> Figure:
        """The trie, with the nodes lit that the student's loop looked at."""
        vocabulary = Vocabulary(self.pieces)
        sketch = sketch_trie(build_trie(vocabulary), vocabulary)
        nodes = sorted(list_nodes(self.pieces), key=len)  # as the sketch numbers them, from 1
        lit = frozenset(place for place, one in enumerate(nodes, 1) if one in self.seen)
        arrows = frozenset((arrow.source, arrow.target) for arrow in sketch.arrows if arrow.target in lit)
        words = f"lit: what yours looked at, {len(lit)} of {len(nodes)} nodes"
        return draw_machine(replace(sketch, lit=lit, lit_arrows=arrows, words=words))


def try_walk(answer: Callable[[DFA, Any, Flat], Any], text: str, begun: bytes, pieces: list[bytes]) -> Tried:
    """Let a student's loop walk."""
    machine, tree, nodes = regex(text), flatten(pieces), list_nodes(pieces)
    try:
        gave = answer(machine, read(machine, begun), tree)
        gave = list(gave) if isinstance(gave, Iterator) else gave  # a generator walks when it is read
    except Exception as error:  # a student's crash is an answer
        gave = error
    return Tried(text, begun, pieces, gave, frozenset(nodes[place] for place in tree.byte.seen | tree.depth.seen))


def check_jump(answer: Callable[[DFA, Any, Flat], Iterable[int]] | Any) -> Verdict:
    """Lab 07: does `answer(machine, state, tree)` find the legal ids, and look at no node below a refused one?

    >>> check_jump(lambda machine, state, tree: {0})
    ✗ not yet right: on input 2 of 10, the smallest on which it fails
        input       regex 3, in q0: nothing was read
        pieces      [b'x']
        yours gave  {0}
        expected    set()
        because     token 0 is illegal: x cannot come: expected 3
    """
    if answer is None or answer is ...:
        return Verdict("open", "write the function, run its cell, then run this one")
    if not callable(answer):
        return Verdict("wrong", "a function is asked for", (("yours is", show(answer)),))
    tried = [try_walk(answer, *walk) for walk in WALKS]
    if all(one.gave is None or one.gave is ... for one in tried):
        return Verdict("open", "the function returns nothing so far; if you did write it, is a return missing?")
    for number, one in enumerate(tried, 1):
        if one.below or not agrees(one.gave, one.expected, same_set):
            said = f"on input {number} of {len(tried)}, the smallest on which it fails"
            return Verdict("wrong", said, one.facts, one.draw())
    return Verdict("right", f"agrees on all {len(tried)} inputs, and looks at no node below a refused one")
