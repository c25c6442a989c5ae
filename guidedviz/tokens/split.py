"""The split of XGrammar (Dong et al., arXiv 2411.15100): most tokens never look at the stack.

From every node of the pushdown machine the trie is walked once, the stack below unknown. Each token is surely legal,
surely illegal, or must ask: its bytes leave the rule of the node, and whether they may go on depends on what lies
below. What is sure is kept node by node; at run time only those that must ask are read, on as few cells of the real
stack as settle them, and the answer holds for all stacks that look alike down to there.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache, partial
from threading import RLock
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from guidedviz.errors import PatternError, SettingError
from guidedviz.machines.inline import inline_rules
from guidedviz.machines.machine import Machine
from guidedviz.machines.pda import PDA, State
from guidedviz.machines.unknown import Unknown
from guidedviz.tokens.ask import ASK as ASK
from guidedviz.tokens.ask import NO as NO
from guidedviz.tokens.ask import YES as YES
from guidedviz.tokens.ask import Asking, ask_stack, merge, single
from guidedviz.tokens.guide import Mask
from guidedviz.tokens.lazy import walked_mask
from guidedviz.tokens.node_split import NodeSplit as NodeSplit
from guidedviz.tokens.node_split import walk_nodes
from guidedviz.tokens.storage import Stored
from guidedviz.tokens.trie import build_trie, walk_any
from guidedviz.tokens.vocabulary import Vocabulary

MOST_ANSWERS = 2**26  # bytes of masks that are remembered
READY = 2**24  # bytes of masks that are made before they are asked for


class Answer(NamedTuple):
    """A mask as far as it is known, and the tokens that are still open."""

    legal: Mask
    asking: Asking


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

    @property
    def standing(self) -> tuple[int, ...]:
        """The nodes at which a text can stand: all but the ends of rules that nothing goes on from."""
        return tuple(node for node in range(len(self.pda.nodes)) if node not in self.pda.nodes.last)

    def node(self, node: int) -> NodeSplit:
        """The split of one node; made when it is first asked for."""
        if node not in self.standing:
            expected = f"a node from 0 to {len(self.pda.nodes) - 1}"
            hint = "one at which a text can stand; see gv.draw_split_nodes"
            raise SettingError("split", seen=f"node {node}", expected=expected, hint=hint)
        with self._kept.lock:
            self._kept.unknown.allow_work()
            return self._kept.node(node)

    def build(self) -> tuple[NodeSplit, ...]:
        """The splits of all nodes at which a text can stand; those that are missing are made by one walk."""
        with self._kept.lock:
            if missing := [node for node in self.standing if node not in self._kept.nodes]:
                self._kept.unknown.allow_work(len(missing))
                self._kept.walk_nodes(missing)
                self._kept.make_ready(missing)
            return tuple(self._kept.nodes[node] for node in self.standing)

    @property
    def nbytes(self) -> int:
        """The memory of what was made so far; nodes of which the same is known share it."""
        return sum({id(array): array.nbytes for array in self._kept.arrays()}.values())

    @property
    def dense_nbytes(self) -> int:
        """The memory of a bit for every node and token."""
        return len(self.standing) * ((len(self.vocabulary) + 7) // 8)

    def mask(self, state: State) -> Mask:
        """True for every id that is legal; read-only."""
        self.pda.is_accepting(state)  # refuses states of other machines
        with self._kept.lock:
            nodes = tuple([node for node, _ in state.tops])
            if self.cache and nodes not in self._kept.tangled:
                try:
                    self._kept.unknown.allow_work()
                    return self._kept.mask(state, nodes)
                except PatternError:  # on a stack that is not known there may be too many ways to read a text
                    self._kept.tangled.add(nodes)
            return self._kept.walk(state)

    def answers(self, state: State) -> npt.NDArray[np.int8]:
        """What the nodes alone say of every id: 0 no, 1 yes, 2 ask the stack."""
        self.pda.is_accepting(state)  # refuses states of other machines
        with self._kept.lock:
            self._kept.unknown.allow_work()
            answer = self._kept.sure(state)
        answers = answer.legal.astype(np.int8)
        answers[answer.asking.tokens] = ASK
        return answers


class _Kept:
    """What a split has found out so far."""

    def __init__(self, split: Split) -> None:
        self.split, self.vocabulary = split, split.vocabulary
        self.trie, self.unknown = build_trie(split.vocabulary), Unknown(split.pda, split.expand)
        self.eos = np.array(sorted(split.vocabulary.eos), dtype=np.intp)
        self.nodes: dict[int, NodeSplit] = {}
        self.stored: dict[tuple[str, bytes], Stored] = {}
        self.asked: dict[tuple[bytes, bytes], Asking] = {}
        self.answers: dict[Hashable, Answer] = {}
        self.tangled: set[tuple[int, ...]] = set()  # nodes from which there are too many ways to read a text
        self.lock = RLock()

    def arrays(self) -> Iterator[npt.NDArray[np.generic]]:
        for part in self.nodes.values():
            yield from (part.sure.data, *part.asking)

    def node(self, node: int) -> NodeSplit:
        if node not in self.nodes:
            self.walk_nodes([node])
        return self.nodes[node]

    def walk_nodes(self, nodes: list[int]) -> None:
        """Their splits; the arrays of nodes that know the same are the same."""
        for part in walk_nodes(self.unknown, self.vocabulary, nodes):
            key = part.asking.tokens.tobytes(), part.asking.group.tobytes()
            sure = self.stored.setdefault((part.sure.kind, part.sure.data.tobytes()), part.sure)
            self.nodes[part.node] = NodeSplit(part.node, sure, self.asked.setdefault(key, part.asking))

    def make_ready(self, nodes: list[int]) -> None:
        """The masks of nodes where nothing asks, as far as there is room."""
        room = READY // len(self.vocabulary)
        answers: dict[Stored, Answer] = {}
        for part in (self.nodes[node] for node in nodes if self.split.remember and not self.nodes[node].ask.size):
            if part.sure not in answers and len(answers) < room:
                legal = np.zeros(len(self.vocabulary), dtype=np.bool_)
                part.sure.put(legal)
                answers[part.sure] = Answer(legal, part.asking)
            if part.sure in answers:
                self.answers[(part.node,), False] = answers[part.sure]

    def sure(self, state: State) -> Answer:
        """The splits of all nodes one can be at, put together: legal at one is legal (Algorithm 1)."""
        legal = np.zeros(len(self.vocabulary), dtype=np.bool_)
        parts = [self.node(node) for node, _ in state.tops]
        for part in parts:
            part.sure.put(legal)
        asking = merge(self.vocabulary, [part.asking for part in parts], legal)
        if not self.split.check:
            legal[asking.tokens], asking = True, single(asking.tokens[:0])
        legal[self.eos] = state.accepting
        return Answer(legal, asking)

    def mask(self, state: State, nodes: tuple[int, ...]) -> Mask:
        """Look one cell deeper until nothing is left to ask."""
        answer, depth = self._recall((nodes, state.accepting), lambda: self.sure(state)), 0
        while answer.asking.tokens.size:
            depth += 1
            start = self.unknown.known(state, depth)
            answer = self._recall((start, state.accepting), partial(self._ask, answer, start))
        answer.legal.flags.writeable = False
        return answer.legal

    def _recall(self, key: Hashable, find: Callable[[], Answer]) -> Answer:
        if not self.split.remember:
            return find()
        if (answer := self.answers.get(key)) is None:
            if len(self.answers) * len(self.vocabulary) > MOST_ANSWERS:
                self.answers.clear()
            answer = self.answers[key] = find()
        return answer

    def _ask(self, before: Answer, start: State) -> Answer:
        """Some of the open tokens are settled by a stack of which more is known."""
        mask, asking = before
        said = ask_stack(self.unknown, self.vocabulary, asking, start)
        if (said == YES).any():
            mask = mask.copy()
            mask[asking.tokens[said == YES]] = True
        return Answer(mask, asking.where(said == ASK))

    def walk(self, state: State) -> Mask:
        """Without the split: the whole trie on the real stack."""
        pda = self.split.pda
        return walked_mask(pda, self.vocabulary, partial(walk_any, self.trie, pda), state)


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
