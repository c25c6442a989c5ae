"""The stage without a page: what a notebook gets, and what the page would be told."""

from __future__ import annotations

import asyncio
import gc
import json
import weakref

import pytest

import guidedviz as gv
from guidedviz.widgets import cells
from guidedviz.widgets.pack import pack_step
from guidedviz.widgets.stage import Stage


def guided(toy, **settings) -> Stage:
    model = toy.toy_model()
    return gv.stage(model, "say ", toy.WordsGuide(model.vocabulary), seed=3, **settings)


class Page:
    """A page that paints everything at once and keeps what it was told."""

    def __init__(self, stage: Stage) -> None:
        self.steps, self.told = [], []
        stage._wire = self
        self.stage, self.saved = stage, {}
        self.tell()

    def tell(self, everything: bool = False) -> None:
        news = json.loads(json.dumps(self.stage._news(everything)))
        self.steps[news["from"] :] = news["add"]
        self.told.append(news)

    def close(self) -> None:
        self.stage = None

    @property
    def tokens(self) -> list[int]:
        return [step["token"] for step in self.steps]


async def until(check) -> None:
    for _ in range(500):
        if check():
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it never happened")


@pytest.mark.usefixtures("headless")
def test_headless_runs_to_the_end_and_shows_a_picture_only(toy):
    bundle = guided(toy)._repr_mimebundle_()
    assert sorted(bundle) == ["text/html", "text/plain"]
    assert bundle["text/plain"].endswith("(eos)")
    assert bundle["text/html"].startswith('<img alt="TOY: toy on cpu, 30 tokens.')
    assert "data:image/svg+xml;base64," in bundle["text/html"]
    assert bundle == guided(toy)._repr_mimebundle_(), "the same every time, so that nbval can compare"


@pytest.mark.usefixtures("headless")
def test_headless_takes_as_many_steps_as_asked(toy):
    assert len(guided(toy, steps=4).trace.steps) == 4
    assert guided(toy, steps=0).trace.steps == ()


def test_live_starts_at_the_prompt_and_its_saved_notebook_has_a_picture(toy):
    stage = guided(toy)
    data, *_ = stage._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert data["text/html"].startswith("<img ")
    assert data["text/plain"] == 'Stage: toy, 0 steps, ""'
    stage.close()


def test_only_what_is_new_is_told(toy):
    stage = guided(toy)
    page = Page(stage)
    stage.take(3)
    stage.take()
    assert page.told[-1]["from"] == 3
    assert len(page.told[-1]["add"]) == 1
    stage.back(2)
    assert page.told[-1]["add"] == []
    assert page.told[-1]["cursor"] == 2
    assert len(json.dumps(page.told[-2])) < 2500


def test_the_page_has_what_the_player_has_after_any_walk(toy):
    stage = guided(toy, max_tokens=20)
    page = Page(stage)
    for move in (lambda: stage.take(5), lambda: stage.go(2), lambda: stage.change(seed=8), lambda: stage.take(4)):
        move()
    legal = [c.token for c in stage.go(1).player.current.candidates if c.legal]
    for token in legal:
        stage.choose(token)
        assert page.tokens == [step.token for step in stage.player.steps]


def test_it_plays_and_pauses_within_one_step(toy):
    async def lesson():
        stage = gv.stage(toy.toy_model(slow=0.02, end=False), "say ")
        page = Page(stage)
        stage.speed = 60
        stage.play()
        await until(lambda: stage.player.cursor >= 3)
        stage.pause()
        cursor = stage.player.cursor
        await asyncio.sleep(0.2)
        assert stage.player.cursor <= cursor + 1
        assert not page.told[-1]["playing"]

    asyncio.run(lesson())


def test_buttons_answer_while_a_step_is_under_way(toy):
    async def lesson():
        stage = gv.stage(toy.toy_model(slow=0.15, end=False), "say ", steps=2)
        page = Page(stage)
        stage._hear({"do": "step"})
        await asyncio.sleep(0.02)
        stage._hear({"do": "go", "cursor": 1})
        assert page.told[-1]["cursor"] == 1
        await asyncio.sleep(0.4)
        assert stage.player.cursor == 1, "a step that comes too late does not count"

    asyncio.run(lesson())


def test_many_presses_on_a_slow_model_do_not_pile_up(toy):
    async def lesson():
        stage = gv.stage(toy.toy_model(slow=0.1, end=False), "say ")
        Page(stage)
        for _ in range(20):
            stage._hear({"do": "step"})
            await asyncio.sleep(0.005)
        await asyncio.sleep(0.4)
        assert stage.player.cursor <= 3

    asyncio.run(lesson())


