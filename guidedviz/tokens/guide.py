"""Machine x vocabulary = guide: what a guide promises, the guides, and why a token is legal or not.

A guide takes its masks from a source, and keeps the latest. The sources walk the trie with the machine at different
times: before decoding ("index", Outlines), at each step ("trie", llguidance), or before decoding from the nodes of a
pushdown machine ("split", XGrammar). To explain a token, the machine reads its bytes one by one, up to the first byte
that it rejects.

Next: `decoding/loop.py`.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from guidedviz import lazy
from guidedviz.errors import GuidedVizError, IllegalToken, SettingError, expect, quoted
from guidedviz.machines.machine import Machine, S, forced_bytes, next_bytes, no_step, read, read_path
from guidedviz.machines.names import SOME_NAME, is_name
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.special import next_names
from guidedviz.machines.visible import visible, visible_bytes
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.index import Index, build_index
from guidedviz.tokens.lazy import Lazy
from guidedviz.tokens.shown_mask import name_legal, show_mask
from guidedviz.tokens.split import Split
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.tokens.walk import MoveTable


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
    said = []
    choices = next_bytes(machine, state)
    if choices:
        said.append(with_names(visible_bytes(choices), machine, state))
    if machine.is_accepting(state):
        said.append("the end")
    return " or ".join(said) or "nothing"


def with_names(said: str, machine: Machine[S], state: S) -> str:
    """A sentence that says which special tokens may come, if they are few.

    >>> think = gv.tagged(begin=gv.special("<think>"))
    >>> with_names(f"a or {SOME_NAME}", think, think.initial)
    'a or <think>'
    """
    return said.replace(SOME_NAME, " ".join(next_names(machine, state))) if SOME_NAME in said else said


def token_path(machine: Machine[S], vocabulary: Vocabulary, state: S, token: int) -> tuple[S, ...]:
    """The states of the machine inside a token: the state before it, then one state per accepted byte.

    >>> token_path(gv.regex("[0-9]+"), gv.Vocabulary([b"42", b"4x"]), 0, 1)
    (0, 1)
    """
    token = vocabulary.as_id(token)
    piece = vocabulary.pieces[token] if vocabulary.is_text(token) else b""
    return read_path(machine, piece, state)


def explain_token(machine: Machine[Any], vocabulary: Vocabulary, state: Any, token: int) -> Explanation:
    """Explain a token by the states after each of its bytes.

    >>> why = explain_token(gv.regex("[0-9]+"), gv.Vocabulary([b"42", b"4x"]), 0, 1)
    >>> why.legal, why.died_at, why.states, why.reason
    (False, 1, ('q0', 'q1'), 'after 4, x cannot come: expected 0-9 or the end')
    """
    token = vocabulary.as_id(token)
    piece = vocabulary.pieces[token]
    states = token_path(machine, vocabulary, state, token)
    if is_name(piece) and len(states) <= len(piece):
        states = states[:1]  # a special token is read whole or not at all
    labels = tuple(map(machine.describe, states))
    passed = len(states) - 1  # bytes
    here = states[-1]
    expected = expected_next(machine, here)
    frame = machine.unfinished(here) if isinstance(machine, PDA) else None
    died_at = None
    ends = token in vocabulary.eos and machine.is_accepting(state)
    if ends or not vocabulary.is_text(token):
        legal = ends
        wanted = f"{frame.rule} is still open and waits for {frame.waits}" if frame else f"expected {expected}"
        reason = reason_of_no_text(vocabulary, token, legal, wanted)
    elif legal := passed == len(piece):
        reason = f"every byte passes: {labels[0]} to {labels[-1]}"
    else:
        died_at = passed
        wanted = f"expected {expected}"
        if isinstance(machine, PDA) and frame:
            which = "" if machine.frames(here)[0] == frame else " that cannot end here"
            wanted = f"the innermost open rule{which} is {frame.rule}, which waits for {frame.waits}"
        after = f"after {visible(piece[:passed])}, " if passed else ""
        reason = with_names(f"{after}{refused_part(piece, passed)} cannot come: {wanted}", machine, here)
    return Explanation(token, piece, legal, died_at, expected, labels, machine.stack(here), reason)


def refused_part(piece: bytes, place: int) -> str:
    """The refused byte of a token, as people read it; a special token is refused as a whole."""
    return visible(piece if is_name(piece) else piece[place : place + 1])


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
    state = f" in {why.states[0]}" if why.states[0] else ""
    return IllegalToken(f"token {why.token} {vocabulary.display(why.token)!r}{state}: {why.reason}")


def legal_id(guide: "Guide", state: Any, token: int) -> int:
    """The id of a token that the mask of a state allows; IllegalToken for another one."""
    token = guide.vocabulary.as_id(token)
    if not guide.mask(state)[token]:
        raise illegal_token(guide.vocabulary, guide.explain(state, token))
    return token


MASK_BYTES = 2**26  # bytes of masks that a guide keeps


def check_guide(guide: object, where: str = "guide", hint: str = "gv.guide(machine, vocabulary)") -> None:
    """Refuse what is not a guide.

    >>> check_guide("[0-9]+", "draw_map, guide")
    Traceback (most recent call last):
    guidedviz.errors.SettingError: draw_map, guide: saw str, expected a guide; try: gv.guide(machine, vocabulary)
    """
    expect(guide, Guide, where, "a guide", hint)


def split_guide(split: Split) -> "MachineGuide":
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
    _repr_html_ = lazy.show_html

    @abstractmethod
    def mask(self, state: Any) -> Mask:
        """True for every legal id; read-only."""

    @abstractmethod
    def advance(self, state: Any, token: int) -> Any:
        """The state after a legal token; IllegalToken if the mask forbids it."""

    @abstractmethod
    def is_accepting(self, state: Any) -> bool:
        """Whether the text may end here."""

    @cached_property
    def reads(self) -> Vocabulary:
        """The vocabulary as the machine reads it: with the names of special tokens, if it can read one."""
        return self.vocabulary if self.machine is None else self.vocabulary.read_by(self.machine)

    def at(self, state: Any) -> Any:
        """The machine's state, or None if there is none; refuses a state of another guide."""
        return None

    def forced(self, state: Any) -> bytes:
        """The bytes that must come next; b"" if there is a choice or the text may end."""
        at = self.at(state)
        return b"" if self.machine is None or at is None else forced_bytes(self.machine, at)

    def path(self, state: Any, token: int) -> tuple[Any, ...]:
        """The machine's states inside a token: the one before it, then one for every byte that passed."""
        at = self.at(state)
        return () if self.machine is None or at is None else token_path(self.machine, self.reads, at, token)

    def explain(self, state: Any, token: int) -> Explanation:
        """Why the token is legal or not."""
        at = self.at(state)
        if self.machine is not None and at is not None:
            return explain_token(self.machine, self.reads, at, token)
        token = self.vocabulary.as_id(token)
        label = self.label(state)
        mask = self.mask(state)
        legal = bool(mask[token])
        if legal:
            reason = f"the guide allows it in {label}"
        else:
            reason = f"the guide forbids it in {label}; legal there: {name_legal(mask, self.vocabulary) or 'nothing'}"
        if not self.vocabulary.is_text(token):
            reason = reason_of_no_text(self.vocabulary, token, legal, reason)
        return Explanation(token, self.vocabulary.pieces[token], legal, None, "", (label,), self.stack(state), reason)

    def label(self, state: Any) -> str:
        """The state's name for people."""
        at = self.at(state)
        if self.machine is None:
            return str(state)
        return "no state" if at is None else self.machine.describe(at)

    def stack(self, state: Any) -> tuple[str, ...]:
        """The open rules, innermost first; a finite machine has none."""
        at = self.at(state)
        return () if self.machine is None or at is None else self.machine.stack(at)


