"""What holds of which rules, and the ways by which they call each other.

Can a rule finish, can it be empty? Both are asked of all rules at once: a row is settled when all its parts are, a
choice when one option is, and whatever is settled settles what waits for it (Dowling and Gallier, 1984).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from guidedviz.machines.grammar import Rule
from guidedviz.machines.tree import Call, Chars, Concat, Either, Net, Repeat, Tree

Graph = Mapping[str, Collection[str]]  # the rules that each rule leads to


def settled_rules(rules: Iterable[Rule], holds: Callable[[Chars], bool]) -> frozenset[str]:
    """The rules of which something holds that holds of a text when it holds of every part of it.

    >>> from guidedviz.machines.gbnf import parse_grammar
    >>> grammar = parse_grammar('root ::= a | "x"\\na ::= root? a\\nb ::= "y"{0}')
    >>> sorted(settled_rules(grammar.rules, lambda chars: True)), settled_rules(grammar.rules, lambda chars: False)
    (['b', 'root'], frozenset({'b'}))
    """
    waits = _Waits(tuple(rules), holds)
    hits = deque(waits.hits)
    while hits:
        node = hits.popleft()
        waits.missing[node] -= 1
        if waits.missing[node] == 0:
            hits.extend(waits.waiting[node])
    return frozenset(name for name, node in waits.numbers.items() if waits.missing[node] <= 0)


class _Waits:
    """A node a rule and a node a phrase: how many hits it still misses, and what it hits in its turn."""

    def __init__(self, rules: tuple[Rule, ...], holds: Callable[[Chars], bool]) -> None:
        self.holds = holds
        self.missing: list[int] = []
        self.waiting: list[list[int]] = []
        self.hits: list[int] = []
        self.numbers = {rule.name: self.node(1) for rule in rules}
        for rule in rules:
            self.link(rule.tree, self.numbers[rule.name])

    def node(self, missing: int, *waiting: int) -> int:
        self.missing.append(missing)
        self.waiting.append(list(waiting))
        return len(self.missing) - 1

    def link(self, tree: Tree, target: int) -> None:
        """The tree hits the target, now or when what it waits for is settled."""
        match tree:
            case Chars():
                self.hits += [target] * self.holds(tree)
            case Call(name):
                if name in self.numbers:
                    self.waiting[self.numbers[name]].append(target)
            case Concat(()):
                self.hits.append(target)
            case Concat(parts):
                self.link_all(parts, self.node(len(parts), target))
            case Either(options):
                self.link_all(options, self.node(1, target))
            case Repeat(part, low):
                self.link(part, target) if low else self.hits.append(target)
            case Net(places, edges):
                nodes = [self.node(1) for _ in range(places)]
                self.hits.append(nodes[0])
                self.waiting[nodes[-1]].append(target)
                for source, part, after in edges:
                    step = self.node(2, nodes[after])
                    self.waiting[nodes[source]].append(step)
                    self.link(part, step)

    def link_all(self, parts: Iterable[Tree], target: int) -> None:
        for part in parts:
            self.link(part, target)


def walk(tree: Tree) -> Iterator[Tree]:
    """Every part of a tree that is not left out by {0}, the whole first.

    >>> [type(part).__name__ for part in walk(Concat((Repeat(Call("a"), 0, 0), Either((Call("b"),)))))]
    ['Concat', 'Repeat', 'Either', 'Call']
    """
    stack = [tree]
    while stack:
        part = stack.pop()
        yield part
        stack.extend(reversed(parts_of(part)))


def parts_of(tree: Tree) -> tuple[Tree, ...]:
    match tree:
        case Concat(parts) | Either(parts):
            return parts
        case Repeat(part, _, high):
            return () if high == 0 else (part,)
        case Net(_, edges):
            return tuple(part for _, part, _ in edges)
    return ()


def reached(graph: Graph, starts: Iterable[str]) -> set[str]:
    """Every rule that can be reached, the starts too."""
    found, stack = set(), list(starts)
    while stack:
        name = stack.pop()
        if name not in found:
            found.add(name)
            stack.extend(graph.get(name, ()))
    return found


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
            loop = _flood(back, name, taken)
            loops += [loop] if len(loop) > 1 or name in graph[name] else []
    return loops


def _flood(graph: Graph, start: str, taken: set[str]) -> set[str]:
    """What can be reached and is not taken; it is taken from now on."""
    found, stack = set[str](), [start]
    while stack:
        name = stack.pop()
        if name not in taken:
            taken.add(name)
            found.add(name)
            stack.extend(graph[name])
    return found


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
