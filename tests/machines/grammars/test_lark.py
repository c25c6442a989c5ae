"""A grammar in Lark's notation means what its table says; what is refused is named, with its line and column."""

import sys

import lark
import pytest

import guidedviz as gv
from guidedviz.errors import GrammarError, PatternError, SettingError
from guidedviz.machines import limits
from guidedviz.machines.grammars.lark_leaves import COMMON
from tests.common import assert_reads, in_time

# A grammar, texts that it has, texts that it does not have.
MEANINGS = [
    ('start: "a" ~ 1 .. 2', "a aa", ["", "aaa"]),
    ('start: "a"~0', [""], "a"),
    ('start: "a"{ 1 , 2 }', "a aa", ["", "aaa"]),
    ('start: "a"{1,}', "a aaa", [""]),
    ('start: "a"{,2}', ["", "aa"], "aaa"),
    ('start: "a"{,}', ["", "aaa"], "b"),
    ("start:", [""], "a"),
    ('start: ("x" | "y") ["z"]', "x yz", "z xyz"),
    ('start: "é"i "ß"i', "éß Éß", "e éSS"),
    ('start: %json {"type": "array", "items": {"$ref": "#"}}', ["[[ ] , []]"], ["[1]", " []", "[]\\n"]),
    ('start: | "a"', ["", "a"], "aa"),
    ('start: "" "a" ""', "a", ["", "aa"]),
    ('start: ("a" -> first | "b" -> Second) "c"', "ac bc", "a first"),
    ('?start: x _y\n!x: "a"\n!?_y: "b"', "ab", "a b"),
    ('start.2: A "b"\nA.-1: "a"', "ab", "a"),
    ('start: start "+" T | T\nT: "1"', "1 1+1+1", "1+ +1"),
    ('start: a-b C-D->x\na-b: "1"\nC-D: "2"', "12", "1-2"),
    ('start: "ab"i "C"', "abC ABC aBC", "abc"),
    (r'start: "\n\t\\\"\/\b\f\r\x41\u00e9\\x41\ud83d\ude00"', ['\n\t\\"/\b\f\rAé\\x41😀'], "nt"),
    (r"start: /a\/b|c+/", "a/b cc", "ab a c/"),
    ("start: /a.c/s", ["abc", "a\nc"], "ac"),
    ('start: /a b # two/x "c"', "abc", ["a bc"]),
    ("start: /a\n b/xi", "AB", ["A B"]),
    (r"start: /\x{41}\u{e9}\x42\\x/", [r"AéB\x"], "x41"),
    ("start: /a*?b{2,3}/u", "abb bbb", "ab"),
    (r"start: /\d\w\s/", ["1_ "], ["١_ ", "1é ", "1a\u00a0"]),
    ('start: A\nA: "x" | /[ab]+/ & ~/.*aa.*/', "x abab", "aab xa"),
    ('start: A "!"\nA: ~B & /[0-9]*/\nB: "0" /[0-9]/+', "0! 10! !", "01! a!"),
    ("start: ~/[^a]*/", "a ba", ["b", ""]),
    ('start: p{"a", B} p{"c", B}\np{x, y}: x y\nB: "b"', "abcb", "ab abab"),
    ('start: s{x, ","}\ns{a, b}: a (b a)*\nx: s{"1", "+"} | "2"', "1 1,1+1 2,1", "1, 1++1"),
    ('start: %regex {"substring_words": "to be, or"} "."', [".", "to be.", " be,.", "or."], ["o be.", "t."]),
    ('start: %regex {"substring_chars": "añb"}', ["", "añb", "ñ", "ñb"], "ab"),
    ('start: A\nA: "<" %regex {"substring_chunks": ["a", "bc"]} ">"', "<> <abc> <bc>", "<b> <ac>"),
    ('start: %json {"type": "integer"} "." %json true', ["1.{}", "-3.[1, 2]"], ['"1".{}', "1 .{}", "1. {}"]),
    (
        'start: %json {"type": "object",\n # no\n"properties": {"x": {"type": "integer"}}}'.replace("# no\n", ""),
        ["{}", '{ "x" : 1 }', '{"x":1,"y":2}'],
        ['{"x":"1"}', "{} ", " {}"],
    ),
    ('start[capture]: x\nx[capture="y"]: "a"', "a", "b"),
    ('\n\n  start : "a" // one\n  # two\n     | "b"\n\n\n | "c"\n # end', "a b c", "d"),
    ('start: "a" \\\n  "b"', "ab", "a"),
    ("start: item\n%import common.INT -> item", "12", "a"),
    ("start: CNAME INT\n%import common (CNAME, INT)", "a1 _9", "1 1a"),
]


