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


@pytest.mark.parametrize(("engine", "machine"), [("index", gv.json_schema(PERSON)), ("split", gv.json())])
def test_index_split_and_trie_give_the_masks_of_the_bytes(smollm2, engine, machine):
    words = smollm2.vocabulary
    guide = gv.guide(machine, words, engine)
    trie = gv.guide(machine, words, "trie")
    state = guide.initial
    same = trie.initial
    for token in smollm2.encode('{"name": "Ada", "age": 36}'):
        mask = guide.mask(state)
        assert (mask == trie.mask(same)).all()
        for other in range(0, len(words), 499):
            assert mask[other] == trie.explain(same, other).legal
        state = guide.advance(state, token)
        same = trie.advance(same, token)
    assert guide.is_accepting(state)
    assert trie.is_accepting(same)


DATE = gv.regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}( is a day in (March|Março|三月))?")


def walk(machine, state, piece):
    """The state after these bytes, None if there is none."""
    for byte in piece:
        state = None if state is None else machine.step(state, byte)
    return state


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
    state = machine.initial
    draw = Random(engine)
    guide = gv.guide(machine, words, engine)
    place = guide.initial
    for token in (*smollm2.encode(text), None):
        mask = guide.mask(place)
        some = draw.sample(range(len(words)), 400)
        legal = draw.sample(legal_tokens(guide, place), 1)
        for other in {*some, *legal} - words.special - words.eos:
            piece = words.pieces[other]
            expected = bool(piece) and walk(machine, state, piece) is not None
            assert mask[other] == expected
        assert not mask[sorted(words.special - words.eos)].any()
        ends = mask[sorted(words.eos)]
        assert ends.all() == machine.is_accepting(state)
        assert ends.any() == machine.is_accepting(state)
        if token is not None:
            place = guide.advance(place, token)
            state = walk(machine, state, words.pieces[token])
    assert guide.is_accepting(place)


def test_its_trie_has_every_token_once_where_its_bytes_lead(smollm2):
    words = smollm2.vocabulary
    trie = words.trie
    draw = Random(1)
    for token in draw.sample(words.text_ids, 300):
        node = int(trie.node_of[token])
        spelled = b""
        while node:
            spelled = bytes([trie.byte[node]]) + spelled
            node = int(trie.parent[node])
        assert spelled == words.pieces[token]


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
