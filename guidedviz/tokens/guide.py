"""Machine x vocabulary = guide. A guide takes its masks from a source, and keeps the latest.

The sources walk the trie with the machine at different times: before decoding ("index", Outlines), at each step
("trie", llguidance), or before decoding from the nodes of a pushdown machine ("split", XGrammar).

Next: `decoding/loop.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import lru_cache, partial
from typing import Any, Protocol

import numpy as np

from guidedviz.errors import SettingError, quoted, shorten
from guidedviz.machines.forced import forced_bytes
from guidedviz.machines.machine import Machine, as_machine, no_step, read
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.dfa import DFA
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.engines.engine_guide import PREPARE, RealGuide, real_guide
from guidedviz.tokens.explain import Explanation, explain_token, illegal_token, token_path
from guidedviz.tokens.index import Index, build_index, live_machine, not_finite
from guidedviz.tokens.lazy import Lazy
from guidedviz.tokens.split import Split, build_split
from guidedviz.tokens.vocabulary import Vocabulary, check_vocabulary

KEPT = 2**26  # bytes of masks that a guide keeps
KEPT_RUNS = 4096  # forced runs that it keeps


class Guide(Protocol):
    """Decides which token may come next. States are values: `advance` returns a new one, and an old one stays valid."""

    @property
    def machine(self) -> Machine[Any] | None: ...  # None: no machine stands behind this guide
    @property
    def vocabulary(self) -> Vocabulary: ...
    @property
    def initial(self) -> Hashable: ...
    def mask(self, state: Any) -> Mask: ...
    def advance(self, state: Any, token: int) -> Hashable: ...
    def is_accepting(self, state: Any) -> bool: ...
    def forced(self, state: Any) -> bytes: ...
    def path(self, state: Any, token: int) -> tuple[Hashable, ...]: ...
    def explain(self, state: Any, token: int) -> Explanation: ...
    def label(self, state: Any) -> str: ...
    def stack(self, state: Any) -> tuple[str, ...]: ...


def check_guide(guide: Any, where: str = "guide", hint: str = "gv.guide(machine, vocabulary)") -> None:
    """Refuse what is not a guide.

    >>> check_guide("[0-9]+", "draw_map, guide")
    Traceback (most recent call last):
    guidedviz.errors.SettingError: draw_map, guide: saw str, expected a guide; try: gv.guide(machine, vocabulary)
    """
    missing = [name for name in ("vocabulary", "mask", "advance", "machine") if not hasattr(guide, name)]
    if not missing and isinstance(guide.vocabulary, Vocabulary):
        return
    seen = type(guide).__name__
    if missing == ["machine"]:
        seen, hint = f"{seen} without a machine", "machine = None, if it has none"
    raise SettingError(where, seen=seen, expected="a guide", hint=hint)


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
    machine = as_machine(machine, "guide")
    initial: Any = machine.initial
    if not isinstance(initial, Hashable):
        seen = f"a state that is a {type(initial).__name__}"
        raise SettingError("guide", seen=seen, expected="a value", hint="a tuple or an int")
    check_vocabulary(vocabulary, "guide")
    if not isinstance(engine, str) or engine not in ("auto", *ENGINES):
        raise SettingError("guide, engine", seen=quoted(engine), expected=f"one of {str(('auto', *ENGINES))[1:-1]}")
    if isinstance(machine, DFA):
        machine = live_machine(machine)
    if index is not None:
        if engine not in ("auto", "index") or not isinstance(index, Index):
            seen = f"engine {engine!r}" if isinstance(index, Index) else type(index).__name__
            raise SettingError("guide, index", seen=seen, expected="an Index and its engine", hint="gv.build_index")
        index.check(machine, vocabulary)
        return MachineGuide(index.machine, vocabulary, Indexed(index.machine, vocabulary, index))
    if engine == "auto":
        engine = "index" if isinstance(machine, DFA) else "split" if isinstance(machine, PDA) else "trie"
    return ENGINES[engine](machine, vocabulary)


def index_guide(machine: Machine[Any], vocabulary: Vocabulary) -> MachineGuide:
    """Look masks up in an index; if it would be too large, walk from each state when its mask is asked for.

    A machine that counts has too many states for an index; its masks are stored per node.
    """
    if isinstance(machine, PDA) and machine.finite:
        return split_guide(Split(machine, vocabulary))
    if not isinstance(machine, DFA):
        raise not_finite("guide, engine 'index'", machine)
    fits = len(machine) * len(vocabulary) <= KEPT
    return MachineGuide(machine, vocabulary, (Indexed if fits else Lazy)(machine, vocabulary))


def split_guide(split: Split) -> MachineGuide:
    """The guide of a split, for a split that was built with an option switched off.

    >>> split = gv.build_split(gv.grammar('root ::= "(" root ")" | "x"'), gv.Vocabulary([b"(", b")", b"x)"]))
    >>> guide = split_guide(split)
    >>> guide.mask(guide.initial).tolist(), guide.mask(guide.advance(guide.initial, 0)).tolist()
    ([True, False, False], [True, False, True])
    """
    return MachineGuide(split.pda, split.vocabulary, split)


ENGINES: dict[str, Callable[[Any, Vocabulary], Guide]] = {
    "index": index_guide,
    # the machine as it is given, so that its stacks name the rules that were written
    "split": lambda machine, vocabulary: split_guide(build_split(machine, vocabulary, inline=False)),
    "trie": lambda machine, vocabulary: MachineGuide(machine, vocabulary, Lazy(machine, vocabulary)),
    **{name: partial(real_guide, name) for name in PREPARE},
}


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


class MachineGuide:
    """A guide over any machine, with the source of its masks."""

    def __init__(self, machine: Machine[Any], vocabulary: Vocabulary, source: MaskSource) -> None:
        self.machine: Machine[Any] = machine
        self.vocabulary, self.source = vocabulary, source
        kept = max(1, KEPT // len(vocabulary))
        self._mask = lru_cache(maxsize=kept)(lambda state: source.mask(self._own(state)))
        self._forced = lru_cache(maxsize=KEPT_RUNS)(partial(forced_bytes, machine))

    def __repr__(self) -> str:
        return f"guide({self.machine!r}, {self.vocabulary!r})"

    @property
    def initial(self) -> Any:
        """The state before the first token."""
        return self.machine.initial

    @property
    def index(self) -> Index | None:
        """The index that the masks come from, if any; it is built if it is missing."""
        return self.source.index if isinstance(self.source, Indexed) else None

    @property
    def split(self) -> Split | None:
        """The split that the masks come from, if any."""
        return self.source if isinstance(self.source, Split) else None

    def _own(self, state: Any) -> Any:
        """The state, if it is one of this machine; machines with a stack check it themselves."""
        if isinstance(self.machine, DFA):
            if not isinstance(state, int | np.integer) or not 0 <= state < len(self.machine):
                raise no_step(self.machine, state)
        elif state is None or not isinstance(state, Hashable):
            raise no_step(self.machine, state)
        return state

    def mask(self, state: Any) -> Mask:
        """True for every legal id; read-only."""
        return self._mask(state) if isinstance(state, Hashable) else self._own(state)

    def advance(self, state: Any, token: int) -> Hashable:
        """The state after a legal token; EOS reads no byte, so the state stays."""
        token = self.vocabulary.as_id(token)
        after: Hashable | None = self._read(self._own(state), token)
        if after is None:
            raise illegal_token(self.vocabulary, self.explain(state, token))
        return after

    def _read(self, state: Any, token: int) -> Any:
        if isinstance(self.source, Indexed) and self.source.built is not None:
            return self.source.built.next_state(state, token)
        if token in self.vocabulary.eos:
            return state if self.is_accepting(state) else None
        is_text = self.vocabulary.is_text(token)
        return read(self.machine, self.vocabulary.pieces[token], state) if is_text else None

    def is_accepting(self, state: Any) -> bool:
        """Whether the text may end here."""
        return self.machine.is_accepting(self._own(state))

    def forced(self, state: Any) -> bytes:
        """The bytes that must come next; b"" if there is a choice or the text may end."""
        return self._forced(self._own(state))

    def path(self, state: Hashable, token: int) -> tuple[Hashable, ...]:
        """The machine's states inside a token: the one before it, then one for every byte that passed."""
        return token_path(self.machine, self.vocabulary, self._own(state), token)

    def explain(self, state: Any, token: int) -> Explanation:
        """Why the token is legal or not."""
        return explain_token(self.machine, self.vocabulary, self._own(state), token)

    def label(self, state: Any) -> str:
        """The state's name for people."""
        return self.machine.describe(state)

    def stack(self, state: Any) -> tuple[str, ...]:
        """The open rules, innermost first; a finite machine has none."""
        return self.machine.stack(state)
