"""Machine x vocabulary = guide: what a guide promises, the guides, and why a token is legal or not.

A guide takes its masks from a source, and keeps the latest. The sources walk the trie with the machine at different
times: before decoding ("index", Outlines), at each step ("trie", llguidance), or before decoding from the nodes of a
pushdown machine ("split", XGrammar). To explain a token, the machine reads its bytes one by one.

Next: `decoding/loop.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import inf
from threading import RLock
from typing import Any, NamedTuple

import numpy as np

from guidedviz.errors import GuidedVizError, IllegalToken, SettingError, expect, quoted, shorten
from guidedviz.machines.machine import Machine, S, forced_bytes, next_bytes, no_step, read, read_path
from guidedviz.machines.pushdown.distance import bytes_to_end
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.visible import visible, visible_bytes
from guidedviz.tokens.arrays import Mask, read_only
from guidedviz.tokens.engines import PREPARE, Asked, Matcher, ask, prepared
from guidedviz.tokens.index import Index, build_index, live_machine, not_finite
from guidedviz.tokens.lazy import Lazy
from guidedviz.tokens.split import Split, build_split
from guidedviz.tokens.vocabulary import Vocabulary, check_vocabulary

KEPT = 2**26  # bytes of masks that a guide keeps
ENGINES = ("auto", "index", "split", "trie", *PREPARE)
MATCHERS = 64  # of a real engine that a guide keeps
ONE = RLock()  # the matchers of a vocabulary share a buffer, and a page may call them from several threads


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


class Guide(ABC):
    """Decides which token may come next. States are values: `advance` returns a new one, and an old one stays valid.

    A guide of one's own needs `vocabulary`, `initial`, `mask`, `advance` and `is_accepting`.
    """

    machine: Machine[Any] | None = None  # None: no machine stands behind this guide
    vocabulary: Vocabulary
    initial: Any

    @abstractmethod
    def mask(self, state: Any) -> Mask:
        """True for every legal id; read-only."""

    @abstractmethod
    def advance(self, state: Any, token: int) -> Any:
        """The state after a legal token; IllegalToken if the mask forbids it."""

    @abstractmethod
    def is_accepting(self, state: Any) -> bool:
        """Whether the text may end here."""

    def at(self, state: Any) -> Any:
        """The machine's state in a state of this guide, which is checked; None if there is none."""
        return None

    def forced(self, state: Any) -> bytes:
        """The bytes that must come next; b"" if there is a choice or the text may end."""
        at = self.at(state)
        return b"" if self.machine is None or at is None else forced_bytes(self.machine, at)

    def path(self, state: Any, token: int) -> tuple[Any, ...]:
        """The machine's states inside a token: the one before it, then one for every byte that passed."""
        at = self.at(state)
        return () if self.machine is None or at is None else token_path(self.machine, self.vocabulary, at, token)

    def explain(self, state: Any, token: int) -> Explanation:
        """Why the token is legal or not."""
        at = self.at(state)
        if self.machine is not None and at is not None:
            return explain_token(self.machine, self.vocabulary, at, token)
        token, label = self.vocabulary.as_id(token), self.label(state)
        legal = bool(self.mask(state)[token])
        reason = f"the guide {'allows' if legal else 'forbids'} it in {label}"
        if not self.vocabulary.is_text(token):
            reason = reason_of_no_text(self.vocabulary, token, legal, reason)
        return Explanation(token, self.vocabulary.pieces[token], legal, None, "", (label,), self.stack(state), reason)

    def label(self, state: Any) -> str:
        """The state's name for people."""
        at = self.at(state)
        return str(state) if self.machine is None else "no state" if at is None else self.machine.describe(at)

    def stack(self, state: Any) -> tuple[str, ...]:
        """The open rules, innermost first; a finite machine has none."""
        at = self.at(state)
        return () if self.machine is None or at is None else self.machine.stack(at)


