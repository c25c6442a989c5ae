"""Collect the requests of many students for common passes, and read each text from the longest prefix that is kept.

A pass takes at most one text per student, in turns: no student's burst delays the others. A text that is read in parts
has its next turn in the next pass. A pass begins at most `wait` seconds after the first text arrived. While a pass
runs, the next one collects.
"""

import asyncio
import hashlib
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import numpy as np

from guidedviz.errors import ModelError
from guidedviz.extras import installed
from guidedviz.host.prefixes import Prefixes
from guidedviz.models.chat import Prompt
from guidedviz.models.frames import PROTOCOL, Ask, pack_ids, pack_rows, pack_vocabulary
from guidedviz.models.language_model import LanguageModel, Network
from guidedviz.models.messages import Messages
from guidedviz.models.model import Array
from guidedviz.tokens.arrays import Ids

Found = TypeVar("Found")

# A pass reads a limited number of new tokens: a long text is read in parts, one per pass.

PASS_TOKENS = 256  # new tokens per pass; 32 times as many on a GPU


@dataclass(eq=False)
class WantedText:
    """A text whose logits are wanted from place `start` on, and how many of its tokens were read."""

    tokens: Ids
    start: int
    read: int = 0
    cache: Any = None
    rows: list[Array] = field(default_factory=list)

    def next_part(self, most: int) -> tuple[Ids, bool]:
        """The tokens that the next pass reads, and whether a row is wanted for each of them."""
        whole = len(self.tokens)
        last_alone = self.start == whole - 1
        every = self.read >= self.start and not last_alone
        end = whole if every or last_alone else self.start
        return self.tokens[self.read : min(end, self.read + most)], every

    @property
    def done(self) -> bool:
        """Whether the whole text was read."""
        return self.read == len(self.tokens)


