"""Reads the goals of a schema into the rules of a grammar.

    {"properties": {"next": {"$ref": "#"}}}      while # is read, # is met again: it becomes a rule, which is called

A part is read once. It is a rule if it is recursive, which is what needs a stack, or if it is long.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from guidedviz.errors import PatternError
from guidedviz.machines.grammars.grammar import Grammar, Rule, recursive_rules, rules_with
from guidedviz.machines.grammars.rewrite import needed_rules
from guidedviz.machines.schema.arrays import array_tree
from guidedviz.machines.schema.constraints import EVERYTHING, Conjunction, restricts_unevaluated
from guidedviz.machines.schema.document import Document
from guidedviz.machines.schema.json_text import MOST_SHARED_SIGNS, ONE_CHARACTER, SchemaRules, escape_tree, in_quotes
from guidedviz.machines.schema.normal_form import LOOP, NormalForms
from guidedviz.machines.schema.objects import object_tree
from guidedviz.machines.schema.own_constraints import Notes
from guidedviz.machines.schema.settings import SchemaSettings
from guidedviz.machines.schema.subschema import (
    Goal,
    Sign,
    Subschema,
    applied_keywords,
    branches_of,
    is_impossible,
    spell_out,
)
from guidedviz.machines.schema.text_sets import Matching
from guidedviz.machines.schema.values import JSON_KINDS, NUMBER_KINDS, NoValue, kind_of, plain_text, schema_error
from guidedviz.machines.syntax import EMPTY, NOTHING, Call, Repeat, Tree, concat, either, has_ticks, literal
from guidedviz.machines.work import spend

TOO_DEEP = ("parts nested too deeply", "a flatter schema", "at most about fifty levels")
NO_VALUE = ("keywords that no value satisfies together", "some value")


class SchemaReader:
    """Reads one schema, and keeps the open goals to detect recursion."""

    def __init__(self, root: Any, settings: SchemaSettings) -> None:
        self.notes = Notes(settings)
        self.document = Document(root)
        self.normal = NormalForms(self.document, self.notes)
        self.rules = SchemaRules(settings)
        self.known: dict[Any, Tree] = {}  # a goal, or the key of a row -> its tree
        self.open: dict[Any, int] = {}  # what is being read -> the depth at which it began
        self.names: dict[Any, str] = {}  # rule names of what is recursive
        self.is_recursive = False
        self.depth = 0
        self.path = "#"  # of the part read last

    def grammar(self, read_root: Callable[[], None] | None = None) -> Grammar:
        """The rules that the root needs; raises an error for a rule that cannot end."""
        try:
            (read_root or self.read_root)()
        except RecursionError:
            raise schema_error("/".join(self.path.split("/")[:9]), *TOO_DEEP) from None
        except PatternError as error:
            if error.where.startswith("schema"):
                raise
            raise schema_error(self.path, error.seen, error.expected, error.hint) from error
        rules = tuple(Rule(name, tree) for name, tree in self.rules.trees.items())
        grammar = needed_rules(Grammar(rules))
        if self.is_recursive:
            self.check_ends(grammar)
        return grammar

    def check_ends(self, grammar: Grammar) -> None:
        """Raise an error for a rule that cannot end, because each of its values contains another one."""
        ends = rules_with(grammar.rules, lambda chars: chars != NOTHING)
        graph = {name: [call for call in calls if call not in ends] for name, calls in grammar.calls.items()}
        endless = recursive_rules(graph) - ends
        for rule in grammar.rules:
            if rule.name in endless:
                path = self.rules.paths[rule.name]
                seen = "a schema whose every value contains another such value"
                raise schema_error(path, seen, "a way to end", "an optional property, or null beside it")

    def read_root(self) -> None:
        """Add the rule of the whole schema; if no blanks stand around the value, a `$ref` to # calls it, too."""
        root = self.document.enter(self.document.root)
        if self.rules.around == EMPTY:
            self.names[(root,)] = "root"
        tree = self.read_part((root,), "#")
        if "root" not in self.rules.trees:
            self.rules.add("root", concat(self.rules.around, tree, self.rules.around))
        if self.rules.trees["root"] == NOTHING and root.schema is not False:
            raise schema_error("#", *NO_VALUE)

    # --- goals ------------------------------------------------------------------------------------------------------

    def read_goal(self, goal: Goal, path: str, most: int) -> Tree:
        """A nested value that meets a goal; a rule if it is longer than `most`."""
        self.depth += 1
        tree = self.read_part(goal, path, most)
        self.depth -= 1
        return tree

    def read_item(self, goal: Goal, path: str, most: int) -> Tree:
        """An item that meets a goal."""
        return self.rules.item(self.read_goal(goal, path, most))

    def read_part(self, goal: Goal, path: str, most: int | None = None) -> Tree:
        """A value that meets a goal. What a reference means is read once, and is a rule if it is long."""
        if is_impossible(goal):
            return NOTHING
        if not goal:
            return self.rules.free("value", path)
        meant = tuple(dict.fromkeys(map(self.document.resolve, goal)))
        if meant != tuple(map(self.document.enter, goal)):
            path = meant[0].path
            most = MOST_SHARED_SIGNS
        elif len(goal) == 1:
            path = goal[0].path
        return self.once(meant, path, lambda: self.read(meant), most)

    def once(self, key: Any, path: str, read: Callable[[], Tree], most: int | None = MOST_SHARED_SIGNS) -> Tree:
        """What is read once; a rule if it is recursive, or longer than `most`."""
        if key in self.known:
            return self.known[key]
        if key in self.open:  # a call of the rule of a recursive part: this is what needs a stack
            if self.open[key] == self.depth:
                raise schema_error(path, *LOOP)
            if key not in self.names:
                self.names[key] = self.rules.name(path)
            self.is_recursive = True
            return Call(self.names[key])
        self.open[key] = self.depth
        tree = read()
        del self.open[key]
        if key in self.names:
            tree = self.rules.add(self.names[key], tree)
        elif most is not None:
            tree = self.rules.settle(tree, path, most)
        self.known[key] = tree
        return tree

    def read(self, goal: Goal) -> Tree:
        """The texts of all values that meet a goal."""
        part = goal[0]
        self.path = part.path
        spend(60)
        part.check()
        if len(goal) > 1 or part.sign == Sign.NEGATED or not isinstance(part.schema, dict):
            return self.read_rows(self.normal.of_goal(goal))
        self.notes.check(part)
        branches = self.separate_branches(part)
        if branches:
            return either(*(self.read_part((branch,), branch.path) for branch in branches))
        if applied_keywords(part) or restricts_unevaluated(part.schema):
            return self.read_rows(self.normal.of(part))
        errors: list[NoValue] = []
        tree = self.read_kinds(self.normal.own_constraints(part), errors)
        if tree == NOTHING and not self.rules.excludes:
            raise errors[0].error if len(errors) == 1 else schema_error(part.path, *NO_VALUE)
        return tree

    def separate_branches(self, part: Subschema) -> list[Subschema]:
        """The branches of a union, if each may be read by itself; else nothing."""
        applied = applied_keywords(part)
        if applied not in (["anyOf"], ["oneOf"]) or restricts_unevaluated(part.schema):
            return []
        if self.normal.own_constraints(part).key != EVERYTHING.key:
            return []
        branches = branches_of(part, applied[0])
        if applied == ["oneOf"] and any(self.normal.overlapping(branches).values()):
            return []
        return branches

    # --- rows of a normal form --------------------------------------------------------------------------------------

    def read_rows(self, rows: list[Conjunction]) -> Tree:
        """The values of which each meets a row."""
        return either(*(self.once(row.key, row.path, partial(self.read_kinds, row, [])) for row in rows))

    def read_kinds(self, row: Conjunction, errors: list[NoValue]) -> Tree:
        """The values of a row; `errors` gets the reasons why there are none of some kinds."""
        spend(30)
        if row.values is not None:
            return self.read_values(row)
        if row.key == EVERYTHING.key:
            return self.rules.free("value", row.path)
        kinds = row.kinds - {"integer"} if row.kinds >= NUMBER_KINDS else row.kinds  # fractions include the integers
        found = {kind: self.read_kind(kind, row, errors) for kind in JSON_KINDS if kind in kinds}
        return either(*found.values())

    def read_kind(self, kind: str, row: Conjunction, errors: list[NoValue]) -> Tree:
        """All values of one kind."""
        try:
            if kind in ("true", "false", "null"):
                return literal(kind)
            if kind in NUMBER_KINDS:
                if row.constrains("number") or "integer" not in row.kinds:
                    return row.numbers()
                return self.rules.free("number" if kind == "fraction" else "integer", row.path)
            if not row.constrains(kind):
                return self.rules.free(kind, row.path)
            if kind == "string":
                return self.read_string(row)
            if kind == "array":
                return array_tree(row, self.rules, self.normal, self.read_item)
            return object_tree(row, self.rules, self.read_goal)
        except NoValue as error:
            errors.append(error)
            return NOTHING

    def read_string(self, row: Conjunction) -> Tree:
        """A string with patterns or a length, without optional escapes; one that counts its characters is a rule."""
        if self.is_only_filtered(row):
            return Call("string")
        if not row.of_type(Matching):
            return in_quotes(Repeat(ONE_CHARACTER, *row.bounds("string")))
        tree = in_quotes(escape_tree(row.texts(may_count=True)))
        return self.rules.add(self.rules.name(row.path), tree) if has_ticks(tree) else tree

    def is_only_filtered(self, row: Conjunction) -> bool:
        """Whether only excluded texts are enforced of a string, and not its length."""
        filtered = bool(self.rules.excludes) and not row.of_type(Matching)
        if filtered:
            self.notes.add(row.path, "minLength and maxLength are not enforced beside excluded texts")
        return filtered

    def read_values(self, row: Conjunction) -> Tree:
        """enum and const: the values that the other keywords allow too."""
        trees = []
        for value in row.allowed_values():
            if isinstance(value, dict | list | tuple):
                trees.append(self.read_nested(value, row))
            elif isinstance(value, str):
                trees.append(self.rules.constant(value))
            else:
                trees.append(literal(plain_text(value)))
        return either(*trees)

    def read_nested(self, value: Any, row: Conjunction) -> Tree:
        """One object or array, if it meets what a row says of objects or arrays."""
        rest = replace(row, kinds=frozenset((kind_of(value),)), values=None)
        rows = self.normal.conjunction(self.normal.of(spell_out(value, row.path)), [rest], row.path)
        return either(*(self.read_kinds(row, []) for row in rows))
