"""Free text that watches for words, against a plain reading of the definition."""

from itertools import permutations

from hypothesis import assume, given
from hypothesis import strategies as st

from guidedviz.machines.free_text import free_text
from guidedviz.machines.names import name_bytes
from guidedviz.machines.regular.algebra import build_machine
from guidedviz.machines.special import Special, other_names
from guidedviz.machines.syntax import NOTHING, literal
from tests.common import assert_reads, texts_up_to

WORD = st.text("ab", min_size=1, max_size=3)
WORDS = st.lists(WORD, max_size=2, unique=True)
TEXTS = list(texts_up_to("ab1", 6))
LOOP_AND_MUST = [(True, False), (False, False), (False, True)]


def reads(text, words, excludes, loop, must):
    """Whether the text is free text up to the first word that is complete, its content 1, and so on."""
    for end in range(len(text) + 1):
        before = text[:end]
        if before.endswith(tuple(excludes)):
            return False
        if before.endswith(tuple(words)):
            if text[end : end + 1] != "1":
                return False
            rest = text[end + 1 :]
            return reads(rest, words, excludes, loop, False) if loop else not rest
    return not must


@given(WORDS, WORDS, st.sampled_from(LOOP_AND_MUST))
def test_a_content_follows_where_a_word_is_complete_and_no_excluded_word_occurs(words, excludes, options):
    loop, must = options
    inside = [one for one, other in permutations(words, 2) if one in other]
    assume(not inside)
    contents = dict.fromkeys(words, literal("1"))
    tree = free_text(contents, excludes, loop=loop, must=must)
    machine = build_machine(tree)
    for text in TEXTS:
        expected = reads(text, words, excludes, loop, must)
        assert machine.accepts(text.encode()) == expected, text


def test_a_word_may_begin_a_longer_one():
    tree = free_text({"ab": literal("1"), "abc": literal("2")})
    assert_reads(build_machine(tree), ["ab1", "abc2"], ["abc1", "abd", "ab"])


def test_special_tokens_are_words_of_one_sign():
    words = {Special("x"): literal("1"), "a": literal("2"), "c": NOTHING}
    machine = build_machine(free_text(words, others=other_names(["x", "y"])))
    x = name_bytes("x")
    y = name_bytes("y")
    z = name_bytes("z")
    assert_reads(machine, [b"b", x + b"1", z + b"a2", b"x"], [x, y, b"a" + z, b"a1", b"c"])
