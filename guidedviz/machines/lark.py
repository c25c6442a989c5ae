"""The machine of a grammar in Lark's notation, as OpenAI's custom tools, llguidance and xgrammar take it."""

from typing import Any

from guidedviz.errors import GrammarError, PatternError, expect
from guidedviz.files import text_of
from guidedviz.machines.grammars.grammar import Grammar, check_grammar
from guidedviz.machines.grammars.lark_notation import show_place
from guidedviz.machines.grammars.lark_rules import read_lark
from guidedviz.machines.grammars.rewrite import inline_rules
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.schema.json_schema import schema_named
from guidedviz.machines.schema.reader import SchemaReader
from guidedviz.machines.schema.settings import SchemaSettings
from guidedviz.machines.schema.values import load_schema
from guidedviz.machines.special import no_names
from guidedviz.machines.work import limited_work

JSON_SETTINGS = SchemaSettings(whitespace="inside", extra_keys="open")  # as llguidance reads %json


@limited_work()
def lark(text: Any, start: str = "start", vocabulary: Any = None) -> PDA:
    r"""The pushdown machine of a grammar in Lark's notation, as OpenAI's custom tools, llguidance and xgrammar take it.

    `text` may be the path of a file. Rules, terminals, regexes, ranges, counts, templates, `%import common.NAME`,
    `%ignore`, `%json {...}` and llguidance's `A & B`, `~A`, `%regex {...}` and special tokens: `<think>`, and
    `<[128010]>` with a `vocabulary`.
    Aliases, `?`, `!` and priorities are about trees and have no effect.

    It differs from Lark's parser and from llguidance: there is no lexer. A text is accepted if there is any way to
    read it, so `/[a-z]+/ "b"` accepts "ab", where a greedy lexer takes "ab" for the regex. As the engines do, it
    refuses lookarounds, and what is ignored may stand after a lexeme but not before the first. `\d`, `\w` and `\s`
    are ASCII; `%json` allows any whitespace, and other keys unless `additionalProperties` forbids them.

    >>> sums = gv.lark('''
    ... start: NUMBER ("+" NUMBER)* | "(" start ")"
    ... %import common.NUMBER
    ... %ignore " "
    ... ''')
    >>> sums.accepts(b"(1 + 2.5)"), sums.accepts(b"1 +"), sums.accepts_prefix(b"1 +"), sums.accepts(b"1 2")
    (True, False, True, False)
    """
    text = text_of(text, "lark")
    expect(text, str, "lark", "a str")
    expect(start, str, "lark, start", "the name of a rule")
    notes: dict[str, None] = {}

    def schema_rules(schema: Any) -> Grammar:
        with schema_named():
            reader = SchemaReader(load_schema(schema), JSON_SETTINGS)
            grammar = inline_rules(reader.grammar())
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
