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

ranges = st.lists(st.tuples(st.integers(0, LAST), st.integers(0, 40)), min_size=1, max_size=3)
signs = st.lists(st.sampled_from(r"\]^-[&~|.a b#$(){}*+?/" + "\n\té\u202e\ud800").map(ord), min_size=1, max_size=5)


def machine_of(tree):
    return minimise(build_dfa(build_nfa(tree)))


@given(regexes)
def test_a_tree_is_shown_as_a_regex_that_means_the_same(pattern):
    tree = parse_regex(pattern)
    assert regex(show_regex(tree)) == machine_of(tree)


@given(ranges | signs.map(lambda codes: [(code, 0) for code in codes]))
def test_a_class_is_shown_as_it_is(pairs):
    pattern = "[" + "".join(f"\\U{low:08x}-\\U{min(low + more, LAST):08x}" for low, more in pairs) + "]"
    tree = parse_regex(pattern)
    shown = show_class(tree.ranges)
    assert parse_regex(shown) == tree
    assert shown.isprintable()


@st.composite
def nets(draw):
    places = draw(st.integers(1, 5))
    place = st.integers(0, places - 1)
    parts = st.sampled_from(["a", "b", "[ab]", "ab|c", "a*", "b?"]).map(parse_regex) | st.just(EMPTY)
    return Net(places, tuple(draw(st.lists(st.tuples(place, parts, place), max_size=8))))


@given(nets())
def test_a_net_is_unfolded_without_gain_or_loss(net):
    assert machine_of(unfold_net(net)) == machine_of(net) == regex(show_regex(net))
