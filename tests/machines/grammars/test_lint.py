"""A finding is true: checked on small grammars one reads, and on random ones against slower counts of their texts."""

import time
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guidedviz.errors import GrammarError
from guidedviz.machines.grammars.gbnf import parse_grammar
from guidedviz.machines.grammars.grammar import Grammar, Rule, find_loops, find_way
from guidedviz.machines.grammars.lint import check_grammar, lint
from guidedviz.machines.tree import Call, Chars, Concat, Either, Net, Repeat, literal

NAMES = ("root", "a", "b")
LONGEST = 7


def found(text, kind):
    return [finding.rule for finding in lint(parse_grammar(text)) if finding.kind == kind]


@pytest.mark.parametrize(
    ("kind", "text", "rules"),
    [
        ("unused", 'root ::= a\na ::= "x"\nb ::= c\nc ::= b', ["b", "c"]),
        ("unproductive", "root ::= root", ["root"]),
        ("unproductive", 'root ::= "(" root ")" | a\na ::= a "x" | b\nb ::= root', ["root", "a", "b"]),
        ("unproductive", 'root ::= "(" root ")" | "x"\na ::= a{2} | root*', []),
        ("unproductive", 'root ::= a? "x"\na ::= "y" a', ["a"]),
        ("unproductive", r'root ::= "x\uD800" | [\uD800-\uDFFF]', ["root"]),
        ("unproductive", r'root ::= "x\uD800" | [\uD000-\uDFFF]', []),
        ("left-recursive", 'root ::= root "+" a | a\na ::= "x" a', ["root"]),
        ("left-recursive", 'root ::= a\na ::= b? a "x" | "y"\nb ::= "z"', ["a"]),
        ("left-recursive", 'root ::= "x" root | ""', []),
        ("left-recursive", 'root ::= (b a)+\na ::= root\nb ::= "" | "x"', ["root"]),
        ("left-recursive", 'root ::= (b a)+\na ::= root\nb ::= "x"', []),
        ("left-recursive", 'root ::= a{0} "x"\na ::= root', []),
        ("ambiguous", 'root ::= root root | "a"', ["root"]),
        ("ambiguous", 'root ::= e\ne ::= e "+" e | "n"', ["e"]),
        ("ambiguous", 'root ::= e\ne ::= e "+" t | t\nt ::= "n" | "(" e ")"', []),
        ("ambiguous", 'root ::= ("a"?)*', ["root"]),
        ("ambiguous", 'root ::= ("a"*)? | "b"', ["root"]),
        ("ambiguous", 'root ::= ""{2} ("a"?){1} ("a"?){0}', []),
        ("ambiguous", 'root ::= "" | "a"*', ["root"]),
        ("ambiguous", 'root ::= [a-f] | "g" | [f-z]', ["root"]),
        ("ambiguous", 'root ::= a | "x" | a\na ::= "y"', ["root"]),
        ("nullable", 'root ::= a b?\na ::= "x"{0} | b\nb ::= "y"', ["root", "a"]),
        ("nested", 'root ::= "(" root ")" | ""', ["root"]),
        ("nested", 'root ::= "x" root | ""', []),
        ("nested", 'root ::= root "x" | ""', []),
        ("nested", 'root ::= "<" (a | "y")\na ::= root ">"', ["root"]),
        ("nested", 'root ::= ("a" | "" root)', []),
        ("nested", 'root ::= "a" | root{2}', ["root"]),
        ("blank", "root ::= [ ]+", ["root"]),
        ("blank", 'root ::= "x" ws\nws ::= [ \\n] ws | ""', ["ws"]),
        ("blank", 'root ::= ws*\nws ::= " " | "\\t" ', ["root"]),
        ("blank", "root ::= [ a]* [ ]{0,20}", []),
        ("blank", 'root ::= (" " a)*\na ::= "x"?', []),
    ],
)  # fmt: skip
def test_a_kind_of_finding_and_its_rules(kind, text, rules):
    assert found(text, kind) == rules


def test_a_finding_points_into_the_text():
    text = 'root ::= "(" root ")" | ws\nws ::= [ ]*'
    nested, blank = [finding for finding in lint(parse_grammar(text)) if finding.kind in ("nested", "blank")]
    assert nested.span == (13, 17)
    assert nested.words == "it may stand inside itself without end: root → root"
    assert text[slice(*blank.span)] == "*"


def test_a_plain_grammar_has_no_findings():
    assert lint(parse_grammar('root ::= "a" b+\nb ::= [x-z] | "-" [0-9]{2}')) == ()


def test_a_call_of_no_rule_is_found_where_no_reader_saw_it():
    grammar = Grammar((Rule("root", Call("vlaue", (9, 14)), (0, 4)), Rule("value", literal("x"), (15, 20))), "root")
    (undefined, *_) = lint(grammar)
    words = 'it calls "vlaue", which is not defined; did you mean "value"?'
    assert (undefined.kind, undefined.span, undefined.words) == ("undefined", (9, 14), words)
    with pytest.raises(GrammarError, match="vlaue"):
        check_grammar(grammar)


def test_a_root_that_can_never_finish_is_refused_with_its_way():
    check_grammar(parse_grammar('root ::= "x" | a\na ::= "y" a'))
    with pytest.raises(GrammarError) as caught:
        check_grammar(parse_grammar('a ::= "y" root\nroot ::= "x" a | a'))
    assert str(caught.value).splitlines() == [
        'GBNF line 2, column 1: the rule "root": it can never finish: root → a → root',
        '  root ::= "x" a | a',
        "  ^",
    ]


