"""Collect the requests of many students for common passes, and read each text from the longest prefix that is kept.

A pass takes at most one text per student, in turns: no student's burst delays the others. A text that is read in parts
has its next turn in the next pass. A pass begins at most `wait` seconds after the first text arrived. While a pass
runs, the next one collects.
"""

import asyncio
import hashlib
import threading
from collections import OrderedDict, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from guidedviz.errors import ModelError
from guidedviz.extras import installed
from guidedviz.models.chat import Messages, Prompt
from guidedviz.models.frames import PROTOCOL, Ask, pack_ids, pack_rows, pack_vocabulary
from guidedviz.models.model import Array, LanguageModel, Network
from guidedviz.tokens.trie import Ids

# The beginnings of texts that were read, with their keys and values; bounded in bytes and shared between students.
#
# A text is found by its own digest, or by the digests of its first 1, 2, 4, 8, 16, 32, 48, ... tokens. So what was read
# for one student also serves another with the same prompt: the cache is copied up to the last shared token.


BLOCK = 16  # tokens per digest
TRIED = 8  # prefixes with the same digest that are compared, the newest first


@dataclass
class Prefix:
    """The tokens that a cache has read, and its bytes when it was kept."""

    tokens: Ids
    cache: Any
    nbytes: int = 0


class Prefixes:
    """The prefixes that are kept, the one used last at the end."""

    def __init__(self, network: Network, most: int) -> None:
        self.network, self.most, self.nbytes = network, most, 0
        self.hits = self.misses = 0  # tokens that were found, and tokens that had to be read
        self._kept: OrderedDict[int, Prefix] = OrderedDict()
        self._whole: dict[bytes, int] = {}
        self._places: dict[bytes, OrderedDict[int, None]] = {}  # digest -> the prefixes that begin so
        self._next = 0

    def __len__(self) -> int:
        return len(self._kept)

    def find(self, wanted: Sequence[tuple[Ids, int]]) -> list[Prefix]:
        """For each text the longest prefix that is kept, at most so many tokens, with a cache of its own.

        A prefix that one text continues is taken out of the store; all other texts get copies.
        """
        found = [self._longest(tokens, most) for tokens, most in wanted]
        asked = [number for number, _ in found]
        out = []
        for (tokens, _), (number, shared) in zip(wanted, found, strict=True):
            kept = self._kept.get(number)
            if kept is None or shared < len(kept.tokens) or asked.count(number) > 1:
                kept = self._copy(kept, shared)
            self.hits += len(kept.tokens)
            self.misses += len(tokens) - len(kept.tokens)
            out.append(kept)
        for number, prefix in zip(asked, out, strict=True):
            if self._kept.get(number) is prefix:
                self._drop(number)
        return out

    def keep(self, prefix: Prefix) -> None:
        """Keep a prefix; those used longest ago make room for it."""
        if (same := self._whole.get(prefix.tokens.tobytes())) is not None:
            self._drop(same)
        number, self._next = self._next, self._next + 1
        self._kept[number], self._whole[prefix.tokens.tobytes()] = prefix, number
        for place in digests(prefix.tokens):
            self._places.setdefault(place, OrderedDict())[number] = None
        prefix.nbytes = int(prefix.cache.nbytes) + prefix.tokens.nbytes
        self.nbytes += prefix.nbytes
        while self.nbytes > self.most and self._kept:
            self._drop(next(iter(self._kept)))

    def _copy(self, kept: Prefix | None, shared: int) -> Prefix:
        """A copy of the beginning of a prefix; an empty one if there is none, or if it cannot be cropped."""
        cache = self.network.fork(kept.cache, shared) if kept and shared else None
        if kept is None or cache is None:
            return Prefix(np.empty(0, np.int32), self.network.new_cache())
        return Prefix(kept.tokens[:shared], cache)

    def _longest(self, tokens: Ids, most: int) -> tuple[int, int]:
        """The number of the prefix that shares the most tokens with a text, and how many; -1 if there is none."""
        whole = self._whole.get(tokens[:most].tobytes())
        if whole is not None:
            self._kept.move_to_end(whole)
            return whole, most
        place = next((place for place in reversed([*digests(tokens[:most])]) if place in self._places), None)
        if place is None:
            return -1, 0
        tried = [number for _, number in zip(range(TRIED), reversed(self._places[place]), strict=False)]
        shared, number = max((min(most, shared_ids(self._kept[n].tokens, tokens)), n) for n in tried)
        self._kept.move_to_end(number)
        return number, shared

    def _drop(self, number: int) -> None:
        prefix = self._kept.pop(number)
        self.nbytes -= prefix.nbytes
        del self._whole[prefix.tokens.tobytes()]
        for place in digests(prefix.tokens):
            del self._places[place][number]
            if not self._places[place]:
                del self._places[place]


