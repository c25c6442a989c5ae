"""Build a machine from a pattern as text: a regex, or a list of pairs of a class and a count as in NanoGPT.

Python's own parser reads a regex, so it has the meaning of `re.fullmatch`: the whole text must match, under re.ASCII.
`\\d` is 0-9, `\\w` is A-Z, a-z, 0-9 and _, and (?i) folds ASCII only. Lookbehinds may have any length.
"""

import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

from guidedviz.errors import NoTextWarning, PatternError, expect, nearest, quoted, shorten
from guidedviz.machines import syntax
from guidedviz.machines.regular.assertions import Lookaround, guard, resolve
from guidedviz.machines.regular.dfa import DFA, build_dfa
from guidedviz.machines.regular.minimal import build_machine, minimise
from guidedviz.machines.regular.nfa import NFA, build_nfa, find_blame
from guidedviz.machines.syntax import Range, Tree
from guidedviz.machines.work import limited_work, spend, working_on

Item = tuple[Any, Any]  # of Python's parser: kind, details
DIGIT: tuple[Range, ...] = ((48, 57),)
SPACE: tuple[Range, ...] = ((9, 13), (32, 32))
WORD: tuple[Range, ...] = ((48, 57), (65, 90), (95, 95), (97, 122))
CATEGORIES = {
    op.CATEGORY_DIGIT: DIGIT,
    op.CATEGORY_SPACE: SPACE,
    op.CATEGORY_WORD: WORD,
    op.CATEGORY_NOT_DIGIT: syntax.other_ranges(DIGIT),
    op.CATEGORY_NOT_SPACE: syntax.other_ranges(SPACE),
    op.CATEGORY_NOT_WORD: syntax.other_ranges(WORD),
}

