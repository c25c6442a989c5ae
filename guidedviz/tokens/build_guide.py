"""A guide for a machine and a vocabulary: which engine computes its masks, and what each can take.

    gv.guide(machine, vocabulary)                   ours: an index for a DFA, a split for a pushdown machine
    gv.guide(machine, vocabulary, "llguidance")     a real engine's masks, and our machine's explanations

The guide of a real engine computes the mask and `advance` with the engine, even if they are wrong. Our machine reads
the same tokens and provides the explanations, the states and the stack. A state contains a matcher of the engine that
has read the tokens so far, so it stays valid.
"""

import logging
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from threading import RLock
from typing import Any

from guidedviz.errors import IllegalToken, SettingError, expect, quoted, shorten
from guidedviz.machines.machine import Machine, read
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.minimal import live_machine
from guidedviz.machines.thinking import TurnMachine
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.engines import PREPARE, Asked, Matcher, prepared
from guidedviz.tokens.guide import MASK_BYTES, Explanation, Guide, Indexed, MachineGuide, foreign_state, legal_id
from guidedviz.tokens.index import Index, not_finite
from guidedviz.tokens.lazy import Lazy
from guidedviz.tokens.own_engine import MakeEngine, OwnMatcher, prepare_engine, start_engine
from guidedviz.tokens.shown_mask import show_mask
from guidedviz.tokens.split import Split, build_split
from guidedviz.tokens.thinking import ThinkingGuide
from guidedviz.tokens.vocabulary import Vocabulary, as_vocabulary, check_names

log = logging.getLogger("guidedviz")
ONE_THREAD = RLock()  # the matchers of a vocabulary share a buffer, and a page may call them from several threads


@dataclass(frozen=True)
class RealState:
    """The tokens so far, the machine's state and the engine's.

    The machine's is None if the engine allowed a token that the machine rejects. A matcher is copied to be advanced.
    """

    tokens: tuple[int, ...]
    at: Hashable = field(compare=False)
    matcher: Matcher = field(compare=False, repr=False)


class RealGuide(Guide):
    """The masks of a real engine or of one's own, and the explanations of the machine."""

    def __init__(self, name: str, machine: Machine[Any], vocabulary: Vocabulary, matcher: Matcher) -> None:
        self.name = name
        self.vocabulary = vocabulary
        self.machine: Machine[Any] = machine
        self.initial = RealState((), machine.initial, matcher)

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
        with ONE_THREAD:
            return show_mask(state.matcher.mask(), self.vocabulary)

    def forced(self, state: RealState) -> bytes:
        """The bytes that must come next, as an engine of one's own says, or as the machine says."""
        self.at(state)
        if isinstance(state.matcher, OwnMatcher):
            return state.matcher.forced()
        return super().forced(state)

    def is_accepting(self, state: RealState) -> bool:
        """Whether the engine allows the text to end here."""
        self.at(state)
        with ONE_THREAD:
            return state.matcher.may_end()

    def advance(self, state: RealState, token: int) -> RealState:
        """The state after a token that the engine allows.

        An EOS that the machine cannot read ends the text, and the state stays. One that it reads by its name is added
        to the tokens without the engine if the engine may end; otherwise the engine takes it like any token.
        """
        token = legal_id(self, state, token)
        at = None
        if state.at is not None and self.reads.is_text(token):
            at = read(self.machine, self.reads.pieces[token], state.at)
        if token in self.vocabulary.eos and (at is None or self.is_accepting(state)):
            if at is None:
                return state
            return RealState((*state.tokens, token), at, state.matcher)
        with ONE_THREAD:
            matcher = state.matcher.copy()
            taken = matcher.take(token)
        if not taken:
            said = f"{self.name} refuses token {token} {self.vocabulary.display(token)!r}"
            raise IllegalToken(f"{said}, which its own mask allows")
        return RealState((*state.tokens, token), at, matcher)

    def explain(self, state: RealState, token: int) -> Explanation:
        """Why the machine accepts or rejects the token, and the engine's answer if it differs."""
        why = super().explain(state, token)
        legal = bool(self.mask(state)[why.token])
        if why.legal == legal:
            return why
        verb = "allows" if legal else "forbids"
        return replace(why, legal=legal, reason=f"{self.name} {verb} it, against the machine: {why.reason}")


