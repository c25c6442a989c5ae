"""Build a machine from a regex.

Python's own parser reads a regex, so it has the meaning of `re.fullmatch`: the whole text must match, under re.ASCII.
`\\d` is 0-9, `\\w` is A-Z, a-z, 0-9 and _, and (?i) folds ASCII only. Lookbehinds may have any length.
"""

import re
from collections.abc import Iterable
from functools import cached_property, lru_cache
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

from guidedviz.errors import PatternError, expect, shorten
from guidedviz.machines import syntax
from guidedviz.machines.ranges import other_ranges
from guidedviz.machines.regular.assertions import Lookaround, guard, resolve
from guidedviz.machines.regular.classes import IGNORECASE, MULTILINE, WORD, _ranges_of
from guidedviz.machines.regular.dfa import DFA, build_dfa
from guidedviz.machines.regular.minimal import minimise
from guidedviz.machines.regular.nfa import NFA, build_nfa
from guidedviz.machines.regular.regex_text import ANCHORS, PIECES, REFUSED, find_lookarounds
from guidedviz.machines.regular.size import find_blame
from guidedviz.machines.syntax import Tree
from guidedviz.machines.work import limited_work, spend, working_on

Item = tuple[Any, Any]  # of Python's parser: kind, details
MOST_CHARACTERS = 100_000


@lru_cache(maxsize=256)
def regex(text: str) -> DFA:
    r"""The minimal machine for a regex; `pushdown/pda.py` has the one for large counts.

    >>> date = regex(r"\d{4}-\d{2}-\d{2}")
    >>> date.accepts(b"2026-11-20"), date.accepts_prefix(b"2026-"), date.accepts(b"2026-"), len(date)
    (True, True, False, 11)
    >>> password = regex(r"(?=.*\d)(?!.*\bpass)\w{8,}")
    >>> password.accepts(b"word1234"), password.accepts(b"pass1234"), password.accepts(b"password")
    (True, False, False)
    """
    return machine_stages(text, whole=False)[2]


def check_regex(text: object) -> None:
    """Raise an error for any other type than str."""
    expect(text, str, "regex", "a str", "text.decode()" if isinstance(text, bytes) else "")


@limited_work()
def machine_stages(text: str, whole: bool = True) -> tuple[NFA, DFA, DFA]:
    """The NFA, the DFA and the minimal DFA of a regex; without `whole`, see `build_dfa`, the DFA may be smaller.

    >>> machine_stages("(a|b)*ab")
    (NFA(5 states, 2 epsilon edges), DFA(4 states, 1 accepting), DFA(3 states, 1 accepting))
    """
    try:
        nfa = build_nfa(parse_regex(text))
    except RecursionError as error:
        raise _too_deep() from error
    with working_on(find_blame(nfa.tree) if nfa.tree else ""):
        dfa = build_dfa(nfa, whole)
        return nfa, dfa, minimise(dfa)


def parse_regex(text: str, search: bool = False) -> Tree:
    """The tree of a regex; with `search`, the tree of all texts that contain a match.

    >>> parse_regex("a?")
    Repeat(part=Chars(ranges=((97, 97),)), low=0, high=1, position=None)
    """
    check_regex(text)
    if len(text) > MOST_CHARACTERS:
        raise PatternError("regex", seen=f"{len(text):,} characters", expected=f"at most {MOST_CHARACTERS:,}")
    spend(2 * len(text))
    try:
        parsed = parser.parse(text, int(re.ASCII))  # a plain int: & on an enum takes ten times as long
        reader = _TreeReader(text, search)
        tree = reader.whole(parsed, parsed.state.flags)
        return resolve(tree, list(reader.lookarounds)) if reader.lookarounds else tree
    except re.error as error:
        where = f"regex, position {error.pos}"
        raise PatternError(where, seen=shorten(error.msg), expected="Python's re syntax") from error
    except (ValueError, OverflowError) as error:
        if isinstance(error, PatternError):
            raise
        raise PatternError("regex", seen=shorten(str(error)), expected="Python's re syntax under re.ASCII") from error
    except RecursionError as error:
        raise _too_deep() from error


def _too_deep() -> PatternError:
    return PatternError("regex", seen="groups nested too deeply", expected="fewer nested groups")


# Anchors and word boundaries are lookarounds of one character; `$` needs two, because a newline may follow it.
ANY = syntax.ANY_CHARACTER
WORDS, NEWLINE, IN_LINE = map(syntax.Chars, (WORD, ((10, 10),), other_ranges([(10, 10)])))
BEFORE_LAST_LINE = syntax.Either((IN_LINE, syntax.Concat((NEWLINE, ANY))))  # what may not follow `$`
EMPTY_IS_BOUNDARY_FREE = re.fullmatch(r"\B", "") is not None  # since Python 3.14


