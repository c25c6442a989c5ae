"""The loop of an agent: the model answers or calls tools, the tools run, the model reads their results, and so on.

    for turn in gv.converse(model, "What is 12 + 30?", tools=[add]):
        ...                     a trace per turn of the model, and a result per call

Each turn is decoded under the machine of a whole answer (`machines/turn.py`), and its calls are read from its tokens.
What a tool returns is text for the model: it never becomes a special token.
"""

from collections.abc import Generator, Iterable
from dataclasses import replace
from functools import cache
from typing import Any

from guidedviz.decoding.loop import record
from guidedviz.decoding.reply import begins_thinking, split_reply
from guidedviz.decoding.tool_runs import MOST_RESULT, Run, ToolResult, run_call, run_in_thread
from guidedviz.decoding.trace import Trace
from guidedviz.errors import SettingError, quoted
from guidedviz.machines.tools import read_tools
from guidedviz.machines.turn import read_style, turn
from guidedviz.models.chat import no_template
from guidedviz.models.messages import Message, Messages, check_messages
from guidedviz.models.model import check_model, check_utf8, has_template
from guidedviz.tokens.build_guide import guide as build_guide
from guidedviz.tokens.guide import Guide

Turns = Generator[Trace | ToolResult, str | None, list[Message]]


def converse(
    model: Any,
    messages: Messages,
    tools: Iterable[Any] = (),
    *,
    style: str = "hermes",
    choice: str = "auto",
    think: bool | str = True,
    think_limit: int | None = None,
    guide: Guide | None = None,
    rounds: int = 8,
    most_result: int = MOST_RESULT,
    run: Run | None = None,
    seed: int = 0,
    **settings: Any,
) -> Turns:
    """A conversation in which the model may call tools: yields a trace per turn of the model, and a result per call.

    It ends after an answer without a call, or after `rounds` turns, and returns the messages. `tools`, `style`,
    `choice`, `think` and `think_limit` are those of `gv.turn`; a choice that requires a call holds for the first turn
    only. A `guide` of your own takes the place of that machine. The model reads at most `most_result` characters of a
    result; `send(text)` gives it another text for the result that was yielded last. `run` runs a tool: by default in
    a thread with a clock, with `gv.decoding.run_apart` in a process that can be killed. Other settings are those of
    `gv.decode`.
    """
    _check(model, rounds, most_result)
    form = read_style(style, "converse")
    talk = check_messages(messages)
    offered = read_tools(tools, "converse, tools")
    named = {tool.name: tool for tool in offered}

    @cache
    def guide_of(choice: str, think: bool | str) -> Guide:
        machine = turn(offered, style, choice, think, think_limit)
        return guide or build_guide(machine, model.vocabulary)

    for number in range(rounds):
        prompt = model.chat(talk, offered)
        thinks = "open" if think and begins_thinking(prompt.parts, form) else think
        trace = record(model, prompt, guide_of(choice, thinks), seed=seed + number, **settings)
        yield trace
        reply = split_reply(trace.parts, form, thinks)
        talk.append(reply.message)
        for call in reply.calls:
            result = run_call(call, named, run or run_in_thread, most_result)
            said = yield result
            if said is not None:
                result = replace(result, text=check_utf8("converse, send", said))
            talk.append(result.message)
        if not reply.calls:
            break
        if choice != "none":
            choice = "auto"
    return talk


def _check(model: Any, rounds: Any, most_result: Any) -> None:
    check_model(model, "converse, model")
    if not has_template(model):
        raise no_template(model.name)
    for name, number in (("rounds", rounds), ("most_result", most_result)):
        if type(number) is not int or number < 1:
            raise SettingError(f"converse, {name}", seen=quoted(number), expected="a whole number from 1 up")
