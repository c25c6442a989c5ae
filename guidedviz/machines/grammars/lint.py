"""Findings about a grammar: undefined and unused rules, recursion, ambiguity, unbounded whitespace."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from guidedviz.machines.grammars.gbnf import brief, parse_grammar
from guidedviz.machines.grammars.grammar import (
    Grammar,
    Rule,
    Span,
    find_loops,
    find_way,
    grammar_error,
    nearest_name,
    rules_with,
    turned,
)
from guidedviz.machines.tree import (
    Call,
    Chars,
    Concat,
    Either,
    Net,
    Range,
    Repeat,
    Tick,
    Tree,
    merge_ranges,
    other_ranges,
    parts_of,
    walk,
)
from guidedviz.machines.work import reach

BLANKS: tuple[Range, ...] = ((9, 13), (32, 32))
EVERY, INK = other_ranges(()), other_ranges(BLANKS)
REAL = other_ranges([(0xD800, 0xDFFF)])  # UTF-8 cannot encode surrogates


@dataclass(frozen=True)
class Finding:
    """One finding about one rule, and its position in the text."""

    kind: str
    rule: str
    span: Span
    words: str


def lint(grammar: Grammar | str) -> tuple[Finding, ...]:
    """The findings about a grammar, grouped by kind and then in text order.

    >>> for finding in lint('root ::= root "+" root | ws "1"\\nws ::= " "*\\nold ::= "2"'):
    ...     print(f"{finding.rule} is {finding.kind}: {finding.words}")
    old is unused: it is not reachable from the root
    root is left-recursive: it may begin with itself: root → root
    root is ambiguous: it may begin and end with itself, so one text may have several trees
    ws is nullable: it may be empty
    root is nested: it may stand inside itself without end: root → root
    ws is blank: it allows unbounded whitespace
    """
    facts = _Facts(grammar if isinstance(grammar, Grammar) else parse_grammar(grammar))
    return tuple(finding for check in CHECKS for finding in check(facts))


def check_grammar(grammar: Grammar) -> None:
    """Raise an error for a grammar with an undefined rule or without any complete text."""
    facts = _Facts(grammar)
    for finding in (*_undefined(facts), *_unproductive(facts)):
        if finding.kind == "undefined" or finding.rule == grammar.root:
            raise grammar_error(grammar.text, finding.span[0], f'the rule "{brief(finding.rule)}": {finding.words}')


class _Facts:
    """The properties of a grammar that the checks share."""

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar
        named = grammar.named
        self.calls = {rule.name: [part for part in walk(rule.tree) if isinstance(part, Call)] for rule in grammar.rules}
        self.graph = {name: _names(calls, named) for name, calls in self.calls.items()}
        self.productive = rules_with(grammar.rules, lambda chars: _overlap(chars.ranges, REAL))
        self.nullable = rules_with(grammar.rules, lambda chars: False)
        self.written = self._with_chars(EVERY)  # rules that may match a character
        self.inked = self._with_chars(INK)  # rules that may match a character other than whitespace
        self.first = {rule.name: _names(self.outer_calls(rule.tree, 1), named) for rule in grammar.rules}
        self.last = {rule.name: _names(self.outer_calls(rule.tree, -1), named) for rule in grammar.rules}

    def _with_chars(self, ranges: tuple[Range, ...]) -> set[str]:
        own = [rule.name for rule in self.grammar.rules if _has_chars(rule.tree, ranges)]
        return set(reach(own, turned(self.graph).__getitem__))

    def is_nullable(self, tree: Tree) -> bool:
        match tree:
            case Chars():
                return False
            case Call(name):
                return name in self.nullable
            case Concat(parts):
                return all(map(self.is_nullable, parts))
            case Either(options):
                return any(map(self.is_nullable, options))
            case Repeat(part, low):
                return low == 0 or self.is_nullable(part)
            case Net(places):
                return places - 1 in self.free_places(tree, 1)
            case Tick():
                return True

    def free_places(self, net: Net, way: int) -> set[int]:
        """The places of a net reachable without reading: from its start (1), or backwards from its end (-1)."""
        graph: dict[int, list[int]] = defaultdict(list)
        for source, target in [(edge[0], edge[2])[::way] for edge in net.edges if self.is_nullable(edge[1])]:
            graph[source].append(target)
        return set(reach([0 if way == 1 else net.places - 1], graph.__getitem__))

    def outer_calls(self, tree: Tree, way: int) -> Iterator[Call]:
        """The calls with which a text may begin (1) or end (-1)."""
        match tree:
            case Call():
                yield tree
            case Concat(parts):
                for part in parts[::way]:
                    yield from self.outer_calls(part, way)
                    if not self.is_nullable(part):
                        return
            case Net(_, edges):
                free = self.free_places(tree, way)
                for source, part, target in edges:
                    if (source if way == 1 else target) in free:
                        yield from self.outer_calls(part, way)
            case _:
                for part in parts_of(tree):
                    yield from self.outer_calls(part, way)

    def may_have(self, tree: Tree, rules: set[str], ranges: tuple[Range, ...]) -> bool:
        """Whether the tree contains a character of these ranges or calls one of these rules."""
        return _has_chars(tree, ranges) or any(isinstance(part, Call) and part.name in rules for part in walk(tree))

    def sided_calls(self, tree: Tree, before: bool = False, after: bool = False) -> Iterator[tuple[Call, bool, bool]]:
        """Every call, and whether text may come before it and after it."""
        match tree:
            case Call():
                yield tree, before, after
            case Concat(parts):
                seen = [place for place, part in enumerate(parts) if self.may_have(part, self.written, EVERY)]
                for place, part in enumerate(parts):
                    if not isinstance(part, Chars):
                        left, right = bool(seen) and seen[0] < place, bool(seen) and seen[-1] > place
                        yield from self.sided_calls(part, before or left, after or right)
            case _:
                again = isinstance(tree, Net) or (isinstance(tree, Repeat) and tree.high != 1)
                for part in parts_of(tree):
                    more = again and self.may_have(tree, self.written, EVERY)
                    yield from self.sided_calls(part, before or more, after or more)


def _names(calls: Iterable[Call], known: Iterable[str]) -> list[str]:
    return [name for name in dict.fromkeys(call.name for call in calls) if name in known]


def _has_chars(tree: Tree, ranges: tuple[Range, ...]) -> bool:
    return any(isinstance(part, Chars) and _overlap(part.ranges, ranges) for part in walk(tree))


def _overlap(some: tuple[Range, ...], others: tuple[Range, ...]) -> bool:
    return any(low <= last and first <= high for low, high in some for first, last in others)


def _way(names: Iterable[str]) -> str:
    shown = list(map(brief, names))
    return " → ".join(shown if len(shown) <= 6 else [*shown[:4], "…", shown[-1]])


def _find(kind: str, rule: Rule, words: str, span: Span | None = None) -> Finding:
    return Finding(kind, rule.name, span or rule.span, words)


def _undefined(facts: _Facts) -> Iterator[Finding]:
    for rule in facts.grammar.rules:
        for call in facts.calls[rule.name]:
            if call.name not in facts.grammar.named:
                near = nearest_name(call.name, facts.grammar.named)
                words = f'it calls "{call.name}", which is not defined' + (f"; did you mean {near}?" if near else "")
                yield _find("undefined", rule, words, call.span)


def _unused(facts: _Facts) -> Iterator[Finding]:
    used = reach([facts.grammar.root], facts.graph.__getitem__)
    for rule in facts.grammar.rules:
        if rule.name not in used:
            yield _find("unused", rule, "it is not reachable from the root")


def _unproductive(facts: _Facts) -> Iterator[Finding]:
    told = {facts.grammar.root, *(rule.name for rule in _one_a_loop(facts, facts.graph))}  # show a cycle only for these
    for rule in facts.grammar.rules:
        if rule.name not in facts.productive:
            way = find_way(facts.graph, rule.name, rule.name) if rule.name in told else []
            yield _find("unproductive", rule, "it can never finish" + (f": {_way(way)}" if way else ""))


def _left_recursive(facts: _Facts) -> Iterator[Finding]:
    for rule in _one_a_loop(facts, facts.first):
        way = _way(find_way(facts.first, rule.name, rule.name))
        yield _find("left-recursive", rule, f"it may begin with itself: {way}")


def _one_a_loop(facts: _Facts, graph: dict[str, list[str]]) -> Iterator[Rule]:
    """The first rule of every cycle."""
    loops = find_loops(graph)
    of = {name: number for number, loop in enumerate(loops) for name in loop}
    for rule in facts.grammar.rules:
        if rule.name in of and loops[of[rule.name]]:
            loops[of[rule.name]].clear()
            yield rule


def _ambiguous(facts: _Facts) -> Iterator[Finding]:
    """Causes of ambiguity; finding none does not prove that a grammar is unambiguous."""
    left, right = (set().union(*find_loops(graph)) for graph in (facts.first, facts.last))
    both = left & right & facts.productive
    for rule in facts.grammar.rules:
        if rule.name in both:
            yield _find("ambiguous", rule, "it may begin and end with itself, so one text may have several trees")
        for part in walk(rule.tree):
            if words := _say_ambiguous(facts, part):
                yield _find("ambiguous", rule, words)


def _say_ambiguous(facts: _Facts, tree: Tree) -> str:
    match tree:
        case Repeat(part, low, high) if facts.is_nullable(part):
            several = low != high or (low > 1 and facts.may_have(part, facts.written, EVERY))
            return f"the part that {tree} repeats may be empty, so one text may have several trees" if several else ""
        case Either(options):
            if sum(map(facts.is_nullable, options)) > 1:
                return "several options may be empty"
            classes = [option.ranges for option in options if isinstance(option, Chars)]
            if _count(merge_ranges(pair for ranges in classes for pair in ranges)) < sum(map(_count, classes)):
                return "several options match the same character"
            calls = [option.name for option in options if isinstance(option, Call)]
            if len(set(calls)) < len(calls):
                return "an option occurs twice"
    return ""


def _count(ranges: tuple[Range, ...]) -> int:
    return sum(high - low + 1 for low, high in ranges)


def _nullable(facts: _Facts) -> Iterator[Finding]:
    for rule in facts.grammar.rules:
        if rule.name in facts.nullable:
            yield _find("nullable", rule, "it may be empty")


def _nested(facts: _Facts) -> Iterator[Finding]:
    """Cycles with text before a call and text after a call; they need an unbounded stack (N. Chomsky, 1959)."""
    loops = [loop for loop in find_loops(facts.graph) if loop <= facts.productive]
    of = {name: number for number, loop in enumerate(loops) for name in loop}
    inner: dict[int, list[tuple[Rule, Call, bool, bool]]] = {}
    for rule in facts.grammar.rules:
        for call, before, after in facts.sided_calls(rule.tree) if rule.name in of else ():
            if of.get(call.name) == of[rule.name]:
                inner.setdefault(of[rule.name], []).append((rule, call, before, after))
    for calls in inner.values():
        if any(before for _, _, before, _ in calls) and any(after for _, _, _, after in calls):
            rule, call, _, _ = max(calls, key=lambda found: found[2] + found[3])
            way = find_way(facts.graph, call.name, rule.name) if call.name != rule.name else [rule.name]
            words = f"it may stand inside itself without end: {_way([rule.name, *way])}"
            yield _find("nested", rule, words, call.span)


def _blank(facts: _Facts) -> Iterator[Finding]:
    words = "it allows unbounded whitespace"
    for rule in facts.grammar.rules:
        for part in walk(rule.tree):
            if isinstance(part, Repeat) and part.high is None and _is_blank(facts, part):
                span = None if part.position is None else (part.position, part.position + 1)
                yield _find("blank", rule, words, span)
    for rule in _one_a_loop(facts, facts.graph):
        if rule.name in facts.written and rule.name not in facts.inked:
            yield _find("blank", rule, words)


def _is_blank(facts: _Facts, tree: Tree) -> bool:
    """Whether it may match characters, and only whitespace."""
    return facts.may_have(tree, facts.written, EVERY) and not facts.may_have(tree, facts.inked, INK)


CHECKS = (_undefined, _unused, _unproductive, _left_recursive, _ambiguous, _nullable, _nested, _blank)
