"""A net as an expression, by state elimination (Brzozowski and McCluskey, 1963), which may copy parts.

To take out a place, every path through it becomes a way of its own:

    0 -a-> 1 -c-> 2, and 1 -b-> 1        0 -ab*c-> 2
"""

from collections.abc import Callable, Iterator
from heapq import heapify, heappop, heappush
from itertools import chain, groupby
from typing import NamedTuple

from guidedviz.errors import PatternError
from guidedviz.machines import limits
from guidedviz.machines.syntax import (
    EMPTY,
    NOTHING,
    Concat,
    Either,
    Net,
    Repeat,
    Tree,
    concat,
    direct_parts,
    either,
    is_one_character,
    optional,
)


class Way(NamedTuple):
    """A part between two places, and the approximate length of its text."""

    part: Tree
    size: int


NO_WAY = Way(NOTHING, 0)
EMPTY_WAY = Way(EMPTY, 0)


def count_signs(tree: Tree) -> int:
    """The approximate number of symbols in a tree; a quoted text counts as one.

    >>> from guidedviz.machines.syntax import Call, literal
    >>> count_signs(literal("abc")), count_signs(concat(literal("abc"), Repeat(Call("x"), 0, None)))
    (1, 3)
    """
    return sum(1 for _ in list_signs(tree))


def list_signs(tree: Tree) -> Iterator[Tree]:
    """The parts of a tree that are symbols; a quoted text comes once."""
    inner = direct_parts(tree)
    if isinstance(tree, Concat):
        for is_text, run in groupby(inner, key=is_one_character):
            if is_text:
                yield tree
            else:
                yield from chain.from_iterable(map(list_signs, run))
        return
    if not isinstance(tree, Either | Net):
        yield tree
    for part in inner:
        yield from list_signs(part)


def unfold_net(net: Net, size: Callable[[Tree], int] = count_signs) -> Tree:
    """An equivalent tree without a net: the places are eliminated one by one, cheapest first by `size`.

    >>> from guidedviz.machines.grammars.show import show_regex
    >>> from guidedviz.machines.syntax import literal
    >>> show_regex(unfold_net(Net(2, ((0, literal("a"), 1), (1, literal("b"), 0)))))
    'a(?:ba)*'
    """
    start = net.places
    end = net.places + 1
    left = _Elimination(net.places + 2)
    left.join(start, 0, Way(EMPTY, size(EMPTY)))
    for source, part, target in net.edges:
        left.join(source, target, Way(part, size(part)))
    left.join(net.places - 1, end, Way(EMPTY, size(EMPTY)))
    queue = [(left.cost(place), place) for place in range(net.places)]
    heapify(queue)
    while queue:
        cost, place = heappop(queue)
        if place in left.into and cost == left.cost(place):  # skip outdated entries
            for near in left.take_out(place) - {start, end}:
                heappush(queue, (left.cost(near), near))
    return left.out[start].get(end, NO_WAY).part


class _Elimination:
    """The places that are left: the ways out of each by their targets, and the sources of the ways into each."""

    def __init__(self, places: int) -> None:
        self.out: list[dict[int, Way]] = [{} for _ in range(places)]
        self.into: dict[int, set[int]] = {place: set() for place in range(places)}

    def join(self, source: int, target: int, new: Way) -> None:
        """One more way between two places."""
        old = self.out[source].get(target, NO_WAY)
        if old.part == EMPTY:
            part = optional(either(new.part))
        elif new.part == EMPTY:
            part = optional(either(old.part))
        else:
            part = either(old.part, new.part)
        self.out[source][target] = Way(part, old.size + new.size + 1)
        self.into[target].add(source)

    def take_out(self, place: int) -> set[int]:
        """Replace every path through a place by a way; return the neighbours."""
        onward = self.out[place]
        loop = onward.pop(place, EMPTY_WAY)
        around = EMPTY if loop.part == EMPTY else Repeat(loop.part, 0, None)
        for target in onward:
            self.into[target].discard(place)
        sources = self.into.pop(place) - {place}
        for source in sources:
            before = self.out[source].pop(place)
            for target, after in onward.items():
                size = before.size + loop.size + after.size
                if size > limits.TREE_CHARACTERS:
                    raise too_long_to_show()
                self.join(source, target, Way(concat(before.part, around, after.part), size))
        return {*sources, *onward}

    def cost(self, place: int) -> int:
        """The approximate length of the text that eliminating this place copies."""
        before = [self.out[source][place].size + 1 for source in self.into[place] if source != place]
        after = [way.size + 1 for target, way in self.out[place].items() if target != place]
        loop = self.out[place].get(place, EMPTY_WAY).size
        copied_loops = len(before) * len(after) - 1
        return sum(before) * (len(after) - 1) + sum(after) * (len(before) - 1) + loop * copied_loops


def too_long_to_show() -> PatternError:
    """The error for a tree whose text would be too long."""
    seen = f"more than {limits.TREE_CHARACTERS:,} characters"
    return PatternError("regex", seen=seen, expected="a shorter regex", hint="use the machine directly")
