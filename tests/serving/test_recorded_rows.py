"""Claims about the traces of a logits processor: they are what transformers did, row by row."""

import numpy as np
import pytest

import guidedviz as gv
from guidedviz.decoding.distribution import all_texts
from guidedviz.decoding.samplers import Task
from guidedviz.serving import recorded_rows
from tests.common import PERSON, bytes_of, regex_guide, with_end

PROMPTS = ("Ada Lovelace is 36.\nJSON with name, age:\n", "Bo is 7.\nJSON with name, age:\n")


@pytest.fixture(scope="module")
def guide(clerk):
    return gv.guide(gv.json_schema(PERSON), clerk.vocabulary)


def test_traces_of_a_greedy_batch_are_those_of_record(clerk, write_with_transformers, guide):
    processor = gv.LogitsProcessor(guide, record=True)
    output, _ = write_with_transformers(PROMPTS, processor)
    for trace, prompt in zip(processor.read(output), PROMPTS, strict=True):
        own = gv.record(clerk, prompt, guide, temperature=0, max_tokens=60)
        assert trace.prompt == prompt
        assert trace.text == own.text
        assert trace.tokens == own.tokens
        for seen, step in zip(trace.steps, own.steps, strict=True):
            assert seen.end == step.end
            assert seen.position == step.position
            assert seen.state == step.state
            assert seen.legal == step.legal
            assert seen.mass == pytest.approx(step.mass, abs=1e-4)
            assert seen.raw == pytest.approx(step.raw, abs=1e-4)
            assert seen.masked == pytest.approx(step.masked, abs=1e-4)
        assert gv.diagnose(trace).names == ()


def test_a_trace_plays_and_is_kept(write_with_transformers, guide, tmp_path):
    processor = gv.LogitsProcessor(guide, record=True)
    write_with_transformers(PROMPTS, processor)
    trace = processor.traces[1]
    assert gv.stage(trace).take(99).text == trace.text
    trace.save(tmp_path / "run.json")
    assert gv.Trace.load(tmp_path / "run.json").text == trace.text
    trace.page(tmp_path / "run.html")


def test_the_traces_of_several_samples_of_a_prompt_are_the_rows(clerk, write_with_transformers, guide):
    import torch

    torch.manual_seed(3)
    processor = gv.LogitsProcessor(guide, record=True)
    output, rows = write_with_transformers(PROMPTS, processor, do_sample=True, temperature=2.0, num_return_sequences=3)
    traces = processor.read(output)
    for trace, row in zip(traces, rows, strict=True):
        assert list(trace.tokens) == row[: len(trace.tokens)]
    first, second = PROMPTS
    prompts = [trace.prompt for trace in traces]
    assert prompts == [first] * 3 + [second] * 3
    assert {trace.steps[-1].end for trace in traces} == {"eos"}
    assert len({trace.text for trace in traces}) > 2


@pytest.mark.parametrize("whole", [False, True])
def test_beams_give_the_likeliest_legal_text_although_they_are_reordered(clerk, write_with_transformers, whole):
    narrow = regex_guide(clerk, "(ab|c)(d|ef?)")
    best = max(all_texts(Task(clerk, PROMPTS[1], narrow)), key=lambda text: text.free)
    processor = gv.LogitsProcessor(narrow, record=True)
    settings = {"num_beams": 8, "length_penalty": 0.0, "return_dict_in_generate": whole}
    output, _ = write_with_transformers(PROMPTS[1:], processor, **settings)
    [trace] = processor.read(output)
    assert trace.output == best.text
    assert trace.steps[-1].end == "eos"


def test_a_run_that_is_cut_says_so(clerk, write_with_transformers, guide):
    processor = gv.LogitsProcessor(guide, record=True)
    output, [row] = write_with_transformers(PROMPTS[:1], processor, most=8)
    [unread] = processor.traces
    last = unread.steps[-1]
    assert len(unread.tokens) == 7
    assert (last.end, last.how) == ("stop", "none")
    [trace] = processor.read(output)
    assert trace.output == bytes_of(clerk.vocabulary, row)
    assert len(trace.steps) == 8
    assert trace.steps[-1].end == "cut"
    assert gv.diagnose(trace).names == ("cut in the middle",)


