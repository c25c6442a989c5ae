"""From a JSON Schema (draft 4 to 2020-12) to a machine: a DFA if its values have bounded depth, else a pushdown one.

The keywords become cases (`logic`), each case becomes a tree (`kinds`), named parts become rules, and the rules become
a machine. Where the standard leaves a choice, we choose as the engines for structured output do:

- Keys come in the order of `properties`, then of `required`, then other keys in any order. With extra_keys="closed", an
  object that names keys or patterns has other keys only if `additionalProperties` is present and allows them. No
  setting allows a value that the standard forbids: not, if and oneOf are decided as the standard says.
- Other keys may be repeated, because a pushdown machine cannot remember which keys were used; the last one counts.
  Beside named keys, other keys contain printable ASCII characters unescaped.
- `enum` and `const` have one spelling: that of json.dumps with ensure_ascii=False, and 1.0 as 1.
- An integer has no fraction and no exponent; see `numerals` for numbers with bounds.
- `pattern` means `re.search` under re.ASCII, but `$` matches only at the very end; formats and base64 are enforced.
- Before draft 2019-09 keywords beside a $ref have no effect. References lead only to parts of the same document.
- Most `uniqueItems`, and counts of keys without names, cannot be said: an error, or a note with approximate=True.
  The table in assets/schemas.md has every construct that is refused.
- A keyword about another type has no effect, as in the standard. A keyword or format that JSON Schema does not have is
  ignored and noted.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from guidedviz.errors import PatternError
from guidedviz.machines.grammars.counted import inline_rules, is_counted
from guidedviz.machines.grammars.grammar import Grammar
from guidedviz.machines.grammars.show import show_gbnf
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.dfa import DFA, build_dfa
from guidedviz.machines.regular.minimal import minimise
from guidedviz.machines.regular.nfa import build_nfa
from guidedviz.machines.regular.show_regex import show_regex
from guidedviz.machines.schema.document.choices import Choices
from guidedviz.machines.schema.document.paths import below, load_schema, refusal
from guidedviz.machines.schema.logic.local import pattern_tree
from guidedviz.machines.schema.reader import Reader
from guidedviz.machines.schema.text.words import words_machine
from guidedviz.machines.tree import Tree, Words
from guidedviz.machines.work import limited_work

Schema = dict[str, Any] | bool | str | type
MOST_TRIED = 10  # patterns of a schema that is too large, each for up to half a second
NESTS = {"value": "any JSON value", "object": "any object", "member": "any object", "array": "any array"}


def json_schema(
    schema: Schema,
    whitespace: str = "space",
    extra_keys: str = "closed",
    unknown: str = "note",
    approximate: bool = False,
) -> DFA | PDA:
    """The machine for a JSON Schema (a dict, its text, or a Pydantic model class): a DFA, or a PDA where values nest.

    A PDA also counts items and lengths, beside a pattern or format too, where copies would be too many.

    `whitespace`: "space" is one optional space after each `:` and `,`; "one" exactly one; "compact" none; "any"
    whatever JSON allows.
    `extra_keys`: "closed": an object that names keys has no others unless `additionalProperties` allows them; "open":
    it has others unless `additionalProperties` forbids them, as the standard says.
    `unknown`: "note": keywords that JSON Schema does not have are ignored and listed in `machine.notes`; or "error".
    `approximate`: what no such machine can say is not enforced and listed in `machine.notes`: most `uniqueItems`,
    counts of keys without names, patterns that are not regular. A schema with such a part is refused otherwise.

    >>> person = {"type": "object", "properties": {"age": {"type": "integer", "minimum": 0}}, "required": ["age"]}
    >>> machine = json_schema(person)
    >>> machine.accepts(b'{"age": 42}'), machine.accepts(b'{"age":-1}'), machine.accepts(b'{}')
    (True, False, False)
    >>> json_schema(person, extra_keys="open").accepts(b'{"age": 42, "city": "Paris"}')
    True
    >>> json_schema({"type": "null", "x-unit": "m"}).notes
    ('#/x-unit: not a keyword of JSON Schema, ignored',)
    >>> json_schema({"type": "string", "format": "uri", "maxLength": 2083})
    PDA(2 rules, 361 nodes)
    """
    with _said_of("schema"):
        reader = _read(schema, Choices(whitespace, extra_keys, unknown, approximate))
        grammar = inline_rules(reader.grammar())
        try:
            if any(grammar.calls.values()) or is_counted(grammar.rules[0].tree):
                return PDA(grammar, notes=tuple(reader.notes.texts))
            return replace(machine_of(grammar.rules[0].tree), notes=tuple(reader.notes.texts))
        except PatternError as error:
            name = error.where.removeprefix("rule ")
            path = reader.rules.paths.get(name, "") if name != error.where else ""
            if error.where == "machine":
                longest = sorted(_patterns(reader.root, "#"), key=lambda found: -len(found[1]))[:MOST_TRIED]
                path = next((path for path, pattern in longest if _is_too_large(pattern, path)), "")
            raise refusal(path, error.seen, error.expected, error.hint) if path else error from None


def schema_grammar(
    schema: Schema,
    whitespace: str = "space",
    extra_keys: str = "closed",
    unknown: str = "note",
    approximate: bool = False,
) -> Grammar:
    """The grammar of a schema, with a rule for each part that is named or long.

    >>> [rule.name for rule in schema_grammar({"type": "array", "items": {"$ref": "#"}}).rules]
    ['root']
    """
    with _said_of("schema"):
        return _read(schema, Choices(whitespace, extra_keys, unknown, approximate), spelled=True).grammar()


def schema_gbnf(
    schema: Schema,
    whitespace: str = "space",
    extra_keys: str = "closed",
    unknown: str = "note",
    approximate: bool = False,
) -> str:
    """The grammar of a schema as GBNF text, which llama.cpp and xgrammar read.

    >>> print(schema_gbnf({"type": "array", "items": {"type": ["integer", "null"]}}))
    root    ::= "[" ((integer | "null") ("," " "? (integer | "null"))*)? "]"
    integer ::= "-"? ("0" | [1-9] [0-9]*)
    """
    with _said_of("schema"):
        return show_gbnf(schema_grammar(schema, whitespace, extra_keys, unknown, approximate))


def schema_regex(
    schema: Schema,
    whitespace: str = "space",
    extra_keys: str = "closed",
    unknown: str = "note",
    approximate: bool = False,
) -> str:
    """The regex of a schema whose values do not nest without bound.

    >>> schema_regex({"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 12}, "maxItems": 2})
    '\\\\[(?:(?:[1-9]|1[0-2])(?:, ?(?:[1-9]|1[0-2]))?)?\\\\]'
    """
    with _said_of("schema"):
        return show_regex(
            _flat_tree(_read(schema, Choices(whitespace, extra_keys, unknown, approximate), spelled=True))
        )


def machine_of(tree: Tree) -> DFA:
    """The smallest machine of a tree."""
    if isinstance(tree, Words) and (machine := words_machine(tree)):
        return machine
    return minimise(build_dfa(build_nfa(tree)))


def _patterns(part: Any, path: str) -> Iterator[tuple[str, str]]:
    """The patterns of a schema and their paths."""
    waiting = [(part, path)]
    for part, path in waiting:
        if isinstance(part, dict) and isinstance(part.get("pattern"), str):
            yield below(path, "pattern"), part["pattern"]
        inner = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
        waiting += [(value, below(path, key)) for key, value in inner]


def _is_too_large(pattern: str, path: str) -> bool:
    """Whether a pattern is too large by itself."""
    try:
        machine_of(pattern_tree(pattern, path))
    except PatternError:
        return True
    return False


def _flat_tree(reader: Reader) -> Tree:
    grammar = inline_rules(reader.grammar())
    for name in (call for calls in grammar.calls.values() for call in calls):
        seen = f"{NESTS.get(name, 'a schema inside itself')}, which may nest to any depth"
        raise refusal(reader.rules.paths.get(name, "#"), seen, "a flat schema: nesting needs the pushdown machine")
    return grammar.rules[0].tree


def _read(schema: Schema, choices: Choices, spelled: bool = False) -> Reader:
    return Reader(load_schema(schema), choices, spelled)


@contextmanager
def _said_of(where: str) -> Iterator[None]:
    """Make errors of lower rooms name the schema."""
    try:
        with limited_work():
            yield
    except PatternError as error:
        if error.where.startswith(where):
            raise
        raise PatternError(where, seen=error.seen, expected=error.expected, hint=error.hint) from error
    except RecursionError as error:
        hint = "at most about fifty levels"
        raise PatternError(where, seen="parts nested too deeply", expected="a flatter schema", hint=hint) from error