def digests(tokens: Ids) -> Iterator[bytes]:
    """A digest of the first 1, 2, 4, 8, 16, 32, 48, ... tokens.

    >>> len([*digests(np.zeros(50, np.int32))])
    7
    """
    digest, begin = hashlib.blake2b(digest_size=16), 0
    for end in (1, 2, 4, 8, *range(BLOCK, len(tokens) + 1, BLOCK)):
        if end > len(tokens):
            return
        digest.update(tokens[begin:end].tobytes())
        begin = end
        yield digest.digest()


def shared_ids(one: Ids, other: Ids) -> int:
    """How many first tokens two texts share.

    >>> shared_ids(np.array([1, 2, 3]), np.array([1, 2, 4, 5]))
    2
    """
    size = min(len(one), len(other))
    differs = np.flatnonzero(one[:size] != other[:size])
    return int(differs[0]) if len(differs) else size


# Read texts of several students in one forward pass, each from the longest prefix that is kept.
#
# A pass reads a limited number of new tokens: a long text is read in parts, one per pass.


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
        self._lock = threading.Lock()

    def read(self, texts: Sequence[WantedText]) -> None:
        """One turn: a pass for the texts that want their last row, and one for those that want every row."""
        with self._lock:
            self._find([text for text in texts if text.prefix is None])
            ready = [text for text in texts if text.prefix is not None]
            parts = [(text, *text.next_part(max(1, self.pass_tokens // len(ready)))) for text in ready]
            for every in (False, True):
                self._pass([(text, part) for text, part, wanted in parts if wanted == every], every)
            for text in ready:
                if text.done and text.prefix:
                    self.prefixes.keep(text.prefix)
            self._copy_to_twins(texts)

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
        for (text, part), found in zip(parts, rows, strict=True):
            if text.prefix:
                text.prefix.tokens = np.concatenate([text.prefix.tokens, part])
            if every or text.done:
                text.rows.append(found)


WAIT = 0.002  # seconds
MOST = 32  # texts per pass


@dataclass(eq=False)
class Job:
    """A request, the one who waits for its answer, and how far it is."""

    answer: asyncio.Future[bytes]
    text: WantedText


class Turns:
    """The jobs that wait, per student; students take turns.

    >>> turns = Turns()
    >>> for student, job in [("Ada", 1), ("Ada", 2), ("Bob", 3), ("Eve", 4)]:
    ...     turns.add(student, job)
    >>> turns.take(2), turns.take(9)
    ([('Ada', 1), ('Bob', 3)], [('Eve', 4), ('Ada', 2)])
    """

    def __init__(self) -> None:
        self._queues: OrderedDict[str, deque[Any]] = OrderedDict()
        self.count = 0

    def add(self, student: str, job: Any, first: bool = False) -> None:
        """Add a job at the end of the student's queue, or at its beginning."""
        queue = self._queues.setdefault(student, deque())
        (queue.appendleft if first else queue.append)(job)
        self.count += 1

    def take(self, most: int) -> list[tuple[str, Any]]:
        """The jobs whose turn it is: at most so many, and at most one per student."""
        out: list[tuple[str, Any]] = []
        for _ in range(min(most, len(self._queues))):
            student, queue = self._queues.popitem(last=False)
            out.append((student, queue.popleft()))
            if queue:
                self._queues[student] = queue
        self.count -= len(out)
        return out


# What a host asks of its model: a card, a vocabulary, tokens of a text, and rows of logits.


MB = 1 << 20
CACHE = 256 * MB  # of prefixes
Card = dict[str, Any]


class Engine:
    """A model of this process. One thread runs its passes, another one tokenizes."""

    def __init__(self, model: LanguageModel, cache: int = CACHE) -> None:
        self.model, self.reader = model, PassReader(model.network, cache)
        self.card, self.words = make_card(model), pack_vocabulary(model.vocabulary)
        self.turns, self.wait = Turns(), WAIT
        self._running: asyncio.Task[None] | None = None
        self._passes, self._encoder = (ThreadPoolExecutor(1, f"guidedviz-{job}") for job in ("pass", "encode"))

    @property
    def waiting(self) -> int:
        """How many texts wait for a pass."""
        return self.turns.count

    async def encode(self, text: str) -> bytes:
        """The tokens of a text."""
        return pack_ids(await asyncio.get_running_loop().run_in_executor(self._encoder, self.model.encode, text))

    async def chat(self, messages: Messages) -> Prompt:
        """The prompt of messages."""
        return await asyncio.get_running_loop().run_in_executor(self._encoder, self.model.chat, messages)

    async def rows(self, student: str, ask: Ask) -> bytes:
        """The rows of logits that a request wants, as bytes."""
        loop = asyncio.get_running_loop()
        job = Job(loop.create_future(), WantedText(np.array(ask.tokens, np.int32), ask.first))
        self.turns.add(student, job)
        if self._running is None or self._running.done():
            self._running = loop.create_task(self._run())
        return await job.answer

    def close(self) -> None:
        """End the threads."""
        for thread in (self._passes, self._encoder):
            thread.shutdown(wait=False, cancel_futures=True)

    async def _run(self) -> None:
        """Take turns while jobs wait."""
        if self.turns.count < MOST:
            await asyncio.sleep(self.wait)
        while self.turns.count:
            taken = [(student, job) for student, job in self.turns.take(MOST) if not job.answer.done()]
            jobs = [job for _, job in taken]
            try:
                answers = await asyncio.get_running_loop().run_in_executor(self._passes, self._read, jobs)
            except Exception as error:  # one turn fails; the host goes on
                seen = "out of memory" if isinstance(error, MemoryError) else type(error).__name__
                for job in jobs:
                    if not job.answer.done():
                        said = ModelError("the host's model", seen=seen, expected="a pass that succeeds")
                        job.answer.set_exception(said)
                continue
            for (student, job), answer in reversed([*zip(taken, answers, strict=True)]):
                if answer and not job.answer.done():
                    job.answer.set_result(answer)
                elif not job.answer.done():  # a part of the text is left
                    self.turns.add(student, job, first=True)

    def _read(self, jobs: list[Job]) -> list[bytes]:
        """One turn of the reader; gives the answers of the texts that are done, and nothing for the others."""
        self.reader.read([job.text for job in jobs])
        return [pack_rows(np.concatenate(job.text.rows)) if job.text.done else b"" for job in jobs]


def make_card(model: LanguageModel) -> Card:
    """What a student's client has to know of a model."""
    words = model.vocabulary.fingerprint
    about = f"{model.name} {model.network.weights} {model.context} {words}"
    return {
        "protocol": PROTOCOL,
        "name": model.name,
        "device": model.device,
        "vocabulary": words,
        "size": len(model.vocabulary),
        "context": model.context,
        "chat": model.has_template,
        "weights": model.network.weights,
        "version": hashlib.sha256(about.encode()).hexdigest()[:16],
        "guidedviz": installed("guidedviz"),
    }
