"""The JSON of answers and chunks, as /v1/chat/completions and /v1/completions have them.

Beside OpenAI's fields each answer has `guidedviz`: the address of its run, what was enforced, and notes about all that
the request says and the host does not do.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from guidedviz.decoding.reply import ToolCall
from guidedviz.host.api.answer import ENDS_EARLY, ChoiceWriter, Delta, TokenLog
from guidedviz.host.api.fields import JsonObject
from guidedviz.host.api.plan import TurnPlan
from guidedviz.host.api.request import CompletionRequest
from guidedviz.host.api.runs import KeptRun
from guidedviz.machines.tools import INPUT

STREAM_END = b"data: [DONE]\n\n"
NO_DELTA = Delta()


@dataclass
class AnswerHead:
    """What all objects of an answer have in common."""

    name: str  # of the run
    created: int
    model: str
    version: str
    prompt_tokens: int = 0
    own: JsonObject = field(default_factory=dict)  # the field guidedviz


def begin_head(card: Mapping[str, Any], run: KeptRun, address: str, prompt_tokens: int) -> AnswerHead:
    """The head of an answer that begins with this run, on a host with this card."""
    began = int(run.began)
    return AnswerHead(run.name, began, card["name"], card["version"], prompt_tokens, own_field(run.plan, address))


def own_field(plan: TurnPlan, address: str) -> JsonObject:
    """The field `guidedviz` of an answer."""
    return {"run": address, "enforced": plan.enforced, "notes": [*plan.notes]}


def note_ends(head: AnswerHead, writers: Iterable[ChoiceWriter]) -> None:
    """Say where a text is not complete.

    >>> head = AnswerHead("r", 0, "toy", "1", own={"notes": []})
    >>> note_ends(head, [ChoiceWriter(None, end="eos"), ChoiceWriter(None, end="dead_end")])
    >>> head.own["notes"]
    ['choices[1]: not complete: no token of this model is legal there']
    """
    for place, writer in enumerate(writers):
        if writer.end == "dead_end":
            head.own["notes"].append(f"choices[{place}]: not complete: no token of this model is legal there")


def finish_reason(writer: ChoiceWriter) -> str:
    """Why a choice ended, in OpenAI's words; whatever is not complete is "length"."""
    if writer.end in ENDS_EARLY:
        return "length"
    return "tool_calls" if writer.calls else "stop"


def usage_of(head: AnswerHead, writers: Iterable[ChoiceWriter]) -> dict[str, int]:
    """The number of tokens."""
    written = sum(writer.tokens for writer in writers)
    prompt = head.prompt_tokens
    return {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + written}


