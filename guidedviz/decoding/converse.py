"""The loop of an agent: the model answers or calls tools, the tools run, the model reads their results, and so on.

    for turn in gv.converse(model, "What is 137 plus 248?", tools=[add]):
        ...                     a trace per turn of the model, and a result per call

Each turn is decoded under the machine of a whole answer (`machines/turn.py`), and its calls are read from its tokens.
What a tool returns is text for the model: it never becomes a special token.
"""

from collections.abc import Generator, Iterable
from dataclasses import replace
from typing import Any

from guidedviz.decoding.conversation import TALK_SETTINGS, Conversation
from guidedviz.decoding.loop import record
from guidedviz.decoding.records import AtLeastOne, check_number
from guidedviz.decoding.tool_runs import ToolResult
from guidedviz.decoding.trace import Trace
from guidedviz.models.messages import Message, Messages
from guidedviz.models.model import check_utf8

Turns = Generator[Trace | ToolResult, str | None, list[Message]]


def converse(
    model: Any,
    messages: Messages,
    tools: Iterable[Any] = (),
    *,
    rounds: int = 8,
    seed: int = 0,
    **settings: Any,
) -> Turns:
    """A conversation in which the model may call tools: yields a trace per turn of the model, and a result per call.

    It ends after an answer without a call, or after `rounds` turns, and returns the messages. `send(text)` gives the
    model another text for the result that was yielded last. The settings are those of `gv.decoding.Conversation`
    (`style`, `choice`, `think`, `think_limit`, `guide`, `most_result`, `run`), and those of `gv.decode`.
    """
    check_number(AtLeastOne, rounds, "converse, rounds")
    form = {name: settings.pop(name) for name in TALK_SETTINGS if name in settings}
    talk = Conversation(model, messages, tools, **form)
    for number in range(rounds):
        prompt, turn_guide = talk.next_turn()
        trace = record(model, prompt, turn_guide, seed=seed + number, **settings)
        yield trace
        reply = talk.reply_of(trace)
        results = []
        for call in reply.calls:
            result = talk.run(call)
            said = yield result
            if said is not None:
                result = replace(result, text=check_utf8("converse, send", said))
            results.append(result)
        talk.take(reply, results)
        if not reply.calls:
            break
    return talk.messages
