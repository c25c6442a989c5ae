"""The machine of a grammar in Lark's notation, as OpenAI's custom tools, llguidance and xgrammar take it."""

from typing import Any

from guidedviz.errors import GrammarError, PatternError, expect
from guidedviz.machines.grammars.grammar import Grammar, Rule, check_grammar
from guidedviz.machines.grammars.lark_notation import show_place
from guidedviz.machines.grammars.lark_rules import read_lark
from guidedviz.machines.grammars.rewrite import inline_rules
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.schema.json_schema import schema_named
from guidedviz.machines.schema.own_constraints import SchemaSettings
from guidedviz.machines.schema.reader import SchemaReader
from guidedviz.machines.schema.values import load_schema
from guidedviz.machines.special import no_names
from guidedviz.machines.syntax import EMPTY, Call, Concat, Either, Tree, concat, either
from guidedviz.machines.work import limited_work

JSON_SETTINGS = SchemaSettings(whitespace="any", extra_keys="open")  # as llguidance reads %json


@limited_work()
def lark(text: str, start: str = "start", vocabulary: Any = None) -> PDA:
    r"""The pushdown machine of a grammar in Lark's notation, as OpenAI's custom tools, llguidance and xgrammar take it.

    Rules, terminals, regexes, ranges, counts, templates, `%import common.NAME`, `%ignore`, `%json {...}` and
    llguidance's `A & B`, `~A`, `%regex {...}` and special tokens: `<think>`, and `<[128010]>` with a `vocabulary`.
    Aliases, `?`, `!` and priorities are about trees and have no effect.

    It differs from Lark's parser and from llguidance: there is no lexer. A text is accepted if there is any way to
    read it, so `/[a-z]+/ "b"` accepts "ab", where a greedy lexer takes "ab" for the regex. As the engines do, it
    refuses lookarounds, and what is ignored may stand after a lexeme but not before the first. `\d`, `\w` and `\s`
    are ASCII; `%json` allows any whitespace, and other keys unless `additionalProperties` forbids them.

    >>> sums = lark('''
    ... start: NUMBER ("+" NUMBER)* | "(" start ")"
    ... %import common.NUMBER
    ... %ignore " "
    ... ''')
    >>> sums.accepts(b"(1 + 2.5)"), sums.accepts(b"1 +"), sums.accepts_prefix(b"1 +"), sums.accepts(b"1 2")
    (True, False, True, False)
    """
    expect(text, str, "lark", "a str")
    expect(start, str, "lark, start", "the name of a rule")
    notes: dict[str, None] = {}

    def schema_rules(schema: Any) -> Grammar:
        with schema_named():
            reader = SchemaReader(load_schema(schema), JSON_SETTINGS)
            grammar = inline_rules(without_outer_blanks(reader.grammar()))
            notes.update(dict.fromkeys(reader.notes.texts))
            return grammar

    try:
        names_of = no_names if vocabulary is None else vocabulary.special_names
        grammar = read_lark(text, start, schema_rules, names_of)
        check_grammar(grammar)
        return PDA(grammar, notes=tuple(notes))
    except GrammarError as error:
        raise show_place(text, error) from None
    except RecursionError as error:
        raise PatternError("lark", seen="parts nested too deeply", expected="fewer nested parts") from error


def without_outer_blanks(grammar: Grammar) -> Grammar:
    """The rules of a schema without whitespace before and after the whole: that is for the rules around it.

    The whitespace after a token of JSON is a call of the rule `ws`, so it is the last part of some trees.
    """
    trees = {rule.name: rule.tree for rule in grammar.rules}

    def without_end(tree: Tree) -> Tree:
        match tree:
            case Call("ws"):
                return EMPTY
            case Call(name):
                shorter = f"{name}-end"
                if shorter not in trees:
                    trees[shorter] = EMPTY  # if it calls itself
                    trees[shorter] = without_end(trees[name])
                return Call(shorter)
            case Concat([*before, last]):
                return concat(*before, without_end(last))
            case Either(options):
                return either(*map(without_end, options))
        return tree

    root = trees[grammar.root]
    if isinstance(root, Concat) and root.parts[0] == Call("ws"):
        root = concat(*root.parts[1:])
    trees[grammar.root] = without_end(root)
    return Grammar(tuple([Rule(name, tree) for name, tree in trees.items()]), grammar.root)