class PassReader:
    """A network and the texts that it has read."""

    def __init__(self, network: Network, cache: int) -> None:
        self.network = network
        self.prefixes = Prefixes(network, cache)
        self.pass_tokens = 32 * PASS_TOKENS if "cuda" in network.device else PASS_TOKENS
        self.passes = 0
        self.tokens = 0  # that were read

    def read(self, texts: Sequence[WantedText]) -> None:
        """One turn: a pass for the texts that want their last row, and one for those that want every row."""
        self._begin([text for text in texts if text.cache is None])
        most = max(1, self.pass_tokens // len(texts))
        parts = [(text, *text.next_part(most)) for text in texts]
        for every in (False, True):
            some = [(text, part) for text, part, wanted in parts if wanted == every]
            self._pass(some, every)
        for text in texts:
            if text.done:
                self.prefixes.keep(text.tokens, text.cache)

    def _begin(self, texts: Sequence[WantedText]) -> None:
        """Give each text the longest beginning that is kept."""
        found = self.prefixes.find([text.tokens[: text.start] for text in texts])
        for text, (read, cache) in zip(texts, found, strict=True):
            text.read = read
            text.cache = cache

    def _pass(self, parts: list[tuple[WantedText, Ids]], every: bool) -> None:
        if not parts:
            return
        caches = [text.cache for text, _ in parts]
        rows = self.network.read(caches, [part.tolist() for _, part in parts], every)
        self.passes += 1
        for (text, part), found in zip(parts, rows, strict=True):
            self.tokens += len(part)
            text.read += len(part)
            if every or text.done:
                text.rows.append(found)


WAIT_FOR_OTHERS = 0.002  # seconds
MOST_TOGETHER = 32  # texts per pass


@dataclass(eq=False)
class Job:
    """A request, the one who waits for its answer, the form of the answer, and how far it is."""

    answer: asyncio.Future[Any]
    text: WantedText
    form: Callable[[Array], Any]


# What a host asks of its model: a card, a vocabulary, tokens of a text, and rows of logits.


MB = 1 << 20
CACHE = 256 * MB  # of prefixes
Card = dict[str, Any]


THREADS = ("pass", "encode", "compile", "mask", "page")


class Engine:
    """A model of this process. A thread each runs its passes, tokenizes, compiles constraints, and computes masks."""

    def __init__(self, model: LanguageModel, cache: int = CACHE) -> None:
        self.model = model
        self.reader = PassReader(model.network, cache)
        self.card = make_card(model)
        self.words = pack_vocabulary(model.vocabulary)
        self.wait = WAIT_FOR_OTHERS
        self.waiting = 0  # texts that are not answered
        self._jobs: deque[Job] = deque()
        self._students: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()  # who has a text among the jobs
        self._running: asyncio.Task[None] | None = None
        self._threads = {name: ThreadPoolExecutor(1, f"guidedviz-{name}") for name in THREADS}

    async def run(self, thread: str, function: Callable[..., Found], *given: Any) -> Found:
        """What a function gives in one of the threads."""
        return await asyncio.get_running_loop().run_in_executor(self._threads[thread], function, *given)

    async def encode(self, text: str) -> bytes:
        """The tokens of a text."""
        return pack_ids(await self.run("encode", self.model.encode, text))

    async def chat(self, messages: Messages, tools: Iterable[Any] = (), think: bool = True) -> Prompt:
        """The prompt of messages."""
        return await self.run("encode", self.model.chat, messages, tools, think)

    async def rows(self, student: str, ask: Ask) -> bytes:
        """The rows of logits that a request wants, as bytes."""
        packed: bytes = await self._read_text(student, ask, pack_rows)
        return packed

    async def row(self, student: str, tokens: tuple[int, ...]) -> Array:
        """The logits of the next token."""
        row: Array = await self._read_text(student, Ask(tokens), lambda rows: rows[-1])
        return row

    async def _read_text(self, student: str, ask: Ask, form: Callable[[Array], Any]) -> Any:
        """The rows of a text in a form; a student's texts are read one after the other."""
        loop = asyncio.get_running_loop()
        mine = self._students.setdefault(student, asyncio.Lock())
        self.waiting += 1
        try:
            async with mine:
                text = WantedText(np.array(ask.tokens, np.int32), ask.first)
                job = Job(loop.create_future(), text, form)
                self._jobs.append(job)
                if self._running is None or self._running.done():
                    self._running = loop.create_task(self._run())
                return await job.answer
        finally:
            self.waiting -= 1

    def close(self) -> None:
        """End the threads."""
        for thread in self._threads.values():
            thread.shutdown(wait=False, cancel_futures=True)

    async def _run(self) -> None:
        """Take turns while jobs wait."""
        if len(self._jobs) < MOST_TOGETHER:
            await asyncio.sleep(self.wait)
        while self._jobs:
            turn = [self._jobs.popleft() for _ in range(min(MOST_TOGETHER, len(self._jobs)))]
            await self._take_turn([job for job in turn if not job.answer.done()])

    async def _take_turn(self, jobs: list[Job]) -> None:
        """One turn in the thread; a text of which a part is left waits for the next one."""
        try:
            answers = await self.run("pass", self._read, jobs)
        except Exception as error:  # one turn fails; the host goes on
            seen = "out of memory" if isinstance(error, MemoryError) else type(error).__name__
            hint = "ask again, for a shorter text or fewer rows"
            failed = ModelError("the host's model", seen=seen, expected="a pass that succeeds", hint=hint)
            for job in jobs:
                if not job.answer.done():
                    job.answer.set_exception(failed)
            return
        for job, answer in zip(jobs, answers, strict=True):
            if job.answer.done():  # nobody waits for it
                continue
            if job.text.done:
                job.answer.set_result(answer)
            else:
                self._jobs.append(job)

    def _read(self, jobs: list[Job]) -> list[Any]:
        """One turn of the reader; gives the answers of the texts that are done, and None for the others."""
        texts: dict[tuple[bytes, int], WantedText] = {}  # jobs that want the same share one
        for job in sorted(jobs, key=lambda job: -job.text.read):
            key = (job.text.tokens.tobytes(), job.text.start)
            job.text = texts.setdefault(key, job.text)
        self.reader.read([*texts.values()])
        return [job.form(np.concatenate(job.text.rows)) if job.text.done else None for job in jobs]


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
