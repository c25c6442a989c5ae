"""Judge the outputs: what parses, what is right, with counts and 95% intervals (Wilson)."""

from __future__ import annotations

import json
import platform
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from questions import AFTER, DATE, LABELS, MEANS, Case

from guidedviz.decoding.distribution import share_of

Row = dict[str, Any]
Verdict = dict[str, bool]


def processor() -> str:
    """The name of the processor."""
    info = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*: (.*)", info.read_text()) if info.exists() else None
    return found[1] if found else platform.processor()


def parse(text: str) -> Any:
    """The value of a text that is JSON and nothing else; None for other texts.

    >>> parse('{"a": 1}'), parse('Sure: {"a": 1}'), parse("NaN")
    ({'a': 1}, None, None)
    """

    def refuse(word: str) -> None:
        raise ValueError(word)

    try:
        return json.loads(text, parse_constant=refuse)
    except ValueError:
        return None


def cut_out(text: str) -> Any:
    """The first JSON object inside a text, as lab 00 cuts it out; None if there is none.

    >>> cut_out('Sure: {"a": 1}!')
    {'a': 1}
    """
    for place in (at for at, char in enumerate(text) if char == "{"):
        try:
            return json.JSONDecoder().raw_decode(text, place)[0]
        except ValueError:
            continue
    return None


def says(text: str, values: Iterable[Any]) -> bool:
    """Whether each value occurs in a text, in whatever format."""
    return all(re.search(rf"(?<!\w){re.escape(str(value).lower())}(?!\w)", text.lower()) for value in values)


def last_number(text: str) -> str:
    """The last whole number of a text.

    >>> last_number("5 + 3 = 8. Answer: 1,008."), last_number("none")
    ('1008', '')
    """
    return ["", *re.findall(r"\d+", re.sub(r"(?<=\d),(?=\d{3})", "", text))][-1]


def judge_person(case: Case, row: Row) -> Verdict:
    """JSON that parses, with the right keys, with the right values; and the values somewhere in the text."""
    value, cut = parse(row["text"]), cut_out(row["text"])
    return {
        "parses": isinstance(value, dict),
        "right keys": isinstance(value, dict) and set(value) == set(case.right),
        "right": value == case.right,
        "right after cutting out": cut == case.right,
        "says all": says(row["text"], case.right.values()),
        "ends": row["end"] != "max_tokens",
    }


def judge_date(case: Case, row: Row) -> Verdict:
    """The form of a date, and the right date."""
    dates = re.findall(rf"(?<!\d){DATE}(?!\d)", row["text"])
    return {
        "has the form": bool(re.fullmatch(DATE, row["text"])),
        "right": row["text"] == case.right,
        "right year": bool(dates) and dates[0][:4] == case.right[:4],
        "right after cutting out": bool(dates) and dates[0] == case.right,
    }


def label_of(text: str) -> str:
    """The one label that a text names, whatever its case and its synonyms; "" for none or for several.

    >>> label_of("Positive."), label_of("okay"), label_of("It is neutral."), label_of("good or bad")
    ('positive', 'neutral', 'neutral', '')
    """
    words = re.findall("[a-z]+", text.lower())
    named = {MEANS.get(word, word) for word in words if word in LABELS or word in MEANS}
    return named.pop() if len(named) == 1 else ""


def judge_label(case: Case, row: Row) -> Verdict:
    """One label and nothing else, in whatever case; the right one; the right one named in a sentence."""
    alone = row["text"].lower() in (*LABELS, *MEANS)
    return {
        "is a label": alone,
        "right": alone and label_of(row["text"]) == case.right,
        "names one label": bool(label_of(row["text"])),
        "names the right label": label_of(row["text"]) == case.right,
    }


def order_of(value: Any) -> Any:
    """An order whose products are in small letters and singular; None if it is none.

    >>> order_of({"customer": {"name": "A", "city": "B"}, "items": [{"product": "Lamps", "count": 2}]})
    ('A', 'B', [('lamp', 2)])
    """
    try:
        items = [(item["product"].lower().removesuffix("s"), item["count"]) for item in value["items"]]
        return value["customer"]["name"], value["customer"]["city"], items
    except (TypeError, KeyError, AttributeError):
        return None


