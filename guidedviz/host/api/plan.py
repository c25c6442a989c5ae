"""How a request is decoded: its prompt, the guide of its constraint or of a whole turn, and how the output is read.

A turn is written in the style whose special tokens the model has (`machines/turn.py`), else with marks that are text.
Everything that is not as the body says it goes into the notes of the answer.
"""

import json
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock
from typing import Any, NamedTuple

from guidedviz.decoding.loop import start
from guidedviz.decoding.reply import begins_thinking
from guidedviz.decoding.sampling import check_bias
from guidedviz.decoding.trace import Point
from guidedviz.errors import ModelError, SchemaWarning, SettingError
from guidedviz.host.api.constraint import Constraint
from guidedviz.host.api.request import CompletionRequest
from guidedviz.host.batcher import Engine
from guidedviz.machines.machine import Machine
from guidedviz.machines.turn import TURN_STYLES, Style, turn
from guidedviz.models.chat import Prompt
from guidedviz.models.language_model import LanguageModel
from guidedviz.models.remote import mark_used
from guidedviz.tokens.build_guide import guide as build_guide
from guidedviz.tokens.guide import Guide
from guidedviz.tokens.vocabulary import Vocabulary

MOST_GUIDES = 8  # each may keep 64 MB of masks
SPELLED_STYLE = "text"  # the style whose marks are text
NOT_TOLD = "the model was not told of them, because its chat template has no place for tools; only the mask knows them"


@dataclass(frozen=True)
class TurnPlan:
    """How one request is decoded."""

    prompt: str
    key: Any  # of its guide
    build: Callable[[], Machine[Any]] | None  # None if nothing is enforced
    style: Style | None  # of a whole turn; None if all of the output is the answer's text
    thinks: bool | str
    enforced: str  # in words
    code: str  # of the machine, for a notebook
    notes: tuple[str, ...]


BUILDING = Lock()  # what is warned of belongs to one build


class BuiltGuide(NamedTuple):
    """A guide, and what it does not enforce or cannot write."""

    guide: Guide | None = None
    notes: tuple[str, ...] = ()


class Guides:
    """The guides that were used last, by what they are built from. One thread asks, so none is built twice."""

    def __init__(self, vocabulary: Vocabulary, most: int = MOST_GUIDES) -> None:
        self._vocabulary = vocabulary
        self._most = most
        self._kept: OrderedDict[Any, BuiltGuide] = OrderedDict()

    def of(self, plan: TurnPlan) -> BuiltGuide:
        """The guide of a plan, which is built only if it is not kept; none if nothing is enforced."""
        if plan.build is None:
            return BuiltGuide()
        if plan.key not in self._kept:
            self._kept[plan.key] = build_quietly(plan.build, self._vocabulary)
        mark_used(self._kept, plan.key, self._most)
        return self._kept[plan.key]


def build_quietly(build: Callable[[], Machine[Any]], vocabulary: Vocabulary) -> BuiltGuide:
    """A guide, whose warnings are notes: the host prints nothing of a request."""
    with BUILDING, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        machine = build()
        guide = build_guide(machine, vocabulary)
    notes = [*getattr(machine, "notes", ())]  # they have what a SchemaWarning says
    notes += (str(one.message) for one in warned if not issubclass(one.category, SchemaWarning))
    return BuiltGuide(guide, tuple(notes))


def find_style(vocabulary: Vocabulary) -> str:
    """The name of the style whose special tokens a model has."""
    for name, form in TURN_STYLES.items():
        if form.special and has_signs(vocabulary, form, form.opens + form.call + form.closes):
            return name
    return SPELLED_STYLE


def has_signs(vocabulary: Vocabulary, form: Style, text: str) -> bool:
    """Whether a model has all special tokens in a text of a style."""
    return all(sign in vocabulary.special_ids for sign in form.special if sign in text)


def can_think(vocabulary: Vocabulary, name: str) -> bool:
    """Whether a model has the special tokens around its thinking."""
    form = TURN_STYLES[name]
    return name != SPELLED_STYLE and bool(form.think) and has_signs(vocabulary, form, form.think)


