"""What a request asks for, read from its body: a prompt, a constraint, tools, and how tokens are chosen."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from secrets import randbelow
from typing import Any

from guidedviz.decoding.sampling import Settings
from guidedviz.errors import SettingError
from guidedviz.host.api.constraint import Constraint, read_constraint
from guidedviz.host.api.fields import LARGEST_COUNT, Fields, JsonObject, read_fields, wrong_field
from guidedviz.host.api.tool_fields import OfferedTools, read_offered
from guidedviz.models.messages import check_messages
from guidedviz.models.template import WHERE

TOKEN_ID = re.compile("[0-9]{1,9}")
MOST_ANSWER_CHOICES = 4
MOST_STOPS = 4
MOST_TOP = 20  # likeliest tokens beside the one that was chosen
USUAL_TOKENS = 512  # of an answer, if the body does not say
LONGEST_ANSWER = 4096
IGNORED_FIELDS = {  # a field -> the values that ask for nothing
    "frequency_penalty": (0,),
    "presence_penalty": (0,),
    "min_p": (0,),
    "echo": (False,),
    "store": (False,),
    **dict.fromkeys(("reasoning_effort", "reasoning", "verbosity", "service_tier", "metadata", "user"), ()),
    **dict.fromkeys(("prompt_cache_key", "safety_identifier", "include", "truncation", "background"), ()),
}


@dataclass(frozen=True)
class CompletionRequest:
    """One request; its answer has `count` choices."""

    model: str
    messages: tuple[JsonObject, ...]
    prompt: str  # where there are no messages
    constraint: Constraint | None
    offered: OfferedTools
    settings: Settings
    stops: tuple[str, ...]
    count: int
    top: int | None  # how many likeliest tokens each token's logprobs have; None for no logprobs
    stream: bool
    usage: bool  # whether a stream ends with a chunk of the usage
    think: bool
    share: bool  # whether the teacher may see the run
    notes: tuple[str, ...]


Reader = Callable[[bytes], CompletionRequest]


def read_chat(body: bytes) -> CompletionRequest:
    """The body of /v1/chat/completions."""
    fields = read_fields(body)
    messages = read_messages(fields.take("messages", list, "a list of messages"))
    flag = fields.flag("logprobs")
    top = fields.whole("top_logprobs", 0, MOST_TOP, 0)
    return read_rest(fields, messages, "", top if flag else None)


def read_plain(body: bytes) -> CompletionRequest:
    """The body of /v1/completions."""
    fields = read_fields(body)
    prompt = fields.take("prompt", (str, list), "a text")
    if isinstance(prompt, list) and len(prompt) == 1:
        prompt = prompt[0]
    if not isinstance(prompt, str) or not prompt:
        raise wrong_field("prompt", prompt, "one text that is not empty")
    return read_rest(fields, (), prompt, fields.whole("logprobs", 0, MOST_TOP, None))


def read_rest(fields: Fields, messages: tuple[JsonObject, ...], prompt: str, top: int | None) -> CompletionRequest:
    """What both bodies say about the answer."""
    offered = read_offered(fields)
    constraint = read_constraint(fields)
    if constraint and offered.tools:
        seen = f"{constraint.field} and tools"
        raise SettingError(constraint.field, seen=seen, expected="one of both", hint='"tool_choice": "none"')
    stream = fields.flag("stream")
    options = fields.inner("stream_options") or Fields({})
    template = fields.inner("chat_template_kwargs") or Fields({})
    own = fields.inner("guidedviz") or Fields({})
    request = CompletionRequest(
        model=fields.text("model"),
        messages=messages,
        prompt=prompt,
        constraint=constraint,
        offered=offered,
        settings=read_settings(fields),
        stops=read_stops(fields),
        count=fields.whole("n", 1, MOST_ANSWER_CHOICES, 1),
        top=top,
        stream=stream,
        usage=options.flag("include_usage"),
        think=template.flag("enable_thinking", True),
        share=own.flag("share"),
        notes=(),
    )
    options.note("include_obfuscation", "no effect: nothing is added to a stream")
    for name, neutral in IGNORED_FIELDS.items():
        if fields.left.get(name) in neutral:
            del fields.left[name]
        fields.note(name, "no effect here")
    for part in (options, template, own, fields):
        part.refuse_others()
    return replace(request, notes=tuple(fields.notes))


def read_settings(fields: Fields) -> Settings:
    """How tokens are chosen; without a seed each answer is another one."""
    wanted = USUAL_TOKENS
    for name in ("max_tokens", "max_completion_tokens", "max_output_tokens"):
        wanted = fields.whole(name, 1, LARGEST_COUNT, wanted)
    if wanted > LONGEST_ANSWER:
        fields.notes.append(f"max_tokens: {wanted:,}, but an answer has at most {LONGEST_ANSWER:,} tokens here")
    return Settings(
        temperature=fields.number("temperature", 0, 100, 1),
        top_k=max(0, fields.whole("top_k", -1, LARGEST_COUNT, 0)),
        top_p=fields.number("top_p", 1e-9, 1, 1),
        repetition_penalty=fields.number("repetition_penalty", 0.01, 100, 1),
        seed=fields.whole("seed", 0, LARGEST_COUNT, randbelow(1 << 31)),
        max_tokens=min(wanted, LONGEST_ANSWER),
        bias=read_bias(fields.take("logit_bias", dict, "a bias per token id", {})),
    )


def read_bias(given: JsonObject) -> dict[int, float]:
    """The bias per token; JSON has its ids as texts."""
    if not all(map(TOKEN_ID.fullmatch, given)):
        raise wrong_field("logit_bias", given, '{"TOKEN ID": a number from -100 to 100}')
    return {int(token): amount for token, amount in given.items()}


def read_stops(fields: Fields) -> tuple[str, ...]:
    """The texts that end an answer."""
    expected = f"a text, or at most {MOST_STOPS} texts"
    found = fields.take("stop", (str, list), expected, [])
    stops = [found] if isinstance(found, str) else found
    wrong = [stop for stop in stops if not isinstance(stop, str) or not stop]
    if wrong or len(stops) > MOST_STOPS:
        raise wrong_field("stop", found, expected)
    return tuple(stops)


def read_messages(given: list[Any] | None) -> tuple[JsonObject, ...]:
    """Messages as a chat template takes them: their texts in one, and no field without a value."""
    if not given:
        raise wrong_field("messages", given, "at least one message", '[{"role": "user", "content": "..."}]')
    made = [read_message(message, f"messages[{place}]") for place, message in enumerate(given)]
    try:
        return tuple(check_messages(made))
    except SettingError as error:
        where = error.where.removeprefix(f"{WHERE}, ")
        raise SettingError(where, seen=error.seen, expected=error.expected, hint=error.hint) from None


def read_message(given: Any, where: str) -> JsonObject:
    """One message."""
    if not isinstance(given, dict):
        raise wrong_field(where, given, "a message with a role and a content")
    made = {name: value for name, value in given.items() if value not in (None, [])}
    if made.get("role") == "developer":
        made["role"] = "system"
    content = made.get("content", "")
    if isinstance(content, list):
        parts = [read_part(part, f"{where}.content[{place}]") for place, part in enumerate(content)]
        content = "".join(parts)
    made["content"] = content
    if "tool_calls" in made and isinstance(made["tool_calls"], list):
        made["tool_calls"] = [as_function(call) for call in made["tool_calls"]]
    return made


def read_part(part: Any, where: str) -> str:
    """The text of a part of a message."""
    text = part.get("text") if isinstance(part, dict) else None
    if not isinstance(text, str):
        raise wrong_field(
            where, part, '{"type": "text", "text": "..."}', "texts only: no model here reads anything else"
        )
    return text


def as_function(call: Any) -> Any:
    """A call of a custom tool as that of a function of one text; any other call as it is."""
    inside = call.get("custom") if isinstance(call, dict) else None
    if not isinstance(inside, dict):
        return call
    function = {"name": inside.get("name"), "arguments": {"input": inside.get("input")}}
    return {"id": call.get("id"), "type": "function", "function": function}
