"""The JSON of answers and events, as /v1/responses has them: an answer is a list of items.

The items are at most one of reasoning and one message, then one per call. A stream opens each item, adds to it and
closes it; the same items stand in the answer that is not streamed.
"""

import json
from typing import Any

from guidedviz.decoding.reply import ToolCall
from guidedviz.host.api.answer import ChoiceWriter, Delta
from guidedviz.host.api.fields import JsonObject
from guidedviz.host.api.forms import AnswerHead, finish_reason, log_object, usage_of
from guidedviz.host.api.request import CompletionRequest
from guidedviz.machines.tools import INPUT

ITEM_PARTS = {"reasoning": "reasoning_text", "message": "output_text"}


class ResponseForm:
    """The objects of /v1/responses; one per answer, because its events are counted."""

    end = b""

    def __init__(self, head: AnswerHead, request: CompletionRequest) -> None:
        self.head = head
        self.request = request
        self._sent = 0
        self._items: list[JsonObject] = []  # the last one is open

    def whole(self, choices: list[tuple[ChoiceWriter, Delta]]) -> Any:
        """An answer that is not streamed."""
        ((writer, delta),) = choices
        self.grown(0, delta)
        closing = self.last([writer])[-1]
        return closing["response"]

    def first(self) -> list[Any]:
        """The events that open an answer."""
        opened = response_object(self.head, self.request, [], [])
        return [self._event("response.created", response=opened), self._event("response.in_progress", response=opened)]

    def grown(self, place: int, delta: Delta) -> list[Any]:
        """The events of a text."""
        events = []
        for kind, text in (("reasoning", delta.thinking), ("message", delta.text)):
            if text:
                events += self._open(kind)
                item = self._items[-1]
                item["content"][0]["text"] += text
                logs = {"logprobs": [*map(log_object, delta.logs)]} if kind == "message" else {}
                for name, more in logs.items():
                    item["content"][0][name] += more
                events.append(self._part(f"{ITEM_PARTS[kind]}.delta", delta=text, **logs))
        return events

    def last(self, writers: list[ChoiceWriter]) -> list[Any]:
        """The events of the calls, and those that close the answer."""
        (writer,) = writers
        events = []
        if not writer.calls:
            events += self._open("message")
        events += self._close()
        for number, call in enumerate(writer.calls):
            item = call_item(self.head, number, call, self.request)
            self._items.append(item)
            key = "input" if "input" in item else "arguments"
            kind = "custom_tool_call_input" if key == "input" else "function_call_arguments"
            events.append(self._item_event("added", {**item, key: "", "status": "in_progress"}))
            events.append(self._part(f"{kind}.delta", delta=item[key]))
            done = {key: item[key], "name": item["name"]}
            events.append(self._part(f"{kind}.done", **done))
            events.append(self._item_event("done", item))
        closed = response_object(self.head, self.request, self._items, writers)
        return [*events, self._event(f"response.{closed['status']}", response=closed)]

    def _open(self, kind: str) -> list[Any]:
        """Open an item of text, unless it is open."""
        if self._items and self._items[-1]["type"] == kind:
            return []
        events = self._close()
        item = text_item(self.head, kind)
        self._items.append(item)
        events.append(self._item_event("added", {**item, "content": [], "status": "in_progress"}))
        return [*events, self._part("content_part.added", part=dict(item["content"][0]))]

    def _close(self) -> list[Any]:
        """Close the item of text that is open."""
        if not self._items:
            return []
        item = self._items[-1]
        part = item["content"][0]
        logs: JsonObject = {"logprobs": []} if item["type"] == "message" else {}
        done = self._part(f"{part['type']}.done", text=part["text"], **logs)
        return [done, self._part("content_part.done", part=part), self._item_event("done", item)]

    def _part(self, name: str, /, **said: Any) -> JsonObject:
        place = len(self._items) - 1
        where = {"item_id": self._items[place]["id"], "output_index": place, "content_index": 0}
        return self._event(f"response.{name}", **where, **said)

    def _item_event(self, name: str, item: JsonObject) -> JsonObject:
        return self._event(f"response.output_item.{name}", output_index=len(self._items) - 1, item=dict(item))

    def _event(self, name: str, /, **said: Any) -> JsonObject:
        self._sent += 1
        return {"type": name, "sequence_number": self._sent - 1, **said}


def text_item(head: AnswerHead, kind: str) -> JsonObject:
    """An item of reasoning, or a message, without its text."""
    part: JsonObject = {"type": ITEM_PARTS[kind], "text": ""}
    item: JsonObject = {"id": f"{kind}_{head.name}", "type": kind, "status": "completed", "content": [part]}
    if kind == "reasoning":
        return item | {"summary": []}
    part |= {"annotations": [], "logprobs": []}
    return item | {"role": "assistant"}


def call_item(head: AnswerHead, place: int, call: ToolCall, request: CompletionRequest) -> JsonObject:
    """The item of a call."""
    name = f"{head.name}_{place}"
    item = {"id": f"fc_{name}", "call_id": f"call_{name}", "status": "completed"}
    if call.name in request.offered.custom:
        return {**item, "type": "custom_tool_call", "name": call.name, "input": call.arguments.get(INPUT, "")}
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    return {**item, "type": "function_call", "name": call.name, "arguments": arguments}


def response_object(
    head: AnswerHead, request: CompletionRequest, items: list[JsonObject], writers: list[ChoiceWriter]
) -> JsonObject:
    """The whole answer; without a writer it is in progress."""
    status = "in_progress"
    if writers:
        status = "incomplete" if finish_reason(writers[0]) == "length" else "completed"
    count = usage_of(head, writers)
    usage = {
        "input_tokens": count["prompt_tokens"],
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": count["completion_tokens"],
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": count["total_tokens"],
    }
    return {
        "id": f"resp_{head.name}",
        "object": "response",
        "created_at": head.created,
        "status": status,
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if status == "incomplete" else None,
        "instructions": None,
        "metadata": {},
        "model": head.model,
        "output": items,
        "parallel_tool_calls": True,
        "temperature": request.settings.temperature,
        "top_p": request.settings.top_p,
        "tool_choice": "auto",
        "tools": [],
        "usage": usage if writers else None,
        "guidedviz": head.own,
    }
