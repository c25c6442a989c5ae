"""Machine x vocabulary = guide: the mask of a state is one walk of the trie by the machine.

Engines differ in when they walk and what they keep:
    "trie"   any machine; walks from a state when it is asked, and keeps the latest masks; where the state takes any
             text of a common kind, the tokens of such text are not walked (slices.py)
    "split"  a machine with a stack; walks from each node once, and asks the stack only for the tokens that need it
    "xgrammar", "llguidance", "outlines-core"  the real engines, where they are installed
    "index"  a finite machine; walks from the first state alone, and when a second one is asked for from all states
             together, and keeps every mask. Where that would be too many, it walks from each state when it is asked
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property, lru_cache, partial
from typing import Any, cast

from guidedviz.errors import SettingError
from guidedviz.machines.dfa import DFA
from guidedviz.machines.forced import forced_bytes
from guidedviz.machines.machine import Machine, read, stack_of
from guidedviz.machines.pda import PDA
from guidedviz.tokens.explain import check_id, explain_token, illegal_token, is_text, label_state, token_path
from guidedviz.tokens.guide import Explanation, Guide, Mask
from guidedviz.tokens.index import Index, build_index, live_machine, unpack
from guidedviz.tokens.kinds import build_table
from guidedviz.tokens.lazy import walked_mask, walks_of
from guidedviz.tokens.split import Split, build_split
from guidedviz.tokens.trie import Ints, build_trie, walk_levels
from guidedviz.tokens.vocabulary import Vocabulary

KEPT = 2**26  # bytes of masks that a guide keeps
KEPT_RUNS = 4096  # forced runs that it keeps
READY = 2**24  # bytes of masks that it unpacks before it is asked


def guide(machine: Machine, vocabulary: Vocabulary, engine: str = "auto", index: Index | None = None) -> Guide:
    """Which tokens keep a complete text of the machine reachable.

    An `index` built before is used instead of a new one, if it was built for this machine and this vocabulary.

    >>> from guidedviz.machines.regex import regex
    >>> v = Vocabulary([b"3", b".5", b".", b"42", b"x", b"</s>"], eos={5})
    >>> g = guide(regex(r"[0-9]+(\\.[0-9]+)?"), v)
    >>> after = g.advance(g.initial, 3)
    >>> [v.display(token) for token in g.mask(after).nonzero()[0]]
    ['3', '.5', '.', '42', '</s>']
    """
    _check_arguments(machine, vocabulary)
    if isinstance(machine, DFA):
        machine = live_machine(machine)
    names = ", ".join(map(repr, ("auto", *sorted(ENGINES.keys() - set(REAL)), *REAL)))
    if engine not in ("auto", *ENGINES):
        raise SettingError("guide, engine", seen=repr(engine), expected=f"one of {names}")
    if index is not None:
        return _given_index(machine, vocabulary, engine, index)
    if engine == "auto":
        engine = "index" if isinstance(machine, DFA) else "split" if isinstance(machine, PDA) else "trie"
    return ENGINES[engine](machine, vocabulary)


def _given_index(machine: Machine, vocabulary: Vocabulary, engine: str, index: Any) -> Guide:
    if engine not in ("auto", "index") or not isinstance(index, Index):
        seen = f"engine {engine!r}" if isinstance(index, Index) else type(index).__name__
        raise SettingError("guide, index", seen=seen, expected="an Index and its engine", hint="gv.build_index")
    index.check(machine, vocabulary)
    return IndexGuide(index.machine, vocabulary, index)


def _check_arguments(machine: Any, vocabulary: object) -> None:
    if not all(hasattr(machine, name) for name in ("initial", "step", "is_accepting")):
        raise SettingError("guide", seen=type(machine).__name__, expected="a machine", hint="gv.regex(text)")
    if not isinstance(machine.initial, Hashable):
        kind = type(machine.initial).__name__
        raise SettingError("guide", seen=f"a state that is a {kind}", expected="a value", hint="a tuple or an int")
    if not isinstance(vocabulary, Vocabulary):
        hint = "gv.Vocabulary.from_tokenizer(tokenizer)"
        raise SettingError("guide", seen=type(vocabulary).__name__, expected="a Vocabulary", hint=hint)


def trie_engine(machine: Machine, vocabulary: Vocabulary) -> MachineGuide:
    """One walk a state, when it is first asked; what a slice takes whole is not walked."""
    walk, keep = walks_of(machine, vocabulary), lru_cache(maxsize=max(1, KEPT // len(vocabulary)))
    return MachineGuide(machine, vocabulary, keep(lambda state: walk(state).mask))


def walking_guide(machine: Machine, vocabulary: Vocabulary, walk: Callable[[Any], tuple[Ints, Ints]]) -> MachineGuide:
    """A guide that walks from a state when it is asked, and keeps the latest masks."""
    keep = lru_cache(maxsize=max(1, KEPT // len(vocabulary)))
    return MachineGuide(machine, vocabulary, keep(partial(walked_mask, machine, vocabulary, walk)))


def split_engine(machine: Machine, vocabulary: Vocabulary) -> SplitGuide:
    """The machine as it is given, so that its stacks name the rules that were written."""
    return split_guide(build_split(machine, vocabulary, inline=False))


def index_engine(machine: Machine, vocabulary: Vocabulary) -> MachineGuide:
    """All masks, as far as they fit."""
    if not isinstance(machine, DFA):
        kind = type(machine).__name__
        raise SettingError("guide, engine 'index'", seen=kind, expected="a finite machine", hint="engine='auto'")
    fits = len(machine) * len(vocabulary) <= KEPT
    return IndexGuide(machine, vocabulary) if fits else lazy_guide(machine, vocabulary)


def lazy_guide(machine: DFA, vocabulary: Vocabulary) -> MachineGuide:
    """One walk a state, when it is first asked, by the machine's table."""
    return walking_guide(machine, vocabulary, table_walk(machine, vocabulary))


