"""Write syntax trees as text, among others as a regex for Python's re.

A net becomes an expression by state elimination (Brzozowski and McCluskey, 1963), which may copy parts.
"""

from collections.abc import Callable
from heapq import heapify, heappop, heappush
from itertools import groupby
from typing import NamedTuple

from guidedviz.errors import PatternError
from guidedviz.machines import syntax
from guidedviz.machines.ranges import LAST, Range, other_ranges
from guidedviz.machines.syntax import Tree

MOST_CHARACTERS = 1_000_000
ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


class Notation(NamedTuple):
    """How a tree is written. `flat` gives a tree for a net; `text` writes adjacent characters, if they are one part."""

    chars: Callable[[tuple[Range, ...]], str]
    flat: Callable[[syntax.Net], Tree]
    call: Callable[[syntax.Call], str]
    text: Callable[[list[int]], str] | None = None
    between: str = " "
    bar: str = " | "
    group: str = "({})"
    empty: str = '""'

    def show(self, tree: Tree) -> str:
        """The tree in this notation."""
        match tree:
            case syntax.Chars(ranges):
                shown = self.chars(ranges)
            case syntax.Concat(parts):
                shown = self.between.join(self.row(parts)) if parts else self.empty
            case syntax.Either(options):
                shown = self.bar.join(self.part(option, syntax.Either) for option in options)
            case syntax.Repeat(_, _, 0):
                shown = self.empty
            case syntax.Repeat(part):
                shown = self.part(part, syntax.Either, syntax.Repeat, syntax.Concat) + str(tree)
            case syntax.Net():
                shown = self.show(self.flat(tree))
            case syntax.Call():
                shown = self.call(tree)
            case syntax.Tick():
                syntax.no_rules(tree)
        if len(shown) > MOST_CHARACTERS:
            raise _too_long()
        return shown

    def row(self, parts: tuple[Tree, ...]) -> list[str]:
        """The parts of a sequence."""
        row: list[str] = []
        for single, run in groupby(parts, key=is_single):
            if single and self.text:
                row.append(self.text([part.ranges[0][0] for part in run if isinstance(part, syntax.Chars)]))
            else:
                row += [self.part(part, syntax.Either) for part in run]
        return row

    def part(self, tree: Tree, *loose: type) -> str:
        """A part of a larger tree, as a group if it has one of the loose types and is not a single text."""
        tree = self.flat(tree) if isinstance(tree, syntax.Net) else tree
        text = self.text and isinstance(tree, syntax.Concat) and tree.parts and all(map(is_single, tree.parts))
        return self.group.format(self.show(tree)) if isinstance(tree, loose) and not text else self.show(tree)


def is_single(tree: Tree) -> bool:
    """Whether the tree is exactly one character."""
    return isinstance(tree, syntax.Chars) and len(tree.ranges) == 1 and tree.ranges[0][0] == tree.ranges[0][1]


def show_regex(tree: Tree) -> str:
    r"""The regex of a tree.

    >>> from guidedviz.machines.regular.regex import parse_regex
    >>> show_regex(parse_regex(r"(a|bc)*[^\n]{2,}\."))
    '(?:a|bc)*[^\\n]{2,}\\.'
    """
    return REGEX.show(tree)


def _too_long() -> PatternError:
    seen = f"more than {MOST_CHARACTERS:,} characters"
    return PatternError("regex", seen=seen, expected="a shorter regex", hint="use the machine directly")


def show_class(ranges: tuple[Range, ...]) -> str:
    r"""A character class for these ranges.

    >>> show_class(((65, 90),)), show_class(((46, 46),)), show_class(()), show_class(((0, LAST),))
    ('[A-Z]', '\\.', '[^\\s\\S]', '[\\s\\S]')
    """
    if not ranges or ranges == ((0, LAST),):
        return r"[\s\S]" if ranges else r"[^\s\S]"
    if is_single(syntax.Chars(ranges)):
        return show_char(ranges[0][0], r"\.^$*+?{}[]|()")
    return write_class(ranges, ranges[-1][1] == LAST, lambda code: show_char(code, r"\]^-[&~|"))


def write_class(ranges: tuple[Range, ...], negated: bool, show: Callable[[int], str]) -> str:
    """A class in brackets, written as its complement if `negated`; `show` writes a character.

    >>> write_class(((97, 122), (48, 49)), False, chr)
    '[a-z01]'
    """
    shown = "^" * negated
    for low, high in other_ranges(ranges) if negated else ranges:
        shown += show(low) + "-" * (high - low > 1) + show(high) * (high > low)
    return f"[{shown}]"


