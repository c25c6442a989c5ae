"""The split of XGrammar (Dong et al., arXiv 2411.15100): most tokens never look at the stack.

From every node of the pushdown machine the trie is walked once, the stack below unknown. Each token is surely legal,
surely illegal, or must ask: its bytes leave the rule of the node, and whether they may go on depends on what lies
below. What is sure is kept node by node; at run time only those that must ask are read, on as few cells of the real
stack as settle them, and the answer holds for all stacks that look alike down to there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from threading import RLock
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from guidedviz.errors import PatternError, SettingError
from guidedviz.machines.inline import inline_rules
from guidedviz.machines.machine import Machine
from guidedviz.machines.pda import PDA, State
from guidedviz.machines.unknown import Unknown
from guidedviz.tokens.guide import Mask
from guidedviz.tokens.storage import Ids, Stored, store
from guidedviz.tokens.table import MoveTable
from guidedviz.tokens.trie import build_trie, walk_any
from guidedviz.tokens.vocabulary import Vocabulary

MOST_ANSWERS = 2**26  # bytes of masks that are remembered
MANY = 5000  # tokens; to read so many one by one takes longer than a walk of the whole trie
NO, YES, ASK = 0, 1, 2


@dataclass(frozen=True, eq=False)
class NodeSplit:
    """What is known of every token at one node."""

    node: int
    sure: Stored  # the tokens that are legal whatever lies below
    ask: Ids  # those that depend on it, in the order of their bytes; all others are illegal

    def __repr__(self) -> str:
        no = self.sure.size - self.sure.count - len(self.ask)
        return f"NodeSplit(node {self.node}: {self.sure.count:,} yes, {no:,} no, {len(self.ask):,} ask)"

    @property
    def nbytes(self) -> int:
        """The memory it takes."""
        return self.sure.nbytes + self.ask.nbytes


class Answer(NamedTuple):
    """A mask as far as it is known, and the tokens that are still open."""

    legal: Mask
    ask: Ids


@dataclass(frozen=True, eq=False)
class Split:
    """A pushdown machine, a vocabulary, and what the machine's nodes alone say of its tokens."""

    pda: PDA
    vocabulary: Vocabulary
    cache: bool = True  # keep what is sure of each node; else every mask is a walk of the whole trie
    expand: bool = True  # drop tokens that no call of the rule could go on with
    check: bool = True  # ask the real stack; without, whatever might be legal passes, which is WRONG
    remember: bool = True  # an answer holds for all stacks that look alike as far as it looked
    _kept: _Kept = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_kept", _Kept(self))

    def __repr__(self) -> str:
        return f"Split({self.pda!r}, {self.vocabulary!r})"

    def node(self, node: int) -> NodeSplit:
        """The split of one node; made when it is first asked for."""
        with self._kept.lock:
            self._kept.unknown.allow_work()
            return self._kept.node(node)

    def build(self) -> tuple[NodeSplit, ...]:
        """The splits of all nodes at which a text can stand."""
        return tuple(self.node(node) for node in range(len(self.pda.nodes)) if node not in self.pda.nodes.last)

    @property
    def nbytes(self) -> int:
        """The memory of what was made so far; nodes of which the same is known share it."""
        return sum({id(array): array.nbytes for array in self._kept.arrays()}.values())

    @property
    def dense_nbytes(self) -> int:
        """The memory of a bit for every node and token."""
        return len(self.build()) * ((len(self.vocabulary) + 7) // 8)

    def mask(self, state: State) -> Mask:
        """True for every id that is legal; read-only."""
        self.pda.is_accepting(state)  # refuses states of other machines
        with self._kept.lock:
            if self.cache and not self._kept.tangled:
                try:
                    self._kept.unknown.allow_work()
                    return self._kept.mask(state)
                except PatternError:  # on a stack that is not known there may be too many ways to read a text
                    self._kept.tangled = True
            return self._kept.walk(state)

    def answers(self, state: State) -> npt.NDArray[np.int8]:
        """What the nodes alone say of every id: 0 no, 1 yes, 2 ask the stack."""
        with self._kept.lock:
            answer = self._kept.sure(state)
        answers = answer.legal.astype(np.int8)
        answers[answer.ask] = ASK
        return answers


class _Kept:
    """What a split has found out so far."""

    def __init__(self, split: Split) -> None:
        self.split, self.vocabulary = split, split.vocabulary
        self.trie, self.unknown = build_trie(split.vocabulary), Unknown(split.pda, split.expand)
        self.table = MoveTable(self.unknown, self.trie)
        self.nodes: dict[int, NodeSplit] = {}
        self.shared: dict[tuple[str, bytes], Stored] = {}
        self.asked: dict[bytes, Ids] = {}
        self.answers: dict[tuple[State, bool], Answer] = {}
        self.tangled, self.lock = False, RLock()

    def arrays(self) -> Iterator[npt.NDArray[np.generic]]:
        for part in self.nodes.values():
            yield from (part.sure.data, part.ask)

    def node(self, node: int) -> NodeSplit:
        if node not in self.nodes:
            self.nodes[node] = self._walk_node(node)
        return self.nodes[node]

    def _walk_node(self, node: int) -> NodeSplit:
        tokens, live, sure = self.table.walk(self.unknown.at(node))
        mask = np.zeros(len(self.vocabulary), dtype=np.bool_)
        mask[tokens] = sure
        open_ = live & ~sure
        asking = np.flatnonzero(open_) if isinstance(tokens, slice) else tokens[open_]
        stored, ask = store(mask), in_order(self.vocabulary, asking.tolist())
        stored = self.shared.setdefault((stored.kind, stored.data.tobytes()), stored)
        return NodeSplit(node, stored, self.asked.setdefault(ask.tobytes(), ask))

    def sure(self, state: State) -> Answer:
        """The splits of all nodes one can be at, put together: legal at one is legal (Algorithm 1)."""
        legal = np.zeros(len(self.vocabulary), dtype=np.bool_)
        parts = [self.node(node) for node, _ in state.tops]
        for part in parts:
            part.sure.put(legal)
        ask = parts[0].ask if len(parts) == 1 else _merge(self.vocabulary, [part.ask for part in parts])
        ask = ask[~legal[ask]]
        if not self.split.check:
            legal[ask], ask = True, ask[:0]
        legal[list(self.vocabulary.eos)] = state.accepting
        return Answer(legal, ask)

    def mask(self, state: State) -> Mask:
        """Look one cell deeper until nothing is left to ask."""
        answer, depth = self._recall(state, 0, None), 0
        while answer.ask.size:
            depth += 1
            answer = self._recall(state, depth, answer)
        answer.legal.flags.writeable = False
        return answer.legal

    def _recall(self, state: State, depth: int, before: Answer | None) -> Answer:
        if not self.split.remember:
            return self.sure(state) if before is None else self._ask(before, self.unknown.known(state, depth))
        key = self.unknown.known(state, depth), state.accepting
        if key not in self.answers:
            if len(self.answers) * len(self.vocabulary) > MOST_ANSWERS:
                self.answers.clear()
            self.answers[key] = self.sure(state) if before is None else self._ask(before, key[0])
        return self.answers[key]

    def _ask(self, before: Answer, start: State) -> Answer:
        """Read the open tokens on a stack of which more is known: one by one, or where they are many by a walk."""
        if len(before.ask) > MANY:
            tokens, live, sure = self.table.walk(start)
            answers = np.zeros(len(self.vocabulary), dtype=np.int8)
            answers[tokens] = np.where(sure, YES, np.where(live, ASK, NO))
            said = answers[before.ask]
        else:
            reached = read_all(self.unknown, self.vocabulary.pieces, before.ask.tolist(), start)
            said = np.array([NO if state is None else YES if state.accepting else ASK for state in reached])
        mask = before.legal
        if (said == YES).any():
            mask = mask.copy()
            mask[before.ask[said == YES]] = True
        return Answer(mask, before.ask[said == ASK])

    def walk(self, state: State) -> Mask:
        """Without the split: the whole trie on the real stack."""
        legal = np.zeros(len(self.vocabulary), dtype=np.bool_)
        tokens, labels = self.trie.spell(*walk_any(self.trie, self.split.pda, state))
        legal[tokens] = labels > 0
        legal[list(self.vocabulary.eos)] = state.accepting
        legal.flags.writeable = False
        return legal


def in_order(vocabulary: Vocabulary, tokens: Iterable[int]) -> Ids:
    """The ids in the order of their bytes.

    >>> in_order(Vocabulary([b"b", b"a", b"ab"]), [0, 1, 2]).tolist()
    [1, 2, 0]
    """
    return np.array(sorted(tokens, key=vocabulary.pieces.__getitem__), dtype=np.int32)


def _merge(vocabulary: Vocabulary, parts: list[Ids]) -> Ids:
    return in_order(vocabulary, np.unique(np.concatenate([np.zeros(0, dtype=np.int32), *parts])).tolist())


def read_all(machine: PDA, pieces: tuple[bytes, ...], tokens: list[int], start: State) -> Iterator[State | None]:
    """Where each token leads; tokens in the order of their bytes, so that one begins where the last one parted."""
    states: list[State | None] = [start]  # after each byte of the last piece, to the end or to where it died
    last = b""
    for token in tokens:
        piece, same = pieces[token], 0
        for one, other, _ in zip(piece, last, states[1:], strict=False):
            if one != other:
                break
            same += 1
        del states[same + 1 :]
        for byte in piece[same:]:
            if (state := states[-1]) is None:
                break
            states.append(machine.step(state, byte))
        last = piece
        yield states[-1]


def build_split(
    pda: Machine,
    vocabulary: Vocabulary,
    *,
    merge: bool = True,
    inline: bool = True,
    cache: bool = True,
    expand: bool = True,
    check: bool = True,
    remember: bool = True,
) -> Split:
    """The split of a pushdown machine, node by node as it is asked for; each idea of the paper can be switched off.

    >>> from guidedviz.machines.pda import grammar
    >>> nested = grammar('root ::= "(" root ")" | "[" root "]" | "x"')
    >>> split = build_split(nested, Vocabulary([b"(", b")", b"x", b"x)", b"[x])"]))
    >>> split.build()[0], split.node(0).ask.tolist()
    (NodeSplit(node 0: 2 yes, 1 no, 2 ask), [4, 3])
    """
    if not isinstance(pda, PDA):
        kind = type(pda).__name__
        raise SettingError("split", seen=kind, expected="a pushdown machine", hint="gv.grammar(text)")
    return Split(split_machine(pda, merge, inline), vocabulary, cache, expand, check, remember)


@lru_cache(maxsize=16)
def split_machine(pda: PDA, merge: bool, inline: bool) -> PDA:
    """The machine whose nodes are split: with or without the rules put in the place of their calls."""
    if inline:
        try:
            return PDA(inline_rules(pda.grammar), merge)
        except PatternError:
            pass  # too large with the rules put in: they stay where they are
    return pda if merge else PDA(pda.grammar, merge)
