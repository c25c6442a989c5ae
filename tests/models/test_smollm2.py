"""Claims about SmolLM2, a model that nobody here trained; they are skipped where it is not on this machine."""

import json
from random import Random

import pytest

import guidedviz as gv
from guidedviz.decoding.sampling import softmax
from guidedviz.files import shipped
from guidedviz.models.gguf import GET, SMOLLM2, kept_folder
from tests.common import bytes_of, legal_tokens

KEPT = kept_folder(SMOLLM2)
pytestmark = pytest.mark.skipif(not KEPT.is_dir(), reason=f"for the real model: {GET}")
PERSON = {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}}
QUESTION = "Ada Lovelace is 36 years old. Write a JSON object with name and age."


@pytest.fixture(scope="module")
def smollm2():
    return gv.load_model("smollm2")


def test_it_runs_on_numpy_without_torch(smollm2):
    assert repr(smollm2) == "smollm2 · NumPy · cpu: 134.5 million weights, 49,152 tokens"
    assert smollm2.vocabulary.display(2) == "<|im_end|>"


@pytest.mark.slow
def test_asked_in_its_form_it_writes_json_and_with_a_mask_json_that_is_valid(smollm2):
    prompt = smollm2.chat(QUESTION)
    free = gv.record(smollm2, prompt, temperature=0, max_tokens=40)
    assert free.text[0] == "{"
    assert free.steps[-1].end == "eos"
    machine = gv.json_schema(PERSON, whitespace="any")
    guide = gv.guide(machine, smollm2.vocabulary)
    guided = gv.record(smollm2, prompt, guide, temperature=0, max_tokens=60)
    assert json.loads(guided.text)["name"] == "Ada Lovelace"


@pytest.mark.parametrize(
    ("word", "told"), [("beautiful", [0.29, 0.1, 0.01, 0.01]), ("terrible", [0.32, 0.04, 0.02, 0.01])]
)
def test_the_first_step_of_an_answer_on_a_mood_is_the_one_that_lab_12_tells(smollm2, word, told):
    asked = f"What a {word} evening we had. Is the sentiment of this sentence positive, negative or neutral? "
    logits = smollm2.logits(smollm2.encode(smollm2.chat(asked + "Answer with one word.")))
    chances = softmax(logits)
    for first, chance in zip((b"The", b"Positive", b"Negative", b"Ne"), told, strict=True):
        place = smollm2.vocabulary.ids(first)[0]
        assert round(float(chances[place]), 2) == chance


DATE = gv.regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}( is a day in (March|Março|三月))?")


@pytest.mark.parametrize(
    ("machine", "engine", "text"),
    [
        (DATE, "index", "2026-11-25 is a day in Março"),
        (gv.json(), "split", '{"π ": [1.5e-3, {"a\\n": null}]}'),
        (gv.json(), "trie", '["]", -0.1, "\\u00e9"]'),
    ],
    ids=["index", "split", "trie"],
)
def test_masks_are_those_of_brute_force_on_samples_of_its_tokens(smollm2, machine, engine, text):
    words = smollm2.vocabulary
    draw = Random(engine)
    guide = gv.guide(machine, words, engine)
    place = guide.initial
    read = b""
    for token in (*smollm2.encode(text), None):
        mask = guide.mask(place)
        legal = draw.sample(legal_tokens(guide, place), 1)
        for other in {*draw.sample(range(len(words)), 300), *legal} - words.special - words.eos:
            piece = words.pieces[other]
            assert mask[other] == (bool(piece) and machine.accepts_prefix(read + piece))
        assert not mask[sorted(words.special - words.eos)].any()
        assert {*mask[sorted(words.eos)]} == {machine.accepts(read)}
        if token is not None:
            place = guide.advance(place, token)
            read += words.pieces[token]
    assert guide.is_accepting(place)


@pytest.mark.parametrize("text", ["naïve 東京 🙂\x00", "  \n\n\t x 2026", "<|im_end|>"])
def test_its_tokens_spell_a_text_again_and_none_of_them_is_special(smollm2, text):
    tokens = smollm2.encode(text)
    assert bytes_of(smollm2.vocabulary, tokens) == text.encode()
    assert not smollm2.vocabulary.special & set(tokens)


def test_the_right_orders_of_lab_06_take_36_to_65_tokens(smollm2):
    record = json.loads(shipped("traces/smollm2/orders.json").read_text(encoding="utf-8"))
    rights = [case["right"] for case in record["cases"]]
    counts = [len(smollm2.encode(json.dumps(right))) for right in rights]
    items = {len(right["items"]) for right in rights}
    assert (min(counts), max(counts)) == (36, 65)
    assert items == {1, 2, 3}
