"""The body of /v1/responses: its items as messages, and its fields as those of /v1/chat/completions."""

from typing import Any

from guidedviz.errors import SettingError
from guidedviz.host.api.fields import Fields, read_fields, wrong_field
from guidedviz.host.api.request import CompletionRequest, read_messages, read_rest
from guidedviz.machines.tools import INPUT

NOT_KEPT = "no effect: the host keeps no conversation"


def read_response(body: bytes) -> CompletionRequest:
    """The body of /v1/responses."""
    fields = read_fields(body)
    if "previous_response_id" in fields.left:
        hint = "the whole conversation as input"
        raise SettingError("previous_response_id", seen="an answer before", expected="no such field", hint=hint)
    fields.note("store", NOT_KEPT)
    fields.aliases = {"response_format": "text.format"}
    fields.whole("n", 1, 1, 1)
    items = fields.take("input", (str, list), "a text or a list of items")
    if isinstance(items, str):
        items = [{"role": "user", "content": items}]
    if not items:
        raise wrong_field("input", items, "a text, or a list of at least one item")
    messages = items_as_messages(items, fields.notes)
    told = fields.text("instructions")
    if told:
        messages.insert(0, {"role": "system", "content": told})
    form = fields.inner("text")
    if form:
        form.note("verbosity", "no effect here")
        fields.left["response_format"] = form.take("format", dict, "an object")
        form.refuse_others()
    top = fields.whole("top_logprobs", 0, 20, None)
    return read_rest(fields, read_messages(messages), "", top)


def items_as_messages(items: list[Any], notes: list[str]) -> list[Any]:
    """Items as messages: calls that follow each other belong to one message."""
    messages: list[Any] = []
    for place, item in enumerate(items):
        kind = item.get("type", "message") if isinstance(item, dict) else None
        if kind == "message":
            messages.append({"role": item.get("role"), "content": item.get("content")})
        elif kind in ("function_call", "custom_tool_call"):
            add_call(messages, Fields(item, f"input[{place}]"))
        elif kind in ("function_call_output", "custom_tool_call_output"):
            output = Fields(item, f"input[{place}]")
            text = output.text("output")
            messages.append({"role": "tool", "tool_call_id": output.text("call_id"), "content": text})
        elif kind == "reasoning":
            notes.append(f"input[{place}]: the model does not read its reasoning of before")
        else:
            raise wrong_field(f"input[{place}]", item, "a message, a call of a tool, or its output")
    return messages


def add_call(messages: list[Any], item: Fields) -> None:
    """Add a call to the message of the assistant before it, or to a new one."""
    if not messages or messages[-1].get("role") != "assistant":
        messages.append({"role": "assistant", "content": ""})
    arguments: Any = item.text("arguments")
    if "input" in item.left:
        arguments = {INPUT: item.text("input")}
    call = {"id": item.text("call_id"), "function": {"name": item.text("name"), "arguments": arguments}}
    messages[-1].setdefault("tool_calls", []).append(call)
