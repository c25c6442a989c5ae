"""Grammars as people write them for OpenAI's tools, llguidance and xgrammar: the engines agree, or a table says why."""

import pytest

import guidedviz as gv
from guidedviz.tokens.engines import build_tokenizer
from tests.common import BYTES, assert_alike, assert_reads

VOCABULARY = gv.Vocabulary([*BYTES, b"</s>"], eos={256}, special={256})

# A name, a grammar, texts that it has, texts that it does not have.
GRAMMARS = {
    "calculator": (
        r"""
        ?start: sum
              | NAME "=" sum    -> assign_var
        ?sum: product
            | sum "+" product   -> add
            | sum "-" product   -> sub
        ?product: atom
            | product "*" atom  -> mul
            | product "/" atom  -> div
        ?atom: NUMBER           -> number
             | "-" atom         -> neg
             | NAME             -> var
             | "(" sum ")"
        %import common.CNAME -> NAME
        %import common.NUMBER
        %import common.WS_INLINE
        %ignore WS_INLINE
        """,
        ["1", "a = 1 + 2.5*-b", "(1-(2 / 3))"],
        ["", "a =", "1 +", "((1)", "a b"],
    ),
    "JSON": (
        r"""
        ?start: value
        ?value: object | array | string
              | SIGNED_NUMBER      -> number
              | "true"             -> true
              | "false"            -> false
              | "null"             -> null
        array  : "[" [value ("," value)*] "]"
        object : "{" [pair ("," pair)*] "}"
        pair   : string ":" value
        string : ESCAPED_STRING
        %import common.ESCAPED_STRING
        %import common.SIGNED_NUMBER
        %import common.WS
        %ignore WS
        """,
        ["{}", '{"a": [1, -2.5e3, {"b\\"": null}], "c" :true}', "[ ]"],
        ["", "{a: 1}", "[1,]", '{"a" 1}', "'a'"],
    ),
    "SQL with blanks": (
        r"""
        start: "SELECT"i fields "FROM"i CNAME where?
        fields: "*" | CNAME ("," CNAME)*
        where: "WHERE"i test (("AND"i | "OR"i) test)*
        test: CNAME ("=" | "<" | ">=") (SIGNED_INT | SQL_TEXT)
        SQL_TEXT: "'" /[^']*/ "'"
        %import common (CNAME, SIGNED_INT, WS)
        %ignore WS
        """,
        ["SELECT * FROM t", "select a , b from t where a >= -1 and b = 'x y'", "SELECT a\n  FROM t"],
        ["SELECT", "select a b from t", "select a from t where a", "SELECT * FROM t WHERE a = 'x"],
    ),
    "a patch": (
        r"""
        start: begin hunk+ end
        begin: "*** Begin" LF
        end: "*** End" LF?
        hunk: "*** File: " name LF line+
        name: /(.+)/
        line: ("+" | "-" | " ") /(.*)/ LF -> line
        %import common.LF
        """,
        ["*** Begin\n*** File: a.py\n+x = 1\n-\n*** End", "*** Begin\n*** File: a\n y\n*** File: b\n+\n*** End\n"],
        ["*** Begin\n*** End", "*** Begin\n*** File: a\nx\n*** End", "*** Begin\n*** File: \n+\n*** End"],
    ),
    "tool calls": (
        r"""
        start: text | call
        text: /[^{](.|\n)*/
        call: %json {
          "type": "object",
          "properties": {
            "name": {"const": "get_weather"},
            "parameters": {
              "type": "object",
              "properties": {"city": {"type": "string"}},
              "required": ["city"],
              "additionalProperties": false
            }
          },
          "required": ["name", "parameters"],
          "additionalProperties": false
        }
        """,
        ["I cannot.\nSorry {", '{"name":"get_weather", "parameters": {"city":"Seattle"}}'],
        ["", '{"name":"other","parameters":{"city":"a"}}', '{"name":"get_weather"}', '{"name":"get_weather"} no'],
    ),
    "an address": (
        r"""
        start: SCHEME "://" host [":" PORT] path?
        SCHEME: "http" ["s"]
        host: LABEL ("." LABEL)+
        LABEL: /[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?/i
        PORT: "1".."9" DIGIT~0..4
        path: ("/" SEGMENT?)+
        SEGMENT: /[A-Za-z0-9._~%-]+/
        %import common.DIGIT
        """,
        ["http://a.de", "https://www.Example-site.org:8080/a/b.html", "http://a.b/"],
        ["ftp://a.b", "http://a", "http://a.b:0", "http://-a.b"],
    ),
    "a small language": (
        r"""
        start: statement*
        statement: NAME "=" value ";" | "if" "(" value ")" block ["else" block] | "return" value? ";"
        block: "{" statement* "}"
        value: value ("+" | "==") part | part
        part: NAME | NUMBER | STRING | "(" value ")" | NAME "(" (value ("," value)*)? ")"
        NAME: /[a-z_]\w*/
        NUMBER: /\d+(\.\d+)?/
        STRING: /"(\\.|[^"\\])*"/
        %ignore /[ \n]+/
        %ignore /#[^\n]*/
        """,
        ['x = f(1, "a\\"b") + 2;', "if (x == 1) { return; } else { y=2; }\n# end", "return(1.5);"],
        ["x = ;", "if x { }", "return 1", "x = 1; }"],
    ),
}
# A grammar, a text, and who accepts it: we, llguidance 1.9.1, xgrammar 0.2.8.
DIFFERENCES = {
    "the longest lexeme only": ('start: /[a-z]+/ "b"', "ab", True, False, True),
    "the longest option only": ('start: "a" "b" | "ab" "c"', "ab", True, False, True),
    "nothing is ignored at the end": ('start: "a"\n%ignore " "', "a ", True, False, True),
    "other keys are forbidden": (
        'start: %json {"type": "object", "properties": {"a": {}}}',
        '{"b":1}',
        True,
        True,
        False,
    ),
    "letters of other scripts": (r"start: /\w/", "é", False, True, False),
    "a code of Rust's regexes": (r"start: /a\x{41}/", "aA", True, True, False),
}


