"""The map without a page: each thing goes once, and what the page would then know is true."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections import Counter

import numpy as np
import pytest

import guidedviz as gv
from guidedviz.views.atlas import atlas
from guidedviz.widgets.map_feed import CHUNK, KEPT, MapFeed

VOCABULARY = gv.Vocabulary([b"3", b".5", b".", b"42", b"x", b"</s>", b"<script>", b"\n", b"a b"], eos={5})


@pytest.fixture
def guide():
    return gv.guide(gv.regex(r"[0-9]+(\.[0-9]+)?"), VOCABULARY)


def bits(packed):
    flat = np.unpackbits(np.frombuffer(b64decode(packed), np.uint8), bitorder="little")
    return flat[: len(VOCABULARY)].astype(bool)


class Page:
    """What a page knows after hearing the news."""

    def __init__(self):
        self.masks, self.land, self.answers = {}, None, []

    def hear(self, news):
        news = json.loads(json.dumps(news))
        if news["forget"]:
            self.masks.clear()
        self.land = news.get("land", self.land)
        self.masks |= news["bits"]
        self.answers += news["answers"]
        number = {key: news[key] for key in ("now", "before")}
        self.now, self.before = (None if n is None else bits(self.masks[str(n)]) for n in number.values())
        return news


def test_the_page_has_the_mask_of_every_state_and_each_goes_once(guide):
    feed, page, order = MapFeed(guide), Page(), atlas(VOCABULARY).order
    page.hear(feed.news(0, everything=True))
    for state in (0, 1, 2, 3, 1, 0, 2):
        page.hear(feed.news(state))
        assert (page.now == guide.mask(state)[order]).all()
    assert feed.news(1)["bits"] == {}
    assert len(page.masks) == 3, "q0 and q2 allow the same"
    page.hear(feed.news(1, before=2))
    assert (page.before == guide.mask(2)[order]).all()


def test_a_new_page_gets_the_land_and_its_mask_again(guide):
    feed = MapFeed(guide)
    feed.news(0)
    page = Page()
    page.hear(feed.news(0, everything=True))
    assert page.land["count"] == len(VOCABULARY)
    assert (page.now == guide.mask(0)[atlas(VOCABULARY).order]).all()


def test_masks_do_not_pile_up(guide, monkeypatch):
    monkeypatch.setattr("guidedviz.widgets.map_feed.KEPT", 2)
    feed, page = MapFeed(guide), Page()
    numbers = set()
    for state in (0, 1, 2, 3) * 3:
        news = page.hear(feed.news(state))
        assert (page.now == guide.mask(state)[atlas(VOCABULARY).order]).all()
        assert len(page.masks) <= 4
        numbers.add(news["now"])
    assert len(numbers) > 4, "a number that was forgotten never comes back for another mask"
    assert KEPT * 22_000 < 10_000_000, "all masks of a large vocabulary stay below ten megabytes"


def test_questions_are_answered_once(guide):
    feed, page = MapFeed(guide), Page()
    feed.hear({"ask": "texts", "of": 0}, 0)
    feed.hear({"ask": "find", "of": "script"}, 0)
    feed.hear({"ask": "find", "of": "/(/"}, 0)
    feed.hear({"ask": "why", "of": 4}, 0)
    feed.hear({"ask": "nonsense", "of": 4}, 0)
    page.hear(feed.news(0))
    texts, found, failed, why = page.answers
    number, rows = texts["texts"]
    assert (number, len(rows)) == (0, min(CHUNK, len(VOCABULARY)))
    assert [token for token, _, _ in rows] == atlas(VOCABULARY).order.tolist()
    assert rows[2][1:] in (["3", "33"], ["␣", "20"], [".5", "2e 35"])
    assert found["found"]["count"] == 1
    assert "regex" in failed["found"]["note"]
    assert why["why"] == [4, guide.explain(0, 4).reason]
    assert feed.news(0)["answers"] == []


def test_a_text_leads_to_its_state_or_to_where_it_dies(guide):
    chart = gv.vocabulary_map(guide, text="3.")
    assert chart.state == 2
    assert chart.note == ""
    chart.read("3.x")
    assert chart.state == 2
    assert chart.note == "after 3., x cannot come: expected 0-9"
    assert chart.read("").state == 0
    with pytest.raises(gv.SettingError, match="without a machine"):
        gv.vocabulary_map(gv.static_masks(VOCABULARY, [{0}])).read("3")


def test_a_comparison_says_what_differs(guide):
    chart = gv.vocabulary_map(guide, 1).compare(0)
    news = chart._news(True)["map"]
    assert news["now"] != news["before"]
    assert "xor" in repr(chart)
    assert "xor" not in repr(chart.compare())


def test_a_notebook_keeps_a_picture_and_little_else(guide):
    data, *_ = gv.vocabulary_map(guide)._repr_mimebundle_()
    assert sorted(data) == ["application/vnd.jupyter.widget-view+json", "text/html", "text/plain"]
    assert data["text/html"].startswith("<img alt=")
    large = gv.vocabulary_map(gv.guide(gv.regex("[0-9]+"), gv.Vocabulary.llama3()))
    assert len(json.dumps(large.widget.saved)) < 80_000
    large.close()


@pytest.mark.usefixtures("headless")
def test_headless_it_is_a_picture_only(guide):
    assert sorted(gv.vocabulary_map(guide)._repr_mimebundle_()) == ["text/html", "text/plain"]
    assert sorted(gv.token_table(guide)._repr_mimebundle_()) == ["text/html", "text/plain"]


def test_the_stage_tells_the_mask_that_the_step_obeyed(toy):
    model = toy.toy_model()
    guide = toy.WordsGuide(model.vocabulary)
    stage = gv.stage(model, "say ", guide, seed=3, steps=4)
    order = atlas(model.vocabulary).order
    for cursor in (0, 1, 2, 4):
        stage.go(cursor)
        news = stage._news(True)["map"]
        state = b"".join(s.piece for s in stage.player.steps[: max(0, cursor - 1)])
        mask = np.unpackbits(np.frombuffer(b64decode(news["bits"][news["now"]]), np.uint8), bitorder="little")
        assert (mask[: len(order)].astype(bool) == guide.mask(state)[order]).all()
        rows = stage._news(True)["add"][cursor - 1]["rows"] if cursor else []
        assert [int(order[rank]) for rank in news["ranks"]] == [row[0] for row in rows]
    stage.close()
    assert "map" not in stage._news(True)


def test_without_a_guide_or_on_a_recording_there_is_no_map(toy):
    assert "map" not in gv.stage(toy.toy_model(), "say ", steps=1)._news(True)
    trace = gv.record(toy.toy_model(), "say ", toy.WordsGuide(toy.toy_model().vocabulary), max_tokens=3)
    assert "map" not in gv.stage(trace, steps=1)._news(True)


def test_the_live_table_follows_a_search(guide):
    table = gv.token_table(guide)
    assert len(table._news(True)["names"]) == len(VOCABULARY)
    table._hear({"do": "find", "text": "/[0-9]+/"})
    assert table._news(False)["names"] == ["3", "42"]
    table._hear({"do": "why", "row": 0, "column": 1})
    assert "42 in q0" in table._news(False)["why"]
    table._hear({"do": "find", "text": "nothing has this"})
    assert "no such token" in table._news(False)["note"]
    assert json.dumps(table._news(False))


def test_no_two_files_of_the_page_declare_the_same_name():
    from guidedviz.widgets.wire import Wire

    names = re.findall(r"^(?:async )?(?:function|const|let|class) +([A-Za-z_]\w*)", Wire._esm, re.MULTILINE)
    assert len(names) > 80
    assert [name for name, count in Counter(names).items() if count > 1] == []
