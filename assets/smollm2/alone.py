"""Runs that go alone, one pass per token: traces that a stage shows, jump-forward, drafts, a bias on three labels."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import questions
from questions import ANY, COUNTS, DATE, EXACT, IN_ORDER, LABELS, NUMBER, PERSON, TEXT, WHO, fixed, object_of, people
from tables import share

import guidedviz as gv
from guidedviz.decoding.recording import compress
from guidedviz.decoding.records import save_record
from guidedviz.decoding.speculation import Forced, LookUp

BIASES = (0, 1, 2, 3, 4, 5, 8, 12, 16, 20)
FREE = "free"  # without a mask, to compare with
WAYS = (False, FREE, "canonical", "longest", "minimal", "raw")
ADA = "Ada Lovelace is 36 years old. Write a JSON object with name and age."
ADAS = object_of(name=TEXT, age=NUMBER)
SUMS = "Write each calculation between << and >>. Then call the tool. "
ZOE = "Zoe has 6 cards and gets 7 more. Each card costs 2 dollars. Pay for all of them."
BEN = "Ben has 4 pens and gets 3 more. Each pen costs 2 dollars. Pay for all of them."
PAID = 'There are <<6+7=13>> cards. They cost <<13*2=26>> dollars. <tool>{"name": "pay", "dollars": 26}</tool>'
CALL = [
    {"role": "user", "content": SUMS + ZOE},
    {"role": "assistant", "content": PAID},
    {"role": "user", "content": SUMS + BEN},
]
PAY = object_of(name={"enum": ["pay", "refund"]}, dollars=NUMBER | {"minimum": 0})
SUM = gv.regex("[0-9]+[-+*][0-9]+=[0-9]+")
WINDOWS = gv.tagged(tags=[("<<", SUM, ">>"), ("<tool>", gv.json_schema(PAY), "</tool>")], at_least_one=True)
BORN = "She was born on the third of May 1987. Write this date as YYYY-MM-DD. Answer only with the date."


def parsed(text: str) -> Any:
    """The value of a JSON text; the text itself where it was cut."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def measure_jumps(model: Any, count: int | None, out: Path) -> dict[str, Any]:
    """The same prompts with plain masked decoding, without a mask, and with each spelling of the forced runs."""
    cases, totals = [], {way or "plain": dict.fromkeys(("same text", "same values", "passes"), 0) for way in WAYS}
    for fact, words, schema in fixed(count or COUNTS["jumps"]):
        guide = gv.guide(gv.json_schema(schema, whitespace="one"), model.vocabulary)
        prompt, runs = model.chat(f"{fact} {words}"), dict[str, Any]()
        for way in WAYS:
            held, jump = (None, False) if way == FREE else (guide, way)
            run = gv.record(model, prompt, held, temperature=0, max_tokens=80, jump_forward=jump)
            forced = sum(step.how == "forced" for step in run.steps)
            runs[way or "plain"] = {
                "text": run.text, "passes": run.passes, "tokens": len(run.tokens), "forced": forced,
                "prefilled": run.prefilled, "taken_back": sum(step.back for step in run.steps),
            }  # fmt: skip
        for way, run in runs.items():
            totals[way]["same text"] += run["text"] == runs["plain"]["text"]
            totals[way]["same values"] += parsed(run["text"]) == parsed(runs["plain"]["text"])
            totals[way]["passes"] += run["passes"]
        cases.append({"fact": fact, "words": words, "runs": runs})
        print(f"jumps: {len(cases)}", flush=True)
    return {"table": [{"way": way, "of": len(cases), **total} for way, total in totals.items()], "cases": cases}


def measure_drafts(model: Any, count: int | None, out: Path) -> dict[str, Any]:
    """The same prompts without a draft, with prompt look-up, and with forced runs as drafts."""
    drafts = {"none": None, "look-up": LookUp(4), "forced": Forced()}
    cases, totals = [], {name: dict.fromkeys(("same text", "passes", "accepted", "guessed"), 0) for name in drafts}
    for fact, words, schema in fixed(count or COUNTS["jumps"]):
        guide = gv.guide(gv.json_schema(schema, whitespace="one"), model.vocabulary)
        prompt, runs = model.chat(f"{fact} {words}"), dict[str, Any]()
        for name, draft in drafts.items():
            run = gv.record(model, prompt, guide, temperature=0, max_tokens=80, draft=draft)
            accepted, guessed = run.drafted
            runs[name] = {"text": run.text, "passes": run.passes, "accepted": accepted, "guessed": guessed}
            totals[name]["same text"] += run.text == runs["none"]["text"]
            for what in ("passes", "accepted", "guessed"):
                totals[name][what] += runs[name][what]
        cases.append({"fact": fact, "words": words, "runs": runs})
        print(f"drafts: {len(cases)}", flush=True)
    return {"table": [{"draft": name, "of": len(cases), **total} for name, total in totals.items()], "cases": cases}


