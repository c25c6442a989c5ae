"""The split of XGrammar (Dong et al., arXiv 2411.15100): the legality of most tokens does not depend on the stack.

The trie is walked from a node of the machine with the stack below *unknown*, and the result is kept per node: tokens
that are legal on every stack (accepted), on none (rejected), or on some (context-dependent). At run time only the last
ones are walked again, on as few cells of the real stack as decide them. A *place* is a node of the machine with the
counts of its rule.

Next: `tokens/guide.py`.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from itertools import islice
from threading import RLock
from typing import Any

import numpy as np
import numpy.typing as npt

from guidedviz.errors import PatternError, SettingError, expect
from guidedviz.machines.grammars.rewrite import inline_rules
from guidedviz.machines.machine import Machine
from guidedviz.machines.pushdown.counting import ANY_COUNT, Counts
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.pushdown.stack import State
from guidedviz.machines.pushdown.unknown_bottom import Place, UnknownBottom
from guidedviz.tokens.arrays import Bits, Ids, Ints, Mask, pack, unpack
from guidedviz.tokens.lazy import Lazy
from guidedviz.tokens.trie import Trie, build_trie
from guidedviz.tokens.verdicts import (
    DEPENDENT,
    RepeatTokens,
    SortedTokens,
    Verdicts,
    classify,
    read_repeat,
    sort_tokens,
    walk_unknown,
)
from guidedviz.tokens.vocabulary import Vocabulary, check_vocabulary
from guidedviz.tokens.walk import MoveTable, walk_apart, walk_steps


@dataclass(frozen=True, eq=False)
class Stored:
    """The accepted tokens of a node, in the form that needs the least memory.

    >>> first_two = store(np.array([0, 1]), 100)
    >>> first_two.form, first_two.data.tolist()
    ('accepted', [0, 1])
    >>> all_but_one = store(np.arange(1, 100), 100)
    >>> all_but_one.form, all_but_one.data.tolist()
    ('rejected', [0])

    In the form "accepted" the data are their ids, in "rejected" all other ids, in "bits" a packed mask.
    """

    form: str
    data: Ids | Bits
    count: int  # of the accepted tokens
    size: int  # of the vocabulary

    def __repr__(self) -> str:
        return f"Stored({self.count:,} of {self.size:,} ids as {self.form}, {self.data.nbytes:,} bytes)"

    def allow_in(self, mask: Mask) -> None:
        """Allow these tokens in a mask; the others stay as they are."""
        if self.form == "accepted":
            mask[self.data] = True
        elif self.form == "rejected":
            others = mask[self.data]
            mask[:] = True
            mask[self.data] = others
        else:
            mask |= unpack(self.data.view(np.uint8), self.size)


def store(tokens: Ints, size: int, others: Mask | None = None) -> Stored:
    """Store some tokens as a list of ids, as a list of the other ids, or as one bit per id, whichever is smallest.

    `others`: more tokens, in a new mask.

    >>> ids = np.arange(100)
    >>> store(ids[:2], 100), store(ids[2:], 100), store(ids[::2], 100)
    (Stored(2 of 100 ids as accepted, 8 bytes), Stored(98 of 100 ids as rejected, 8 bytes), \
Stored(50 of 100 ids as bits, 13 bytes))
    """
    most = (size + 7) // 8 // 4  # so many ids of 4 bytes are as large as the bits
    if others is None and len(tokens) <= most:
        return Stored("accepted", np.sort(tokens).astype(np.int32), len(tokens), size)
    mask = np.zeros(size, dtype=np.bool_) if others is None else others
    mask[tokens] = True
    count = int(np.count_nonzero(mask))
    if count <= most:
        return Stored("accepted", np.flatnonzero(mask).astype(np.int32), count, size)
    if size - count <= most:
        return Stored("rejected", np.flatnonzero(~mask).astype(np.int32), count, size)
    return Stored("bits", pack(mask), count, size)


MOST_KEPT_BYTES = 2**26  # of the masks that are kept
MOST_APART = 300  # nodes of the trie at which a text leads elsewhere than free text
FEW = 40  # live nodes of the trie; more are walked level by level
FEW_BEGINNINGS = 9  # first bytes that are live: of digits and texts are more, and many tokens


@dataclass(frozen=True, eq=False)
class NodeSplit:
    """The split of the vocabulary at one node."""

    node: int  # of the machine
    counts: Counts  # how many parts of its rule were read
    accepted: Stored  # the tokens that are legal on every stack
    dependent: Ids  # the context-dependent tokens in byte order; tokens in neither set are illegal

    def __repr__(self) -> str:
        rejected = self.accepted.size - self.accepted.count - len(self.dependent)
        counts = "" if self.counts == ANY_COUNT else f" after {self.counts}"
        told = f"{self.accepted.count:,} accepted, {rejected:,} rejected, {len(self.dependent):,} context-dependent"
        return f"NodeSplit(node {self.node}{counts}: {told})"

    @property
    def verdicts(self) -> Verdicts:
        """The verdict on every id: 0 rejected, 1 accepted, 2 context-dependent."""
        accepted = np.zeros(self.accepted.size, dtype=np.bool_)
        self.accepted.allow_in(accepted)
        verdicts = accepted.astype(np.int8)
        verdicts[self.dependent] = DEPENDENT
        return verdicts

    @property
    def nbytes(self) -> int:
        """The memory it takes."""
        return self.accepted.data.nbytes + self.dependent.nbytes


@lru_cache(maxsize=16)
def build_ordered_trie(pieces: tuple[bytes, ...]) -> Trie:
    """The trie of pieces in byte order, with their indices as ids; kept, as most masks leave the same few undecided."""
    return build_trie(pieces, np.arange(len(pieces), dtype=np.int32))


@dataclass(frozen=True, eq=False)
class PartialMask:
    """A mask as far as it is known, and the tokens that are not decided yet, in byte order."""

    legal: Mask
    undecided: Ids
    vocabulary: Vocabulary

    @cached_property
    def trie(self) -> Trie:
        """The trie of the undecided tokens; in it, the id of a token is its index in `undecided`."""
        return build_ordered_trie(tuple([self.vocabulary.pieces[token] for token in self.undecided.tolist()]))


class Split:
    """A pushdown machine, a vocabulary, and the split of its tokens at every node; a source of masks."""

    def __init__(self, pda: PDA, vocabulary: Vocabulary, expand: bool = True, check: bool = True) -> None:
        self.pda = pda
        self.vocabulary = vocabulary
        self.reads = vocabulary.read_by(pda)  # with the names of special tokens, if the machine reads one
        self.check = check  # decide context-dependent tokens by the stack; without, all of them pass, which is WRONG
        self._unknown = UnknownBottom(pda, expand, longest=self.reads.trie.depth)
        self._table = MoveTable[State](self._unknown.step, pda.kinds, self._unknown.span)
        self._splits: dict[Place, NodeSplit] = {}
        self._repeats: dict[Place, RepeatTokens | None] = {}
        self._shared: dict[Hashable, npt.NDArray[np.generic]] = {}  # equal arrays are stored once
        self._partial: dict[Hashable, PartialMask] = {}  # each holds for all stacks with the same upper cells
        self._tangled: set[tuple[Place, ...]] = set()  # where a text on an unknown stack is too ambiguous to read
        self._lock = RLock()

    def __repr__(self) -> str:
        return f"Split({self.pda!r}, {self.vocabulary!r})"

    @cached_property
    def _lazy(self) -> Lazy:
        """For tangled places: it walks the whole trie on the real stack."""
        return Lazy(self.pda, self.vocabulary)

    @property
    def standing(self) -> tuple[int, ...]:
        """The nodes at which a text can stand: all but those at which no byte is read."""
        return tuple(node for node in range(len(self.pda.nodes)) if node not in self.pda.nodes.byteless)

    def node(self, node: int) -> NodeSplit:
        """The split of one node; it is computed when it is first needed."""
        if node not in self.standing:
            expected = f"a node from 0 to {len(self.pda.nodes) - 1} at which a text can stand"
            hint = "a node of gv.views.draw_split_nodes"
            raise SettingError("split", seen=f"node {node}", expected=expected, hint=hint)
        with self._lock, self._unknown.limited():
            return self._at((node, ANY_COUNT))

    def build(self) -> tuple[NodeSplit, ...]:
        """The splits of all nodes at which a text can stand."""
        with self._lock, self._unknown.limited(len(self.standing)):
            return tuple(self._at((node, ANY_COUNT)) for node in self.standing)

    @property
    def nbytes(self) -> int:
        """The memory of the splits computed so far; equal arrays are shared and count once."""
        return sum(array.nbytes for array in self._shared.values())

    # A mask: the merged splits of the state's nodes, then one cell deeper until every token is decided.

    def mask(self, state: State) -> Mask:
        """True for every id that is legal; read-only."""
        self.pda.places(state)  # refuses states of other machines
        with self._lock:
            places = self._unknown.places(state)
            if places not in self._tangled:
                try:
                    with self._unknown.limited():
                        return self._decide(state, places)
                except PatternError:  # on an unknown stack a text may be too ambiguous to read
                    self._tangled.add(places)
            return self._lazy.mask(state)

    def answers(self, state: State) -> Verdicts:
        """The split of every id at the nodes of a state: 0 rejected, 1 accepted, 2 context-dependent."""
        self.pda.places(state)  # refuses states of other machines
        with self._lock, self._unknown.limited():
            mask = self._merge(self._unknown.places(state), state.accepting)
        verdicts = mask.legal.astype(np.int8)
        verdicts[mask.undecided] = DEPENDENT
        return verdicts

    def _decide(self, state: State, places: tuple[Place, ...]) -> Mask:
        """Look one cell deeper into the stack until every token is decided."""
        mask = self._recall((places, state.accepting), lambda: self._merge(places, state.accepting))
        depth = 0
        while mask.undecided.size:
            depth += 1
            start = self._unknown.cut_to(state, depth)
            mask = self._recall((start, state.accepting), partial(self._decide_more, mask, start))
        return mask.legal

    def _recall(self, key: Hashable, find: Callable[[], PartialMask]) -> PartialMask:
        """The mask that is kept under a key; it is found when it is first needed."""
        mask = self._partial.get(key)
        if mask is None:
            if len(self._partial) * len(self.vocabulary) > MOST_KEPT_BYTES:
                self._partial.clear()
            mask = find()
            self._partial[key] = mask
        return mask

    def _merge(self, places: tuple[Place, ...], accepting: bool) -> PartialMask:
        """Merge the splits of all nodes of a state: a token legal at one of them is legal (the paper's Algorithm 1)."""
        splits = [self._at(place) for place in places]
        legal = np.zeros(len(self.vocabulary), dtype=np.bool_)
        for split in splits:
            split.accepted.allow_in(legal)
        if len(splits) == 1:
            undecided = splits[0].dependent
        else:
            dependent = np.zeros_like(legal)
            for split in splits:
                dependent[split.dependent] = True
            undecided = self._in_order(np.flatnonzero(dependent & ~legal))
        if not self.check:
            legal[undecided] = True
            undecided = undecided[:0]
        return PartialMask(self.reads.with_eos(legal, accepting), undecided, self.reads)

    def _decide_more(self, before: PartialMask, start: State) -> PartialMask:
        """Walk the undecided tokens on a stack of which one more cell is known."""
        found = self._walk_few(before.trie, start)
        if found is None:
            nodes, labels = self._table.walk(before.trie, start)
            found = sort_tokens(*before.trie.tokens(nodes, self._table.judge(labels, classify)))
        accepted, dependent, _ = found  # indices of `undecided`
        legal = before.legal
        if accepted.size:
            legal = legal.copy()
            legal[before.undecided[accepted]] = True
            legal.flags.writeable = False
        return PartialMask(legal, before.undecided[np.sort(dependent)], self.reads)

    # The split of one node: a walk from there with the stack below unknown.

    def _at(self, place: Place) -> NodeSplit:
        if place not in self._splits:
            accepted, dependent, sliced = self._sort_tokens(place)
            stored = store(accepted, len(self.vocabulary), sliced)
            stored = replace(stored, data=self._share(stored.form, stored.data))
            self._splits[place] = NodeSplit(*place, stored, self._share("dependent", self._in_order(dependent)))
        return self._splits[place]

    def _sort_tokens(self, place: Place) -> SortedTokens:
        """The accepted and the context-dependent tokens, by the first of four ways that applies."""
        node, counts = place
        start = self._unknown.at(node, counts)
        text = self._unknown.text_beside(node, counts)
        beside = None if text is None else self._sort_beside(start, text)
        found = beside or self._walk_few(self.reads.trie, start)
        if found is None:
            repeat = self._repeat(node, counts)
            found = None if repeat is None else repeat.after(counts)
        if found is not None:
            return found
        walk = walk_unknown(self._unknown, self._table, self.reads, start)
        tokens, verdicts = walk.trie.tokens(walk.nodes, self._table.judge(walk.labels, classify))
        return sort_tokens(tokens, verdicts, walk.whole_slice)

    def _sort_beside(self, start: State, text: int) -> SortedTokens | None:
        """The tokens of a node of free text, but for those that lead elsewhere from here; None if they are many."""
        trie = self.reads.trie
        walk = walk_apart(trie, self._unknown, start, self._unknown.at(text), self._unknown.differ)
        found = list(islice(walk, MOST_APART + 1))
        if len(found) > MOST_APART:
            return None
        nodes = np.array([node for node, _ in found], dtype=np.intp)
        tokens, order = trie.tokens(nodes, np.arange(1, len(found) + 1))  # `tokens` leaves out the label 0
        judged = np.array([classify(state) for _, state in found], dtype=np.int8)
        verdicts = self._at((text, ANY_COUNT)).verdicts
        verdicts[tokens] = judged[order - 1]
        return sort_tokens(np.arange(len(verdicts)), verdicts)

    def _walk_few(self, trie: Trie, start: State) -> SortedTokens | None:
        """The tokens by a walk from node to node of a trie; None if many nodes are live."""
        if len(trie.children_by(0, self._unknown.reads(start))) > FEW_BEGINNINGS:
            return None
        walk = walk_steps(trie, self._unknown, start, self._unknown.reads)
        found = list(islice(walk, FEW + 1))
        if len(found) > FEW:
            return None
        nodes = np.array([node for node, _ in found], dtype=np.intp)
        verdicts = np.array([classify(state) for _, state in found], dtype=np.int8)
        return sort_tokens(*trie.tokens(nodes, verdicts))

    def _repeat(self, node: int, counts: Counts) -> RepeatTokens | None:
        """What tokens read of the counted repeat that begins or is called at a node; None if there is none."""
        if not self.pda.nodes.calls[node]:  # at the start of the repeat its tokens are the same for all counts
            counts = ANY_COUNT
        key = node, counts
        if key not in self._repeats:
            self._repeats[key] = read_repeat(self._unknown, self._table, self.reads, *key)
        return self._repeats[key]

    def _in_order(self, tokens: Ints) -> Ids:
        """These tokens in byte order."""
        order: Ints = self.reads.rank[tokens].argsort()
        return tokens[order].astype(np.int32)

    def _share(self, form: str, data: Ids | Bits) -> Any:
        """This array, or an equal one of the same form that is stored already."""
        return self._shared.setdefault((form, data.tobytes()), data)


def build_split(
    pda: Machine[Any], vocabulary: Vocabulary, *, inline: bool = True, expand: bool = True, check: bool = True
) -> Split:
    """The split of a pushdown machine, computed node by node when needed; ideas of the paper can be switched off.

    `inline` puts small rules in the place of their calls, `expand` rejects tokens that no caller of a rule can
    continue (context expansion), and `check` decides context-dependent tokens by the stack; without it all of them
    pass, which is WRONG.

    >>> nested = gv.grammar('root ::= "(" root ")" | "[" root "]" | "x"')
    >>> split = gv.build_split(nested, gv.Vocabulary([b"(", b")", b"x", b"x)", b"[x])"]))
    >>> split.build()[0], split.node(0).dependent.tolist()
    (NodeSplit(node 0: 2 accepted, 1 rejected, 2 context-dependent), [4, 3])
    """
    machine: PDA = expect(pda, PDA, "split", "a pushdown machine", "gv.grammar(text)")
    check_vocabulary(vocabulary, "split")
    return Split(inlined(machine) if inline else machine, vocabulary, expand, check)


@lru_cache(maxsize=16)
def inlined(pda: PDA) -> PDA:
    """The machine with small rules in the place of their calls; itself if that is too large."""
    try:
        return PDA(inline_rules(pda.grammar))
    except PatternError:
        return pda
