"""From a JSON Schema (draft 4 to 2020-12) to a machine: a DFA if its values have bounded depth, else a pushdown one.

`reader` makes the rules of a grammar. It asks `document` for references, `normal_form` for and, or, not (which asks
`own_constraints` what one schema says by itself), and `objects`, `arrays`, `text_sets`, `numbers` for trees. Where the
standard leaves a choice, we choose as the engines for structured output do:

- Keys come in the order of `properties`, then of schemas beside it, then of `required`, then other keys in any order.
  With extra_keys="closed", an object that names keys or patterns has other keys only if `additionalProperties` is
  present and allows them. No setting allows a value that the standard forbids: not, if and oneOf are decided as the
  standard says.
- Other keys may be repeated, because a pushdown machine cannot remember which keys were used; the last one counts.
  Beside named keys, other keys are escaped only where JSON requires it.
- `enum` and `const` have one spelling: that of json.dumps with ensure_ascii=False, and 1.0 as 1.
- An integer has no fraction and no exponent; see `numbers` for numbers with bounds.
- `pattern` means `re.search` under re.ASCII, but `$` matches only at the very end; formats are enforced.
- Before draft 2019-09 keywords beside a $ref have no effect. References lead only to parts of the same document.
- Most `uniqueItems`, and counts of keys without names, cannot be said: an error. The table
  in assets/schemas.md has every construct that is refused.
- A keyword about another type has no effect, as in the standard. A keyword or format that JSON Schema does not have is
  ignored and noted.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from guidedviz.errors import NoTextWarning, PatternError
from guidedviz.machines import limits
from guidedviz.machines.grammars.grammar import Grammar, recursive_rules
from guidedviz.machines.grammars.rewrite import inline_rules, is_counted, without_ticks
from guidedviz.machines.grammars.show import show_regex
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.algebra import build_machine
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.schema.reader import TOO_DEEP, SchemaReader
from guidedviz.machines.schema.settings import SchemaSettings
from guidedviz.machines.schema.text_sets import Matching
from guidedviz.machines.schema.values import below, load_schema, schema_error
from guidedviz.machines.schema.xml_arguments import XmlArguments
from guidedviz.machines.schema.xml_styles import STYLES
from guidedviz.machines.work import limited_work

Schema = Any  # a dict, True or False, JSON text, the path of its file, or a type that Pydantic knows
NESTED_JSON = {"value": "any JSON value", "object": "any object", "member": "any object", "array": "any array"}


def json_schema(
    schema: Schema,
    whitespace: str = "space",
    extra_keys: str = "closed",
    unknown: str = "note",
) -> DFA | PDA:
    """The machine for a JSON Schema: a DFA, or a PDA where values nest.

    `schema`: a dict, its text, the path of its file, a Pydantic class, or what Pydantic's TypeAdapter takes:
    `list[Item]`, a dataclass, a TypedDict, `Annotated[int, Field(gt=0)]`.

    A PDA also counts items and lengths, beside a pattern or format too, where copies would be too many.

    `whitespace`: "space" is one optional space after each `:` and `,`; "one" exactly one; "compact" none; "any"
    whatever JSON allows; "inside" the same, but none around the whole value.
    `extra_keys`: "closed": an object that names keys has no others unless `additionalProperties` allows them; "open":
    it has others unless `additionalProperties` forbids them, as the standard says.
    `unknown`: "note": keywords that JSON Schema does not have are ignored and listed in `machine.notes`; or "error".

    >>> person = {"type": "object", "properties": {"age": {"type": "integer", "minimum": 0}}, "required": ["age"]}
    >>> machine = gv.json_schema(person)
    >>> machine.accepts(b'{"age": 42}'), machine.accepts(b'{"age":-1}'), machine.accepts(b'{}')
    (True, False, False)
    >>> gv.json_schema(person, extra_keys="open").accepts(b'{"age": 42, "city": "Paris"}')
    True
    >>> gv.json_schema({"type": "null", "x-unit": "m"}).notes
    ('#/x-unit: not a keyword of JSON Schema, ignored',)
    >>> gv.json_schema({"type": "string", "format": "uri", "maxLength": 2083})
    PDA(2 rules, 361 nodes)
    """
    with schema_named():
        reader = SchemaReader(load_schema(schema), SchemaSettings(whitespace, extra_keys, unknown))
        grammar = reader.grammar()
        most = limits.INLINED_STATES
        if len(grammar.rules) > limits.FEW_RULES and recursive_rules(grammar.calls):
            most = limits.INLINED_WHERE_CALLED
        grammar = inline_rules(grammar, most)
        notes = tuple(reader.notes.texts)
        try:
            if any(grammar.calls.values()) or is_counted(grammar.rules[0].tree):
                return PDA(grammar, notes=notes)
            machine = replace(build_machine(grammar.rules[0].tree), notes=notes)
        except PatternError as error:
            path = reader.rules.paths.get(error.where.removeprefix("rule ")) or too_large_pattern(reader)
            if not path:
                raise
            raise schema_error(path, error.seen, error.expected, error.hint) from None
    if not machine.accepting:  # other schemas without a value are errors
        said = "schema, #: no value satisfies false, so the machine accepts no text"
        warnings.warn(said, NoTextWarning, stacklevel=2)
    return machine


def schema_regex(schema: Schema, **settings: Any) -> str:
    """The regex of a schema whose values do not nest without bound; the settings are those of json_schema.

    >>> schema_regex({"type": "array", "items": {"type": "integer", "minimum": 8, "maximum": 11}, "maxItems": 2})
    '\\\\[(?:(?:[89]|1[01])(?:, ?(?:[89]|1[01]))?)?\\\\]'
    """
    with schema_named():
        reader = SchemaReader(load_schema(schema), SchemaSettings(**settings))
        grammar = inline_rules(without_ticks(reader.grammar()))
        calls = [name for called in grammar.calls.values() for name in called]
        if calls:
            what = NESTED_JSON.get(calls[0], "a schema inside itself")
            seen = f"{what}, which may nest to any depth"
            path = reader.rules.paths.get(calls[0], "#")
            raise schema_error(path, seen, "a flat schema: nesting needs the pushdown machine")
        return show_regex(grammar.rules[0].tree)


def schema_grammar(schema: Schema, settings: SchemaSettings, style: str = "json") -> tuple[Grammar, tuple[str, ...]]:
    """The rules of a schema, and its notes; in another style than JSON the members are XML arguments."""
    with schema_named():
        reader = SchemaReader(load_schema(schema), settings)
        read_root = None if style == "json" else XmlArguments(reader, STYLES[style]).read_root
        return reader.grammar(read_root), tuple(reader.notes.texts)


def too_large_pattern(reader: SchemaReader) -> str:
    """The path of a pattern that is too large by itself; "" if there is none."""
    for own in reader.normal.own.values():
        for matching in own.of_type(Matching):
            try:
                build_machine(matching.texts.tree)
            except PatternError:
                return below(matching.path, "pattern")
    return ""


@contextmanager
def schema_named() -> Iterator[None]:
    """Make errors of lower rooms name the schema."""
    try:
        with limited_work():
            yield
    except PatternError as error:
        if error.where.startswith("schema"):
            raise
        raise PatternError("schema", seen=error.seen, expected=error.expected, hint=error.hint) from error
    except RecursionError as error:
        raise schema_error("#", *TOO_DEEP) from error
