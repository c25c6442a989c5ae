"""The walk of the trie with torch tensors: all states of a machine in parallel, one level of the trie after the other.

Without byte kinds and shortcuts, it looks up table[state, byte] for every pair of state and node, which suits a GPU.
A machine with a stack has no such table, as the stack is unbounded. But tokens are finite and reach few states. These
are found on the CPU; then the nodes of a split are walked like the states of any other machine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from guidedviz.errors import SettingError
from guidedviz.extras import need
from guidedviz.machines.pushdown.open_stack import OpenStack
from guidedviz.machines.pushdown.stacks import State
from guidedviz.machines.regular.dfa import DFA
from guidedviz.tokens.arrays import Ids
from guidedviz.tokens.move_table import MoveTable, build_table
from guidedviz.tokens.split.context import say
from guidedviz.tokens.split.split import Split
from guidedviz.tokens.vocabulary import Vocabulary


@dataclass(frozen=True)
class SplitMoves:
    """The states that the nodes of a split reach in a trie, as a table; label 0 is dead."""

    table: Ids  # table[label, byte]
    starts: Ids  # the label of each node
    said: npt.NDArray[np.int8]  # per label: the answer for the bytes that led to it


def find_moves(split: Split) -> SplitMoves:
    """Find the moves of a walk from every node of a split.

    >>> vocabulary = gv.Vocabulary([b"(", b")", b"x", b"x)"])
    >>> moves = find_moves(gv.build_split(gv.grammar('root ::= "(" root ")" | "x"'), vocabulary))
    >>> TensorWalk(vocabulary, "cpu").answers(moves).tolist()
    [[1, 0, 1, 2], [1, 0, 1, 1], [0, 1, 0, 0]]
    """
    unknown = OpenStack(split.pda, split.expand)
    moves, trie = MoveTable[State](unknown), split.vocabulary.trie
    begun = [unknown.at(node) for node in split.standing]
    unknown.allow_work(len(begun))
    for state in begun:
        moves.walk(trie, state)
    starts = np.array([moves.labels[state] for state in begun], dtype=np.int32)
    return SplitMoves(moves.dense(), starts, np.array(list(map(say, moves.states)), dtype=np.int8))


class TensorWalk:
    """A vocabulary's trie on a device.

    >>> TensorWalk(gv.Vocabulary([b"3", b".", b"42", b"</s>"], eos={3}), "cpu").masks(gv.regex("[0-9]+")).tolist()
    [[True, False, True, False], [True, False, True, True]]
    """

    def __init__(self, vocabulary: Vocabulary, device: str) -> None:
        self.torch, self.device = find_device(device)
        trie = vocabulary.trie
        parent, byte, self.node_of = map(self._send, (trie.parent, trie.byte, trie.node_of))
        self.eos = self._send(sorted(vocabulary.eos)).long()
        self.nodes = len(trie)
        ends = zip(trie.levels, trie.levels[1:], trie.levels[2:], strict=False)
        self.levels = [(parent[low:high] - above, byte[low:high].long()) for above, low, high in ends]

    def _send(self, numbers: Any) -> Any:
        return self.torch.as_tensor(numbers, device=self.device)

    def masks(self, machine: DFA) -> Any:
        """One row per state, one bool per token."""
        table = self._send(build_table(machine))
        masks = self.walk(table, self.torch.arange(1, len(table), device=self.device, dtype=table.dtype)) > 0
        masks[self.eos] = self._send([machine.is_accepting(state) for state in range(len(machine))])
        return masks.T.contiguous()

    def answers(self, moves: SplitMoves) -> Any:
        """One row per node of a split, one answer per token: 0 no, 1 yes, 2 depends on the stack."""
        table, starts, said = map(self._send, (moves.table, moves.starts, moves.said))
        return said[self.walk(table, starts).long()].T.contiguous()

    def walk(self, table: Any, starts: Any) -> Any:
        """The label after every token from every start, 0 if it is dead: one row per token."""
        found = self.torch.zeros((self.nodes + 1, len(starts)), dtype=table.dtype, device=self.device)
        labels, low = starts[None], 1
        for parent, byte in self.levels:
            labels = table[labels[parent].long(), byte[:, None]]
            found[low : low + len(labels)] = labels
            low += len(labels)
            if not labels.any():
                break
        return found[self.node_of]

    def time(self, work: Callable[[], Any], rounds: int) -> float:
        """The median seconds of work on the device; the first round is not counted."""
        clock = self._cuda_clock if self.device.startswith("cuda") else self._clock
        return median([clock(work) for _ in range(rounds + 1)][1:])

    def _clock(self, work: Callable[[], Any]) -> float:
        began = perf_counter()
        work()
        return perf_counter() - began

    def _cuda_clock(self, work: Callable[[], Any]) -> float:
        began, ended = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.torch.cuda.synchronize()
        began.record()
        work()
        ended.record()
        self.torch.cuda.synchronize()
        return float(began.elapsed_time(ended)) / 1000


def find_device(name: str) -> tuple[Any, str]:
    """torch and the name of the device; an error if either is missing."""
    torch = need("torch", "hub", "device")
    if name.startswith("cuda") and not torch.cuda.is_available():
        raise SettingError("device", seen="no CUDA device", expected=name, hint="--device cpu")
    try:
        torch.zeros(1, device=name)
    except RuntimeError as error:
        raise SettingError("device", seen=str(error).splitlines()[0], expected="cpu or cuda") from None
    return torch, name
