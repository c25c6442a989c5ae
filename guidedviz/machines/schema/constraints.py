"""What a schema says about a value, as plain records: a case is a conjunction of atoms, an atom a list of facts.

A part is a schema with a sign, a goal is a conjunction of parts. The cases of a goal are its disjunctive normal form.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from guidedviz.errors import PatternError
from guidedviz.machines.regular.dfa import DFA, build_dfa
from guidedviz.machines.regular.nfa import build_nfa
from guidedviz.machines.regular.regex import parse_regex
from guidedviz.machines.schema.document import (
    ANY,
    NUMBERS,
    SAYS_NOTHING,
    TYPES,
    Notes,
    Scope,
    below,
    check_key,
    check_value,
    nearest,
    refusal,
    shown,
    take_count,
    take_kinds,
    take_map,
    take_names,
    take_number,
)
from guidedviz.machines.schema.numbers import Bound
from guidedviz.machines.schema.patterns import BASE64, FORMATS, NOT_REGULAR, to_python
from guidedviz.machines.schema.strings import canon, kind_of
from guidedviz.machines.tree import Tree
from guidedviz.machines.work import spend

PLAIN, OPEN = "+", "o"  # as written; the same, but open for other keys
NOT, TWICE = "-", "="  # negated, and negated twice; both are open for other keys
FLIPPED = {PLAIN: NOT, OPEN: NOT, TWICE: NOT, NOT: TWICE}


class Part(NamedTuple):
    """A schema with its path and its sign."""

    schema: Any
    path: str
    sign: str = PLAIN
    scope: Scope = ()  # of $dynamicRef

    @property
    def key(self) -> tuple[Any, str, Scope]:
        schema = self.schema
        return (schema if isinstance(schema, bool) else id(schema)), self.sign, self.scope

    def flip(self) -> Part:
        """The negated part."""
        return self._replace(sign=FLIPPED[self.sign])

    @property
    def says(self) -> bool:
        """Whether the keys and items that it speaks of count as evaluated."""
        return self.sign in (PLAIN, OPEN)

    def is_true(self) -> bool:
        return self.schema is False if self.sign == NOT else self.schema is True or self.schema == {}

    def is_false(self) -> bool:
        return self.schema is True or self.schema == {} if self.sign == NOT else self.schema is False


Goal = tuple[Part, ...]


def goal_of(parts: Iterable[Part]) -> Goal:
    """The conjunction of parts without what is trivial or repeated."""
    return tuple({part.key: part for part in parts if not part.is_true()}.values())


@dataclass(frozen=True, eq=False)
class Count:
    """The number of characters, items or properties."""

    kind: str
    low: int
    high: int | None
    path: str


@dataclass(frozen=True, eq=False)
class Text:
    """A set of strings, before JSON escapes, to which a string belongs or not."""

    tree: Tree
    wanted: bool
    path: str


@dataclass(frozen=True, eq=False)
class Limit:
    """A lower or an upper bound of a number."""

    bound: Bound
    lower: bool
    path: str


@dataclass(frozen=True, eq=False)
class Step:
    """A number that is a multiple of the step, or is not."""

    step: Decimal
    wanted: bool
    path: str


@dataclass(frozen=True, eq=False)
class Items:
    """The goals of the first items and of the rest."""

    first: tuple[Goal, ...]
    rest: Goal
    path: str
    every: bool = False  # whether the schema says something about each item
    says: bool = False  # whether the items count as evaluated

    def at(self, place: int) -> Goal:
        return self.first[place] if place < len(self.first) else self.rest


@dataclass(frozen=True, eq=False)
class Contains:
    """How many items from a place on meet a part."""

    part: Part
    low: int
    high: int | None
    start: int
    path: str
    says: bool = False  # whether the items count as evaluated


@dataclass(frozen=True, eq=False)
class Unique:
    """No two items are equal."""

    path: str


@dataclass(frozen=True)
class Family:
    """The keys that match one pattern."""

    pattern: str
    tree: Tree

    @cached_property
    def machine(self) -> DFA:
        return build_dfa(build_nfa(self.tree))

    def has(self, name: str) -> bool:
        return self.machine.accepts(name.encode())


@dataclass(frozen=True, eq=False)
class Keys:
    """The goals of the values: by name, by pattern, and of all other keys (None: the schema does not say)."""

    named: dict[str, Goal]
    families: tuple[tuple[Family, Goal], ...]
    rest: Goal | None
    path: str
    closing: bool = False  # other keys are not allowed, because this schema does not mention them
    naming: bool = False  # whether the keys become allowed beside schemas that do not mention them
    says: bool = False  # whether the keys count as evaluated

    def own(self, name: str) -> list[Goal] | None:
        """The goals for this key; None if the key is one of the rest."""
        found = [self.named[name]] if name in self.named else []
        found += [goal for family, goal in self.families if family.has(name)]
        return found or None

    def goals(self, name: str) -> list[Goal]:
        """The goals for the value of this key."""
        return self.own(name) or [self.rest or ()]


@dataclass(frozen=True, eq=False)
class Required:
    """Keys that must be there."""

    names: tuple[str, ...]
    path: str


@dataclass(frozen=True, eq=False)
class Names:
    """The goal of every key, as a string."""

    goal: Goal
    path: str


@dataclass(frozen=True, eq=False)
class Exists:
    """Some key of one class whose value meets the goal; the class is a pattern, or the rest beside `keys`, or keys that
    are not `names`."""

    goal: Goal
    path: str
    family: Family | None = None
    keys: Keys | None = None
    names: Goal | None = None


@dataclass(frozen=True, eq=False)
class Depends:
    """If the key is there, the other keys are too."""

    name: str
    names: tuple[str, ...]
    path: str


Fact = Count | Text | Limit | Step | Items | Contains | Unique | Keys | Required | Names | Exists | Depends
KIND_OF_FACT = {
    **dict.fromkeys((Items, Contains, Unique), "array"),
    **dict.fromkeys((Keys, Required, Names, Exists, Depends), "object"),
    **dict.fromkeys((Limit, Step), "number"),
    Text: "string",
}


def kind_of_fact(fact: Fact) -> str:
    """The kind of value that a fact is about; "number" for integers and fractions."""
    return fact.kind if isinstance(fact, Count) else KIND_OF_FACT[type(fact)]


# --- Cases: atoms that hold together. An atom is what one schema says by itself, or one way in which it does not hold.


F = TypeVar("F")


@dataclass(frozen=True, eq=False)
class Atom:
    """What one schema says by itself, or one way in which it does not hold."""

    key: Any
    path: str
    kinds: frozenset[str] = ANY
    values: tuple[Any, ...] | None = None  # of enum and const
    banned: tuple[Any, ...] = ()
    facts: tuple[Fact, ...] = ()

    @property
    def says_nothing(self) -> bool:
        return self.kinds == ANY and self.values is None and not self.banned and not self.facts


@dataclass(frozen=True, eq=False)
class Case:
    """Atoms that hold together."""

    atoms: tuple[Atom, ...]
    kinds: frozenset[str]
    values: dict[Any, Any] | None  # canonical form -> value
    banned: dict[Any, Any]
    required: frozenset[str] = frozenset()
    known: dict[str, Known] = field(default_factory=dict)  # of the values of named keys

    @cached_property
    def key(self) -> frozenset[Any]:
        return frozenset(atom.key for atom in self.atoms)

    def facts(self, kind: type[F]) -> list[F]:
        """The facts of one type."""
        return [fact for atom in self.atoms for fact in atom.facts if isinstance(fact, kind)]

    def asks(self, kind: str) -> bool:
        """Whether a fact is about this kind of value."""
        return any(kind_of_fact(fact) == kind for atom in self.atoms for fact in atom.facts)

    def only(self, kinds: frozenset[str]) -> Case:
        """The case for values of these kinds."""
        return self if self.kinds <= kinds else tidy(replace(self, kinds=self.kinds & kinds))


EVERYTHING = Case((), ANY, None, {})


def case_of(*atoms: Atom) -> Case | None:
    """The case of these atoms; None if they are known to contradict each other."""
    case: Case | None = EVERYTHING
    for atom in atoms:
        if atom.says_nothing:
            continue
        values = None if atom.values is None else {canon(value): value for value in atom.values}
        banned = {canon(value): value for value in atom.banned}
        required = frozenset(name for fact in atom.facts if isinstance(fact, Required) for name in fact.names)
        known: dict[str, Known] = {}
        for name, goal in (
            (name, fact.named[name]) for fact in atom.facts if isinstance(fact, Keys) for name in fact.named
        ):
            for part in goal:
                known[name] = known.get(name, Known()).meet(known_of(part.schema, part.sign == NOT))
        case = case and join(case, tidy(Case((atom,), atom.kinds, values, banned, required, known)))
    return case


def tidy(case: Case) -> Case:
    """The case without values that are banned or of another kind, and without kinds that no value has."""
    if case.values is None:
        return case
    values = {
        key: value for key, value in case.values.items() if key not in case.banned and kind_of(value) in case.kinds
    }
    kinds = frozenset(map(kind_of, values.values()))
    return replace(case, values=values, kinds=kinds)


def join(one: Case, other: Case) -> Case | None:
    """Both cases together; None if no value is of the kinds, or equal to the constants, of both."""
    if one is EVERYTHING:
        return other if other.kinds else None
    atoms = {atom.key: atom for atom in (*one.atoms, *other.atoms)}
    if len(atoms) == len(one.atoms):
        return one
    banned, values = {**one.banned, **other.banned}, one.values
    spend((len(atoms) + len(banned)) // 2 + len(one.known) + len(other.known))
    if values is None or other.values is None:
        values = other.values if values is None else values
    else:
        values = {key: value for key, value in values.items() if key in other.values}
    known = {**one.known}
    for name, more in other.known.items():
        known[name] = known[name].meet(more) if name in known else more
    both = Case(tuple(atoms.values()), one.kinds & other.kinds, values, banned, one.required | other.required, known)
    if no_object(both, other.required | (both.required & other.known.keys())):
        both = replace(both, kinds=both.kinds - {"object"})
    case = tidy(both)
    return case if case.kinds else None


def without(case: Case, kind: type[Fact]) -> Case:
    """The case without the facts of one type."""
    kept = (
        replace(atom, facts=tuple(fact for fact in atom.facts if not isinstance(fact, kind))) for atom in case.atoms
    )
    return replace(case, atoms=tuple(kept))


def no_object(case: Case, required: frozenset[str]) -> bool:
    """Whether one of these required keys is known to have no value."""
    return any(case.known[name].is_empty() for name in required if name in case.known)


# --- What is known cheaply of the values that a schema allows: their kinds, and its constants if they are few.


FEW = 50  # a longer enum is not compared


class Known(NamedTuple):
    """The kinds of value, the constants that are allowed (None: any), and those that are not."""

    kinds: frozenset[str] = ANY
    allowed: frozenset[Any] | None = None
    banned: frozenset[Any] = frozenset()

    def is_empty(self) -> bool:
        """Whether no value is left."""
        return not self.kinds or (self.allowed is not None and self.allowed <= self.banned)

    def meet(self, other: Known) -> Known:
        """What is known of values of which both are known."""
        both = self.allowed if other.allowed is None else other.allowed
        if self.allowed is not None and other.allowed is not None:
            both = self.allowed & other.allowed
        return Known(self.kinds & other.kinds, both, self.banned | other.banned)


def known_of(schema: Any, negated: bool) -> Known:
    """What is known of a schema's values, or of the values that it refuses.

    >>> known_of({"const": 1, "minimum": 0}, negated=False).allowed == {canon(1)}
    True
    >>> known_of({"type": "array"}, negated=True).kinds == ANY - {"array"}
    True
    """
    if schema is negated or (negated and schema == {}):
        return Known(frozenset())
    values, types = constants(schema), types_of(schema)
    if not negated:
        return Known(types, None if values is None else frozenset(values))
    said = schema.keys() - SAYS_NOTHING if isinstance(schema, dict) else set()
    banned = frozenset(values) if values is not None and len(said) == 1 else frozenset[Any]()
    return Known(ANY - types if said == {"type"} else ANY, None, banned)


def types_of(schema: Any) -> frozenset[str]:
    """The kinds of value that a schema's `type` allows; all if it does not say."""
    types = schema.get("type", []) if isinstance(schema, dict) else []
    names = types if isinstance(types, list | tuple) else [types]
    known = [TYPES[name] for name in names if isinstance(name, str) and name in TYPES]
    return frozenset().union(*known) if known else ANY


