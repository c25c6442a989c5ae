r"""The rules of a grammar in Lark's notation, as trees that call each other: terminals are rules, too.

    start: "[" NUM ("," NUM)* "]"       start   ::= "[" ignored NUM ignored ("," ignored NUM ignored)* "]" ignored
    NUM: /[0-9]+/                       NUM     ::= [0-9]+
    %ignore " "                         ignored ::= " "*

A lexeme is a text, a range, a regex or a terminal in a rule. What is ignored may stand after each lexeme, so between
two and at the end, but not inside one, and before the first only with `%llguidance {"allow_initial_skip": true}`.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from graphlib import CycleError, TopologicalSorter
from typing import Any

from guidedviz.errors import PatternError, check_length, did_you_mean, nearest, quoted
from guidedviz.machines import limits
from guidedviz.machines.grammars import lark_leaves
from guidedviz.machines.grammars.gbnf import brief
from guidedviz.machines.grammars.grammar import Grammar, Rule, free_name
from guidedviz.machines.grammars.lark_notation import Node, parse_notation, refusal
from guidedviz.machines.grammars.rewrite import needed_rules
from guidedviz.machines.regular.algebra import code_machine, code_net, difference, intersection
from guidedviz.machines.special import NamesOf, no_names, read_special
from guidedviz.machines.syntax import ANYTHING, EMPTY, Call, Repeat, Tree, concat, either, map_calls, optional
from guidedviz.machines.visible import line_and_column
from guidedviz.machines.work import spend

IDS = re.compile(r"<\[[0-9]{1,9}([-,][0-9]{1,9})*\]>")
ReadSchema = Callable[[Any], Grammar]
NO_EFFECT = {"capture"}  # attributes that do not change what texts a rule has
OPTIONS = {  # of %llguidance: the values that can be read
    "allow_initial_skip": "false true",
    "ignore_once": "false true",
    "no_forcing": "false true",
    "allow_invalid_utf8": "false",
}


@dataclass(frozen=True)
class Scope:
    """Where a part stands: in a terminal or a rule, and with which arguments of a template."""

    in_terminal: bool
    arguments: Mapping[str, Tree] = field(default_factory=dict)


IN_TERMINAL = Scope(True)
IN_RULE = Scope(False)


def read_lark(text: str, start: str, read_schema: ReadSchema, names_of: NamesOf = no_names) -> Grammar:
    """The rules that a grammar in Lark's notation needs; `read_schema` gives the rules of a JSON Schema."""
    check_length("lark", text, limits.GBNF_CHARACTERS)
    definitions = _Definitions(text)
    for node in parse_notation(text).children:
        definitions.add(node)
    reader = _Reader(definitions, read_schema, names_of)
    reader.read()
    if start not in reader.trees:
        near = nearest(start, reader.trees) or next((f'"{brief(name)}"' for name in definitions.rules), "")
        hint = f"start from {near}?" if near else ""
        raise refusal(0, f"no rule {quoted(start)}", "a rule to start from", hint)
    if reader.ignored and definitions.options.get("allow_initial_skip"):
        reader.trees[start] = concat(reader.ignored, reader.trees[start])
    rules = [Rule(name, tree, definitions.spans.get(name, (0, 0))) for name, tree in reader.trees.items()]
    return needed_rules(Grammar(tuple(rules), start, text))


