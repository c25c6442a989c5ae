"""Conversations of `gv.converse` with a model that has no special tokens for calls: it writes the marks as text.

The questions are of those that `scout` is asked and was not trained on (`assets/train/scout_evaluate.py`). The tools
are told in the system message, because the model's template leaves them out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from alone import save_light

import guidedviz as gv
from guidedviz.decoding import ToolResult
from guidedviz.models.messages import offer_tools

TOLD = """You answer questions. You can call these tools:
{tools}
To call a tool, write only
<tool_call>
{{"name": NAME, "arguments": {{KEY: VALUE}}}}
</tool_call>
Then you get its result. When you know the answer, say it in one short sentence."""
TABLES = {("price", "lemon"): "4", ("weight", "pan"): "390", ("stock", "plum"): "73"}
FREE = "free"
CHOICES = (FREE, "auto", "required")
SHOWN = {("What is 90 minus 40?", "required"): "minus"}  # whose last turn is kept as a run, and its name
MOST = 120  # tokens of a turn
ROUNDS = 4


def add(x: int, y: int) -> int:
    """Adds two numbers."""
    return x + y


def subtract(left: int, right: int) -> int:
    """Subtracts two numbers."""
    return left - right


def find(table: str, item: str) -> str:
    """Reads a table."""
    return TABLES[table, item]


QUESTIONS = {  # and the right answers
    "What is 90 minus 40?": "50",
    "Subtract 80 from 409.": "329",
    "What is 96 plus 472?": "568",
    "Dina has 364 cables and gets 37 more. How many are there now?": "401",
    "Could you help me? How much does the lemon cost?": "4",
    "Hi! What is the stock of the plum?": "73",
    "What is the weight of the pan plus 357?": "747",
    "Hey there! My name is Daniel. What is my name?": "Daniel",
}
TOOLS = [add, subtract, find]


def begin(question: str) -> list[dict[str, str]]:
    """The messages before the first turn."""
    tools = "\n".join(json.dumps(tool["function"]) for tool in offer_tools(TOOLS))
    return [{"role": "system", "content": TOLD.format(tools=tools)}, {"role": "user", "content": question}]


def talk(model: Any, question: str, choice: str) -> Iterator[gv.Trace | ToolResult]:
    """One conversation."""
    settings: dict[str, Any] = {"choice": choice}
    if choice == FREE:
        settings = {"guide": gv.guide(gv.grammar("root ::= [^\\x00]*"), model.vocabulary)}
    messages = begin(question)
    yield from gv.converse(
        model, messages, TOOLS, style="text", think=False, rounds=ROUNDS, temperature=0, max_tokens=MOST, **settings
    )


def judge(found: list[gv.Trace | ToolResult], right: str) -> dict[str, Any]:
    """What was called, what came of it, what was said, and whether the last turn says the right answer."""
    results = [one for one in found if isinstance(one, ToolResult)]
    texts = [one.text for one in found if isinstance(one, gv.Trace)]
    said = "" if isinstance(found[-1], ToolResult) else texts[-1]
    words = said.replace(".", " ").replace(",", " ").split()
    return {
        "calls": [str(one.call) for one in results],
        "results": [one.text for one in results],
        "turns": texts,
        "called": bool(results),
        "failed": any(one.failed for one in results),
        "right": right in words,
    }


def record_talks(model: Any, count: int | None, out: Path) -> dict[str, Any]:
    """Ask each question free, with the mask of a turn, and with a call required; keep the end of one."""
    cases = []
    runs = []
    for question, right in list(QUESTIONS.items())[:count]:
        ways = {}
        for choice in CHOICES:
            found = list(talk(model, question, choice))
            ways[choice] = judge(found, right)
            name = SHOWN.get((question, choice))
            if name:
                runs.append(save_last(found, f"talk-{name}", out))
        cases.append({"question": question, "right": right, "ways": ways})
        print(f"talks: {len(cases)}", flush=True)
    table = []
    for choice in CHOICES:
        row: dict[str, Any] = {"way": choice, "of": len(cases)}
        for what in ("called", "failed", "right"):
            row[what] = sum(case["ways"][choice][what] for case in cases)
        table.append(row)
    asked = f"each conversation alone, greedy, at most {MOST} tokens per turn and {ROUNDS} turns"
    return {"asked": asked, "told": TOLD, "table": table, "cases": cases, "runs": runs}


def save_last(found: list[gv.Trace | ToolResult], name: str, out: Path) -> dict[str, Any]:
    """Save the last turn, whose prompt has all that was said before; what is listed of it."""
    out.mkdir(parents=True, exist_ok=True)
    trace = [one for one in found if isinstance(one, gv.Trace)][-1]
    save_light(trace, out / f"{name}.trace.json")
    return {"file": f"{name}.trace.json", "text": trace.text, "tokens": len(trace.tokens), "end": trace.steps[-1].end}
