"""The walk as torch tensors: all states of a machine go down the trie side by side, a level at a time.

No kinds and no short cuts, only table[state, byte] for every pair of state and node: what a wide device likes. A stack
has no such table, as it may grow without end; but a token has an end, and the states that a vocabulary meets are few.
They are found on the CPU, and then the nodes of a split walk like the states of any other machine.
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
from guidedviz.machines.dfa import DFA
from guidedviz.machines.pda import State
from guidedviz.machines.unknown import Unknown
from guidedviz.tokens.ask import say
from guidedviz.tokens.kinds import Table, build_table
from guidedviz.tokens.split import Split
from guidedviz.tokens.table import MoveTable
from guidedviz.tokens.trie import build_trie
from guidedviz.tokens.vocabulary import Vocabulary


@dataclass(frozen=True)
class SplitMoves:
    """The states that the nodes of a split meet in a trie, as a table; label 0 is dead."""

    table: Table  # table[label, byte]
    starts: Table  # the label of each node
    said: npt.NDArray[np.int8]  # what each label says of the bytes that led to it


def find_moves(split: Split) -> SplitMoves:
    """Every node walks once, and all that was asked on the way is kept.

    >>> from guidedviz.machines.pda import grammar
    >>> from guidedviz.tokens.split import build_split
    >>> vocabulary = Vocabulary([b"(", b")", b"x", b"x)"])
    >>> moves = find_moves(build_split(grammar('root ::= "(" root ")" | "x"'), vocabulary))
    >>> TensorWalk(vocabulary, "cpu").answers(moves).tolist()
    [[1, 0, 1, 2], [1, 0, 1, 1], [0, 1, 0, 0]]
    """
    unknown = Unknown(split.pda, split.expand)
    moves, trie = MoveTable[State](unknown), build_trie(split.vocabulary)
    begun = [unknown.at(node) for node in split.standing]
    unknown.allow_work(len(begun))
    for state in begun:
        moves.walk(trie, state)
    starts = np.array([moves.labels[state] for state in begun], dtype=np.int32)
    return SplitMoves(moves.dense(), starts, np.array(list(map(say, moves.states)), dtype=np.int8))


class TensorWalk:
    """A vocabulary's trie on a device; it is brought there once.

    >>> from guidedviz.machines.regex import regex
    >>> TensorWalk(Vocabulary([b"3", b".", b"42", b"</s>"], eos={3}), "cpu").masks(regex("[0-9]+")).tolist()
    [[True, False, True, False], [True, False, True, True]]
    """

    def __init__(self, vocabulary: Vocabulary, device: str) -> None:
        self.torch, self.device = find_device(device)
        trie = build_trie(vocabulary)
        parent, byte, self.node_of = map(self._send, (trie.parent, trie.byte, trie.node_of))
        self.eos = self._send(sorted(vocabulary.eos)).long()
        self.nodes = len(trie)
        ends = zip(trie.levels, trie.levels[1:], trie.levels[2:], strict=False)
        self.levels = [(parent[low:high] - above, byte[low:high].long()) for above, low, high in ends]

    def _send(self, numbers: Any) -> Any:
        return self.torch.as_tensor(numbers, device=self.device)

    def masks(self, machine: DFA) -> Any:
        """One row a state, one bool a token."""
        table = self._send(build_table(machine))
        masks = self.walk(table, self.torch.arange(1, len(table), device=self.device, dtype=table.dtype)) > 0
        masks[self.eos] = self._send([machine.is_accepting(state) for state in range(len(machine))])
        return masks.T.contiguous()

    def answers(self, moves: SplitMoves) -> Any:
        """One row a node of a split, for each token what the node says of it: 0 no, 1 yes, 2 ask the stack."""
        table, starts, said = map(self._send, (moves.table, moves.starts, moves.said))
        return said[self.walk(table, starts).long()].T.contiguous()

    def walk(self, table: Any, starts: Any) -> Any:
        """The label to which every token leads from every start, 0 where it is dead: one row a token."""
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
        """Seconds of some work on the device, the median; the first does not count."""
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
    """torch and the device's name; one clear line where either is not here."""
    try:
        import torch
    except ImportError as error:
        raise SettingError(
            "device", seen=f"no torch ({error})", expected="torch", hint="pip install guidedviz"
        ) from None
    if name.startswith("cuda") and not torch.cuda.is_available():
        raise SettingError("device", seen="no CUDA device here", expected=name, hint="--device cpu")
    try:
        torch.zeros(1, device=name)
    except RuntimeError as error:
        raise SettingError("device", seen=str(error).splitlines()[0], expected="cpu or cuda") from None
    return torch, name
