"""The map without a page: each thing goes once, and what the page would then know is true."""

from base64 import b64decode

import numpy as np
import pytest

import guidedviz as gv
from guidedviz.widgets.map import MapFeed, Masks

VOCABULARY = gv.Vocabulary([b"3", b".5", b".", b"42", b"x", b"</s>", b"<script>", b"\n", b"a b"], eos={5})
ORDER = VOCABULARY.order


@pytest.fixture
def guide():
    return gv.guide(gv.regex(r"[0-9]+(\.[0-9]+)?"), VOCABULARY)


def shows(packed, mask):
    data = np.frombuffer(b64decode(packed), np.uint8)
    flat = np.unpackbits(data, bitorder="little")
    legal = flat[: len(VOCABULARY)].astype(bool)
    return (legal == mask[ORDER]).all()


def test_the_page_has_the_mask_of_every_state_and_each_goes_once(guide, monkeypatch):
    monkeypatch.setattr("guidedviz.widgets.map.KEPT_MASKS", 2)
    feed = MapFeed(guide)
    masks = Masks()
    known = {}
    for state in (0, 1, 2, 3, 1, 0, 2):
        now = feed.at(state, masks)["mask"]
        news = feed.news(masks)
        assert known.keys().isdisjoint(news["bits"])
        assert ("land" in news) == (not known), "the layout goes once"
        known |= news["bits"]
        assert shows(known[now], guide.mask(state))
    assert len(known) == 3, "q0 and q2 allow the same"
    assert feed.land["count"] == len(VOCABULARY)
    assert masks.full


def test_questions_are_answered_once(guide):
    feed = MapFeed(guide)
    masks = Masks()
    for ask, of in (("texts", 0), ("find", "script"), ("find", "/(/"), ("why", 4), ("nonsense", 4)):
        feed.hear({"do": "map", "ask": ask, "of": of}, 0, masks)
    texts, found, failed, why = feed.news(masks)["answers"]
    number, rows = texts["texts"]
    assert (number, [token for token, _, _ in rows]) == (0, ORDER.tolist())
    assert rows[2][1:] in (["3", "33"], ["␣", "20"], [".5", "2e 35"])
    assert found["found"]["count"] == 1
    assert "regex" in failed["found"]["note"]
    assert why["why"] == [4, guide.explain(0, 4).reason]
    assert feed.news(masks)["answers"] == []