def show_char(code: int, special: str) -> str:
    """One character in a pattern: special and unprintable characters are escaped."""
    char = chr(code)
    if char in ESCAPES:
        return ESCAPES[char]
    if char in special:
        return "\\" + char
    return char if char.isprintable() else f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"


class Way(NamedTuple):
    """A part between two places, and the approximate length of its text."""

    part: Tree
    size: int


def unfold(net: syntax.Net, size: Callable[[Tree], int] = lambda tree: len(show_regex(tree))) -> Tree:
    """An equivalent tree without a net: the places are eliminated one by one, cheapest first by `size`.

    >>> a, b = syntax.literal("a"), syntax.literal("b")
    >>> show_regex(unfold(syntax.Net(2, ((0, a, 1), (1, b, 0)))))
    'a(?:ba)*'
    """
    start, end, left = net.places, net.places + 1, _Elimination(net.places + 2)
    for source, part, target in [(start, syntax.EMPTY, 0), *net.edges, (net.places - 1, syntax.EMPTY, end)]:
        left.join(source, target, Way(part, size(part)))
    queue = [(left.cost(place), place) for place in range(net.places)]
    heapify(queue)
    while queue:
        cost, place = heappop(queue)
        if place in left.into and cost == left.cost(place):  # skip outdated entries
            for near in left.take_out(place) - {start, end}:
                heappush(queue, (left.cost(near), near))
    return left.out[start].get(end, Way(syntax.NOTHING, 0)).part


class _Elimination:
    """The places that are left: the ways out of each by their targets, and the sources of the ways into each."""

    def __init__(self, places: int) -> None:
        self.out: dict[int, dict[int, Way]] = {place: {} for place in range(places)}
        self.into: dict[int, set[int]] = {place: set() for place in range(places)}

    def join(self, source: int, target: int, new: Way) -> None:
        """One more way between two places."""
        old = self.out[source].get(target, Way(syntax.NOTHING, 0))
        if syntax.EMPTY in (old.part, new.part):
            part = syntax.optional(syntax.either(*(way.part for way in (old, new) if way.part != syntax.EMPTY)))
        else:
            part = syntax.either(old.part, new.part)
        self.out[source][target] = Way(part, old.size + new.size + 1)
        self.into[target].add(source)

    def take_out(self, place: int) -> set[int]:
        """Replace every path through a place by a way; return the neighbours."""
        onward, sources = self.out.pop(place), self.into.pop(place) - {place}
        loop = onward.pop(place, Way(syntax.EMPTY, 0))
        around = syntax.EMPTY if loop.part == syntax.EMPTY else syntax.Repeat(loop.part, 0, None)
        for target in onward:
            self.into[target].discard(place)
        for source in sources:
            before = self.out[source].pop(place)
            for target, after in onward.items():
                size = before.size + loop.size + after.size
                if size > MOST_CHARACTERS:
                    raise _too_long()
                self.join(source, target, Way(syntax.concat(before.part, around, after.part), size))
        return {*sources, *onward}

    def cost(self, place: int) -> int:
        """The approximate length of the text that eliminating this place copies."""
        before = [self.out[source][place].size + 1 for source in self.into[place] if source != place]
        after = [way.size + 1 for target, way in self.out[place].items() if target != place]
        loop = self.out[place].get(place, Way(syntax.EMPTY, 0)).size
        ways = len(before) * len(after)
        return sum(before) * (len(after) - 1) + sum(after) * (len(before) - 1) + loop * (ways - 1)


REGEX = Notation(show_class, unfold, syntax.no_rules, None, "", "|", "(?:{})", "")


def count_signs(tree: Tree) -> int:
    """The approximate number of symbols in a tree; a quoted text counts as one.

    >>> abc = syntax.literal("abc")
    >>> count_signs(abc), count_signs(syntax.concat(abc, syntax.Repeat(syntax.Call("x"), 0, None)))
    (1, 3)
    """
    inner = syntax.parts_of(tree)
    if isinstance(tree, syntax.Concat):
        return sum(single or sum(map(count_signs, run)) for single, run in groupby(inner, key=is_single))
    return sum(map(count_signs, inner)) + (not isinstance(tree, syntax.Either | syntax.Net))
