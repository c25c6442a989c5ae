"""Properties of the rules of a grammar (can it finish, can it be empty), and the graph of their calls."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import count

from guidedviz.machines.fixpoint import derive, reach
from guidedviz.machines.grammars.grammar import Rule
from guidedviz.machines.tree import Call, Chars, Concat, Either, Net, Repeat, Tick, Tree, Words

Graph = Mapping[str, Collection[str]]  # the rules that each rule leads to


def rules_with(rules: Iterable[Rule], holds: Callable[[Chars], bool]) -> frozenset[str]:
    """The rules with a property that sequences inherit from all parts and choices from any part.

    >>> grammar = gv.grammar('root ::= a | "x"\\na ::= root? a\\nb ::= "y"{0}').grammar
    >>> sorted(rules_with(grammar.rules, lambda chars: True)), rules_with(grammar.rules, lambda chars: False)
    (['b', 'root'], frozenset({'b'}))
    """
    rules = tuple(rules)
    fresh = count()
    derived = derive(clause for rule in rules for clause in _clauses(rule.tree, rule.name, holds, fresh))
    return frozenset(rule.name for rule in rules if rule.name in derived)


Fact = str | int  # a rule by its name, or a part of one by a number of its own
Clause = tuple[Fact, tuple[Fact, ...]]


def _clauses(tree: Tree, fact: Fact, holds: Callable[[Chars], bool], fresh: Iterator[int]) -> Iterator[Clause]:
    """The clauses from which the fact follows for this tree; parts get `fresh` numbers."""
    parts: list[tuple[Tree, Fact]] = []
    match tree:
        case Chars():
            yield from [(fact, ())] * holds(tree)
        case Call(name):
            yield fact, (name,)
        case Concat(inner):
            parts = [(part, next(fresh)) for part in inner]
            yield fact, tuple(number for _, number in parts)
        case Either(options):
            parts = [(option, fact) for option in options]
        case Repeat(_, 0) | Tick():
            yield fact, ()
        case Repeat(part):
            parts = [(part, fact)]
        case Words(_, edges):
            yield from _clauses(edges[0][1], fact, holds, fresh)
        case Net(places, edges):
            reached = [next(fresh) for _ in range(places)]
            parts = [(part, next(fresh)) for _, part, _ in edges]
            ways = zip(edges, parts, strict=True)
            yield from [(reached[0], ()), (fact, (reached[-1],))]
            yield from ((reached[target], (reached[source], number)) for (source, _, target), (_, number) in ways)
    for part, number in parts:
        yield from _clauses(part, number, holds, fresh)


def turned(graph: Graph) -> dict[str, list[str]]:
    """The same edges the other way round."""
    back: dict[str, list[str]] = {name: [] for name in graph}
    for name, others in graph.items():
        for other in others:
            back[other].append(name)
    return back


def find_loops(graph: Graph) -> list[set[str]]:
    """The sets of rules that can all reach each other, and themselves (S. R. Kosaraju's two passes).

    >>> [sorted(loop) for loop in find_loops({"a": "b", "b": "ac", "c": "d", "d": "", "e": "e"})]
    [['e'], ['a', 'b']]
    """
    order: dict[str, None] = {}  # a rule after everything it leads to, loops aside
    for start in graph:
        stack = [(start, iter(graph[start]))] if start not in order else []
        entered = {start}
        while stack:
            name, others = stack[-1]
            after = next((other for other in others if other not in order and other not in entered), None)
            if after is None:
                order[stack.pop()[0]] = None
            else:
                entered.add(after)
                stack.append((after, iter(graph[after])))
    back, loops, taken = turned(graph), [], set[str]()
    for name in reversed(order):
        if name not in taken:
            loop = set(reach([name], lambda at: (other for other in back[at] if other not in taken)))
            taken.update(loop)
            loops += [loop] if len(loop) > 1 or name in graph[name] else []
    return loops


def find_way(graph: Graph, start: str, end: str) -> list[str]:
    """A shortest way, at least one step long; nothing if there is none.

    >>> find_way({"a": "bc", "b": "c", "c": "a"}, "a", "a")
    ['a', 'c', 'a']
    """
    came: dict[str, str] = {}
    queue = deque([start])
    while queue and end not in came:
        name = queue.popleft()
        for other in graph[name]:
            if other not in came:
                came[other] = name
                queue.append(other)
    if end not in came:
        return []
    way = [end, came[end]]
    while way[-1] != start:
        way.append(came[way[-1]])
    return way[::-1]