# Unsupported constructs: the parser's name, our name, and a regex that finds the construct in the text.
REFUSED = {
    "GROUPREF": ("a backreference", r"\\[1-9]|\(\?P="),
    "GROUPREF_EXISTS": ("a conditional group", r"\(\?\("),
    "ATOMIC_GROUP": ("an atomic group", r"\(\?>"),
    "POSSESSIVE_REPEAT": ("a possessive repeat", r"[*+?{][^+]*\+"),
}
# The pieces of a pattern: an escape or a whole class is one piece.
PIECES = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?(?:P=|\(|>)?|(?:[*+?]|\{\d*,?\d*\})[+?]?|.", re.DOTALL)
LOOKAROUND = re.compile(r"\(\?(?:<?=|<?!(?!\)))")  # an empty one that is negated is none for the parser
COMMENTS = re.compile(r"\(\?(?:#|[a-zA-Z]*x)")  # or the flag that allows them
ANCHORS = {
    op.AT_BEGINNING: "^",
    op.AT_BEGINNING_STRING: r"\A",
    op.AT_END: "$",
    op.AT_END_STRING: r"\Z",
    op.AT_BOUNDARY: r"\b",
    op.AT_NON_BOUNDARY: r"\B",
}
MOST_CHARACTERS = 100_000
IGNORECASE, DOTALL, MULTILINE = map(int, (re.IGNORECASE, re.DOTALL, re.MULTILINE))  # & on an enum takes long


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
WORDS, NEWLINE, IN_LINE = map(syntax.Chars, (WORD, ((10, 10),), syntax.other_ranges([(10, 10)])))
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


def find_lookarounds(text: str) -> Iterator[str]:
    """The lookarounds of a pattern by their places, in their order; none if there may be comments.

    >>> list(find_lookarounds("(?=a[(?=](?<!b))"))
    ['(?= at position 0', '(?<! at position 9']
    """
    if COMMENTS.search(text):
        return
    for piece in PIECES.finditer(text):
        if piece[0] == "(?" and (found := LOOKAROUND.match(text, piece.start())):
            yield f"{found[0]} at position {piece.start()}"


def _ranges_of(kind: Any, value: Any, flags: int) -> tuple[Range, ...]:
    """The characters of a literal, a dot or a class."""
    if kind is op.ANY:
        return syntax.other_ranges(() if flags & DOTALL else [(10, 10)])
    items = value if kind is op.IN else [(kind, value)]
    negated = bool(items) and items[0][0] in (op.NEGATE, op.NOT_LITERAL)
    ranges = syntax.merge_ranges(part for item in items for part in _item_ranges(*item))
    if flags & IGNORECASE:
        ranges = syntax.merge_ranges((*ranges, *_other_case(ranges)))
    return syntax.other_ranges(ranges) if negated else ranges


def _item_ranges(kind: Any, value: Any) -> tuple[Range, ...]:
    if kind in (op.LITERAL, op.NOT_LITERAL):
        return ((value, value),)
    if kind is op.RANGE:
        return (value,)
    return () if kind is op.NEGATE else CATEGORIES[value]


def _other_case(ranges: Iterable[Range]) -> Iterator[Range]:
    """The ASCII letters of these ranges with swapped case."""
    for low, high in ranges:
        for first, last, shift in ((65, 90, 32), (97, 122, -32)):
            if max(low, first) <= min(high, last):
                yield max(low, first) + shift, min(high, last) + shift


# Patterns for NanoGPT: a list of pairs of a character class (or a text) and a count.


LETTER: tuple[Range, ...] = ((65, 90), (97, 122))
CLASSES: dict[str, tuple[Range, ...]] = {
    "DIGIT": DIGIT,
    "LETTER": LETTER,
    "LOWER": ((97, 122),),
    "NEWLINE": ((10, 10),),
    "PUNCT": syntax.other_ranges(((0, 32), *LETTER, *DIGIT, (127, syntax.LAST))),  # ASCII punctuation
    "SPACE": ((32, 32),),
    "UPPER": ((65, 90),),
    "ANY": ((0, syntax.LAST),),
}


@limited_work()
def pattern(parts: Iterable[Sequence[str]]) -> DFA:
    r"""The minimal machine for a list of (what, how often).

    What: UPPER LOWER LETTER DIGIT PUNCT SPACE NEWLINE (of ASCII) ANY, or a text. How often: 1 + * ? {m} {m,} {m,n}.

    >>> speaker = pattern([("UPPER", "+"), (":", "1"), (" ", "1"), ("LOWER", "+"), ("\n", "1")])
    >>> speaker, speaker.accepts(b"ROMEO: ay\n"), sum(map(len, speaker.edges))
    (DFA(6 states, 1 accepting), True, 7)
    """
    if isinstance(parts, str) or not isinstance(parts, Iterable):
        hint = '[("UPPER", "+"), (":", "1")]'
        raise PatternError("pattern", seen=quoted(parts), expected="a list of pairs", hint=hint)
    trees = [_read_part(place, part) for place, part in enumerate(parts)]
    machine = build_machine(syntax.concat(*trees))
    if not machine.accepting:
        place = next(place for place, tree in enumerate(trees) if not build_machine(tree).accepting)
        said = f"pattern, part {place}: no text in UTF-8 matches it, so the machine accepts no text"
        warnings.warn(said, NoTextWarning, stacklevel=3)
    return machine


def _read_part(place: int, part: Any) -> Tree:
    where = f"pattern, part {place}"
    if not (isinstance(part, tuple | list) and len(part) == 2 and all(isinstance(half, str) for half in part)):
        raise PatternError(where, seen=quoted(part), expected="a pair of texts: what, how often", hint='("UPPER", "+")')
    what, often = part
    low, high = (1, 1) if often == "1" else syntax.read_count(often) or (1, 0)
    if high is not None and high < low:
        expected = "1, +, *, ?, {m}, {m,} or {m,n} with m ≤ n"
        raise PatternError(f"{where}, how often", seen=quoted(often), expected=expected)
    if what in CLASSES:
        inner: Tree = syntax.Chars(CLASSES[what])
    elif what and not looks_like_class(what):
        inner = syntax.literal(what)
    else:
        near = nearest(what.upper(), CLASSES, cutoff=0.5)
        hint = near or ("one part per letter, if you mean the text itself" if what else "")
        expected = f"{', '.join(CLASSES)} or a text"
        raise PatternError(f"{where}, what", seen=quoted(what), expected=expected, hint=hint)
    return inner if (low, high) == (1, 1) else syntax.Repeat(inner, low, high, place)


def looks_like_class(what: str) -> bool:
    """Whether the text looks like a class name: a word in capitals, or a class name in any case.

    >>> looks_like_class("UPER"), looks_like_class("Digit"), looks_like_class("I"), looks_like_class("true")
    (True, True, False, False)
    """
    return what.upper() in CLASSES or re.fullmatch("[A-Z][A-Z_]+", what) is not None
