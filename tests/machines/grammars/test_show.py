"""A shown regex is the same regex."""

from hypothesis import given
from hypothesis import strategies as st

from guidedviz.machines.grammars.show import show_class, show_regex
from guidedviz.machines.grammars.unfold import unfold_net
from guidedviz.machines.ranges import LAST
from guidedviz.machines.regular.dfa import build_dfa
from guidedviz.machines.regular.minimal import minimise
from guidedviz.machines.regular.nfa import build_nfa
from guidedviz.machines.regular.regex import parse_regex, regex
from guidedviz.machines.syntax import EMPTY, Net
from tests.strategies import regexes

pair = st.tuples(st.integers(0, LAST), st.integers(0, 40))
ranges = st.lists(pair, min_size=1, max_size=3)
sign = st.sampled_from(r"\]^-[&~|.a b#$(){}*+?/" + "\n\té\u202e\ud800").map(ord)
signs = st.lists(sign, min_size=1, max_size=5)
ranges_of_one = signs.map(lambda codes: [(code, 0) for code in codes])


def machine_of(tree):
    return minimise(build_dfa(build_nfa(tree)))


@given(regexes)
def test_a_tree_is_shown_as_a_regex_that_means_the_same(pattern):
    tree = parse_regex(pattern)
    assert regex(show_regex(tree)) == machine_of(tree)


@given(ranges | ranges_of_one)
def test_a_class_is_shown_as_it_is(pairs):
    inside = ""
    for low, more in pairs:
        high = min(low + more, LAST)
        inside += f"\\U{low:08x}-\\U{high:08x}"
    tree = parse_regex(f"[{inside}]")
    shown = show_class(tree.ranges)
    assert parse_regex(shown) == tree
    assert shown.isprintable()


@st.composite
def nets(draw):
    places = draw(st.integers(1, 5))
    place = st.integers(0, places - 1)
    written = st.sampled_from(["a", "b", "[ab]", "ab|c", "a*", "b?"])
    parts = written.map(parse_regex) | st.just(EMPTY)
    moves = draw(st.lists(st.tuples(place, parts, place), max_size=8))
    return Net(places, tuple(moves))


@given(nets())
def test_a_net_is_unfolded_without_gain_or_loss(net):
    machine = machine_of(net)
    assert machine_of(unfold_net(net)) == machine
    assert regex(show_regex(net)) == machine
