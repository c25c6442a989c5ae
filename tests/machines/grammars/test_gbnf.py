"""A grammar's text means what llama.cpp reads in it, comes back as it went in, and an error points at its cause."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guidedviz.errors import GrammarError, PatternError
from guidedviz.machines import limits, syntax
from guidedviz.machines.grammars.gbnf import parse_grammar
from guidedviz.machines.grammars.grammar import Grammar, Rule
from guidedviz.machines.grammars.show import show_gbnf
from guidedviz.machines.ranges import LAST, other_ranges
from guidedviz.machines.regular.dfa import build_dfa
from guidedviz.machines.regular.minimal import minimise
from guidedviz.machines.regular.nfa import build_nfa
from guidedviz.machines.regular.regex import regex
from guidedviz.machines.syntax import EMPTY, Call, Chars, Concat, Either, Net, Repeat, concat, literal
from tests.common import in_time
from tests.machines.grammars.twins import grow_twins

# The same pattern twice: in GBNF, and in Python's syntax.
ATOMS = [('"a"', "a"), ('"ab"', "(?:ab)"), ('"#" # "b"\n', r"\#"),
         ('"\\"\\\\"', r'(?:"\\)'), ('"é🙂"', "(?:é🙂)"), ('"\\n"', r"\n"), (".", r"[\s\S]"),
         ("[a-c]", "[a-c]"), ("[^a]", "[^a]"), (r"[\]\[\-^]", r"[\]\[\-^]"), ("[-a]", "[-a]"), ("[a-]", "[a-]"),
         (r"[^\x00-\x1F\"\\]", r'[^\x00-\x1F"\\]'), (r"[\u00e9-\U0001F642]", "[é-🙂]"), ('""', ""),
         ("[+--]", r"[+-\-]"), ("[a-c-e]", r"[a-c\-e]"), ("[a\\-c]", r"[a\-c]")]  # fmt: skip
SIGNS = ("*", "+", "?", "{2}", "{0}", "{1,2}", "{2,}", "{0,3}")
COUNTS = [*((sign, sign) for sign in SIGNS), ("{ 1 , 2 }", "{1,2}")]


grow = partial(grow_twins, counts=COUNTS)
twins = st.recursive(st.sampled_from(ATOMS), grow, max_leaves=6)


def plain(tree):
    """The tree without places in the text."""
    match tree:
        case Concat(parts):
            return concat(*map(plain, parts))
        case Either(options):
            return Either(tuple(map(plain, options)))
        case Repeat(part, low, high):
            return Repeat(plain(part), low, high) if high != 0 else EMPTY  # which is how it is shown
        case Call(name):
            return Call(name)
    return tree


def tree_of(text):
    return parse_grammar(text).named["root"].tree


def show_tree(tree, *others):
    return show_gbnf(Grammar((Rule("root", tree), *others)))


def plain_rules(grammar):
    return [(rule.name, plain(rule.tree)) for rule in grammar.rules]


def machine_of(tree):
    return minimise(build_dfa(build_nfa(tree)))


@given(twins)
def test_a_rule_means_what_the_same_regex_means(twin):
    gbnf, pattern = twin
    assert machine_of(tree_of(f"root ::= ({gbnf})")) == regex(pattern)


@st.composite
def grammars(draw):
    names = ["root", "b-2", "under_score"]
    calls = st.sampled_from([(name, "") for name in names])
    bodies = st.recursive(calls | st.sampled_from(ATOMS), grow, max_leaves=8)
    rules = []
    for name in names:
        body, _ = draw(bodies)
        rules.append(f"{name} ::= ({body})")
    return "\n".join(rules)


@given(grammars())
def test_a_shown_grammar_is_the_same_grammar(text):
    grammar = parse_grammar(text)
    shown = show_gbnf(grammar)
    assert plain_rules(parse_grammar(shown)) == plain_rules(grammar)
    assert len(shown.splitlines()) == 3


odd_characters = st.sampled_from(r"\]^-[\"a# .é" + "\n\t\u202e\0\U0010ffff")
ranges = st.tuples(odd_characters, st.integers(0, 40))


@given(st.lists(ranges, max_size=4))
def test_any_class_and_any_text_is_shown_as_it_is(pairs):
    some = []
    for low, more in pairs:
        high = min(ord(low) + more, LAST)
        some.append((ord(low), high))
    rest = other_ranges(tuple(some))
    letters = "".join(dict(pairs))
    for tree in (Chars(rest), Chars(other_ranges(rest)), literal(letters)):
        shown = show_tree(tree)
        assert tree_of(shown) == tree
        assert shown.isprintable()


def test_spans_are_places_in_the_text():
    grammar = parse_grammar('# first\nroot ::= "é" (item "," )*\nitem ::= root{2}')
    for rule in grammar.rules:
        assert grammar.text[slice(*rule.span)] == rule.name
    repeat = grammar.named["root"].tree.parts[1]
    item = repeat.part.parts[0]
    assert grammar.text[slice(*item.span)] == "item"
    assert grammar.text[repeat.position] == "*"
    assert grammar.text[grammar.named["item"].tree.position :] == "{2}"


def test_odd_trees_are_shown_too():
    net = Net(3, ((0, literal("a"), 1), (1, Repeat(Call("b"), 0, None), 2), (2, literal(","), 0)))
    trees = {
        '"<" "a" b* (",a" b*)*': Concat((literal("<"), net)),
        '("")*': Repeat(EMPTY, 0, None),
        r"[^\u0000-\U0010FFFF]": syntax.NOTHING,
        '("a"+)?': Repeat(Repeat(literal("a"), 1, None), 0, 1),
        '"ab"{2}': Repeat(literal("ab"), 2, 2),
        '("a" b)?': Repeat(concat(literal("a"), Call("b")), 0, 1),
    }
    for shown, tree in trees.items():
        assert show_tree(tree) == f"root ::= {shown}"


ERRORS = [
    ('root ::= "b" |\na ::= "x"', "saw ::=", '::= "x', 'an empty option is written ""'),
    ('root ::= "a" vlaue\nvalue ::= "c"', 'column 14: unknown rule "vlaue"', "vlaue", 'did you mean "value"?'),
    ('root ::= "a" [x', "an unclosed class", "[x", "close it with ]"),
    ('root ::= "a"\n  | "b"', "line 2, column 3: saw |, expected a rule", '| "b"', 'end the line above with the "|"'),
    ('root ::= ("a"', 'saw the end of the grammar, expected ")"', "", "is not closed"),
    (r'root ::= "a\q"', r"saw \q, expected \t", r'\q"', ""),
    (r'root ::= [\d]', r"saw \d", r"\d]", ""),
    (r'root ::= "\U00110000"', "a character up to U+10FFFF", r"\U", ""),
    ('root = "a"', "an equals sign", "=", "name ::= ..."),
    ('root ::= "a"+?', "saw ?, expected something to repeat before it", "?", '("a"+)?'),
    ("root ::= [z-a]", "a range in descending order", "z-a", ""),
    ("root ::= []", "a class with a character in it", "[]", '""'),
    ('root ::= "a"{2,1}', "saw {2,1}, expected the lower count first", "{2,1}", ""),
    ('root ::= "a"{,1}', "expected {m}, {m,} or {m,n}", "{,1}", "{0,n}"),
    ('root ::= "a"{1000001}', "counts up to 1,000,000", "{1", "{m,}"),
    ('root ::= "a")', 'an unmatched ")"', ")", ""),
    ("root ::= <[3]>", "saw <[3]>, no vocabulary", "<", "vocabulary="),
    ('root ::= "a"\nroot ::= "b"', 'line 2, column 1: duplicate rule "root"', 'root ::= "b"', "line 1 defines it"),
    ('root ::= \u202e "a"', "<U+202E> is not allowed here", "\u202e", ""),
    ('root\n::= "a"', 'saw the end of the line, expected "::="', "\n", ""),
    ('"a"', 'saw "a", expected a rule: name ::= ...', '"a"', ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said", "at", "hint"), ERRORS, ids=[said for _, said, _, _ in ERRORS])
def test_an_error_points_at_its_cause(text, said, at, hint):
    with pytest.raises(GrammarError) as caught:
        parse_grammar(text)
    message, picture, caret = str(caught.value).split("\n")
    assert said in message
    assert message.startswith("GBNF line ")
    assert message.endswith(f", expected {caught.value.expected}")
    assert text[caught.value.position :].startswith(at)
    first_line = at.replace("\u202e", "<U+202E>").split("\n")[0]
    assert picture[caret.index("^") :].startswith(first_line)
    assert hint in caret


def test_a_missing_root_names_the_nearest_rule():
    with pytest.raises(PatternError, match=r"no rule 'root'.*\"rot\""):
        parse_grammar('a ::= "a"\nrot ::= a')


def test_the_machines_without_a_stack_refuse_a_call():
    with pytest.raises(PatternError, match="a call of the rule b"):
        build_nfa(tree_of("root ::= b b\nb ::= "))


def test_line_ends_of_every_system():
    for end in ("\n", "\r\n", "\r"):
        grammar = parse_grammar(end.join(["# x", "root ::= a |", '  "c" # y', "", 'a ::= "a"', ""]))
        assert show_gbnf(grammar) == show_gbnf(parse_grammar('root ::= a | "c"\na ::= "a"'))
    with pytest.raises(GrammarError, match="line 3, column 6"):
        parse_grammar('root ::= "a"\r\n\r\na ::=*')


HOSTILE = {
    "open": "root ::= " + "(" * 100_000,
    "brackets": "root ::= " + "[" * 300_000,
    "digits": 'root ::= "a"{' + "9" * 100_000 + "}",
    "name": "root ::= " + "b" * 400_000 + "\n" + "c" * 400_000 + ' ::= "a"',
    "chain": "\n".join(f"r{number} ::= r{number + 1}" for number in range(20_000)),
}


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.quick(every=4)
def test_a_hostile_grammar_ends_in_a_short_error_soon(kind):
    with in_time(5), pytest.raises(PatternError) as caught:
        parse_grammar(HOSTILE[kind])
    assert len(str(caught.value)) < 600


def test_parentheses_may_be_nested_up_to_the_bound():
    text = "(" * limits.NESTED_PARENTHESES + '"a"' + ")" * limits.NESTED_PARENTHESES
    assert tree_of(f"root ::= {text}") == literal("a")
    with pytest.raises(GrammarError, match=f"more than {limits.NESTED_PARENTHESES} nested parentheses"):
        parse_grammar(f"root ::= ({text})")
