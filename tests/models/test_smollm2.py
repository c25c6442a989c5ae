"""Claims about SmolLM2, a model that nobody here trained; they are skipped where it is not on this machine."""

import json

import pytest

import guidedviz as gv
from guidedviz.models import registry

KEPT = registry.kept_folder(registry.SMOLLM2)
pytestmark = pytest.mark.skipif(not KEPT.is_dir(), reason=f"for the real model: {registry.GET}")
PERSON = {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}}
QUESTION = "Ada Lovelace is 36 years old. Write a JSON object with name and age."


@pytest.fixture(scope="module")
def smollm2():
    return gv.load_model("smollm2")


def test_it_runs_on_numpy_without_torch(smollm2):
    assert repr(smollm2) == "smollm2 · NumPy · cpu: 134.5 million weights, 49,152 tokens"
    assert smollm2.vocabulary.display(2) == "<|im_end|>"


def test_asked_in_its_form_it_writes_json_and_with_a_mask_json_that_is_valid(smollm2):
    prompt = smollm2.chat(QUESTION)
    free = gv.record(smollm2, prompt, temperature=0, max_tokens=40)
    assert (free.text[0], free.steps[-1].end) == ("{", "eos")
    machine = gv.json_schema(PERSON, whitespace="any")
    guided = gv.record(smollm2, prompt, gv.guide(machine, smollm2.vocabulary), temperature=0, max_tokens=60)
    assert json.loads(guided.text)["name"] == "Ada Lovelace"


@pytest.mark.parametrize(("engine", "machine"), [("index", gv.json_schema(PERSON)), ("split", gv.json())])
def test_index_split_and_trie_give_the_masks_of_the_bytes(smollm2, engine, machine):
    words = smollm2.vocabulary
    guides = [gv.guide(machine, words, name) for name in (engine, "trie")]
    states = [guide.initial for guide in guides]
    for token in smollm2.encode('{"name": "Ada", "age": 36}'):
        masks = [guide.mask(state) for guide, state in zip(guides, states, strict=True)]
        assert (masks[0] == masks[1]).all()
        for other in range(0, len(words), 499):
            assert masks[0][other] == guides[1].explain(states[1], other).legal
        states = [guide.advance(state, token) for guide, state in zip(guides, states, strict=True)]
    assert all(guide.is_accepting(state) for guide, state in zip(guides, states, strict=True))