def llguidance_machine(text):
    llguidance = pytest.importorskip("llguidance")
    text = f'%llguidance {{"no_forcing": true}}\n{text}\n'
    matcher = llguidance.LLMatcher(build_tokenizer(VOCABULARY), text, log_level=0)
    assert not matcher.is_error(), matcher.get_error()

    def accepts(text):
        state = matcher.deep_copy()
        return all(map(state.consume_token, text.encode())) and state.is_accepting()

    return accepts


def xgrammar_machine(text):
    xgrammar = pytest.importorskip("xgrammar")
    info = xgrammar.TokenizerInfo(list(VOCABULARY.pieces), stop_token_ids=[256])
    grammar = xgrammar.Grammar.from_lark(text)
    compiled = xgrammar.GrammarCompiler(info, max_threads=1).compile_grammar(grammar)

    def accepts(text):
        state = xgrammar.GrammarMatcher(compiled)
        return all(map(state.accept_token, text.encode())) and state.is_completed()

    return accepts


@pytest.mark.parametrize("name", GRAMMARS)
@pytest.mark.quick("calculator", "tool calls")
def test_a_realistic_grammar_is_one_for_every_machine_and_engine(name):
    text, accepted, refused = GRAMMARS[name]
    machine = gv.lark(text)
    shown = gv.grammar(gv.machines.to_gbnf(machine), root="start")
    for other in (machine, gv.earley(machine), shown):
        assert_reads(other, accepted, refused)
    split = gv.guide(machine, VOCABULARY, engine="split")
    for engine in ("trie", "xgrammar", "llguidance"):
        assert_alike(gv.guide(machine, VOCABULARY, engine=engine), split, accepted[-1].encode())


@pytest.mark.parametrize("engine", [llguidance_machine, xgrammar_machine])
@pytest.mark.parametrize("name", GRAMMARS)
def test_the_engines_agree(name, engine):
    text, accepted, refused = GRAMMARS[name]
    accepts = engine(text)
    assert [each for each in accepted if not accepts(each)] == []
    assert [each for each in refused if accepts(each)] == []


@pytest.mark.parametrize("name", DIFFERENCES)
def test_where_an_engine_reads_otherwise(name):
    text, example, *expected = DIFFERENCES[name]

    def ours(given):
        return gv.lark(text).accepts(given.encode())

    accepts = [ours, llguidance_machine(text), xgrammar_machine(text)]
    assert [accept(example) for accept in accepts] == expected