def texts(given):
    return given.split() if isinstance(given, str) else given


@pytest.mark.parametrize(("grammar", "accepted", "refused"), MEANINGS)
def test_a_grammar_has_these_texts(grammar, accepted, refused):
    assert_reads(gv.lark(grammar), texts(accepted), texts(refused))


# What is ignored stands after lexemes: between two of them and at the end.
IGNORED = [
    ('start: "a" "b"\n%ignore W\nW: "-"\n%ignore /#[^\\n]*\\n/', ["ab", "a-b", "a#b\nb", "ab--#\n"], ["-ab", "a#b"]),
    ('start: /a*/ "b"\n%ignore " "', ["a b", "b", " b"], ["a c"]),
    ('start: x "b"\nx:\n%ignore " "', ["b", "b "], [" b"]),
    ('start: "a" %json {"type": "array"} "b"\n%ignore "_"', ["a_[ 1]_b", "a[]b"], ["a[_]b", "a []b"]),
    ('start: "a" "b"\n%ignore " "\n%llguidance {"ignore_once": true}', ["a b ", "ab"], ["a  b"]),
    (
        'start: ("(" start ")")?\n%ignore " "\n%llguidance {"allow_initial_skip": true, "no_forcing": true}',
        ["", "  ", " ( ) ", "(())"],
        ["(", ") ("],
    ),
    ('%grammar_options {"allow_initial_skip": true}\nstart: "a"\n%ignore W?\nW: " "', [" a", "a"], ["b"]),
]


@pytest.mark.parametrize(("grammar", "accepted", "refused"), IGNORED)
def test_what_is_ignored_may_stand_here(grammar, accepted, refused):
    test_a_grammar_has_these_texts(grammar, accepted, refused)


# in Lark's own library these two are lazy, which has no meaning for a whole text
LAZY = {"ESCAPED_STRING": r'"([^"\\\n]|\\.)*"', "C_COMMENT": r"/\*((?!\*/)[\s\S])*\*/"}


@pytest.mark.parametrize("name", COMMON)
@pytest.mark.quick(every=4)
def test_a_terminal_of_the_common_library_is_that_of_larks_own(name):
    text = f"%import common.{name}\nstart: {name}"
    [terminal] = lark.Lark(text).terminals
    regex = LAZY.get(name) or terminal.pattern.to_regexp()
    assert gv.machines.shortest_difference(gv.lark(text), gv.regex(regex)) is None


def test_another_rule_can_be_the_start():
    text = 'start: "a" word\nword: "b" N?\nN: "1"'
    assert gv.lark(text, start="word").accepts(b"b1")
    assert gv.lark(text, "N").accepts(b"1")


def test_terminals_and_templates_are_rules_of_the_machine():
    machine = gv.lark('start: pair{A, B} | pair{B, A}\npair{x, y}: x y\nA: "a"\nB: "b"\nUNUSED: "c"')
    assert list(machine.grammar.named) == ["start", "pair", "pair-2", "A", "B"]


def test_names_that_are_added_are_not_those_of_the_text():
    machine = gv.lark('start: json ignored %json {}\njson: "a"\nignored: "b"\n%ignore " "')
    assert machine.accepts(b"a b [1]")
    assert {"json", "ignored", "json-2", "ignored-2"} <= set(machine.grammar.named)


def test_equal_schemas_are_read_once():
    schema = '%json {"type": "object", "properties": {"a": {"type": "string"}}}'
    one = gv.lark(f'start: "1" {schema}')
    options = [f'"{number}" {schema}' for number in range(400)]
    many = gv.lark("start: " + " | ".join(options))
    assert len(many.grammar.rules) == len(one.grammar.rules)


def test_what_a_schema_cannot_say_is_noted():
    assert gv.lark('start: %json {"type": "null", "x-unit": "m"}').notes == (
        "#/x-unit: not a keyword of JSON Schema, ignored",
    )