def call_object(call: ToolCall, name: str, custom: frozenset[str]) -> JsonObject:
    """A call as a client reads it; its arguments are the text of their JSON."""
    if call.name in custom:
        return {"id": name, "type": "custom", "custom": {"name": call.name, "input": call.arguments.get(INPUT, "")}}
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    return {"id": name, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def log_object(logs: tuple[TokenLog, ...]) -> JsonObject:
    """The log-probability of one token, and of the likeliest ones."""
    own, *likeliest = map(piece_object, logs)
    return {**own, "top_logprobs": likeliest}


def piece_object(one: TokenLog) -> JsonObject:
    """A token with its log-probability."""
    return {"token": one.piece.decode("utf-8", "replace"), "logprob": one.log, "bytes": [*one.piece]}


def plain_logs(listed: Iterable[tuple[TokenLog, ...]]) -> JsonObject:
    """Log-probabilities as /v1/completions has them: a list per field."""
    tokens = [log_object(one) for one in listed]
    return {
        "tokens": [one["token"] for one in tokens],
        "token_logprobs": [one["logprob"] for one in tokens],
        "top_logprobs": [{top["token"]: top["logprob"] for top in one["top_logprobs"]} for one in tokens],
        "text_offset": [],
    }


@dataclass
class ChoicesForm:
    """The objects of /v1/chat/completions, or of /v1/completions, whose chunks have the form of its answers."""

    head: AnswerHead
    request: CompletionRequest
    chat: bool = True
    end = STREAM_END

    def whole(self, choices: list[tuple[ChoiceWriter, Delta]]) -> Any:
        """An answer that is not streamed."""
        listed = []
        for place, (writer, delta) in enumerate(choices):
            said = {"message": self._message(place, writer, delta)} if self.chat else {"text": delta.text}
            listed.append(self._choice(place, said, delta, finish_reason(writer)))
        usage = usage_of(self.head, (writer for writer, _ in choices))
        return self._object("chat.completion", listed) | {"usage": usage, "guidedviz": self.head.own}

    def first(self) -> list[Any]:
        """The first chunk of each choice."""
        said = {"delta": {"role": "assistant", "content": ""}} if self.chat else {"text": ""}
        return [self._chunk(place, said) | {"guidedviz": self.head.own} for place in range(self.request.count)]

    def grown(self, place: int, delta: Delta) -> list[Any]:
        """A chunk of a text."""
        if not self.chat:
            return [self._chunk(place, {"text": delta.text}, delta)]
        said = {}
        if delta.thinking:
            said["reasoning_content"] = delta.thinking
        if delta.text:
            said["content"] = delta.text
        return [self._chunk(place, {"delta": said}, delta)]

    def last(self, writers: list[ChoiceWriter]) -> list[Any]:
        """The chunks of the calls, the last chunk of each choice, and the usage."""
        chunks = []
        for place, writer in enumerate(writers):
            for number, call in enumerate(self._calls(place, writer)):
                chunks.append(self._chunk(place, {"delta": {"tool_calls": [{"index": number, **call}]}}))
            said: JsonObject = {"delta": {}} if self.chat else {"text": ""}
            ended = self._chunk(place, said, end=finish_reason(writer))
            chunks.append(ended | {"guidedviz": self.head.own})
        if self.request.usage:
            chunks.append(self._object("chat.completion.chunk", []) | {"usage": usage_of(self.head, writers)})
        return chunks

    def _message(self, place: int, writer: ChoiceWriter, delta: Delta) -> JsonObject:
        message: JsonObject = {"role": "assistant", "content": delta.text, "refusal": None}
        if delta.thinking:
            message["reasoning_content"] = delta.thinking
        calls = self._calls(place, writer)
        if calls:
            message |= {"tool_calls": calls, "content": delta.text or None}
        return message

    def _calls(self, place: int, writer: ChoiceWriter) -> list[JsonObject]:
        """The calls of a choice; each has a name that no other call of the run has."""
        custom = self.request.offered.custom
        name = f"call_{self.head.name}_{place}"
        return [call_object(call, f"{name}_{number}", custom) for number, call in enumerate(writer.calls)]

    def _chunk(self, place: int, said: JsonObject, delta: Delta = NO_DELTA, end: str | None = None) -> JsonObject:
        return self._object("chat.completion.chunk", [self._choice(place, said, delta, end)])

    def _choice(self, place: int, said: JsonObject, delta: Delta, end: str | None) -> Any:
        logs = None
        if delta.logs:
            logs = plain_logs(delta.logs)
            if self.chat:
                logs = {"content": [*map(log_object, delta.logs)]}
        return {"index": place, **said, "logprobs": logs, "finish_reason": end}

    def _object(self, kind: str, choices: list[Any]) -> JsonObject:
        head = self.head
        name = f"chatcmpl-{head.name}" if self.chat else f"cmpl-{head.name}"
        kind = kind if self.chat else "text_completion"
        named = {"id": name, "object": kind, "created": head.created, "model": head.model}
        return {**named, "system_fingerprint": head.version, "choices": choices}


def as_events(chunks: Iterable[JsonObject]) -> bytes:
    """Chunks as events of a stream; one with a type is named by it.

    >>> as_events([{"type": "a"}, {"b": 1}])
    b'event: a\\ndata: {"type": "a"}\\n\\ndata: {"b": 1}\\n\\n'
    """
    written = ""
    for chunk in chunks:
        if "type" in chunk:
            written += f"event: {chunk['type']}\n"
        written += f"data: {json.dumps(chunk)}\n\n"
    return written.encode()


def model_object(model: str) -> JsonObject:
    """What the API says of a model."""
    return {"id": model, "object": "model", "created": 0, "owned_by": "guidedviz"}
