"""From a JSON Schema (draft 2020-12) to a machine: a finite one where that will do, a pushdown one where values nest.

Every keyword adds its piece to a tree, parts of a name become rules, and the rules a machine. What a schema leaves open
is decided as the engines for structured output decide it:

- Keys stand in the order of `properties`, then those of `required`, then all others in any order. Where a schema
  names keys or patterns, there are no others unless `additionalProperties` allows them.
- A key may be repeated among the others: which keys a text has used so far no machine of this kind remembers. Beside
  named keys the others have the letters, digits and signs of ASCII as they are.
- The branches of a oneOf share no value, and differ before one of them nests; allOf is joined keyword by keyword.
- `enum` and `const` are written in one spelling, that of json.dumps with every character as it is and 1.0 as 1.
- An integer has no fraction and no exponent; see `numerals` for numbers with bounds.
- `pattern` means what `re.search` means under re.ASCII, save that `$` is only the very end; a format is always checked.
- A keyword about another type says nothing, as in the standard; one that is not known here is an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from guidedviz.errors import PatternError
from guidedviz.machines.dfa import DFA
from guidedviz.machines.grammar import Grammar
from guidedviz.machines.inline import call_graph, inline_rules
from guidedviz.machines.pda import PDA, build_pda
from guidedviz.machines.schema_reader import Reader, machine_of
from guidedviz.machines.schema_source import load_schema, refusal
from guidedviz.machines.show_gbnf import show_gbnf
from guidedviz.machines.show_regex import show_regex
from guidedviz.machines.tree import Tree

Schema = dict[str, Any] | bool | str
NESTS = {"value": "any JSON value", "object": "any object", "member": "any object", "array": "any array"}


def json_schema(schema: Schema, whitespace: str = "space") -> DFA | PDA:
    """The machine for a JSON Schema, given as a dict or as its text: a DFA, or a PDA where values nest to any depth.

    `whitespace`: "space" is one blank or none after each `:` and `,`; "one" exactly one; "compact" none; "any" all that
    JSON allows.
    An object has the keys of `properties`, in that order, and no others unless `additionalProperties` allows them.

    >>> person = {"type": "object", "properties": {"age": {"type": "integer", "minimum": 0}}, "required": ["age"]}
    >>> machine = json_schema(person)
    >>> machine.accepts(b'{"age": 42}'), machine.accepts(b'{"age":-1}'), machine.accepts(b'{}')
    (True, False, False)
    >>> json_schema({"type": "array", "items": {"$ref": "#"}}).accepts(b"[[], [[]]]")
    True
    """
    with _said_of("schema"):
        grammar = inline_rules(_read(schema, whitespace).grammar())
        return build_pda(grammar) if any(call_graph(grammar).values()) else machine_of(grammar.rules[0].tree)


def schema_grammar(schema: Schema, whitespace: str = "space") -> Grammar:
    """The grammar of a schema, with a rule for every part that has a name or is long.

    >>> [rule.name for rule in schema_grammar({"type": "array", "items": {"$ref": "#"}}).rules]
    ['root']
    """
    with _said_of("schema"):
        return _read(schema, whitespace).grammar()


def schema_gbnf(schema: Schema, whitespace: str = "space") -> str:
    """The same as text that llama.cpp and xgrammar read.

    >>> print(schema_gbnf({"type": "array", "items": {"type": ["integer", "null"]}}))
    root    ::= "[" ((integer | "null") ("," " "? (integer | "null"))*)? "]"
    integer ::= "-"? ("0" | [1-9] [0-9]*)
    """
    with _said_of("schema"):
        return show_gbnf(schema_grammar(schema, whitespace))


def schema_regex(schema: Schema, whitespace: str = "space") -> str:
    """The regex that a flat schema stands for.

    >>> schema_regex({"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 12}, "maxItems": 2})
    '\\\\[(?:(?:[1-9]|1[0-2])(?:, ?(?:[1-9]|1[0-2]))?)?\\\\]'
    """
    with _said_of("schema"):
        return show_regex(_flat_tree(schema, whitespace))


def flat_schema(schema: Schema, whitespace: str = "space") -> DFA:
    """The finite machine of a flat schema; one that nests is an error."""
    with _said_of("schema"):
        return machine_of(_flat_tree(schema, whitespace))


def _flat_tree(schema: Schema, whitespace: str) -> Tree:
    reader = _read(schema, whitespace)
    grammar = inline_rules(reader.grammar())
    for name in (call for calls in call_graph(grammar).values() for call in calls):
        seen = f"{NESTS.get(name, 'a schema inside itself')}, which may nest to any depth"
        raise refusal(reader.rules.paths[name], seen, "a flat schema: nesting needs the pushdown machine")
    return grammar.rules[0].tree


def _read(schema: Schema, whitespace: str) -> Reader:
    if whitespace not in ("space", "one", "compact", "any"):
        raise PatternError("schema, whitespace", seen=repr(whitespace), expected='"space", "one", "compact" or "any"')
    return Reader(load_schema(schema), whitespace)


@contextmanager
def _said_of(where: str) -> Iterator[None]:
    """Errors of the machines say that it was a schema."""
    try:
        yield
    except PatternError as error:
        if error.where.startswith(where):
            raise
        raise PatternError(where, seen=error.seen, expected=error.expected, hint=error.hint) from error
    except RecursionError as error:
        hint = "at most some fifty values inside each other"
        raise PatternError(where, seen="parts nested too deeply", expected="a flatter schema", hint=hint) from error
