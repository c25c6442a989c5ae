"""What hypothesis draws for the whole house: texts, regexes, vocabularies, and walks through a guide."""

from collections.abc import Hashable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from guidedviz.tokens.guide import Guide
from guidedviz.tokens.vocabulary import Vocabulary

LETTERS = "abAB1_ \né☃🙂"  # one to four bytes; a blank, a line break, both cases, a digit
texts = st.text(st.sampled_from(LETTERS), max_size=6)

_atoms = st.sampled_from([
    "a", "b", "A", "1", "é", "🙂", r"\n", ".", r"\d", r"\D", r"\w", r"\W", r"\s", r"\S", r"\x41", r"\u00e9",
    "[ab]", "[^a]", "[a-é]", "[^a-é]", r"[^\wé]", r"[\d☃-🙂]", r"[^\n\W]", "", " ", "[ ]", "(?x: a#)\n)",
])  # fmt: skip
_quantifiers = st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "{0,3}", "{2,}", "*?", "+?", "??", "{0}", "{,2}"])


def _grow(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    groups = st.builds("({}{})".format, st.sampled_from(["", "?:", "?i:", "?s:", "?x:", "?i-s:"]), inner)
    return (
        st.builds("{}{}".format, inner, inner)
        | st.builds("(?:{}|{})".format, inner, inner)
        | st.builds("(?:{}){}".format, inner, _quantifiers)
        | groups
    )


regexes = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "", "(?i)", "(?s)", "(?x)", "(?isx)"]),
    st.sampled_from(["", "", "^", r"\A"]),
    st.recursive(_atoms, _grow, max_leaves=6),
    st.sampled_from(["", "", "$", r"\Z"]),
)
"""Regexes with every construct the machines know; short, so that `re` itself stays quick on them."""

_pieces = (
    st.text(st.sampled_from(LETTERS), max_size=3).map(str.encode)
    | st.sampled_from([b"\xc3", b"\xa9", b"a\xc3", b"\xa9b", b"\xf0\x9f", b"\x99\x82", b"\x00", b"\xff", b"\xe2\x98"])
    | st.binary(max_size=3)
)


@st.composite
def vocabularies(draw: st.DrawFn) -> Vocabulary:
    """Small vocabularies with everything that goes wrong: twins, empty ids, halves of characters, many EOS."""
    pieces = draw(st.lists(_pieces, min_size=1, max_size=24))
    pieces += draw(st.lists(st.sampled_from(pieces), max_size=4))
    ids = st.integers(0, len(pieces) - 1)
    return Vocabulary(pieces, eos=draw(st.frozensets(ids, max_size=3)), special=draw(st.frozensets(ids, max_size=3)))


def draw_walk(data: st.DataObject, guide: Guide, steps: int = 8) -> list[tuple[Any, list[int]]]:
    """A way through a guide by legal tokens: every state on it, and the tokens that led there."""
    state: Hashable = guide.initial
    visited = [(state, [])]
    taken = []
    for _ in range(steps):
        legal = np.flatnonzero(guide.mask(state)).tolist()
        if not legal:
            break
        taken.append(data.draw(st.sampled_from(legal)))
        state = guide.advance(state, taken[-1])
        visited.append((state, list(taken)))
    return visited


_phrases = st.sampled_from([
    '"a"', '"b"', '"ab"', '"a"', '"é"', '"🙂"', '"éa"', '""', "[ab]", "[^a]", "[aé]", "[b-é]", "[^é🙂]", ".", "[à-ê]",
    "root", "s", "t", "s", "t", "root", "t", '"a"{9}', '("a" | "ab"){9}', "[aé]{0,10}", '("b" | "ba" | ""){0,11}',
])  # fmt: skip
_counts = st.sampled_from(["?", "*", "+", "{2}", "{0}", "{1,2}", "{2,}", "{0,3}", "{1,}"])
_bodies = st.recursive(
    _phrases,
    lambda inner: (
        st.builds("{} {}".format, inner, inner)
        | st.builds("({} | {})".format, inner, inner)
        | st.builds("({}){}".format, inner, _counts)
    ),
    max_leaves=5,
)
_rules = st.lists(_bodies, min_size=1, max_size=3).map(" | ".join)
grammars = st.builds("root ::= {}\ns ::= {}\nt ::= {}".format, _rules, _rules, _rules)
"""Grammars in GBNF: rules that call each other and themselves, left and right, may be empty, ambiguous, or endless."""


Edits = list[tuple[int, int, str]]
"""Where a text is changed, how many characters are cut out there, and what is put in."""


def edits(scraps: list[str]) -> st.SearchStrategy[Edits]:
    edit = st.tuples(st.integers(0, 200), st.integers(0, 4), st.sampled_from(scraps))
    return st.lists(edit, min_size=1, max_size=4)


def apply_edits(text: str, changes: Edits) -> str:
    for place, cut, put in changes:
        place %= len(text) + 1
        text = text[:place] + put + text[place + cut :]
    return text


def show_rules(rules: dict[str, list[tuple[str, ...]]]) -> str:
    """The rules of Earley's parser as GBNF."""

    def side(symbols: tuple[str, ...]) -> str:
        return " ".join(symbol if symbol in rules else f'"{symbol}"' for symbol in symbols) or '""'

    return "\n".join(f"{name} ::= {' | '.join(map(side, sides))}" for name, sides in rules.items())


class Balanced:
    """A machine that is no DFA: brackets that close; the state is how many are open."""

    initial = 0

    def step(self, state, byte):
        depth = state + {ord("("): 1, ord(")"): -1}.get(byte, -1000)
        return depth if depth >= 0 else None

    def is_accepting(self, state):
        return state == 0
