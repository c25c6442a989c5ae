"""The stage without a page: what a notebook gets, and what the page would be told."""

import json
import threading
import weakref
from dataclasses import replace

import pytest

import guidedviz as gv
from guidedviz.widgets import display
from guidedviz.widgets.stage import Stage
from tests.widgets.toy import Page, settled


def guided(toy, **settings) -> Stage:
    model = toy.toy_model()
    return gv.stage(model, "say ", toy.WordsGuide(model.vocabulary), seed=3, **settings)


@pytest.mark.usefixtures("headless")
def test_headless_runs_to_the_end_and_shows_a_picture_only(toy):
    bundle = guided(toy)._repr_mimebundle_()
    assert sorted(bundle) == ["text/html", "text/plain"]
    assert bundle["text/plain"].endswith("(eos)")
    assert bundle["text/html"].startswith('<img alt="TOY: toy on cpu, 30 tokens.')
    assert "data:image/svg+xml;base64," in bundle["text/html"]
    assert bundle == guided(toy)._repr_mimebundle_(), "the same every time, so that notebooks can be compared"
    assert len(guided(toy, steps=4).trace.steps) == 4


def test_only_what_is_new_is_told(toy):
    stage = guided(toy)
    data, *_ = stage._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert data["text/html"].startswith("<img ")
    assert data["text/plain"] == 'Stage: toy, 0 steps, ""'
    page = Page(stage)
    stage.take(3)
    stage.take()
    assert page.news["from"] == 3
    assert len(page.news["add"]) == 1
    stage.go(2)
    assert page.news["add"] == []
    assert page.news["cursor"] == 2
    assert len(json.dumps(page.told[-2])) < 2500


class Gate:
    """A model whose passes wait while the gate is shut."""

    def __init__(self, toy) -> None:
        self.open = threading.Event()
        self.passes = 0
        self.open.set()
        self.model = gv.ToyModel(toy.PIECES, lambda tokens: self.rule(toy, tokens), eos={0})

    def rule(self, toy, tokens):
        self.passes += 1
        assert self.open.wait(10)
        return toy.rule(tokens, end=False)


async def test_it_plays_and_pauses_within_one_step(toy, until):
    stage = gv.stage(Gate(toy).model, "say ")
    page = Page(stage)
    stage.speed = 60
    stage.play()
    await until(lambda: stage.player.cursor >= 3)
    stage.pause()
    cursor = stage.player.cursor
    await settled()
    assert stage.player.cursor <= cursor + 1
    assert not page.news["playing"]


async def test_buttons_answer_while_a_step_is_under_way(toy, until):
    gate = Gate(toy)
    stage = gv.stage(gate.model, "say ", steps=2)
    gate.open.clear()
    page = Page(stage)
    await until(lambda: gate.passes == 3)
    stage.display.hear({"do": "step"})
    stage.display.hear({"do": "go", "cursor": 1, "turn": 5})
    news = page.news
    assert (news["cursor"], news["turn"]) == (1, 5)
    gate.open.set()
    await settled()
    assert stage.player.cursor == 1, "a step that comes too late does not count"


async def test_many_presses_on_a_slow_model_do_not_pile_up(toy, until):
    gate = Gate(toy)
    stage = gv.stage(gate.model, "say ")
    gate.open.clear()
    for _ in range(20):
        stage.display.hear({"do": "step"})
    await until(lambda: gate.passes == 1)
    gate.open.set()
    await settled()
    assert stage.player.cursor == 1


async def test_the_next_distribution_is_told_before_its_token_is_drawn(toy, until):
    stage = guided(toy)
    page = Page(stage)
    await settled()
    assert page.tokens == []
    assert stage.trace.steps == ()
    first = page.news["next"]
    assert [row[0] for row in first["rows"]]
    stage.display.hear({"do": "step"})
    await settled()
    assert page.steps[0]["rows"] == first["rows"]
    assert page.news["next"]["rows"] != first["rows"]
    stage.change(seed=99)
    await settled()
    assert page.tokens == [step.token for step in stage.player.steps], "nothing was drawn again"


async def test_choosing_while_it_plays_takes_the_token_that_was_pressed(toy, until):
    stage = guided(toy)
    page = Page(stage)
    stage.speed = 30
    stage.play()
    await until(lambda: stage.player.cursor >= 2)
    other = next(r[0] for r in page.steps[0]["rows"] if r[4] and r[0] != page.tokens[0])
    stage.display.hear({"do": "choose", "token": other, "cursor": 0})
    await settled()
    assert page.tokens == [other]
    assert not stage.playing


