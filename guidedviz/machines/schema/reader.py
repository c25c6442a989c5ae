"""Reads the goals of a schema into the rules of a grammar."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any

from guidedviz.errors import PatternError
from guidedviz.machines.grammars.counted import needed_rules
from guidedviz.machines.grammars.grammar import Grammar, Rule, recursive_rules, rules_with
from guidedviz.machines.grammars.show import count_signs
from guidedviz.machines.schema.arrays import array_tree
from guidedviz.machines.schema.constraints import EVERYTHING, Conjunction
from guidedviz.machines.schema.document import Document
from guidedviz.machines.schema.json_text import ONE_CHARACTER, SCALARS, bracket, escape, in_quotes
from guidedviz.machines.schema.normal_form import LOOP, MOST_SIGNS, NormalForms, spelled_out
from guidedviz.machines.schema.notes import Notes, SchemaSettings
from guidedviz.machines.schema.objects import object_tree
from guidedviz.machines.schema.places import NoValue, refusal
from guidedviz.machines.schema.subschema import NOT, Goal, Subschema
from guidedviz.machines.schema.text_sets import Matching
from guidedviz.machines.schema.unevaluated import says_unevaluated
from guidedviz.machines.schema.values import KINDS, NUMBERS, kind_of, plain_text
from guidedviz.machines.syntax import EMPTY, NOTHING, Call, Repeat, Tree, concat, either, has_ticks, literal, optional
from guidedviz.machines.work import spend

GAPS = {"compact": {}, "space": dict.fromkeys(",:", optional(literal(" "))), "one": dict.fromkeys(",:", literal(" "))}
STEPS = {"items": "item", "additionalProperties": "more"} | dict.fromkeys(
    "# $defs definitions properties patternProperties prefixItems anyOf oneOf allOf".split(), ""
)
LONGEST = 40  # characters of a name
FEW = 4  # signs; a named or shared part with more becomes a rule

TOO_DEEP = ("parts nested too deeply", "a flatter schema", "at most about fifty levels")
EMPTY_SCHEMA = ("keywords that no value satisfies together", "some value")


def rule_name(path: str) -> str:
    """A rule name for the part at this path: letters, digits and minus signs, as llama.cpp requires.

    >>> rule_name("#/$defs/node"), rule_name("#/properties/home town/items"), rule_name("#/$defs/2é"), rule_name("#")
    ('node', 'home-town-item', 'part-2', 'document')
    """
    words = "-".join(filter(None, (STEPS.get(step, step) for step in path.split("/"))))
    name = re.sub("(~[01]|[^A-Za-z0-9])+", "-", words).strip("-")[-LONGEST:].strip("-")
    return "document" if path == "#" else name if name[:1].isalpha() else f"part-{name}".strip("-")


class SchemaReader:
    """Reads one schema, and keeps the open goals to detect recursion; `ignored`: paths of what is not enforced."""

    def __init__(self, root: Any, settings: SchemaSettings, ignored: Mapping[str, str]) -> None:
        self.settings = settings
        self.notes = Notes(settings, ignored)
        self.document = Document(root)
        self.normal = NormalForms(self.document, self.notes)
        self.trees = self.free_trees()  # of the rules so far
        self.paths = {"root": "#"}  # of the rules, in the schema
        self.known: dict[Any, Tree] = {}  # a goal, or the key of a row -> its tree
        self.open: dict[Any, int] = {}  # what is being read -> the depth at which it began
        self.names: dict[Any, str] = {}  # rule names of what is recursive
        self.depth = 0
        self.at = "#"  # the path of the part read last

    def grammar(self) -> Grammar:
        """The rules that the root needs; raises an error for a rule that cannot end."""
        try:
            self.read_root()
        except RecursionError:
            raise refusal("/".join(self.at.split("/")[:9]), *TOO_DEEP) from None
        except PatternError as error:
            if error.where.startswith("schema"):
                raise
            raise refusal(self.at, error.seen, error.expected, error.hint) from error
        grammar = needed_rules(Grammar(tuple(Rule(name, tree) for name, tree in self.trees.items())))
        ends = rules_with(grammar.rules, lambda chars: chars != NOTHING)
        graph = {name: [call for call in calls if call not in ends] for name, calls in grammar.calls.items()}
        endless = recursive_rules(graph) - ends
        for rule in grammar.rules:
            if rule.name in endless:
                seen = "a schema whose every value contains another such value"
                raise refusal(self.paths[rule.name], seen, "a way to end", "an optional property, or null beside it")
        return grammar

    def read_root(self) -> None:
        """The rule of the whole schema; with leading whitespace it is no rule of a schema inside."""
        root = self.document.enter(self.document.root)
        if self.settings.whitespace != "any":
            self.names[(root,)] = "root"
        tree = self.read_part((root,), "#")
        if "root" not in self.trees:
            self.add("root", concat(self.token(EMPTY), tree))
        if self.trees["root"] == NOTHING and root.schema is not False:
            raise refusal("#", *EMPTY_SCHEMA)

    # --- rules ------------------------------------------------------------------------------------------------------

    def free_trees(self) -> dict[str, Tree]:
        """The rules of unrestricted JSON."""

        def many(item: str) -> Tree:
            return optional(concat(Call(item), Repeat(concat(self.token(literal(","), ","), Call(item)), 0, None)))

        scalars = either(Call("string"), Call("number"), *map(literal, ("true", "false", "null")))
        return {
            "value": either(Call("object"), Call("array"), self.token(scalars)),
            "object": bracket("{}", many("member"), self.token),
            "member": concat(self.token(Call("string")), self.token(literal(":"), ":"), Call("value")),
            "array": bracket("[]", many("value"), self.token),
            **SCALARS,
        }

    def token(self, tree: Tree, sign: str = "") -> Tree:
        """A piece of JSON with the whitespace allowed after it."""
        blank = self.settings.whitespace
        return concat(tree, Call("ws") if blank == "any" else GAPS[blank].get(sign, EMPTY))

    def name(self, path: str) -> str:
        """A new name for the part at this path."""
        plain = rule_name(path)
        names = (f"{plain}-{number}" if number > 1 else plain for number in count(1))
        name = next(name for name in names if name not in self.paths and name not in self.trees)
        self.paths[name] = path
        return name

    def add(self, name: str, tree: Tree) -> Tree:
        """A call of a new rule."""
        self.trees[name] = tree
        return Call(name)

    def free(self, kind: str, path: str) -> Tree:
        """Any JSON of this kind; keeps the path of its first use for error messages."""
        self.paths.setdefault(kind, path)
        return Call(kind)

    def settle(self, tree: Tree, path: str, most: int = MOST_SIGNS) -> Tree:
        """The tree itself, or a call of a new rule if the tree is long."""
        return tree if count_signs(tree) <= most else self.add(self.name(path), tree)

    # --- goals ------------------------------------------------------------------------------------------------------

    def read_goal(self, goal: Goal, path: str, most: int = MOST_SIGNS) -> Tree:
        """A nested value that meets a goal; a rule if it is longer than `most`."""
        self.depth += 1
        tree = self.read_part(goal, path, most)
        self.depth -= 1
        return tree

    def read_part(self, goal: Goal, path: str, most: int | None = None) -> Tree:
        """A value that meets a goal. What a reference means is read once, and is a rule if it is long."""
        if any(part.is_false() for part in goal):
            return NOTHING
        if not goal:
            return self.free("value", path)
        meant = tuple(dict.fromkeys(map(self.document.resolve, goal)))
        if meant != tuple(map(self.document.enter, goal)):
            return self.once(meant, meant[0].path, lambda: self.read(meant))
        return self.once(meant, goal[0].path if len(goal) == 1 else path, lambda: self.read(meant), most)

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
        errors: list[NoValue] = []
        tree = self.read_kinds(self.normal.constraints(part), errors)
        if tree == NOTHING:
            raise errors[0].error if len(errors) == 1 else refusal(part.path, *EMPTY_SCHEMA)
        return tree

    def branches(self, part: Subschema, key: str) -> list[Subschema]:
        """The branches of a union, if each may be read by itself; else nothing."""
        if self.normal.constraints(part).key != EVERYTHING.key or says_unevaluated(part.schema):
            return []
        branches = [part.at(inner, key, n) for n, inner in enumerate(part.listed(key))]
        apart = key == "anyOf" or not any(others for _, others in self.normal.exclusive(branches))
        return branches if apart else []

    def once(self, key: Any, path: str, read: Callable[[], Tree], most: int | None = FEW) -> Tree:
        """What is read once; a rule if it is recursive, or longer than `most`."""
        if key in self.known:
            return self.known[key]
        if key in self.open:  # a call of the rule of a recursive part: this is what needs a stack
            if self.open[key] == self.depth:
                raise refusal(path, *LOOP)
            if key not in self.names:
                self.names[key] = self.name(path)
            return Call(self.names[key])
        self.open[key] = self.depth
        tree = read()
        del self.open[key]
        if key in self.names:
            tree = self.add(self.names[key], tree)
        elif most is not None:
            tree = self.settle(tree, path, most)
        self.known[key] = tree
        return tree

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
            return self.free("value", row.path)
        nested = [self.read_kind(kind, row, errors) for kind in ("object", "array") if kind in row.kinds]
        kinds = row.kinds - {"integer"} if row.kinds >= NUMBERS else row.kinds
        scalars = either(*(self.read_kind(kind, row, errors) for kind in KINDS[2:] if kind in kinds))
        return either(*nested, self.token(scalars))

    def read_kind(self, kind: str, row: Conjunction, errors: list[NoValue]) -> Tree:
        """All values of one kind; scalars come without trailing whitespace."""
        try:
            if kind in ("true", "false", "null"):
                return literal(kind)
            if kind in NUMBERS:
                if row.asks("number") or "integer" not in row.kinds:
                    return row.numbers()
                return self.free("number" if "fraction" in row.kinds else "integer", row.path)
            if not row.asks(kind):
                return self.free(kind, row.path)
            if kind == "string":
                return self.read_string(row)
            return object_tree(row, self) if kind == "object" else array_tree(row, self)
        except NoValue as error:
            errors.append(error)
            return NOTHING

    def read_string(self, row: Conjunction) -> Tree:
        """A string with patterns or a length, without optional escapes; one that counts its characters is a rule."""
        if not row.of_type(Matching):
            return in_quotes(Repeat(ONE_CHARACTER, *row.bounds("string")))
        tree = in_quotes(escape(row.texts(tick=True)))
        return self.add(self.name(row.path), tree) if has_ticks(tree) else tree

    def read_values(self, row: Conjunction) -> Tree:
        """enum and const: the values that the other keywords allow too."""
        values = row.allowed_values()
        scalars = [literal(plain_text(value)) for value in values if not isinstance(value, dict | list | tuple)]
        nested = [self.read_nested(value, row) for value in values if isinstance(value, dict | list | tuple)]
        return either(self.token(either(*scalars)), *nested)

    def read_nested(self, value: Any, row: Conjunction) -> Tree:
        """One object or array, if it meets what a row says of objects or arrays."""
        rest = replace(row, kinds=frozenset((kind_of(value),)), values=None)
        rows = self.normal.both(self.normal.of(spelled_out(value, row.path)), [rest], row.path)
        return either(*(self.read_kinds(row, []) for row in rows))
