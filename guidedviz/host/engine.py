"""What a host asks of its model: a card, a vocabulary, tokens of a text, and rows of logits."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np

from guidedviz.extras import installed
from guidedviz.host.batcher import Batcher, Job
from guidedviz.host.metrics import Counts
from guidedviz.host.reader import PassReader, WantedText
from guidedviz.models.frames import Ask, pack_ids, pack_rows, pack_vocabulary
from guidedviz.models.language_model import LanguageModel

MB = 1 << 20
CACHE = 256 * MB  # of prefixes
Card = dict[str, Any]


class Engine(Protocol):
    """A model that answers several requests at once."""

    card: Card
    words: bytes  # the vocabulary

    @property
    def waiting(self) -> int: ...
    async def encode(self, text: str) -> bytes: ...
    async def rows(self, student: str, ask: Ask) -> bytes: ...
    def counts(self) -> dict[str, Counts]: ...  # per process
    def close(self) -> None: ...


class LocalEngine:
    """A model of this process. One thread runs its passes, another one tokenizes."""

    def __init__(self, model: LanguageModel, cache: int = CACHE, name: str = "") -> None:
        self.model, self.reader, self.name = model, PassReader(model.network, cache), name
        self.card, self.words = make_card(model), pack_vocabulary(model.vocabulary)
        self.batcher = Batcher(self._turn)
        self._passes, self._encoder = (ThreadPoolExecutor(1, f"guidedviz-{job}") for job in ("pass", "encode"))

    @property
    def waiting(self) -> int:
        """How many texts wait for a pass."""
        return self.batcher.turns.count

    async def encode(self, text: str) -> bytes:
        """The tokens of a text."""
        return pack_ids(await asyncio.get_running_loop().run_in_executor(self._encoder, self.model.encode, text))

    async def rows(self, student: str, ask: Ask) -> bytes:
        """The logits that a request wants."""
        return await self.batcher.answer(student, ask)

    async def read_all(self, asks: Sequence[Ask]) -> list[bytes]:
        """The logits that several requests want, read together."""
        jobs = [Job(ask, asyncio.get_running_loop().create_future()) for ask in asks]
        while left := [job for job in jobs if not job.body]:
            await self._turn(left)
        return [job.body for job in jobs]

    def counts(self) -> dict[str, Counts]:
        """What was read so far."""
        return {self.name: self.reader.counts()}

    def close(self) -> None:
        """End the threads."""
        for thread in (self._passes, self._encoder):
            thread.shutdown(wait=False, cancel_futures=True)

    async def _turn(self, jobs: list[Job]) -> None:
        await asyncio.get_running_loop().run_in_executor(self._passes, self._read, jobs)

    def _read(self, jobs: list[Job]) -> None:
        """One turn of the reader, and the answers of the texts that are done."""
        texts = []
        for job in jobs:
            job.text = job.text or WantedText(np.array(job.ask.tokens, np.int32), job.ask.first)
            texts.append(job.text)
        self.reader.read(texts)
        for job, text in zip(jobs, texts, strict=True):
            if text.done:
                job.body = pack_rows(np.concatenate(text.rows), job.ask.top)


def make_card(model: LanguageModel) -> Card:
    """What a student's client has to know of a model."""
    words = model.vocabulary.fingerprint
    about = f"{model.name} {model.network.weights} {model.context} {words} {model.vocabulary.tokenizer_size}"
    return {
        "protocol": 1,
        "name": model.name,
        "device": model.device,
        "vocabulary": words,
        "size": len(model.vocabulary),
        "context": model.context,
        "weights": model.network.weights,
        "version": hashlib.sha256(about.encode()).hexdigest()[:16],
        "guidedviz": installed("guidedviz"),
    }
