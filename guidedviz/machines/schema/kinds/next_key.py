"""Many optional members in order: the next key is found letter by letter, along the trie of the keys.

A place inside a key knows which keys it may become: those that begin so far, from the next member on. Such places are
about as many as all keys have letters, where a choice of all later keys behind each member would be quadratic.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Protocol

from guidedviz.machines.tree import EMPTY, Net, Tree, concat, literal

MANY = 40  # optional members
Place = tuple[str, int, int]  # see `KeyNet`


class Keyed(Protocol):
    """A member that has a key, and its value."""

    @property
    def name(self) -> str: ...
    @property
    def rest(self) -> Tree: ...
    @property
    def required(self) -> bool: ...


class KeyNet:
    """Any subset of the members in order that has the required ones; `other` members, if any, come last.

    The places: behind a member or before the first ("", next member, how many came: 0 or 1), inside a key (its
    beginning, first and last member that it may be), behind a key (":", member, 0), the end ("end", 0, 0).
    """

    def __init__(self, members: Sequence[Keyed], other: Tree | None, comma: Tree, low: int) -> None:
        self.members, self.other, self.comma, self.low = members, other, comma, low
        self.texts = [json.dumps(member.name, ensure_ascii=False) for member in members]
        self.under: dict[str, list[int]] = defaultdict(list)  # the beginning of keys -> these members
        self.next: dict[str, dict[str, None]] = defaultdict(dict)  # the letters that follow it
        for number, text in enumerate(self.texts):
            for size, char in enumerate(text):
                self.under[text[:size]].append(number)
                self.next[text[:size]][char] = None
            self.under[text].append(number)
        must = [number for number, member in enumerate(members) if member.required]
        self.last = [must[at] if (at := bisect_left(must, n)) < len(must) else None for n in range(len(members) + 1)]

    def net(self) -> Net:
        """The members as a net."""
        numbers: dict[Place, int] = {("", 0, 0): 0}
        edges: list[tuple[Place, Tree, Place]] = []
        for place in (queue := [*numbers]):
            for part, target in self.ways(place):
                edges.append((place, part, target))
                if target not in numbers:
                    numbers[target] = len(numbers)
                    queue.append(target)
        end = ("end", 0, 0)
        numbers[end] = len(numbers)  # the last place; its first number stays unused
        return Net(len(numbers) + 1, tuple((numbers[source], part, numbers[to]) for source, part, to in edges))

    def ways(self, place: Place) -> Iterator[tuple[Tree, Place]]:
        """What may come at a place, and the place behind it."""
        text, first, last = place
        if text == "":
            yield from self.behind(first, last)
        elif text == ":":
            yield self.members[first].rest, ("", first + 1, 1)
        elif text != "end":
            yield from self.letters(text, first, last)

    def behind(self, number: int, some: int) -> Iterator[tuple[Tree, Place]]:
        """The next member, other members, or the end."""
        must = self.last[number]
        comma = self.comma if some else EMPTY
        if number < len(self.members):
            last = len(self.members) - 1 if must is None else must
            for part, target in self.letters("", number, last):
                yield concat(comma, part), target
        if must is None:
            end = ("end", 0, 0)
            if some >= self.low:
                yield EMPTY, end
            if self.other is not None:
                yield concat(comma, self.other), end

    def letters(self, text: str, first: int, last: int) -> Iterator[tuple[Tree, Place]]:
        """The letters with which a key may go on."""
        for char in self.next[text]:
            under = self.under[text + char]
            low, high = bisect_left(under, first), bisect_right(under, last) - 1
            if low <= high:
                whole = text + char == self.texts[under[low]]
                yield literal(char), (":", under[low], 0) if whole else (text + char, under[low], under[high])
