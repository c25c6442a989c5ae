"""A conversation as a chat model reads it: the model's template, with special tokens that no person can write.

A template is a program in Jinja that comes with the model, so it runs in a sandbox, with a limited number of steps.
What a person writes stays text: the text of a special token in it is a sign of its own until the template has run.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from guidedviz.errors import ModelError, SettingError, quoted
from guidedviz.extras import need

STEPS = 200_000  # lines that a template may run
LARGE = ("*", "**", "%")  # operators that make long texts and numbers of short ones
WIDE = {"center", "format", "indent", "wordwrap"}  # filters that do
LONGEST = 1 << 20  # characters of a rendered conversation
WHERE = "model.chat"
CHAT_MODEL = 'gv.load_model("smollm2")'
Messages = str | Sequence[Mapping[str, str]]


class Prompt(str):
    """A conversation as a model reads it: the text of its template, and the tokens, of which some are special.

    `parts` are its plain texts and its special tokens in turn, a text first.

    >>> prompt = Prompt("<|user|>Hi", (1, 72), ("", "<|user|>", "Hi"))
    >>> prompt, prompt.tokens, prompt.parts
    ('<|user|>Hi', (1, 72), ('', '<|user|>', 'Hi'))
    """

    tokens: tuple[int, ...]
    parts: tuple[str, ...]

    def __new__(cls, text: str, tokens: Iterable[int] = (), parts: Iterable[str] = ()) -> Prompt:
        made = super().__new__(cls, text)
        made.tokens, made.parts = tuple(tokens), tuple(parts)
        return made


def no_template(name: str) -> ModelError:
    """The error for a model that has no chat template."""
    return ModelError(WHERE, seen=f"{name} has no chat template", expected="a chat model", hint=CHAT_MODEL)


class Encoder(Protocol):
    """A tokenizer, its special tokens by their texts, and those that a template knows by a name such as eos_token."""

    special: dict[str, int]
    names: dict[str, str]
    eos_token_id: int | None

    def encode(self, text: str) -> list[int]: ...
    def encode_plain(self, text: str) -> list[int]: ...  # without tokens around the text
    def encode_special(self, text: str) -> list[int]: ...  # the same, and a special token for its text


@dataclass(frozen=True)
class ChatTemplate:
    """The template of a model, and its tokenizer."""

    source: str
    words: Encoder

    def read(self, messages: Messages) -> Prompt:
        """The prompt of a question, or of messages with a role and a content."""
        asked = check_messages(messages)
        known = "".join(self.words.special) + self.source + all_texts(asked)
        signs = (char for char in map(chr, range(0xF0000, 0x10FFFE)) if char not in known)
        hidden, splitter = dict(zip(self.words.special, signs, strict=False)), any_of(self.words.special)
        typed = {ord(sign): text for text, sign in hidden.items()}

        def mark(text: str) -> str:
            return splitter.sub(lambda found: hidden[found[0]], text)

        marked = [{mark(key): mark(text) for key, text in message.items()} for message in asked]
        text = render(self.source, messages=marked, add_generation_prompt=True, **self.words.names)
        parts = [part.translate(typed) for part in splitter.split(text)]
        if "".join(parts) == text:
            return Prompt(text, self.words.encode_special(text), parts)
        tokens = list[int]()
        for place, part in enumerate(parts):
            tokens += [self.words.special[part]] if place % 2 else self.words.encode_plain(part) if part else []
        return Prompt("".join(parts), tokens, parts)

    def end_of_turn(self) -> int | None:
        """The special token that follows an answer in a conversation; None if the template has none."""
        answer = "\ue000"
        talk = [{"role": "user", "content": "?"}, {"role": "assistant", "content": answer}]
        try:
            text = render(self.source, messages=[*talk, talk[0]], add_generation_prompt=False, **self.words.names)
        except (ModelError, SettingError):  # it takes no such messages, or jinja2 is not installed
            return None
        found = any_of(self.words.special).match(text.partition(answer)[2].lstrip())
        return self.words.special[found[0]] if found else None


def any_of(texts: Iterable[str]) -> re.Pattern[str]:
    """A pattern that matches one of these texts, the longest that fits, as its group; nothing if there are none.

    >>> any_of(["<a>", "<a>b"]).split("x<a>by")
    ['x', '<a>b', 'y']
    """
    longest_first = sorted(texts, key=len, reverse=True)
    return re.compile(f"({'|'.join(map(re.escape, longest_first)) or '(?!)'})")


def all_texts(messages: Iterable[Mapping[str, str]]) -> str:
    """All texts of messages in one."""
    return "".join(text for message in messages for item in message.items() for text in item)


def check_messages(messages: Any) -> list[dict[str, str]]:
    """Messages with a role and a content, all of them text; a text alone is a question of the user."""
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    try:
        asked = [dict(message) for message in messages]
        all_texts(asked).encode()
    except (TypeError, ValueError):  # also for a lone surrogate
        asked = []
    if not asked or not all({"role", "content"} <= message.keys() for message in asked):
        expected = "a text, or a list of messages with a role and a content"
        raise SettingError(WHERE, seen=quoted(messages), expected=expected, hint='[{"role": "user", "content": "..."}]')
    return asked


def render(source: str, **values: Any) -> str:
    """The text that a template makes of these values."""
    sandbox = need("jinja2.sandbox", "smollm", WHERE)
    environment = sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    environment.intercepted_binops = frozenset(LARGE)
    environment.binop_table |= dict.fromkeys(LARGE, refuse_large)
    for name in WIDE & set(environment.filters):
        del environment.filters[name]
    environment.globals |= {"raise_exception": refuse, "strftime_now": lambda form: datetime.now().strftime(form)}
    environment.filters["tojson"] = lambda value, indent=None: json.dumps(value, ensure_ascii=False, indent=indent)
    try:
        with few_steps():
            text: str = environment.from_string(source).render(**values)
    except Exception as error:  # the template is a program of a stranger
        raise ModelError(WHERE, seen=str(error)[:200], expected="messages that the model's template takes") from None
    if len(text) > LONGEST:
        raise ModelError(WHERE, seen=f"{len(text):,} characters", expected=f"at most {LONGEST:,}")
    return text


def refuse(why: str) -> None:
    """What a template calls for messages that it does not take."""
    raise ValueError(why)


def refuse_large(left: Any, right: Any) -> Any:
    """An operator that no usual template needs."""
    raise ValueError("an operator that can make a very long text")


@contextmanager
def few_steps() -> Iterator[None]:
    """Bound the lines of Python that run inside."""
    steps, before = 0, sys.gettrace()

    def count(frame: Any, event: str, argument: Any) -> Any:
        nonlocal steps
        steps += 1
        if steps > STEPS:
            raise ValueError(f"a template that takes more than {STEPS:,} steps")
        return count

    sys.settrace(count)
    try:
        yield
    finally:
        sys.settrace(before)