def test_drafts_that_are_taken_back_leave_the_greedy_trace(clerk, write_with_transformers, guide):
    processor = gv.LogitsProcessor(guide, record=True)
    output, _ = write_with_transformers(PROMPTS[:1], processor, prompt_lookup_num_tokens=4)
    [trace] = processor.read(output)
    own = gv.record(clerk, PROMPTS[0], guide, temperature=0, max_tokens=60)
    assert trace.tokens == own.tokens


# --- without transformers: arrays in, arrays out ---

TOY = with_end([b"a", b"b", b"c"])


def recorder(pattern, vocabulary=TOY):
    return gv.LogitsProcessor(gv.guide(gv.regex(pattern), vocabulary), record=True)


def call(processor, *rows, logits=None):
    shape = (len(rows), len(processor.guide.vocabulary))
    scores = np.zeros(shape, np.float32)
    return processor(np.array(rows), scores if logits is None else logits)


def test_the_only_legal_token_needs_no_output():
    processor = recorder("ab")
    for row in ([2], [2, 0], [2, 0, 1]):
        call(processor, row)
    [trace] = processor.traces
    assert trace.text == "ab"
    assert trace.steps[-1].end == "eos"


def test_a_beam_that_ended_long_ago_and_was_in_no_later_call_has_its_end():
    processor = recorder("a*")
    for length in range(60):
        call(processor, [2] + [0] * length)
    [short] = processor.read([[2, 0, 0, 3]])
    assert short.text == "aa"
    assert short.steps[-1].end == "eos"


def test_a_dead_end_is_recorded_before_it_is_raised():
    endless = gv.Vocabulary([b"a", b"b", b"c", b"d"])
    processor = recorder("ax", endless)
    call(processor, [2])
    with pytest.raises(gv.EmptyMask):
        call(processor, [2, 0])
    [trace] = processor.traces
    assert trace.text == "a"
    assert trace.steps[-1].end == "dead_end"
    assert gv.diagnose(trace).names == ("empty mask",)


def test_a_new_run_replaces_the_traces_of_the_one_before():
    processor = recorder("a*")
    assert processor.traces == ()
    call(processor, [2], [2])
    call(processor, [2, 0], [2, 3])
    assert [trace.text for trace in processor.traces] == ["a", ""]
    call(processor, [1, 1, 1])
    assert [trace.prompt for trace in processor.traces] == ["bbb"]


def test_logits_that_are_not_finite_end_the_record_and_not_the_run():
    processor = recorder("a*")
    call(processor, [2])
    nan = np.full((1, 4), np.nan, np.float32)
    call(processor, [2, 0], logits=nan)
    call(processor, [2, 0, 0])
    [trace] = processor.traces
    assert trace.text == "a"
    assert trace.steps[-1].end == "stop"


def test_what_is_recorded_is_bounded(monkeypatch):
    monkeypatch.setattr(recorded_rows, "MOST_NODES", 5)
    processor = recorder("a*")
    for length in range(40):
        call(processor, [2] + [0] * length)
    [trace] = processor.traces
    assert 5 <= len(trace.tokens) <= 6
    assert trace.steps[-1].end == "stop"
    kept = processor._recorded
    assert len(kept._measured) <= recorded_rows.LEAST_MEASURED


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda p: gv.LogitsProcessor(p.guide).traces, "record=True"),
        (lambda p: p.read([[1, 0]]), "another prompt.*with the prompts"),
        (lambda p: p.read("text"), "saw 'text', expected token ids"),
    ],
)
def test_bad_requests_are_refused(wrong, said):
    processor = recorder("a*")
    call(processor, [2])
    with pytest.raises(gv.SettingError, match=said):
        wrong(processor)