def guide_states(guide: Guide, state: Any, tokens: Iterable[int]) -> list[Any]:
    """The guide's states along these tokens, from `state` on, up to the first token that it refuses.

    >>> guide_states(gv.guide(gv.regex("ab*"), gv.Vocabulary([b"a", b"b"])), 0, [0, 1, 0, 1])
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
    """A source of stored masks. The first is walked, so that decoding begins at once; the second builds the index."""

    def __init__(self, machine: DFA, vocabulary: Vocabulary, index: Index | None = None) -> None:
        self.machine = machine
        self.vocabulary = vocabulary
        self.built = index
        self._walk_next = index is None

    @property
    def index(self) -> Index:
        """State -> legal tokens -> next state."""
        if self.built is None:
            self.built = build_index(self.machine, self.vocabulary)
        return self.built

    def mask(self, state: int) -> Mask:
        """True for every legal id; read-only."""
        if not self._walk_next:
            return self.index.mask(state)
        self._walk_next = False
        reads = self.vocabulary.read_by(self.machine)
        live, _ = MoveTable(self.machine.step, self.machine.kinds).walk(reads.trie, state)
        return reads.with_eos(reads.trie.mask(live), self.machine.is_accepting(state))


def check_state(machine: Machine[S], state: S) -> S:
    """The state, if it is one of a DFA; other machines check it themselves."""
    if isinstance(machine, DFA):
        if not isinstance(state, int | np.integer) or not 0 <= state < len(machine):
            raise no_step(machine, state)
    elif state is None or not isinstance(state, Hashable):
        raise no_step(machine, state)
    return state


class MachineGuide(Guide):
    """A guide over any machine, with the source of its masks."""

    def __init__(self, machine: Machine[Any], vocabulary: Vocabulary, source: Indexed | Split | Lazy) -> None:
        self.machine: Machine[Any] = machine
        self.vocabulary = vocabulary
        self.source = source
        self.initial = machine.initial
        keep = lru_cache(maxsize=max(1, MASK_BYTES // len(vocabulary)))
        # it does not hold the guide: in a cycle with it, all would stay until Python collects the oldest garbage
        self._mask = keep(lambda state: show_mask(source.mask(check_state(machine, state)), vocabulary))

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
        return check_state(self.machine, state)

    def mask(self, state: Any) -> Mask:
        """True for every legal id; read-only."""
        if not isinstance(state, Hashable):
            raise no_step(self.machine, state)
        return self._mask(state)

    def advance(self, state: Any, token: int) -> Any:
        """The state after a legal token; EOS reads no byte, so the state stays."""
        token = self.vocabulary.as_id(token)
        state = self.at(state)
        after = None
        if self.reads.is_text(token):
            index = self.source.built if isinstance(self.source, Indexed) else None
            piece = self.reads.pieces[token]
            after = index.next_state(state, token) if index else read(self.machine, piece, state)
        if after is None and token in self.vocabulary.eos and self.is_accepting(state):
            after = state
        if after is None:
            raise illegal_token(self.vocabulary, self.explain(state, token))
        return after

    def is_accepting(self, state: Any) -> bool:
        """Whether the text may end here."""
        return self.machine.is_accepting(self.at(state))
