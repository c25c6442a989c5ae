"""Answer one request of a chat without a socket, a thread or an event loop: a browser tab has none of them for this.

What reads, plans, decodes and writes is what the host uses. Its coroutines wait for nothing here, so each of them ends
with its first step.
"""

from collections.abc import Callable, Coroutine
from contextlib import aclosing
from typing import Any, TypeVar

from guidedviz.decoding.trace import Point
from guidedviz.errors import SettingError, quoted
from guidedviz.host.api.answer import ChoiceWriter, Delta, decode_here
from guidedviz.host.api.forms import ChoicesForm, begin_head, note_ends
from guidedviz.host.api.plan import Guides, TurnPlan, make_ready
from guidedviz.host.api.request import CompletionRequest, read_chat
from guidedviz.host.api.runs import KeptRun, KeptRuns
from guidedviz.host.batcher import Engine
from guidedviz.models.model import Array
from guidedviz.tokens.guide import Guide

Given = TypeVar("Given")


class DirectEngine(Engine):
    """An engine that does everything at once, where it is called."""

    async def run(self, thread: str, function: Callable[..., Given], *given: Any) -> Given:
        """What a function gives."""
        return function(*given)

    async def row(self, student: str, tokens: tuple[int, ...]) -> Array:
        """The logits of the next token."""
        return self.model.logits(tokens)


class DirectDesk:
    """Answers a chat of one person, whole and with one choice."""

    def __init__(self, engine: DirectEngine) -> None:
        self._engine = engine
        self._guides = Guides(engine.model.vocabulary)
        self.runs = KeptRuns()

    def answer(self, body: bytes) -> Any:
        """The answer to the body of /v1/chat/completions."""
        return finish_at_once(self._answer(body))

    async def _answer(self, body: bytes) -> Any:
        wanted = read_chat(body)
        self._check(wanted)
        return await self._write(wanted, *await make_ready(self._engine, self._guides, wanted))

    async def _write(self, wanted: CompletionRequest, plan: TurnPlan, guide: Guide | None, point: Point) -> Any:
        """Decode the answer into a run, which is kept."""
        run = self.runs.keep(KeptRun("", wanted.share, wanted, plan, self._engine.model, 0))
        writer = ChoiceWriter(plan, wanted.stops)
        whole = Delta()
        async with aclosing(decode_here(self._engine, run.name, point, guide, wanted.settings, wanted.top)) as steps:
            async for stepped in steps:
                run.add(stepped.step)
                whole = whole.then(writer.take(stepped))
                if writer.end:
                    break
        run.close()
        head = begin_head(self._engine.card, run, f"/runs/{run.name}", len(point.tokens))
        note_ends(head, [writer])
        return ChoicesForm(head, wanted).whole([(writer, whole)])

    def _check(self, wanted: CompletionRequest) -> None:
        """Refuse what needs the host itself, and another model."""
        card = self._engine.card
        if wanted.model != card["name"]:
            hint = f'"model": "{card["name"]}"'
            raise SettingError("model", seen=quoted(wanted.model), expected=f"{card['name']}, loaded here", hint=hint)
        if wanted.stream or wanted.count > 1:
            expected = "one whole answer, since there is no socket"
            hint = 'leave "stream" and "n" out, or install the extra classroom'
            raise SettingError("request", seen="stream, or n above 1", expected=expected, hint=hint)


def finish_at_once(work: Coroutine[Any, Any, Given]) -> Given:
    """What a coroutine gives that waits for nothing.

    >>> async def double(number):
    ...     return 2 * number
    >>> finish_at_once(double(21))
    42
    """
    try:
        work.send(None)
    except StopIteration as ended:
        given: Given = ended.value
        return given
    work.close()
    raise RuntimeError("the coroutine waits, and there is no event loop")