def read_tokens(guide: Guide, state: Any, tokens: Iterable[int]) -> list[Any]:
    """The guide's states along these tokens, from `state` on, up to the first token that it refuses.

    >>> read_tokens(gv.guide(gv.regex("ab*"), gv.Vocabulary([b"a", b"b"])), 0, [0, 1, 0, 1])
    [0, 1, 1]
    """
    states = [state]
    for token in tokens:
        try:
            states.append(guide.advance(states[-1], token))
        except GuidedVizError:
            break
    return states


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

    def __init__(self, machine: Machine[Any], vocabulary: Vocabulary, source: Indexed | Split | Lazy) -> None:
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


# The guide of a real engine. A state contains the tokens so far, so it stays valid; a matcher is copied for each.
#
# The engine computes the mask and `advance`, even if they are wrong. Our machine reads the same tokens and provides the
# explanations, the states and the stack.


@dataclass(frozen=True)
class RealState:
    """The tokens so far and the machine's state; None if the engine allowed a token that the machine rejects."""

    tokens: tuple[int, ...]
    at: Hashable = field(compare=False)


class RealGuide(Guide):
    """The masks of a real engine, and the explanations of the machine."""

    def __init__(self, name: str, asked: Asked, vocabulary: Vocabulary) -> None:
        self.name, self.vocabulary = name, vocabulary
        self.machine: Machine[Any] = asked.machine
        self.initial = RealState((), asked.machine.initial)
        self._kept: dict[tuple[int, ...], Matcher] = {(): prepared(name, vocabulary)(asked)}

    def __repr__(self) -> str:
        return f"guide({self.machine!r}, {self.vocabulary!r}, {self.name!r})"

    def at(self, state: Any) -> Any:
        """The machine's state; None if the engine allowed a token that the machine rejects."""
        if not isinstance(state, RealState):
            raise foreign_state(self, state)
        return state.at

    def mask(self, state: RealState) -> Mask:
        """True for every id that the engine allows; read-only."""
        self.at(state)
        with ONE:
            return self.matcher(state.tokens).mask()

    def is_accepting(self, state: RealState) -> bool:
        """Whether the engine allows the text to end here."""
        self.at(state)
        with ONE:
            return self.matcher(state.tokens).may_end()

    def matcher(self, tokens: tuple[int, ...]) -> Matcher:
        """A matcher that has read these tokens. It must not be advanced, and it must not be used from two threads."""
        known = next(end for end in range(len(tokens), -1, -1) if tokens[:end] in self._kept)
        matcher = self._kept[tokens[:known]]
        for end in range(known, len(tokens)):
            matcher = matcher.copy()
            if not matcher.take(tokens[end]):
                said = f"{self.name} refuses token {tokens[end]} {self.vocabulary.display(tokens[end])!r}"
                raise IllegalToken(f"{said}, which its own mask allows")
            if len(self._kept) > MATCHERS:
                self._kept = {(): self._kept[()]}
            self._kept[tokens[: end + 1]] = matcher
        return matcher

    def advance(self, state: RealState, token: int) -> RealState:
        """The state after a token that the engine allows. EOS has no bytes, so it does not change the state."""
        token = self.vocabulary.as_id(token)
        if not self.mask(state)[token]:
            raise illegal_token(self.vocabulary, self.explain(state, token))
        if token in self.vocabulary.eos:
            return state
        text = state.at is not None and self.vocabulary.is_text(token)
        at = read(self.machine, self.vocabulary.pieces[token], state.at) if text else None
        after = RealState((*state.tokens, token), at)
        self.is_accepting(after)  # the engine may refuse a token that its mask allows
        return after

    def explain(self, state: RealState, token: int) -> Explanation:
        """Why the machine accepts or rejects the token, and the engine's answer if it differs."""
        why = super().explain(state, token)
        legal = bool(self.mask(state)[why.token])
        if why.legal == legal:
            return why
        verb = "allows" if legal else "forbids"
        return replace(why, legal=legal, reason=f"{self.name} {verb} it, against the machine: {why.reason}")


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
        return read_only(mask)

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


# Why a token is legal or not: the machine reads its bytes one by one, up to the first byte that it rejects.


@dataclass(frozen=True)
class Explanation:
    """Why a token is legal or not: its bytes one by one, and the byte that is refused."""

    token: int
    piece: bytes
    legal: bool
    died_at: int | None  # index of the byte that no complete output allows; None if every byte passed
    expected: str  # what was expected there, in words
    states: tuple[str, ...]  # the state before each byte that passed, and the one after the last
    stack: tuple[str, ...]
    reason: str  # one sentence


