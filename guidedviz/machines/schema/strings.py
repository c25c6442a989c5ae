"""Strings as JSON text (RFC 8259): escapes, lengths, constants in one spelling, and keys that are not named.

An unrestricted string may use every escape, also lone surrogates. Where characters are counted, a surrogate pair is one
character and a lone surrogate is refused. Characters from a pattern or format are escaped only where JSON requires it.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable
from decimal import Decimal
from functools import lru_cache, reduce
from math import inf
from typing import Any, TypeVar

from guidedviz.errors import PatternError
from guidedviz.machines.grammars.counted import map_parts
from guidedviz.machines.regular.algebra import difference, intersection
from guidedviz.machines.regular.assertions import code_machine, code_net
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.nfa import count_states
from guidedviz.machines.tree import (
    EMPTY,
    LAST,
    NOTHING,
    Call,
    Chars,
    Concat,
    Net,
    Range,
    Repeat,
    Tick,
    Tree,
    common_ranges,
    concat,
    either,
    literal,
    merge_ranges,
    optional,
    other_ranges,
    walk,
)
from guidedviz.machines.work import spend

T = TypeVar("T", bound=Hashable)
Spaced = Callable[[Tree, str], Tree]  # a piece of JSON with the whitespace allowed after it
SHORT = {'"': '"', "\\": "\\", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}
MUST = ((0, 31), (34, 34), (92, 92))  # characters that must be escaped
PLAIN = Chars(other_ranges(MUST))
ANYTHING = Repeat(Chars(((0, LAST),)), 0, None)
# Measured on Llama 3, whose longest token has 128 bytes, compiling and all masks along an e-mail address: with at most
# 128 characters copies take 0.6 of the time of counting, with 255 six times as long.
MOST_COPIES = 2_000  # states of the copies of a pattern for its lengths; a larger product is counted
LONG, FEW_COPIES = 200, 200  # characters; states of the copies for lengths above
MOST_PRODUCT = 50_000  # states; about a second
MOST_CLASSES = 128  # kinds of keys
FEW_WORDS = 1_000  # so many words are written as a choice, which is readable as GBNF

# --- one character --------------------------------------------------------------------------------------------------


def hexes(digits: str) -> Tree:
    """One of these hexadecimal digits, in upper or lower case."""
    return either(*map(literal, digits + digits.upper()))


def escaped(short: str, code: Tree) -> Tree:
    """A backslash with one of these letters, or with `u` and a code."""
    return concat(literal("\\"), either(*map(literal, short), concat(literal("u"), code)))


HEX = hexes("0123456789abcdef")
HIGH, LOW = (concat(hexes("d"), hexes(third), Repeat(HEX, 2, 2)) for third in ("89ab", "cdef"))  # a surrogate pair
BELOW = concat(hexes("d"), hexes("01234567"), Repeat(HEX, 2, 2))
CODE = either(concat(hexes("0123456789abcef"), Repeat(HEX, 3, 3)), BELOW, concat(HIGH, literal("\\u"), LOW))
OTHER_CODE = either(  # of a character that is not printable ASCII, or of a quote or a backslash
    concat(literal("00"), either(concat(hexes("0189abcdef"), HEX), literal("22"), concat(literal("5"), hexes("c")))),
    concat(literal("0"), hexes("123456789abcdef"), Repeat(HEX, 2, 2)),
    concat(hexes("123456789abcdef"), Repeat(HEX, 3, 3)),
)
ANY_CHARACTER = either(PLAIN, escaped('"\\/bfnrt', Repeat(HEX, 4, 4)))
ONE_CHARACTER = either(PLAIN, escaped('"\\/bfnrt', CODE))  # for minLength and maxLength
NOT_ASCII = escaped('"\\bfnrt', OTHER_CODE)


def in_quotes(tree: Tree) -> Tree:
    """The tree inside quotation marks."""
    return concat(literal('"'), tree, literal('"'))


def escape(tree: Tree) -> Tree:
    r"""The same texts as JSON string contents, with escapes.

    >>> from guidedviz.machines.regular.regex import parse_regex
    >>> from guidedviz.machines.regular.show_regex import show_regex
    >>> show_regex(escape(parse_regex('a["\n]')))
    'a\\\\(?:["n]|u00(?:0[Aa]|22))'
    """
    if isinstance(tree, Chars):
        return escape_chars(tree.ranges)
    if isinstance(tree, Repeat):
        return Repeat(escape(tree.part), tree.low, tree.high)  # its position is one in the pattern's own text
    changed = map_parts(tree, escape)
    return concat(*changed.parts) if isinstance(changed, Concat) else changed


@lru_cache(maxsize=256)
def escape_chars(ranges: tuple[Range, ...]) -> Tree:
    """One of these characters: itself, or its escape."""
    plain = Chars(common_ranges(ranges, PLAIN.ranges))
    must = [chr(code) for low, high in common_ranges(ranges, MUST) for code in range(low, high + 1)]
    if not must:
        return plain
    by_end: dict[str, str] = defaultdict(str)  # last hex digit -> possible digits before it
    for char in must:
        by_end[f"{ord(char):02x}"[1]] += f"{ord(char):02x}"[0]
    by_start: dict[str, str] = defaultdict(str)
    for end, starts in by_end.items():
        by_start[starts] += end
    codes = either(*(concat(hexes(starts), hexes(ends)) for starts, ends in by_start.items()))
    short = [literal(SHORT[char]) for char in must if char in SHORT]
    return either(plain, concat(literal("\\"), either(*short, concat(literal("u00"), codes))))


# --- automata, and sets of strings before escapes ---------------------------------------------------------------------


machine_over_characters = lru_cache(maxsize=256)(code_machine)


def overlap(trees: list[Tree], banned: Iterable[Tree] = (), high: int | None = None, tick: bool = False) -> Tree:
    """A tree for the texts that all trees match and no banned one; one of the trees if it is the strictest.

    `high`: of these the texts of at most so many characters, which `tick` allows to count instead of copies.

    >>> from guidedviz.machines.regular.regex import parse_regex
    >>> from guidedviz.machines.regular.show_regex import show_regex
    >>> show_regex(overlap([parse_regex("[a-z]+"), parse_regex("(?s:.{2,4})")]))
    '[a-z]{2,4}'
    >>> show_regex(overlap([parse_regex("(ab)*"), parse_regex("(?s:.{2,4})")]))
    'ab(?:ab)?'
    """
    without = list(banned)
    if len(trees) == 1 and not without and high is None:
        return trees[0]
    if not without and (run := common_run([*trees, Repeat(Chars(((0, LAST),)), 0, high)])) is not None:
        return run
    machines = list(map(machine_over_characters, trees))
    common = reduce(difference, map(machine_over_characters, without), reduce(intersection, machines))
    if high is not None and common.accepting and longest_text(common) > high:
        return at_most_long(common, high, tick)
    return trees[machines.index(common)] if common in machines else code_net(common)


def common_run(trees: list[Tree]) -> Tree | None:
    """The intersection if each tree repeats one class of characters: the common class, the common counts."""
    runs = [Repeat(tree, 1, 1) if isinstance(tree, Chars) else tree for tree in trees]
    ranges: tuple[Range, ...] = ((0, LAST),)
    low, high = 0, None
    for run in runs:
        if not (isinstance(run, Repeat) and isinstance(run.part, Chars)):
            return None
        ranges, low = common_ranges(ranges, run.part.ranges), max(low, run.low)
        high = run.high if high is None else high if run.high is None else min(high, run.high)
    return Repeat(Chars(ranges), low, high) if high is None or low <= high else NOTHING


def at_most_long(machine: DFA, high: int, tick: bool) -> Tree:
    """The texts of a machine over characters that have at most `high` characters: copied states, or ticks.

    A tick stands after each character, and the machine counts them.
    """
    net = code_net(machine)
    most = MOST_COPIES if high < LONG else min(FEW_COPIES, MOST_COPIES)
    if tick and isinstance(net, Net) and count_states(escape(net)) * high > most:
        rests = count_rests(machine)
        if rests[machine.initial] > high:
            return NOTHING
        ticks = ((source, concat(part, Tick(high, rests[to])), to) for source, part, to in net.edges if part != EMPTY)
        return Net(net.places, (*ticks, *(edge for edge in net.edges if edge[1] == EMPTY)))
    if len(machine) * high > MOST_PRODUCT:
        seen = f"a length of at most {high:,} beside a pattern with {len(machine):,} states"
        expected = f"at most {MOST_PRODUCT:,} copies of states"
        raise PatternError("pattern", seen=seen, expected=expected, hint="a smaller length")
    return code_net(intersection(machine, machine_over_characters(Repeat(Chars(((0, LAST),)), 0, high))))


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
    return max(depth[state] for state in machine.accepting) if len(queue) == len(machine) else inf


def split_texts(trees: list[Tree]) -> list[tuple[Tree, frozenset[int]]]:
    r"""All texts, grouped by which of the trees they match.

    >>> from guidedviz.machines.regular.regex import parse_regex
    >>> from guidedviz.machines.regular.show_regex import show_regex
    >>> [(show_regex(tree), sorted(of)) for tree, of in split_texts([parse_regex("a?"), parse_regex("a+")])]
    [('a', [0, 1]), ('aaa*', [1]), ('', [0]), ('a*[^a][\\s\\S]*', [])]
    """
    found = [(machine_over_characters(ANYTHING), frozenset[int]())]
    for place, tree in enumerate(trees):
        if len(found) > MOST_CLASSES:
            raise PatternError("pattern", seen=f"more than {MOST_CLASSES} kinds of keys", expected="fewer patterns")
        machine = machine_over_characters(tree)
        inside = [(intersection(known, machine), of | {place}) for known, of in found]
        outside = [(difference(known, machine), of) for known, of in found]
        found = [(known, of) for known, of in (*inside, *outside) if known.accepting]
    return [(code_net(known), of) for known, of in found]


def other_keys(names: Collection[str]) -> Tree:
    r"""Any string except these names, along the trie of the names.

    Printable ASCII characters are not escaped. Other characters may be escaped, as json.dumps does, if no name contains
    such a character.

    >>> from guidedviz.machines.grammars.grammar import Grammar, Rule
    >>> from guidedviz.machines.grammars.show import show_gbnf
    >>> print(show_gbnf(Grammar((Rule("k", other_keys(["id"]), (0, 0)),))))
    k ::= "\"" ("i" ("d" char+ | ([^\u0000-\u001F"\\d] | escape) char*)? | ([^\u0000-\u001F"\\i] | escape) char*)? "\""
    """
    if not names:
        return Call("string")
    plain = all(name.isascii() and name.isprintable() and not {*'"\\'} & {*name} for name in names)
    return in_quotes(beyond(sorted(names), Call("escape") if plain else NOTHING))


def beyond(names: list[str], escape: Tree) -> Tree:
    """Any text except these sorted ones."""
    spend(sum(map(len, names)))
    char, branches = Call("char"), dict[str, list[str]]()
    for name in filter(None, names):
        branches.setdefault(name[0], []).append(name[1:])
    if not branches:
        return Repeat(char, 1, None)
    others = other_ranges((ord(first), ord(first)) for first in branches)
    ways = [concat(escape_chars(((ord(first), ord(first)),)), beyond(rest, escape)) for first, rest in branches.items()]
    other = escape_chars(others) if escape == NOTHING else Chars(common_ranges(others, PLAIN.ranges))
    ways.append(concat(either(other, escape), Repeat(char, 0, None)))
    return either(*ways) if "" in names else optional(either(*ways))


# --- constants ------------------------------------------------------------------------------------------------------


def kind_of(value: Any) -> str:
    """The kind of a JSON value; 1.0 is an integer.

    >>> kind_of(1.0), kind_of(0.5), kind_of(True), kind_of("a")
    ('integer', 'fraction', 'boolean', 'string')
    """
    if isinstance(value, float | Decimal):
        return "integer" if value == int(value) else "fraction"
    kinds = {dict: "object", list: "array", tuple: "array", str: "string", bool: "boolean", int: "integer"}
    return kinds.get(type(value), "null")


def canon(value: Any) -> Any:
    """A hashable form of a JSON value that is equal for equal values: 1 and 1.0, but not true.

    >>> canon([1, {"a": True}]) == canon([1.0, {"a": True}]), canon(1) == canon(True)
    (True, False)
    """
    if isinstance(value, dict):
        return "object", frozenset((key, canon(item)) for key, item in value.items())
    if isinstance(value, list | tuple):
        return "array", tuple(map(canon, value))
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return type(value).__name__, value
    return "number", Decimal(repr(value)) if isinstance(value, float) else Decimal(value)


def plain_text(value: Any) -> str:
    """A scalar in one spelling: no optional escapes, numbers without an exponent.

    >>> plain_text("é"), plain_text(1.0), plain_text(1e-7)
    ('"é"', '1', '0.0000001')
    """
    if kind_of(value) == "integer":
        return str(int(value))
    if kind_of(value) == "fraction":
        return format(Decimal(str(value)), "f")
    return json.dumps(value, ensure_ascii=False)


def json_text(value: Any, token: Spaced) -> Tree:
    """A value in one spelling; `token` adds whitespace."""
    if isinstance(value, dict):
        pairs = [concat(key_text(key, token), json_text(item, token)) for key, item in value.items()]
        return bracket("{}", row(pairs, token), token)
    if isinstance(value, list | tuple):
        return bracket("[]", row([json_text(item, token) for item in value], token), token)
    return token(literal(plain_text(value)), "")


def key_text(key: str, token: Spaced) -> Tree:
    """A property name and its colon."""
    return concat(literal(plain_text(key)), key_rest(token))


def key_rest(token: Spaced) -> Tree:
    """What follows the quotation mark behind a key: the colon."""
    return concat(token(EMPTY, ""), token(literal(":"), ":"))


def row(items: list[Tree], token: Spaced) -> Tree:
    """Items, separated by commas."""
    return concat(*[part for item in items for part in (token(literal(","), ","), item)][1:])


def bracket(signs: str, inside: Tree, token: Spaced) -> Tree:
    """A tree in brackets or braces."""
    return concat(token(literal(signs[0]), ""), inside, token(literal(signs[1]), ""))


def words_tree(words: Iterable[str], few: int = FEW_WORDS) -> Tree:
    """Any of these texts.

    >>> words_tree(["tap", "top"], few=1).places, words_tree(["tap", "top", "to"], few=1).places
    (4, 5)
    """
    texts = list(dict.fromkeys(words))
    return either(*map(literal, texts)) if len(texts) <= few else words_net(texts)


def words_net(texts: list[str]) -> Net:
    """The trie of many texts whose equal subtrees are merged, from the leaves on: the smallest net."""
    trie: list[dict[str, int]] = [{}]  # a character -> the number of the next node; "" where a text ends
    for text in texts:
        here = 0
        for char in text:
            if char not in trie[here]:
                trie[here][char] = len(trie)
                trie.append({})
            here = trie[here][char]
        trie[here][""] = 0
    spend(4 * len(trie))
    numbers, merged = [0] * len(trie), dict[frozenset[tuple[str, int]], int]()
    for place in reversed(range(len(trie))):  # the last node is a leaf, so number 0 is the end
        node = frozenset((char, numbers[to] if char else 0) for char, to in trie[place].items())
        numbers[place] = merged.setdefault(node, len(merged))
    last = len(merged) - 1
    edges: list[tuple[int, Tree, int]] = []
    for node, number in reversed(merged.items()):
        ranges: dict[int, list[Range]] = defaultdict(list)
        for char, to in sorted(node):
            if char:
                ranges[to].append((ord(char), ord(char)))
            elif number:
                edges.append((last - number, EMPTY, last))
        edges += [(last - number, Chars(merge_ranges(chars)), last - to) for to, chars in ranges.items()]
    return Net(last + 1, tuple(edges))


def has_ticks(tree: Tree) -> bool:
    """Whether a tree counts its characters."""
    return any(isinstance(part, Tick) for part in walk(tree))