def told_apart(schemas: list[Any]) -> bool:
    """Whether schemas surely share no value: they have different constants, or require a key with different ones.

    >>> told_apart([{"const": 1}, {"enum": [2, "a"]}]), told_apart([{"const": 1}, {"enum": [2, 1.0]}])
    (True, False)
    """
    if not all(isinstance(schema, dict) for schema in schemas):
        return False
    if are_apart(list(map(constants, schemas))):
        return True
    if not all(schema.get("type") == "object" and isinstance(schema.get("properties"), dict) for schema in schemas):
        return False
    names = [name for name in schemas[0]["properties"] if all(requires(schema, name) for schema in schemas)]
    return any(are_apart([constants(schema["properties"][name]) for schema in schemas]) for name in names)


def requires(schema: dict[str, Any], name: str) -> bool:
    required = schema.get("required")
    return isinstance(required, list | tuple) and name in required and name in schema["properties"]


def are_apart(found: list[set[Any] | None]) -> bool:
    """Whether all of these sets are known and share no element."""
    known = [values for values in found if values is not None]
    return len(known) == len(found) and len(set().union(*known)) == sum(map(len, known))


def constants(schema: Any) -> set[Any] | None:
    """The constants of a schema, if there are few."""
    if not isinstance(schema, dict):
        return None
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if not isinstance(values, list | tuple) or len(values) > FEW:
        return None
    try:
        return set(map(canon, values))
    except (TypeError, ValueError, ArithmeticError, RecursionError):
        return None


