"""The walk as torch tensors: all states of a machine go down the trie side by side, a level at a time.

No kinds and no short cuts, only table[state, byte] for every pair of state and node: what a wide device likes.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

from guidedviz.errors import SettingError
from guidedviz.machines.dfa import DFA
from guidedviz.tokens.kinds import build_table
from guidedviz.tokens.trie import build_trie
from guidedviz.tokens.vocabulary import Vocabulary


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
        labels = self.torch.arange(1, len(table), device=self.device, dtype=table.dtype)[None]
        live = self.torch.zeros((self.nodes + 1, len(machine)), dtype=self.torch.bool, device=self.device)
        low = 1
        for parent, byte in self.levels:
            labels = table[labels[parent].long(), byte[:, None]]
            live[low : low + len(labels)] = labels > 0
            low += len(labels)
            if not live[low - len(labels) : low].any():
                break
        masks = live[self.node_of]
        masks[self.eos] = self._send([machine.is_accepting(state) for state in range(len(machine))])
        return masks.T.contiguous()

    def time(self, machine: DFA, rounds: int) -> float:
        """Seconds of one walk from all states, the median; the first does not count."""
        clock = self._cuda_clock if self.device.startswith("cuda") else self._clock
        return median([clock(lambda: self.masks(machine)) for _ in range(rounds + 1)][1:])

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
