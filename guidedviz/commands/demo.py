"""`guidedviz demo`: one decode as text for a terminal.

At each step it shows the likeliest tokens, and which of them the mask forbids.
"""

import argparse
import sys
from collections.abc import Iterator

from guidedviz.decoding.loop import record
from guidedviz.decoding.sampling import probability
from guidedviz.decoding.trace import END_IN_WORDS, Step
from guidedviz.machines.regular.regex import regex
from guidedviz.models.load import load_model
from guidedviz.models.model import Model
from guidedviz.tokens.build_guide import guide as build_guide
from guidedviz.views.step_words import shown_candidates
from guidedviz.views.words import label, reading

PROMPT = "Hi! We met on March 3rd 2024.\nDate as YYYY-MM-DD:\n"
REGEX = r"\d{4}-\d{2}-\d{2}"
SEED = 1  # without the mask, clerk writes "Sure!" before the date
MOST_TOKENS = 60
SHOWN_TOKENS = 5  # candidates per step
LEAST = 0.005  # a less likely candidate is left out, unless it was chosen
HEAD = "step  token         legal mass   the likeliest tokens; [x] is forbidden by the mask"


def add_demo(parser: argparse.ArgumentParser) -> None:
    """The options of `demo`."""
    parser.add_argument("--prompt", default=PROMPT, help="what the model continues")
    parser.add_argument("--regex", default=REGEX, help="what the output must match")
    parser.add_argument("--model", default="auto", help="clerk, bard, a folder or a hub name")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.set_defaults(run=run_demo)


def run_demo(options: argparse.Namespace) -> None:
    """Print a decode, a line per step."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a terminal may lack the signs for spaces and line ends
    for line in decode_in_words(load_model(options.model), options.prompt, options.regex, options.seed):
        print(line, flush=True)


def decode_in_words(model: Model, prompt: str, pattern: str, seed: int) -> Iterator[str]:
    """The lines of a decode without the mask, then of one with it, a line per step."""
    guide = build_guide(regex(pattern), model.vocabulary)
    free = record(model, prompt, seed=seed, max_tokens=MOST_TOKENS).text
    yield f"model         {model.name} · {model.device}, seed {seed}"
    yield f"prompt        {reading(prompt)}"
    yield f"without mask  {reading(free)}"
    yield f"mask          {reading(pattern)}"
    yield ""
    yield HEAD
    masked = record(model, prompt, guide, seed=seed, max_tokens=MOST_TOKENS)
    yield from (_say_step(step) for step in masked.steps if step.token >= 0)
    yield ""
    yield f"with mask     {reading(masked.text)}    {END_IN_WORDS[masked.steps[-1].end]}"


def _say_step(step: Step) -> str:
    shown = []
    for candidate in shown_candidates(step, SHOWN_TOKENS):
        if candidate.raw >= LEAST or candidate.token == step.token:
            mark = "" if candidate.legal else "[x]"
            name = label(candidate.piece)
            shown.append(f"{mark}{name} {probability(candidate.raw)}")
    token = f"{step.position + 1:>4}  {label(step.piece):<12}"
    mass = f"{probability(step.mass):<10}"
    return f"{token}  {mass}   {'  '.join(shown)}"
