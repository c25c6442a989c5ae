"""A chat model for tests that writes the lines of a script, one per turn; its tokens are bytes and special tokens."""

import re
from typing import ClassVar

import numpy as np

from guidedviz.models.chat import ChatTemplate
from guidedviz.models.model import ToyModel
from tests.common import BYTES

NAMES = "<|im_start|> <|im_end|> <think> </think> <tool_call> </tool_call> <tool_response> </tool_response>".split()
SPECIAL = {name: 256 + number for number, name in enumerate(NAMES)}
END = SPECIAL["<|im_end|>"]
PIECES = BYTES + [name.encode() for name in NAMES]
TEMPLATE = """{% for tool in tools %}{{ tool | tojson }}
{% endfor %}{% for m in messages %}<|im_start|>{{ m.role }}
{% if m.role == "tool" %}<tool_response>{{ m.content }}</tool_response>{% else %}{{ m.content }}{% endif %}
{%- for call in m.tool_calls %}<tool_call>{{ call.function | tojson }}</tool_call>{% endfor %}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""


class Bytes:
    """A tokenizer of bytes and special tokens."""

    special = SPECIAL
    names: ClassVar[dict[str, str]] = {}
    eos_token_id = END

    def encode(self, text):
        return [*text.encode()]

    encode_plain = encode

    def encode_special(self, text):
        return tokens_of(text)[:-1]


class Scripted(ToyModel):
    """It wants to write each line as it stands: the text of a special token is the token. The last line is repeated."""

    has_template = True

    def __init__(self, *lines, template=TEMPLATE):
        super().__init__(PIECES, self.want, eos={END}, special={*SPECIAL.values()} - {END})
        self.template = ChatTemplate(template, Bytes())
        self.lines = list(map(tokens_of, lines))
        self.prompts = []

    def chat(self, messages, tools=(), think=True):
        self.prompts.append(self.template.read(messages, tools, think))
        return self.prompts[-1]

    def want(self, tokens):
        read = [turn for turn, one in enumerate(self.prompts) if tuple(tokens[: len(one.tokens)]) == one.tokens]
        turn = read[-1]
        line = self.lines[min(turn, len(self.lines) - 1)]
        place = len(tokens) - len(self.prompts[turn].tokens)
        row = np.zeros(len(PIECES))
        row[line[min(place, len(line) - 1)]] = 50.0
        return row


def tokens_of(line):
    """The tokens of a line, and the end of the turn."""
    tokens = []
    for place, part in enumerate(re.split(f"({'|'.join(map(re.escape, NAMES))})", line)):
        tokens += [SPECIAL[part]] if place % 2 else part.encode()
    return [*tokens, END]
