"""What one schema says by itself, without the schemas that it applies to the same value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from guidedviz.errors import PatternError
from guidedviz.machines.regular.regex import parse_regex
from guidedviz.machines.schema.document.keywords import SAYS_NOTHING, Notes, take_kinds, take_map, take_names
from guidedviz.machines.schema.document.paths import (
    below,
    check_key,
    check_value,
    nearest,
    refusal,
    shown,
    take_count,
    take_number,
)
from guidedviz.machines.schema.logic.cases import Atom
from guidedviz.machines.schema.logic.facts import (
    PLAIN,
    Contains,
    Count,
    Depends,
    Fact,
    Family,
    Goal,
    Items,
    Keys,
    Limit,
    Names,
    Part,
    Required,
    Step,
    Text,
    Unique,
    goal_of,
)
from guidedviz.machines.schema.text.ecma import to_python
from guidedviz.machines.schema.text.formats import BASE64, FORMATS, NOT_REGULAR
from guidedviz.machines.schema.text.json_text import canon
from guidedviz.machines.schema.text.numerals import Bound
from guidedviz.machines.tree import Tree

COUNTS = (("string", "Length"), ("array", "Items"), ("object", "Properties"))
MOST_NAMES = 5_000
LOWER, UPPER = ("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")


@dataclass(frozen=True)
class Local:
    """Reads the keywords of one part."""

    part: Part
    notes: Notes

    @property
    def schema(self) -> dict[str, Any]:
        found: dict[str, Any] = self.part.schema
        return found

    @property
    def path(self) -> str:
        return self.part.path

    def inner(self, key: str, default: Any = True) -> Goal:
        """The goal of a keyword that is a schema."""
        return goal_of([self.below(self.schema.get(key, default), key)])

    def below(self, schema: Any, *steps: str | int) -> Part:
        path = self.path
        for step in steps:
            path = below(path, step)
        return Part(schema, path, self.part.sign, self.part.scope)

    def atom(self) -> Atom:
        """All that the schema says by itself."""
        kinds = take_kinds(self.schema, self.path)
        return Atom(self.part.key, self.path, kinds, self.values(), facts=tuple(self.facts()))

    def values(self) -> tuple[Any, ...] | None:
        """The values of enum and const."""
        found: tuple[Any, ...] | None = None
        for key in ("enum", "const"):
            if key in self.schema:
                values = self.schema[key] if key == "enum" else [self.schema[key]]
                if not isinstance(values, list | tuple) or not values:
                    raise refusal(below(self.path, key), shown(values), "a list of values")
                check_value(self.schema[key], below(self.path, key))
                known = set(map(canon, values))
                found = tuple(value for value in (values if found is None else found) if canon(value) in known)
        return found

    def facts(self) -> Iterator[Fact]:
        yield from self.counts()
        yield from self.texts()
        yield from self.limits()
        yield from self.steps()
        yield from self.arrays()
        yield from self.objects()

    def counts(self) -> Iterator[Count]:
        for kind, what in COUNTS:
            low, high = (take_count(self.schema, word + what, self.path) for word in ("min", "max"))
            if low or high is not None:
                yield Count(kind, low or 0, high, self.path)

    def texts(self) -> Iterator[Text]:
        for key, read in (("pattern", self.pattern), ("format", self.format), ("contentEncoding", self.encoding)):
            if key in self.schema:
                tree = read(self.schema[key], below(self.path, key))
                if tree is not None:
                    yield Text(tree, True, self.path)

    def pattern(self, pattern: Any, path: str) -> Tree | None:
        try:
            return pattern_tree(pattern, path)
        except PatternError as error:
            if not isinstance(pattern, str):
                raise
            self.notes.give_up_of(error, path)
            return None

    def format(self, name: Any, path: str) -> Tree | None:
        if not isinstance(name, str):
            raise refusal(path, shown(name), "the name of a format")
        if name in FORMATS:
            return parse_regex(FORMATS[name])
        if name in NOT_REGULAR:
            self.notes.add(path, f"the format {shown(name)} is not enforced")
            return None
        self.notes.ignore_format(name, path, nearest(name, FORMATS))
        return None

    def encoding(self, name: Any, path: str) -> Tree | None:
        if not isinstance(name, str):
            raise refusal(path, shown(name), "the name of an encoding")
        if name.lower() == "base64":
            return parse_regex(BASE64)
        self.notes.add(path, f"the encoding {shown(name)} is not enforced")
        return None

    def limits(self) -> Iterator[Limit]:
        for (closed, strict), lower in ((LOWER, True), (UPPER, False)):
            value, excluded = take_number(self.schema, closed, self.path), self.schema.get(strict)
            if isinstance(excluded, bool):  # draft 4
                if value is not None:
                    yield Limit(Bound(value, excluded), lower, self.path)
                continue
            if value is not None:
                yield Limit(Bound(value), lower, self.path)
            if (other := take_number(self.schema, strict, self.path)) is not None:
                yield Limit(Bound(other, strict=True), lower, self.path)

    def steps(self) -> Iterator[Step]:
        step = take_number(self.schema, "multipleOf", self.path)
        if step is not None:
            if step <= 0:
                raise refusal(below(self.path, "multipleOf"), shown(self.schema["multipleOf"]), "a number above 0")
            yield Step(step.normalize() if step != 1 else Decimal(1), True, self.path)

    def arrays(self) -> Iterator[Fact]:
        yield from self.items()
        if "contains" in self.schema:
            low = take_count(self.schema, "minContains", self.path)
            high = take_count(self.schema, "maxContains", self.path)
            low = 1 if low is None else low
            yield Contains(self.below(self.schema["contains"], "contains"), low, high, 0, self.path, self.part.says)
        unique = self.schema.get("uniqueItems", False)
        if not isinstance(unique, bool):
            raise refusal(below(self.path, "uniqueItems"), shown(unique), "true or false")
        if unique:
            yield Unique(self.path)

    def items(self) -> Iterator[Items]:
        items = self.schema.get("items", True)
        key, rest = "prefixItems", "items"
        if isinstance(items, list | tuple):  # before draft 2020-12
            key, rest = "items", "additionalItems"
        first = self.schema.get(key, [])
        if not isinstance(first, list | tuple):
            raise refusal(below(self.path, key), shown(first), "a list of schemas")
        if key in self.schema or rest in self.schema:
            goals = tuple(goal_of([self.below(part, key, place)]) for place, part in enumerate(first))
            yield Items(goals, self.inner(rest), self.path, rest in self.schema, self.part.says)

    def objects(self) -> Iterator[Fact]:
        yield from self.keys()
        if "required" in self.schema and not isinstance(self.schema["required"], bool):  # a truth value before draft 4
            names = take_names(self.schema["required"], below(self.path, "required"))
            check_value(names, below(self.path, "required"))
            if names:
                yield Required(names, self.path)
        if "propertyNames" in self.schema and (goal := self.inner("propertyNames")):
            yield Names(goal, below(self.path, "propertyNames"))
        for key in ("dependentRequired", "dependencies"):
            at = below(self.path, key)
            for name, names in take_map(self.schema, key, self.path, "lists of names").items():
                check_key(name, at)
                if key == "dependentRequired" or isinstance(names, list | tuple):
                    yield Depends(name, take_names(names, below(at, name)), self.path)

    def keys(self) -> Iterator[Keys]:
        named, patterns = (take_map(self.schema, key, self.path) for key in ("properties", "patternProperties"))
        if len(named) > MOST_NAMES:
            raise refusal(below(self.path, "properties"), f"{len(named):,} properties", f"at most {MOST_NAMES:,}")
        for key, parts in (("properties", named), ("patternProperties", patterns)):
            for name in parts:
                check_key(name, below(self.path, key))
        if not {"properties", "patternProperties", "additionalProperties"} & self.schema.keys():
            return
        families, lost = [], False
        for text, part in patterns.items():
            tree = self.pattern(text, below(below(self.path, "patternProperties"), text))
            if tree is None:
                lost = True
                continue
            families.append((Family(text, tree), goal_of([self.below(part, "patternProperties", text)])))
        rest: Goal | None = () if lost else None
        if "additionalProperties" in self.schema and not lost:
            rest = self.inner("additionalProperties")
        goals = {name: goal_of([self.below(part, "properties", name)]) for name, part in named.items()}
        closing = rest is None and self.part.sign == PLAIN and self.notes.choices.closed
        closing = closing and "unevaluatedProperties" not in self.schema
        yield Keys(goals, tuple(families), rest, self.path, closing, self.part.sign == PLAIN, self.part.says)


def pattern_tree(pattern: Any, path: str) -> Tree:
    """The strings in which a regex finds a match."""
    if not isinstance(pattern, str):
        raise refusal(path, shown(pattern), "a regex")
    try:
        return parse_regex(to_python(pattern), search=True)
    except PatternError as error:
        raise refusal(path, f"{error.where}: {error.seen}", error.expected, error.hint) from error


def one_enum(branches: list[Part]) -> Atom | None:
    """Branches that are constants and nothing else, as one atom."""
    said = [part.schema.keys() - SAYS_NOTHING if isinstance(part.schema, dict) else None for part in branches]
    if any(keys != {"const"} for keys in said):
        return None
    values = tuple(part.schema["const"] for part in branches)
    check_value(list(values), branches[0].path)
    return Atom(("enum", branches[0].key), branches[0].path, values=values)
