"""The rules of a schema's grammar: their names, and the rules of unrestricted JSON."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace

from guidedviz.machines.grammars.counted import needed_rules
from guidedviz.machines.grammars.grammar import Grammar, Rule, find_loops, rules_with
from guidedviz.machines.grammars.show import count_signs
from guidedviz.machines.schema.document.paths import refusal
from guidedviz.machines.schema.text.json_text import ANY_CHARACTER, Spaced, quoted
from guidedviz.machines.schema.text.numerals import decimals, integers
from guidedviz.machines.schema.text.other_keys import NOT_ASCII
from guidedviz.machines.tree import NOTHING, Call, Chars, Repeat, Tree, concat, either, literal, optional
from guidedviz.machines.work import spend

BLANK = Repeat(Chars(((9, 10), (13, 13), (32, 32))), 0, None)
FREE = ("value", "object", "member", "array", "string", "char", "escape", "number", "integer", "ws")
STEPS = {"items": "item", "additionalProperties": "more"} | dict.fromkeys(
    "# $defs definitions properties patternProperties prefixItems anyOf oneOf allOf".split(), ""
)
LAST = defaultdict(int, {name: place for place, name in enumerate(FREE, 1)})
LONGEST = 40  # characters of a name
MOST_SIGNS = 12  # a longer part becomes a rule of its own


class Rules:
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

    def every(self) -> Grammar:
        """All rules so far."""
        return Grammar(tuple(Rule(name, tree, (0, 0)) for name, tree in self.trees.items()))

    def grammar(self) -> Grammar:
        """The rules that the root needs, unrestricted JSON last; raises an error for a rule that cannot end."""
        grammar = needed_rules(self.every())
        self.check_ends(grammar)
        return replace(grammar, rules=tuple(sorted(grammar.rules, key=lambda rule: LAST[rule.name])))

    def check_ends(self, grammar: Grammar) -> None:
        ends = rules_with(grammar.rules, lambda chars: chars != NOTHING)
        graph = {name: [call for call in calls if call not in ends] for name, calls in grammar.calls.items()}
        endless = set().union(*find_loops(graph)) - ends
        for rule in grammar.rules:
            if rule.name in endless:
                seen = "a schema whose every value contains another such value"
                raise refusal(self.paths[rule.name], seen, "a way to end", "an optional property, or null beside it")


def free_trees(token: Spaced) -> dict[str, Tree]:
    """The rules of unrestricted JSON."""
    scalars = either(Call("string"), Call("number"), *map(literal, ("true", "false", "null")))
    return {
        "value": either(Call("object"), Call("array"), token(scalars, "")),
        "object": concat(token(literal("{"), ""), row(Call("member"), token), token(literal("}"), "")),
        "member": concat(token(Call("string"), ""), token(literal(":"), ":"), Call("value")),
        "array": concat(token(literal("["), ""), row(Call("value"), token), token(literal("]"), "")),
        "string": quoted(Repeat(Call("char"), 0, None)),
        "char": ANY_CHARACTER,
        "escape": NOT_ASCII,
        "number": decimals(None, None),
        "integer": integers(None, None),
        "ws": BLANK,
    }


def row(item: Tree, token: Spaced) -> Tree:
    """Any number of items, separated by commas."""
    return optional(concat(item, Repeat(concat(token(literal(","), ","), item), 0, None)))


def rule_name(path: str) -> str:
    """A rule name for the part at this path: letters, digits and minus signs, as llama.cpp requires.

    >>> rule_name("#/$defs/node"), rule_name("#/properties/home town/items"), rule_name("#/$defs/2é"), rule_name("#")
    ('node', 'home-town-item', 'part-2', 'document')
    """
    words = "-".join(filter(None, (STEPS.get(step, step) for step in path.split("/"))))
    name = re.sub("(~[01]|[^A-Za-z0-9])+", "-", words).strip("-")[-LONGEST:].strip("-")
    return "document" if path == "#" else name if name[:1].isalpha() else f"part-{name}".strip("-")
