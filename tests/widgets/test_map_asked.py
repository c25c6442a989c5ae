"""The third colour of the map: the page is told which tokens asked the stack, at every step and in a replay."""

from __future__ import annotations

import json
from base64 import b64decode

import numpy as np
import pytest

import guidedviz as gv
from guidedviz.views.vocabulary.atlas import atlas

PIECES = [b"(", b")", b"x", b"x)", b"[x])", b"]", b"x)]", b"x))", b"</s>", b"[(", b"["]
NESTED = 'root ::= "(" root ")" | "[" root "]" | "x"'
TEXT = (b"[(", b"(", b"x)", b")", b"]")
LIKELY = (b"x))", b"x)]")


def says(tokens):
    place = len(tokens) - 1
    wanted = TEXT[place] if place < len(TEXT) else b"</s>"
    return [9.0 if piece == wanted else 6.0 if piece in LIKELY else 0.0 for piece in PIECES]


def nested(stack=True, **settings):
    model = gv.ToyModel(PIECES, says, eos={8})
    return gv.stage(model, "x", gv.guide(gv.grammar(NESTED), model.vocabulary), temperature=0, stack=stack, **settings)


def shown(news):
    """The step whose mask the page shows: the next one or, at the end, the last one."""
    return [*news["add"][news["cursor"] :], news["next"] or news["add"][-1]][0]


def seen(news):
    """What the page paints: the pieces that asked and were legal, and those that asked and were not."""
    told, step = json.loads(json.dumps(news))["map"], shown(news)
    order, bits = atlas(gv.Vocabulary(PIECES, eos={8})).order, {int(n): b64decode(b) for n, b in told["bits"].items()}
    legal = np.unpackbits(np.frombuffer(bits[step["mask"]], np.uint8), bitorder="little")
    ranks = np.frombuffer(bits[step["asked"]], "<i4").tolist()
    assert ranks == sorted(ranks)
    return [{PIECES[order[rank]] for rank in ranks if legal[rank] == kind} for kind in (1, 0)]


# What the page must know before each token, written by hand: who asked and was legal, who asked and was not.
ASKED = [
    [set(), {b"x)", b"[x])", b"x)]", b"x))"}],  # b"": nothing is open that they could close
    [{b"x)]"}, {b"x))"}],  # b"[(": x) is sure, what comes after it is not
    [{b"x))"}, {b"x)]"}],  # b"[((": the same node on another stack
    [set(), set()],  # b"[((x)": only ) may come
    [set(), set()],  # b"[((x))": only ] may come
]


def test_at_every_step_the_page_knows_who_asked_and_what_the_stack_said():
    stage = nested()
    for cursor, asked in enumerate(ASKED):
        assert stage.player.cursor == cursor
        assert seen(stage.display.news(True)) == asked
        stage.take()
    for cursor in (3, 1, 2):
        assert seen(stage.go(cursor).display.news(True)) == ASKED[cursor], "and when one goes back"


def test_another_token_is_another_stack():
    stage = nested(steps=1)
    assert seen(stage.display.news(True)) == ASKED[1]
    stage.go(0).choose(PIECES.index(b"("))
    assert seen(stage.display.news(True)) == [set(), {b"x)]", b"x))"}], (
        "after ( alone there is nothing that they could close"
    )


def test_what_was_told_is_not_told_again_and_a_saved_notebook_has_it_all():
    stage = nested(steps=3)
    stage.display.news(True)
    for move in (stage.back, stage.take, stage.back):
        news = move().display.news(False)
        assert (news["map"]["bits"], news["add"]) == ({}, ())
    kept = stage.display.saved()
    assert seen(kept) == ASKED[2]
    assert seen(stage.display.news(True)) == ASKED[2], "to keep it told the page nothing"


def test_a_recording_with_its_guide_has_the_same_map():
    live = nested(steps=4)
    replay = gv.stage(live.trace, guide=live.guide, stack=True)
    for cursor in range(5):
        assert seen(replay.go(0).take(cursor).display.news(True)) == seen(live.go(cursor).display.news(True))
    other = gv.guide(gv.grammar(NESTED), gv.Vocabulary([bytes([b]) for b in b"()[]x"]))
    assert "map" not in gv.stage(live.trace, guide=other, steps=2).display.news(True), "ids of another vocabulary"


def test_who_asked_the_stack_is_shown_only_where_somebody_wants_it():
    stage = nested(stack=False, steps=3)
    assert {step["asked"] for news in (stage.display.news(True), stage.display.saved()) for step in news["add"]} == {
        None
    }
    shown = stage._repr_mimebundle_()[0]["text/html"]
    assert "7 of 11 legal" in gv.views.draw_stage(stage.trace, machine=stage.guide.machine, split=stage.guide.split).svg
    assert "context-dependent" not in shown
    assert "context-dependent" not in repr(gv.vocabulary_map(stage.guide))
    assert gv.vocabulary_map(stage.guide).display.news(True)["map"]["asked"] is None
    assert gv.vocabulary_map(stage.guide, stack=True).display.news(True)["map"]["asked"] is not None
    with pytest.raises(gv.SettingError, match="a guide without a split"):
        gv.vocabulary_map(gv.guide(gv.regex("x"), stage.guide.vocabulary), stack=True)


def test_where_nothing_asks_a_stack_there_are_two_colours():
    stage = nested()
    for engine in ("trie", "index"):
        machine = gv.grammar(NESTED) if engine == "trie" else gv.regex("[(]x[)]")
        plain = gv.stage(
            stage.player.walk.model,
            "x",
            gv.guide(machine, stage.guide.vocabulary, engine=engine),
            steps=1,
            stack=True,
        )
        assert shown(plain.display.news(True))["asked"] is None


def test_a_grammar_with_too_many_ways_to_read_a_text_has_two_colours(monkeypatch):
    def refuse(split, state):
        raise gv.PatternError("grammar", seen="more than 1,000,000 moves", hint="rules that are not ambiguous")

    monkeypatch.setattr(gv.tokens.Split, "answers", refuse)
    stage = nested(steps=2)
    assert shown(stage.display.news(True))["asked"] is None
    assert "asked the stack" not in stage._repr_mimebundle_()[0]["text/html"]
    assert "tokens legal" in repr(gv.vocabulary_map(stage.guide, stack=True))


def test_an_edit_compares_two_masks_and_then_asks_the_new_stack():
    stage = nested(steps=3, edit=("grammar", NESTED))
    stage.edit('root ::= "(" root ")" | "[" root "]" | "x" | "y"', "grammar")
    assert len(stage.display.news(True)["map"]["edited"]) == 2
    stage.take()
    news = stage.display.news(True)
    assert news["map"]["edited"] is None
    assert seen(news) == ASKED[4]


def test_still_pictures_have_the_three_colours(monkeypatch):
    monkeypatch.setenv("GUIDEDVIZ_HEADLESS", "1")
    said = "of 11 tokens 6 are accepted, 3 rejected, 2 context-dependent: 1 legal, 1 illegal"
    stage = nested(steps=3)
    assert said in stage._repr_mimebundle_()["text/html"]
    figure = gv.views.draw_stage(stage.trace, machine=stage.guide.machine, split=stage.guide.split, stack=True)
    assert "context-dependent, legal 1" in figure.svg
    assert figure.text == gv.views.draw_stage(stage.trace).text
    chart = gv.vocabulary_map(stage.guide, text="[((", stack=True)
    assert said in repr(chart)
    assert "xor" in repr(chart.compare(stage.guide.initial))