def table_walk(machine: DFA, vocabulary: Vocabulary) -> Callable[[int], tuple[Ints, Ints]]:
    """The walk from a state of a finite machine: a level is one look-up."""
    trie, table = build_trie(vocabulary), build_table(machine).ravel()
    return lambda state: walk_levels(trie, state + 1, lambda states, letters: table[states * 256 + letters])


def real_engine(name: str, machine: Machine, vocabulary: Vocabulary) -> Guide:
    """One of the engines that production runs, right or wrong."""
    from guidedviz.tokens.real.guide import real_guide

    return real_guide(name, machine, vocabulary)


REAL = ("xgrammar", "llguidance", "outlines-core")
ENGINES: dict[str, Callable[[Machine, Vocabulary], Guide]] = {
    "trie": trie_engine,
    "split": split_engine,
    "index": index_engine,
    **{name: partial(real_engine, name) for name in REAL},
}


class MachineGuide:
    """A guide over any machine; the engine is a function from a state to its mask."""

    def __init__(self, machine: Machine, vocabulary: Vocabulary, mask: Callable[[Any], Mask]) -> None:
        self.machine: Machine = machine
        self.vocabulary, self._mask = vocabulary, mask
        self._forced = lru_cache(maxsize=KEPT_RUNS)(partial(forced_bytes, machine))

    def __repr__(self) -> str:
        return f"guide({self.machine!r}, {self.vocabulary!r})"

    @property
    def initial(self) -> Hashable:
        """The state before the first token."""
        return self.machine.initial

    def mask(self, state: Any) -> Mask:
        """True for every legal id; read-only."""
        return self._mask(state)

    def advance(self, state: Any, token: int) -> Hashable:
        """The state after a legal token; EOS reads no byte, so the state stays."""
        token = check_id(self.vocabulary, token)
        after = self._read(state, token)
        if after is None:
            raise illegal_token(self.vocabulary, self.explain(state, token))
        return after

    def _read(self, state: Any, token: int) -> Hashable | None:
        if token in self.vocabulary.eos:
            return state if self.is_accepting(state) else None
        return read(self.machine, self.vocabulary.pieces[token], state) if is_text(self.vocabulary, token) else None

    def is_accepting(self, state: Any) -> bool:
        """May the text end here?"""
        return self.machine.is_accepting(state)

    def forced(self, state: Any) -> bytes:
        """The bytes that must come next; b"" where there is a choice or the text may end."""
        return self._forced(state)

    def path(self, state: Hashable, token: int) -> tuple[Hashable, ...]:
        """The machine's states inside a token: the one before it, then one more for every byte that passed."""
        return token_path(self.machine, self.vocabulary, state, token)

    def explain(self, state: Any, token: int) -> Explanation:
        """Why the token is legal or not."""
        return explain_token(self.machine, self.vocabulary, state, token)

    def label(self, state: Any) -> str:
        """The state's name for people."""
        return label_state(state)

    def stack(self, state: Any) -> tuple[str, ...]:
        """What is open, innermost first; a finite machine has no stack."""
        return stack_of(self.machine, state)


class SplitGuide(MachineGuide):
    """A guide that asks a split, and keeps the latest masks."""

    def __init__(self, split: Split) -> None:
        keep = lru_cache(maxsize=max(1, KEPT // len(split.vocabulary)) if split.remember else 0)
        super().__init__(split.pda, split.vocabulary, keep(split.mask))
        self.split = split


def split_guide(split: Split) -> SplitGuide:
    """The guide of a split, for one that was built with something switched off.

    >>> from guidedviz.machines.pda import grammar
    >>> split = build_split(grammar('root ::= "(" root ")" | "x"'), Vocabulary([b"(", b")", b"x)"]))
    >>> guide = split_guide(split)
    >>> guide.mask(guide.initial).tolist(), guide.mask(guide.advance(guide.initial, 0)).tolist()
    ([True, False, False], [True, False, True])
    """
    return SplitGuide(split)


class IndexGuide(MachineGuide):
    """A guide that looks its masks up.

    The first state is walked alone, so that decoding begins at once; whoever asks for a second one gets the index.
    """

    def __init__(self, machine: DFA, vocabulary: Vocabulary, index: Index | None = None) -> None:
        super().__init__(machine, vocabulary, self._first)
        if index is not None:
            self.index, self._mask = index, self._any

    @cached_property
    def index(self) -> Index:
        """State -> legal tokens -> next state."""
        return build_index(self.machine, self.vocabulary)

    def _first(self, state: int) -> Mask:
        machine = cast(DFA, self.machine)
        walked = walked_mask(machine, self.vocabulary, table_walk(machine, self.vocabulary), state)
        self._mask = lambda asked: walked if asked == state else self._any(asked)
        return walked

    def _any(self, state: int) -> Mask:
        self._mask = self._rows
        return self._mask(state)

    @cached_property
    def _rows(self) -> Callable[[int], Mask]:
        """Unpacked at once where they are few, else the latest used."""
        index, size = self.index, len(self.vocabulary)
        if index.bits.shape[0] * size > READY:
            return lru_cache(maxsize=max(1, KEPT // size))(index.mask)
        masks = list(unpack(index.bits, size))
        return [masks[row] for row in index.row.tolist()].__getitem__

    def _read(self, state: int, token: int) -> Any:
        return self.index.next_state(state, token) if "index" in vars(self) else super()._read(state, token)
