"""The chat template of scout in Python: what `chat_template.jinja` beside its weights writes, without Jinja.

A browser tab and an install without extras have no Jinja, and scout talks there, too. A test holds the two equal.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

NO_THOUGHT = "<think>\n\n</think>\n\n"


def write_scout_chat(
    messages: Sequence[Mapping[str, Any]],
    tools: Iterable[Mapping[str, Any]] | None = None,
    enable_thinking: bool = True,
    add_generation_prompt: bool = False,
    **names: Any,
) -> str:
    """The conversation as scout reads it.

    >>> print(write_scout_chat([{"role": "user", "content": "Hi"}], add_generation_prompt=True), end="")
    <|im_start|>user
    Hi<|im_end|>
    <|im_start|>assistant
    """
    parts = [_system(messages[0], list(tools or ()))]
    earlier = ""  # the role of the message before
    for place, message in enumerate(messages):
        role = message["role"]
        if role == "tool":
            later = messages[place + 1]["role"] if place + 1 < len(messages) else ""
            parts.append(_result(message, earlier != "tool", later != "tool"))
        elif role == "assistant":
            parts.append(_answer(message, enable_thinking))
        elif role != "system" or place:
            parts.append(_frame(role, message["content"]))
        earlier = role
    if add_generation_prompt:
        parts.append("<|im_start|>assistant\n")
        if not enable_thinking:
            parts.append(NO_THOUGHT)
    return "".join(parts)


def _frame(role: str, content: str) -> str:
    """A message between the tokens that begin and end it."""
    return f"<|im_start|>{role}\n{content}<|im_end|>\n"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _system(first: Mapping[str, Any], tools: list[Mapping[str, Any]]) -> str:
    """What stands before the first question: a system message, and the tools."""
    lines = []
    if first["role"] == "system":
        lines.append(first["content"])
    if tools:
        lines += ["Tools:", *map(_tool, tools)]
    return _frame("system", "\n".join(lines)) if lines else ""


def _tool(tool: Mapping[str, Any]) -> str:
    """A tool as a line of JSON: its name, what it does, and the types of its arguments."""
    tool = tool.get("function") or tool
    keys = [f"{_json(key)}: {_json(_type_of(form))}" for key, form in _properties_of(tool).items()]
    about = _json(tool.get("description") or "")
    return f'{{"name": {_json(tool["name"])}, "description": {about}, "arguments": {{{", ".join(keys)}}}}}'


def _properties_of(tool: Mapping[str, Any]) -> dict[str, Any]:
    schema = tool.get("parameters")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return properties if isinstance(properties, dict) else {}


def _type_of(form: Any) -> Any:
    named = form.get("type") if isinstance(form, dict) else None
    return named or "any"


def _result(message: Mapping[str, Any], begins: bool, ends: bool) -> str:
    """A result; several in a row stand in one frame."""
    text = f"\n<tool_response>\n{message['content']}\n</tool_response>"
    if begins:
        text = "<|im_start|>tool" + text
    if ends:
        text += "<|im_end|>\n"
    return text


def _answer(message: Mapping[str, Any], thinks: bool) -> str:
    """What the model said: its thought, its text, its calls."""
    thought = message.get("reasoning_content") or ""
    content = (message.get("content") or "").strip("\n")
    lines = [content] if content else []
    lines += map(_call, message.get("tool_calls") or ())
    said = "\n".join(lines)
    if thought or not thinks:
        said = "<think>\n" + thought.strip("\n") + "\n</think>\n\n" + said
    return _frame("assistant", said)


def _call(call: Mapping[str, Any]) -> str:
    call = call.get("function") or call
    arguments = call["arguments"]
    if not isinstance(arguments, str):
        arguments = _json(arguments)
    return f'<tool_call>\n{{"name": {_json(call["name"])}, "arguments": {arguments}}}\n</tool_call>'
