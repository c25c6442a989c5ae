"""Claims about the logits processor in transformers: the texts of `gv.decode`, in batches, beams and drafts."""

from collections import Counter

import numpy as np
import pytest

import guidedviz as gv
from guidedviz.decoding.distribution import all_texts
from guidedviz.decoding.samplers import Task
from tests.common import PERSON, bytes_of, regex_guide, with_end
from tests.models.chat_folder import build_folder

PROMPTS = ("Ada Lovelace is 36.\nJSON with name, age:\n", "Bea is 9.\nYes or no:\n", "Bo is 7.\nJSON with name, age:\n")


@pytest.fixture
def generate(clerk, write_with_transformers):
    """The tokens after the prompts, without EOS and padding, one list per row."""

    def run(prompts, processor, *most, **settings):
        _, rows = write_with_transformers(prompts, processor, *most, **settings)
        return [_until_eos(row, clerk.vocabulary.eos) for row in rows]

    return run


def _until_eos(row, eos):
    ends = [at for at, token in enumerate(row) if token in eos]
    return row[: ends[0]] if ends else row


def write(model, tokens):
    return bytes_of(model.vocabulary, tokens).decode()


@pytest.fixture(scope="module")
def guide(clerk):
    return gv.guide(gv.json_schema(PERSON), clerk.vocabulary)


def greedy(clerk, prompt, guide):
    return gv.record(clerk, prompt, guide, temperature=0, max_tokens=60).text


def test_a_prompt_that_goes_on_from_the_text_before_begins_a_new_text(clerk, generate, guide):
    processor = gv.LogitsProcessor(guide)
    [row] = generate(PROMPTS[:1], processor)
    first = write(clerk, row)
    longer = f"{PROMPTS[0]}{first}\n{PROMPTS[2]}"
    [row] = generate([longer], processor)
    assert write(clerk, row) == greedy(clerk, longer, guide)


def test_beams_of_a_batch_stay_in_the_language(clerk, generate):
    processor = gv.LogitsProcessor(regex_guide(clerk, "yes|no"))
    rows = generate(PROMPTS[:2], processor, num_beams=4, num_return_sequences=2)
    texts = [write(clerk, row) for row in rows]
    assert sorted(texts[:2]) == ["no", "yes"]
    assert sorted(texts[2:]) == ["no", "yes"]


@pytest.mark.slow
def test_samples_have_the_distribution_of_the_masked_model(clerk, generate):
    import torch

    words = regex_guide(clerk, "yes|no|maybe|[a-c]")
    torch.manual_seed(0)
    sampling = {"do_sample": True, "temperature": 1.5, "top_k": 0, "top_p": 1.0, "num_return_sequences": 500}
    rows = generate(PROMPTS[1:2], gv.LogitsProcessor(words), 12, **sampling)
    drawn = Counter(write(clerk, row) for row in rows)
    exact = Counter()
    for text in all_texts(Task(clerk, PROMPTS[1], words, 1.5)):  # several spellings of a text
        exact[text.text.decode()] += text.masked
    assert set(drawn) <= set(exact)
    for text, share in exact.items():
        error = np.sqrt(share * (1 - share) / 500)
        assert abs(drawn[text] / 500 - share) < 4 * error + 1e-3


# --- without transformers: arrays in, arrays out ---

TOY = with_end([b"a", b"b", b"c"])
ENDLESS = gv.Vocabulary([b"a", b"b", b"c", b"d"])


def processor_of(pattern, vocabulary=TOY):
    return gv.LogitsProcessor(gv.guide(gv.regex(pattern), vocabulary))


def scores_after(processor, *rows, width=4):
    zeros = np.zeros((len(rows), width), np.float32)
    return processor(np.array(rows), zeros)


def say_legal(scores):
    legal = np.flatnonzero(np.isfinite(scores))
    return "".join("abc$"[token] for token in legal)


def legal(processor, *rows):
    return list(map(say_legal, scores_after(processor, *rows)))


