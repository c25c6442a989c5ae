"""Static masks: one set a position, then EOS; and the classes of the 65 characters of Tiny Shakespeare."""

import re
from random import Random

import numpy as np
import pytest

import guidedviz as gv
from guidedviz.errors import SettingError
from guidedviz.tokens.vocabulary import Vocabulary
from tests.common import assert_mask_is_told, choose_tokens

SYMBOLS = "\n !$&',-.3:;?ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
BARD = Vocabulary([symbol.encode() for symbol in SYMBOLS])
SMALL = Vocabulary([b"a", b"ab", b"ac", b"\n", b"", b"<pad>", b"</s>"], eos={6}, special={5, 6})


def test_the_classes_of_the_65_characters_have_their_counts():
    classes = gv.char_classes(BARD)
    counts = {name: len(ids) for name, ids in classes.items()}
    assert counts == {
        "ANY": 65, "DIGIT": 1, "LETTER": 52, "LOWER": 26, "NEWLINE": 1, "PUNCT": 10, "SPACE": 1, "UPPER": 26,
    }  # fmt: skip


def test_classes_name_single_characters_only():
    small = Vocabulary([b"a", b"ab", "é".encode(), b"\xc3", b"", b"</s>"], eos={5})
    classes = gv.char_classes(small)
    assert classes["LOWER"] == {0}
    assert classes["ANY"] == {0, 2}


def test_five_lowercase_letters_and_a_line_break():
    classes = gv.char_classes(BARD)
    positions = [classes["LOWER"]] * 5 + [classes["NEWLINE"]]
    guide = gv.static_masks(BARD, positions)
    tokens = choose_tokens(guide, Random(0), 9)
    text = b"".join(BARD.pieces[token] for token in tokens)
    assert re.fullmatch(rb"[a-z]{5}\n", text)
    accepting = [guide.is_accepting(state) for state in range(7)]
    assert accepting == [False] * 6 + [True]


def test_a_mask_is_true_exactly_where_advance_and_explain_say_so():
    guide = gv.static_masks(SMALL, [{0, 1}, {2, 3}])
    for state in range(3):
        assert_mask_is_told(guide, state)


def test_eos_is_legal_exactly_after_the_last_position():
    guide = gv.static_masks(SMALL, [{0}])
    assert not guide.mask(0)[6]
    assert guide.mask(1)[6]
    assert guide.advance(1, 6) == 1
    assert gv.static_masks(SMALL, []).is_accepting(0)


def test_an_explanation_speaks_of_positions():
    guide = gv.static_masks(SMALL, [{0}, {3}])
    why = guide.explain(0, 3)
    assert why.reason == "the guide forbids it in position 0; legal there: a"

    assert guide.explain(0, 0).states == ("position 0",)
    assert guide.explain(0, 6).reason.startswith("EOS would end the text before it is complete: the guide forbids it")
    assert guide.explain(2, 6).reason == "EOS: the text may end here"
    assert (guide.label(2), guide.stack(0)) == ("the end", ())


@pytest.mark.parametrize(
    ("sets", "said"),
    [([{0}, set()], "position 1: saw an empty set"), ([{7}], "saw 7, expected an id, 0 to 6"), 
     ([np.array([True])], "saw np.True_"), ([[b"a"]], "vocabulary.ids(piece)"), ([{6}], "id 6 '</s>'"), 
     ([{4}], "id 4 '<empty>'"), (["LOWER"], "saw 'L'")],
)  # fmt: skip
def test_a_set_holds_ids_that_are_text(sets, said):
    with pytest.raises(SettingError, match=re.escape(said)):
        gv.static_masks(SMALL, sets)