NAMED = "the name of a rule or terminal"
# A text, the line and column of its error, and what the error says: seen, expected, hint.
ERRORS = [
    ('start: valeu\nvalue: "a"', "1:8", 'unknown name "valeu"', NAMED, 'did you mean "value"?'),
    ('%ignore W\nstart: "a"', "1:9", 'unknown name "W"', NAMED, ""),
    ('first: "a"', "1:1", "no rule 'start'", "a rule to start from", 'start from "first"?'),
    ('start: "a"\nstart: "b"', "2:1", 'duplicate name "start"', "another name", "line 1 defines it"),
    ('%import common.INT\nINT: "a"\nstart: INT', "2:1", 'duplicate name "INT"', "another name", "line 1 defines it"),
    ("start: A\nA: B\nB: C\nC: B", "3:1", "needs itself: B -> C -> B", "terminals without", "small letters"),
    ('start: A\nA: b\nb: "b"', "2:4", "the rule b in a terminal", "terminals only", "in capitals"),
    ("start: A\nA: <x>", "2:4", "<x> in a terminal", "a part of a text", "write it in a rule"),
    ('start: "a" & "b"', "1:8", "& in a rule", "a terminal", "in capitals"),
    ("start: <[x]>", "1:8", "the token <[x]>", "ids", "<[128010]> or <[5-9,12]>"),
    ("start: <[128010-128255]>", "1:8", "the token <[128010-128255]>, no vocabulary", "the one", "vocabulary="),
    ("%declare A\nstart: A", "1:1", "%declare", "terminals with a text", ""),
    ('start: "a"\n%extend start: "b"', "2:1", "%override or %extend", "one definition", "->"),
    ('start: %lark { start: "a" }', "1:8", "a grammar in the grammar (%lark)", "one grammar", "beside"),
    ('start::_: "a"', "1:7", 'a second ":"', "a rule without parameters", ""),
    ('start ::= "a"', "1:8", '"::="', '":"', "gv.grammar reads GBNF"),
    ('%llguidance [1]\nstart: "a"', "1:13", "saw [1]", "an object", ""),
    ('%llguidance {"ignore_once": 1}\nstart: "a"', "1:13", "the option ignore_once: 1", "true or false", ""),
    ("%foo bar", "1:1", "an unknown directive", "%import, %ignore", ""),
    ("start[lazy]: /a/", "1:7", "the attribute lazy", "a rule without it", ""),
    ('start: a\na[capture, suffix="x"]: /a/', "2:12", "the attribute suffix", "a rule without it", ""),
    ('%llguidance {"x": true}\nstart: "a"', "1:13", "the option x: True", "allow_initial_skip", ""),
    ('%llguidance {"allow_invalid_utf8": true}\nstart: "a"', "1:13", "allow_invalid_utf8", "true or false", ""),
    ("%import common.INTT\nstart: INTT", "1:9", "unknown import common.INTT", "common.NAME", '"INT"'),
    ("%import .other.X\nstart: X", "1:9", "unknown import .other.X", "common.NAME", "write its definition"),
    ('start: f{"a"}\nf{x, y}: x', "1:8", "arguments: 1", "2 for f", ""),
    ('start: g{"a"}\nff{x}: x\ng: "a"', "1:8", "g{...}", "a template, in a rule", ""),
    ('start: "a"~3..2', "1:11", "saw ~3..2", "the lower count first", ""),
    ('start: "a"{-1,}', "1:11", "saw {-1,}", "{m}, {m,}, {,n} or {m,n}", ""),
    ('start: "a"~0..9999999', "1:11", "saw ~0..9999999", "counts up to 1,000,000", ""),
    ('start: "ab".."c"', "1:8", 'saw "ab"', "one character", ""),
    ('start: "z".."a"', "1:8", "a range in descending order", "the lower character first", ""),
    (r'start: "a\qb"', "1:10", "another escape", r"\uHHHH", "a backslash is"),
    ("start: /a/\n  | /[b/", "2:6", "unterminated character set", "a regex in Python's syntax", ""),
    ("start: /a)(b/i", "1:10", "unbalanced parenthesis", "a regex in Python's syntax", ""),
    (r"start: /ab(c)\1/", "1:14", "a backreference", "a regex in Python's syntax", ""),
    ("start: /a(?=b)/", "1:10", "a lookaround", "a regex about its own text", "the rule"),
    ("start: /[[:alpha:]]/", "1:10", "possible nested set", "a regex in Python's syntax", ""),
    ("start: /a/il", "1:8", "the flags il", "some of imsux", ""),
    ('start: %regex {"substring": "a"}', "1:8", "saw {'substring': 'a'}", '"substring_words"', ""),
    ('start: %regex {"substring_chunks": [1]}', "1:8", "saw {'substring_chunks': [1]}", "with texts", ""),
    ('start: %json {"a" 1}', "1:19", "expecting ':' delimiter", "JSON", ""),
    ("start: %json []", "1:8", "schema, #", "", ""),
    ("start: %json {", "1:15", "saw the end of the grammar", '"}"', ""),
    ('start: "a', "1:8", "an unclosed text", 'a " after it', "in the same line"),
    ("start: 'a'", "1:8", "a single quote", "a text in double quotes", '"a"'),
    ('start "a"', "1:7", 'saw "a"', '":"', ""),
    ('start: ("a"\n"b")', "1:12", "saw the end of the line", '")"', "a rule is one line"),
    ('start: "a" |\n  "b"', "2:3", 'saw "b"', "a rule, a terminal or a directive", "a rule is one line"),
    ('start: "a" start', "1:1", "the rule 'start' can never finish", "a complete text", "without rule calls"),
    ("start: A\nA: /[ab]/ & /[cd]/", "2:1", "the rule 'A' can never finish", "a complete text", ""),
    ("start: " + "(" * 101 + '"a"' + ")" * 101, "1:108", "more than 100 nested parentheses", "fewer", "its own"),
]


