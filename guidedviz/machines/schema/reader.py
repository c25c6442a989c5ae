"""Reads a schema part by part: each part becomes a tree; a named, long or recursive part becomes a rule.

A part that says all it says by itself is read as it stands. Parts that hold together, and parts with not, if or
overlapping branches, are read case by case.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from guidedviz.errors import PatternError
from guidedviz.machines.grammars.grammar import Grammar
from guidedviz.machines.schema.arrays import array_tree
from guidedviz.machines.schema.constraints import (
    NOT,
    Atom,
    Case,
    Goal,
    Items,
    Keys,
    Part,
    Required,
    Step,
    case_of,
    goal_of,
    join,
    one_enum,
    without,
)
from guidedviz.machines.schema.document import (
    ANY,
    KINDS,
    NUMBERS,
    REFS,
    Choices,
    Notes,
    References,
    below,
    refusal,
    shown,
    take_kinds,
)
from guidedviz.machines.schema.normal_form import Ways, says_unevaluated
from guidedviz.machines.schema.objects import read_object
from guidedviz.machines.schema.rules import MOST_SIGNS, Rules
from guidedviz.machines.schema.scalars import (
    Empty,
    any_length,
    fitting_scalars,
    number_texts,
    string_texts,
    string_tree,
    take_range,
)
from guidedviz.machines.schema.strings import (
    FEW_WORDS,
    has_ticks,
    json_text,
    kind_of,
    plain_text,
    words_tree,
)
from guidedviz.machines.tree import EMPTY, LAST, NOTHING, Call, Chars, Repeat, Tree, concat, either, literal, optional
from guidedviz.machines.work import spend

DEEPEST = 3


class Holder(Protocol):
    """Has the cases of a schema."""

    ways: Ways


class Possible:
    """Searches for a kind of value that a goal may allow."""

    def __init__(self, holder: Holder) -> None:
        self.holder, self.depth = holder, 0

    def of(self, goal: Goal) -> bool:
        """Whether some value may meet the goal."""
        if any(part.is_false() for part in goal):
            return False
        spend(100)
        if self.depth >= DEEPEST:
            return True
        ways = self.holder.ways
        opened, ways.open = ways.open, {}
        self.depth += 1
        try:
            return any(self.of_case(case) for case in ways.of_goal(goal))
        finally:
            self.depth -= 1
            ways.open = opened

    def of_case(self, case: Case) -> bool:
        if case.values is not None:
            return self.of_values(case)
        return any(self.of_kind(kind, case) for kind in case.kinds)

    def of_values(self, case: Case) -> bool:
        try:
            return bool(fitting_scalars(case, "#"))
        except Empty:
            return any(isinstance(value, dict | list | tuple) for value in (case.values or {}).values())

    def of_kind(self, kind: str, case: Case) -> bool:
        try:
            if kind == "string":
                return string_texts(case, "#", tick=True) != NOTHING
            if kind in NUMBERS:
                return number_texts(case, "#", frozenset((kind,))) != NOTHING
            if kind == "object":
                return self.of_object(case)
            return kind != "array" or self.of_array(case)
        except Empty:
            return False
        except PatternError:
            return True  # too large to tell

    def of_object(self, case: Case) -> bool:
        take_range(case, "object")
        keys = case.facts(Keys)
        for name in {name for fact in case.facts(Required) for name in fact.names}:
            if not self.of(goal_of(part for fact in keys for goal in fact.goals(name) for part in goal)):
                return False
        return True

    def of_array(self, case: Case) -> bool:
        low, _ = take_range(case, "array")
        items = case.facts(Items)
        first = max((len(fact.first) for fact in items), default=0)
        return all(
            self.of(goal_of(part for fact in items for part in fact.at(place))) for place in range(min(low, first + 1))
        )


# --- Reads a schema part by part: each part becomes a tree; a named, long or recursive part becomes a rule.


GAPS = {"compact": {}, "space": dict.fromkeys(",:", optional(literal(" "))), "one": dict.fromkeys(",:", literal(" "))}
MOST_WORDS = 20_000  # of an enum that is written as GBNF or as a regex
FEW = 4  # a named or shared part above this size becomes a rule

Key = tuple[Any, frozenset[str]]  # what is read, the kinds of value allowed here


class Reader:
    """Reads one schema. Keeps the root to resolve references, and the open parts to detect recursion."""

    def __init__(self, root: Any, choices: Choices, spelled: bool = False) -> None:
        self.root, self.choices, self.spelled = root, choices, spelled
        self.few = MOST_WORDS if spelled else FEW_WORDS  # so many words of an enum are written as a choice
        self.notes = Notes(choices)
        self.references = References(root)
        self.ways = Ways(self.references, self.notes, Possible(self).of)
        self.gaps = GAPS.get(choices.whitespace, {})
        self.rules = Rules(self.token)
        self.known: dict[Key, Tree] = {}
        self.open: dict[Key, int] = {}  # what is being read -> the depth at which it began
        self.names: dict[Key, str] = {}  # rule names of recursive parts
        self.root_key: Key = "#", ANY
        self.depth = 0
        self.at = "#"  # the path of the part read last

    def grammar(self) -> Grammar:
        """The rules of the whole schema."""
        if "root" not in self.rules.trees:
            try:
                self.rules.add("root", concat(self.token(EMPTY), self.read_root()))
            except RecursionError:
                raise self.too_deep() from None
            except PatternError as error:
                if error.where.startswith("schema"):
                    raise
                raise refusal(self.at, error.seen, error.expected, error.hint) from error
        return self.rules.grammar()

    def too_deep(self) -> PatternError:
        """The error for a schema nested deeper than Python's recursion limit."""
        path = "/".join(self.at.split("/")[:9])
        hint = "at most about fifty levels"
        return refusal(path, "parts nested too deeply", "a flatter schema", hint)

    def read_root(self) -> Tree:
        """The whole schema, without leading whitespace."""
        part = self.ways.enter(Part(self.root, "#"))
        key = self.root_key = part.key, ANY
        self.open[key] = self.depth
        tree = self.read(part)
        if tree == NOTHING and self.root is not False:
            raise refusal("#", "keywords that no value satisfies together", "some value")
        if key not in self.names or self.names[key] == "root":
            return tree
        return self.rules.add(self.names[key], tree)

    def token(self, tree: Tree, sign: str = "") -> Tree:
        """A piece of JSON with the whitespace allowed after it."""
        return concat(tree, Call("ws") if self.choices.whitespace == "any" else self.gaps.get(sign, EMPTY))

    # --- parts and goals --------------------------------------------------------------------------------------------

    def read_goal(self, goal: Goal, path: str, most: int = MOST_SIGNS) -> Tree:
        """A nested value that meets a goal."""
        if any(part.is_false() for part in goal):
            return NOTHING
        self.depth += 1
        if not goal:
            tree = self.rules.free("value", path)
        elif len(goal) == 1 and goal[0].sign != NOT:
            tree = self.read(goal[0])
            path = goal[0].path
        else:
            tree = self.read_cases(self.ways.of_goal(goal), ANY)
        self.depth -= 1
        return self.rules.settle(tree, path, most)

    def read(self, part: Part, allowed: frozenset[str] = ANY) -> Tree:
        """The texts of all values of these kinds that a part allows."""
        part = self.ways.enter(part)
        schema, path = part.schema, part.path
        self.at = path
        spend(60)
        if part.is_false():
            return NOTHING
        if part.is_true():
            return self.read_local(Atom(("true",), path), path, allowed)
        if not isinstance(schema, dict):
            raise refusal(path, shown(schema), "a schema: an object, true or false")
        self.notes.check(schema, path)
        applied = self.ways.applied(part)
        if not applied and not says_unevaluated(schema):
            return self.read_local(self.ways.local(part), path, allowed)
        atom = None if self.ways.alone(part) else self.ways.local(part)
        alone = atom is None or not (atom.facts or atom.values is not None)
        if len(applied) == 1 and alone and not says_unevaluated(schema):
            kinds = allowed & take_kinds(schema, path) if atom else allowed
            if applied[0] in REFS:
                return self.follow(self.ways.target(part, applied[0]), kinds)
            if applied[0] in ("anyOf", "oneOf") and (branches := self.apart(part, applied[0])):
                if len(branches) > FEW_WORDS and (atom := one_enum(branches)):
                    return self.read_local(atom, path, kinds)
                return either(*(self.read(branch, kinds) for branch in branches))
        return self.read_cases(self.ways.of(part), allowed)

    def apart(self, part: Part, key: str) -> list[Part]:
        """The branches, if each may be read by itself; else nothing."""
        branches = self.ways.branches(part, key)
        if key == "anyOf":
            return branches
        exclusive = self.ways.exclusive(branches, below(part.path, key))
        return [] if any(others for _, others in exclusive) else branches

    def read_local(self, atom: Atom, path: str, allowed: frozenset[str]) -> Tree:
        """A part that applies no other schema to the value."""
        case = case_of(atom)
        tree, errors = self.read_kinds(case.only(allowed), path) if case else (NOTHING, [])
        if tree == NOTHING and allowed == ANY:
            if len(errors) == 1:
                raise errors[0].error
            raise refusal(path, "keywords that no value satisfies together", "some value")
        return tree

    def follow(self, part: Part, allowed: frozenset[str]) -> Tree:
        """The target of a reference: read once; a rule if it is long or recursive."""
        return self.once((part.key, allowed), part.path, lambda: self.read(part, allowed))

    def once(self, key: Key, path: str, read: Any) -> Tree:
        """What is read once; a rule if it is long or recursive."""
        if key in self.known:
            return self.known[key]
        if key in self.open:
            return self.again(key, path)
        self.open[key] = self.depth
        tree = read()
        del self.open[key]
        named = self.names.get(key)
        self.known[key] = self.rules.add(named, tree) if named else self.rules.settle(tree, path, FEW)
        return self.known[key]

    def again(self, key: Key, path: str) -> Tree:
        """A call of the rule of a recursive part: this is what needs a stack."""
        if self.open[key] == self.depth:
            raise refusal(path, "a $ref that leads back to itself without a constraint", "a type or a property between")
        if key not in self.names:
            is_root = key == self.root_key and self.choices.whitespace != "any"
            self.names[key] = "root" if is_root else self.rules.name(path)
        return Call(self.names[key])

    # --- cases ------------------------------------------------------------------------------------------------------

    def read_cases(self, cases: Iterable[Case], allowed: frozenset[str]) -> Tree:
        """The values of all cases."""
        return either(*(self.read_case(case.only(allowed)) for case in cases))

    def read_case(self, case: Case) -> Tree:
        """The values of a case, NOTHING if there are none."""
        path = case.atoms[0].path if case.atoms else self.at
        return self.once((case.key, case.kinds), path, lambda: self.read_kinds(case, path)[0])

    def read_kinds(self, case: Case, path: str) -> tuple[Tree, list[Empty]]:
        """The values of a case, and why there are none of some kinds."""
        spend(30)
        if case.values is not None:
            return self.values(case, path), []
        asked = any(case.asks(kind) for kind in ("object", "array", "string", "number")) or case.banned
        if case.kinds == ANY and not asked:
            return self.rules.free("value", path), []
        errors: list[Empty] = []
        nested = [self.read_kind(kind, case, path, errors) for kind in ("object", "array") if kind in case.kinds]
        kinds = [kind for kind in KINDS[2:] if kind in case.kinds and not (kind == "integer" and case.kinds >= NUMBERS)]
        scalars = either(*(self.read_kind(kind, case, path, errors) for kind in kinds))
        return either(*nested, self.token(scalars)), errors

    def read_kind(self, kind: str, case: Case, path: str, errors: list[Empty]) -> Tree:
        """All values of one kind; scalars come without trailing whitespace."""
        try:
            return self.read_one(kind, case, path)
        except Empty as empty:
            errors.append(empty)
            return NOTHING

    def read_one(self, kind: str, case: Case, path: str) -> Tree:
        if kind == "null":
            return NOTHING if ("NoneType", None) in case.banned else literal("null")
        if kind == "boolean":
            kept = [text for text, value in (("true", True), ("false", False)) if ("bool", value) not in case.banned]
            return either(*map(literal, kept))
        if kind == "object":
            return read_object(case, path, self) if case.asks(kind) else self.rules.free(kind, path)
        if kind == "array":
            return array_tree(case, path, self) if case.asks(kind) else self.rules.free(kind, path)
        if kind == "string":
            banned = any(isinstance(value, str) for value in case.banned.values())
            return self.string(case, path) if case.asks(kind) or banned else self.rules.free(kind, path)
        numbers = case.kinds & NUMBERS
        banned = any(key[0] == "number" for key in case.banned)
        if case.asks("number") or banned or numbers == {"fraction"}:
            return self.number(case, path, numbers)
        return self.rules.free("integer" if kind == "integer" else "number", path)

    def string(self, case: Case, path: str) -> Tree:
        """A string with a pattern, a format, a length or constants; one that counts its characters is a rule."""
        try:
            tree = string_tree(case, path, tick=not self.spelled)
        except PatternError as error:
            if take_range(case, "string")[1] is None:
                raise
            self.notes.give_up_of(error, below(path, "maxLength"))
            tree = string_tree(any_length(case), path, tick=False)
        return self.rules.add(self.rules.name(path, "text"), tree) if has_ticks(tree) else tree

    def number(self, case: Case, path: str, kinds: frozenset[str]) -> Tree:
        """A number with bounds and steps."""
        try:
            return number_texts(case, path, kinds)
        except PatternError as error:
            if not case.facts(Step):
                raise
            self.notes.give_up_of(error, below(path, "multipleOf"))
            return number_texts(without(case, Step), path, kinds)

    def values(self, case: Case, path: str) -> Tree:
        """enum and const: the values that the other keywords allow too."""
        try:
            kept = fitting_scalars(case, path)
        except Empty:
            kept = [value for value in (case.values or {}).values() if isinstance(value, dict | list | tuple)]
        words = [plain_text(value) for value in kept if not isinstance(value, dict | list | tuple)]
        nested = [self.value(value, case) for value in kept if isinstance(value, dict | list | tuple)]
        return either(*([self.token(words_tree(words, self.few))] if words else []), *nested)

    def value(self, value: Any, case: Case) -> Tree:
        """One object or array, if it meets what a case says of objects or arrays."""
        kind = kind_of(value)
        if not case.asks(kind):
            return json_text(value, self.token)
        rest = Case(case.atoms, frozenset((kind,)), None, {})
        fixed = case_of(self.ways.facts_of(value, case.atoms[0].path))
        both = fixed and join(fixed, rest)
        return self.read_kinds(both, case.atoms[0].path)[0] if both else NOTHING

    def key_texts(self, goal: Goal, path: str) -> Tree | None:
        """The strings that meet a goal, before JSON escapes; None if all do."""
        trees: list[Tree] = []
        for case in (case for case in self.ways.of_goal(goal) if "string" in case.kinds):
            if case.values is not None:
                trees += [literal(value) for value in fitting_scalars(case, path) if isinstance(value, str)]
                continue
            try:
                texts = string_texts(case, path)
            except Empty:
                continue
            if texts is None:
                low, high = take_range(case, "string")
                if (low, high) == (0, None):
                    return None
                texts = Repeat(Chars(((0, LAST),)), low, high)
            trees.append(texts)
        return either(*trees)
