"""What lab 10 says in prose is what its outputs show; what none of them shows is measured here."""

import json
from random import Random

import pytest

import guidedviz as gv
from guidedviz.files import shipped
from guidedviz.machines.machine import next_bytes
from tests.labs.solved import read_solved

LAB = read_solved("10_jump_forward")
output_of = LAB.output_of
WAYS, RAW, BATCH = "Which of the three ways saves", "The grammar forces the same", "The record jumps and is done"


@pytest.mark.parametrize(
    ("said", "words", "shown"),
    [
        ("A key is a chain of states", "has 50 states", "45 of 50 states have one way out"),
        ("Nine states remain", "gv.folded(person)", "machine: 50 states, 41 of them folded"),
        ("three states where branches merge", "gv.folded(person)", "fals (3 states inside) → q47 · tru (2 states inside)"),
        ("`rue` is forced", "mark_forced(person", "---- ------------   ----------- ----\n37 of 42"),
        ("has a dash below it", "mark_forced(person", "11 of 24 bytes are forced"),
        ("None, although 19 of its 26", "has 12 tokens", '{" 2 · name 4 · ": 2 · ␣" 121 · Ada 123,224'),
        ("the spelling that the model expects", "gv.views.draw_spellings", '{" event ":      >0.999  0.00 nats'),
        ("canonical for the run alone", "gv.views.draw_spellings", '{" event "       1 in 10⁹  19.81 nats  canonical, longest'),
        ("Minimal saves one pass", WAYS, "minimal   14 passes"),
        ("Canonical and longest save five each", WAYS, "canonical 10 passes,  7 tokens prefilled"),
        ("7 tokens prefilled instead of 4", WAYS, "longest   10 passes,  4 tokens prefilled"),
        ("canonical takes four tokens back", WAYS, 'before: [" [li] [r] [pi] [",]\nafter: [" {lir} {pi} {",} {␣"}'),
        ("A laptop gains most, a full server least", "Does the curve rise", "B = 1: 8.2x, B = 32: 2.0x, B = 512: 1.1x"),
        ("So the stories wait a little", BATCH, "story 3: 10 passes, 10 tokens, done after 50 ms"),
        ("So the stories wait a little", BATCH, "story 3: 10 passes, 10 tokens, done after 51.75 ms"),
        ("Here one text is a record", "jumping = ", "19 tokens; read per pass: [5, 6, 1, 1, 4]"),
        ("With `raw` the event is called `141, `", RAW, '{"event": "141, ", "seats": 141}'),
        ("canonical", RAW, 'canonical 10 passes,  4 tokens prefilled  {"event": "wedding", "seats": 141}'),
        ("and the model chooses", "The lamp is pink. The schema", 'prefilled  {"product": "lamp", "color": "pink"}'),
        ("`pin` is forced", "The lamp is pink. The schema", 'raw        1 passes, 11 tokens prefilled  {"product": "lamp", "color": "pin"}'),
    ],
)  # fmt: skip
def test_what_is_said_is_what_is_shown(said, words, shown):
    assert said in LAB.prose
    assert shown in output_of(words)


def test_in_the_record_on_llama_3_nineteen_bytes_are_forced():
    machine = gv.regex(r'\{"name": "[^"]*", "age": (0|[1-9][0-9]*)\}')
    state, forced = machine.initial, 0
    for byte in b'{"name": "Ada", "age": 36}':
        forced += len(next_bytes(machine, state)) == 1
        state = machine.step(state, byte)
    assert forced == 19


def test_a_fifth_to_two_fifths_skipped_is_at_most_five_quarters_to_five_thirds():
    assert "At most 1.25 to 1.67 times" in LAB.prose
    assert [round(gv.decoding.Cost(1.0, 0.0).speedup(share), 2) for share in (0.2, 0.4)] == [1.25, 1.67]


def test_only_where_little_is_forced_a_recorded_point_lies_above_the_bound_and_no_more_than_passes_vary():
    runs = [run for run in gv.decoding.Payoff.load(shipped("traces/jump-cpu.json")).runs if run.rows == 1]
    above = [run for run in runs if run.speedup > 1 / (1 - run.fraction)]
    each = [ms for run in above for ms in (run.naive_ms / run.naive_passes, run.jump_ms / run.jump_passes)]
    assert above
    assert max(run.fraction for run in above) < 0.65
    assert max(run.speedup * (1 - run.fraction) for run in above) <= max(each) / min(each)


def test_the_plain_run_computes_the_masks_that_a_second_run_finds():
    clerk, guide = (
        gv.load_model("clerk"),
        gv.guide(gv.regex('"[a-z]{2,9} [a-z]{2,9}"'), gv.load_model("clerk").vocabulary),
    )
    first, second = (sum(s.mask_ms for s in gv.record(clerk, "JSON:\n", guide, temperature=0).steps) for _ in range(2))
    assert first > second


def test_the_slider_shows_what_was_recorded():
    record = json.loads(shipped("traces/jump-cpu.json").read_text(encoding="utf-8"))
    shown = output_of("gv.fraction_slider(clerk)")
    assert "RECORDED" in shown
    assert record["device"] in shown
    assert "measured" in shown


def test_both_letters_of_the_puzzle_begin_with_one_byte_and_nothing_is_forced():
    guide = gv.guide(gv.regex("é|è"), gv.load_model("clerk").vocabulary)
    assert "é".encode()[:1] == "è".encode()[:1]
    assert guide.forced(guide.initial) == b""


@pytest.mark.parametrize("seed", range(7000, 7006))
def test_on_tasks_of_its_own_kind_clerk_writes_the_same_text(seed):
    tasks = pytest.importorskip("tasks")  # assets/train
    clerk, dice = gv.load_model("clerk"), Random(seed)
    task = dice.choice([tasks.record, tasks.order, tasks.listing])(dice)
    guide = gv.guide(gv.regex(task.pattern), clerk.vocabulary)
    assert gv.compare_jump(clerk, task.prompt, guide).difference != "other text"
