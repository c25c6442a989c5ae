"""Machine x vocabulary = guide: the mask of a state is one walk of the trie by the machine.

Engines differ in how they walk and what they keep:
    "trie"   any machine; walks at each step, node by node, and keeps nothing
    "index"  a DFA; walks a state once, all nodes of a level together, and keeps its mask
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Any

import numpy as np

from guidedviz.errors import SettingError
from guidedviz.machines.dfa import DFA
from guidedviz.machines.machine import Machine, forced_bytes, read
from guidedviz.tokens.explain import check_id, explain_token, illegal_token, is_text, label_state, token_path
from guidedviz.tokens.guide import Explanation, Guide, Mask
from guidedviz.tokens.trie import Ints, build_trie, walk, walk_table
from guidedviz.tokens.vocabulary import Vocabulary

KEPT = 64 * 2**20  # bytes of masks that a guide keeps, the latest used


def guide(machine: Machine, vocabulary: Vocabulary, engine: str = "auto") -> Guide:
    """Which tokens keep a complete text of the machine reachable.

    >>> from guidedviz.machines.regex import regex
    >>> v = Vocabulary([b"3", b".5", b".", b"42", b"x", b"</s>"], eos={5})
    >>> g = guide(regex(r"[0-9]+(\\.[0-9]+)?"), v)
    >>> after = g.advance(g.initial, 3)
    >>> [v.display(token) for token in np.flatnonzero(g.mask(after))]
    ['3', '.5', '.', '42', '</s>']
    """
    _check_arguments(machine, vocabulary)
    if engine == "auto":
        engine = "index" if isinstance(machine, DFA) else "trie"
    if engine not in ENGINES:
        names = ", ".join(map(repr, ("auto", *sorted(ENGINES))))
        raise SettingError("guide, engine", seen=repr(engine), expected=f"one of {names}")
    return MachineGuide(machine, vocabulary, ENGINES[engine](machine, vocabulary))


def _check_arguments(machine: object, vocabulary: object) -> None:
    if not all(hasattr(machine, name) for name in ("initial", "step", "is_accepting")):
        raise SettingError("guide", seen=type(machine).__name__, expected="a machine", hint="gv.regex(text)")
    if not isinstance(vocabulary, Vocabulary):
        hint = "gv.Vocabulary.from_tokenizer(tokenizer)"
        raise SettingError("guide", seen=type(vocabulary).__name__, expected="a Vocabulary", hint=hint)


def walk_engine(machine: Machine, vocabulary: Vocabulary) -> Callable[[Any], Mask]:
    """A walk at each step, node by node."""
    trie = build_trie(vocabulary)
    return lambda state: add_eos(trie.tokens(walk(trie, machine, state)), machine, vocabulary, state)


def table_engine(machine: Machine, vocabulary: Vocabulary) -> Callable[[Any], Mask]:
    """One walk a state, level by level; the masks are kept."""
    if not isinstance(machine, DFA):
        kind = type(machine).__name__
        raise SettingError("guide, engine 'index'", seen=kind, expected="a finite machine", hint="engine='auto'")
    trie, table = build_trie(vocabulary), build_table(machine)

    @lru_cache(maxsize=max(1, KEPT // len(vocabulary)))
    def mask(state: int) -> Mask:
        return add_eos(trie.tokens(walk_table(trie, table, state)), machine, vocabulary, state)

    return mask


ENGINES: dict[str, Callable[[Machine, Vocabulary], Callable[[Any], Mask]]] = {
    "trie": walk_engine,
    "index": table_engine,
}


def build_table(dfa: DFA) -> Ints:
    """The machine as one flat array, table[state * 256 + byte]; the last state is dead and stays so.

    >>> from guidedviz.machines.regex import regex
    >>> build_table(regex("a"))[[97, 98, 256 + 97, 512 + 97]].tolist()
    [1, 2, 2, 2]
    """
    table = np.full((len(dfa) + 1) * 256, len(dfa), dtype=np.int32)
    inside = np.frombuffer(dfa.table, dtype=np.int32)
    table[: len(inside)] = np.where(inside < 0, len(dfa), inside)
    return table


def add_eos(mask: Mask, machine: Machine, vocabulary: Vocabulary, state: Hashable) -> Mask:
    """EOS is legal exactly where the text may end; afterwards the mask is never written again."""
    mask[list(vocabulary.eos)] = machine.is_accepting(state)
    mask.flags.writeable = False
    return mask


class MachineGuide:
    """A guide over any machine; the engine is a function from a state to its mask."""

    def __init__(self, machine: Machine, vocabulary: Vocabulary, mask: Callable[[Any], Mask]) -> None:
        self.machine: Machine = machine
        self.vocabulary, self._mask = vocabulary, mask

    def __repr__(self) -> str:
        return f"guide({self.machine!r}, {self.vocabulary!r})"

    @property
    def initial(self) -> Hashable:
        """The state before the first token."""
        return self.machine.initial

    def mask(self, state: Any) -> Mask:
        """True for every legal id; read-only."""
        return self._mask(state)

    def advance(self, state: Hashable, token: int) -> Hashable:
        """The state after a legal token; EOS reads no byte, so the state stays."""
        token = check_id(self.vocabulary, token)
        if token in self.vocabulary.eos and self.is_accepting(state):
            return state
        after = read(self.machine, self.vocabulary.pieces[token], state) if is_text(self.vocabulary, token) else None
        if after is None:
            raise illegal_token(self.vocabulary, self.explain(state, token))
        return after

    def is_accepting(self, state: Any) -> bool:
        """May the text end here?"""
        return self.machine.is_accepting(state)

    def forced(self, state: Any) -> bytes:
        """The bytes that must come next; b"" where there is a choice or the text may end."""
        return forced_bytes(self.machine, state)

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
        return ()
