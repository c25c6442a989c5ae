"""Special tokens for the real engines: in place of each name, a grammar calls the token by its ids.

A tree spells a special token as a name: the sign that begins it, its letters, the sign that ends it. An engine knows no
such signs. It takes the token in a notation of its own, such as `Token(3)` or `<[3]>`, which stands where a rule call
may stand. Which names a class like `!<think>` has is found by reading each name of the vocabulary.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial, reduce
from itertools import product

from guidedviz.errors import PatternError
from guidedviz.machines.grammars.grammar import Grammar
from guidedviz.machines.graph import grouped
from guidedviz.machines.ranges import NAME_BEGINS, NAME_ENDS, Ranges
from guidedviz.machines.regular.algebra import code_machine, code_net
from guidedviz.machines.special import BEGINS, ENDS
from guidedviz.machines.syntax import (
    NOTHING,
    Call,
    Chars,
    Concat,
    Net,
    NetMoves,
    Tree,
    build_net,
    concat,
    is_one_character,
    map_parts,
)

Rows = Mapping[int, Sequence[tuple[Tree, int]]]  # the edges of a net by their sources: a part and a target


def call_tokens(grammar: Grammar, ids: Mapping[str, Sequence[int]], write: Callable[[Sequence[int]], str]) -> Grammar:
    """The grammar with calls of tokens in place of names; `ids` has those of each name, `write` gives their notation.

    >>> from guidedviz.machines.grammars.show import show_gbnf
    >>> named = gv.grammar('root ::= <a> "x" | !<b>').grammar
    >>> print(show_gbnf(call_tokens(named, {"<a>": [5, 6], "<b>": [7]}, lambda ids: f"Token{tuple(ids)}")))
    root ::= [\\u0000-\\U0010FFFF] | Token(5, 6) "x" | Token(5, 6)
    """
    tokens = _Tokens(ids, write)
    rules = [replace(rule, tree=tokens.change(rule.tree)) for rule in grammar.rules]
    return replace(grammar, rules=tuple(rules))


@dataclass(frozen=True)
class _Tokens:
    """The special tokens of a vocabulary, and how an engine writes some of them."""

    ids: Mapping[str, Sequence[int]]
    write: Callable[[Sequence[int]], str]

    def change(self, tree: Tree) -> Tree:
        """A tree with calls in place of names."""
        match tree:
            case Concat(parts):
                return self.in_sequence(parts)
            case Net():
                return self.in_net(tree)
            case Chars(ranges) if _has(ranges, NAME_BEGINS) or _has(ranges, NAME_ENDS):
                raise _broken_name()
        return map_parts(tree, self.change)

    def in_sequence(self, parts: tuple[Tree, ...]) -> Tree:
        """A sequence; from a sign that begins a name to the next that ends one, its parts are a token."""
        made: list[Tree] = []
        while BEGINS in parts:
            start = parts.index(BEGINS)
            if ENDS not in parts[start:]:
                raise _broken_name()
            end = parts.index(ENDS, start) + 1
            made.extend(map(self.change, parts[:start]))
            made.append(self.token(parts[start:end]))
            parts = parts[end:]
        return concat(*made, *map(self.change, parts))

    def token(self, signs: tuple[Tree, ...]) -> Tree:
        """The tokens whose names these parts spell."""
        letters = signs[1:-1]
        if not all(map(is_one_character, letters)):
            return self.change(code_net(code_machine(concat(*signs))))
        name = "".join([chr(part.ranges[0][0]) for part in letters if isinstance(part, Chars)])
        return Call(self.write(self.ids[name])) if name in self.ids else NOTHING

    def in_net(self, net: Net) -> Tree:
        """A net in which one edge stands for all tokens between two places."""
        rows = grouped((source, (part, target)) for source, part, target in net.edges)

        def moves(place: int) -> NetMoves[int]:
            for part, target in rows[place]:
                if part != BEGINS:
                    yield self.change(part), target
                    continue
                for behind, tokens in self.tokens_from(rows, target).items():
                    yield Call(self.write(tokens)), behind

        return build_net(0, moves, lambda place: place == net.places - 1)

    def tokens_from(self, rows: Rows, begun: int) -> Mapping[int, Sequence[int]]:
        """The ids of the tokens whose names can be read from a place of a net, by the place behind each name."""
        step = cache(partial(_step, rows))
        found: list[tuple[int, int]] = []
        for name, ids in self.ids.items():
            places = reduce(step, (*map(ord, name), NAME_ENDS), frozenset([begun]))
            found.extend(product(places, ids))
        return grouped(sorted(found))


def _step(rows: Rows, places: frozenset[int], code: int) -> frozenset[int]:
    """The places of a net behind one more sign of a name."""
    edges = [edge for place in places for edge in rows.get(place, ())]
    if not all(isinstance(part, Chars) for part, _ in edges):
        raise _broken_name()
    return frozenset([target for part, target in edges if isinstance(part, Chars) and _has(part.ranges, code)])


def _has(ranges: Ranges, code: int) -> bool:
    """Whether a character is in these ranges."""
    return any(low <= code <= high for low, high in ranges)


def _broken_name() -> PatternError:
    """The error for a tree in which the signs around a name belong to different parts."""
    seen = "a special token whose name is spread over several parts"
    return PatternError("a grammar for an engine", seen=seen, expected="whole names", hint="gv.special, or <name>")
