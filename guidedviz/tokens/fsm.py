"""A finite machine over tokens, wired by hand, after NanoGPT's lesson: the one object here that changes.

Its state is where the text stands; the tokens with a way out of it are legal. `machine()` is the same over bytes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import cached_property
from typing import Any

from guidedviz.errors import IllegalToken, SettingError
from guidedviz.machines.dfa import DFA, build_dfa
from guidedviz.machines.minimal import minimise
from guidedviz.machines.nfa import MOST_NFA_STATES, NFA, Edge, too_large
from guidedviz.machines.pattern import looks_like_class, unknown_class
from guidedviz.machines.sketch import Arrow, Sketch, sketch_dfa
from guidedviz.machines.visible import byte_ranges
from guidedviz.tokens.explain import check_id, is_text
from guidedviz.tokens.static import char_classes
from guidedviz.tokens.vocabulary import Vocabulary

NAMED = 8  # tokens that an error names


class GuidedFSM:
    """States are whatever names them; the text may end in an accepting one, by default in one without a way on.

    >>> fsm = GuidedFSM(Vocabulary([b"a", b"b", b":"]))
    >>> fsm.add_transition(0, "LOWER", 1)
    >>> fsm.add_transition(1, "LOWER", 1)
    >>> fsm.add_transition(1, ":", 2)
    >>> fsm.allowed_tokens(), fsm.advance(0), fsm.allowed_tokens()
    ({0, 1}, 1, {0, 1, 2})
    >>> fsm.advance(2), fsm.is_complete(), fsm.allowed_tokens(), fsm.machine().accepts(b"abba:")
    (2, True, set(), True)
    """

    def __init__(self, vocabulary: Vocabulary, start: Hashable = 0, accepting: Any = None) -> None:
        _check_vocabulary(vocabulary)
        several = isinstance(accepting, Iterable) and not isinstance(accepting, str)
        self.vocabulary, self.start, self.state = vocabulary, start, start
        self.accepting = None if accepting is None else frozenset(accepting if several else {accepting})
        self.transitions: dict[Hashable, dict[int, Hashable]] = {start: {}}  # state -> token -> next state

    def __repr__(self) -> str:
        arrows = {(source, target) for source, ways in self.transitions.items() for target in ways.values()}
        return f"GuidedFSM({len(self.transitions)} states, {len(arrows)} transitions, in state {self.state!r})"

    @cached_property
    def _classes(self) -> dict[str, frozenset[int]]:
        return char_classes(self.vocabulary)

    def add_transition(self, source: Hashable, what: Any, target: Hashable) -> None:
        """From one state to another by a class ("UPPER"), a character (":"), a token id, or several of these."""
        where = f"transition from {source!r} to {target!r}"
        tokens = self._find_tokens(where, what)
        if not tokens:
            raise SettingError(where, seen=repr(what), expected="at least one token")
        ways = self.transitions.get(source, {})
        for token in sorted(tokens):
            if ways.get(token, target) != target:
                seen = f"{self.vocabulary.display(token)!r} leads to {ways[token]!r} already"
                raise SettingError(where, seen=seen, expected="one way on for each token", hint="a class without it")
        self.transitions.setdefault(source, {}).update(dict.fromkeys(tokens, target))
        self.transitions.setdefault(target, {})

    def _find_tokens(self, where: str, what: Any) -> frozenset[int]:
        if isinstance(what, str):
            return self._find_text(where, what)
        if isinstance(what, Iterable) and not isinstance(what, bytes):
            return frozenset[int]().union(*(self._find_tokens(where, one) for one in what))
        try:
            token = check_id(self.vocabulary, what)
        except IllegalToken as error:
            raise SettingError(
                where, seen=repr(what), expected=f"a class, a character or an id: {error.expected}"
            ) from None
        if not is_text(self.vocabulary, token):
            raise SettingError(where, seen=self.vocabulary.display(token), expected="a token that is text")
        return frozenset({token})

    def _find_text(self, where: str, what: str) -> frozenset[int]:
        if what not in self._classes and (looks_like_class(what) or not what):
            raise unknown_class(where, what, "one character")
        if what not in self._classes and len(what) > 1:
            hint = f"{list(what)} for any one of these, or a state between for one after the other"
            raise SettingError(where, seen=repr(what), expected="a class or one character", hint=hint)
        tokens = self._classes.get(what, self.vocabulary.ids(what.encode(errors="surrogatepass")))
        found = frozenset(token for token in tokens if is_text(self.vocabulary, token))
        if not found:
            raise SettingError(where, seen=repr(what), expected="a character of this vocabulary")
        return found

    def allowed_tokens(self) -> set[int]:
        """The ids with a way on from the current state; none where the text must end."""
        return set(self.transitions[self.state])

    def advance(self, token: int) -> Hashable:
        """Take a token; the state it leads to, which is the current one from now on."""
        ways = self.transitions[self.state]
        token = check_id(self.vocabulary, token)
        if token not in ways:
            named = [self.vocabulary.display(legal) for legal in sorted(ways)]
            more = f" and {len(named) - NAMED} more" if len(named) > NAMED else ""
            expected = " ".join(named[:NAMED]) + more if named else "the end"
            where = f"token {token} {self.vocabulary.display(token)!r}"
            raise IllegalToken(where, seen=f"no transition from state {self.state!r}", expected=expected)
        self.state = ways[token]
        return self.state

    def is_complete(self) -> bool:
        """May the text end here?"""
        return self._is_final(self.state)

    def _is_final(self, state: Hashable) -> bool:
        return not self.transitions.get(state) if self.accepting is None else state in self.accepting

    def reset(self) -> None:
        """Back to the start; the transitions stay."""
        self.state = self.start

    def machine(self) -> DFA:
        """The smallest machine over bytes with the same texts: to compare, to draw, to guide any vocabulary.

        >>> fsm = GuidedFSM(Vocabulary(["é".encode(), b"ab"]), accepting=1)
        >>> fsm.add_transition(0, {0, 1}, 1)
        >>> from guidedviz.machines.regex import regex
        >>> fsm.machine() == regex("é|ab")
        True
        """
        others = [state for state in self.transitions if state != self.start]
        number = {self.start: 0} | {state: place for place, state in enumerate(others, 2)}
        free: list[tuple[int, ...]] = [(1,) if self._is_final(state) else () for state in (self.start, *others)]
        edges: list[list[Edge]] = [[] for _ in range(len(others) + 2)]
        for source, ways in self.transitions.items():
            spell(edges, number[source], {(self.vocabulary.pieces[token], number[to]) for token, to in ways.items()})
        free[1:1] = [()]  # the accepting state
        free += [()] * (len(edges) - len(free))
        return minimise(build_dfa(NFA(tuple(map(tuple, edges)), tuple(free))))

    def sketch(self) -> Sketch:
        """As it was wired, under its own names, to be drawn; where a token is several bytes, the smallest machine.

        >>> fsm = GuidedFSM(Vocabulary([b"a", b"b"]), start="start")
        >>> fsm.add_transition("start", {0, 1}, "end")
        >>> fsm.sketch().names, fsm.sketch().arrows
        (('start', 'end'), (Arrow(source=0, target=1, ranges=((97, 98),), call=''),))
        """
        pieces, number = self.vocabulary.pieces, {state: place for place, state in enumerate(self.transitions)}
        between: dict[tuple[int, int], list[int]] = {}
        for source, ways in self.transitions.items():
            for token, target in ways.items():
                if len(pieces[token]) > 1:
                    return sketch_dfa(self.machine())
                between.setdefault((number[source], number[target]), []).append(pieces[token][0])
        arrows = tuple(Arrow(*ends, tuple(byte_ranges(values))) for ends, values in between.items())
        accepting = frozenset(number[state] for state in self.transitions if self._is_final(state))
        return Sketch(tuple(map(str, self.transitions)), arrows, number[self.start], accepting)


def _check_vocabulary(vocabulary: object) -> None:
    if not isinstance(vocabulary, Vocabulary):
        seen = type(vocabulary).__name__
        raise SettingError("GuidedFSM", seen=seen, expected="a Vocabulary", hint="model.vocabulary")


def spell(edges: list[list[Edge]], source: int, ways: Iterable[tuple[bytes, int]]) -> None:
    """Edges for pieces out of one state, byte by byte; pieces that begin alike share their beginnings.

    >>> edges = [[], []]
    >>> spell(edges, 0, [(b"ab", 1), (b"ac", 1)])
    >>> edges
    [[(97, 97, 2)], [], [(98, 98, 1), (99, 99, 1)]]
    """
    known = {b"": source}
    for piece, target in ways:
        for end in range(1, len(piece)):
            if piece[:end] not in known:
                known[piece[:end]] = len(edges)
                edges[known[piece[: end - 1]]].append((piece[end - 1], piece[end - 1], len(edges)))
                edges.append([])
        edges[known[piece[:-1]]].append((piece[-1], piece[-1], target))
        if len(edges) > MOST_NFA_STATES:
            raise too_large(f"more than {MOST_NFA_STATES:,} NFA states")
