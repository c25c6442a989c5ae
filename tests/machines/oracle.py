"""Slow and plain answers that share no code with the machines."""

import re
from collections import Counter, deque
from functools import reduce
from typing import ClassVar

from guidedviz.machines.grammars.grammar import Grammar
from guidedviz.machines.ranges import LAST
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.syntax import Call, Chars, Concat, Either, Repeat


def shortest_completion(dfa: DFA, state: int) -> bytes | None:
    """The shortest bytes from a state to the end of a text; None if there are none."""
    found = {state: b""}
    queue = deque([state])
    while queue:
        state = queue.popleft()
        if dfa.is_accepting(state):
            return found[state]
        for low, _, target in dfa.edges[state]:
            if target not in found:
                found[target] = found[state] + bytes([low])
                queue.append(target)
    return None


def count_classes(dfa: DFA) -> int:
    """How many states are really different: Moore's rounds over all 256 bytes, the dead state among them."""
    dead = len(dfa)
    every_byte = range(256)
    rows = [[dfa.step(state, byte) for byte in every_byte] for state in range(dead)]
    rows.append([None] * 256)
    kind = [*map(dfa.is_accepting, range(dead)), False]
    while True:
        seen: dict[tuple[object, ...], int] = {}
        new = []
        for state in range(dead + 1):
            targets = [dead if target is None else target for target in rows[state]]
            key = (kind[state], *(kind[target] for target in targets))
            new.append(seen.setdefault(key, len(seen)))
        if len(seen) == len(set(kind)):
            return len(seen) - 1
        kind = new


def count_texts(dfa: DFA, length: int) -> int:
    """The number of accepted texts with exactly so many bytes."""
    ways = Counter({dfa.initial: 1})
    for _ in range(length):
        following = Counter[int]()
        for state, count in ways.items():
            for low, high, target in dfa.edges[state]:
                following[target] += count * (high - low + 1)
        ways = following
    return sum(ways[state] for state in dfa.accepting)


def matches(pattern: str, text: str) -> bool:
    return re.fullmatch(pattern, text, re.ASCII) is not None


def meets(ranges, first: int, last: int) -> bool:
    return any(low <= last and first <= high for low, high in ranges)


class Listing:
    """All texts of a grammar over a few letters, and all that they begin with, up to so many bytes: found by listing.

    Rules are asked again and again until nothing is new; a text may go on with letters that are not listed.
    """

    LETTERS = "abé🙂"
    HALVES: ClassVar = {  # the beginning of a letter, and the characters that begin so
        b"": (0, LAST), b"\xc3": (0xC0, 0xFF), b"\xf0": (0x10000, 0x3FFFF), b"\xf0\x9f": (0x1F000, 0x1FFFF),
        b"\xf0\x9f\x99": (0x1F640, 0x1F67F),
    }  # fmt: skip

    def __init__(self, grammar: Grammar, longest: int) -> None:
        self.longest = longest
        self.named = {rule.name: rule.tree for rule in grammar.rules}
        self.finishing = self.settle(dict.fromkeys(self.named, False), self.can_finish)
        nothing = dict.fromkeys(self.named, frozenset())
        self.texts = self.settle(nothing, self.list_texts)
        self.begun = self.settle(nothing, self.list_begun)

    def settle(self, table, answer):
        while True:
            after = {name: answer(tree, table) for name, tree in self.named.items()}
            if after == table:
                return table
            table = after

    def can_finish(self, tree, known):
        match tree:
            case Chars(ranges):
                return any(low < 0xD800 or high > 0xDFFF for low, high in ranges)
            case Call(name):
                return known[name]
            case Concat(parts):
                return all(self.can_finish(part, known) for part in parts)
            case Either(options):
                return any(self.can_finish(option, known) for option in options)
            case Repeat(part, low, _):
                return low == 0 or self.can_finish(part, known)

    def join(self, some, others):
        joined = (one + other for one in some for other in others)
        return frozenset(text for text in joined if len(text) <= self.longest)

    def list_texts(self, tree, known):
        match tree:
            case Chars(ranges):
                letters = [letter for letter in self.LETTERS if meets(ranges, ord(letter), ord(letter))]
                return frozenset(map(str.encode, letters))
            case Call(name):
                return known[name]
            case Concat(parts):
                texts = [self.list_texts(part, known) for part in parts]
                return reduce(self.join, texts, frozenset({b""}))
            case Either(options):
                texts = [self.list_texts(option, known) for option in options]
                return frozenset().union(*texts)
            case Repeat(part, low, high):
                return self.repeat(self.list_texts(part, known), low, high)

    def repeat(self, once, low, high):
        layer = reduce(self.join, [once] * low, frozenset({b""}))
        found = set(layer)
        more = self.longest + 1 if high is None else high - low
        for _ in range(more):
            layer = self.join(layer, once)
            found |= layer
        return frozenset(found)

    def list_begun(self, tree, known):
        if not self.can_finish(tree, self.finishing):
            return frozenset()
        match tree:
            case Chars(ranges):
                halves = {half for half, span in self.HALVES.items() if meets(ranges, *span)}
                return self.list_texts(tree, {}) | halves
            case Call(name):
                return known[name]
            case Concat(parts):
                before = frozenset({b""})
                begun = []
                for part in parts:
                    begun.append(self.join(before, self.list_begun(part, known)))
                    before = self.join(before, self.final(part))
                return frozenset({b""}).union(*begun)
            case Either(options):
                begun = [self.list_begun(option, known) for option in options]
                return frozenset().union(*begun)
            case Repeat(part, _, high):
                most = None if high is None else max(high - 1, 0)
                before = self.repeat(self.final(part), 0, most)
                begun = self.list_begun(part, known) if high != 0 else ()
                return frozenset({b""}) | self.join(before, begun)

    def final(self, tree):
        return self.list_texts(tree, self.texts)
