"""Machine x vocabulary = guide. A guide takes its masks from a source, and keeps the latest.

The sources walk the trie with the machine at different times: before decoding ("index", Outlines), at each step
("trie", llguidance), or before decoding from the nodes of a pushdown machine ("split", XGrammar).

Next: `decoding/loop.py`.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from functools import lru_cache
from math import inf
from typing import Any, NamedTuple, Protocol

import numpy as np

from guidedviz.errors import SettingError, expect, quoted, shorten
from guidedviz.machines.machine import Machine, no_step, read
from guidedviz.machines.pushdown.distance import bytes_to_end
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.dfa import DFA
from guidedviz.tokens.engines import PREPARE, RealGuide, ask
from guidedviz.tokens.explain import Explanation, foreign_state, illegal_token
from guidedviz.tokens.explain import Guide as Guide
from guidedviz.tokens.index import Index, build_index, live_machine, not_finite
from guidedviz.tokens.lazy import Lazy
from guidedviz.tokens.split import Split, build_split
from guidedviz.tokens.trie import Mask
from guidedviz.tokens.vocabulary import Vocabulary, check_vocabulary

KEPT = 2**26  # bytes of masks that a guide keeps
ENGINES = ("auto", "index", "split", "trie", *PREPARE)


def check_guide(guide: object, where: str = "guide", hint: str = "gv.guide(machine, vocabulary)") -> None:
    """Refuse what is not a guide.

    >>> check_guide("[0-9]+", "draw_map, guide")
    Traceback (most recent call last):
    guidedviz.errors.SettingError: draw_map, guide: saw str, expected a guide; try: gv.guide(machine, vocabulary)
    """
    expect(guide, Guide, where, "a guide", hint)


def name_guide(guide: Guide) -> str:
    """What a guide is, in a few words.

    >>> name_guide(gv.guide(gv.regex("[0-9]"), gv.Vocabulary([b"1"])))
    'DFA(2 states, 1 accepting)'
    """
    parts = [guide.name] if isinstance(guide, RealGuide) else []
    parts += [] if guide.machine is None else [shorten(repr(guide.machine), 60)]
    return " · ".join(parts) or type(guide).__name__


def guide(machine: Machine[Any], vocabulary: Vocabulary, engine: str = "auto", index: Index | None = None) -> Guide:
    """A guide that allows the tokens after which a complete text of the machine can still be reached.

    An `index` built before is used instead of a new one, if it was built for this machine and this vocabulary.

    >>> v = gv.Vocabulary([b"3", b".5", b".", b"42", b"x", b"</s>"], eos={5})
    >>> g = gv.guide(gv.regex(r"[0-9]+(\\.[0-9]+)?"), v)
    >>> after = g.advance(g.initial, 3)
    >>> [v.display(token) for token in g.mask(after).nonzero()[0]]
    ['3', '.5', '.', '42', '</s>']
    """
    machine = live_machine(machine, "guide")
    expect(machine.initial, Hashable, "guide, machine.initial", "a value", "a tuple or an int")
    check_vocabulary(vocabulary, "guide")
    if not isinstance(engine, str) or engine not in ENGINES:
        raise SettingError("guide, engine", seen=quoted(engine), expected=f"one of {str(ENGINES)[1:-1]}")
    if index is not None and engine not in ("auto", "index"):
        seen = f"engine {engine!r}"
        raise SettingError("guide, index", seen=seen, expected="an Index and its engine", hint="gv.build_index")
    if engine in PREPARE:
        return RealGuide(engine, ask(machine), vocabulary)
    if index is not None:
        hint = "gv.build_index(machine, vocabulary)"
        expect(index, Index, "guide, index", "an Index", hint).check(machine, vocabulary)
    elif engine == "auto":
        engine = "index" if isinstance(machine, DFA) else "split" if isinstance(machine, PDA) else "trie"
    if engine == "trie":
        return MachineGuide(machine, vocabulary, Lazy(machine, vocabulary))
    if engine == "split":  # the machine as it is given, so that its stacks name the rules that were written
        return split_guide(build_split(machine, vocabulary, inline=False))
    if isinstance(machine, PDA) and machine.finite:  # it counts, so it has too many states for an index
        return split_guide(Split(machine, vocabulary))
    if not isinstance(machine, DFA):
        raise not_finite("guide, engine 'index'", machine)
    fits = len(machine) * len(vocabulary) <= KEPT  # otherwise each mask is walked when it is asked for
    return MachineGuide(machine, vocabulary, Indexed(machine, vocabulary, index) if fits else Lazy(machine, vocabulary))


def split_guide(split: Split) -> MachineGuide:
    """The guide of a split, for a split that was built with an option switched off.

    >>> split = gv.build_split(gv.grammar('root ::= "(" root ")" | "x"'), gv.Vocabulary([b"(", b")", b"x)"]))
    >>> guide = split_guide(split)
    >>> guide.mask(guide.initial).tolist(), guide.mask(guide.advance(guide.initial, 0)).tolist()
    ([True, False, False], [True, False, True])
    """
    return MachineGuide(split.pda, split.vocabulary, split)


class MaskSource(Protocol):
    """Computes the mask of a state: an index, a split or a walk."""

    def mask(self, state: Any) -> Mask: ...


class Indexed:
    """A source of stored masks: the first is one walk, so that decoding begins at once; the second builds the index."""

    def __init__(self, machine: DFA, vocabulary: Vocabulary, index: Index | None = None) -> None:
        self.machine, self.vocabulary, self.built = machine, vocabulary, index
        self._walked = index is not None

    @property
    def index(self) -> Index:
        """State -> legal tokens -> next state."""
        if self.built is None:
            self.built = build_index(self.machine, self.vocabulary)
        return self.built

    def mask(self, state: int) -> Mask:
        """True for every legal id; read-only."""
        if not self._walked:
            self._walked = True
            return Lazy(self.machine, self.vocabulary, slices=False).mask(state)
        return self.index.mask(state)


class MachineGuide(Guide):
    """A guide over any machine, with the source of its masks."""

    def __init__(self, machine: Machine[Any], vocabulary: Vocabulary, source: MaskSource) -> None:
        self.machine: Machine[Any] = machine
        self.vocabulary, self.source, self.initial = vocabulary, source, machine.initial
        self._mask = lru_cache(maxsize=max(1, KEPT // len(vocabulary)))(lambda state: source.mask(self.at(state)))

    def __repr__(self) -> str:
        return f"guide({self.machine!r}, {self.vocabulary!r})"

    @property
    def index(self) -> Index | None:
        """The index that the masks come from, if any; it is built if it is missing."""
        return self.source.index if isinstance(self.source, Indexed) else None

    @property
    def split(self) -> Split | None:
        """The split that the masks come from, if any."""
        return self.source if isinstance(self.source, Split) else None

    def at(self, state: Any) -> Any:
        """The state, if it is one of this machine; machines with a stack check it themselves."""
        if isinstance(self.machine, DFA):
            if not isinstance(state, int | np.integer) or not 0 <= state < len(self.machine):
                raise no_step(self.machine, state)
        elif state is None or not isinstance(state, Hashable):
            raise no_step(self.machine, state)
        return state

    def mask(self, state: Any) -> Mask:
        """True for every legal id; read-only."""
        return self._mask(state) if isinstance(state, Hashable) else self.at(state)

    def advance(self, state: Any, token: int) -> Any:
        """The state after a legal token; EOS reads no byte, so the state stays."""
        token, state, after = self.vocabulary.as_id(token), self.at(state), None
        if self.vocabulary.is_text(token):
            index = self.source.built if isinstance(self.source, Indexed) else None
            piece = self.vocabulary.pieces[token]
            after = index.next_state(state, token) if index else read(self.machine, piece, state)
        elif token in self.vocabulary.eos and self.is_accepting(state):
            after = state
        if after is None:
            raise illegal_token(self.vocabulary, self.explain(state, token))
        return after

    def is_accepting(self, state: Any) -> bool:
        """Whether the text may end here."""
        return self.machine.is_accepting(self.at(state))


# A guide for at most n tokens: a token is legal only if the remaining tokens suffice to complete the text.
#
# The tokens needed are counted as tokens of one byte each. This is an upper bound, because longer tokens need fewer.


class Spent(NamedTuple):
    """A state of the machine, and the number of remaining tokens."""

    state: Hashable
    left: int


def within(guide: Guide, tokens: int) -> BudgetGuide:
    """The same guide for a text of at most this many tokens, including EOS.

    >>> v = gv.Vocabulary([b"(", b")", b"</s>"], eos={2})
    >>> short = within(gv.guide(gv.grammar('root ::= ("(" root ")")*'), v), 6)
    >>> state = short.advance(short.advance(short.initial, 0), 0)
    >>> short.mask(state).tolist(), short.explain(state, 0).reason
    ([False, True, False], 'to end the text after it takes 4 tokens of a byte each, and 3 are left')
    """
    short = BudgetGuide(expect(guide, MachineGuide, "within", "a guide of a machine", "gv.guide"))
    least = short.needed(guide.initial)
    if least == inf:
        seen = "a vocabulary in which no text can be written byte by byte"
        raise SettingError("within, guide", seen=seen, expected="tokens of one byte", hint="the guide itself")
    if not isinstance(tokens, int | np.integer) or tokens < least:
        hint = "a token for each byte of the shortest text, and EOS"  # an upper bound: longer tokens need fewer
        raise SettingError("within, tokens", seen=quoted(tokens), expected=f"at least {say_many(least)}", hint=hint)
    short.initial = Spent(guide.initial, int(tokens))
    return short


def keep_budget(old: Guide | None, new: Guide) -> Guide:
    """The new guide, with the token budget of the old one."""
    return within(new, old.initial.left) if isinstance(old, BudgetGuide) else new


def say_many(tokens: float) -> str:
    """A count; a large one is shortened, because a grammar of thirty lines can need over 10^100 tokens."""
    return f"{tokens:,}" if tokens < 10**12 else "over 10^12"


class BudgetGuide(Guide):
    """A guide whose states contain the number of remaining tokens."""

    def __init__(self, guide: MachineGuide) -> None:
        self.guide, self.vocabulary = guide, guide.vocabulary
        self.machine: Machine[Any] = guide.machine
        pieces = (self.vocabulary.pieces[token] for token in self.vocabulary.text_ids)
        self.alphabet = frozenset(piece[0] for piece in pieces if len(piece) == 1)
        self._known: dict[Hashable, float] = {}

    def __repr__(self) -> str:
        return f"within({self.guide!r}, {self.initial.left})"

    def needed(self, state: Hashable) -> float:
        """A number of tokens that suffices to complete the text: one per byte, and EOS."""
        if state not in self._known:
            found = bytes_to_end(self.machine, state, self.alphabet)
            self._known[state] = inf if found is None else found + bool(self.vocabulary.eos)
        return self._known[state]

    def at(self, state: Any) -> Any:
        """The machine's state."""
        if not isinstance(state, Spent):
            raise foreign_state(self, state)
        return self.guide.at(state.state)

    def mask(self, spent: Spent) -> Mask:
        """True for every legal id after which enough tokens remain."""
        mask = self.guide.mask(self.at(spent)).copy()
        for token in np.flatnonzero(mask):
            mask[token] = not self._say_short(spent, int(token))
        mask.flags.writeable = False
        return mask

    def _say_short(self, spent: Spent, token: int) -> str:
        """Why too few tokens remain after a token that the machine allows; "" if they suffice."""
        least = 0 if token in self.vocabulary.eos else self.needed(self.guide.advance(spent.state, token))
        left = spent.left - 1
        if least <= left:
            return ""
        takes = "cannot be done byte by byte" if least == inf else f"takes {say_many(least)} tokens of a byte each"
        return f"to end the text after it {takes}, and {left} {'is' if left == 1 else 'are'} left"

    def advance(self, spent: Spent, token: int) -> Spent:
        """The state after a legal token, with one remaining token less."""
        after = self.guide.advance(self.at(spent), token)
        if self._say_short(spent, token):
            raise illegal_token(self.vocabulary, self.explain(spent, token))
        return Spent(after, spent.left - 1)

    def is_accepting(self, spent: Spent) -> bool:
        """Whether the text may end here."""
        return self.guide.is_accepting(self.at(spent))

    def explain(self, spent: Spent, token: int) -> Explanation:
        """Why the token is legal or not, or leaves too few tokens."""
        why = super().explain(spent, token)
        short = self._say_short(spent, why.token) if why.legal else ""
        return replace(why, legal=False, reason=short) if short else why