def judge_order(case: Case, row: Row) -> Verdict:
    """JSON that parses, of the asked form, and right: customer, items, both."""
    value, right = parse(row["text"]), order_of(case.right)
    found = order_of(value) or (None, None, None)
    return {
        "parses": isinstance(value, dict),
        "has the form": found[2] is not None,
        "right customer": found[:2] == right[:2],
        "right items": found[2] == right[2],
        "right": found == right,
        "right after cutting out": order_of(cut_out(row["text"])) == right,
        "ends": row["end"] != "max_tokens",
    }


def judge_sum(case: Case, row: Row) -> Verdict:
    """An answer that a program reads in the asked form, the right one, and the last number of the text."""
    text, right = row["text"], str(case.right)
    if "JSON" in row["way"]:
        value = parse(text)
        answer = str(value.get("answer")) if isinstance(value, dict) else ""
    elif row["way"] == "think, free":
        found = re.search(r"Answer: ?(\d+)\W*$", text)
        answer = found[1] if found else ""
    else:
        answer = text.strip()
    last = last_number(text)
    return {
        "reads": answer.isdigit(),
        "right": answer == right,
        "last number is right": last == right,
        "ends": row["end"] != "max_tokens",
    }


def judge_blanks(case: Case, row: Row) -> Verdict:
    """Whether the run met its limit, and whether it did so in blanks."""
    value = parse(row["text"])
    return {
        "ends": row["end"] != "max_tokens",
        "cut inside 20 blanks": row["end"] == "max_tokens" and row["text"][-20:].isspace(),
        "has 10 blanks in a row": bool(re.search(r"\s{10}", row["text"])),
        "right": value == case.right,
    }


JUDGES: dict[str, Callable[[Case, Row], Verdict]] = {
    "json": judge_person,
    "dates": judge_date,
    "labels": judge_label,
    "orders": judge_order,
    "sums-one": judge_sum,
    "sums": judge_sum,
    "blanks": judge_blanks,
}


def share(way: str, measure: str, hits: int, count: int) -> Row:
    """A line of a table: a share with its interval."""
    found = share_of(hits, count)
    numbers = {"share": found.value, "low": found.low, "high": found.high}
    return {"way": way, "what": measure, "hits": hits, "of": count, **{k: round(v, 3) for k, v in numbers.items()}}


def make_table(name: str, cases: Sequence[Case], rows: Sequence[Row]) -> dict[str, Any]:
    """The table of a record, and all outputs, one line per case."""
    ways = Counter(row["case"] for row in rows)
    whole = {case for case, asked in ways.items() if asked == max(ways.values())}  # a run may have been stopped
    rows = sorted((row for row in rows if row["case"] in whole), key=lambda row: row["case"])
    judged: dict[str, list[Verdict]] = {}
    for row in rows:
        judged.setdefault(row["way"], []).append(JUDGES[name](cases[row["case"]], row))
    table = [
        share(way, what, sum(one[what] for one in verdicts), len(verdicts))
        for way, verdicts in judged.items()
        for what in verdicts[0]
    ]
    made: dict[str, Any] = {"table": table}
    if name == "labels":
        made["said"] = [
            {"way": way, "right": label, "said": dict(Counter(
                label_of(row["text"]) or "none" for row in rows
                if row["way"] == way and cases[row["case"]].right == label))}
            for way in judged for label in LABELS
        ]  # fmt: skip
    if name.startswith("sums"):
        made["pairs"] = make_pairs(judged)
    made["cases"] = [
        {"fact": case.fact, "right": case.right}
        | {"outputs": {row["way"]: row["text"] for row in rows if row["case"] == number}}
        | {"least_z": {row["way"]: row["least"] for row in rows if row["case"] == number and row["least"] < 1}}
        | {"cut": [row["way"] for row in rows if row["case"] == number and row["end"] == "max_tokens"]}
        for number, case in enumerate(cases)
        if number in whole
    ]
    return made


