"""What lab 10 says in prose is what its outputs show; what none of them shows is measured here."""

import json
from random import Random

import pytest

import guidedviz as gv
from guidedviz.files import shipped
from tests.labs.solved import read_solved

LAB = read_solved("10_jump_forward")
output_of = LAB.output_of
RAW = "The grammar forces the same"


@pytest.mark.parametrize(
    ("said", "words", "shown"),
    [
        ("Most of them: a key is a chain of states", "gv.sketches.count_ways(person)", "45 of 50 states have one way out"),
        ("there are further states", "gv.sketches.count_ways(named)", "11 of 25 states have one way out"),
        ("What is left are the decisions", "gv.folded(person)", "41 of them folded"),
        ("after the `t` all of `rue` is settled", "gv.folded(person)", "fals (3 states inside) → q47 · tru"),
        ("ten bytes; then there is a choice", "run = guide.forced", 'b\'{"name": "\''),
        ("A run ends before it", "at the start of `é|è`", "é|è b''\naé|aè b'a'"),
        ('Two: `{` and `{"`', "One text is possible for", "['{', '{\"']"),
        ("gives nearly all probability to it", "gv.views.draw_spellings(spelled)", "0.999  0.00 nats  canonical, longest"),
        ("saves next to nothing", "Which of the three saves least", "minimal   passes: 20"),
        ("The other two ask the model only where", "Which of the three saves least", "canonical passes:  9, prefilled: 11"),
        ("your formula, with a = 4 ms and c = 0.1 ms", "Move the second handle", "128 texts:   1.1x   1.2x   1.3x"),
        ("Canonical jumps give what plain decoding gives", RAW, 'canonical {"event": "wedding", "seats": 141}'),
        ("an event called `141, `", RAW, 'raw       {"event": "141, ", "seats": 141}'),
        ("has lost its last digit", RAW, 'raw       {"product": "vase", "price": 874.2, "sku": "C267"}'),
        ("at a price of 20 nats", "spellings(clerk, party", "19.81 nats  canonical, longest"),
        ("the blank has gone into `␣{\"`", '"JSON with name: "', "'␣{\"', 'name'"),
        ("the lamp is pin", "A lamp that is pink, and", 'raw       passes:  1  {"product": "lamp", "color": "pin"}'),
        ("the choice stays whole", "A lamp that is pink, and", 'canonical passes:  1  {"product": "lamp", "color": "pink"}'),
        ("jumps here all the same", "open_end = ", 'canonical passes: 3  {"name": "Ada Lovelace"}'),
        ("where `order` is put", "llama = gv.Vocabulary", 'raw      puts {" order\nlongest  puts {"'),
        ("nothing changes but the passes", "gv.compare_jump", "21 passes, now 9: same tokens"),
        ("In the last text it did not", "gv.compare_jump", "15 passes, now 10: same text, other tokens, by a spelling"),
    ],
)  # fmt: skip
def test_what_is_said_is_what_is_shown(said, words, shown):
    assert said in LAB.prose
    assert shown in output_of(words)


def test_a_taken_back_word_is_in_the_strip():
    assert '"["lirpi", "orange", "flag", "stove"]"' in output_of("gv.draw_strip(both.jumped)")


def test_the_slider_shows_what_was_recorded():
    record = json.loads(shipped("traces/jump-cpu.json").read_text(encoding="utf-8"))
    shown = output_of("gv.fraction_slider(clerk)")
    assert "RECORDED" in shown
    assert record["device"] in shown
    assert "measured" in shown


def test_order_id_is_one_token_of_llama_3_and_two_of_tekken():
    assert gv.Vocabulary.llama3().ids(b"orderId")
    assert not gv.Vocabulary.tekken().ids(b"orderId")


@pytest.mark.parametrize("seed", range(7000, 7012))
def test_on_tasks_of_its_own_kind_clerk_writes_the_same_text(seed):
    """A few of the 150 that the lab speaks of, drawn in the same way."""
    tasks = pytest.importorskip("tasks")  # assets/train
    clerk, dice = gv.load_model("clerk"), Random(seed)
    task = dice.choice([tasks.record, tasks.order, tasks.listing])(dice)
    guide = gv.guide(gv.regex(task.pattern), clerk.vocabulary)
    assert gv.compare_jump(clerk, task.prompt, guide).difference != "other text"
