"""Settings are checked where they enter, and the message names the parameter."""

import numpy as np
import pytest

import guidedviz as gv
from guidedviz.decoding.sampling import Settings
from tests.common import constant_model

TOY = constant_model([b"a", b"b"], [0.0, 1.0])
NUMBERS = ["temperature", "top_k", "top_p", "seed", "max_tokens", "repetition_penalty"]
NEVER = [None, [], "0.5", "\x1b\ud800" * 10_000, object(), float("nan"), float("inf"), 10**400, -1, True, np.zeros(2)]
WRONG = [
    *(({name: wrong}, f"^{name}: saw .*, expected a (whole )?number") for name in NUMBERS for wrong in NEVER),
    ({"temperature": 100.1}, "temperature: saw 100.1, expected a number from 0 to 100"),
    ({"top_k": 1.5}, "top_k: saw 1.5"),
    ({"top_p": 0}, "top_p: saw 0, expected a number from 1e-09 to 1"),
    ({"repetition_penalty": 0}, "repetition_penalty: saw 0, expected a number from 0.01 to 100"),
    ({"max_tokens": 0}, "max_tokens: saw 0, expected a whole number from 1"),
    ({"seed": 2**128}, "seed: saw 3402823.*, expected a whole number from 0"),
    ({"bias": [1, 2]}, r"bias: saw \[1, 2\], expected a mapping from token ids to numbers"),
    ({"bias": {"a": 1}}, "token id in logit bias: saw 'a'"),
    ({"bias": {True: 1}}, "token id in logit bias: saw True"),
    ({"bias": {0: "1"}}, "logit bias of token 0: saw '1', expected a number from -100 to 100"),
    ({"bias": {0: float("nan")}}, "logit bias of token 0: saw nan"),
    *(({"jump_forward": wrong}, "jump_forward: saw .*, expected False, True, 'can") for wrong in ("fast", None, 1, [])),
]


@pytest.mark.parametrize(("settings", "said"), WRONG)
def test_settings_out_of_range_are_refused_by_name(settings, said):
    for use in (Settings, lambda **given: gv.decode(TOY, "a", **given)):
        with pytest.raises(gv.SettingError, match=said) as error:
            use(**settings)
        assert len(str(error.value)) < 250
        assert str(error.value).isprintable()


def test_numbers_of_numpy_become_plain_ones():
    made = Settings(
        np.float32(0.5), np.int64(3), np.float64(0.5), np.uint8(4), np.int32(9), {np.int64(1): np.float32(2)}
    )
    assert made == Settings(0.5, 3, 0.5, 4, 9, {1: 2.0})
    numbers = (made.temperature, made.top_k, made.top_p, made.seed, *made.bias)
    assert set(map(type, numbers)) == {int, float}
