"""The constraints for the timing of the engines, with realistic texts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

STRING = r'"([^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"'
PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer"},
        "email": {"type": "string"},
        "member": {"type": "boolean"},
    },
    "required": ["name", "age", "email", "member"],
    "additionalProperties": False,
}
PERSON_REGEX = rf'\{{"name": {STRING}, "age": -?(0|[1-9][0-9]*), "email": {STRING}, "member": (true|false)\}}'
PEOPLE = (
    '{"name": "Ada Lovelace", "age": 36, "email": "ada@engine.org", "member": true}',
    '{"name": "Zoë \\"Z\\" O\'Neill", "age": 7, "email": "zoe.oneill@example.com", "member": false}',
    '{"name": "李小龍", "age": 32, "email": "", "member": true}',
)


@dataclass(frozen=True)
class Case:
    """A regex, a grammar in GBNF, or a schema (optionally with a grammar) that each engine compiles itself."""

    name: str
    texts: tuple[str, ...]
    regex: str = ""
    schema: dict[str, Any] | None = field(default=None, hash=False)
    grammar: str = ""

    def __str__(self) -> str:
        if self.grammar:
            return f"a grammar of {len(self.grammar.splitlines())} rules"
        return self.regex if self.schema is None else f"JSON Schema, {len(self.schema['properties'])} fields"


CASES = (
    Case("date", ("2026-11-20", "1999-12-31", "0001-01-01"), r"[0-9]{4}-[0-9]{2}-[0-9]{2}"),
    Case("decimal", ("3.14159265358979", "42", "1000000.5"), r"[0-9]+(\.[0-9]+)?"),
    Case(
        "email",
        ("ada.lovelace@engine.org", "info@example.com", "a_very_long_name.1815@maths4all.net"),
        r"[a-z0-9._]{1,32}@[a-z0-9]{1,24}\.(com|org|net)",
    ),
    Case("dialogue", ("ROMEO: wherefore\n", "NURSE: ay\n"), r"[A-Z]+: [a-z]+\n"),
    Case("JSON string", ('"The quick brown fox, 12 dogs"', '"tab\\t, naïve café \\u00e9"', '"日本語 🙂"'), STRING),
    Case("four fields, one regex", PEOPLE, PERSON_REGEX),
    Case("four fields, a schema", PEOPLE, schema=PERSON),
)
