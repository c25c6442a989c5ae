"""A text that another program wrote is read as a run, up to the byte that the constraint refuses."""

import pytest

import guidedviz as gv
from guidedviz.views.step_words import pack_step, shown_candidates
from tests.common import PERSON, constant_model, regex_guide

ADA = "Ada is 36.\nJSON with name, age:\n"


@pytest.fixture(scope="module")
def person(clerk):
    return gv.guide(gv.json_schema(PERSON), clerk.vocabulary)


def test_a_text_of_the_model_itself_gives_the_steps_of_its_run(clerk, person):
    run = gv.record(clerk, ADA, person, temperature=0)
    seen = gv.inspect_text(clerk, ADA, run.text, person)
    assert seen.text == run.text
    assert seen.tokens == run.tokens
    assert seen.refusal is None
    for mine, its in zip(seen.steps, run.steps, strict=True):
        assert mine.how == "given"
        assert mine.end == its.end
        assert mine.state == its.state
        assert mine.stack == its.stack
        assert mine.legal == its.legal
        assert (mine.mass, mine.raw) == pytest.approx((its.mass, its.raw), abs=1e-5)
    assert gv.diagnose(seen).names == ()


@pytest.mark.parametrize(
    ("text", "end", "byte", "path", "reason"),
    [
        ('{"name": "Ada", "age": "36"}', "refused", 23, "$.age", 'after `"age":␣`: `"` cannot come, expected - 0-9'),
        ('{"nmae": 3}', "refused", 3, "$", 'after `{"n`: `m` cannot come, expected a'),
        ("Sure! {}", "refused", 0, "", "`S` cannot come, expected {"),
        ('{"name": "Ada", "age": 36} ok', "refused", 26, "$", "expected the end"),
        ('{"name": "Zoé 🎵", "age": x', "refused", 29, "$.age", "`x` cannot come"),
        ('{"name": "Ada"', "cut", 14, "$", "before it is complete"),
        ("", "cut", 0, "", "before it is complete"),
    ],
)
def test_the_last_step_says_where_and_why_a_text_is_refused(clerk, person, text, end, byte, path, reason):
    seen = gv.inspect_text(clerk, ADA, text, person)
    refusal = seen.refusal
    assert seen.steps[-1].end == end
    assert refusal.byte == byte
    assert refusal.path == path
    assert reason in refusal.reason
    assert text.encode().startswith(seen.output)
    assert refusal.words in pack_step(seen.steps[-1])["words"]
    assert gv.diagnose(seen).names[0] == {"refused": "refused text", "cut": "cut in the middle"}[end]


@pytest.mark.parametrize("text", ["item 1, red;", "order 12345;", "orders 1", "item 12, red, 3;", "it", "item 12,, ;"])
def test_the_first_refused_byte_is_the_first_that_the_machine_refuses(clerk, text):
    """The tokens decide nothing: the machine alone, byte by byte, stops at the same place."""
    machine = gv.regex("(item|order) [0-9]{2,4}(, [a-z]+)*;")
    seen = gv.inspect_text(clerk, ADA, text, gv.guide(machine, clerk.vocabulary))
    read = [end for end in range(len(text) + 1) if machine.accepts_prefix(text[:end].encode())]
    assert seen.refusal.byte == read[-1]


def test_what_the_model_would_have_put_there_is_shown_beside_the_refused_token(clerk, person):
    seen = gv.inspect_text(clerk, ADA, '{"name": "Ada", "age": "36"}', person)
    last = seen.steps[-1]
    shown = {candidate.token: candidate for candidate in shown_candidates(last)}
    assert not shown[last.refused.token].legal
    assert max(shown.values(), key=lambda candidate: candidate.drawn).piece == b" "
    assert last.refused.instead == "␣36}"
    assert 'the model writes "␣36}" here' in gv.diagnose(seen).findings[0].seen


def test_it_plays_on_the_stage_and_is_kept(clerk, person, tmp_path):
    seen = gv.inspect_text(clerk, ADA, '{"name": "Ada", "age": "36"}', person)
    stage = gv.stage(seen).take(99)
    assert stage.trace.steps == seen.steps
    assert stage.guide is person
    seen.save(tmp_path / "run.json")
    again = gv.Trace.load(tmp_path / "run.json")
    assert again.refusal == seen.refusal
    assert "$.age" in again.shown["add"][-1]["words"]
    again.page(tmp_path / "run.html", step=len(again.steps))


def test_long_texts_are_read_in_several_passes_with_the_same_result(clerk, monkeypatch):
    guide = regex_guide(clerk, "[a-z ,.A-Z]*")
    text = "The umbrella is red, the lamp is green. " * 2
    whole = gv.inspect_text(clerk, ADA, text, guide)
    monkeypatch.setattr("guidedviz.decoding.inspection.ROWS_AT_ONCE", 7)
    parts = gv.inspect_text(clerk, ADA, text, guide)
    assert whole.tokens == parts.tokens
    assert [step.mass for step in whole.steps] == pytest.approx([step.mass for step in parts.steps], abs=1e-4)


def test_a_text_beyond_the_context_says_so(bard):
    seen = gv.inspect_text(bard, "A", "a" * bard.context, regex_guide(bard, "a*"))
    assert seen.steps[-1].end == "context"
    assert len(seen.steps) == bard.context + 1


def test_special_tokens_are_given_as_the_parts_of_a_trace():
    toy = constant_model([b"a", b"b", b"<x>", b"</s>"], [0, 0, 0, 0], eos={3}, special={2})
    x = gv.special("<x>")
    guide = gv.guide(gv.tagged([(x, gv.regex("b*"), x)]), toy.vocabulary)
    seen = gv.inspect_text(toy, "a", ["a", "<x>", "bba"], guide)
    assert seen.parts == ("a", "<x>", "bb")
    assert seen.refusal.byte == 3
    assert seen.refusal.reason.endswith("<x>")
    parts = ("a", "<x>", "b", "<x>", "a")
    assert gv.inspect_text(toy, "a", parts, guide).parts == parts


def test_a_vocabulary_without_eos_ends_where_the_text_may_end():
    toy = constant_model([b"a", b"b"], [0, 0])
    for pattern, text, end in (("a*", "aa", "stop"), ("aa", "aa", "complete"), ("aaa", "aa", "cut")):
        seen = gv.inspect_text(toy, "b", text, regex_guide(toy, pattern))
        assert seen.steps[-1].end == end


@pytest.mark.parametrize("given", [None, 3, ["a", 3], "\ud800"])
def test_other_than_a_text_is_refused(clerk, person, given):
    with pytest.raises(gv.GuidedVizError, match="inspect_text, text"):
        gv.inspect_text(clerk, ADA, given, person)


def test_a_guide_over_another_vocabulary_is_refused(clerk):
    other = gv.guide(gv.regex("a"), gv.Vocabulary([b"a"]))
    with pytest.raises(gv.SettingError, match="the same vocabulary"):
        gv.inspect_text(clerk, ADA, "a", other)
    with pytest.raises(gv.SettingError, match="a guide"):
        gv.inspect_text(clerk, ADA, "a", None)
