"""A conversation as a chat model reads it: the model's template, with special tokens that no person can write.

What a person writes stays text: the text of a special token in it is a sign of its own until the template has run.
`template` runs the template, which is a program of a stranger.
"""

import re
import warnings
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple, Protocol, Self

from guidedviz.errors import ChatWarning, ModelError, SettingError
from guidedviz.models.messages import Messages, join_texts, map_texts, template_values, wrong_form
from guidedviz.models.template import WHERE, TemplateStopped, render

SIGNS = range(0xF0000, 0x10FFFE)  # characters for private use, which stand for what a person wrote


class Prompt(str):
    """A conversation as a model reads it: the text of its template, and the tokens, of which some are special.

    `parts` are its plain texts and its special tokens in turn, a text first.

    >>> prompt = Prompt("<|user|>Hi", (1, 72), ("", "<|user|>", "Hi"))
    >>> prompt, prompt.tokens, prompt.parts
    ('<|user|>Hi', (1, 72), ('', '<|user|>', 'Hi'))
    """

    tokens: tuple[int, ...]
    parts: tuple[str, ...]

    def __new__(cls, text: str, tokens: Iterable[int] = (), parts: Iterable[str] = ()) -> Self:
        made = super().__new__(cls, text)
        made.tokens = tuple(tokens)
        made.parts = tuple(parts)
        return made


def no_template(name: str) -> ModelError:
    """The error for a model that has no chat template."""
    hint = 'gv.load_model("smollm2")'
    return ModelError(WHERE, seen=f"{name} has no chat template", expected="a chat model", hint=hint)


class Encoder(Protocol):
    """A tokenizer, its special tokens by their texts, and those that a template knows by a name such as eos_token."""

    special: dict[str, int]
    names: dict[str, str]
    eos_token_id: int | None

    def encode(self, text: str) -> list[int]: ...
    def encode_plain(self, text: str) -> list[int]: ...  # without tokens around the text
    def encode_special(self, text: str) -> list[int]: ...  # the same, and a special token for its text


class ChatTemplate(NamedTuple):
    """The template of a model, and its tokenizer."""

    source: str
    words: Encoder

    def read(self, messages: Messages, tools: Iterable[Any] = (), think: bool = True) -> Prompt:
        """The prompt of a question, or of messages with a role and a content; the template gets the tools.

        Where the model should not think, the template gets `enable_thinking`, as that of Qwen has it.
        """
        values = template_values(messages, tools, think)
        special = self.words.special
        splitter = any_of(special)
        hidden = hide_texts(special, self.source + join_texts(values))
        typed = {ord(sign): text for text, sign in hidden.items()}

        def mark(text: str) -> str:
            return splitter.sub(lambda found: hidden[found[0]], text)

        try:
            marked = {name: map_texts(value, mark) for name, value in values.items()}
        except RecursionError:
            raise wrong_form("", "parts nested too deeply", "flatter messages and tools") from None
        text = render(self.source, **marked, add_generation_prompt=True, **self.words.names)
        parts = [part.translate(typed) for part in splitter.split(text)]
        if "".join(parts) == text:
            return Prompt(text, self.words.encode_special(text), parts)
        return Prompt("".join(parts), encode_parts(self.words, parts), parts)

    def end_of_turn(self) -> int | None:
        """The special token that follows an answer in a conversation; None if the template has none."""
        answer = "\ue000"
        question = {"role": "user", "content": "?"}
        talk = [question, {"role": "assistant", "content": answer}, question]
        try:
            text = render(self.source, messages=talk, add_generation_prompt=False, **self.words.names)
        except TemplateStopped as error:
            warnings.warn(f"the token that ends an answer is not known: {error}", ChatWarning, stacklevel=2)
            return None
        except (ModelError, SettingError):  # it takes no such messages, or jinja2 is not installed
            return None
        found = any_of(self.words.special).match(text.partition(answer)[2].lstrip())
        return self.words.special[found[0]] if found else None


def encode_parts(words: Encoder, parts: Sequence[str]) -> list[int]:
    """The tokens of texts and special tokens in turn."""
    tokens = list[int]()
    for place, part in enumerate(parts):
        if place % 2:
            tokens.append(words.special[part])
        elif part:
            tokens += words.encode_plain(part)
    return tokens


def hide_texts(texts: Collection[str], written: str) -> dict[str, str]:
    """A sign for each of these texts; none of the signs is in them or in what is written."""
    known = set("".join(texts) + written)
    free = (sign for sign in map(chr, SIGNS) if sign not in known)
    return dict(zip(texts, free, strict=False))


def any_of(texts: Iterable[str]) -> re.Pattern[str]:
    """A pattern that matches one of these texts, the longest that fits, as its group; nothing if there are none.

    >>> any_of(["<a>", "<a>b"]).split("x<a>by")
    ['x', '<a>b', 'y']
    """
    longest_first = sorted(texts, key=len, reverse=True)
    return re.compile(f"({'|'.join(map(re.escape, longest_first)) or '(?!)'})")
