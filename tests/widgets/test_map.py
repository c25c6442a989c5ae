"""The map without a page: each thing goes once, and what the page would then know is true."""

from __future__ import annotations

import json
from base64 import b64decode

import numpy as np
import pytest

import guidedviz as gv
from guidedviz.views.vocabulary.atlas import atlas
from guidedviz.widgets.map import CHUNK, KEPT, MapFeed

VOCABULARY = gv.Vocabulary([b"3", b".5", b".", b"42", b"x", b"</s>", b"<script>", b"\n", b"a b"], eos={5})


@pytest.fixture
def guide():
    return gv.guide(gv.regex(r"[0-9]+(\.[0-9]+)?"), VOCABULARY)


def bits(packed, count=9):
    flat = np.unpackbits(np.frombuffer(b64decode(packed), np.uint8), bitorder="little")
    return flat[:count].astype(bool)


class Page:
    """What a page knows after hearing the news."""

    def __init__(self):
        self.masks, self.land, self.answers = {}, None, []

    def hear(self, news):
        news = json.loads(json.dumps(news))
        if "land" in news:
            self.masks.clear()
        self.land = news.get("land", self.land)
        self.masks |= news["bits"]
        self.answers += news["answers"]
        return news

    def mask(self, shown):
        return bits(self.masks[str(shown["mask"])])


def test_the_page_has_the_mask_of_every_state_and_each_goes_once(guide):
    feed, page, order = MapFeed(guide), Page(), atlas(VOCABULARY).order
    for state in (0, 1, 2, 3, 1, 0, 2):
        shown = feed.at(state)
        page.hear(feed.news(everything=page.land is None))
        assert (page.mask(shown) == guide.mask(state)[order]).all()
    feed.at(1)
    assert feed.news()["bits"] == {}
    assert len(page.masks) == 3, "q0 and q2 allow the same"


def test_a_new_page_gets_the_land_and_its_masks_again(guide):
    feed, page = MapFeed(guide), Page()
    feed.at(0)
    feed.news()
    feed.forget()
    shown = feed.at(0)
    page.hear(feed.news(everything=True))
    assert page.land["count"] == len(VOCABULARY)
    assert (page.mask(shown) == guide.mask(0)[atlas(VOCABULARY).order]).all()


def test_masks_do_not_pile_up(guide, monkeypatch):
    monkeypatch.setattr("guidedviz.widgets.map.KEPT", 2)
    chart, page = gv.vocabulary_map(guide), Page()
    for state in (0, 1, 2, 3) * 3:
        news = page.hear(chart.go(state).display.news(False)["map"])
        assert (page.mask({"mask": news["now"]}) == guide.mask(state)[atlas(VOCABULARY).order]).all()
        assert len(page.masks) <= 4
    assert KEPT * 22_000 < 10_000_000, "all masks of a large vocabulary stay below ten megabytes"


def test_questions_are_answered_once(guide):
    feed, page = MapFeed(guide), Page()
    feed.hear({"ask": "texts", "of": 0}, 0)
    feed.hear({"ask": "find", "of": "script"}, 0)
    feed.hear({"ask": "find", "of": "/(/"}, 0)
    feed.hear({"ask": "why", "of": 4}, 0)
    feed.hear({"ask": "nonsense", "of": 4}, 0)
    page.hear(feed.news())
    texts, found, failed, why = page.answers
    number, rows = texts["texts"]
    assert (number, len(rows)) == (0, min(CHUNK, len(VOCABULARY)))
    assert [token for token, _, _ in rows] == atlas(VOCABULARY).order.tolist()
    assert rows[2][1:] in (["3", "33"], ["␣", "20"], [".5", "2e 35"])
    assert found["found"]["count"] == 1
    assert "regex" in failed["found"]["note"]
    assert why["why"] == [4, guide.explain(0, 4).reason]
    assert feed.news()["answers"] == []


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
    news = chart.display.news(True)["map"]
    assert news["now"] != news["before"]
    assert "xor" in repr(chart)
    assert "xor" not in repr(chart.compare())


def test_a_notebook_keeps_a_picture_and_little_else(guide):
    data, *_ = gv.vocabulary_map(guide)._repr_mimebundle_()
    assert sorted(data) == ["application/vnd.jupyter.widget-view+json", "text/html", "text/plain"]
    assert data["text/html"].startswith("<img alt=")
    count = 20_000
    large = gv.vocabulary_map(gv.guide(gv.regex("[0-9]+"), gv.Vocabulary([b"%d" % (7 * i) for i in range(count)])))
    assert len(json.dumps(large.display.widget.saved)) < count, "less than a byte per token"
    large.display.close()


@pytest.mark.usefixtures("headless")
def test_headless_it_is_a_picture_only(guide):
    assert sorted(gv.vocabulary_map(guide)._repr_mimebundle_()) == ["text/html", "text/plain"]
    assert sorted(gv.token_table(guide)._repr_mimebundle_()) == ["text/html", "text/plain"]


def test_every_step_of_the_stage_has_the_mask_that_it_obeyed(toy):
    model = toy.toy_model()
    guide = toy.WordsGuide(model.vocabulary)
    stage = gv.stage(model, "say ", guide, seed=3, steps=4)
    order, news = atlas(model.vocabulary).order, stage.display.news(True)
    for place, step in enumerate([*news["add"], news["next"]]):
        state = b"".join(s.piece for s in stage.player.steps[:place])
        mask = bits(news["map"]["bits"][step["mask"]], len(order))
        assert (mask == guide.mask(state)[order]).all()
        assert [int(order[rank]) for rank in step["ranks"]] == [row[0] for row in step["rows"]]
    stage.close()
    assert "map" not in stage.display.news(True)


def test_without_a_guide_or_on_a_recording_there_is_no_map(toy):
    assert "map" not in gv.stage(toy.toy_model(), "say ", steps=1).display.news(True)
    trace = gv.record(toy.toy_model(), "say ", toy.WordsGuide(toy.toy_model().vocabulary), max_tokens=3)
    assert "map" not in gv.stage(trace, steps=1).display.news(True)


def test_the_live_table_follows_a_search(guide):
    table = gv.token_table(guide)
    assert len(table.display.news(True)["names"]) == len(VOCABULARY)
    table.display.hear({"do": "find", "text": "/[0-9]+/"})
    assert table.display.news(False)["names"] == ["3", "42"]
    table.display.hear({"do": "why", "row": 0, "column": 1})
    assert "42 in q0" in table.display.news(False)["why"]
    table.display.hear({"do": "find", "text": "nothing has this"})
    assert "no such token" in table.display.news(False)["note"]
    assert json.dumps(table.display.news(False))
