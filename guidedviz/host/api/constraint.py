"""The constraint of a request, in whichever form a server takes it: OpenAI's, vLLM's, SGLang's or llama.cpp's.

response_format      text, json_object, json_schema, structural_tag
structured_outputs   vLLM: json, json_object, regex, choice, grammar, structural_tag
regex, ebnf, json_schema, structural_tag, grammar       SGLang and llama.cpp, beside the other fields
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from guidedviz.errors import PatternError, SettingError
from guidedviz.host.api.fields import Fields, wrong_field
from guidedviz.machines.lark import lark
from guidedviz.machines.machine import Machine
from guidedviz.machines.pushdown.large_regex import regex
from guidedviz.machines.pushdown.pda import grammar
from guidedviz.machines.schema.json_schema import json_schema
from guidedviz.machines.source import guess_kind
from guidedviz.machines.structural.structural_tag import structural_tag
from guidedviz.tokens.vocabulary import Vocabulary

REMOVED = {  # vLLM ignores these since 0.12
    "guided_json": '"structured_outputs": {"json": ...}',
    "guided_regex": '"structured_outputs": {"regex": ...}',
    "guided_choice": '"structured_outputs": {"choice": ...}',
    "guided_grammar": '"structured_outputs": {"grammar": ...}',
    "guided_json_object": '"response_format": {"type": "json_object"}',
    "guided_decoding_backend": "a request without it: there is one engine here",
    "guided_whitespace_pattern": "a regex or a grammar that says which whitespace may come",
}
ANY_OBJECT = '{"type": "object"}'


class ConstraintKind(NamedTuple):
    """A language of constraints: its name, how a text in it becomes a machine, and the code that does the same."""

    name: str
    build: Callable[[str, Vocabulary], Machine[Any]]
    code: str


def choice_regex(texts: str) -> str:
    """The regex of one of some texts, which are a list in JSON.

    >>> choice_regex('["yes", "n.o"]')
    'yes|n\\\\.o'
    """
    return "|".join(map(re.escape, json.loads(texts)))


LARK_CODE = "gv.lark({}, vocabulary=model.vocabulary)"
CONSTRAINT_KINDS = {
    "schema": ConstraintKind("JSON Schema", lambda text, _: json_schema(text), "gv.json_schema({})"),
    "regex": ConstraintKind("regex", lambda text, _: regex(text), "gv.regex({})"),
    "choice": ConstraintKind("choice", lambda text, _: regex(choice_regex(text)), "gv.regex({})"),
    "grammar": ConstraintKind("grammar", lambda text, _: grammar(text), "gv.grammar({})"),
    "lark": ConstraintKind("grammar of Lark", lambda text, words: lark(text, vocabulary=words), LARK_CODE),
    "tag": ConstraintKind("structural tag", structural_tag, "gv.structural_tag({}, model.vocabulary)"),
}


@dataclass(frozen=True)
class Constraint:
    """What is to be enforced: its notation, its text, and the field of the body that has it."""

    notation: str
    text: str
    field: str

    @property
    def name(self) -> str:
        """The notation in words."""
        return CONSTRAINT_KINDS[self.notation].name

    @property
    def code(self) -> str:
        """The machine as code for a notebook."""
        text = choice_regex(self.text) if self.notation == "choice" else self.text
        return CONSTRAINT_KINDS[self.notation].code.format(repr(text))

    def build(self, vocabulary: Vocabulary) -> Machine[Any]:
        """The machine; an error names the field."""
        try:
            return CONSTRAINT_KINDS[self.notation].build(self.text, vocabulary)
        except PatternError as error:
            where = f"{self.field}: {error.where}"
            hint = error.hint or "a constraint that gv.stage(...) draws, to see where it differs"
            raise SettingError(where, seen=error.seen, expected=error.expected, hint=hint) from error


def read_constraint(body: Fields) -> Constraint | None:
    """The only constraint of a body; None if it has none."""
    for name, instead in REMOVED.items():
        if name in body.left:
            expected = "the field that servers read today"
            raise SettingError(name, seen="a field that was removed", expected=expected, hint=instead)
    found = [read_response_format(body.inner("response_format"))]
    found += read_structured(body)
    found += _read_named(body, BESIDE_FIELDS)
    kept = [constraint for constraint in found if constraint]
    if len(kept) > 1:
        fields = " and ".join(constraint.field for constraint in kept)
        raise SettingError(fields, seen="two constraints", expected="one", hint=f"only {kept[0].field}")
    return kept[0] if kept else None


def read_response_format(form: Fields | None) -> Constraint | None:
    """The constraint of `response_format`, or of `text.format` as /v1/responses has it."""
    if form is None:
        return None
    kind = form.text("type")
    if kind not in FORMATS:
        raise wrong_field(form.place("type"), kind, " or ".join(FORMATS))
    found = FORMATS[kind](form)
    form.refuse_others()
    return found


def _read_schema_format(form: Fields) -> Constraint:
    inside = form.inner("json_schema") or form
    for name in ("name", "description"):
        inside.text(name)
    if not inside.flag("strict", True):
        inside.notes.append(f"{inside.place('strict')}: false, and the schema is enforced all the same")
    schema = inside.take("schema", (dict, bool), "a JSON Schema")
    if schema is None:
        raise wrong_field(inside.place("schema"), None, "a JSON Schema")
    inside.refuse_others()
    return Constraint("schema", json.dumps(schema), inside.place("schema"))


def _read_object_format(form: Fields) -> Constraint:
    schema = form.take("schema", dict, "a JSON Schema")  # as llama.cpp has it
    if schema is None:
        return Constraint("schema", ANY_OBJECT, form.place("type"))
    return Constraint("schema", json.dumps(schema), form.place("schema"))


def _read_tag_format(form: Fields) -> Constraint:
    spec = {"type": "structural_tag", **form.left}
    form.left.clear()
    return Constraint("tag", json.dumps(spec), form.place("format"))


FORMATS: dict[str, Callable[[Fields], Constraint | None]] = {
    "text": lambda form: None,
    "json_object": _read_object_format,
    "json_schema": _read_schema_format,
    "structural_tag": _read_tag_format,
}
STRUCTURED = {"json": "schema", "regex": "regex", "choice": "choice", "grammar": "grammar", "structural_tag": "tag"}
BESIDE_FIELDS = {  # that SGLang and llama.cpp take beside the other fields
    "json_schema": "schema",
    "regex": "regex",
    "ebnf": "grammar",
    "grammar": "grammar",
    "structural_tag": "tag",
}
OF_NOTATION: dict[str, tuple[type | tuple[type, ...], str]] = {
    "schema": ((dict, bool, str), "a JSON Schema, or its text"),
    "regex": (str, "a regex"),
    "choice": (list, "a list of texts"),
    "grammar": (str, "the text of a grammar"),
    "tag": ((dict, str), "a structural tag, or its text"),
}


def read_structured(body: Fields) -> list[Constraint]:
    """The constraints in vLLM's `structured_outputs`."""
    form = body.inner("structured_outputs")
    if form is None:
        return []
    found = _read_named(form, STRUCTURED)
    if form.flag("json_object"):
        found.append(Constraint("schema", ANY_OBJECT, form.place("json_object")))
    for name in ("backend", "disable_fallback"):
        form.note(name, "no effect: there is one engine here, and no other takes its place")
    form.note("disable_any_whitespace", "no effect: JSON has at most one space after a colon or comma here")
    form.note("disable_additional_properties", "no effect: named keys are the only ones unless the schema allows more")
    form.note("whitespace_pattern", "not enforced: JSON has at most one space after a colon or comma here")
    form.refuse_others()
    return found


def _read_named(form: Fields, names: dict[str, str]) -> list[Constraint]:
    """The constraints in fields with these names, each in its notation."""
    found = []
    for name, notation in names.items():
        kinds, expected = OF_NOTATION[notation]
        value = form.take(name, kinds, expected)
        if value is None:
            continue
        if notation == "choice" and {type(text) for text in value} != {str}:
            raise wrong_field(form.place(name), value, "a list of texts, at least one")
        text = value if isinstance(value, str) else json.dumps(value)
        if notation == "grammar" and guess_kind(text) == "lark":
            notation = "lark"
        found.append(Constraint(notation, text, form.place(name)))
    return found
