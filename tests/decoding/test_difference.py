"""Greedy decoding with jump-forward and without, on models whose taste is known."""

import pytest

import guidedviz as gv
from guidedviz.decoding.jump import compare_jump

PIECES = [b"n", b"o", b"no", b"t", b"!", b"</s>"]


def toy(rule):
    return gv.ToyModel(PIECES, rule, eos=[5])


def guide(model, pattern):
    return gv.guide(gv.regex(pattern), model.vocabulary)


def test_a_model_that_spells_as_its_tokenizer_does_decodes_the_same_tokens():
    model = toy(lambda tokens: [1, 1, 9, 3, 2, 0])
    found = compare_jump(model, "t", guide(model, "no[t!]"))
    assert found.difference == "same tokens"
    assert found.plain.tokens == found.jumped.tokens == (2, 3, 5)
    assert found.jumped.passes < found.plain.passes


def test_another_spelling_of_a_forced_run_may_leave_the_text_as_it_is():
    model = toy(lambda tokens: [9, 8, 1, 3, 2, 0])
    found = compare_jump(model, "t", guide(model, "no[t!]"))
    assert found.plain.tokens == (0, 1, 3, 5)
    assert found.jumped.tokens == (2, 3, 5)
    assert found.difference == "same text, other tokens"


def test_or_change_it_where_the_model_minds_what_came_before():
    model = toy(lambda tokens: [9, 8, 1, *((7, 6) if 2 in tokens else (6, 7)), 0])
    found = compare_jump(model, "t", guide(model, "no[t!]"))
    assert (found.plain.text, found.jumped.text) == ("no!", "not")
    assert found.difference == "other text"


def test_texts_that_were_cut_are_compared_as_far_as_both_go():
    model = toy(lambda tokens: [9, 8, 1, 3, 2, 0])
    found = compare_jump(model, "t", guide(model, "(no){9}[t!]"), max_tokens=6)
    assert len(found.plain.output) != len(found.jumped.output)
    assert found.difference == "same text, other tokens"


@pytest.mark.parametrize("way", ["canonical", "longest", "minimal"])
def test_clerk_writes_a_record_and_what_differs_is_named(clerk, way):
    schema = {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
              "required": ["name", "age"], "additionalProperties": False}  # fmt: skip
    found = compare_jump(
        clerk,
        "Ada Lovelace is 36.\nJSON with name, age:\n",
        gv.guide(gv.json_schema(schema, whitespace="one"), clerk.vocabulary),
        way,
    )
    assert found.jumped.text == '{"name": "Ada Lovelace", "age": 36}'
    assert found.difference == "same tokens"
