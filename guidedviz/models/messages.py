"""Messages for a chat template, in the form that all use: each has a role and a content.

An answer of a model may have its thinking as `reasoning_content`, and calls of tools; a result of a tool is a message:

    {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "add", "arguments": {"a": 1, "b": 2}}}]}
    {"role": "tool", "name": "add", "content": "3"}
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from guidedviz.errors import SettingError, quoted
from guidedviz.machines.names import has_surrogate
from guidedviz.machines.tools import read_tools
from guidedviz.models.sandbox import LONGEST
from guidedviz.models.template import WHERE

Message = dict[str, Any]
Messages = str | Sequence[Mapping[str, Any]]
MESSAGE_HINT = '[{"role": "user", "content": "..."}]'
A_CALL = '{"function": {"name": ..., "arguments": {...}}}'
CALL_HINT = '"tool_calls": [{"type": "function", "function": {"name": "add", "arguments": {"a": 1}}}]'


def template_values(messages: Messages, tools: Iterable[Any], think: bool) -> dict[str, Any]:
    """The variables of a chat template; those of tools and of thinking only where they say something."""
    values: dict[str, Any] = {"messages": check_messages(messages)}
    offered = offer_tools(tools)
    if offered:
        values["tools"] = offered
    if not think:
        values["enable_thinking"] = False
    return values


def check_messages(messages: Any) -> list[Message]:
    """Messages with a role and a content, which are texts; a text alone is a question of the user."""
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    if isinstance(messages, Mapping) or not isinstance(messages, Iterable):
        raise wrong_form("", quoted(messages), "a text, or a list of messages with a role and a content")
    asked = [check_message(f", messages[{place}]", message) for place, message in enumerate(messages)]
    if not asked:
        raise wrong_form("", "no message", "a text, or a list of messages with a role and a content")
    size = len(join_texts(asked))
    if size > LONGEST:
        hint = "shorter messages, or fewer of them"
        raise SettingError(WHERE, seen=f"{size:,} characters", expected=f"at most {LONGEST:,}", hint=hint)
    return asked


def check_message(place: str, message: Any) -> Message:
    """One message of a conversation; `place` says which."""
    if not isinstance(message, Mapping):
        raise wrong_form(place, quoted(message), "a message with a role and a content")
    made = dict(message)
    calls = made.pop("tool_calls", None)
    if calls and made.get("content") is None:
        made["content"] = ""
    for key in ("role", "content"):
        if key not in made:
            raise wrong_form(place, f"no {key}", "a message with a role and a content")
    for key, text in made.items():
        check_field(f"{place}[{quoted(key)}]", key, text)
    if calls:
        made["tool_calls"] = check_calls(f"{place}['tool_calls']", calls)
    return made


def check_field(field: str, key: Any, text: Any) -> None:
    """Refuse a key and a value that are not texts that UTF-8 can encode."""
    if not isinstance(key, str) or not isinstance(text, str):
        raise wrong_form(field, quoted(text), "a text")
    if has_surrogate(key + text):
        raise wrong_form(field, "a lone surrogate", "text that UTF-8 can encode")


def check_calls(place: str, calls: Any) -> list[Message]:
    """The calls of tools in a message, each with a name and arguments."""
    if not isinstance(calls, list | tuple):
        raise wrong_form(place, quoted(calls), "a list of calls", CALL_HINT)
    return [check_call(f"{place}[{number}]", call) for number, call in enumerate(calls)]


def check_call(place: str, call: Any) -> Message:
    """One call; arguments that are JSON text are read, because templates write them as JSON."""
    inside = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(inside, Mapping) or not isinstance(inside.get("name"), str):
        raise wrong_form(place, quoted(call), A_CALL, CALL_HINT)
    arguments = inside.get("arguments", {})
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            raise wrong_form(f"{place}, arguments", quoted(arguments), "JSON", CALL_HINT) from None
    function = {"name": inside["name"], "arguments": plain_json(f"{place}, arguments", arguments)}
    made = {"type": "function", "function": function}
    if isinstance(call.get("id"), str):
        made["id"] = call["id"]
    if has_surrogate(join_texts(made)):
        raise wrong_form(place, "a lone surrogate", "text that UTF-8 can encode")
    return made


def plain_json(place: str, value: Any) -> Any:
    """A copy of a value that JSON can hold."""
    try:
        return json.loads(json.dumps(value))
    except (TypeError, ValueError, RecursionError) as error:
        raise SettingError(WHERE + place, seen=str(error), expected="what JSON can write") from None


def offer_tools(tools: Iterable[Any]) -> list[Message]:
    """Tools as templates take them: functions, Pydantic classes or dicts become dicts of one form.

    >>> def add(a: int, b: int) -> int:
    ...     "The sum."
    >>> offer_tools([add])[0]["function"]["description"]
    'The sum.'
    """
    offered = []
    for number, tool in enumerate(read_tools(tools, f"{WHERE}, tools")):
        function = {"name": tool.name, "description": tool.about, "parameters": tool.schema}
        offered.append({"type": "function", "function": plain_json(f", tools[{number}]", function)})
    return offered


def map_texts(value: Any, change: Callable[[str], str]) -> Any:
    """The same lists and dicts with every text changed, keys too.

    >>> map_texts([{"a": ["b", 1]}], str.upper)
    [{'A': ['B', 1]}]
    """
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(key): map_texts(inside, change) for key, inside in value.items()}
    if isinstance(value, list):
        return [map_texts(inside, change) for inside in value]
    return value


def join_texts(value: Any) -> str:
    """All texts of messages in one, keys too."""
    texts = []
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            waiting += part
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
    return "".join(texts)


def wrong_form(place: str, seen: str, expected: str, hint: str = MESSAGE_HINT) -> SettingError:
    """The error for messages of another form."""
    return SettingError(WHERE + place, seen=seen, expected=expected, hint=hint)