def make_pairs(judged: dict[str, list[Verdict]]) -> list[Row]:
    """For two ways the cases that only one of them gets right: the same cases were asked both ways."""
    compared = (
        ("number, free", "number, mask"),
        ("think, free", AFTER),
        ("number, mask", AFTER),
        ("answer in JSON, mask", "number, mask"),
        ("answer in JSON, mask", "reasoning in JSON, mask"),
        ("answer in JSON, free", "answer in JSON, mask"),
        ("reasoning in JSON, free", "reasoning in JSON, mask"),
        ("reasoning in JSON, mask", AFTER),
    )
    return [
        {
            "one": one,
            "other": other,
            "only one right": sum(a["right"] > b["right"] for a, b in zip(judged[one], judged[other], strict=True)),
            "only other right": sum(a["right"] < b["right"] for a, b in zip(judged[one], judged[other], strict=True)),
        }
        for one, other in compared
        if one in judged and other in judged
    ]


# Character classes: which tokens no mask by classes allows, because they mix two of them


def class_of(char: str) -> str:
    """The class of a character, as in lab 02.

    >>> "".join(class_of(char)[0] for char in "aA1 ,\\n")
    'LUDSPN'
    """
    if char == "\n":
        return "NEWLINE"
    if char.isspace():
        return "SPACE"
    if char.isdigit():
        return "DIGIT"
    if char.isalpha():
        return "UPPER" if char.isupper() else "LOWER"
    return "PUNCT"


def classes_of(piece: bytes) -> frozenset[str]:
    """The classes of a token's characters; half a character is a class of its own."""
    try:
        return frozenset(map(class_of, piece.decode()))
    except UnicodeDecodeError:
        return frozenset({"PART"})


def count_classes(vocabulary: Any, records: dict[str, Sequence[Row]]) -> dict[str, Any]:
    """How many tokens mix classes: of the vocabulary, and of what the model wrote freely."""
    mixes = [len(classes_of(piece)) > 1 for piece in vocabulary.pieces]
    text = [token for token in range(len(vocabulary)) if vocabulary.text_mask[token] and token not in vocabulary.eos]
    table = [share("vocabulary", "tokens that mix classes", sum(mixes[token] for token in text), len(text))]
    examples: list[Row] = []
    for name, rows in records.items():
        for way in dict.fromkeys(row["way"] for row in rows if row["way"].endswith("free")):
            tokens = [token for row in rows if row["way"] == way for token in row["tokens"]]
            mixed = Counter(token for token in tokens if mixes[token])
            table.append(share(f"{name}: {way}", "written tokens that mix classes", mixed.total(), len(tokens)))
            most = {vocabulary.pieces[t].decode("utf-8", "replace"): n for t, n in mixed.most_common(8)}
            examples.append({"way": f"{name}: {way}", "tokens": most})
    return {"table": table, "examples": examples, "positions": count_positions(vocabulary, records.get("dates", []))}


POSITIONS = ["DIGIT"] * 4 + ["PUNCT"] + ["DIGIT"] * 2 + ["PUNCT"] + ["DIGIT"] * 2


def count_positions(vocabulary: Any, rows: Sequence[Row]) -> list[Row]:
    """One mask per position for a date: at each position, how many free outputs have their token cut there."""
    free = [row["tokens"] for row in rows if row["way"] == "free"]
    made = []
    for place, allowed in enumerate(POSITIONS):
        there = [tokens[place] for tokens in free if len(tokens) > place]
        cut = Counter(token for token in there if classes_of(vocabulary.pieces[token]) != {allowed})
        most = {vocabulary.pieces[t].decode("utf-8", "replace"): n for t, n in cut.most_common(4)}
        made.append({"position": place, "allowed": allowed, "cut": cut.total(), "of": len(there), "tokens": most})
    return made
