"""The split of XGrammar (Dong et al., arXiv 2411.15100): the legality of most tokens does not depend on the stack.

The trie is walked from a node of the machine with the stack below *unknown*, and the result is kept per node: tokens
that are legal on every stack, on none, or on some. At run time only the last ones are walked again, on as few cells of
the real stack as decide them.

Next: `tokens/guide.py`.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from itertools import chain, islice
from math import inf
from threading import RLock
from typing import Any

import numpy as np
import numpy.typing as npt

from guidedviz.errors import PatternError, SettingError, expect
from guidedviz.machines.grammars.counted import inline_rules
from guidedviz.machines.machine import Machine
from guidedviz.machines.pushdown.counting import FAR, Bounds, Counts
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.pushdown.stack import State
from guidedviz.machines.pushdown.unknown_bottom import Place, UnknownBottom
from guidedviz.tokens.lazy import Lazy, find_slice
from guidedviz.tokens.trie import Bits, Ids, Ints, Mask, MoveTable, Trie, build_trie, pack, unpack, walk_steps
from guidedviz.tokens.vocabulary import Vocabulary, check_vocabulary

MOST_ANSWERS = 2**26  # bytes of masks that are remembered
FEW = 40  # nodes of the trie; more are walked level by level
REJECTED, ACCEPTED, DEPENDENT = 0, 1, 2
Answers = npt.NDArray[np.int8]  # one of the three per token
AFTER, BETWEEN, WITHIN, UNCLEAR = 0, 1, 2, 3  # where a state is: after the repeat, between two parts, within one


@dataclass(frozen=True, eq=False)
class Stored:
    """A set of tokens in the least memory; `kind` says how `data` is read."""

    kind: str  # "accepted" or "rejected": a list of ids; "bits": a packed mask
    data: Ids | Bits
    count: int  # tokens in the set
    size: int  # of the vocabulary

    def __repr__(self) -> str:
        return f"Stored({self.count:,} of {self.size:,} ids as {self.kind}, {self.data.nbytes:,} bytes)"

    def put(self, mask: Mask) -> None:
        """Set the tokens of the set in a mask."""
        if self.kind == "accepted":
            mask[self.data] = True
        elif self.kind == "rejected":
            kept = mask[self.data]
            mask[:] = True
            mask[self.data] = kept
        else:
            mask |= unpack(self.data.view(np.uint8), self.size)


def store(tokens: Ints, size: int) -> Stored:
    """Store some tokens as a list of ids, as a list of the other ids, or as one bit per id, whichever is smallest.

    >>> ids = np.arange(100)
    >>> store(ids[:2], 100), store(ids[2:], 100), store(ids[::2], 100)
    (Stored(2 of 100 ids as accepted, 8 bytes), Stored(98 of 100 ids as rejected, 8 bytes), \
Stored(50 of 100 ids as bits, 13 bytes))
    """
    count, most = len(tokens), (size + 7) // 8 // 4  # ids that take the memory of the bits
    if count <= most:
        return Stored("accepted", np.sort(tokens).astype(np.int32), count, size)
    mask = np.zeros(size, dtype=np.bool_)
    mask[tokens] = True
    if size - count <= most:
        return Stored("rejected", np.flatnonzero(~mask).astype(np.int32), count, size)
    return Stored("bits", pack(mask), count, size)


@dataclass(frozen=True, eq=False)
class NodeSplit:
    """The split of the vocabulary at one node."""

    node: int
    counts: Counts  # of its rule, if that is counted and a bound is near
    accepted: Stored  # the tokens that are legal on every stack
    dependent: Ids  # the context-dependent tokens in byte order; all others are illegal

    def __repr__(self) -> str:
        no = self.accepted.size - self.accepted.count - len(self.dependent)
        counts = f" after {self.counts}" if self.counts else ""
        told = f"{self.accepted.count:,} accepted, {no:,} rejected, {len(self.dependent):,} context-dependent"
        return f"NodeSplit(node {self.node}{counts}: {told})"

    @property
    def verdicts(self) -> Answers:
        """The verdict on every id: 0 rejected, 1 accepted, 2 context-dependent."""
        accepted = np.zeros(self.accepted.size, dtype=np.bool_)
        self.accepted.put(accepted)
        verdicts = accepted.astype(np.int8)
        verdicts[self.dependent] = DEPENDENT
        return verdicts

    @property
    def nbytes(self) -> int:
        """The memory it takes."""
        return self.accepted.data.nbytes + self.dependent.nbytes


@dataclass(frozen=True, eq=False)
class Answer:
    """A mask as far as it is known, and the tokens that are not decided yet, in byte order."""

    legal: Mask
    undecided: Ids
    vocabulary: Vocabulary

    @cached_property
    def trie(self) -> Trie:
        """The trie of the undecided tokens."""
        pieces = [self.vocabulary.pieces[token] for token in self.undecided.tolist()]
        return build_trie(pieces, np.arange(len(pieces), dtype=np.int32))


class Split:
    """A pushdown machine, a vocabulary, and the split of its tokens at every node; a source of masks."""

    def __init__(self, pda: PDA, vocabulary: Vocabulary, expand: bool = True, check: bool = True) -> None:
        self.pda, self.vocabulary = pda, vocabulary
        self.check = check  # decide context-dependent tokens by the stack; without, all of them pass, which is WRONG
        self._unknown = UnknownBottom(pda, expand, longest=len(vocabulary.trie.levels) - 2)
        self._table = MoveTable[State](self._unknown.step, pda.kinds)
        self._nodes: dict[Place, NodeSplit] = {}
        self._repeats: dict[Place, OpenRepeat | None] = {}
        self._shared: dict[Hashable, npt.NDArray[np.generic]] = {}  # equal arrays are stored once
        self._answers: dict[Hashable, Answer] = {}  # they hold for all stacks with the same upper cells
        self._tangled: set[tuple[Place, ...]] = set()  # nodes from which a text on an unknown stack is too ambiguous
        self._lazy = Lazy(pda, vocabulary)  # there the walk is on the real stack
        self._lock = RLock()

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
        with self._lock, self._unknown.limited():
            return self._node((node, None))

    def build(self) -> tuple[NodeSplit, ...]:
        """The splits of all nodes at which a text can stand."""
        with self._lock, self._unknown.limited(len(self.standing)):
            return tuple(self._node((node, None)) for node in self.standing)

    @property
    def nbytes(self) -> int:
        """The memory of the splits computed so far; equal arrays are shared and count once."""
        arrays = (array for part in self._nodes.values() for array in (part.accepted.data, part.dependent))
        return sum({id(array): array.nbytes for array in arrays}.values())

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

    def answers(self, state: State) -> Answers:
        """The split of every id at the nodes of a state: 0 rejected, 1 accepted, 2 context-dependent."""
        self.pda.places(state)  # refuses states of other machines
        with self._lock, self._unknown.limited():
            answer = self._merge(self._unknown.places(state), state.accepting)
        answers = answer.legal.astype(np.int8)
        answers[answer.undecided] = DEPENDENT
        return answers

    def _node(self, place: Place) -> NodeSplit:
        if place not in self._nodes:
            accepted, dependent = self._split(place)
            stored = store(accepted, len(self.vocabulary))
            stored = replace(stored, data=self._share(stored.kind, stored.data))
            self._nodes[place] = NodeSplit(*place, stored, self._share("dependent", self._in_order(dependent)))
        return self._nodes[place]

    def _split(self, place: Place) -> tuple[Ints, Ints]:
        """The tokens that are legal on every stack, and those that depend on the stack."""
        start, trie, whole = self._unknown.at(*place), self.vocabulary.trie, self.vocabulary.trie.nodes[:0]
        few = list(islice(walk_steps(trie, self._unknown, start, self._unknown.reads), FEW + 1))
        if len(few) <= FEW:
            nodes = np.array([node for node, _ in few], dtype=np.intp)
            said = np.array([say(state) for _, state in few], dtype=np.int8)
        elif (repeat := self._repeat(*place)) and (found := repeat.split(place[1])):
            return found
        else:
            whole, trie, nodes, labels = walk_open(self._unknown, self._table, self.vocabulary, start)
            said = self._table.say(labels, say)
        tokens, said = trie.tokens(nodes, said)
        return np.concatenate((whole, tokens[said == ACCEPTED])), tokens[said == DEPENDENT]

    def _repeat(self, node: int, counts: Counts) -> "OpenRepeat | None":
        key = (node, None) if self.pda.nodes.counts[self.pda.nodes.rule_of[node]] else (node, counts)
        if key not in self._repeats:
            self._repeats[key] = read_repeat(self._unknown, self._table, self.vocabulary, *key)
        return self._repeats[key]

    def _in_order(self, tokens: Ints) -> Ids:
        return tokens[np.argsort(self.vocabulary.rank[tokens])].astype(np.int32)

    def _share(self, kind: str, data: Ids | Bits) -> Any:
        return self._shared.setdefault((kind, data.tobytes()), data)

    def _merge(self, places: tuple[Place, ...], accepting: bool) -> Answer:
        """Merge the splits of all nodes of a state: a token legal at one of them is legal (Algorithm 1)."""
        parts = [self._node(place) for place in places]
        legal, undecided = np.zeros(len(self.vocabulary), dtype=np.bool_), np.zeros(0, dtype=np.int32)
        for part in parts:
            part.accepted.put(legal)
        if len(parts) == 1:
            undecided = parts[0].dependent
        elif len(parts) > 1:
            dependent = np.zeros_like(legal)
            dependent[np.concatenate([part.dependent for part in parts])] = True
            undecided = self._in_order(np.flatnonzero(dependent & ~legal))
        if not self.check:
            legal[undecided], undecided = True, undecided[:0]
        return Answer(self.vocabulary.with_eos(legal, accepting), undecided, self.vocabulary)

    def _decide(self, state: State, places: tuple[Place, ...]) -> Mask:
        """Look one cell deeper into the stack until every token is decided."""
        answer, depth = self._recall((places, state.accepting), partial(self._merge, places, state.accepting)), 0
        while answer.undecided.size:
            depth += 1
            start = self._unknown.known(state, depth)
            answer = self._recall((start, state.accepting), partial(self._ask, answer, start))
        return answer.legal

    def _recall(self, key: Hashable, find: Callable[[], Answer]) -> Answer:
        if (answer := self._answers.get(key)) is None:
            if len(self._answers) * len(self.vocabulary) > MOST_ANSWERS:
                self._answers.clear()
            answer = self._answers[key] = find()
        return answer

    def _ask(self, before: Answer, start: State) -> Answer:
        """Decide tokens on a stack of which more is known."""
        legal, said = before.legal, np.zeros(len(before.undecided), dtype=np.int8)
        nodes, labels = self._table.walk(before.trie, start)
        tokens, found = before.trie.tokens(nodes, self._table.say(labels, say))
        said[tokens] = found
        if (said == ACCEPTED).any():
            legal = legal.copy()
            legal[before.undecided[said == ACCEPTED]] = True
            legal.flags.writeable = False
        return Answer(legal, before.undecided[said == DEPENDENT], self.vocabulary)


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


# Counted repeats, such as a string of at most 40 characters: their tokens are found once for all counts.
#
# The trie is walked as if the repeat could go on and end after every part. Each token then has a number of parts, and
# after a given count those are legal that fit between the bounds.


def say(state: State | None) -> int:
    """Whether the bytes that led to a state of a partly known stack are legal."""
    return REJECTED if state is None else ACCEPTED if state.sure else DEPENDENT


def walk_open(
    unknown: UnknownBottom, table: MoveTable[State], vocabulary: Vocabulary, start: State
) -> tuple[Ints, Trie, Ints, Ints]:
    """Walk from a state of a partly known stack: the tokens of a slice that is legal on every stack, then the walk.

    The walk is of the other tokens: their trie, its live nodes, and the label of each.
    """
    part = find_slice(unknown.sure_step, unknown.kinds, vocabulary, start)
    trie, whole = (part.rest, part.tokens) if part else (vocabulary.trie, vocabulary.trie.nodes[:0])
    return whole, trie, *table.walk(trie, start)


@dataclass(frozen=True, eq=False)
class OpenRepeat:
    """The tokens that are live at the start of a counted repeat; the same for all counts."""

    tokens: Ints
    said: Answers
    inside: Mask  # per token: whether it ends in the repeat
    parts: Ints  # the parts that it begins, or of one that leaves the repeat the parts before that
    bounds: Bounds
    called: bool  # whether the repeat is called at the node; otherwise the node is where its part begins

    def split(self, counts: Counts) -> tuple[Ints, Ints] | None:
        """The legal and the context-dependent tokens after these counts; None if there are several."""
        low, high = float(self.bounds.low), inf if self.bounds.high is None else float(self.bounds.high)
        if not self.called:
            if counts is None:
                low, high = 0, inf
            elif len(counts) > 1 or counts[0][0] != counts[0][1]:
                return None
            else:
                done = counts[0][0]
                low, high = (inf, inf) if done == FAR else (low - done, high - done)
            low = max(low, 1)  # the end before the next part is another node
        fits = (self.parts <= high) & (self.inside | (self.parts >= low))
        return self.tokens[fits & (self.said == ACCEPTED)], self.tokens[fits & (self.said == DEPENDENT)]


def read_repeat(
    unknown: UnknownBottom, table: MoveTable[State], vocabulary: Vocabulary, node: int, counts: Counts
) -> OpenRepeat | None:
    """The tokens at the start of a repeat or at its call; None if there is none, or if a text has several counts.

    >>> unknown = UnknownBottom(gv.grammar('root ::= "<" [a-z]{0,5000} ">" "!"'))
    >>> table = MoveTable(unknown.step, unknown.kinds)
    >>> repeat = read_repeat(unknown, table, gv.Vocabulary([b"a", b"ab", b"b>!", b"b>>"]), 5, None)
    >>> for counts in (None, ((4999, 4999),)):
    ...     print(*repeat.split(counts))
    [0 1] [2]
    [0] [2]
    """
    if (found := unknown.start_repeat(node, counts)) is None:
        return None
    rule, start = found
    bounds = unknown.nodes.counts[rule]
    assert isinstance(bounds, Bounds)
    whole, trie, nodes, labels = walk_open(unknown, table, vocabulary, start)
    place = table.say(labels, lambda state: _find_place(unknown, rule, state) if state else AFTER)
    if (place == UNCLEAR).any():
        return None
    place[0] = WITHIN  # at the root no part is complete
    left, between = np.zeros((2, len(trie)), dtype=np.intp)
    left[nodes], between[nodes] = place == AFTER, place == BETWEEN
    inside = trie.sum_down(left) == 0
    parts = trie.sum_down(between * inside)
    parts[nodes] += place == WITHIN
    tokens, order = trie.tokens(nodes, np.arange(1, len(nodes) + 1))  # no label is 0
    at = nodes[order - 1]
    begun = parts[at] + vocabulary.trie.characters[tokens] - trie.characters[tokens]  # a slice reads one per character
    return OpenRepeat(
        np.concatenate((whole, tokens)),
        np.concatenate((np.full(len(whole), ACCEPTED, dtype=np.int8), table.say(labels, say)[order - 1])),
        np.concatenate((np.ones(len(whole), dtype=np.bool_), inside[at])),
        np.concatenate((vocabulary.trie.characters[whole], begun)),
        bounds,
        unknown.nodes.rule_of[node] != rule,
    )


def _find_place(unknown: UnknownBottom, rule: int, state: State) -> int:
    """Where a state is; unclear if it is at two places of the repeat, or if a byte goes on both in it and after it."""
    nodes = unknown.nodes
    here = [
        (node, cells)
        for node, cells in state.tops
        if nodes.rule_of[node] == rule and any(cell.rule == rule and cell.counts is None for cell in cells)
    ]
    if not here:
        return AFTER
    ((node, cells), *others) = here
    after = (unknown.reads_at(other) for other, _ in state.tops if other != node)
    if others or len(cells) > 1 or not unknown.reads_at(node).isdisjoint(chain.from_iterable(after)):
        return UNCLEAR
    return BETWEEN if node in nodes.starts else WITHIN
