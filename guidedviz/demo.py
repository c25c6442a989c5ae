"""One decode as text for a terminal: at each step the likeliest tokens, and which of them the mask forbids."""

from collections.abc import Iterator

from guidedviz.decoding.loop import decode, record
from guidedviz.decoding.sampling import probability
from guidedviz.decoding.trace import ENDS, Step
from guidedviz.machines.regular.regex import regex
from guidedviz.models.model import Model
from guidedviz.tokens.guide import guide as build_guide
from guidedviz.views.words import label, reading, shown_candidates

PROMPT = "Hi! We met on March 3rd 2024.\nDate as YYYY-MM-DD:\n"
REGEX = r"\d{4}-\d{2}-\d{2}"
SEED = 1  # without the mask, clerk writes "Sure!" before the date
MOST_TOKENS = 60
SHOWN = 5  # candidates per step
LEAST = 0.005  # a less likely candidate is left out, unless it was chosen
HEAD = "step  token         legal mass   the likeliest tokens; [x] is forbidden by the mask"


def decode_in_words(model: Model, prompt: str, pattern: str, seed: int) -> Iterator[str]:
    """The lines of a decode without the mask, then of one with it; each step is a line as soon as it is taken."""
    guide = build_guide(regex(pattern), model.vocabulary)
    free = record(model, prompt, seed=seed, max_tokens=MOST_TOKENS).text
    yield f"model         {model.name} · {model.device}, seed {seed}"
    yield f"prompt        {reading(prompt)}"
    yield f"without mask  {reading(free)}"
    yield f"mask          {reading(pattern)}"
    yield ""
    yield HEAD
    pieces, end = [], ""
    for step in decode(model, prompt, guide, seed=seed, max_tokens=MOST_TOKENS):
        if step.token >= 0:
            yield _say_step(step)
        pieces.append(b"" if step.end == "eos" else step.piece)
        end = ENDS[step.end] if step.end else end
    yield ""
    yield f"with mask     {reading(b''.join(pieces).decode('utf-8', 'replace'))}    {end}"


def _say_step(step: Step) -> str:
    likely = [c for c in shown_candidates(step, SHOWN) if c.raw >= LEAST or c.token == step.token]
    shown = "  ".join(f"{'' if c.legal else '[x]'}{label(c.piece)} {probability(c.raw)}" for c in likely)
    return f"{step.position + 1:>4}  {label(step.piece):<12}  {probability(step.mass):<10}   {shown}"