class ReadyRequest(NamedTuple):
    """A request whose guide is built, and the point where its texts begin."""

    plan: TurnPlan
    guide: Guide | None
    point: Point


async def make_ready(engine: Engine, guides: Guides, request: CompletionRequest) -> ReadyRequest:
    """Plan a request and build its guide; what the guide does not enforce is among the notes of the plan."""
    plan = await plan_turn(engine, request)
    guide, notes = await engine.run("compile", guides.of, plan)
    check_bias(request.settings.bias, engine.card["size"])
    point = await engine.run("encode", start, engine.model, plan.prompt, guide)
    return ReadyRequest(replace(plan, notes=(*plan.notes, *notes)), guide, point)


async def plan_turn(engine: Engine, request: CompletionRequest) -> TurnPlan:
    """The plan of a request."""
    vocabulary = engine.model.vocabulary
    style = find_style(vocabulary)
    notes = [*request.notes]
    thinks = bool(request.messages) and request.think and can_think(vocabulary, style)
    if thinks and request.constraint:
        thinks = False
        notes.append("thinking: the model does not think first, because the constraint holds from the first token")
    prompt = await engine.run("encode", make_prompt, engine.model, request, thinks, notes)
    if request.constraint:
        return plan_constraint(prompt, request.constraint, vocabulary, notes)
    if request.offered.tools or thinks:
        is_open = thinks and isinstance(prompt, Prompt) and begins_thinking(prompt.parts, TURN_STYLES[style])
        return plan_whole_turn(prompt, request, style, "open" if is_open else thinks, notes)
    return TurnPlan(prompt, None, None, None, False, "", "", tuple(notes))


def plan_constraint(prompt: str, constraint: Constraint, vocabulary: Vocabulary, notes: Iterable[str]) -> TurnPlan:
    """The plan of an answer under a constraint."""
    build = partial(constraint.build, vocabulary)
    enforced = constraint.name
    if constraint.field != enforced:
        enforced = f"{constraint.name} ({constraint.field})"
    return TurnPlan(prompt, constraint, build, None, False, enforced, constraint.code, tuple(notes))


def plan_whole_turn(
    prompt: str, request: CompletionRequest, style: str, thinks: bool | str, notes: Iterable[str]
) -> TurnPlan:
    """The plan of a turn that may think and call tools."""
    offered = request.offered
    tools = offered.tools
    choice = offered.choice if tools else "none"
    build = partial(turn, tools, style, choice, thinks, parallel=offered.parallel)
    key = json.dumps([style, choice, thinks, offered.parallel, tools])
    words = f"style={style!r}, choice={choice!r}, think={thinks!r}"
    if not offered.parallel:
        words += ", parallel=False"
    code = f"gv.turn({[*tools]!r}, {words})"
    enforced = f"a turn of the style {style}"
    if tools:
        enforced = f"calls of {len(tools)} tools (tool_choice {offered.choice}), in the style {style}"
    return TurnPlan(prompt, key, build, TURN_STYLES[style], thinks, enforced, code, tuple(notes))


def make_prompt(model: LanguageModel, request: CompletionRequest, think: bool, notes: list[str]) -> str:
    """The prompt of a request, and notes about what the model was not told."""
    tools = request.offered.told
    if not request.messages:
        text = request.prompt
    elif model.has_template:
        return ask_template(model, request, think, notes)
    else:
        text = "".join(f"{message['content']}\n" for message in request.messages)
        notes.append(f"messages: {model.name} has no chat template, so its prompt is their texts, a line each")
    if tools:
        notes.append(f"tools: {NOT_TOLD}")
    return text


def ask_template(model: LanguageModel, request: CompletionRequest, think: bool, notes: list[str]) -> Prompt:
    """The prompt by the model's chat template."""
    tools = request.offered.told
    try:
        prompt = model.chat(request.messages, tools, think)
        if tools and prompt == model.chat(request.messages, (), think):
            notes.append(f"tools: {NOT_TOLD}")
    except ModelError as error:
        hint = error.hint or "messages as the model's template takes them"
        raise SettingError("messages", seen=error.seen, expected=error.expected, hint=hint) from error
    return prompt
