"""Claims about a model's caches: what is read again, and that every order of reading gives the same logits."""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import guidedviz as gv
from tests.common import constant_model


@pytest.fixture(params=["numpy", "torch"])
def model(request, clerk, clerk_torch):
    """clerk on both backends, with no text read."""
    model = clerk if request.param == "numpy" else clerk_torch
    model.forget()
    return model


def read_on(model, start, ends):
    """The logits after a start and the tokens from 100 up to each end."""
    return [model.logits([*start, *range(100, end)]) for end in ends]


def test_back_then_forward_gives_bit_identical_logits(model):
    prompt = model.encode("Ada Lovelace is 36.\nJSON with name, age:\n")
    seen = read_on(model, prompt, range(100, 112))
    for start in (107, 103, 100, 101):
        again = read_on(model, prompt, range(start, 112))
        np.testing.assert_array_equal(again, seen[start - 100 :])


def count_passes(model, monkeypatch):
    """The numbers of tokens that went through the model, pass by pass."""
    lengths = []
    read = model.network.read

    def count(caches, texts, every=False):
        lengths.extend(map(len, texts))
        return read(caches, texts, every)

    # not setattr: it would leave a bound method behind, which `side_by_side` would copy
    monkeypatch.setitem(vars(model.network), "read", count)
    return lengths


def test_tokens_that_are_new_go_through_in_one_pass_and_a_prompt_in_two(model, monkeypatch):
    lengths = count_passes(model, monkeypatch)
    prompt = model.encode("Ada is 36.\nJSON with name, age:\n")
    model.forget()
    model.logits(prompt)
    assert lengths == [len(prompt) - 1, 1]
    model.logits([*prompt, 100])
    model.logits([*prompt, 100, 101, 102, 103])
    assert lengths[2:] == [1, 3]


@pytest.mark.quick("numpy")
def test_what_went_through_together_goes_through_together_again(model, monkeypatch):
    prompt = model.encode("Ada is 36.\nJSON with name, age:\n")
    model.forget()
    four_more = [*prompt, 100, 101, 102, 103]
    texts = [[*prompt, 100], four_more, [*four_more, 104]]
    first = [model.logits(text) for text in texts]
    lengths = count_passes(model, monkeypatch)
    for place in (1, 0, 1, 2):
        np.testing.assert_array_equal(model.logits(texts[place]), first[place])
    assert lengths == [3, 1, 3, 1]


def test_rows_read_copies_of_the_text_with_a_cache_of_their_own(model):
    tokens = model.encode("Ada is 36.\nJSON with name, age:\n")
    alone = model.logits(tokens)
    longer = model.logits([*tokens, 9])
    four = model.side_by_side(4)
    np.testing.assert_allclose(four.logits(tokens), alone, atol=1e-3)
    np.testing.assert_allclose(four.logits([*tokens, 9]), longer, atol=1e-3)
    np.testing.assert_array_equal(model.logits([*tokens, 9]), longer)


@pytest.mark.parametrize("rows", [0, -1, "4", 1.5])
def test_rows_that_are_none_are_refused(clerk, rows):
    with pytest.raises(gv.SettingError, match=r"rows: saw .*, expected a whole number from 1 up"):
        clerk.side_by_side(rows)


@pytest.mark.quick("numpy")
def test_a_model_may_be_asked_and_told_to_forget_from_two_threads(model):
    tokens = model.encode("Ada is 36.\nJSON with name, age:\n")
    ends = range(100, 104)
    expected = read_on(model, tokens, ends)
    with ThreadPoolExecutor() as pool:
        asking = pool.submit(lambda: [read_on(model, tokens, ends) for _ in range(4)])
        while not asking.done():
            model.forget()
            time.sleep(0.002)
    for found in asking.result():
        np.testing.assert_allclose(found, expected, atol=1e-3)


def test_a_character_bard_does_not_know_is_named(bard):
    with pytest.raises(gv.SettingError, match="'7'"):
        bard.encode("Act 7")