def expected_next(machine: Machine[S], state: S) -> str:
    """What may come next, in words.

    >>> number = gv.regex("[0-9]+")
    >>> expected_next(number, 0), expected_next(number, 1)
    ('0-9', '0-9 or the end')
    """
    choices, may_end = next_bytes(machine, state), machine.is_accepting(state)
    if not choices:
        return "the end" if may_end else "nothing"
    return visible_bytes(choices) + (" or the end" if may_end else "")


def token_path(machine: Machine[S], vocabulary: Vocabulary, state: S, token: int) -> tuple[S, ...]:
    """The states of the machine inside a token: the state before it, then one state per accepted byte.

    >>> token_path(gv.regex("[0-9]+"), gv.Vocabulary([b"42", b"4x"]), 0, 1)
    (0, 1)
    """
    token = vocabulary.as_id(token)
    return read_path(machine, vocabulary.pieces[token] if vocabulary.is_text(token) else b"", state)


def explain_token(machine: Machine[Any], vocabulary: Vocabulary, state: Any, token: int) -> Explanation:
    """Explain a token by the states after each of its bytes.

    >>> why = explain_token(gv.regex("[0-9]+"), gv.Vocabulary([b"42", b"4x"]), 0, 1)
    >>> why.legal, why.died_at, why.states, why.reason
    (False, 1, ('q0', 'q1'), 'after 4, x cannot come: expected 0-9 or the end')
    """
    token, states = vocabulary.as_id(token), token_path(machine, vocabulary, state, token)
    piece, here, passed = vocabulary.pieces[token], states[-1], len(states) - 1
    expected, labels = expected_next(machine, here), tuple(map(machine.describe, states))
    frame = machine.unfinished(here) if isinstance(machine, PDA) else None
    died_at = None
    if not vocabulary.is_text(token):
        legal = token in vocabulary.eos and machine.is_accepting(state)
        wanted = f"{frame.rule} is still open and waits for {frame.waits}" if frame else f"expected {expected}"
        reason = reason_of_no_text(vocabulary, token, legal, wanted)
    elif legal := passed == len(piece):
        reason = f"every byte passes: {labels[0]} to {labels[-1]}"
    else:
        died_at, wanted = passed, f"expected {expected}"
        if isinstance(machine, PDA) and frame:
            which = "" if machine.frames(here)[0] == frame else " that cannot end here"
            wanted = f"the innermost open rule{which} is {frame.rule}, which waits for {frame.waits}"
        after = f"after {visible(piece[:passed])}, " if passed else ""
        reason = f"{after}{visible(piece[passed : passed + 1])} cannot come: {wanted}"
    return Explanation(token, piece, legal, died_at, expected, labels, machine.stack(here), reason)


def reason_of_no_text(vocabulary: Vocabulary, token: int, legal: bool, wanted: str) -> str:
    """One sentence that explains why an id without text is legal or not.

    >>> reason_of_no_text(Vocabulary([b"</s>"], eos={0}), 0, False, "expected 0-9")
    'EOS would end the text before it is complete: expected 0-9'
    """
    if token in vocabulary.eos:
        return "EOS: the text may end here" if legal else f"EOS would end the text before it is complete: {wanted}"
    return "a special token is never text" if token in vocabulary.special else "the token has no bytes"


def foreign_state(guide: object, state: object) -> SettingError:
    """The error for something that is not a state of this guide.

    >>> print(foreign_state("the guide", 3.5))
    state: saw 3.5, expected a state of the guide; try: guide.initial, or what guide.advance returns
    """
    hint = "guide.initial, or what guide.advance returns"
    return SettingError("state", seen=quoted(state), expected=f"a state of {guide!s}", hint=hint)


def illegal_token(vocabulary: Vocabulary, why: Explanation) -> IllegalToken:
    """The error for a token that the mask forbids."""
    state = f" in {why.states[0]}" * bool(why.states[0])
    return IllegalToken(f"token {why.token} {vocabulary.display(why.token)!r}{state}: {why.reason}")
