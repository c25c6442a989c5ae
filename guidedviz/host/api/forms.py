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
from guidedviz.host.api.request import CompletionRequest
from guidedviz.host.api.tool_fields import INPUT

STREAM_END = b"data: [DONE]\n\n"


@dataclass
class AnswerHead:
    """What all objects of an answer have in common."""

    name: str  # of the run
    created: int
    model: str
    version: str
    prompt_tokens: int = 0
    own: dict[str, Any] = field(default_factory=dict)  # the field guidedviz


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


def call_object(call: ToolCall, name: str, custom: frozenset[str]) -> dict[str, Any]:
    """A call as a client reads it; its arguments are the text of their JSON."""
    if call.name in custom:
        return {"id": name, "type": "custom", "custom": {"name": call.name, "input": call.arguments.get(INPUT, "")}}
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    return {"id": name, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def call_objects(
    head: AnswerHead, place: int, writer: ChoiceWriter, request: CompletionRequest
) -> list[dict[str, Any]]:
    """The calls of a choice; each has a name that no other call of the run has."""
    custom = request.offered.custom
    calls = enumerate(writer.calls)
    return [call_object(call, f"call_{head.name}_{place}_{number}", custom) for number, call in calls]


def log_object(logs: tuple[TokenLog, ...]) -> dict[str, Any]:
    """The log-probability of one token, and of the likeliest ones."""
    own, *likeliest = map(piece_object, logs)
    return {**own, "top_logprobs": likeliest}


def piece_object(one: TokenLog) -> dict[str, Any]:
    """A token with its log-probability."""
    return {"token": one.piece.decode("utf-8", "replace"), "logprob": one.log, "bytes": [*one.piece]}


class ChatForm:
    """The objects of /v1/chat/completions."""

    prefix = "chatcmpl"
    end = STREAM_END

    def whole(self, head: AnswerHead, request: CompletionRequest, choices: list[tuple[ChoiceWriter, Delta]]) -> Any:
        """An answer that is not streamed."""
        listed = []
        for place, (writer, delta) in enumerate(choices):
            message: dict[str, Any] = {"role": "assistant", "content": delta.text, "refusal": None}
            if delta.thinking:
                message["reasoning_content"] = delta.thinking
            calls = call_objects(head, place, writer, request)
            if calls:
                message["tool_calls"] = calls
                message["content"] = delta.text or None
            listed.append(self._choice(place, "message", message, delta, finish_reason(writer)))
        usage = usage_of(head, (writer for writer, _ in choices))
        return self._object("chat.completion", head, listed) | {"usage": usage, "guidedviz": head.own}

    def first(self, head: AnswerHead, place: int, request: CompletionRequest) -> list[Any]:
        """The first chunk of a choice."""
        delta = {"role": "assistant", "content": ""}
        return [self._chunk(head, self._choice(place, "delta", delta, Delta(), None)) | {"guidedviz": head.own}]

    def grown(self, head: AnswerHead, place: int, delta: Delta) -> list[Any]:
        """A chunk of a text."""
        said = {}
        if delta.thinking:
            said["reasoning_content"] = delta.thinking
        if delta.text or not said:
            said["content"] = delta.text
        return [self._chunk(head, self._choice(place, "delta", said, delta, None))]

    def last(self, head: AnswerHead, place: int, writer: ChoiceWriter, request: CompletionRequest) -> list[Any]:
        """The chunks of the calls, and the last chunk of a choice."""
        chunks = []
        for number, call in enumerate(call_objects(head, place, writer, request)):
            said = {"tool_calls": [{"index": number, **call}]}
            chunks.append(self._chunk(head, self._choice(place, "delta", said, Delta(), None)))
        ended = self._choice(place, "delta", {}, Delta(), finish_reason(writer))
        return [*chunks, self._chunk(head, ended) | {"guidedviz": head.own}]

    def usage(self, head: AnswerHead, writers: Iterable[ChoiceWriter]) -> list[Any]:
        """The chunk of the usage."""
        return [self._object("chat.completion.chunk", head, []) | {"usage": usage_of(head, writers)}]

    def _chunk(self, head: AnswerHead, choice: Any) -> dict[str, Any]:
        return self._object("chat.completion.chunk", head, [choice])

    def _choice(self, place: int, key: str, said: Mapping[str, Any], delta: Delta, end: str | None) -> Any:
        logs = {"content": [*map(log_object, delta.logs)], "refusal": None} if delta.logs else None
        return {"index": place, key: said, "logprobs": logs, "finish_reason": end}

    def _object(self, kind: str, head: AnswerHead, choices: list[Any]) -> dict[str, Any]:
        named = {"id": f"{self.prefix}-{head.name}", "object": kind, "created": head.created, "model": head.model}
        return {**named, "system_fingerprint": head.version, "choices": choices}


class TextForm:
    """The objects of /v1/completions; chunks have the form of answers."""

    prefix = "cmpl"
    end = STREAM_END

    def whole(self, head: AnswerHead, request: CompletionRequest, choices: list[tuple[ChoiceWriter, Delta]]) -> Any:
        """An answer that is not streamed."""
        listed = []
        for place, (writer, delta) in enumerate(choices):
            listed.append(self._choice(place, delta, finish_reason(writer)))
        usage = usage_of(head, (writer for writer, _ in choices))
        return self._object(head, listed) | {"usage": usage, "guidedviz": head.own}

    def first(self, head: AnswerHead, place: int, request: CompletionRequest) -> list[Any]:
        """The first chunk of a choice."""
        return [self._object(head, [self._choice(place, Delta(), None)]) | {"guidedviz": head.own}]

    def grown(self, head: AnswerHead, place: int, delta: Delta) -> list[Any]:
        """A chunk of a text."""
        return [self._object(head, [self._choice(place, delta, None)])]

    def last(self, head: AnswerHead, place: int, writer: ChoiceWriter, request: CompletionRequest) -> list[Any]:
        """The last chunk of a choice."""
        ended = self._choice(place, Delta(), finish_reason(writer))
        return [self._object(head, [ended]) | {"guidedviz": head.own}]

    def usage(self, head: AnswerHead, writers: Iterable[ChoiceWriter]) -> list[Any]:
        """The chunk of the usage."""
        return [self._object(head, []) | {"usage": usage_of(head, writers)}]

    def _choice(self, place: int, delta: Delta, end: str | None) -> Any:
        logs = None
        if delta.logs:
            tokens = [piece_object(one[0]) for one in delta.logs]
            top = [{piece_object(other)["token"]: other.log for other in one[1:]} for one in delta.logs]
            logs = {
                "tokens": [one["token"] for one in tokens],
                "token_logprobs": [one["logprob"] for one in tokens],
                "top_logprobs": top,
                "text_offset": [],
            }
        return {"index": place, "text": delta.text, "logprobs": logs, "finish_reason": end}

    def _object(self, head: AnswerHead, choices: list[Any]) -> dict[str, Any]:
        named = {"id": f"{self.prefix}-{head.name}", "object": "text_completion", "created": head.created}
        return {**named, "model": head.model, "system_fingerprint": head.version, "choices": choices}


def as_events(chunks: Iterable[dict[str, Any]]) -> bytes:
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


def models_object(model: str) -> dict[str, Any]:
    """The list of models: the one of the host."""
    return {"object": "list", "data": [{"id": model, "object": "model", "created": 0, "owned_by": "guidedviz"}]}
