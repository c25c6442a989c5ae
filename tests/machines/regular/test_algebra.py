"""Machines as sets of texts, against what `re` says of every short text."""

import pytest
from hypothesis import given

from guidedviz.errors import PatternError, SettingError
from guidedviz.machines.regular.algebra import difference, intersection
from guidedviz.machines.regular.compare import shortest_difference
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.regex import regex
from tests.common import in_time, texts_up_to
from tests.machines.oracle import count_texts, matches
from tests.strategies import LETTERS, regexes

SHORT = list(texts_up_to(LETTERS, 2))


@given(regexes, regexes)
def test_every_short_text_is_where_it_belongs(one, other):
    first = regex(one)
    second = regex(other)
    both = intersection(first, second)
    only = difference(first, second)
    assert both == difference(first, only), "both are minimal"
    for text in SHORT:
        in_first = matches(one, text)
        in_second = matches(other, text)
        data = text.encode()
        assert both.accepts(data) == (in_first and in_second)
        assert only.accepts(data) == (in_first and not in_second)


@given(regexes, regexes)
def test_the_shortest_difference_is_one_and_none_is_shorter(one, other):
    a = regex(one)
    b = regex(other)
    found = shortest_difference(a, b)
    assert (found is None) == (a == b)
    if found is not None:
        assert matches(one, found.decode()) != matches(other, found.decode())
        for only in (difference(a, b), difference(b, a)):
            for length in range(len(found)):
                assert count_texts(only, length) == 0


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [(".", "[^a]", b"a"), (r"[\s\S]", "[^x\x00]", b"x"), (r"[\x00-\x20!]", "x", b"x"),
     (r"[\x00\x01]b|b[\x07 ]", "", b""), (r"[\x00\x01]b|b[\x07 ]", "[^\\s\\S]", b"b "),
     ("é|à", "x{9}", "é".encode()), 
     ("~a|\x00a|a\n", "[^\\s\\S]", b"~a"), ("[A-Z]+: [a-z]+\n", "[A-Z]+: [a-z]*\n", b"A: \n")],
)  # fmt: skip
def test_of_several_shortest_differences_the_one_that_reads_best_is_shown(one, other, found):
    assert shortest_difference(regex(one), regex(other)) == found
    assert shortest_difference(regex(other), regex(one)) == found


def test_machines_that_are_not_minimal_are_compared_by_their_texts():
    clumsy = DFA((((97, 97, 1),), ((97, 97, 0), (98, 98, 2)), ()), frozenset({0, 1}))
    assert clumsy != regex("a*")
    assert shortest_difference(clumsy, regex("a*")) is None
    assert intersection(clumsy, clumsy) == regex("a*")


@pytest.mark.parametrize("wrong", [None, "a"])
@pytest.mark.parametrize("verb", [intersection, difference, shortest_difference])
def test_only_finite_machines_are_multiplied_and_compared(verb, wrong):
    with pytest.raises(SettingError, match=r"a (finite )?machine"):
        verb(regex("a"), wrong)


def circle(size):
    """A machine of so many states in a circle, all accepting."""
    targets = [*range(1, size), 0]
    edges = tuple(((97, 97, target),) for target in targets)
    return DFA(edges, frozenset(range(size)))


@pytest.mark.parametrize("verb", [intersection, difference, shortest_difference])
@pytest.mark.quick(every=3)
def test_a_product_that_would_not_fit_ends_in_time(verb):
    one = circle(997)
    other = circle(991)
    with in_time(10), pytest.raises(PatternError, match=r"more than|100,000 pairs of states"):
        verb(one, other)
