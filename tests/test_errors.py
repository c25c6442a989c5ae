"""Errors survive pickling, and a message quotes little of a value and nothing that cannot be printed."""

import copy
import pickle

import pytest

from guidedviz import errors
from guidedviz.errors import GrammarError, GuidedVizError, SettingError, quoted

KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, GuidedVizError)]
GRAMMAR_ERROR = GrammarError("GBNF line 1", seen="saw x", expected="y", hint="z", picture="  x\n  ^", position=3)


@pytest.mark.parametrize(
    "error", [*(kind("here", seen="a", expected="b", hint="c") for kind in KINDS), GRAMMAR_ERROR], ids=repr
)
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
def test_an_error_keeps_its_message_and_parts_when_it_is_copied(error, copied):
    again = copied(error)
    assert type(again) is type(error)
    assert (str(again), vars(again)) == (str(error), vars(error))


class Unprintable:
    def __repr__(self):
        raise RuntimeError("no repr")


NESTED: list[object] = []
for _ in range(100_000):
    NESTED = [NESTED]


@pytest.mark.parametrize(
    "value",
    ["x" * 10**6, "\ud800\u202e\x00" * 99, b"\xff" * 10**6, 10**5000, Unprintable(), NESTED, {"k" * 999: "v" * 999}],
    ids=["text", "signs", "bytes", "number", "no-repr", "nested", "dict"],
)
def test_a_quoted_value_is_short_and_printable(value):
    assert quoted(value).isprintable()
    assert 0 < len(quoted(value)) <= 80
    assert len(quoted(value, most=20)) <= 20


def test_a_message_escapes_what_cannot_be_printed():
    error = SettingError("title \x00", seen="\ud800", expected="a\u202eb", hint="\x1b[31m")
    assert str(error) == r"title \x00: saw \ud800, expected a\u202eb; try: \x1b[31m"
