"""The `structural_tag` requests of the engines: the JSON format of xgrammar, which vLLM and SGLang take too.

A format becomes a tree as xgrammar 0.2.8 reads it. One format differs from `gv.tagged`: with "at_least_one" the text
begins with a tag. Formats of single tokens are refused, because a machine reads bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from guidedviz.errors import PatternError, quoted
from guidedviz.machines.pushdown.pda import PDA, grammar
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.regex import regex
from guidedviz.machines.schema.json_schema import json_schema
from guidedviz.machines.tagged.free_text import check_triggers, first_complete, free_text, text_until
from guidedviz.machines.tagged.rules import Rules
from guidedviz.machines.tagged.tagged import Opened, dispatch, open_tags, trigger_of
from guidedviz.machines.tree import EMPTY, LAST, NOTHING, Chars, Repeat, Tree, concat, either, literal, optional
from guidedviz.machines.work import limited_work

Format = Mapping[str, Any]
NEUTRAL: tuple[Any, ...] = (None, False, [], "json")  # values of an option that change nothing


@limited_work()
def read_structural_tag(request: str | Format, whitespace: str = "space") -> DFA | PDA:
    """The machine of a `structural_tag` request, as a dict or its JSON; `whitespace` as in `gv.json_schema`.

    >>> tag = {"type": "tag", "begin": "<n>", "content": {"type": "regex", "pattern": "[0-9]+"}, "end": "</n>"}
    >>> machine = read_structural_tag({"type": "structural_tag", "format": {
    ...     "type": "triggered_tags", "triggers": ["<n"], "tags": [tag]}})
    >>> machine.accepts(b"one <n>1</n> two"), machine.accepts_prefix(b"<n>a")
    (True, False)
    """
    try:
        data = json.loads(request) if isinstance(request, str) else request
    except ValueError as error:
        raise _wrong("#", str(error), "JSON") from error
    except RecursionError as error:
        raise _wrong("#", "values nested too deeply", "fewer nested formats") from error
    if not isinstance(data, Mapping) or data.get("type") != "structural_tag":
        raise _wrong("#", quoted(data), 'an object with "type": "structural_tag"')
    reader = _Reader(whitespace)
    try:
        if "structures" in data:
            return reader.rules.machine(reader.read(_new_format(data), "#"))
        return reader.rules.machine(reader.read(reader.take(data, "format", Mapping, "#"), "#/format"))
    except RecursionError as error:
        raise _wrong("#/format", "formats nested too deeply", "fewer nested formats") from error


def _new_format(data: Format) -> Format:
    """A request of the older form, with "structures" and "triggers"."""
    listed = data["structures"]
    if not isinstance(listed, list) or not all(isinstance(each, Mapping) for each in listed):
        raise _wrong("#/structures", quoted(listed), "a list of objects with begin, schema and end")
    tags = [{**each, "type": "tag", "content": _schema_of(each.get("schema"))} for each in listed]
    return {"type": "triggered_tags", "tags": tags, "triggers": data.get("triggers")}


def _schema_of(schema: Any) -> Format:
    return {"type": "json_schema", "json_schema": json.loads(schema) if isinstance(schema, str) else schema}


def _wrong(path: str, seen: str, expected: str, hint: str = "") -> PatternError:
    return PatternError(f"structural tag, {path}", seen=seen, expected=expected, hint=hint)


class _Reader:
    """Reads formats; rules collects the machines."""

    def __init__(self, whitespace: str) -> None:
        self.rules, self.whitespace = Rules(), whitespace

    def take(self, format: Format, key: str, kind: Any, path: str) -> Any:
        """The value of a key, of this type."""
        value = format.get(key)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
            raise _wrong(f"{path}/{key}", quoted(value), f"a {getattr(kind, '__name__', 'value')}")
        return value

    def read(self, format: Any, path: str) -> Tree:
        """The tree of a format."""
        kind = format.get("type") if isinstance(format, Mapping) else None
        if kind not in READERS:
            hint = "formats of tokens need a vocabulary" if "token" in str(kind) else ""
            raise _wrong(path, quoted(kind), f"a format: {', '.join(READERS)}", hint)
        read, known = READERS[kind]
        for key, value in format.items():
            if key not in ("type", *known) and value not in NEUTRAL:
                raise _wrong(f"{path}/{key}", quoted(value), f"{kind} with {', '.join(known)}")
        return read(self, format, path)

    def read_all(self, format: Format, key: str, path: str) -> list[Tree]:
        formats = self.take(format, key, list, path)
        return [self.read(each, f"{path}/{key}/{place}") for place, each in enumerate(formats)]

    def texts(self, format: Format, key: str, path: str) -> list[str]:
        """A list of texts; missing is empty."""
        texts = format.get(key, [])
        if not isinstance(texts, list) or not all(isinstance(text, str) and text for text in texts):
            raise _wrong(f"{path}/{key}", quoted(texts), "a list of texts that are not empty")
        return texts

    def text(self, format: Format, path: str) -> Tree:
        most, excludes = format.get("max_chars"), self.texts(format, "excludes", path)
        if most is None:
            return text_until([""], excludes)
        if excludes:
            raise _wrong(path, "max_chars and excludes", "one of them")
        return Repeat(Chars(((0, LAST),)), 0, self.take(format, "max_chars", int, path))

    def constant(self, format: Format, path: str) -> Tree:
        return literal(self.take(format, "value", str, path))

    def schema(self, format: Format, path: str) -> Tree:
        schema = self.take(format, "json_schema", Mapping | bool, path)
        machine = json_schema(dict(schema) if isinstance(schema, Mapping) else schema, self.whitespace)
        return self.rules.content(machine, "content")

    def regex(self, format: Format, path: str) -> Tree:
        return self.rules.content(regex(self.take(format, "pattern", str, path)), "content")

    def grammar(self, format: Format, path: str) -> Tree:
        return self.rules.content(grammar(self.take(format, "grammar", str, path)), "content")

    def sequence(self, format: Format, path: str) -> Tree:
        return concat(*self.read_all(format, "elements", path))

    def choice(self, format: Format, path: str) -> Tree:
        return either(*self.read_all(format, "elements", path))

    def repeat(self, format: Format, path: str) -> Tree:
        counts = {"optional": (0, 1), "plus": (1, -1), "star": (0, -1)}
        low, high = counts.get(format["type"]) or (self.take(format, key, int, path) for key in ("min", "max"))
        if low < 0 or 0 <= high < low:
            raise _wrong(path, f"{low} to {high} times", "min at least 0, and max at least min, or -1 for no limit")
        part = self.read(format.get("content"), f"{path}/content")
        return part if part == EMPTY else Repeat(part, low, None if high < 0 else high)

    def opened(self, tag: Any, path: str) -> Opened:
        """The begin and the body of a tag."""
        if not isinstance(tag, Mapping) or tag.get("type", "tag") != "tag":
            raise _wrong(path, quoted(tag), "a tag")
        content, end = tag.get("content"), tag.get("end")
        ends = [end] if isinstance(end, str) else self.take(tag, "end", list, path)
        if not ends or not all(isinstance(each, str) for each in ends):
            raise _wrong(f"{path}/end", quoted(end), "a text, or a list of texts")
        inner = f"{path}/content"
        if isinstance(content, Mapping) and content.get("type") == "any_text" and content.get("max_chars") is None:
            self.read(content, inner)
            body = text_until(ends, self.texts(content, "excludes", inner))
        else:
            body = concat(self.read(content, inner), either(*map(literal, ends)))
        return Opened(self.take(tag, "begin", str, path), body)

    def tags(self, format: Format, path: str) -> list[Opened]:
        listed = self.take(format, "tags", list, path)
        return [self.opened(tag, f"{path}/tags/{place}") for place, tag in enumerate(listed)]

    def tag(self, format: Format, path: str) -> Tree:
        return whole_tag(self.opened(format, path))

    def triggered(self, format: Format, path: str) -> Tree:
        tags, triggers = self.tags(format, path), self.texts(format, "triggers", path)
        for place, tag in enumerate(tags):
            if not trigger_of(tag.begin, triggers):
                expected = f"a begin that starts with one of {', '.join(map(quoted, triggers))}"
                raise _wrong(f"{path}/tags/{place}/begin", quoted(tag.begin), expected)
        once, first = format.get("stop_after_first") is True, either(*map(whole_tag, tags))
        if format.get("at_least_one") is True and once:
            return first
        opened = dict(zip(triggers, open_tags(self.rules, triggers, tags), strict=True))
        rest = self.dispatched(opened, format, path, once)
        return concat(first, rest) if format.get("at_least_one") is True else rest

    def dispatched(self, opened: Mapping[str, Tree], format: Format, path: str, once: bool) -> Tree:
        """Free text with these options after each trigger; an excluded text has none."""
        excludes = self.texts(format, "excludes", path)
        marks = [*opened, *first_complete(mark for mark in excludes if not any(one in mark for one in opened))]
        check_triggers(marks)
        return dispatch(free_text(marks), [opened.get(mark, NOTHING) for mark in marks], False, once)

    def dispatch(self, format: Format, path: str) -> Tree:
        opened: dict[str, Tree] = {}
        for place, rule in enumerate(self.take(format, "rules", list, path)):
            if not isinstance(rule, Sequence) or len(rule) != 2 or not isinstance(rule[0], str):
                raise _wrong(f"{path}/rules/{place}", quoted(rule), "a pattern and a format")
            opened[rule[0]] = self.read(rule[1], f"{path}/rules/{place}/1")
        return self.dispatched(opened, format, path, format.get("loop", True) is False)

    def separated(self, format: Format, path: str) -> Tree:
        tag = either(*map(whole_tag, self.tags(format, path)))
        separator = literal(self.take(format, "separator", str, path))
        row = tag if format.get("stop_after_first") is True else concat(tag, Repeat(concat(separator, tag), 0, None))
        return row if format.get("at_least_one") is True else optional(row)


def whole_tag(tag: Opened) -> Tree:
    """A tag from its begin on."""
    return concat(literal(tag.begin), tag.body)


OPTIONS = ("tags", "at_least_one", "stop_after_first")
READERS: dict[str, tuple[Callable[[_Reader, Format, str], Tree], tuple[str, ...]]] = {
    "any_text": (_Reader.text, ("excludes", "max_chars")),
    "const_string": (_Reader.constant, ("value",)),
    "json_schema": (_Reader.schema, ("json_schema",)),
    "regex": (_Reader.regex, ("pattern",)),
    "grammar": (_Reader.grammar, ("grammar",)),
    "sequence": (_Reader.sequence, ("elements",)),
    "or": (_Reader.choice, ("elements",)),
    "optional": (_Reader.repeat, ("content",)),
    "plus": (_Reader.repeat, ("content",)),
    "star": (_Reader.repeat, ("content",)),
    "repeat": (_Reader.repeat, ("content", "min", "max")),
    "tag": (_Reader.tag, ("begin", "content", "end")),
    "triggered_tags": (_Reader.triggered, ("triggers", *OPTIONS, "excludes")),
    "tags_with_separator": (_Reader.separated, (*OPTIONS, "separator")),
    "dispatch": (_Reader.dispatch, ("rules", "loop", "excludes")),
}
