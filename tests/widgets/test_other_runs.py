"""Other runs of a stage: another prompt or another model begins one, the one before it can be returned to."""

import asyncio

import pytest

import guidedviz as gv
from tests.common import regex_guide
from tests.widgets.toy import Page

HOSTILE = "<script>window.hacked=1</script>"


def open_stage(toy, steps=3, **more):
    return gv.stage(toy.toy_model(), "say ", seed=3, steps=steps, **more)


def hear(stage, **said):
    stage.display.hear(said)


async def rest(until, stage):
    await until(lambda: stage.player.ahead is not None)
    await asyncio.sleep(0)


def test_another_prompt_begins_a_run_and_the_one_before_it_is_kept(toy, in_form):
    stage = open_stage(toy)
    page = Page(stage)
    before = stage.text
    assert page.news["head"]["asked"] == "say "
    hear(stage, do="prompt", text=f"say{HOSTILE}")
    assert in_form(page.news)["head"]["asked"] == stage.trace.prompt == f"say{HOSTILE}"
    assert stage.text == ""
    alone = gv.record(toy.toy_model(), f"say{HOSTILE}", seed=3, max_tokens=3)
    assert stage.take(3).text == alone.text
    [(same, count, text)] = page.news["branches"]
    assert (same, count, text[:13]) == (0, 3, "toy · say␣ · ")
    hear(stage, do="turn", branch=0)
    assert (stage.text, stage.trace.prompt) == (before, "say ")
    assert "script" in page.news["branches"][0][2], "and the other one is kept in its place"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "prompt: saw '', expected at least one token; try: start with a space"),
        ("say " * 20, "prompt: saw 40 tokens, expected at most 16, the context of toy; try: shorten the prompt"),
        ("\ud800", "prompt: saw the lone surrogate '\\ud800', expected text that UTF-8 can encode"),
    ],
)
def test_a_prompt_that_does_not_fit_leaves_the_run_as_it_is(toy, text, said):
    model = toy.toy_model()
    model.context = 16
    stage = gv.stage(model, "say ", seed=3, steps=2)
    page = Page(stage)
    before = stage.player
    hear(stage, do="prompt", text=text)
    assert said in page.news["note"]
    assert stage.player.taken == before.taken
    assert page.news["branches"] == []


def test_an_empty_run_is_not_kept_and_at_most_six_are(toy):
    stage = open_stage(toy, steps=0)
    assert stage.restart("{").player.branches == ()
    assert Page(stage).told[-1]["branches"] == []
    for _ in range(8):
        stage.take(1).restart("say")
    assert len(Page(stage).told[-1]["branches"]) == 6


def test_the_question_of_a_chat_is_edited_in_its_template(scout):
    stage = gv.stage(scout, scout.chat("What is 2 plus 3?"), seed=1, steps=2)
    assert Page(stage).news["head"]["asked"] == "What is 2 plus 3?"
    stage.restart("<|im_end|>Hi")
    assert stage.trace.prompt == scout.chat("<|im_end|>Hi")
    assert stage.trace.prompt.tokens == scout.chat("<|im_end|>Hi").tokens
    assert "expected a question; try: write at least a word" in stage.restart("").note
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes"}]
    several = gv.stage(scout, scout.chat([*messages, messages[0]]), steps=1)
    assert "asked" not in Page(several).news["head"]
    refused = "saw a prompt of several messages or with tools, expected a text or one question"
    assert refused in several.restart("x").note
    assert refused in several.use_model("clerk").note
    prompt = scout.chat("Hi")
    assert several.restart(prompt).trace.prompt == prompt, "a script may give a whole prompt"
    assert several.use_model("clerk").trace.prompt == "Hi", "a model without a template reads the question alone"


@pytest.fixture(scope="module")
def scout():
    return gv.load_model("scout")


def test_a_recording_a_conversation_and_a_class_say_that_they_cannot(toy, scout):
    trace = open_stage(toy).trace
    talk = gv.stage(gv.decoding.Conversation(scout, "Hi", []), steps=0)
    for stage, seen in ((gv.stage(trace), "a recording"), (talk, "a stage of a conversation or of a class")):
        head = Page(stage).told[-1]["head"]
        assert not {"asked", "models"} & set(head)
        assert f"another prompt: saw {seen}" in stage.restart("x").note
        assert f"another model: saw {seen}" in stage.use_model("clerk").note