class _TreeReader:
    """Converts the tree of Python's parser; the text gives positions for errors."""

    def __init__(self, text: str, search: bool) -> None:
        self.text, self.search = text, search
        self.places = find_lookarounds(text)
        self.lookarounds: dict[Lookaround, int] = {}

    def whole(self, items: Iterable[Item], flags: int) -> Tree:
        """The pattern, or an option of it: anchors at its ends are no assertions, and a search opens the other ends."""
        row = list(items)
        if len(row) == 1 and row[0][0] is op.BRANCH:
            return syntax.Either(tuple(self.whole(option, flags) for option in row[0][1][1]))
        if len(row) == 1 and row[0][0] is op.SUBPATTERN:
            _, added, removed, inner = row[0][1]
            return self.whole(inner, (flags | added) & ~removed)
        lines = self.search and flags & MULTILINE
        start = row[:1] == [(op.AT, op.AT_BEGINNING_STRING)] or (not lines and row[:1] == [(op.AT, op.AT_BEGINNING)])
        end = row[-1:] == [(op.AT, op.AT_END_STRING)] or (not lines and row[-1:] == [(op.AT, op.AT_END)])
        around = [syntax.ANYTHING] * self.search
        return syntax.concat(*around[start:], self.sequence(row[start : len(row) - end], flags), *around[end:])

    def sequence(self, items: Iterable[Item], flags: int) -> Tree:
        return syntax.concat(*(self.node(kind, value, flags) for kind, value in items))

    def node(self, kind: Any, value: Any, flags: int) -> Tree:
        spend(8)
        if kind is op.BRANCH:
            return syntax.Either(tuple(self.sequence(option, flags) for option in value[1]))
        if kind is op.SUBPATTERN:
            return self.sequence(value[3], (flags | value[1]) & ~value[2])
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT):  # greedy and lazy repeats have the same language
            part, bound = self.sequence(value[2], flags), None if value[1] is op.MAXREPEAT else int(value[1])
            return part if part == syntax.EMPTY else syntax.Repeat(part, int(value[0]), bound)
        if kind is op.AT:
            return self.anchor(value, flags)
        if kind in (op.ASSERT, op.ASSERT_NOT):
            said = next(self.places, "a lookaround")
            return self.guard(said, self.sequence(value[1], flags), value[0] > 0, kind is op.ASSERT_NOT)
        if kind is op.FAILURE:
            return syntax.NOTHING
        if kind.name in REFUSED:
            name, looks = REFUSED[kind.name]
            found = (piece.start() for piece in PIECES.finditer(self.text) if re.match(looks, piece[0]))
            where, hint = f"regex, position {next(found, 0)}", "rewrite it, or use a grammar"
            raise PatternError(where, seen=name, expected="a regular pattern", hint=hint)
        if kind is op.LITERAL and not flags & IGNORECASE:
            return syntax.one_character(chr(value))
        return syntax.Chars(_ranges_of(kind, value, flags))

    @cached_property
    def anchors(self) -> dict[str, int]:
        """The first place of each kind of anchor in the text."""
        found: dict[str, int] = {}
        for piece in PIECES.finditer(self.text):
            if piece[0] in ANCHORS.values():
                found.setdefault(piece[0], piece.start())
        return found

    def anchor(self, where: Any, flags: int) -> Tree:
        """An anchor or a word boundary; when searching, `$` is only at the very end of the text."""
        sign = ANCHORS[where]
        said = f"{sign} at position {self.anchors.get(sign, 0)}"
        if where in (op.AT_BOUNDARY, op.AT_NON_BOUNDARY):
            return self.boundary(said, where is op.AT_BOUNDARY)
        lines = bool(flags & MULTILINE)
        if where in (op.AT_BEGINNING, op.AT_BEGINNING_STRING):
            return self.guard(said, IN_LINE if lines and where is op.AT_BEGINNING else ANY, False, True)
        if where is op.AT_END and (lines or not self.search):
            return self.guard(said, IN_LINE if lines else BEFORE_LAST_LINE, True, True)
        return self.guard(said, ANY, True, True)

    def boundary(self, said: str, boundary: bool) -> Tree:
        """Exactly one neighbour is a word character, or both or none are."""
        left = [self.guard(said, WORDS, False, negated) for negated in (False, True)]
        right = [self.guard(said, WORDS, True, negated) for negated in (False, True)]
        if boundary:
            return syntax.Either(tuple(map(syntax.Concat, zip(left, reversed(right), strict=True))))
        neighbours = (self.guard(said, ANY, ahead, False) for ahead in (False, True))
        some = syntax.EMPTY if EMPTY_IS_BOUNDARY_FREE else syntax.Either(tuple(neighbours))
        both, none = map(syntax.Concat, zip(left, right, strict=True))
        return syntax.Either((both, syntax.Concat((none, some))))

    def guard(self, said: str, tree: Tree, ahead: bool, negated: bool) -> Tree:
        """The mark of a place where this must, or must not, be ahead or behind."""
        around = Lookaround(tree, ahead, said)
        return guard(self.lookarounds.setdefault(around, len(self.lookarounds)), negated)