# --- What one schema says by itself, without the schemas that it applies to the same value.


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


# --- The ways in which what one schema says by itself does not hold: each is an atom, and one of them holds.


def deny(atom: Atom, key: Any, notes: Notes) -> Iterator[Atom]:
    """The ways in which an atom does not hold; enum and const are denied apart."""
    ways: list[tuple[frozenset[str], tuple[Fact, ...]]] = []
    if atom.kinds != ANY:
        ways.append((ANY - atom.kinds, ()))
    required = {name for fact in atom.facts if isinstance(fact, Required) for name in fact.names}
    limited = {name for fact in atom.facts if isinstance(fact, Keys) for name, goal in fact.named.items() if goal}
    for fact in atom.facts:
        kind = kind_of_fact(fact)
        kinds = NUMBERS if kind == "number" else frozenset((kind,))
        ways += [(kinds, facts) for facts in deny_fact(fact, required & limited, notes)]
    for number, (kinds, facts) in enumerate(ways):
        yield Atom((key, "not", number), atom.path, kinds, facts=facts)


def deny_fact(fact: Fact, both: set[str], notes: Notes) -> Iterator[tuple[Fact, ...]]:
    """The ways in which a fact does not hold; `both` are the keys that are required and have a goal."""
    match fact:
        case Count() | Contains():
            if fact.low:
                yield (replace(fact, low=0, high=fact.low - 1),)
            if fact.high is not None:
                yield (replace(fact, low=fact.high + 1, high=None),)
        case Text() | Step():
            yield (replace(fact, wanted=not fact.wanted),)
        case Limit(bound, lower, path):
            yield (Limit(Bound(bound.value, not bound.strict), not lower, path),)
        case Unique(path):
            notes.give_up(path, "uniqueItems that must not hold", "uniqueItems without not, oneOf or if")
            yield ()
        case Items():
            yield from deny_items(fact)
        case Keys():
            yield from deny_keys(fact, both)
        case _:
            yield from deny_names(fact, both)


