"""The requests that clients of OpenAI send, and how each is answered: whole, or as a stream of events."""

import asyncio
import re
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from guidedviz.decoding.trace import Point, Step
from guidedviz.errors import GuidedVizError, quoted
from guidedviz.host.api.again import Continued, continue_run, read_again
from guidedviz.host.api.answer import ChoiceWriter, Delta, Stepped, decode_here
from guidedviz.host.api.forms import (
    STREAM_END,
    AnswerHead,
    ChoicesForm,
    as_events,
    begin_head,
    model_object,
    note_ends,
    own_field,
)
from guidedviz.host.api.inspected import inspect_run, read_inspected
from guidedviz.host.api.look import look_at, read_look
from guidedviz.host.api.plan import Guides, ReadyRequest, TurnPlan, make_ready, plan_turn
from guidedviz.host.api.request import CompletionRequest, Reader, read_chat, read_plain
from guidedviz.host.api.response_fields import read_response
from guidedviz.host.api.response_forms import ResponseForm
from guidedviz.host.api.run_page import PAGE_HEADERS, show_runs
from guidedviz.host.api.runs import KeptRun, KeptRuns, sum_up_run
from guidedviz.host.batcher import Engine
from guidedviz.host.classroom import say
from guidedviz.host.limits import TEACHER, Account, Guard, Refused
from guidedviz.tokens.guide import Guide
from guidedviz.views.dependence import pack_dependence

MOST_ASKED = 1 << 20  # bytes of a body
RUN_PATH = "/runs/"  # a name follows
MODEL_PATH = "/v1/models/"  # a name follows
ONE_STEP = re.compile("[0-9]{1,5}")
AGAIN_PATH = "/v1/again"
LOOK_PATH = "/v1/look"
COMPLETION_PATHS = ("/v1/chat/completions", "/v1/completions", "/v1/responses", AGAIN_PATH, LOOK_PATH)
API_PATHS = {
    "/v1/models",
    MODEL_PATH,
    "/v1/inspect",
    "/v1/runs",
    *COMPLETION_PATHS,
}  # whose errors have OpenAI's form, too
Form = ChoicesForm | ResponseForm


class EventStream(Response):
    """An answer that is sent while it grows."""

    media_type = "text/event-stream"

    def __init__(self, events: AsyncIterator[bytes]) -> None:
        super().__init__(headers={"Cache-Control": "no-store"})
        del self.headers["content-length"]
        self.events = events


@dataclass
class Answering:
    """An answer that is being written."""

    engine: Engine
    wanted: CompletionRequest
    plan: TurnPlan
    guide: Guide | None
    point: Point  # where it begins
    runs: list[KeptRun]
    places: list[str]  # whose turns each choice takes
    head: AnswerHead
    account: Account
    kept: Sequence[Step] = ()  # of an earlier run, before the point
    first: Sequence[int] = ()  # the tokens that a person has put after it

    def __post_init__(self) -> None:
        self.writers = [ChoiceWriter(self.plan, self.wanted.stops) for _ in self.runs]

    async def grow(self) -> AsyncGenerator[tuple[int, Delta], None]:
        """What each step adds, of all choices in turn; whoever stops reading ends the work."""
        news: asyncio.Queue[tuple[int, Delta | Exception | None]] = asyncio.Queue()
        tasks = [asyncio.create_task(self._write(place, news)) for place in range(len(self.runs))]
        going = len(tasks)
        try:
            while going:
                place, delta = await news.get()
                if isinstance(delta, Exception):
                    raise delta
                if delta is None:
                    going -= 1
                else:
                    yield place, delta
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _write(self, place: int, news: asyncio.Queue[Any]) -> None:
        """Write one choice."""
        run = self.runs[place]
        writer = self.writers[place]
        settings = replace(self.wanted.settings, seed=run.seed)
        top = self.wanted.top
        steps = decode_here(self.engine, self.places[place], self.point, self.guide, settings, top, self.first)
        for step in self.kept:
            run.add(step)
            news.put_nowait((place, writer.take(Stepped(step, ()))))
        try:
            async with aclosing(steps):
                async for stepped in steps:
                    run.add(stepped.step)
                    self.account.steps.append((time.monotonic(), stepped.step.forward_ms / 1000))
                    news.put_nowait((place, writer.take(stepped)))
                    if writer.end:
                        break
            news.put_nowait((place, None))
        except Exception as error:
            news.put_nowait((place, error))
        finally:
            run.close()

    async def whole(self, form: Form) -> Response:
        """The answer when it is complete."""
        joined = [Delta() for _ in self.runs]
        async with aclosing(self.grow()) as growing:
            async for place, delta in growing:
                joined[place] = joined[place].then(delta)
        note_ends(self.head, self.writers)
        return say(form.whole([*zip(self.writers, joined, strict=True)]))

    async def events(self, form: Form) -> AsyncIterator[bytes]:
        """The answer as a stream."""
        yield as_events(form.first())
        async with aclosing(self.grow()) as growing:
            async for place, delta in growing:
                if any(delta):
                    yield as_events(form.grown(place, delta))
        note_ends(self.head, self.writers)
        yield as_events(form.last(self.writers)) + form.end


