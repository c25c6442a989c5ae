"""The length of a pattern's texts: whether a bound says anything, and how a bound is counted that needs many copies.

Each character is then followed by a tick, which the machine counts.
"""

from __future__ import annotations

from collections import defaultdict
from math import inf

from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.tree import Chars, Net, Tick, Tree, concat, walk


def tick_net(net: Net, machine: DFA, high: int) -> Net:
    """The net of a machine over letters, with a tick after each letter.

    >>> from guidedviz.machines.regular.regex import parse_regex
    >>> from guidedviz.machines.schema.text.intersect import find_letters, letter_machine, letter_net
    >>> tree = parse_regex("a+")
    >>> machine = letter_machine(tree, letters := find_letters([tree]))
    >>> tick_net(letter_net(machine, letters), machine, 9).edges[1][1].parts[1]
    Tick(most=9, rest=0)
    """
    rests = count_rests(machine)
    return Net(net.places, tuple((source, _tick(part, rests.get(to, 0), high), to) for source, part, to in net.edges))


def _tick(part: Tree, rest: int, high: int) -> Tree:
    return concat(part, Tick(high, rest)) if isinstance(part, Chars) else part  # an empty part leads to the end


def count_rests(machine: DFA) -> dict[int, int]:
    """The fewest letters from each state to the end.

    >>> from guidedviz.machines.pushdown.pda import regex
    >>> count_rests(regex("ab+c"))
    {3: 0, 2: 1, 1: 2, 0: 3}
    """
    back: dict[int, list[int]] = defaultdict(list)
    for source, row in enumerate(machine.edges):
        for _, _, target in row:
            back[target].append(source)
    rests = dict.fromkeys(machine.accepting, 0)
    for state in (queue := list(rests)):
        for source in back[state]:
            if source not in rests:
                rests[source] = rests[state] + 1
                queue.append(source)
    return rests


def longest_text(machine: DFA) -> float:
    """The number of letters of the longest text of a minimal machine; infinite if there is no longest.

    >>> from guidedviz.machines.pushdown.pda import regex
    >>> longest_text(regex("ab?(c|def)")), longest_text(regex("ab+"))
    (5, inf)
    """
    left = [0] * len(machine)  # edges from states that are not yet known
    for row in machine.edges:
        for _, _, target in row:
            left[target] += 1
    depth = {machine.initial: 0}
    queue = [machine.initial] if not left[machine.initial] else []
    for state in queue:
        for _, _, target in machine.edges[state]:
            depth[target] = max(depth.get(target, 0), depth[state] + 1)
            left[target] -= 1
            if not left[target]:
                queue.append(target)
    return max((depth[state] for state in machine.accepting), default=0) if len(queue) == len(machine) else inf


def has_ticks(tree: Tree) -> bool:
    """Whether a tree counts its characters."""
    return any(isinstance(part, Tick) for part in walk(tree))
