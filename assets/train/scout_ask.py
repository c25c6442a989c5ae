"""Ask a model a problem: it answers free or under a mask, its calls run, and it reads the results, until it answers.

`scout` writes thoughts and calls between special tokens. A model without such tokens is told the marks in its system
prompt, and writes them as text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, NamedTuple, Protocol

from scout_decode import write
from scout_problems import Problem
from scout_texts import Message, assistant
from scout_tokens import SPLITTER, Transcript
from scout_tools import KINDS, Offer

import guidedviz as gv
from guidedviz.models.chat import Prompt

MOST_ROUNDS = 4
MOST_TOKENS = 120  # of a turn
TOLD = """You answer questions. You can call these tools:
{tools}
To call a tool, write only
<tool_call>
{{"name": NAME, "arguments": {{KEY: VALUE}}}}
</tool_call>
Then you get its result. When you know the answer, say it in one short sentence."""


class Case(NamedTuple):
    """A problem, how it is asked, and the tools that are offered."""

    problem: Problem
    question: str
    offers: list[Offer]


@dataclass(frozen=True)
class Way:
    """How a model is asked: what its mask allows ("free": anything), and whether and how long it thinks."""

    name: str
    choice: str = "auto"
    thinks: bool = True
    limit: int | None = None
    temperature: float = 0.0
    offers: bool = True  # whether the tools are offered


class Turn(NamedTuple):
    """What a model wrote: its thought, its text, and what stands in each of its calls."""

    thought: str
    text: str
    calls: list[str]


class Made(NamedTuple):
    """A call that fits a tool."""

    offer: Offer
    arguments: dict[str, Any]

    @property
    def values(self) -> tuple[Any, ...]:
        return tuple(self.arguments[key] for key in self.offer.keys)


@dataclass
class Outcome:
    """What came of a case."""

    needs: bool  # a tool
    valid: bool = False  # the first turn calls, and all its calls fit a tool
    arguments: bool = False  # they are the right calls
    right: bool = False  # the answer
    turns: list[Turn] = field(default_factory=list)


# -- what a model reads and writes -------------------------------------------------------------------------------------


class Speaker(Protocol):
    """A model's way to read a conversation and to write a turn."""

    model: Any
    style: str
    free: gv.Guide

    def prompt(self, messages: Sequence[Message], offers: Sequence[Offer], thinks: bool) -> Prompt: ...
    def read(self, parts: Sequence[str]) -> Turn: ...


class SpecialTokens:
    """`scout`: thoughts and calls stand between special tokens."""

    style = "hermes"

    def __init__(self, model: Any, transcript: Transcript) -> None:
        self.model = model
        self.transcript = transcript
        self.free = gv.guide(gv.grammar("root ::= !<|im_end|>*"), model.vocabulary)

    def prompt(self, messages: Sequence[Message], offers: Sequence[Offer], thinks: bool) -> Prompt:
        return self.as_prompt(self.transcript.parts(messages, offers, thinks, prompt=True))

    def as_prompt(self, parts: Sequence[str]) -> Prompt:
        return Prompt("".join(parts), self.transcript.read(parts), parts)

    def read(self, parts: Sequence[str]) -> Turn:
        return read_parts(parts)


class Text:
    """Another chat model: it is told the marks, and writes them as text."""

    style = "text"

    def __init__(self, model: Any) -> None:
        self.model = model
        self.free = gv.guide(gv.grammar("root ::= [^\\x00]*"), model.vocabulary)

    def prompt(self, messages: Sequence[Message], offers: Sequence[Offer], thinks: bool) -> Prompt:
        tools = "\n".join(json.dumps(offer.as_tool()["function"]) for offer in offers)
        told = [{"role": "system", "content": TOLD.format(tools=tools)}]
        for message in messages:
            if message["role"] == "tool":
                told.append({"role": "user", "content": f"<tool_response>\n{message['content']}\n</tool_response>"})
            else:
                calls = [call["function"] for call in message.get("tool_calls", [])]
                text = "\n".join(f"<tool_call>\n{json.dumps(call)}\n</tool_call>" for call in calls)
                told.append({"role": message["role"], "content": message["content"] + text})
        prompt: Prompt = self.model.chat(told)
        return prompt

    def read(self, parts: Sequence[str]) -> Turn:
        return read_parts(SPLITTER.split("".join(parts[::2])))


def read_parts(parts: Sequence[str]) -> Turn:
    """A turn from its texts and marks in turn."""
    thought = ""
    text = ""
    calls = []
    mark = ""
    for place, part in enumerate(parts):
        if place % 2:
            mark = part
        elif mark == "<think>":
            thought += part
        elif mark == "<tool_call>":
            calls.append(part)
        else:
            text += part
    return Turn(thought.strip(), text.strip(), calls)