def test_too_many_tokens_and_none_are_clear_errors(bard):
    with pytest.raises(gv.SettingError, match="saw 1025 tokens, expected 1 to 1024"):
        bard.logits([0] * 1025)
    with pytest.raises(gv.SettingError, match="saw 0 tokens, expected 1 to 1024"):
        bard.logits([])


def test_running_out_of_memory_names_the_size_and_leaves_the_model_usable(model, monkeypatch):
    before = model.logits([1, 2, 3])

    def full(*_, **__):
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setitem(vars(model.network), "read", full)
        with pytest.raises(gv.ModelError, match=r"weights take \d+ MB.*clerk"):
            model.logits([1, 2, 3, 4])
    np.testing.assert_allclose(model.logits([1, 2, 3]), before, atol=1e-4)


@pytest.mark.quick("numpy")
def test_texts_read_in_turn_give_the_same_bits_as_one_after_the_other(model):
    """Each text keeps its own cache, also where both begin alike."""
    one = model.encode("Ada is 36.\nJSON with name, age:\n")
    other = model.encode("Yes or no:\n")
    for second in (other, one):
        model.forget()
        alone = read_on(model, one, range(100, 108))
        model.forget()
        for end, expected in enumerate(alone, 100):
            [logits] = read_on(model, one, [end])
            np.testing.assert_array_equal(logits, expected)
            model.logits([*second, *range(200, 100 + end)])


@pytest.mark.quick("numpy")
def test_two_threads_give_the_same_bits_as_one_after_the_other(model):
    starts = [model.encode(text) for text in ("Ada is 36.\nJSON with name, age:\n", "Yes or no:\n")]

    def read(start):
        return read_on(model, start, range(100, 110))

    model.forget()
    alone = [read(start) for start in starts]
    model.forget()
    with ThreadPoolExecutor(2) as pool:
        np.testing.assert_array_equal([*pool.map(read, starts)], alone)


def test_all_logits_are_the_rows_after_each_token_in_one_pass(model, monkeypatch):
    tokens = model.encode('Ada is 36.\nJSON with name, age:\n{"name": "Ada", "age": 36}')
    ends = range(11, len(tokens) + 1)
    rows = [model.logits(tokens[:end]) for end in ends]
    lengths = count_passes(model, monkeypatch)
    np.testing.assert_allclose(model.all_logits(tokens, 10), rows, atol=1e-3)
    assert lengths == [len(tokens) - 10]
    model.forget()
    whole = model.all_logits(tokens)
    np.testing.assert_allclose(whole, model.all_logits(tokens, 0), atol=1e-3)
    assert whole.shape == (len(tokens), len(model.vocabulary))


@pytest.mark.parametrize("start", [-1, 3, None, "0", True])
def test_all_logits_start_inside_the_text(model, start):
    with pytest.raises(gv.SettingError, match=r"start: saw .*, expected 0 to 2"):
        model.all_logits([1, 2, 3], start)


@pytest.mark.parametrize("tokens", [None, 3, "Ada", [1.5], [None], [[1]]])
def test_anything_but_token_ids_is_refused(model, tokens):
    for ask in (model.logits, model.all_logits):
        with pytest.raises(gv.SettingError, match=r"tokens: saw .*, expected a list of token ids"):
            ask(tokens)


@pytest.mark.parametrize("tokens", [[-1], [4096], [1, 2, 10**9]])
def test_an_id_outside_the_vocabulary_is_refused(clerk, tokens):
    with pytest.raises(gv.SettingError, match="expected ids from 0 to 4095"):
        clerk.logits(tokens)


@pytest.mark.parametrize("wrong", [None, 3, b"a", "a\ud800"])
def test_what_is_encoded_is_text(clerk, wrong):
    for model in (clerk, constant_model([b"a"], [0.0])):
        with pytest.raises(gv.SettingError, match=r"^text: saw .*, expected (a text|text that UTF-8 can encode)"):
            model.encode(wrong)
