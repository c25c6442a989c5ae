"""What a model said in one turn, read from its tokens: its thinking, its text, and the tools that it calls.

A style says how a turn is written (`machines/turn.py`). Where it has special tokens, they are signs here that no text
can spell, so a text such as `<tool_call>` is no call.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from guidedviz.machines.names import write_surrogates
from guidedviz.machines.turn import Style
from guidedviz.models.chat import any_of
from guidedviz.models.messages import Message, map_texts

BEGINS_NAME = "\udcff"  # around the name of a special token; lone surrogates are in no text
ENDS_NAME = "\udcfe"


@dataclass(frozen=True)
class ToolCall:
    """A call of a tool by a model."""

    name: str
    arguments: Any  # what JSON holds

    def __str__(self) -> str:
        return f"{self.name} {json.dumps(self.arguments, ensure_ascii=False)}"


@dataclass(frozen=True)
class Reply:
    """One turn of a model."""

    thinking: str
    text: str
    calls: tuple[ToolCall, ...]

    @property
    def message(self) -> Message:
        """The answer as a message of a conversation."""
        made: Message = {"role": "assistant", "content": self.text}
        if self.thinking:
            made["reasoning_content"] = self.thinking
        if self.calls:
            functions = [{"name": call.name, "arguments": call.arguments} for call in self.calls]
            made["tool_calls"] = [{"type": "function", "function": function} for function in functions]
        return made


def message_of(reply: Reply, style: Style) -> Message:
    """The answer as a message of a conversation. Calls that are marked as text stay in the text.

    A template of a model without special tokens for calls leaves out `tool_calls`, and its model would not read them.

    >>> from guidedviz.machines.turn import TURN_STYLES
    >>> message_of(Reply("", "So:", (ToolCall("now", {}),)), TURN_STYLES["text"])["content"]
    'So:\\n<tool_call>\\n{"name": "now", "arguments": {}}\\n</tool_call>'
    """
    if style.special:
        return reply.message
    texts = [reply.text] if reply.text else []
    before, after = style.call.split("ARGS")
    for call in reply.calls:
        begin = before.replace("NAME", json.dumps(call.name, ensure_ascii=False))
        texts.append(begin + json.dumps(call.arguments, ensure_ascii=False) + after)
    return replace(reply, text="\n".join(texts), calls=()).message


def split_reply(parts: Sequence[str], style: Style, thinks: bool | str = True) -> Reply:
    """The answer in the parts of a trace: texts and special tokens in turn. `thinks`: "open" if the prompt began it.

    >>> from guidedviz.machines.turn import TURN_STYLES
    >>> parts = ("", "<tool_call>", '\\n{"name": "now", "arguments": {}}\\n', "</tool_call>", "")
    >>> split_reply(parts, TURN_STYLES["hermes"]).calls, split_reply(["".join(parts)], TURN_STYLES["hermes"]).calls
    ((ToolCall(name='now', arguments={}),), ())
    """
    said = join_parts(parts)
    thinking = ""
    if style.think and thinks:
        thinking, said = _split_thinking(said, style, is_open=thinks == "open")
    places = list(_find_calls(said, style))
    text = said[: places[0][0]] if places else said
    before, after = style_signs(style, style.answer).split("TEXT")
    text = text.removeprefix(before).removesuffix(after)
    return Reply(thinking, without_signs(text), tuple(call for _, call in places))


def sign(name: str) -> str:
    """A special token in a text."""
    return BEGINS_NAME + name + ENDS_NAME


def join_parts(parts: Sequence[str]) -> str:
    """Texts and special tokens in turn as one text, with signs around the special tokens."""
    return "".join(sign(part) if place % 2 else part for place, part in enumerate(parts))


def without_signs(text: str, strip: bool = True) -> str:
    """The text without special tokens, and without white space around it unless `strip` is False."""
    kept = re.sub(f"{BEGINS_NAME}.*?({ENDS_NAME}|$)", "", text, flags=re.DOTALL)
    return kept.strip() if strip else kept


def begins_thinking(parts: Sequence[str], style: Style) -> bool:
    """Whether a prompt ends with the begin of thinking, so that the model thinks at once."""
    if not style.think:
        return False
    return join_parts(parts).rstrip().endswith(style_signs(style, style.think).split("TEXT")[0])


def _split_thinking(said: str, style: Style, is_open: bool) -> tuple[str, str]:
    """The thinking, and what follows it; an answer that is cut may have nothing else."""
    begin, end = style_signs(style, style.think).split("TEXT")
    if not is_open and not said.startswith(begin):
        return "", said
    thinking, _, rest = said.removeprefix(begin).partition(end)
    return without_signs(thinking), rest


def style_signs(style: Style, text: str) -> str:
    """A text of a style with signs around its special tokens."""
    return any_of(style.special).sub(lambda found: sign(found[0]), text)


def _find_calls(said: str, style: Style) -> Iterator[tuple[int, ToolCall]]:
    """The calls in a text, each with the place where it begins; one that is cut or is no JSON is none."""
    head, tail = style_signs(style, style.call).split("ARGS")
    name = "(.*?)" if "PLAIN_NAME" in head else r'("(?:[^"\\]|\\.)*")'
    pattern = re.escape(head).replace("PLAIN_NAME", name).replace("NAME", name)
    opening = re.escape(style_signs(style, style.opens))
    begins = re.compile(f"(?:{opening})?{pattern}", re.DOTALL)
    place = 0
    while found := begins.search(said, place):
        place = found.end()
        try:
            arguments, behind = json.JSONDecoder().raw_decode(said, place)
            called = json.loads(found[1]) if found[1].startswith('"') else found[1]
            arguments = map_texts(arguments, write_surrogates)
        except (ValueError, RecursionError):
            continue
        if said.startswith(tail, behind):
            place = behind
            yield found.start(), ToolCall(write_surrogates(called), arguments)
