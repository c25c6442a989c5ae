"""Reads a schema goal by goal: each becomes a tree; a named, long or recursive one becomes a rule of the grammar.

A union is read branch by branch. Everything else is read from its normal form, row by row.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from guidedviz.errors import PatternError
from guidedviz.machines.grammars.counted import needed_rules
from guidedviz.machines.grammars.grammar import Grammar, Rule, recursive_rules, rules_with
from guidedviz.machines.grammars.show import count_signs
from guidedviz.machines.schema.arrays import array_tree
from guidedviz.machines.schema.constraints import EVERYTHING, Conjunction, MultipleOf
from guidedviz.machines.schema.document import (
    KINDS,
    NOT,
    NUMBERS,
    Document,
    Goal,
    Notes,
    SchemaSettings,
    Subschema,
    below,
    refusal,
    take_list,
)
from guidedviz.machines.schema.normal_form import LOOP, MOST_SIGNS, NormalForms, says_unevaluated, spelled_out
from guidedviz.machines.schema.numbers import any_number, integers
from guidedviz.machines.schema.objects import object_tree
from guidedviz.machines.schema.scalars import (
    NoValue,
    allowed_values,
    any_length,
    number_texts,
    string_tree,
    take_range,
)
from guidedviz.machines.schema.strings import (
    ANY_CHARACTER,
    FEW_WORDS,
    NOT_ASCII,
    Spaced,
    bracket,
    has_ticks,
    in_quotes,
    json_text,
    kind_of,
    plain_text,
    words_tree,
)
from guidedviz.machines.tree import EMPTY, NOTHING, Call, Chars, Repeat, Tree, concat, either, literal, optional
from guidedviz.machines.work import spend

BLANK = Repeat(Chars(((9, 10), (13, 13), (32, 32))), 0, None)
FREE = ("value", "object", "member", "array", "string", "char", "escape", "number", "integer", "ws")
STEPS = {"items": "item", "additionalProperties": "more"} | dict.fromkeys(
    "# $defs definitions properties patternProperties prefixItems anyOf oneOf allOf".split(), ""
)
LAST_PLACE = defaultdict(int, {name: place for place, name in enumerate(FREE, 1)})
LONGEST = 40  # characters of a name


GAPS = {"compact": {}, "space": dict.fromkeys(",:", optional(literal(" "))), "one": dict.fromkeys(",:", literal(" "))}
MOST_WORDS = 20_000  # of an enum that is written as GBNF or as a regex
FEW = 4  # a named or shared part above this size becomes a rule
EMPTY_SCHEMA = ("keywords that no value satisfies together", "some value")


class SchemaRules:
    """The rules so far, and for each rule the path of its part in the schema."""

    def __init__(self, token: Spaced) -> None:
        self.trees = free_trees(token)
        self.paths = {"root": "#"}
        self.numbers: dict[str, int] = defaultdict(lambda: 2)  # a name -> the number that the next rule of it may get
        self.settled: dict[tuple[str, Tree], Tree] = {}

    def name(self, path: str, word: str = "") -> str:
        """A new name for the part at this path."""
        plain = f"{rule_name(path)}-{word}" if word else rule_name(path)
        name, number = plain, self.numbers[plain]
        while name in self.paths or name in FREE:
            name, number = f"{plain}-{number}", number + 1
        self.numbers[plain] = number
        self.paths[name] = path
        return name

    def free(self, kind: str, path: str) -> Tree:
        """Any JSON of this kind; keeps the path of its first use for error messages."""
        self.paths.setdefault(kind, path)
        return Call(kind)

    def settle(self, tree: Tree, path: str, most: int = MOST_SIGNS, word: str = "") -> Tree:
        """The tree itself, or a call of a new rule if the tree is long; `word` ends the name of the rule."""
        if count_signs(tree) <= most:
            return tree
        spend(100)  # the hash of a tree takes long
        if (path, tree) not in self.settled:
            self.settled[path, tree] = self.add(self.name(path, word), tree)
        return self.settled[path, tree]

    def add(self, name: str, tree: Tree) -> Tree:
        self.trees[name] = tree
        return Call(name)

    def grammar(self) -> Grammar:
        """The rules that the root needs, unrestricted JSON last; raises an error for a rule that cannot end."""
        grammar = needed_rules(Grammar(tuple(Rule(name, tree, (0, 0)) for name, tree in self.trees.items())))
        ends = rules_with(grammar.rules, lambda chars: chars != NOTHING)
        graph = {name: [call for call in calls if call not in ends] for name, calls in grammar.calls.items()}
        endless = recursive_rules(graph) - ends
        for rule in grammar.rules:
            if rule.name in endless:
                seen = "a schema whose every value contains another such value"
                raise refusal(self.paths[rule.name], seen, "a way to end", "an optional property, or null beside it")
        return replace(grammar, rules=tuple(sorted(grammar.rules, key=lambda rule: LAST_PLACE[rule.name])))


def free_trees(token: Spaced) -> dict[str, Tree]:
    """The rules of unrestricted JSON."""

    def many(item: str) -> Tree:
        return optional(concat(Call(item), Repeat(concat(token(literal(","), ","), Call(item)), 0, None)))

    scalars = either(Call("string"), Call("number"), *map(literal, ("true", "false", "null")))
    return {
        "value": either(Call("object"), Call("array"), token(scalars, "")),
        "object": bracket("{}", many("member"), token),
        "member": concat(token(Call("string"), ""), token(literal(":"), ":"), Call("value")),
        "array": bracket("[]", many("value"), token),
        "string": in_quotes(Repeat(Call("char"), 0, None)),
        "char": ANY_CHARACTER,
        "escape": NOT_ASCII,
        "number": any_number(),
        "integer": integers(None, None),
        "ws": BLANK,
    }


def rule_name(path: str) -> str:
    """A rule name for the part at this path: letters, digits and minus signs, as llama.cpp requires.

    >>> rule_name("#/$defs/node"), rule_name("#/properties/home town/items"), rule_name("#/$defs/2é"), rule_name("#")
    ('node', 'home-town-item', 'part-2', 'document')
    """
    words = "-".join(filter(None, (STEPS.get(step, step) for step in path.split("/"))))
    name = re.sub("(~[01]|[^A-Za-z0-9])+", "-", words).strip("-")[-LONGEST:].strip("-")
    return "document" if path == "#" else name if name[:1].isalpha() else f"part-{name}".strip("-")


class SchemaReader:
    """Reads one schema, and keeps the open goals to detect recursion. `spelled`: the result is written as a text."""

    def __init__(self, root: Any, settings: SchemaSettings, spelled: bool = False) -> None:
        self.settings, self.spelled = settings, spelled
        self.notes = Notes(settings)
        self.document = Document(root)
        self.normal = NormalForms(self.document, self.notes)
        self.gaps = GAPS.get(settings.whitespace, {})
        self.rules = SchemaRules(self.token)
        self.settle = self.rules.settle
        self.known: dict[Any, Tree] = {}  # a goal, or the key of a row -> its tree
        self.open: dict[Any, int] = {}  # what is being read -> the depth at which it began
        self.names: dict[Any, str] = {}  # rule names of what is recursive
        self.depth = 0
        self.at = "#"  # the path of the part read last

    def grammar(self) -> Grammar:
        """The rules of the whole schema."""
        if "root" not in self.rules.trees:
            try:
                self.rules.add("root", concat(self.token(EMPTY), self.read_root()))
            except RecursionError:
                path = "/".join(self.at.split("/")[:9])
                hint = "at most about fifty levels"
                raise refusal(path, "parts nested too deeply", "a flatter schema", hint) from None
            except PatternError as error:
                if error.where.startswith("schema"):
                    raise
                raise refusal(self.at, error.seen, error.expected, error.hint) from error
        return self.rules.grammar()

    def read_root(self) -> Tree:
        """The whole schema, without leading whitespace."""
        root = self.document.enter(self.document.root)
        if self.document.resolve(root) != root:
            tree = self.read_part((root,), "#")
        else:
            self.open[(root,)] = self.depth
            if self.settings.whitespace != "any":
                self.names[(root,)] = "root"
            tree = self.read((root,))
        if tree == NOTHING and root.schema is not False:
            raise refusal("#", *EMPTY_SCHEMA)
        named = self.names.get((root,), "root")
        return tree if named == "root" else self.rules.add(named, tree)

    def token(self, tree: Tree, sign: str = "") -> Tree:
        """A piece of JSON with the whitespace allowed after it."""
        return concat(tree, Call("ws") if self.settings.whitespace == "any" else self.gaps.get(sign, EMPTY))

    # --- goals ------------------------------------------------------------------------------------------------------

    def read_goal(self, goal: Goal, path: str, most: int = MOST_SIGNS) -> Tree:
        """A nested value that meets a goal."""
        self.depth += 1
        try:
            return self.settle(self.read_part(goal, path), goal[0].path if len(goal) == 1 else path, most)
        finally:
            self.depth -= 1

    def read_part(self, goal: Goal, path: str) -> Tree:
        """A value that meets a goal. What a reference means is read once, and is a rule if it is long."""
        if any(part.is_false() for part in goal):
            return NOTHING
        if not goal:
            return self.rules.free("value", path)
        meant = tuple(dict.fromkeys(map(self.document.resolve, goal)))
        if meant == tuple(map(self.document.enter, goal)):
            return self.once(meant, path, lambda: self.read(meant), most=None)
        return self.once(meant, meant[0].path, lambda: self.read(meant))

    def read(self, goal: Goal) -> Tree:
        """The texts of all values that meet a goal."""
        part = goal[0]
        self.at = part.path
        spend(60)
        part.check()
        if len(goal) > 1 or part.sign == NOT or not isinstance(part.schema, dict):
            return self.read_rows(self.normal.of_goal(goal))
        self.notes.check(part)
        applied = self.normal.applied(part)
        if applied in (["anyOf"], ["oneOf"]) and (branches := self.branches(part, applied[0])):
            return either(*(self.read_part((branch,), branch.path) for branch in branches))
        if applied or says_unevaluated(part.schema):
            return self.read_rows(self.normal.of(part))
        tree, errors = self.read_kinds(self.normal.constraints(part), part.path)
        if tree == NOTHING:
            raise errors[0].error if len(errors) == 1 else refusal(part.path, *EMPTY_SCHEMA)
        return tree

    def branches(self, part: Subschema, key: str) -> list[Subschema]:
        """The branches of a union, if they are few and each may be read by itself; else nothing."""
        if self.normal.constraints(part).key != EVERYTHING.key or says_unevaluated(part.schema):
            return []
        branches = [part.at(inner, key, n) for n, inner in enumerate(take_list(part.schema, key, part.path))]
        if len(branches) > FEW_WORDS:
            return []
        apart = key == "anyOf" or not any(others for _, others in self.normal.exclusive(branches))
        return branches if apart else []

    def once(self, key: Any, path: str, read: Callable[[], Tree], most: int | None = FEW) -> Tree:
        """What is read once; a rule if it is recursive, or longer than `most`."""
        if key in self.known:
            return self.known[key]
        if key in self.open:
            return self.again(key, path)
        self.open[key] = self.depth
        tree = read()
        del self.open[key]
        named = self.names.get(key)
        if named:
            tree = self.rules.add(named, tree)
        elif most is not None:
            tree = self.settle(tree, path, most)
        self.known[key] = tree
        return tree

    def again(self, key: Any, path: str) -> Tree:
        """A call of the rule of a recursive part: this is what needs a stack."""
        if self.open[key] == self.depth:
            raise refusal(path, *LOOP)
        if key not in self.names:
            self.names[key] = self.rules.name(path)
        return Call(self.names[key])

    # --- rows of a normal form --------------------------------------------------------------------------------------

    def read_rows(self, rows: list[Conjunction]) -> Tree:
        """The values of which each meets a row."""
        return either(*(self.once(row.key, row.path, partial(self.read_row, row)) for row in rows))

    def read_row(self, row: Conjunction) -> Tree:
        return self.read_kinds(row, row.path)[0]

    def read_kinds(self, row: Conjunction, path: str) -> tuple[Tree, list[NoValue]]:
        """The values of a row, and why there are none of some kinds."""
        spend(30)
        if row.values is not None:
            return self.read_values(row), []
        if row.key == EVERYTHING.key:
            return self.rules.free("value", path), []
        errors: list[NoValue] = []
        nested = [self.read_kind(kind, row, path, errors) for kind in ("object", "array") if kind in row.kinds]
        kinds = [kind for kind in KINDS[2:] if kind in row.kinds and not (kind == "integer" and row.kinds >= NUMBERS)]
        scalars = either(*(self.read_kind(kind, row, path, errors) for kind in kinds))
        return either(*nested, self.token(scalars)), errors

    def read_kind(self, kind: str, row: Conjunction, path: str, errors: list[NoValue]) -> Tree:
        """All values of one kind; scalars come without trailing whitespace."""
        banned = [value for value in row.banned.values() if kind_of(value) == kind]
        try:
            if kind in ("null", "boolean"):
                values = [None] if kind == "null" else [True, False]
                return either(*(literal(plain_text(value)) for value in values if value not in banned))
            if kind in NUMBERS:
                banned = [value for value in row.banned.values() if kind_of(value) in NUMBERS]
                free = not banned and not row.asks("number") and "integer" in row.kinds
                kind = "number" if "fraction" in row.kinds else "integer"
                return self.rules.free(kind, path) if free else self.read_number(row, path)
            if not row.asks(kind) and not (banned and kind == "string"):
                return self.rules.free(kind, path)
            if kind == "string":
                return self.read_string(row, path)
            return object_tree(row, path, self) if kind == "object" else array_tree(row, path, self)
        except NoValue as error:
            errors.append(error)
            return NOTHING

    def read_string(self, row: Conjunction, path: str) -> Tree:
        """A string with a pattern, a format, a length or constants; one that counts its characters is a rule."""
        try:
            tree = string_tree(row, path, tick=not self.spelled)
        except PatternError as error:
            if take_range(row, "string")[1] is None:
                raise
            self.notes.give_up_of(error, below(path, "maxLength"))
            tree = string_tree(any_length(row), path, tick=False)
        return self.rules.add(self.rules.name(path, "text"), tree) if has_ticks(tree) else tree

    def read_number(self, row: Conjunction, path: str) -> Tree:
        """A number with bounds and steps."""
        try:
            return number_texts(row, path)
        except PatternError as error:
            if not row.of_type(MultipleOf):
                raise
            self.notes.give_up_of(error, below(path, "multipleOf"))
            kept = tuple(found for found in row.constraints if not isinstance(found, MultipleOf))
            return number_texts(replace(row, constraints=kept), path)

    def read_values(self, row: Conjunction) -> Tree:
        """enum and const: the values that the other keywords allow too."""
        scalars, nested = list[str](), list[Tree]()
        for value in allowed_values(row):
            if isinstance(value, dict | list | tuple):
                nested.append(self.read_value(value, row))
            else:
                scalars.append(plain_text(value))
        words = words_tree(scalars, MOST_WORDS if self.spelled else FEW_WORDS)
        return either(*([self.token(words)] if scalars else []), *nested)

    def read_value(self, value: Any, row: Conjunction) -> Tree:
        """One object or array, if it meets what a row says of objects or arrays."""
        if not row.asks(kind_of(value)):
            return json_text(value, self.token)
        rest = replace(row, kinds=frozenset((kind_of(value),)), values=None, banned={})
        rows = self.normal.both(self.normal.of(spelled_out(value, row.path)), [rest], row.path)
        return either(*map(self.read_row, rows))
