"""Answers to `cut_out`."""

import json
import re

from tests.checks.answers import cut_out


def between(text):
    """From the first to the last brace."""
    try:
        return json.loads(text[text.index("{") : text.rindex("}") + 1])
    except ValueError:
        return None


def to_the_first_closing(text):
    try:
        return json.loads(text[text.index("{") : text.index("}") + 1])
    except ValueError:
        return None


def first_brace_only(text):
    try:
        return json.JSONDecoder().raw_decode(text, text.index("{"))[0]
    except ValueError:
        return None


def last(text):
    found = [cut_out(text[place:]) for place in range(len(text)) if text[place] == "{"]
    return next((one for one in reversed(found) if one is not None), None)


def any_value(text):
    for place in range(len(text)):
        try:
            return json.JSONDecoder().raw_decode(text, place)[0]
        except ValueError:
            continue
    return None


def counted(text):
    """Braces are counted, strings are not seen."""
    depth, start = 0, None
    for place, char in enumerate(text):
        if char == "{":
            start, depth = (place if depth == 0 else start), depth + 1
        elif char == "}" and depth:
            depth -= 1
            if depth == 0:
                try:
                    return json.loads(text[start : place + 1])
                except ValueError:
                    continue
    return None


def recursive(text, start=0):
    place = text.find("{", start)
    if place < 0:
        return None
    try:
        return json.JSONDecoder().raw_decode(text, place)[0]
    except ValueError:
        return recursive(text, place + 1)


WRONG = {
    "cut_out": {
        "json.loads": (lambda text: json.loads(text), "JSONDecodeError|no object|None"),
        "the whole text only": (lambda text: cut_out(text) if text[:1] == "{" else None, "prose before"),
        "first to last brace": (between, "first object|begins no JSON"),
        "to the first closing brace": (to_the_first_closing, "begins no JSON|outer object|brace"),
        "the first brace only": (first_brace_only, "begins no JSON"),
        "the last object": (last, "first object"),
        "any value": (any_value, "a list is no object"),
        "braces counted": (counted, "inside a string|begins no JSON"),
        "its text": (lambda text: json.dumps(cut_out(text)) if cut_out(text) is not None else None, "not its text"),
        "a pattern": (
            lambda text: json.loads(found[0]) if (found := re.search(r"\{[^{}]*\}", text)) else None,
            "JSONDecodeError|begins no JSON",
        ),
        "an empty dict for nothing": (lambda text: cut_out(text) or {}, "no object: None"),
        "nothing for an empty dict": (lambda text: cut_out(text) or None, "an empty object"),
        "recursive": (recursive, "RecursionError|two thousand"),
    }
}


def by_find(text):
    place = text.find("{")
    while place >= 0 and (found := first_brace_only(text[place:])) is None:
        place = text.find("{", place + 1)
    return found if place >= 0 else None


def by_finditer(text):
    found = (first_brace_only(text[match.start() :]) for match in re.finditer("{", text))
    return next((one for one in found if one is not None), None)


def by_parts(text):
    while "{" in text:
        text = text[text.index("{") :]
        if (found := first_brace_only(text)) is not None:
            return found
        text = text[1:]


RIGHT = {"cut_out": {"by find": by_find, "by a pattern for the brace": by_finditer, "part by part": by_parts}}
