"""The tools of `scout`'s small world, which are offered under many names.

A tool of one kind has another name, description and keys in each conversation, so that the model reads them in its
system prompt.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

import words as w


@dataclass(frozen=True)
class Kind:
    """What one kind of tool may be called. The last name is never trained on."""

    names: tuple[str, ...]
    abouts: tuple[str, ...]
    keys: tuple[tuple[str, ...], ...]
    type: str


PAIRS = (("a", "b"), ("x", "y"), ("first", "second"), ("left", "right"))
KINDS = {
    "add": Kind(
        ("add", "sum", "plus", "add_numbers", "total", "make_sum"),
        ("Adds two numbers.", "The sum of two numbers.", "Adds up two numbers."),
        PAIRS,
        "integer",
    ),
    "subtract": Kind(
        ("subtract", "minus", "difference", "take_away", "less", "deduct"),
        ("Subtracts two numbers.", "The difference of two numbers.", "Takes one number from another."),
        PAIRS,
        "integer",
    ),
    "lookup": Kind(
        ("lookup", "find", "get_value", "search", "read_table", "look"),
        ("Looks up a value in a table.", "Finds a value in a table.", "Reads a table."),
        (("table", "key"), ("table", "name"), ("list", "item"), ("table", "item")),
        "string",
    ),
    "days": Kind(
        ("days_between", "count_days", "days", "day_count", "date_span", "span"),
        ("Counts the days between two dates.", "The days from one date to another."),
        (("a", "b"), ("start", "end"), ("first", "last"), ("from_date", "to_date")),
        "string",
    ),
    "weather": Kind(
        ("weather", "get_weather", "weather_now", "city_weather", "report_weather", "sky"),
        ("The weather in a city.", "Reports the weather of a city."),
        (("city",), ("place",), ("town",)),
        "string",
    ),
}


@dataclass(frozen=True)
class Offer:
    """A tool as one conversation offers it."""

    kind: str
    name: str
    about: str
    keys: tuple[str, ...]

    def as_tool(self) -> dict[str, Any]:
        """The tool in the form of an API."""
        properties = {key: {"type": KINDS[self.kind].type} for key in self.keys}
        parameters = {
            "type": "object",
            "properties": properties,
            "required": list(self.keys),
            "additionalProperties": False,
        }
        return {
            "type": "function",
            "function": {"name": self.name, "description": self.about, "parameters": parameters},
        }


def draw_offer(r: Random, kind: str, unseen: bool = False) -> Offer:
    """A tool of a kind: its name is a known one, an invented one once in five, or one that was never trained on."""
    row = KINDS[kind]
    if unseen:
        name = row.names[-1]
    elif r.random() < 0.2:
        name = w.invent(r).lower()
    else:
        name = r.choice(row.names[:-1])
    return Offer(kind, name, r.choice(row.abouts), r.choice(row.keys))
