"""The map without a page: each thing goes once, and what the page would then know is true."""

import json
from base64 import b64decode

import numpy as np
import pytest

import guidedviz as gv
from tests.widgets.toy import told

VOCABULARY = gv.Vocabulary([b"3", b".5", b".", b"42", b"x", b"</s>", b"<script>", b"\n", b"a b"], eos={5})
ORDER = VOCABULARY.order
TEXTS = ("", "3", "3.", "3.3")  # one for each state of the guide


@pytest.fixture
def guide():
    return gv.guide(gv.regex(r"[0-9]+(\.[0-9]+)?"), VOCABULARY)


class MapPage:
    """What a page knows after hearing the news."""

    def __init__(self, chart):
        self.chart, self.masks = chart, {}
        self.tell(everything=True)

    def tell(self, everything=False):
        news = told(self.chart, everything)["map"]
        if "land" in news:
            self.masks.clear()
        self.masks |= news["bits"]
        self.now = self.masks[str(news["now"])]
        return news

    def shows(self, mask):
        flat = np.unpackbits(np.frombuffer(b64decode(self.now), np.uint8), bitorder="little")
        return (flat[: len(VOCABULARY)].astype(bool) == mask[ORDER]).all()


def test_the_page_has_the_mask_of_every_state_and_each_goes_once(guide):
    page = MapPage(gv.vocabulary_map(guide))
    for state in (0, 1, 2, 3, 1, 0, 2):
        page.chart.read(TEXTS[state])
        news = page.tell()
        assert page.shows(guide.mask(state))
    assert (news["bits"], len(page.masks)) == ({}, 3), "q0 and q2 allow the same"
    assert page.tell(everything=True)["land"]["count"] == len(VOCABULARY)
    assert page.shows(guide.mask(2)), "a new page gets the layout and its mask again"


def test_masks_do_not_pile_up(guide, monkeypatch):
    monkeypatch.setattr("guidedviz.widgets.map.KEPT", 2)
    page = MapPage(gv.vocabulary_map(guide))
    for state in (0, 1, 2, 3) * 3:
        page.chart.read(TEXTS[state])
        page.tell()
        assert page.shows(guide.mask(state))
        assert len(page.masks) <= 4


def test_questions_are_answered_once(guide):
    chart = gv.vocabulary_map(guide)
    for ask, of in (("texts", 0), ("find", "script"), ("find", "/(/"), ("why", 4), ("nonsense", 4)):
        chart.display.hear({"do": "map", "ask": ask, "of": of})
    texts, found, failed, why = told(chart, False)["map"]["answers"]
    number, rows = texts["texts"]
    assert (number, [token for token, _, _ in rows]) == (0, ORDER.tolist())
    assert rows[2][1:] in (["3", "33"], ["␣", "20"], [".5", "2e 35"])
    assert found["found"]["count"] == 1
    assert "regex" in failed["found"]["note"]
    assert why["why"] == [4, guide.explain(0, 4).reason]
    assert told(chart, False)["map"]["answers"] == []


def test_a_text_leads_to_its_state_or_to_where_it_dies(guide):
    chart = gv.vocabulary_map(guide).read("3.")
    assert (chart.state, chart.note) == (2, "")
    chart.read("3.x")
    assert (chart.state, chart.note) == (2, "after 3., x cannot come: expected 0-9")
    assert chart.read("").state == 0
    with pytest.raises(gv.SettingError, match="without a machine"):
        gv.vocabulary_map(gv.static_masks(VOCABULARY, [{0}])).read("3")


def test_a_notebook_keeps_a_picture_and_little_else(guide):
    data, *_ = gv.vocabulary_map(guide)._repr_mimebundle_()
    assert sorted(data) == ["application/vnd.jupyter.widget-view+json", "text/html", "text/plain"]
    assert data["text/html"].startswith("<img alt=")
    count = 20_000
    large = gv.vocabulary_map(gv.guide(gv.regex("[0-9]+"), gv.Vocabulary([b"%d" % (7 * i) for i in range(count)])))
    assert len(json.dumps(large.display.widget.saved)) < count, "less than a byte per token"
    large.display.close()
