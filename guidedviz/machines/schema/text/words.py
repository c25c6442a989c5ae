"""Many constants as a net with shared beginnings and shared ends (Daciuk et al., 2000), so that they stay small."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import takewhile

from guidedviz.machines.tree import EMPTY, Chars, Range, Tree, Words, either, literal, merge_ranges

FEW = 1_000  # so many words are written as a choice, which is readable as GBNF
Node = dict[str, int]  # a character -> the number of the next node; "" -> 0 where a word ends and another goes on


def words_tree(words: Iterable[str], few: int = FEW) -> Tree:
    """Any of these texts.

    >>> words_tree(["tap", "top"], few=1).places, words_tree(["tap", "top", "to"], few=1).places
    (4, 5)
    """
    texts = list(dict.fromkeys(words))
    return either(*map(literal, texts)) if len(texts) <= few else words_net(sorted(texts))


def words_net(texts: list[str]) -> Words:
    """The smallest net for sorted texts."""
    nodes: list[Node] = [{}]  # the first node is the end of all words
    known: dict[tuple[tuple[str, int], ...], int] = {(("", 0),): 0}
    way: list[Node] = [{}]  # the nodes of the last text; their last characters are still open
    last = ""
    for text in [*texts, ""]:
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(last, text, strict=False)))
        for place in range(len(last), shared, -1):
            node = way.pop()
            key = tuple(node.items())
            if key not in known:
                known[key] = len(nodes)
                nodes.append(node)
            way[-1][last[place - 1]] = known[key]
        way += [{} for _ in text[shared:]]
        if text or texts[:1] == [""]:
            way[-1][""] = 0
        last = text
    nodes.append(way[0])
    return net_of(nodes)


def net_of(nodes: list[Node]) -> Words:
    """Nodes, each listed after those that follow it, as a net that begins at the last and ends at the first."""
    end = len(nodes) - 1
    edges: list[tuple[int, Tree, int]] = []
    for number in range(end, 0, -1):
        ranges: dict[int, list[Range]] = defaultdict(list)
        for char, target in nodes[number].items():
            if char:
                ranges[target].append((ord(char), ord(char)))
            else:
                edges.append((end - number, EMPTY, end))
        edges += [(end - number, Chars(merge_ranges(chars)), end - target) for target, chars in ranges.items()]
    return Words(end + 1, tuple(edges))