def measure_bias(model: Any, count: int | None, out: Path) -> dict[str, Any]:
    """The sentences of the labels with one bias on the three tokens of the labels, at most six tokens per answer.

    `gap` is by how much the likeliest first token is ahead of each label, in logits.
    """
    ids, cases, hits = [model.vocabulary.ids(label.encode())[0] for label in LABELS], [], dict[tuple[str, str], int]()
    for case in questions.sentences(count or COUNTS["labels"]):
        prompt, texts = model.chat(f"{case.fact} {IN_ORDER}"), dict[str, str]()
        logits = model.logits(list(prompt.tokens))
        for bias in BIASES:
            run = gv.record(model, prompt, temperature=0, max_tokens=6, bias=dict.fromkeys(ids, bias))
            way, ended = f"bias {bias}", run.steps[-1].end == "eos"
            texts[way] = run.text
            found = {
                "begins with a label": run.tokens[0] in ids,
                "is a label": ended and run.text in LABELS,
                "right": ended and run.text == case.right,
            }
            for what, hit in found.items():
                hits[way, what] = hits.get((way, what), 0) + hit
        gaps = {label: round(float(logits.max() - logits[token]), 2) for label, token in zip(LABELS, ids, strict=True)}
        first = model.vocabulary.pieces[int(logits.argmax())].decode("utf-8", "replace")
        cases.append({"fact": case.fact, "right": case.right, "first": first, "gap": gaps, "outputs": texts})
        print(f"bias: {len(cases)}", flush=True)
    table = [share(way, what, hit, len(cases)) for (way, what), hit in hits.items()]
    return {"words": IN_ORDER, "table": table, "cases": cases}


def save_light(trace: gv.Trace, file: Path) -> None:
    """Save a trace without the texts of the map's tokens, which are nine tenths of a recording."""
    trace.save(file)
    kept = gv.Trace.load(file)
    if "map" in kept.shown:
        kept.shown["map"]["answers"] = []
        kept = replace(kept, recording=compress(kept.shown))
    save_record(kept, file)


def make_traces(model: Any) -> Iterator[tuple[str, gv.Trace]]:
    """The runs, each with its name."""
    guides = {
        "": None,
        "name: text, age: integer": gv.guide(gv.json_schema(ADAS), model.vocabulary),
        DATE: gv.guide(gv.regex(DATE), model.vocabulary),
        "name, age, city": gv.guide(gv.json_schema(PERSON), model.vocabulary),
        "name, age, city; one blank": gv.guide(gv.json_schema(PERSON, whitespace="one"), model.vocabulary),
        "name, age, city; any whitespace": gv.guide(ANY, model.vocabulary),
        "text; a sum in << >>; a call in <tool>": gv.guide(WINDOWS, model.vocabulary),
    }
    free, pair, date, person, blank, loose, windows = guides
    first, *_, neighbour = (case.fact for case in people(5))
    for name, asked, said, settings in (
        ("ada-free", ADA, free, {}),
        ("ada-schema", ADA, pair, {}),
        ("ada-cut", ADA, pair, {"max_tokens": 10}),
        ("date-free", BORN, free, {"max_tokens": 40}),
        ("date-regex", BORN, date, {}),
        ("person-asked", f"{first} {EXACT}", person, {}),
        ("person-not-asked", f"{first} {WHO}", person, {}),
        ("person-jump", f"{first} {EXACT}", blank, {"jump_forward": True}),
        ("person-look-up", f"{first} {EXACT}", blank, {"draft": LookUp(4)}),
        ("whitespace-loop", f"{neighbour} {EXACT}", loose, {"max_tokens": 40}),
        ("two-windows", CALL, windows, {}),
    ):
        settings = {"temperature": 0, "max_tokens": 60} | settings
        yield name, gv.record(model, model.chat(asked), guides[said], constraint=said, **settings)


def save_traces(model: Any, count: int | None, out: Path) -> dict[str, Any]:
    """Save each run as a file that `gv.Trace.load` reads; the record lists them."""
    listed = []
    for name, trace in make_traces(model):
        out.mkdir(parents=True, exist_ok=True)
        save_light(trace, out / f"{name}.trace.json")
        least = min((step.mass for step in trace.steps), default=1.0)
        listed.append({"file": f"{name}.trace.json", "text": trace.text, "tokens": len(trace.tokens),
                       "end": trace.steps[-1].end, "least_z": float(f"{least:.3g}")})  # fmt: skip
        print(f"traces: {name}: {trace.text!r}", flush=True)
    return {"runs": listed}


RECORDS = {"jumps": measure_jumps, "drafts": measure_drafts, "bias": measure_bias, "traces": save_traces}