def test_the_places_of_a_net_are_followed():
    x, empty = literal("x"), Concat(())
    net = Net(3, ((0, empty, 1), (1, Call("root"), 2), (0, x, 2), (2, x, 0)))
    kinds = {finding.kind for finding in lint(Grammar((Rule("root", net, (0, 4)),)))}
    assert kinds == {"left-recursive", "ambiguous", "nested"}
    dead = Net(3, ((0, x, 1), (1, x, 0)))
    assert "unproductive" in {finding.kind for finding in lint(Grammar((Rule("root", dead, (0, 4)),)))}


atoms = st.sampled_from([literal("x"), literal("y"), literal("xy"), Concat(()), *map(Call, NAMES), *map(Call, NAMES)])


def grow(inner):
    parts = st.lists(inner, min_size=2, max_size=3).map(tuple)
    counts = st.sampled_from([(0, None), (1, None), (0, 1), (2, 2), (0, 0)])
    repeats = st.builds(lambda part, count: Repeat(part, *count), inner, counts)
    return parts.map(Concat) | parts.map(Either) | repeats


trees = st.recursive(atoms, grow, max_leaves=5)
grammars = st.tuples(trees, trees, trees).map(
    lambda bodies: Grammar(tuple(Rule(name, tree, (0, 0)) for name, tree in zip(NAMES, bodies, strict=True)))
)


def shortest(tree, known):
    """The length of a shortest text; endless if there is none yet."""
    match tree:
        case Chars():
            return 1
        case Call(name):
            return known[name]
        case Concat(parts):
            return sum(shortest(part, known) for part in parts)
        case Either(options):
            return min(shortest(option, known) for option in options)
        case Repeat(part, low):
            return low * shortest(part, known) if low else 0


def shortest_of(grammar):
    known = dict.fromkeys(NAMES, float("inf"))
    for _ in NAMES:
        known = {rule.name: shortest(rule.tree, known) for rule in grammar.rules}
    return known


def count_trees(tree, known):
    """How many trees each short text has; more than two count as two."""
    match tree:
        case Chars(((code, _),)):
            return Counter({chr(code): 1})
        case Call(name):
            return known[name]
        case Concat(parts):
            texts = Counter({"": 1})
            for part in parts:
                texts = join(texts, count_trees(part, known))
            return texts
        case Either(options):
            texts = sum((count_trees(option, known) for option in options), Counter())
            return Counter({text: min(count, 2) for text, count in texts.items()})
        case Repeat(part, low, high):
            rows = [Concat((part,) * times) for times in range(low, (LONGEST if high is None else high) + 1)]
            return count_trees(Either(tuple(rows)), known)


def join(some, others):
    texts = Counter()
    for left, count in some.items():
        for right, more in others.items():
            if len(left + right) <= LONGEST:
                texts[left + right] = min(2, texts[left + right] + count * more)
    return texts


def ambiguous_rules(grammar):
    known = {name: Counter() for name in NAMES}
    for _ in range(7):
        known = {rule.name: count_trees(rule.tree, known) for rule in grammar.rules}
    return {name for name, texts in known.items() if max(texts.values(), default=0) > 1}


@given(grammars)
def test_empty_and_endless_are_what_the_shortest_texts_say(grammar):
    known = shortest_of(grammar)
    findings = [(finding.kind, finding.rule) for finding in lint(grammar)]
    assert {rule for kind, rule in findings if kind == "nullable"} == {name for name in NAMES if known[name] == 0}
    endless = {name for name in NAMES if known[name] == float("inf")}
    assert {rule for kind, rule in findings if kind == "unproductive"} == endless


@given(grammars)
def test_a_rule_that_is_called_ambiguous_has_a_text_with_two_trees(grammar):
    if max(shortest_of(grammar).values()) <= 1:  # else the text may be too long to count
        called = {finding.rule for finding in lint(grammar) if finding.kind == "ambiguous"}
        assert called <= ambiguous_rules(grammar)


graphs = st.dictionaries(st.sampled_from("abcdef"), st.lists(st.sampled_from("abcdef"), unique=True)).map(
    lambda graph: {name: graph.get(name, []) for name in "abcdef"}
)


@given(graphs)
def test_a_loop_is_all_that_can_go_there_and_back(graph):
    def goes(start, end):
        return bool(find_way(graph, start, end))

    loops = {frozenset(loop) for loop in find_loops(graph)}
    assert loops == {frozenset(n for n in graph if goes(n, name) and goes(name, n)) for name in graph} - {frozenset()}


HOSTILE = {
    "chain down": "\n".join(f'r{number} ::= r{number + 1} "x"' for number in range(3000)) + '\nr3000 ::= "a" | r0',
    "chain up": "\n".join(f'r{number} ::= r{number - 1} "x"' for number in range(1, 3000)) + '\nr0 ::= "a" r2999',
    "many calls": "r0 ::= " + "r0 " * 10_000 + '| "a"',
    "many options": "r0 ::= " + '"a" r0 "b" | ' * 4_000 + '"a"',
    "deep": "r0 ::= " + "(" * 99 + 'r0 "a"' + ")*" * 99,
}  # fmt: skip


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_large_grammar_is_linted_soon(kind):
    grammar = parse_grammar(HOSTILE[kind], root="r0")
    began = time.process_time()
    lint(grammar)
    assert time.process_time() - began < 2