async def test_of_two_presses_the_second_is_not_lost(toy):
    stage = guided(toy, steps=1)
    page = Page(stage)
    first, *others = (r[0] for r in page.steps[0]["rows"] if r[4] and r[0] != page.tokens[0])
    for token in (first, others[0] if others else first):
        stage.display.hear({"do": "choose", "token": token, "cursor": 0})
    await settled()
    assert page.tokens == [token]


async def test_an_error_is_told_and_the_stage_lives(toy, until):
    def rule(tokens):
        if len(tokens) == 4:
            raise gv.ModelError("toy", seen="out of memory", hint="a smaller model")
        return toy.rule(tokens, end=False)

    model = gv.ToyModel(toy.PIECES, rule, eos={0})
    stage = gv.stage(model, "say ")
    page = Page(stage)
    stage.play(hurry=True)
    await until(lambda: page.news["note"])
    assert "out of memory; try: a smaller model" in page.news["note"]
    assert not stage.playing
    stage.display.hear({"do": "go", "cursor": 1, "turn": 1})
    assert page.news["note"] == ""


def test_a_second_run_of_its_cell_closes_a_stage_and_frees_the_model(toy, monkeypatch, collect):
    def run(number, cell="a"):
        monkeypatch.setattr(display, "this_cell", lambda: ((cell, number), set()))
        model = toy.toy_model()
        return weakref.ref(model), gv.stage(model, "say ", toy.WordsGuide(model.vocabulary), steps=2)

    first, stage = run("1")
    again, twin = run("1")
    elsewhere, _kept = run("1", cell="b")
    assert None not in (first(), again()), "two stages of one run live side by side"
    run("2")
    collect()
    assert first() is again() is None
    assert elsewhere() is not None
    assert len(stage.trace.steps) == len(twin.trace.steps) == 2, "the steps stay as a picture"
    assert sorted(stage._repr_mimebundle_()) == ["text/html", "text/plain"]


@pytest.mark.parametrize(("name", "given"), [("edit", ["[a-z]*"]), ("restart", ["say"]), ("looked_at", [])])
def test_a_closed_stage_lets_go_of_its_model(toy, collect, name, given):
    model = toy.toy_model()
    stage = gv.stage(model, "say ", seed=3, steps=2, edit="[a-z ]*")
    getattr(stage, name)(*given)
    held = weakref.ref(model)
    del model
    stage.close()
    collect()
    assert held() is None
    stage.display.hear({"do": "edit", "kind": "regex", "text": "a"})


def test_a_live_stage_opens_at_the_step_that_the_text_above_it_speaks_of(toy):
    model = toy.toy_model()
    stage = gv.stage(model, "say ", show=2, max_tokens=5)
    trace = gv.record(model, "say ", max_tokens=5)
    assert (stage.player.cursor, len(stage.player.taken)) == (2, 2)
    assert trace.text.startswith(stage.trace.text)
    assert gv.stage(model, "say ", show=1, steps=3).player.cursor == 1
    assert gv.stage(model, "say ", show=99, max_tokens=2).player.cursor == 2
    assert gv.stage(trace, show=3).player.cursor == 3


def test_an_illegal_token_is_explained_byte_by_byte_also_at_the_end(toy):
    for steps in (0, 40):
        stage = guided(toy, steps=steps)
        page = Page(stage)
        row = next(row for row in page.shown["rows"] if not row[4])
        stage.display.hear({"do": "choose", "token": row[0], "cursor": len(page.tokens)})
        why = page.news["why"]
        assert (why["label"], why["rows"][-1][3]) == (row[1], True)
        assert page.news["add"] == [], "nothing was put in"


def test_a_recording_without_its_guide_says_that_a_token_was_forbidden(toy):
    model = toy.toy_model()
    trace = gv.record(model, "say ", toy.WordsGuide(model.vocabulary), max_tokens=4)
    stage = gv.stage(replace(trace, guide=None), steps=4)
    token = next(c.token for c in trace.steps[0].candidates if not c.legal)
    stage.display.hear({"do": "choose", "token": token, "cursor": 0})
    assert stage.display.news(True)["why"]["reason"] == "It was forbidden here when the run was recorded."
