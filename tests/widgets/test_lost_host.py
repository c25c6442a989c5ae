"""Claims about a stage whose model is on a host: the badge says where, and a lost host is a message, not an end."""

import asyncio

import guidedviz as gv
from guidedviz.models.remote import RemoteModel
from guidedviz.widgets import runner
from tests.common import regex_guide
from tests.host.running import hosting


class Waiting(RemoteModel):
    """A model that waits for its host until it is told that the host is back."""

    waiting = ""

    def __init__(self, toy):
        self._model = toy.toy_model()
        self.lost = False
        self.name = "gpu:8765 · toy"
        self.device = "cuda"
        self.source = "LIVE"
        self.vocabulary = self._model.vocabulary
        self.encode = self._model.encode
        self.context = 999
        self.back = asyncio.Event()

    def logits(self, tokens):
        if self.lost:
            self.waiting = "The host gpu:8765 does not answer"
            asyncio.run_coroutine_threadsafe(self.back.wait(), self.loop).result(10)
            self.waiting = ""
            self.lost = False
        return self._model.logits(tokens)


async def test_a_lost_host_is_a_message_and_the_run_goes_on_where_it_was(toy, monkeypatch, until):
    monkeypatch.setattr(runner, "GLANCE", 0.01)
    model = Waiting(toy)
    plain = toy.toy_model()
    model.loop = asyncio.get_running_loop()
    stage = gv.stage(model, "say ", toy.WordsGuide(model.vocabulary), seed=3)
    stage.take(2)
    model.lost = True
    stage.speed = 64
    stage.play()
    await until(lambda: stage.note == "The host gpu:8765 does not answer")
    assert stage.playing
    model.back.set()
    await until(lambda: not stage.playing)
    assert stage.note == ""
    alone = gv.stage(plain, "say ", toy.WordsGuide(plain.vocabulary), seed=3)
    assert stage.text == alone.take(99).text


def test_a_host_that_stays_away_leaves_its_error_on_the_stage_and_a_later_step_goes_on(bard):
    with hosting(bard) as host:
        model = RemoteModel(host.wire(patience=0.1))
        stage = gv.stage(model, "A", regex_guide(bard, "[a-z]{9}"), seed=1).take(3)
    before = stage.text
    stage.take(2)
    assert stage.text == before or len(stage.trace.steps) == 4, "a step that was computed ahead may be taken"
    assert "does not answer" in stage.note or "for 0 s, expected an answer; try: again" in stage.note
    with hosting(bard, port=host.port):
        stage.take(99)
    guide = regex_guide(bard, "[a-z]{9}")
    alone = gv.stage(bard, "A", guide, seed=1)
    assert stage.text == alone.take(99).text
