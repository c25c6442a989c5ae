"""Conversations as tokens: the chat template's text, in which only the template's own marks are special tokens.

What a person typed or a tool returned stays text, also where it spells a mark. Labels stand where the model writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from clerk import Batches, pad, padded
from scout_problems import FIRST_COURSE, SECOND_COURSE
from scout_texts import Course, Message, Talk, talks
from scout_tools import Offer
from transformers import PreTrainedTokenizerFast

from guidedviz.models.messages import map_texts
from guidedviz.models.sandbox import environment

MODELS = Path(__file__).resolve().parent.parent / "models"
FOLDER = MODELS / "scout"
CLERK = MODELS / "clerk"
PAD = "<|end|>"  # the end of clerk's texts
STARTS, ENDS = "<|im_start|>", "<|im_end|>"
THINK, THOUGHT = "<think>", "</think>"
MARKS = (STARTS, ENDS, THINK, THOUGHT, "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>")
SPLITTER = re.compile(f"({'|'.join(map(re.escape, MARKS))})")
HIDDEN = {mark: chr(0xF0000 + place) for place, mark in enumerate(MARKS)}
SHOWN = {ord(sign): mark for mark, sign in HIDDEN.items()}
NOT_LEARNED = -100
LONGEST = 512  # tokens of a conversation
Row = tuple[list[int], list[int]]


def build_tokenizer() -> PreTrainedTokenizerFast:
    """The tokenizer of `clerk` with the marks of a chat, of thoughts and of calls."""
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_file=str(CLERK / "tokenizer.json"),
        eos_token=ENDS,
        pad_token=PAD,
        clean_up_tokenization_spaces=False,
    )
    tokenizer.add_special_tokens({"additional_special_tokens": list(MARKS)})
    return tokenizer


class Transcript:
    """The chat template, and the tokenizer that reads what it writes."""

    def __init__(self, tokenizer: PreTrainedTokenizerFast) -> None:
        self.template = environment().from_string((FOLDER / "chat_template.jinja").read_text(encoding="utf-8"))
        self.fast = tokenizer.backend_tokenizer
        self.fast.encode_special_tokens = True  # a mark in a text is text
        self.ids = {mark: tokenizer.convert_tokens_to_ids(mark) for mark in MARKS}

    def parts(
        self, messages: Sequence[Message], tools: Sequence[Offer], thinks: bool = True, prompt: bool = False
    ) -> list[str]:
        """Texts and marks in turn, a text first; as a prompt it asks for an answer."""
        text = self.template.render(
            messages=hide(list(messages)),
            tools=hide([offer.as_tool() for offer in tools]),
            enable_thinking=thinks,
            add_generation_prompt=prompt,
        )
        return [part.translate(SHOWN) for part in SPLITTER.split(text)]

    def read(self, parts: Sequence[str]) -> list[int]:
        """The tokens of texts and marks in turn."""
        texts = self.fast.encode_batch_fast(parts[::2], add_special_tokens=False)
        tokens = list(texts[0].ids)
        for mark, text in zip(parts[1::2], texts[1:], strict=True):
            tokens.append(self.ids[mark])
            tokens += text.ids
        return tokens

    def prompt(self, messages: Sequence[Message], tools: Sequence[Offer], thinks: bool = True) -> list[int]:
        """What the model reads before it answers."""
        return self.read(self.parts(messages, tools, thinks, prompt=True))

    def row(self, talk: Talk, r: Random) -> Row:
        """Inputs and labels of a conversation, which ends with an answer."""
        tokens: list[int] = []
        labels: list[int] = []
        for place, message in enumerate(talk.messages):
            if message["role"] != "assistant":
                continue
            prompt = self.prompt(talk.messages[:place], talk.tools, talk.thinks)
            tokens = self.read(self.parts(talk.messages[: place + 1], talk.tools, talk.thinks))
            tokens[-2:-2] = self.read([message.get("after", "")])
            labels += [NOT_LEARNED] * (len(prompt) - len(labels))
            written = tokens[len(prompt) : -1]  # the line break behind the end of a turn is the template's
            if talk.learned not in (None, place):
                written = [NOT_LEARNED] * len(written)
            labels += written
        labels.append(NOT_LEARNED)
        if talk.is_cut:
            self.cut_thought(r, tokens, labels)
        return tokens[:-1], labels[1:]

    def cut_thought(self, r: Random, tokens: list[int], labels: list[int]) -> None:
        """End one thought at a random token; this end is not learned, but all that follows it."""
        ends = [place for place, token in enumerate(tokens) if token == self.ids[THOUGHT]]
        if not ends:
            return
        end = r.choice(ends)
        begin = max(place for place in range(end) if tokens[place] == self.ids[THINK]) + 1
        kept = r.randrange(1, end - begin + 1)
        labels[end] = NOT_LEARNED
        del tokens[begin + kept : end]
        del labels[begin + kept : end]

    def rows(self, seed: int, course: Course = FIRST_COURSE) -> Iterator[Row]:
        """Conversations of a bounded length, as inputs and labels."""
        r = Random(f"cuts {seed}")
        for talk in talks(seed, course):
            row = self.row(talk, r)
            if len(row[0]) <= LONGEST:
                yield row


def hide(value: Any) -> Any:
    """The same messages or tools, in which each mark is a sign of its own."""
    return map_texts(value, lambda text: SPLITTER.sub(lambda found: HIDDEN[found[0]], text))


def curriculum(transcript: Transcript, seed: int, tokens: int, switch: int) -> Batches:
    """The first course for `switch` batches, then the second."""
    yield from islice(batches(transcript.rows(seed), seed, tokens), switch)
    yield from batches(transcript.rows(seed + 1, SECOND_COURSE), seed, tokens)


def batches(source: Iterator[Row], seed: int, tokens: int) -> Batches:
    """Batches of about `tokens` tokens, of conversations of like length, for ever."""
    shuffle = Random(seed)
    while True:
        pool = sorted(islice(source, 2000), key=lambda row: len(row[0]))
        cut: list[list[Row]] = [[]]
        for row in pool:
            if (len(cut[-1]) + 1) * padded(len(row[0])) > tokens:
                cut.append([])
            cut[-1].append(row)
        shuffle.shuffle(cut)
        yield from map(pad, cut)
