"""One decode as text for a terminal: at each step the likeliest tokens, and which of them the mask forbids."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TextIO

from guidedviz.decoding.loop import decode, record
from guidedviz.decoding.sampling import probability
from guidedviz.decoding.trace import ENDS, Candidate, Step
from guidedviz.machines.regular.regex import regex
from guidedviz.models.model import Model
from guidedviz.tokens.machine_guide import guide as build_guide
from guidedviz.views.words import label, reading, shown_candidates

PROMPT = "Hi! We met on March 3rd 2024.\nDate as YYYY-MM-DD:\n"
REGEX = r"\d{4}-\d{2}-\d{2}"
SEED = 1  # without the mask, clerk writes "Sure!" before the date
MOST_TOKENS = 60
SHOWN = 5  # candidates per step
LEAST = 0.005  # a less likely candidate is left out, unless it was chosen
HEAD = "step  token         legal mass   the likeliest tokens; [x] is forbidden by the mask"
BOLD, STRUCK, SOFT, PLAIN = "\x1b[1m", "\x1b[9;31m", "\x1b[2m", "\x1b[0m"


def has_colour(stream: TextIO) -> bool:
    """Whether to write escape codes: only to a terminal that reads them, and not where NO_COLOR is set."""
    reads = "WT_SESSION" in os.environ if os.name == "nt" else os.environ.get("TERM") != "dumb"
    return stream.isatty() and reads and not os.environ.get("NO_COLOR")


def decode_in_words(model: Model, prompt: str, pattern: str, seed: int, colour: bool) -> Iterator[str]:
    """The lines of a decode without the mask, then of one with it; each step is a line as soon as it is taken."""
    guide = build_guide(regex(pattern), model.vocabulary)
    free = record(model, prompt, seed=seed, max_tokens=MOST_TOKENS).text
    yield f"model         {model.name} · {model.device}, seed {seed}"
    yield f"prompt        {reading(prompt)}"
    yield f"without mask  {reading(free)}"
    yield f"mask          {reading(pattern)}"
    yield ""
    yield _styled(HEAD, SOFT, colour)
    pieces, end = [], ""
    for step in decode(model, prompt, guide, seed=seed, max_tokens=MOST_TOKENS):
        if step.token >= 0:
            yield _say_step(step, colour)
        pieces.append(b"" if step.end == "eos" else step.piece)
        end = ENDS[step.end] if step.end else end
    text = b"".join(pieces).decode("utf-8", "replace")
    yield ""
    yield f"with mask     {_styled(reading(text), BOLD, colour)}    {end}"


def _say_step(step: Step, colour: bool) -> str:
    likely = [c for c in shown_candidates(step, SHOWN) if c.raw >= LEAST or c.token == step.token]
    shown = "  ".join(_say_candidate(candidate, colour) for candidate in likely)
    token = _styled(f"{label(step.piece):<12}", BOLD, colour)
    return f"{step.position + 1:>4}  {token}  {probability(step.mass):<10}   {shown}"


def _say_candidate(candidate: Candidate, colour: bool) -> str:
    """A token and its probability before the mask."""
    said = f"{label(candidate.piece)} {probability(candidate.raw)}"
    return said if candidate.legal else "[x]" + _styled(said, STRUCK, colour)


def _styled(text: str, style: str, colour: bool) -> str:
    return f"{style}{text}{PLAIN}" if colour else text