def test_choosing_while_it_plays_takes_the_token_that_was_pressed(toy):
    async def lesson():
        stage = guided(toy)
        page = Page(stage)
        stage.speed = 30
        stage.play()
        await until(lambda: stage.player.cursor >= 2)
        other = next(r[0] for r in page.steps[0]["rows"] if r[4] and r[0] != page.tokens[0])
        stage._hear({"do": "choose", "token": other, "cursor": 1})
        await until(lambda: page.tokens[:1] == [other])
        await asyncio.sleep(0.1)
        assert page.tokens == [other]
        assert not stage.playing

    asyncio.run(lesson())


def test_of_two_presses_the_second_is_not_lost(toy):
    async def lesson():
        stage = guided(toy, steps=1)
        page = Page(stage)
        first, *others = (r[0] for r in page.steps[0]["rows"] if r[4] and r[0] != page.tokens[0])
        for token in (first, others[0] if others else first):
            stage._hear({"do": "choose", "token": token, "cursor": 1})
        await until(lambda: page.tokens == [token])
        await asyncio.sleep(0.1)
        assert page.tokens == [token]

    asyncio.run(lesson())


def test_end_runs_on_to_the_end(toy):
    async def lesson():
        stage = guided(toy)
        page = Page(stage)
        stage._hear({"do": "end"})
        await until(lambda: page.told[-1]["ended"] and not page.told[-1]["playing"])
        assert page.steps[-1]["end"] == "eos"

    asyncio.run(lesson())


def test_an_illegal_token_is_explained_byte_by_byte(toy):
    stage = guided(toy, steps=1)
    page = Page(stage)
    row = next(r for r in page.steps[0]["rows"] if not r[4])
    stage._hear({"do": "choose", "token": row[0], "cursor": 1})
    why = page.told[-1]["why"]
    assert why["label"] == row[1]
    assert why["rows"][-1] == [row[1][:1], "q0", "expected {", True]
    assert page.tokens == [stage.player.current.token], "nothing was put in"


def test_an_error_is_told_and_the_stage_lives(toy):
    def rule(tokens):
        if len(tokens) == 4:
            raise gv.ModelError("toy", seen="out of memory", hint="a smaller model")
        return toy.rule(tokens, end=False)

    async def lesson():
        stage = gv.stage(gv.ToyModel(toy.PIECES, rule, eos={0}), "say ")
        page = Page(stage)
        stage.play(hurry=True)
        await until(lambda: page.told[-1]["note"])
        assert "out of memory; try: a smaller model" in page.told[-1]["note"]
        assert not stage.playing
        stage._hear({"do": "go", "cursor": 1})
        assert page.told[-1]["note"] == ""

    asyncio.run(lesson())


def test_any_other_exception_is_told_too(toy):
    async def lesson():
        stage = gv.stage(gv.ToyModel(toy.PIECES, lambda tokens: 1 / 0, eos={0}), "say ")
        page = Page(stage)
        stage._hear({"do": "step"})
        await until(lambda: page.told[-1]["note"])
        assert page.told[-1]["note"].startswith("ZeroDivisionError")

    asyncio.run(lesson())


def test_a_recording_replays_as_recorded(toy):
    trace = gv.record(toy.toy_model(), "say ", None, max_tokens=6, seed=2)
    stage = gv.stage(trace, steps=3)
    assert stage.trace.steps == trace.steps[:3]
    assert stage._news(True)["head"]["live"] is False


def test_a_stage_wants_a_prompt(toy):
    with pytest.raises(gv.SettingError, match="no prompt"):
        gv.stage(toy.toy_model())


def test_a_second_run_of_its_cell_closes_a_stage_and_frees_the_model(toy, monkeypatch):
    def run(number, cell="a"):
        monkeypatch.setattr(cells, "this_cell", lambda: ((cell, number), set()))
        model = toy.toy_model()
        return weakref.ref(model), gv.stage(model, "say ", toy.WordsGuide(model.vocabulary), steps=2)

    first, stage = run("1")
    again, twin = run("1")
    elsewhere, _kept = run("1", cell="b")
    assert first() is not None
    assert again() is not None, "two stages of one run live side by side"
    run("2")
    gc.collect()
    assert first() is None
    assert again() is None
    assert elsewhere() is not None
    assert len(stage.trace.steps) == len(twin.trace.steps) == 2, "the steps stay as a picture"
    assert sorted(stage._repr_mimebundle_()) == ["text/html", "text/plain"]


def test_a_packed_step_is_small_and_plain(toy):
    packed = pack_step(guided(toy, steps=2).player.steps[1])
    assert json.loads(json.dumps(packed)) == json.loads(json.dumps(packed))
    assert len(packed["rows"]) <= 9
    assert packed["words"].startswith("“")