class _Definitions:
    """What a text defines, by name, as nodes of the package `lark`."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.spans: dict[str, tuple[int, int]] = {}  # of the names where they are defined
        self.rules: dict[str, Node] = {}
        self.templates: dict[str, Node] = {}
        self.terminals: dict[str, Node] = {}
        self.imports: dict[str, Tree] = {}
        self.ignored: list[Node] = []
        self.options: dict[str, bool] = {}

    def add(self, node: Node) -> None:
        """Add what one line defines."""
        match node.data:
            case "rule":
                self.add_rule(*node.children)
            case "terminal":
                name, _, attributes, body = node.children
                self.terminals[self.new_name(name)] = body
                self.check_attributes(attributes, set())
            case "ignore":
                self.ignored.extend(node.children)
            case "options":
                self.add_options(node.children[1])
            case "single_import":
                path, *new_names = node.children
                library, _, name = path.rpartition(".")
                self.add_import(path, library, name.strip(), [path, *new_names][-1])
            case "listed_import":
                path, *names = node.children
                for name in names:
                    self.add_import(path, path, name, name)

    def new_name(self, token: Node, name: str = "") -> str:
        """The name that a token defines; an error if there is a definition of it."""
        name = name or token.lstrip("!?")
        if name in self.spans:
            line, _ = line_and_column(self.text, self.spans[name][0])
            hint = f"line {line} defines it"
            raise refusal(token, f'duplicate name "{brief(name)}"', "another name", hint)
        self.spans[name] = token.start_pos, token.end_pos
        return name

    def add_rule(self, token: Node, parameters: Node, _priority: Node, attributes: Node, body: Node) -> None:
        """A rule or a template. A priority chooses between trees, which do not matter here."""
        name = self.new_name(token)
        self.check_attributes(attributes, NO_EFFECT)
        if parameters:
            self.templates[name] = parameters, body
        else:
            self.rules[name] = body

    def add_import(self, path: Node, library: str, name: str, token: Node) -> None:
        """A terminal of the library `common` under the name of the token."""
        tree = lark_leaves.common_terminal(path, library.strip(), name)
        self.imports[self.new_name(token, name if token is path else "")] = tree

    def check_attributes(self, attributes: Node, allowed: set[str]) -> None:
        """Refuse attributes that change what is read, such as lazy, stop=, suffix= and max_tokens=."""
        for attribute in attributes.children if attributes else ():
            name, _ = attribute.children
            if name not in allowed:
                expected = "a rule without it" if allowed else "a terminal without it"
                raise refusal(name, f"the attribute {brief(name)}", expected)

    def add_options(self, node: Node) -> None:
        """Options of llguidance; those that are about tokens have no effect."""
        options = self.read_json(node)
        if not isinstance(options, dict):
            raise refusal(node, f"saw {quoted(options, 20)}", "an object")
        for name, value in options.items():
            if json.dumps(value, default=str) not in OPTIONS.get(name, "").split():
                expected = f"true or false for {', '.join(OPTIONS)}"
                raise refusal(node, f"the option {brief(name)}: {quoted(value, 20)}", expected)
            self.options[name] = value

    def read_json(self, node: Node) -> Any:
        """The value of JSON in the grammar, with exact numbers."""
        start = node.meta.start_pos
        try:
            return json.loads(self.text[start : node.meta.end_pos], parse_float=Decimal)
        except json.JSONDecodeError as error:
            raise refusal(start + error.pos, error.msg[:1].lower() + error.msg[1:], "JSON") from None


class _Reader:
    """The trees of all rules and terminals: terminals first, then what is ignored, then rules and templates."""

    def __init__(self, definitions: _Definitions, read_schema: ReadSchema, names_of: NamesOf) -> None:
        self.defined = definitions
        self.text = definitions.text
        self.read_schema = read_schema
        self.names_of = names_of
        self.trees: dict[str, Tree] = dict(definitions.imports)
        self.flat: dict[str, Tree] = {}  # of terminals, without calls
        self.schemas: dict[str, Tree] = {}  # by their text
        self.given: Counter[str] = Counter()  # how many new rules have a name that begins so
        self.instances: dict[tuple[str, tuple[Tree, ...]], Call] = {}  # of templates, with their arguments
        self.waiting: list[tuple[str, Node, Scope]] = []
        self.ignored: Call | None = None

    def read(self) -> None:
        """Read all trees."""
        for name in self.order_terminals():
            self.trees[name] = self.tree(self.defined.terminals[name], IN_TERMINAL)
        if self.defined.ignored:
            part = either(*[self.tree(node, IN_TERMINAL) for node in self.defined.ignored])
            most = 1 if self.defined.options.get("ignore_once") else None
            self.ignored = self.new_rule("ignored")
            self.trees[self.ignored.name] = Repeat(part, 0, most)
        self.waiting = [(name, node, IN_RULE) for name, node in self.defined.rules.items()]
        for name, node, scope in self.waiting:  # it grows
            self.trees[name] = self.tree(node, scope)

    def order_terminals(self) -> list[str]:
        """The names of the terminals, each after those that it needs; an error if one needs itself."""
        needed: dict[str, list[str]] = {}
        for name, body in self.defined.terminals.items():
            needed[name] = [str(node.children[0]) for node in body.find_data("name")]
        try:
            return [name for name in TopologicalSorter(needed).static_order() if name in needed]
        except CycleError as error:
            circle = error.args[1][::-1]
            place, _ = self.defined.spans[circle[0]]
            seen = f"a terminal that needs itself: {brief(' -> '.join(circle))}"
            hint = "a rule, in small letters, may call itself"
            raise refusal(place, seen, "terminals without recursion", hint) from None

    def new_rule(self, name: str) -> Call:
        """A call of a new rule; its name has the letters and digits of `name`, with a number if it is taken."""
        plain = "".join(char if char.isascii() and char.isalnum() else "-" for char in name)
        free = free_name(plain, self.trees, self.defined.rules, self.given[plain])
        self.given[plain] += 1
        self.trees[free] = EMPTY
        return Call(free)

    def tree(self, node: Node, scope: Scope) -> Tree:
        """The tree of a part of a rule or a terminal."""
        spend(8)
        match node.data:
            case "choice":
                return either(*[self.tree(child, scope) for child in node.children])
            case "row":
                return concat(*[self.tree(child, scope) for child in node.children])
            case "optional":
                return optional(self.tree(node.children[0], scope))
            case "repeat":
                part, token = node.children
                low, high = lark_leaves.read_times(token)
                return Repeat(self.tree(part, scope), low, high, token.start_pos)
            case "name":
                return self.named(node.children[0], scope)
            case "template":
                return self.template(node, scope)
        return self.leaf(node, scope)

    def named(self, token: Node, scope: Scope) -> Tree:
        """A call of a rule or a terminal, or an argument of the template."""
        name = str(token)
        if name in scope.arguments:
            return scope.arguments[name]
        call = Call(name, (token.start_pos, token.end_pos))
        if name in self.defined.terminals or name in self.defined.imports:
            return self.lexeme(call, scope)
        if name not in self.defined.rules:
            hint = did_you_mean(name, self.defined.spans)
            raise refusal(token, f'unknown name "{brief(name)}"', "the name of a rule or terminal", hint)
        if scope.in_terminal:
            hint = "name it in capitals, or write this in a rule"
            raise refusal(token, f"the rule {brief(name)} in a terminal", "terminals only", hint)
        return call

    def lexeme(self, tree: Tree, scope: Scope) -> Tree:
        """In a rule, what is ignored may follow; a terminal is one lexeme as a whole."""
        if scope.in_terminal or self.ignored is None or tree == EMPTY:
            return tree
        return concat(tree, self.ignored)

    def template(self, node: Node, scope: Scope) -> Tree:
        """A call of the rule that a template is with these arguments; equal ones are one rule."""
        token, *values = node.children
        name = str(token)
        if name not in self.defined.templates or scope.in_terminal:
            hint = did_you_mean(name, self.defined.templates)
            raise refusal(token, f"{brief(name)}{{...}}", "a template, in a rule", hint)
        parameters, body = self.defined.templates[name]
        if len(values) != len(parameters.children):
            raise refusal(token, f"arguments: {len(values)}", f"{len(parameters.children)} for {brief(name)}")
        arguments = tuple([self.tree(value, scope) for value in values])
        key = name, arguments
        if key not in self.instances:
            self.instances[key] = self.new_rule(name)
            named = dict(zip(map(str, parameters.children), arguments, strict=True))
            self.waiting.append((self.instances[key].name, body, Scope(False, named)))
        return self.instances[key]

    def leaf(self, node: Node, scope: Scope) -> Tree:
        """A lexeme that has no name."""
        match node.data:
            case "string":
                tree = lark_leaves.string_tree(*node.children)
            case "range":
                tree = lark_leaves.range_tree(*node.children)
            case "regex":
                tree = lark_leaves.regex_tree(*node.children)
            case "substrings":
                value = self.defined.read_json(node.children[0])
                tree = lark_leaves.substring_tree(node, value)
            case "other":
                tree = self.without(ANYTHING, self.tree(node.children[0], IN_TERMINAL))
            case "conjunction":
                tree = self.conjunction(node, scope)
            case _:
                tree = self.rule_leaf(node, scope)
        return self.lexeme(tree, scope)

    def rule_leaf(self, node: Node, scope: Scope) -> Tree:
        """A part that may stand in rules only: JSON of a schema, or a token by its name."""
        start = node.meta.start_pos
        if scope.in_terminal:
            said = self.text[start : node.meta.end_pos]
            raise refusal(start, f"{brief(said)} in a terminal", "a part of a text", "write it in a rule")
        if node.data == "token":
            return special_token(node.children[0], self.names_of)
        said = self.text[start : node.meta.end_pos]
        if said not in self.schemas:
            self.schemas[said] = self.schema(node)
        return self.schemas[said]

    def schema(self, node: Node) -> Tree:
        """A call of the rule for a JSON Schema, whose rules are added."""
        schema = self.defined.read_json(node.children[0])
        try:
            grammar = self.read_schema(schema)
        except PatternError as error:
            seen = f"{error.where}: {error.seen}"
            raise refusal(node, seen, error.expected, error.hint) from error
        calls: dict[str, Call] = {}
        for rule in grammar.rules:
            calls[rule.name] = self.new_rule("json" if rule.name == grammar.root else f"json-{rule.name}")
        for rule in grammar.rules:
            self.trees[calls[rule.name].name] = map_calls(rule.tree, lambda call: calls[call.name])
        return calls[grammar.root]

    def conjunction(self, node: Node, scope: Scope) -> Tree:
        """The texts that all parts of a terminal have: A & B."""
        if not scope.in_terminal:
            raise refusal(node, "& in a rule", "a terminal", "give it a name in capitals")
        machines = [code_machine(self.without_calls(self.tree(child, scope))) for child in node.children]
        common = machines[0]
        for machine in machines[1:]:
            common = intersection(common, machine)
        return code_net(common)

    def without(self, tree: Tree, other: Tree) -> Tree:
        """The texts of a tree that the other one does not have."""
        return code_net(difference(code_machine(tree), code_machine(self.without_calls(other))))

    def without_calls(self, tree: Tree) -> Tree:
        """The tree of a part of a terminal, with the trees of other terminals in place of their calls."""

        def inside(call: Call) -> Tree:
            if call.name not in self.flat:
                self.flat[call.name] = self.without_calls(self.trees[call.name])
            return self.flat[call.name]

        return map_calls(tree, inside)


def special_token(token: Node, names_of: NamesOf) -> Tree:
    """A special token by its text, `<think>`, or by ids, `<[123]>`."""
    if token.startswith("<[") and not IDS.fullmatch(token):
        raise refusal(token, f"the token {brief(token)}", "ids", "<[128010]> or <[5-9,12]>")
    try:
        return read_special(str(token), names_of)
    except PatternError as error:
        raise refusal(token, f"the token {brief(token)}, {error.seen}", error.expected, error.hint) from None