class CompletionDesk:
    """Answers what clients of OpenAI ask."""

    def __init__(self, engine: Engine, guard: Guard) -> None:
        self._engine = engine
        self._guard = guard
        self._guides = Guides(engine.model.vocabulary)
        self._page_guides = Guides(engine.model.vocabulary, 2)  # for another thread
        self.runs = KeptRuns()

    async def models(self, request: Request) -> Response:
        """The list of models: the one of this host."""
        return say({"object": "list", "data": [model_object(self._engine.card["name"])]})

    async def model(self, request: Request) -> Response:
        """The model of this name, which is the one of this host."""
        name = request.scope["path"].removeprefix(MODEL_PATH)
        self._check_model(name)
        return say(model_object(name))

    async def chat(self, request: Request) -> Response:
        """An answer to messages."""
        return await self._answer(request, read_chat, ChoicesForm)

    async def plain(self, request: Request) -> Response:
        """How a text goes on."""
        return await self._answer(request, read_plain, partial(ChoicesForm, chat=False))

    async def response(self, request: Request) -> Response:
        """An answer to items, as a list of items."""
        return await self._answer(request, read_response, ResponseForm)

    async def again(self, request: Request) -> Response:
        """Decode a run again with what is changed; the answer is another run of whoever asks."""
        again = read_again(request.state.body, partial(self._find_listed, request))
        wanted = again.wanted
        ready = await self._make_ready(wanted)
        going = Continued(ready.point, ())
        if again.forced:
            given = self._engine.model, ready.plan.prompt, ready.guide, wanted.settings, again.forced
            going = await self._engine.run("encode", continue_run, *given)
        answer = self._begin(request, wanted, ready)
        answer.point, answer.first = going
        answer.kept = again.forced.kept if again.forced else ()
        return await self._send(answer, ChoicesForm(answer.head, wanted, bool(wanted.messages)))

    async def look(self, request: Request) -> Response:
        """What a token of a run depends on."""
        run, step = read_look(request.state.body, partial(self._find_listed, request))
        self._guard.check_room(self._engine.waiting)
        found = await look_at(self._engine, f"{request.state.student}, look", run, step)
        return say(pack_dependence(found, step))

    async def inspect(self, request: Request) -> Response:
        """Read a text that another server wrote; it becomes a run."""
        wanted, text = read_inspected(request.state.body, self._engine.card["name"])
        self._check_model(wanted.model)
        plan = await plan_turn(self._engine, wanted)
        run = KeptRun(request.state.student, wanted.share, wanted, plan, self._engine.model, 0)
        said = await self._engine.run("page", inspect_run, self._page_guides, run, text)
        self.runs.keep(run)
        return say({**own_field(plan, address_of(request, run)), **said})

    async def list_runs(self, request: Request) -> Response:
        """The runs of a student; for the teacher those that are shared, too."""
        return say({"runs": list(map(sum_up_run, self._listed(request)))})

    async def show_run(self, request: Request) -> Response:
        """The page of a run, or of two."""
        names = request.scope["path"].removeprefix(RUN_PATH).split("/")
        runs = [self.runs.find(name) for name in names[:2]]
        step = request.query_params.get("step", "")
        place = int(step) if ONE_STEP.fullmatch(step) else 0
        page = await self._engine.run("page", show_runs, self._page_guides, runs, place)
        return Response(page, headers=PAGE_HEADERS, media_type="text/html")

    async def _answer(self, request: Request, read: Reader, make: Callable[..., Form]) -> Response:
        wanted = read(request.state.body)
        self._check_model(wanted.model)
        ready = await self._make_ready(wanted)
        answer = self._begin(request, wanted, ready)
        return await self._send(answer, make(answer.head, wanted))

    async def _make_ready(self, wanted: CompletionRequest) -> ReadyRequest:
        """A request whose guide is built, unless too many texts wait."""
        self._guard.check_room(self._engine.waiting)
        return await make_ready(self._engine, self._guides, wanted)

    async def _send(self, answer: Answering, form: Form) -> Response:
        """An answer as it is wanted: whole, or while it grows."""
        response = EventStream(answer.events(form)) if answer.wanted.stream else await answer.whole(form)
        response.headers["X-Guidedviz-Run"] = answer.head.own["run"]
        return response

    def _listed(self, request: Request) -> list[KeptRun]:
        """The runs of whoever asks; for the teacher those that are shared, too."""
        student = request.state.student
        teacher = not self._guard.guarded or student == TEACHER
        return self.runs.of(student, teacher)

    def _find_listed(self, request: Request, name: str) -> KeptRun:
        """The run of a name, which has to be in the list of whoever asks."""
        run = self.runs.find(name)
        if run not in self._listed(request):
            hint = 'your own request, or let its owner share it: "guidedviz": {"share": true}'
            raise Refused(403, "run", "a run of another student", "a run of your list at /runs", hint)
        return run

    def _begin(self, request: Request, wanted: CompletionRequest, ready: ReadyRequest) -> Answering:
        """Begin an answer: its runs are kept from now on."""
        student = request.state.student
        plan, guide, point = ready
        model = self._engine.model
        runs = [KeptRun(student, wanted.share, wanted, plan, model, place) for place in range(wanted.count)]
        for run in runs:
            self.runs.keep(run)
        if self._guard.guarded:
            places = [f"{student}, choice {place}" for place in range(wanted.count)]
        else:
            places = [run.name for run in runs]  # one person has this host
        addresses = [address_of(request, run) for run in runs]
        head = begin_head(self._engine.card, runs[0], addresses[0], len(point.tokens))
        if wanted.count > 1:
            head.own["runs"] = addresses
        return Answering(self._engine, wanted, plan, guide, point, runs, places, head, request.state.account)

    def _check_model(self, name: str) -> None:
        """Refuse a request for another model."""
        own = self._engine.card["name"]
        if name != own:
            seen = quoted(name) if name else "no name"
            raise Refused(404, "model", seen, f"the name of the model of this host: {own}", f'"model": "{own}"')


def address_of(request: Request, run: KeptRun) -> str:
    """The address of the page of a run, as the client calls the host."""
    return f"{request.url.scheme}://{request.headers['host']}{RUN_PATH}{run.name}"


async def send_stream(answer: EventStream, send: Any) -> None:
    """Send the events of an answer; an error on the way is the last one."""
    await send({"type": "http.response.start", "status": answer.status_code, "headers": answer.raw_headers})
    try:
        async for part in answer.events:
            await send({"type": "http.response.body", "body": part, "more_body": True})
    except Exception as error:
        message = f"the host failed: {type(error).__name__}"
        if isinstance(error, GuidedVizError):
            message = str(error)
        said = {"error": {"message": message, "type": "server_error", "param": None, "code": None}}
        await send({"type": "http.response.body", "body": as_events([said]) + STREAM_END, "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})