# -- calls -------------------------------------------------------------------------------------------------------------


def check_call(offers: Sequence[Offer], text: str) -> Made | None:
    """The call in a text, if it names a tool and has its keys with values of their types."""
    try:
        read = json.loads(text)
        (offer,) = [offer for offer in offers if offer.name == read["name"]]
        arguments = read["arguments"]
        wanted = int if KINDS[offer.kind].type == "integer" else str
        fits = set(arguments) == set(offer.keys) and all(type(value) is wanted for value in arguments.values())
    except (ValueError, KeyError, TypeError):
        return None
    return Made(offer, arguments) if fits else None


def run_call(problem: Problem, made: Made) -> str:
    """What a tool gives: sums and days for any values, the rest for what the problem knows."""
    try:
        match made.offer.kind, made.values:
            case "add", (a, b):
                return str(a + b)
            case "subtract", (a, b):
                return str(a - b)
            case "days", (begin, end):
                return str((date.fromisoformat(end) - date.fromisoformat(begin)).days)
    except ValueError as error:
        return f"error: {error}"
    for one in problem.rounds:
        for call in one.calls:
            if (call.kind, call.values) == (made.offer.kind, made.values):
                return call.result
    return "error: no entry"


# -- a conversation ----------------------------------------------------------------------------------------------------


def guide_for(speaker: Speaker, way: Way, offers: Sequence[Offer], choice: str) -> gv.Guide:
    """The guide of a turn."""
    if way.choice == "free":
        return speaker.free
    tools = [offer.as_tool() for offer in offers]
    machine = gv.turn(tools, speaker.style, choice, think=way.thinks, think_limit=way.limit)
    return gv.guide(machine, speaker.model.vocabulary)


@dataclass
class Talk:
    """A case that is being asked."""

    case: Case
    offers: list[Offer]
    messages: list[Message]
    outcome: Outcome
    going: bool = True

    def read(self, turn: Turn, thinks: bool) -> None:
        """Take a turn of the model and run its calls; a call that fits no tool ends the talk."""
        problem = self.case.problem
        calls = [check_call(self.offers, text) for text in turn.calls]
        made = [call for call in calls if call]
        if not self.outcome.turns:
            self.outcome.valid = bool(made) and len(made) == len(calls)
            self.outcome.arguments = self.outcome.valid and are_right(problem, made)
        self.outcome.turns.append(turn)
        self.outcome.right = not turn.calls and has_all(turn.text, problem.key)
        self.going = bool(made) and len(made) == len(calls) and len(self.outcome.turns) < MOST_ROUNDS
        written = [{"function": {"name": call.offer.name, "arguments": call.arguments}} for call in made]
        self.messages.append(assistant(turn.text, turn.thought, thinks, written))
        self.messages += [{"role": "tool", "content": run_call(problem, call)} for call in made]


def ask(speaker: Speaker, cases: Sequence[Case], way: Way) -> list[Outcome]:
    """Ask all cases in one way, and run the calls until the model answers."""
    talks = []
    for case in cases:
        question = {"role": "user", "content": case.question}
        outcome = Outcome(needs=bool(case.problem.rounds))
        talks.append(Talk(case, case.offers if way.offers else [], [question], outcome))
    choice = way.choice
    while going := [talk for talk in talks if talk.going]:
        prompts = [speaker.prompt(talk.messages, talk.offers, way.thinks) for talk in going]
        guides = [guide_for(speaker, way, talk.offers, choice) for talk in going]
        written = write(speaker.model, prompts, guides, way.temperature, MOST_TOKENS)
        for talk, parts in zip(going, written, strict=True):
            talk.read(speaker.read(parts), way.thinks)
        choice = "none" if way.choice == "none" else "auto"  # after a call that was required the model may answer
    return [talk.outcome for talk in talks]


def are_right(problem: Problem, made: Sequence[Made]) -> bool:
    """Whether these are the first calls of a problem, in any order."""
    wanted = [(call.kind, call.values) for call in problem.rounds[0].calls] if problem.rounds else []
    return sorted(map(repr, wanted)) == sorted(repr((call.offer.kind, call.values)) for call in made)


def has_all(text: str, words: Sequence[str]) -> bool:
    """Whether a text has all these words, whole.

    >>> has_all("It is 120.", ["120"]), has_all("It is 1203.", ["120"])
    (True, False)
    """
    return all(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) for word in words)
