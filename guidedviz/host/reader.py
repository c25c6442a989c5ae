"""Read texts of several students in one forward pass, each from the longest prefix that is kept.

A pass reads a limited number of new tokens: a long text is read in parts, one per pass.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from guidedviz.host.metrics import TEXTS, Counts, Histogram
from guidedviz.host.prefixes import Prefix, Prefixes
from guidedviz.models.language_model import Network
from guidedviz.models.model import Array
from guidedviz.tokens.arrays import Ids

PASS_TOKENS = 256  # new tokens per pass; 32 times as many on a GPU


@dataclass(eq=False)
class WantedText:
    """A text whose logits are wanted from place `start` on."""

    tokens: Ids
    start: int
    prefix: Prefix | None = None
    rows: list[Array] = field(default_factory=list)

    def next_part(self, most: int) -> tuple[Ids, bool]:
        """The tokens that the next pass reads, and whether a row is wanted for each of them."""
        done = 0 if self.prefix is None else len(self.prefix.tokens)
        every = done >= self.start and self.start < len(self.tokens) - 1
        end = len(self.tokens) if every or self.start == len(self.tokens) - 1 else self.start
        return self.tokens[done : min(end, done + most)], every

    @property
    def done(self) -> bool:
        """Whether the whole text was read."""
        return self.prefix is not None and len(self.prefix.tokens) == len(self.tokens)

    @property
    def key(self) -> tuple[bytes, int]:
        """Equal for texts that want the same."""
        return self.tokens.tobytes(), self.start


class PassReader:
    """A network and the prefixes that it has read."""

    def __init__(self, network: Network, cache: int) -> None:
        self.network, self.prefixes = network, Prefixes(network, cache)
        self.pass_tokens = PASS_TOKENS if "cuda" not in network.device else 32 * PASS_TOKENS
        self.passes = self.tokens = 0
        self.seconds, self.sizes = 0.0, Histogram(TEXTS)
        self._lock = threading.Lock()

    def read(self, texts: Sequence[WantedText]) -> None:
        """One turn: a pass for the texts that want their last row, and one for those that want every row."""
        with self._lock:
            began = time.thread_time()
            self._find([text for text in texts if text.prefix is None])
            ready = [text for text in texts if text.prefix is not None]
            parts = [(text, *text.next_part(max(1, self.pass_tokens // len(ready)))) for text in ready]
            for every in (False, True):
                self._pass([(text, part) for text, part, wanted in parts if wanted == every], every)
            for text in ready:
                if text.done and text.prefix:
                    self.prefixes.keep(text.prefix)
            self._copy_to_twins(texts)
            self.seconds += time.thread_time() - began

    def counts(self) -> Counts:
        """What was read so far."""
        kept, name = self.prefixes, "prefix_tokens_total"
        counts = {"passes_total": float(self.passes), "tokens_read_total": float(self.tokens)}
        counts |= {
            "pass_cpu_seconds_total": self.seconds,
            "prefix_bytes": float(kept.nbytes),
            "prefixes": float(len(kept)),
        }
        counts |= {f'{name}{{found="yes"}}': float(kept.hits), f'{name}{{found="no"}}': float(kept.misses)}
        return counts | self.sizes.counted("pass_texts")

    def _find(self, fresh: Sequence[WantedText]) -> None:
        """Give each text its prefix; of several that want the same, only to the first."""
        firsts = [*{text.key: text for text in reversed(fresh)}.values()]
        found = self.prefixes.find([(text.tokens, text.start) for text in firsts])
        for text, prefix in zip(firsts, found, strict=True):
            text.prefix = prefix

    @staticmethod
    def _copy_to_twins(texts: Sequence[WantedText]) -> None:
        """A text that wants the same as one that was read gets its rows."""
        known = {text.key: text for text in texts if text.done}
        for text in texts:
            if text.prefix is None and (twin := known.get(text.key)):
                text.prefix, text.rows = twin.prefix, twin.rows

    def _pass(self, parts: list[tuple[WantedText, Ids]], every: bool) -> None:
        if not parts:
            return
        caches = [text.prefix.cache for text, _ in parts if text.prefix]
        rows = self.network.read(caches, [part.tolist() for _, part in parts], every)
        self.passes += 1
        self.tokens += sum(len(part) for _, part in parts)
        self.sizes.add(len(parts))
        for (text, part), found in zip(parts, rows, strict=True):
            if text.prefix:
                text.prefix.tokens = np.concatenate([text.prefix.tokens, part])
            if every or text.done:
                text.rows.append(found)