ENGINES = ("auto", "index", "split", "trie", *PREPARE)


def guide(
    machine: Machine[Any], vocabulary: Any, engine: str | MakeEngine = "auto", index: Index | None = None
) -> Guide:
    """A guide that allows the tokens after which a complete text of the machine can still be reached.

    In the place of the vocabulary it takes a tokenizer of transformers, in the place of an engine's name a class of
    one's own (`labs/project.ipynb`).

    An `index` built before is used instead of a new one, if it was built for this machine and this vocabulary.

    >>> v = gv.Vocabulary([b"3", b".5", b".", b"42", b"x", b"</s>"], eos={5})
    >>> g = gv.guide(gv.regex(r"[0-9]+(\\.[0-9]+)?"), v)
    >>> after = g.advance(g.initial, 3)
    >>> [v.display(token) for token in g.mask(after).nonzero()[0]]
    ['3', '.5', '.', '42', '</s>']
    """
    machine = live_machine(machine, "guide")
    expect(machine.initial, Hashable, "guide, machine.initial", "a value", "a tuple or an int")
    vocabulary = as_vocabulary(vocabulary, "guide")
    check_names(machine, vocabulary)
    check_engine_choice(engine, index)
    if index is not None:
        index.check(machine, vocabulary)
    log.debug("guide of %r over %r, engine %s", machine, vocabulary, engine)
    if not isinstance(engine, str):
        name = getattr(engine, "__name__", "an engine of your own")
        own = start_engine(engine, prepare_engine(machine, vocabulary), vocabulary)
        made: Guide = RealGuide(name, machine, vocabulary, own)
    elif engine in PREPARE:
        made = RealGuide(engine, machine, vocabulary, prepared(engine, vocabulary)(Asked(machine)))
    elif engine == "split" or (engine == "auto" and isinstance(machine, PDA)):
        # the machine as it is given, so that its stacks name the rules that were written
        made = MachineGuide(machine, vocabulary, build_split(machine, vocabulary, inline=False))
    else:
        made = MachineGuide(machine, vocabulary, state_masks(machine, vocabulary, engine, index))
    if isinstance(machine, TurnMachine) and machine.thinking:
        return ThinkingGuide(made, machine.thinking)
    return made


def state_masks(
    machine: Machine[Any], vocabulary: Vocabulary, engine: str, index: Index | None
) -> Indexed | Split | Lazy:
    """The source of masks: an index, or walks if it would take too much memory; a split for a machine that counts."""
    if engine == "index" and isinstance(machine, PDA) and machine.finite:  # it counts, so it has too many states
        return Split(machine, vocabulary)
    if engine == "index" and not isinstance(machine, DFA):
        raise not_finite("guide, engine 'index'", machine)
    if engine == "trie" or not isinstance(machine, DFA) or len(machine) * len(vocabulary) > MASK_BYTES:
        return Lazy(machine, vocabulary)
    return Indexed(machine, vocabulary, index)


def check_engine_choice(engine: Any, index: Index | None) -> None:
    """Refuse what is neither the name of an engine nor a class, and an index for another engine than its own."""
    if not callable(engine) and (not isinstance(engine, str) or engine not in ENGINES):
        raise SettingError("guide, engine", seen=quoted(engine), expected=f"one of {str(ENGINES)[1:-1]}")
    if index is not None and engine not in ("auto", "index"):
        seen = f"engine {quoted(engine)}"
        raise SettingError("guide, index", seen=seen, expected="an Index and its engine", hint="gv.build_index")
    expect(index, Index | None, "guide, index", "an Index", "gv.build_index(machine, vocabulary)")


def name_guide(guide: Guide) -> str:
    """What a guide is, in a few words.

    >>> name_guide(gv.guide(gv.regex("[0-9]"), gv.Vocabulary([b"1"])))
    'DFA(2 states, 1 accepting)'
    """
    if guide.machine is None:
        return type(guide).__name__
    machine = shorten(repr(guide.machine), 60)
    if isinstance(guide, RealGuide):
        return f"{guide.name} · {machine}"
    return machine
