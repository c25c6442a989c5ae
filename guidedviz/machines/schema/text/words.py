"""Many constants as a net with shared beginnings and shared ends (Daciuk et al., 2000), so that they stay small."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import takewhile

from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.minimal import number_states
from guidedviz.machines.regular.nfa import MOST_LISTED, Edge
from guidedviz.machines.tree import EMPTY, Chars, Range, Tree, Words, either, literal, merge_ranges, one_character
from guidedviz.machines.work import spend

LAST_ASCII = 127
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
                spend(10)
                nodes.append(node)
            way[-1][last[place - 1]] = known[key]
        way += [{} for _ in text[shared:]]
        if text or texts[:1] == [""]:
            way[-1][""] = 0
        last = text
    nodes.append(way[0])
    return net_of(nodes)


def words_machine(words: Words) -> DFA | None:
    """The minimal machine of a net that is minimal over characters; None if some characters have several bytes.

    >>> words_machine(words_net(["tap", "top"]))
    DFA(4 states, 1 accepting)
    """
    rows: list[list[Edge]] = [[] for _ in range(words.places)]
    accepting = {words.places - 1}
    for source, part, target in words.edges:
        if not isinstance(part, Chars):
            accepting.add(source)
        elif part.ranges[-1][1] > LAST_ASCII:
            return None
        else:
            rows[source] += [(low, high, target) for low, high in part.ranges]
    if words.places > MOST_LISTED:
        return None
    return number_states(DFA(tuple(tuple(sorted(row)) for row in rows), frozenset(accepting)))


def net_of(nodes: list[Node]) -> Words:
    """Nodes, each listed after those that follow it, as a net that begins at the last and ends at the first."""
    end = len(nodes) - 1
    edges: list[tuple[int, Tree, int]] = []
    for number in range(end, 0, -1):
        if len(nodes[number]) == 1:
            [(char, target)] = nodes[number].items()
            edges.append((end - number, one_character(char), end - target))
            continue
        ranges: dict[int, list[Range]] = defaultdict(list)
        for char, target in nodes[number].items():
            if char:
                ranges[target].append((ord(char), ord(char)))
            else:
                edges.append((end - number, EMPTY, end))
        edges += [(end - number, Chars(merge_ranges(chars)), end - target) for target, chars in ranges.items()]
    return Words(end + 1, tuple(edges))
