"""Settings are checked where they enter, and the message names the parameter."""

from __future__ import annotations

import numpy as np
import pytest

import guidedviz as gv
from guidedviz.decoding.settings import Settings

TOY = gv.ToyModel([b"a", b"b"], lambda tokens: [0.0, 1.0])
NEVER = [None, [], {}, [1], "0.5", "", b"1", object(), float("nan"), float("inf"), 10**400, -1, True, 1j, np.zeros(2)]


@pytest.mark.parametrize("wrong", NEVER, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("name", ["temperature", "top_k", "top_p", "seed", "max_tokens"])
def test_a_number_of_another_type_or_out_of_range_is_refused_by_name(name, wrong):
    for use in (Settings, lambda **given: gv.decode(TOY, "a", **given), lambda **given: gv.record(TOY, "a", **given)):
        with pytest.raises(gv.SettingError, match=f"^{name}: saw .*, expected a (whole )?number"):
            use(**{name: wrong})


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"temperature": 100.1}, "temperature: saw 100.1, expected a number from 0 to 100"),
        ({"top_k": 1.5}, "top_k: saw 1.5"),
        ({"top_p": 0}, "top_p: saw 0, expected a number from 1e-09 to 1"),
        ({"top_p": 1.1}, "top_p: saw 1.1"),
        ({"max_tokens": 0}, "max_tokens: saw 0, expected a whole number from 1"),
        ({"seed": 2**128}, "seed: saw 3402823.*, expected a whole number from 0"),
        ({"bias": [1, 2]}, r"bias: saw \[1, 2\], expected a mapping from token ids to numbers"),
        ({"bias": "ab"}, "bias: saw 'ab'"),
        ({"bias": {"a": 1}}, "token id in logit bias: saw 'a'"),
        ({"bias": {True: 1}}, "token id in logit bias: saw True"),
        ({"bias": {0: "1"}}, "logit bias of token 0: saw '1', expected a number from -100 to 100"),
        ({"bias": {0: 200}}, "logit bias of token 0: saw 200"),
        ({"bias": {0: float("nan")}}, "logit bias of token 0: saw nan"),
        ({"jump_forward": "fast"}, "jump_forward: saw 'fast', expected False, True, 'canonical' or"),
        ({"jump_forward": None}, "jump_forward: saw None"),
        ({"jump_forward": 1}, "jump_forward: saw 1"),
        ({"jump_forward": []}, r"jump_forward: saw \[\]"),
    ],
)
def test_settings_out_of_range_are_refused_by_name(settings, said):
    for use in (Settings, lambda **given: gv.decode(TOY, "a", **given)):
        with pytest.raises(gv.SettingError, match=said):
            use(**settings)


def test_numbers_of_numpy_become_plain_ones():
    made = Settings(
        np.float32(0.5), np.int64(3), np.float64(0.5), np.uint8(4), np.int32(9), {np.int64(1): np.float32(2)}
    )
    assert made == Settings(0.5, 3, 0.5, 4, 9, {1: 2.0})
    kinds = {type(value) for value in (made.temperature, made.top_k, made.top_p, made.seed, *made.bias)}
    assert kinds == {int, float}


def test_a_hostile_value_is_quoted_in_part_and_escaped():
    with pytest.raises(gv.SettingError) as error:
        Settings(temperature="\x1b\ud800" * 10_000)
    assert len(str(error.value)) < 200
    assert str(error.value).isprintable()
