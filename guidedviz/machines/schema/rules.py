"""The rules of the grammar that a schema becomes: those of unrestricted JSON, and the ones that are added.

    {"type": "array", "items": {"type": "integer"}}     root ::= "[" (integer (", " integer)*)? "]"
                                                        integer ::= "-"? ("0" | [1-9] [0-9]*)

Every token of JSON is followed by the whitespace that the setting allows there.
"""

import re
from collections.abc import Callable
from itertools import count

from guidedviz.machines.grammars.unfold import count_signs
from guidedviz.machines.schema.json_text import SCALAR_RULES
from guidedviz.machines.schema.subschema import Goal
from guidedviz.machines.syntax import EMPTY, Call, Repeat, Tree, concat, either, literal, optional

ReadGoal = Callable[[Goal, str, int], Tree]  # a goal, its path, and the most signs of a tree that is no rule
GAPS: dict[str, Tree] = {"compact": EMPTY, "space": optional(literal(" ")), "one": literal(" "), "any": Call("ws")}
NAME_OF_STEP = {"items": "item", "additionalProperties": "more"} | dict.fromkeys(
    "# $defs definitions properties patternProperties prefixItems anyOf oneOf allOf".split(), ""
)
LONGEST_RULE_NAME = 40  # characters
MOST_INLINE_SIGNS = 12  # a nested value with more is a rule of its own
MOST_SHARED_SIGNS = 4  # the same for a part that stands at several places


def rule_name(path: str) -> str:
    """A rule name for the part at this path: letters, digits and minus signs, as llama.cpp requires.

    >>> rule_name("#/$defs/node"), rule_name("#/properties/home town/items"), rule_name("#/$defs/2é"), rule_name("#")
    ('node', 'home-town-item', 'part-2', 'document')
    """
    if path == "#":
        return "document"
    words = "-".join(filter(None, (NAME_OF_STEP.get(step, step) for step in path.split("/"))))
    name = re.sub("(~[01]|[^A-Za-z0-9])+", "-", words).strip("-")[-LONGEST_RULE_NAME:].strip("-")
    return name if name[:1].isalpha() else f"part-{name}".strip("-")


class SchemaRules:
    """The rules so far, and where in the schema each comes from."""

    def __init__(self, whitespace: str) -> None:
        gap = GAPS[whitespace]
        self.blank = gap if whitespace == "any" else EMPTY
        self.comma = concat(literal(","), gap)
        self.colon = concat(literal(":"), gap)
        self.paths = {"root": "#"}
        scalars = either(Call("string"), Call("number"), *map(literal, ("true", "false", "null")))
        self.trees = {
            "value": either(Call("object"), Call("array"), self.token(scalars)),
            "object": self.bracket("{}", self.any_number_of("member")),
            "member": self.member(Call("string"), Call("value")),
            "array": self.bracket("[]", self.any_number_of("value")),
            **SCALAR_RULES,
        }

    def token(self, tree: Tree) -> Tree:
        """A piece of JSON with the whitespace allowed after it."""
        return concat(tree, self.blank)

    def bracket(self, signs: str, inside: Tree) -> Tree:
        """A tree in brackets or braces."""
        return concat(self.token(literal(signs[0])), inside, self.token(literal(signs[1])))

    def member(self, key: Tree, value: Tree) -> Tree:
        """A key, a colon and a value."""
        return concat(self.token(key), self.colon, value)

    def any_number_of(self, rule: str) -> Tree:
        """Calls of a rule, with commas between them."""
        return optional(concat(Call(rule), Repeat(concat(self.comma, Call(rule)), 0, None)))

    def name(self, path: str) -> str:
        """A new name for the part at this path."""
        plain = rule_name(path)
        name = plain
        numbers = count(2)
        while name in self.paths or name in self.trees:
            name = f"{plain}-{next(numbers)}"
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

    def settle(self, tree: Tree, path: str, most: int = MOST_INLINE_SIGNS) -> Tree:
        """The tree itself, or a call of a new rule if the tree is long."""
        return tree if count_signs(tree) <= most else self.add(self.name(path), tree)