@pytest.mark.parametrize(("text", "place", "seen", "expected", "hint"), ERRORS)
def test_an_error_says_where_what_and_why(text, place, seen, expected, hint):
    with pytest.raises(GrammarError) as caught:
        gv.lark(text)
    line, column = place.split(":")
    assert caught.value.where == f"Lark line {line}, column {column}"
    assert seen in caught.value.seen
    assert expected in caught.value.expected
    assert hint in caught.value.hint
    assert "^" in caught.value.picture


def test_without_the_package_an_error_says_how_to_install_it(monkeypatch):
    from guidedviz.machines.grammars.lark_notation import notation_parser

    notation_parser.cache_clear()
    monkeypatch.setitem(sys.modules, "lark", None)
    with pytest.raises(SettingError, match=r"gv.lark: .*the package lark of the extra 'lab'; try: pip install"):
        gv.lark('start: "a"')


def chain(line, last, length=10_000):
    lines = [line.format(number, number + 1) for number in range(length)]
    return "\n".join([*lines, last.format(length)])


HOSTILE = {
    "deep parentheses": "start: " + "(" * 20_000 + '"a"' + ")" * 20_000,
    "deep JSON": "start: %json " + '{"items":' * 20_000 + "{}" + "}" * 20_000,
    "too long": f'start: "{"a" * limits.GBNF_CHARACTERS}"',
    "many terminals": "start: T0\n" + chain('T{0}: "a" T{1}', 'T{0}: "b"'),
    "doubled terminals": "start: X\nX: ~T0\n" + chain("T{0}: T{1} T{1}", 'T{0}: "b"', 40),
    "a growing template": 'start: t{"a"}\nt{x}: "b" t{u{x}} | x\nu{y}: y y',
    "a large conjunction": "start: A\nA: /(a|b)*a(a|b){14}/ & /(a|b)*b(a|b){14}/",
    "many substrings": 'start: %regex {"substring_chars": "' + "abcdefghij" * 1_000 + '"}',
    "many ignored": 'start: "a"\n' + "%ignore /x+/\n" * 5_000,
    "empty lines": "\n" * 900_000 + 'start: "a"',
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.quick("deep parentheses", "doubled terminals", "a growing template")
def test_a_hostile_grammar_ends_soon(name):
    with in_time(10):
        said = ""
        try:
            gv.lark(HOSTILE[name]).accepts_prefix(b"aaaa")
        except PatternError as error:
            said = str(error)
        assert len(said) < 1_000


def test_many_readings_of_a_text_are_one_state():
    machine = gv.lark('start: a\na: a a | "x" | W\nW: / +/\n%ignore / +/')
    assert machine.accepts(b"x" + b" " * 50 + b"x")