def deny_items(items: Items) -> Iterator[tuple[Fact, ...]]:
    """Some item does not meet its goal."""
    for place, goal in enumerate(items.first):
        for part in goal:
            wrong = Items((*[()] * place, (part.flip(),)), (), items.path)
            yield wrong, Count("array", place + 1, None, items.path)
    for part in items.rest:
        yield (Contains(part.flip(), 1, None, len(items.first), items.path),)


def deny_keys(keys: Keys, both: set[str]) -> Iterator[tuple[Fact, ...]]:
    """The value of some key does not meet its goal, or a required key is missing."""
    for name, goal in keys.named.items():
        for part in goal:
            wrong = keys_of({name: (part.flip(),)}, keys.path)
            yield (wrong,) if name in both else (wrong, Required((name,), keys.path))
    for family, goal in keys.families:
        for part in goal:
            yield (Exists(goal_of([part.flip()]), keys.path, family=family),)
    for part in keys.rest or ():
        yield (Exists(goal_of([part.flip()]), keys.path, keys=keys),)


def deny_names(fact: Fact, both: set[str]) -> Iterator[tuple[Fact, ...]]:
    """A key is missing, or one is there that must not be."""
    match fact:
        case Required(names, path):
            yield from ((missing_key(name, path),) for name in names if name not in both)
        case Names(goal, path):
            yield (Exists((), path, names=goal),)
        case Depends(name, names, path):
            for other in names:
                yield Required((name,), path), missing_key(other, path)


def keys_of(named: dict[str, Goal], path: str, rest: Goal | None = None) -> Keys:
    """Goals for some keys, which do not become allowed by that."""
    return Keys(named, (), rest, path)


def missing_key(name: str, path: str) -> Keys:
    """The key is missing."""
    return keys_of({name: (Part(False, path, OPEN),)}, path)


def constant_facts(value: Any, goals: list[Goal], path: str) -> tuple[Fact, ...]:
    """An object or array with exactly these values, whose goals are given in order."""
    no: Goal = (Part(False, path, OPEN),)
    if isinstance(value, dict):
        named = dict(zip(value, goals, strict=True))
        return Keys(named, (), no, path), Required(tuple(value), path)
    return Items(tuple(goals), no, path), Count("array", len(value), None, path)