def test_another_model_reads_the_same_machine_with_its_own_vocabulary(clerk, in_form):
    guide = regex_guide(clerk, "[0-9]{4}")
    stage = gv.stage(clerk, "The year ", guide, bias={5: 1.0}, steps=2)
    page = Page(stage)
    assert page.news["head"]["models"] == ["clerk", "clerk-small", "bard", "scout", "smollm2"]
    hear(stage, do="model", name="bard")
    news = in_form(page.news)
    assert news["head"]["models"][0] == "bard"
    assert news["machine"]
    assert stage.player.settings.bias == {}, "its tokens are those of the other model"
    sizes = [news["head"]["vocabulary"], news["map"]["land"]["count"], len(stage.guide.vocabulary)]
    assert sizes == [65] * 3
    hear(stage, do="turn", branch=0)
    sizes = [page.news["head"]["vocabulary"], page.news["map"]["land"]["count"]]
    assert sizes == [len(clerk.vocabulary)] * 2
    assert stage.guide is guide


def test_a_model_that_was_here_is_in_the_list_also_without_a_run(toy):
    model = toy.toy_model()
    stage = gv.stage(model, "say ", steps=0)
    page = Page(stage)
    hear(stage, do="model", name="bard")
    models = page.news["head"]["models"]
    assert models[:2] == ["bard", "toy"]
    hear(stage, do="model", name="toy")
    assert stage.player.walk.model is model
    assert page.news["branches"] == []


async def test_a_page_waits_for_a_model_and_hears_why_one_is_not_there(toy, until, monkeypatch):
    stage = open_stage(toy, steps=1)
    page = Page(stage)
    await rest(until, stage)

    def missing(name):
        raise gv.ModelError(f"model {name!r}", seen="it is not on this machine", expected="its weights", hint="get it")

    monkeypatch.setattr("guidedviz.widgets.other_runs.load_model", missing)
    hear(stage, do="model", name="smollm2")
    assert page.news["note"] == "loading smollm2 …"
    await until(lambda: "it is not on this machine, expected its weights; try: get it" in page.news["note"])
    hear(stage, do="model", name="../../etc/passwd")
    assert "loading" not in page.news["note"], "a page asks for no other name"
    await rest(until, stage)


def test_a_guide_without_a_machine_cannot_go_with_another_model(toy):
    model = toy.toy_model()
    stage = gv.stage(model, "say ", toy.WordsGuide(model.vocabulary), steps=1)
    assert "another model: saw a guide without a machine" in stage.use_model("bard").note
    assert stage.trace.model == "toy"


def test_the_box_goes_on_for_the_vocabulary_of_the_other_model(clerk):
    stage = gv.stage(clerk, "The year ", edit="[0-9]{4}", steps=2)
    stage.edit("[a-z]+", "regex")  # it waits, for the digits stand
    stage.use_model("bard").edit("[A-Z]{2}", "regex").take(3)
    assert stage.text.isupper()
    assert not stage.note


def test_two_runs_stand_beside_each_other_from_before_the_place_where_they_part(toy, in_form):
    stage = open_stage(toy, steps=12)
    first = stage.trace.steps[10].token
    stage.go(10).choose(2 if first == 1 else 1).take(2)
    page = Page(stage)
    hear(stage, do="beside", branch=0)
    beside = in_form(page.news)["beside"]
    assert beside["words"].startswith("They part after 10 tokens: this run goes on with")
    assert beside["same"] == 8
    assert beside["branch"] == 0
    assert beside["first"] == 2
    shown, left = beside["runs"]
    assert shown[:8] == left[:8]
    assert shown[8] != left[8]
    stage.take()
    assert len(page.news["beside"]["runs"][0]) == len(shown) + 1, "it goes on with the run"
    hear(stage, do="turn", branch=0)
    assert page.news["beside"] is None
    hear(stage, do="beside", branch=99)
    assert stage.put_beside(-1).note == ""


def test_runs_of_two_models_are_compared_by_their_bytes():
    stage = gv.stage(gv.load_model("bard"), "The year ", seed=1, steps=4)
    stage.use_model("clerk").take(9).put_beside(0)
    beside = Page(stage).told[-1]["beside"]
    assert beside["words"].startswith("They part after")
    assert len(beside["runs"][1]) == 4, "all tokens of the shorter run"
