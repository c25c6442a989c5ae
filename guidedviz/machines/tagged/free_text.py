"""Free text up to the first of some triggers: the automaton of Aho and Corasick (CACM, 1975)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from guidedviz.errors import PatternError, quoted
from guidedviz.machines.regular.algebra import intersection
from guidedviz.machines.regular.characters import code_machine
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.tree import EMPTY, LAST, Call, Chars, Net, Range, Tree, concat, either, literal, other_ranges
from guidedviz.machines.work import spend

MOST_PLACES = 4_000
FOUND = LAST + 2  # the letter after trigger 0 is complete; the next ones for the other triggers, and for the end


class FreeText(NamedTuple):
    """Places joined by characters; place 0 is the start. A place knows which part of a trigger was read last."""

    places: int
    edges: tuple[tuple[int, Tree, int], ...]
    ends: tuple[int, ...]  # where the free text may end
    found: tuple[tuple[int, int], ...]  # a place where a trigger is complete, and its number


def check_triggers(triggers: Sequence[str]) -> None:
    """Refuse triggers that could never be the first one to be complete."""
    for trigger in triggers:
        if not isinstance(trigger, str) or not trigger or any(0xD800 <= ord(char) <= 0xDFFF for char in trigger):
            raise PatternError("tagged, triggers", seen=quoted(trigger), expected="a text that is not empty")
    first = set(first_complete(triggers))
    for trigger in triggers:
        if trigger not in first:
            other = next(other for other in first if other in trigger)
            seen, hint = f"{quoted(trigger)}, which contains {quoted(other)}", f"triggers=[{quoted(other)}]"
            raise PatternError("tagged, triggers", seen=seen, expected="triggers that can be complete", hint=hint)


def free_text(triggers: Sequence[str], free: Tree | None = None) -> FreeText:
    """Any text, or a text of `free`, up to the place where a trigger is complete for the first time.

    >>> text = free_text(["<a>"])
    >>> text.places, text.ends, text.found
    (4, (0, 1, 2), ((3, 0),))
    """
    places, complete = read_on(triggers)
    edges: list[tuple[int, Tree, int]] = []
    for place, targets in enumerate(places):
        if place not in complete:
            edges += [(place, literal(char), target) for char, target in targets.items()]
            edges.append((place, Chars(other_ranges((ord(char), ord(char)) for char in targets)), 0))
    ends = tuple(place for place in range(len(places)) if place not in complete)
    whole = FreeText(len(places), tuple(edges), ends, tuple(complete.items()))
    return whole if free is None else restrict(whole, triggers, free)


def read_on(triggers: Sequence[str]) -> tuple[list[dict[str, int]], dict[int, int]]:
    """The places, each a prefix of a trigger, by the characters that lead on; and which trigger is complete where.

    Every other character leads to place 0. The place after a character is the longest prefix that the text ends with.

    >>> read_on(["aab"])
    ([{'a': 1}, {'a': 2}, {'a': 2, 'b': 3}, {'a': 1}], {3: 0})
    """
    places: list[dict[str, int]] = [{}]
    complete: dict[int, int] = {}
    for number, trigger in enumerate(triggers):
        place = 0
        for char in trigger:
            if char not in places[place]:
                if len(places) == MOST_PLACES:
                    seen, hint = f"triggers or ends of more than {MOST_PLACES:,} characters", "a common trigger"
                    raise PatternError("tagged", seen=seen, expected="shorter ones", hint=hint)
                places[place][char] = len(places)
                places.append({})
            place = places[place][char]
        complete[place] = number
    queue = [(target, 0) for target in places[0].values()]  # a place, and that of its longest suffix
    for place, suffix in queue:
        queue += [(target, places[suffix].get(char, 0)) for char, target in places[place].items()]
        places[place] = {**places[suffix], **places[place]}
    return places, complete


def restrict(text: FreeText, triggers: Sequence[str], free: Tree) -> FreeText:
    """The free text whose stretches before a trigger, or before the end, are texts of `free`."""
    marks: list[Tree] = [Call(str(FOUND + number)) for number in range(len(triggers) + 1)]
    last = text.places
    found = [(place, marks[number], last) for place, number in text.found]
    ended = [(place, marks[-1], last) for place in text.ends]
    either_way = either(*(concat(literal(t), mark) for t, mark in zip(triggers, marks, strict=False)), marks[-1])
    one, other = Net(last + 1, (*text.edges, *found, *ended)), concat(free, either_way)
    return _places(
        intersection(*(code_machine(tree, lambda call: int(call.name)) for tree in (one, other))), FOUND + len(triggers)
    )


def _places(machine: DFA, end: int) -> FreeText:
    """The free text of a machine over characters and marks."""
    edges, ends, found = list[tuple[int, Tree, int]](), list[int](), list[tuple[int, int]]()
    for state, row in enumerate(machine.edges):
        ranges: dict[int, list[Range]] = defaultdict(list)
        for low, high, target in row:
            if low <= LAST:
                ranges[target].append((low, high))
            else:
                ends += [state] * (high == end)
                found += [(state, mark - FOUND) for mark in range(low, min(high + 1, end))]
        edges += [(state, Chars(tuple(pairs)), target) for target, pairs in ranges.items()]
    return FreeText(len(machine), tuple(edges), tuple(ends), tuple(found))


def text_until(ends: Sequence[str]) -> Tree:
    """Any text up to the first of these ends, the end included; any text if an end is empty.

    >>> from guidedviz.machines.regular.show_regex import show_regex
    >>> show_regex(text_until(["ab"]))
    '(?:[^a]|aa*[^ab])*aa*b'
    """
    text = free_text([] if "" in ends else first_complete(ends))
    stops = text.ends if "" in ends else [place for place, _ in text.found]
    return Net(text.places + 1, (*text.edges, *((place, EMPTY, text.places) for place in stops)))


def first_complete(marks: Iterable[str]) -> list[str]:
    """Without the marks that contain another one, which is complete before them.

    >>> first_complete(["ab", "xabx", "b", "c", "c"])
    ['b', 'c']
    """
    every = dict.fromkeys(marks)
    sizes = sorted({len(mark) for mark in every})
    return [mark for mark in every if not any(part in every for part in _parts(mark, sizes))]


def _parts(mark: str, sizes: Iterable[int]) -> Iterator[str]:
    """The shorter texts of these sizes in a mark."""
    for size in (size for size in sizes if size < len(mark)):
        spend((len(mark) - size) * (1 + size // 1000))
        yield from (mark[start : start + size] for start in range(len(mark) - size + 1))
