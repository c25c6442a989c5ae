"""The split of XGrammar (Dong et al., arXiv 2411.15100): the legality of most tokens does not depend on the stack.

Before decoding, the trie is walked from every node with the stack below unknown; the results are kept per node. At run
time only context-dependent tokens are read, on as few cells of the real stack as decide them.

Next: `tokens/machine_guide.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache, partial
from threading import RLock
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from guidedviz.errors import PatternError, SettingError, expect
from guidedviz.machines.grammars.counted import inline_rules
from guidedviz.machines.machine import Machine
from guidedviz.machines.pushdown.open_stack import OpenStack, Place
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.pushdown.stacks import State
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.split.context import ACCEPTED as ACCEPTED
from guidedviz.tokens.split.context import DEPENDENT as DEPENDENT
from guidedviz.tokens.split.context import REJECTED as REJECTED
from guidedviz.tokens.split.context import Asking, ask_stack, merge, single
from guidedviz.tokens.split.loops import Loop, read_loop
from guidedviz.tokens.split.node_split import NodeSplit as NodeSplit
from guidedviz.tokens.split.node_split import walk_few_nodes, walk_places
from guidedviz.tokens.split.storage import Stored
from guidedviz.tokens.trie import walk_any
from guidedviz.tokens.vocabulary import Vocabulary, check_vocabulary

MOST_ANSWERS = 2**26  # bytes of masks that are remembered
READY = 2**24  # bytes of masks that are computed in advance


class Answer(NamedTuple):
    """A mask as far as it is known, and the tokens that are not decided yet."""

    legal: Mask
    asking: Asking


@dataclass(frozen=True, eq=False)
class Split:
    """A pushdown machine, a vocabulary, and the split of its tokens at every node; a source of masks."""

    pda: PDA
    vocabulary: Vocabulary
    cache: bool = True  # keep the split of each node; without, every mask is a walk of the whole trie
    expand: bool = True  # context expansion: reject tokens that no caller of the rule can continue
    check: bool = True  # check context-dependent tokens on the stack; without, all of them pass, which is WRONG
    remember: bool = True  # keep answers, which hold for all stacks with the same upper cells
    _kept: _Kept = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_kept", _Kept(self))

    def __repr__(self) -> str:
        return f"Split({self.pda!r}, {self.vocabulary!r})"

    @property
    def standing(self) -> tuple[int, ...]:
        """The nodes at which a text can stand: all but the ends of rules without a way on."""
        return tuple(node for node in range(len(self.pda.nodes)) if node not in self.pda.nodes.last)

    def node(self, node: int) -> NodeSplit:
        """The split of one node; it is computed when it is first needed."""
        if node not in self.standing:
            expected = f"a node from 0 to {len(self.pda.nodes) - 1}"
            hint = "one at which a text can stand; see gv.views.draw_split_nodes"
            raise SettingError("split", seen=f"node {node}", expected=expected, hint=hint)
        with self._kept.lock:
            self._kept.unknown.allow_work()
            return self._kept.node((node, None))

    def build(self) -> tuple[NodeSplit, ...]:
        """The splits of all nodes at which a text can stand; missing ones are computed by one walk."""
        with self._kept.lock:
            places: list[Place] = [(node, None) for node in self.standing]
            if missing := [place for place in places if place not in self._kept.nodes]:
                self._kept.unknown.allow_work(len(missing))
                self._kept.walk_places(missing)
                self._kept.make_ready(missing)
            return tuple(self._kept.nodes[place] for place in places)

    @property
    def nbytes(self) -> int:
        """The memory of the splits computed so far; equal arrays are shared and count once."""
        return sum({id(array): array.nbytes for array in self._kept.arrays()}.values())

    @property
    def dense_nbytes(self) -> int:
        """The memory of one bit per node and token."""
        return len(self.standing) * ((len(self.vocabulary) + 7) // 8)

    def mask(self, state: State) -> Mask:
        """True for every id that is legal; read-only."""
        self.pda.places(state)  # refuses states of other machines
        with self._kept.lock:
            places = self._kept.unknown.places(state)
            if self.cache and places not in self._kept.tangled:
                try:
                    self._kept.unknown.allow_work()
                    return self._kept.mask(state, places)
                except PatternError:  # on an unknown stack a text may be too ambiguous to read
                    self._kept.tangled.add(places)
            return self._kept.walk(state)

    def answers(self, state: State) -> npt.NDArray[np.int8]:
        """The split of every id at the nodes of a state: 0 rejected, 1 accepted, 2 context-dependent."""
        self.pda.places(state)  # refuses states of other machines
        with self._kept.lock:
            self._kept.unknown.allow_work()
            answer = self._kept.merge_nodes(self._kept.unknown.places(state), state.accepting)
        answers = answer.legal.astype(np.int8)
        answers[answer.asking.tokens] = DEPENDENT
        return answers


class _Kept:
    """The results of a split so far."""

    def __init__(self, split: Split) -> None:
        self.split, self.vocabulary = split, split.vocabulary
        longest = len(split.vocabulary.trie.levels) - 2  # bytes of a token
        self.unknown = OpenStack(split.pda, split.expand, longest)
        self.nodes: dict[Place, NodeSplit] = {}
        self.loops: dict[int, Loop | None] = {}  # that the nodes lead into
        self.stored: dict[tuple[str, bytes], Stored] = {}
        self.asked: dict[tuple[bytes, bytes], Asking] = {}
        self.answers: dict[Hashable, Answer] = {}
        self.tangled: set[tuple[Place, ...]] = set()  # nodes from which a text is too ambiguous to read
        self.lock = RLock()

    def arrays(self) -> Iterator[npt.NDArray[np.generic]]:
        for part in self.nodes.values():
            yield from (part.accepted.data, *part.asking)

    def node(self, place: Place) -> NodeSplit:
        if place not in self.nodes:
            if found := self._loop(place):
                self.keep(found)
            else:
                self.walk_places([place])
        return self.nodes[place]

    def _loop(self, place: Place) -> NodeSplit | None:
        """The split of a node at which few texts may go on, or which leads into a loop."""
        node, counts = place
        if node not in self.loops:
            if few := walk_few_nodes(self.unknown, self.vocabulary, place):
                return few
            self.loops[node] = read_loop(self.unknown, self.vocabulary, node)
        loop = self.loops[node]
        found = loop.chosen(counts) if loop else None
        return NodeSplit(*place, *found) if found else None

    def walk_places(self, places: list[Place]) -> None:
        """Split these nodes; equal arrays are stored once."""
        for part in walk_places(self.unknown, self.vocabulary, places):
            self.keep(part)

    def keep(self, part: NodeSplit) -> None:
        key = part.asking.tokens.tobytes(), part.asking.group.tobytes()
        sure = self.stored.setdefault((part.accepted.kind, part.accepted.data.tobytes()), part.accepted)
        asking = self.asked.setdefault(key, part.asking)
        self.nodes[part.node, part.counts] = NodeSplit(part.node, part.counts, sure, asking)

    def make_ready(self, places: list[Place]) -> None:
        """Compute the masks of nodes without context-dependent tokens, within the limit."""
        room = READY // len(self.vocabulary)
        answers: dict[Stored, Answer] = {}
        for part in (
            self.nodes[place] for place in places if self.split.remember and not self.nodes[place].dependent.size
        ):
            if part.accepted not in answers and len(answers) < room:
                legal = np.zeros(len(self.vocabulary), dtype=np.bool_)
                part.accepted.put(legal)
                answers[part.accepted] = Answer(legal, part.asking)
            if part.accepted in answers:
                self.answers[((part.node, part.counts),), False] = answers[part.accepted]

    def merge_nodes(self, places: tuple[Place, ...], accepting: bool) -> Answer:
        """Merge the splits of all nodes of a state: a token legal at one of them is legal (Algorithm 1)."""
        legal = np.zeros(len(self.vocabulary), dtype=np.bool_)
        parts = [self.node(place) for place in places]
        for part in parts:
            part.accepted.put(legal)
        asking = merge(self.vocabulary, [part.asking for part in parts], legal)
        if not self.split.check:
            legal[asking.tokens], asking = True, single(asking.tokens[:0])
        legal[list(self.vocabulary.eos)] = accepting
        return Answer(legal, asking)

    def mask(self, state: State, places: tuple[Place, ...]) -> Mask:
        """Look one cell deeper into the stack until every token is decided."""
        answer, depth = self._recall((places, state.accepting), partial(self.merge_nodes, places, state.accepting)), 0
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
        """Decide tokens on a stack of which more is known."""
        mask, asking = before
        said = ask_stack(self.unknown, self.vocabulary, asking, start)
        if (said == ACCEPTED).any():
            mask = mask.copy()
            mask[asking.tokens[said == ACCEPTED]] = True
        return Answer(mask, asking.where(said == DEPENDENT))

    def walk(self, state: State) -> Mask:
        """Walk the whole trie on the real stack."""
        live, _ = walk_any(self.vocabulary.trie, self.split.pda, state)
        return self.vocabulary.with_eos(self.vocabulary.trie.mask(live), state.accepting)


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
    """The split of a pushdown machine, computed node by node when needed; each idea of the paper can be switched off.

    >>> nested = gv.grammar('root ::= "(" root ")" | "[" root "]" | "x"')
    >>> split = gv.build_split(nested, gv.Vocabulary([b"(", b")", b"x", b"x)", b"[x])"]))
    >>> split.build()[0], split.node(0).dependent.tolist()
    (NodeSplit(node 0: 2 accepted, 1 rejected, 2 context-dependent), [4, 3])
    """
    machine: PDA = expect(pda, PDA, "split", "a pushdown machine", "gv.grammar(text)")
    check_vocabulary(vocabulary, "split")
    return Split(split_machine(machine, merge, inline), vocabulary, cache, expand, check, remember)


@lru_cache(maxsize=16)
def split_machine(pda: PDA, merge: bool, inline: bool) -> PDA:
    """The machine whose nodes are split, with or without rule inlining."""
    if inline:
        try:
            return PDA(inline_rules(pda.grammar), merge)
        except PatternError:
            pass  # too large with rules inlined
    return pda if merge else PDA(pda.grammar, merge)
