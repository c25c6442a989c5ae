"""A run again with other settings, another prompt or a text that a person puts next: POST /v1/again.

The new run is decoded under the same constraint, and kept like the answer to any other request.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from guidedviz.decoding.inserted import cut_inserted
from guidedviz.decoding.player import LiveWalk, Player, read_taken
from guidedviz.decoding.sampling import LIVE_SETTINGS, Settings
from guidedviz.decoding.trace import Point, Step
from guidedviz.errors import SettingError, quoted
from guidedviz.host.api.fields import LARGEST_COUNT, Fields, read_fields, wrong_field
from guidedviz.host.api.request import CompletionRequest, read_settings
from guidedviz.host.api.runs import FindRun, KeptRun
from guidedviz.models.language_model import LanguageModel
from guidedviz.tokens.by_hand import Unguided
from guidedviz.tokens.guide import Guide


@dataclass(frozen=True)
class PutNext:
    """What a person puts next after the first tokens of a run."""

    kept: tuple[Step, ...]  # of the run
    text: str
    token: int | None  # where there is no text


class RunAgain(NamedTuple):
    """What is asked of a run."""

    wanted: CompletionRequest
    forced: PutNext | None = None


def read_again(body: bytes, find: FindRun) -> RunAgain:
    """The body of /v1/again; `find` gives the run of a name."""
    fields = read_fields(body)
    run = find(fields.text("run"))
    stream = fields.flag("stream")
    request = replace(run.request, settings=replace(run.request.settings, seed=run.seed), count=1, stream=stream)
    forced = fields.inner("forced")
    if forced:
        fields.refuse_others()  # something is put into the run as it is
        return RunAgain(request, read_forced(forced, run))
    return RunAgain(read_changes(fields, request))


def read_forced(fields: Fields, run: KeptRun) -> PutNext:
    """A text or a token that is put after the first tokens of a run."""
    step = fields.whole("step", 0, len(run.steps), None)
    text = fields.text("text")
    token = fields.whole("token", 0, LARGEST_COUNT, None)
    fields.refuse_others()
    if step is None or bool(text) == (token is not None):
        seen = f"step {step}, {quoted(text)}, token {token}"
        hint = '{"step": 3, "text": "yes"}'
        raise SettingError("forced", seen=seen, expected="a step, and a text or a token", hint=hint)
    if step == len(run.steps):
        hint = "go back to the step where it is to come"
        raise SettingError("forced.step", seen="the end of the run", expected="an earlier step", hint=hint)
    return PutNext(tuple(run.steps[:step]), text, token)


def read_changes(fields: Fields, request: CompletionRequest) -> CompletionRequest:
    """The request with other settings, and with another prompt."""
    prompt = fields.text("prompt")
    settings = request.settings
    for name in (*LIVE_SETTINGS, "max_tokens"):
        fields.left.setdefault(name, getattr(settings, name))
    changed = replace(read_settings(fields), bias=settings.bias)
    fields.refuse_others()
    request = replace(request, settings=changed, notes=(*request.notes, *fields.notes))
    return ask_anew(request, prompt) if prompt else request


def ask_anew(request: CompletionRequest, prompt: str) -> CompletionRequest:
    """The request with another prompt or, where it has messages, another question."""
    if not request.messages:
        return replace(request, prompt=prompt)
    if question_of(request) is None:
        expected = "a run whose last message is a question"
        raise wrong_field("prompt", prompt, expected, "a request of your own, with all messages")
    *before, last = request.messages
    return replace(request, messages=(*before, {**last, "content": prompt}))


def question_of(request: CompletionRequest) -> str | None:
    """What of a prompt can be edited: all of a text, the question that ends messages; None after other messages."""
    if not request.messages:
        return request.prompt
    last = request.messages[-1]
    question: str | None = last["content"] if last["role"] == "user" else None
    return question


class Continued(NamedTuple):
    """Where a run goes on: the point after the kept steps, and the tokens that come next."""

    point: Point
    tokens: Sequence[int]


def continue_run(
    model: LanguageModel, prompt: str, guide: Guide | None, settings: Settings, forced: PutNext
) -> Continued:
    """Where a run goes on with what a person puts next; the constraint has to allow all of it."""
    walk = LiveWalk(model, prompt, guide)
    steps = [(step, settings, walk) for step in forced.kept]
    taken = read_taken("step", guide, walk.first, steps)
    player = Player(walk, settings, taken, len(taken))
    point = player.point(player.cursor)
    if forced.token is None:
        return Continued(point, cut_inserted(player, forced.text))
    used = guide or Unguided(model.vocabulary)
    used.advance(point.state, forced.token)  # an IllegalToken if the mask forbids it
    return Continued(point, (forced.token,))