def test_the_state_of_a_row_is_found_by_its_tokens_in_any_order_and_length():
    processor = processor_of("a(bc)*|b+")
    assert legal(processor, [2], [2]) == ["ab", "ab"]
    assert legal(processor, [2, 0], [2, 1]) == ["b$", "b$"]
    assert legal(processor, [2, 1, 1], [2, 0, 1]) == ["b$", "c"]  # reordered
    assert legal(processor, [2, 0, 1, 2], [2, 0, 1, 2]) == ["b$", "b$"]  # both from one row
    assert legal(processor, [2, 0, 1, 2, 3], [2, 0, 1, 2, 1]) == ["abc$", "c"]  # ended: left as it is
    assert legal(processor, [2, 0, 1, 2, 3, 0], [2, 0, 1, 2, 1, 0]) == ["abc$", "$"]  # an illegal token


def test_logits_beyond_the_vocabulary_are_illegal_and_fewer_are_refused():
    processor = processor_of("a")
    scores = scores_after(processor, [2], width=40)
    assert np.isfinite(scores).nonzero()[1].tolist() == [0]
    with pytest.raises(gv.VocabularyError, match="saw 3 logits per row, expected at least the 4"):
        scores_after(processor, [2], width=3)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: gv.LogitsProcessor("[0-9]+"), "saw str, expected a guide"),
        (lambda: processor_of("a")(None, np.zeros((1, 4))), "input_ids: saw None"),
        (lambda: processor_of("a")([[1]], None), "scores: saw None"),
        (lambda: legal(processor_of("", ENDLESS), [2]), "no legal token.*with an eos"),
    ],
)
def test_bad_input_is_refused(call, said):
    with pytest.raises(gv.GuidedVizError, match=said):
        call()


@pytest.fixture(scope="module")
def chat(tmp_path_factory):
    """A chat model of random weights, here and in transformers."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    folder = build_folder(tmp_path_factory.mktemp("chat") / "random")
    sizes = {"vocab_size": 4096, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2}
    torch.manual_seed(0)
    network = LlamaForCausalLM(LlamaConfig(**sizes, num_attention_heads=4, max_position_embeddings=256)).eval()
    for part in network.parameters():
        torch.nn.init.normal_(part, std=0.3)
    network.save_pretrained(folder)
    (folder / "generation_config.json").write_text('{"eos_token_id": [0, 4095]}')
    return gv.load_model(str(folder), "numpy"), network


def go_on(model, network, prompt, guide, **settings):
    """The new tokens of each row that generate writes after a prompt's tokens."""
    import torch

    ids = torch.tensor([prompt.tokens])
    ends = sorted(model.vocabulary.eos)
    settings = {"eos_token_id": ends, "pad_token_id": 0, "max_new_tokens": 40} | settings
    settings |= {"attention_mask": ids * 0 + 1, "logits_processor": [gv.LogitsProcessor(guide)]}
    rows = network.generate(ids, **settings)
    return [row[len(prompt.tokens) :].tolist() for row in rows]


def test_a_prompts_tokens_go_into_generate_and_give_the_text_of_decode(chat):
    model, network = chat
    assert model.vocabulary.eos == {0, 4094, 4095}
    for machine in (gv.json_schema(PERSON), gv.regex("[a-z ]{3,30}")):
        guide = gv.guide(machine, model.vocabulary)
        for question in ("Who?", [{"role": "user", "content": "A <|im_end|> name"}]):
            prompt = model.chat(question)
            ours = gv.record(model, prompt, guide, temperature=0, max_tokens=40)
            [row] = go_on(model, network, prompt, guide, do_sample=False)
            assert row == list(ours.tokens)


def test_special_tokens_stay_illegal_after_a_prompt_and_the_ends_are_legal_where_a_text_may_end(chat):
    model, network = chat
    special = model.vocabulary.special
    ends = model.vocabulary.eos
    anything = regex_guide(model, r"[\s\S]{4,}")
    prompt = model.chat("Go on.")
    rows = go_on(model, network, prompt, anything, do_sample=True, num_return_sequences=24, top_k=0)
    for row in rows:
        text = _until_eos(row, ends)
        assert not set(text) & special
        assert len(text) == 40 or len(bytes_of(model.vocabulary, text)) >= 4
    scores = scores_after(gv.LogitsProcessor(anything), [1, 2], width=4096)[0]
    assert np.isneginf(scores[sorted(special)]).all()
    processor = processor_of("a?", model.vocabulary)
    open_now = np.isfinite(scores_after(processor, [1, 2], width=4096)[0])
    assert {token for token in special | ends if open_now[token]} == ends
