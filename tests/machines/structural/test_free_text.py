"""Free text that watches for words, against a plain reading of the definition."""

from itertools import product

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from guidedviz.machines.free_text import free_text
from guidedviz.machines.names import name_bytes
from guidedviz.machines.regular.algebra import build_machine
from guidedviz.machines.special import Special, named, other_names
from guidedviz.machines.syntax import NOTHING, literal

WORDS = st.lists(st.text("ab", min_size=1, max_size=3), max_size=2, unique=True)
TEXTS = ["".join(text) for size in range(7) for text in product("ab1", repeat=size)]


def reads(text, words, excludes, loop, must):
    """Whether the text is free text up to the first word that is complete, its content 1, and so on."""
    for end in range(len(text) + 1):
        if any(text[:end].endswith(word) for word in excludes):
            return False
        if any(text[:end].endswith(word) for word in words):
            rest = text[end + 1 :]
            return text[end : end + 1] == "1" and (reads(rest, words, excludes, loop, False) if loop else not rest)
    return not must


@settings(max_examples=80, deadline=None)
@given(WORDS, WORDS, st.sampled_from([(True, False), (False, False), (False, True)]))
def test_a_content_follows_where_a_word_is_complete_and_no_excluded_word_occurs(words, excludes, options):
    loop, must = options
    assume(not any(one != other and one in other for one in words for other in words))
    tree = free_text({word: literal("1") for word in words}, excludes, loop=loop, must=must)
    machine = build_machine(tree)
    for text in TEXTS:
        assert machine.accepts(text.encode()) == reads(text, words, excludes, loop, must), text


def test_a_word_may_begin_a_longer_one():
    machine = build_machine(free_text({"ab": literal("1"), "abc": literal("2")}))
    assert [machine.accepts(text) for text in (b"ab1", b"abc2", b"abc1", b"abd", b"ab")] == [True, True, *[False] * 3]


def test_special_tokens_are_words_of_one_sign():
    words = {Special("x"): literal("1"), "a": literal("2")}
    machine = build_machine(free_text(words, others=other_names(["x", "y"])))
    for data in (b"b", name_bytes("x") + b"1", name_bytes("z") + b"a2", b"x"):
        assert machine.accepts(data)
    for data in (name_bytes("x"), name_bytes("y"), b"a" + name_bytes("z"), b"a1"):
        assert not machine.accepts(data)


def test_a_word_without_a_content_does_not_occur():
    machine = build_machine(free_text({"ab": NOTHING, Special("x"): NOTHING, "c": named("y")}))
    assert machine.accepts(b"a c" + name_bytes("y"))
    assert not machine.accepts_prefix(b"ab")
    assert not machine.accepts_prefix(name_bytes("x"))
