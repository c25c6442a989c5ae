"""Free text in which some words are watched for: where one is complete, something else begins.

    the words "ab" and "ca"     after c the text may become "ca", after ca it may become "ab"

A place is the longest end of the text that begins a word (Aho and Corasick, CACM 1975). A special token is a word of
one sign. Where a word is complete, only its content may follow, or the rest of a longer word.
"""

from collections.abc import Iterable, Mapping, Sequence

from guidedviz.machines.graph import grouped
from guidedviz.machines.ranges import merge_ranges, other_ranges
from guidedviz.machines.special import Special, named
from guidedviz.machines.syntax import ANYTHING, NOTHING, Chars, NetMoves, Tree, build_net, concat
from guidedviz.machines.work import spend

FINISHED = "\ud800"  # the place behind the last content; no word has a lone surrogate


def free_text(
    words: Mapping[str | Special, Tree],
    excludes: Sequence[str] = (),
    others: Tree = NOTHING,
    loop: bool = True,
    must: bool = False,
) -> Tree:
    """Free text without the excluded words; behind each of `words` stands its content.

    `others`: special tokens that may stand in the text. `loop`: free text goes on behind a content; else the text ends
    there. `must`, without a loop: the text ends only there.

    >>> from guidedviz.machines.grammars.show import show_regex
    >>> from guidedviz.machines.syntax import literal
    >>> show_regex(free_text({"b": literal("1")}, excludes=["c"], loop=False))
    '[^bc]*(?:b1)?'
    """
    texts = {word: content for word, content in words.items() if isinstance(word, str)}
    names = {word.name: content for word, content in words.items() if isinstance(word, Special)}
    if not (words or excludes or must) and others == NOTHING:
        return ANYTHING
    places = _Places(texts, excludes)
    after = "" if loop else FINISHED

    def moves(place: str) -> NetMoves[str]:
        if place == FINISHED:
            return
        word = places.opened_by(place)
        if word:
            yield texts[word], after
        yield from places.moves(place)
        if place not in places.open:
            yield others, ""
            for name, content in names.items():
                yield concat(named(name), content), after

    def may_end(place: str) -> bool:
        return place == FINISHED or not (must or place in places.open)

    return build_net("", lambda place: (move for move in moves(place) if move[0] != NOTHING), may_end)


class _Places:
    """The beginnings of words: for each its longest proper end that begins a word, and where characters lead."""

    def __init__(self, contents: Mapping[str, Tree], excluded: Iterable[str]) -> None:
        self.contents = contents
        reachable = [word for word in excluded if not any(opening in word[:-1] for opening in contents)]
        self.excluded = frozenset(reachable)
        self.longest_end = {"": ""}
        self.rows: dict[str, dict[str, str]] = {}
        self.open = set[str]()  # beginnings in which a word is complete, or was before their end
        words = [*contents, *reachable]
        spend(sum(len(word) ** 2 // 16 for word in words))  # the letters of all beginnings
        beginnings = _beginnings(words)
        longer = grouped((place[:-1], place) for place in beginnings if place)
        for place in beginnings:
            before = place[:-1]
            end = ""
            if before:
                end = self.rows[self.longest_end[before]].get(place[-1], "")
            self.longest_end[place] = end
            row = dict[str, str]()
            if place:
                row |= self.rows[end]
            row |= {word[-1]: word for word in longer[place]}
            self.rows[place] = row
            spend(2 + len(place) + len(row))
            if before in self.open or self.opened_by(place):
                self.open.add(place)

    def ends(self, place: str) -> Iterable[str]:
        """The ends of a place that begin a word, the longest first."""
        while place:
            yield place
            place = self.longest_end[place]

    def opened_by(self, place: str) -> str:
        """The longest word with a content that is complete here; "" if there is none."""
        if place[:-1] in self.open:
            return place if place in self.contents else ""
        return next((end for end in self.ends(place) if end in self.contents), "")

    def moves(self, place: str) -> NetMoves[str]:
        """The classes of characters that lead on, each to one place."""
        row = self.rows[place]
        is_open = place in self.open
        chars_to = grouped((target, (ord(char), ord(char))) for char, target in row.items())
        for target, chars in chars_to.items():
            goes_on = not is_open or target[:-1] == place
            if goes_on and self.excluded.isdisjoint(self.ends(target)):
                yield Chars(merge_ranges(chars)), target
        if not is_open:
            yield Chars(other_ranges((ord(char), ord(char)) for char in row)), ""


def _beginnings(words: Iterable[str]) -> list[str]:
    """Every beginning of a word, each once, the shortest first."""
    found = dict.fromkeys(word[:size] for word in ("", *words) for size in range(len(word) + 1))
    return sorted(found, key=len)
