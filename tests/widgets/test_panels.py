"""What the page of a stage is told: machine, stack and masks, each once."""

from base64 import b64decode
from dataclasses import replace
from itertools import chain, pairwise

import numpy as np
import pytest

import guidedviz as gv
from guidedviz.machines.regular.dfa import DFA
from guidedviz.views.stack.stack_table import say_ways
from guidedviz.widgets import panels
from tests.common import regex_guide
from tests.widgets.toy import Page, told

PIECES = [b"<eos>", b'{"', b"a", b'":', b"[", b"]}", b"1", b'{"a":', b"[[", b"]]}}", b"x", b"]"]
TEXT = (b'{"', b"a", b'":', b'{"a":', b"[[", b"1", b"]]}}")
DIGITS = [b"<eos>", *(bytes([i]) for i in range(32, 127)), b"1.5", b"3.", b"42"]
DECIMAL = gv.regex(r"[0-9]+([.][0-9]+)?")


def says(pieces, *text, likely=()):
    """A model that writes a text, and likes some other tokens."""

    def rule(tokens):
        wanted = text[len(tokens) - 1] if len(tokens) <= len(text) else pieces[eos]
        return [9.0 if piece == wanted else 6.0 if piece in likely else 0.0 for piece in pieces]

    eos = next(place for place, piece in enumerate(pieces) if piece.startswith(b"<"))
    return gv.ToyModel(pieces, rule, eos={eos})


def staged(steps=0, **settings):
    model = says(PIECES, *TEXT, likely=(b"x",))
    guide = gv.guide(gv.json(), model.vocabulary)
    return gv.stage(model, "x", guide, temperature=0, steps=steps, **settings)


def decimal(*text, machine=DECIMAL, **settings):
    model = says(DIGITS, *text, likely=(b"a",))
    guide = gv.guide(machine, model.vocabulary)
    return gv.stage(model, " ", guide, temperature=0, **settings)


# --- a finite machine ---


def test_the_drawing_goes_with_the_machine_and_never_again():
    stage = decimal(b"1.5", b"4")
    drawing = told(stage)["drawings"]["0"]
    assert str(drawing["shapes"]).count("data-state") == 4
    news = told(stage.take(1), everything=False)
    assert news.get("drawings") is None
    assert "machine" not in news
    assert news["add"] == [None], "it was told as the next step"
    (step, *_) = told(stage)["add"]
    assert step["path"] == [0, 1, 2, 3], "one more state per byte"
    assert {"machine", "drawings"} <= set(stage.display.saved()), "a notebook without a kernel has it too"


def test_why_names_the_way_and_the_byte_that_died():
    stage = decimal(b"1.5")
    told(stage)
    for token, way in ((b"a", ([0], "a")), (b"<eos>", ([0], "end"))):
        stage.display.hear({"do": "choose", "token": DIGITS.index(token), "cursor": 0})
        why = told(stage, False)["why"]
        assert (why["path"], why["died"]) == way


def test_of_a_large_machine_the_page_gets_a_new_neighbourhood_when_it_leaves_the_old_one():
    moves = [((97, 97, n + 1),) for n in range(2000)]
    chain_of_a = DFA((*moves, ()), frozenset({2000}))
    model = says([b"<eos>", b"a", b"a" * 1499], b"a", b"a" * 1499, b"a")
    guide = gv.guide(chain_of_a, model.vocabulary, engine="trie")
    stage = gv.stage(model, "a", guide, temperature=0, steps=3)
    news = told(stage)
    drawings = [step["drawing"] for step in news["add"]]
    assert drawings == [0, 1, 1], "a new one only where the old one lacks the state"
    assert "of 2,001 states" in news["drawings"]["0"]["words"]
    for number, state in (("0", 0), ("1", 1500)):
        shapes = str(news["drawings"][number]["shapes"])
        assert f"'data-state': {state}}}" in shapes
    assert "drawings" not in told(stage, False)


# --- a stack ---


def test_the_frames_of_every_state_are_those_of_the_machine_and_its_arrows_are_drawn():
    news, pda = told(staged(7)), gv.json()
    state, drawn = pda.initial, str(news["drawings"]["0"]["shapes"])
    for step, piece in zip(news["add"], TEXT, strict=True):
        for number, byte, seen in zip(step["path"][1:], piece, step["bytes"], strict=True):
            state = pda.step(state, byte)
            known = news["stacks"][str(number)]
            rules = tuple(rule for _, rule, _ in known["frames"])
            assert rules == pda.stack(state)
            assert known["ground"] == ("bottom · the text may end" if pda.is_accepting(state) else "bottom")
            assert known["depth"] == pda.depth(state)
            assert known["ways"] == say_ways(state)
            assert known["now"] == sorted(pda.places(state))
            assert seen == chr(byte)
        assert len(step["taken"]) == len(piece)
        keys = chain(*step["taken"])
        assert all(f"'data-arrow': '{key}'" in drawn for key in keys)


def test_a_grammar_is_drawn_whole_and_each_rule_alone():
    news, nodes = told(staged(7)), gv.json().nodes
    drawn = {drawing.get("rule", ""): drawing for drawing in news["drawings"].values()}
    assert list(drawn) == ["", *nodes.names]
    for step in news["add"]:
        for key in chain(*step["taken"]):
            rule = nodes.name_of(int(key.partition("-")[0]))
            assert f"'data-arrow': '{key}'" in str(drawn[rule]["shapes"]), "a byte is read in the row of its rule"
    numbers = [str(step["drawing"]) for step in news["add"]]
    ends = [news["drawings"][number]["rule"] for number in numbers]
    stacks = [news["stacks"][str(step["path"][-1])] for step in news["add"]]
    assert ends == [stack["frames"][0][1] for stack in stacks]


def test_of_a_large_grammar_only_the_rules_are_drawn_that_are_passed():
    rules = "\n".join(f'r{n} ::= "{"abc" * 9}" r{n + 1} | "x" r{n + 1}' for n in range(60))
    machine = gv.grammar(f'root ::= r0\n{rules}\nr60 ::= "y"')
    model = says([b"<eos>", b"x", b"y"], *[b"x"] * 5)
    guide = gv.guide(machine, model.vocabulary)
    stage = gv.stage(model, "x", guide, temperature=0, steps=5)
    drawings = told(stage)["drawings"]
    drawn = [drawing["rule"] for drawing in drawings.values()]
    assert drawn == ["root", "r0", "r1", "r2", "r3", "r4", "r5"]


def test_of_each_other_stack_the_page_is_told_the_open_rules_down_to_where_it_leaves_the_first():
    text = (b"[", b"1")
    model = says([b"<eos>", b"x", *text], *text)
    guide = gv.guide(gv.json(), model.vocabulary)
    stage = gv.stage(model, "x", guide, temperature=0, steps=2)
    news = told(stage)
    number = news["add"][-1]["path"][-1]
    state = news["stacks"][str(number)]
    number, array, _ = state["frames"]
    assert number[1] == "number"
    assert state["others"] == [[array]], "the number has ended, and the list is read on"


def test_a_state_is_told_once_and_again_to_a_new_page():
    stage = staged()
    news = told(stage)
    first = news["stacks"]
    seen = {str(state) for state in news["next"]["path"]}
    assert set(first) == seen, "the first state, and those inside the next token"
    stage.take(2)
    assert first.keys().isdisjoint(told(stage, False)["stacks"])
    stage.go(stage.player.cursor - 2).take(1)
    assert told(stage, False)["stacks"] == {}
    news = told(stage)
    steps = [step for step in [*news["add"], news["next"]] if step]
    assert set(news["stacks"]) == {str(n) for step in steps for n in step["path"]}
    saved = stage.display.saved()["stacks"]
    assert set(map(str, saved)) == set(news["stacks"])


def test_what_stays_open_keeps_its_number():
    news = told(staged(7))
    path = [number for step in news["add"] for number in step["path"][1:]]
    frames = [news["stacks"][str(state)]["frames"] for state in path]
    outward = [[number for number, *_ in reversed(each)] for each in frames]
    for before, after in pairwise(outward):
        below = min(len(before), len(after)) - 1
        assert before[:below] == after[:below]
    assert len({len(numbers) for numbers in outward}) > 3


def test_why_shows_the_stack_where_the_token_died():
    stage = staged(5)
    told(stage)
    stage.display.hear({"do": "choose", "token": PIECES.index(b"x"), "cursor": 5})
    why = told(stage, False)["why"]
    last = why["stacks"][str(why["path"][-1])]
    assert why["rows"][-1][:2] == ["x", f"n{last['now'][0]}"]
    assert (why["died"], why["stack"][0]) == ("x", "array")
    assert "innermost open rule is array" in why["reason"]


def test_a_step_says_the_likeliest_forbidden_token_and_its_byte_that_dies():
    pieces = [b"<eos>", b"a", b"no", b"ab", b"b"]
    wanted = [[0, 3, 9, 0, 1], [9, 1, 0, 0, 3], [0, 1, 0, 9, 8]]
    model = gv.ToyModel(pieces, lambda tokens: wanted[len(tokens) - 1], eos={0})
    guide = regex_guide(model, "aba")
    stage = gv.stage(model, "a", guide, temperature=0, steps=3)
    steps = told(stage)["add"]
    refused = [step["refused"] for step in steps]
    assert refused == [[2, "n"], [0, "end"], [3, "b"]]
    assert "refusedIn" not in steps[0], "it dies at once"
    last = steps[2]
    assert last["refusedIn"] == [last["path"][-1], "a"], "of ab the first byte is legal"
    assert dict(zip(labels_of(last), last["reads"], strict=True))["ab"] == "a"
    assert "reads" not in steps[0], "no forbidden token is read in part"
    free = gv.stage(model, "a", temperature=0, steps=1)
    assert "refused" not in told(free)["add"][0]


def labels_of(step):
    return [label for _, label, *_ in step["rows"]]


def test_a_recording_shows_the_machine_and_the_stack_of_its_guide_and_another_guide_is_refused():
    live = staged(5)
    model = live.player.walk.model
    trace = gv.record(model, "x", live.guide, temperature=0, max_tokens=20)
    guide = gv.guide(gv.json(), model.vocabulary)
    replay = gv.stage(replace(trace, source="RECORDED"), guide=guide, steps=5)
    one, other = told(live), told(replay)
    for name in ("path", "taken", "bytes", "drawing", "mask", "rows"):
        again, first = ([step[name] for step in news["add"]] for news in (other, one))
        assert again == first
    assert other["stacks"] == one["stacks"]
    assert other["drawings"] == one["drawings"]
    replay.display.hear({"do": "choose", "token": PIECES.index(b"x"), "cursor": 5})
    assert told(replay, False)["why"]["died"] == "x", "a replay can explain as well"
    other = gv.guide(gv.grammar('root ::= "{" root "}" | "x"'), model.vocabulary)
    with pytest.raises(gv.TraceError, match=r"this guide, step 1: saw '\{\"', expected a token that the guide allows"):
        gv.stage(trace, guide=other)
    fresh = gv.stage(trace, steps=5)
    assert told(fresh)["machine"], "a fresh record keeps its guide"
    fresh.display.hear({"do": "choose", "token": PIECES.index(b"x"), "cursor": 5})
    assert told(fresh, False)["why"]["died"] == "x"
    bare = gv.stage(replace(trace, guide=None))
    assert not told(bare).get("machine")


def test_a_deep_stack_is_short_to_tell():
    deep = gv.grammar('root ::= "(" root ")" | "x"')
    state = deep.initial
    for _ in range(10_000):
        state = deep.step(state, ord("("))
    packed = panels.pack_state(deep, state)
    assert packed["depth"] == 10_000
    assert len(str(packed)) < 4000


# --- the map ---


def test_every_step_has_the_mask_that_it_obeyed(toy):
    model = toy.toy_model()
    guide = toy.WordsGuide(model.vocabulary)
    stage = gv.stage(model, "say ", guide, seed=3, steps=4)
    order, news = model.vocabulary.order, stage.display.news(True)
    for place, step in enumerate([*news["add"], news["next"]]):
        bits = news["map"]["bits"][step["mask"]]
        packed = np.frombuffer(b64decode(bits), np.uint8)
        pieces = [s.piece for s in stage.player.steps[:place]]
        state = b"".join(pieces)
        legal = np.unpackbits(packed, bitorder="little")[: len(order)]
        assert (legal == guide.mask(state)[order]).all()
        tokens = [int(order[rank]) for rank in step["ranks"]]
        assert tokens == [row[0] for row in step["rows"]]
    stage.close()
    assert "map" not in stage.display.news(True)
    free = gv.stage(model, "say ", steps=1)
    assert "map" not in free.display.news(True), "without a guide there is no map"


BRACKETS = [b"(", b")", b"x", b"x)", b"[x])", b"]", b"x)]", b"x))", b"</s>", b"[(", b"["]
NESTED = 'root ::= "(" root ")" | "[" root "]" | "x"'
# What the page must know before each token, written by hand: who asked and was legal, who asked and was not.
ASKED = [
    [set(), {b"x)", b"[x])", b"x)]", b"x))"}],  # b"": nothing is open that they could close
    [{b"x)]"}, {b"x))"}],  # b"[(": x) is sure, what comes after it is not
    [{b"x))"}, {b"x)]"}],  # b"[((": the same node on another stack
    [set(), set()],  # b"[((x)": only ) may come
    [set(), set()],  # b"[((x))": only ] may come
]


def nested(stack=True, engine="split", **settings):
    model = says(BRACKETS, b"[(", b"(", b"x)", b")", b"]", likely=(b"x))", b"x)]"))
    guide = gv.guide(gv.grammar(NESTED), model.vocabulary, engine=engine)
    return gv.stage(model, "x", guide, temperature=0, stack=stack, **settings)


def seen(page):
    """What the page paints: the pieces that asked and were legal, and those that asked and were not."""
    step = page.shown
    order = gv.Vocabulary(BRACKETS, eos={8}).order
    packed = np.frombuffer(b64decode(page.masks[step["mask"]]), np.uint8)
    legal = np.unpackbits(packed, bitorder="little")
    asked = b64decode(page.masks[step["asked"]])
    ranks = np.frombuffer(asked, "<i4").tolist()
    assert ranks == sorted(ranks)
    return [{BRACKETS[order[rank]] for rank in ranks if legal[rank] == kind} for kind in (1, 0)]


def test_at_every_step_the_page_knows_who_asked_and_what_the_stack_said():
    live = nested()
    page = Page(live)
    for cursor, asked in enumerate(ASKED):
        live.take(cursor - live.player.cursor)
        assert seen(page) == asked
    for cursor in (3, 1, 2):
        live.go(cursor)
        assert seen(page) == ASKED[cursor], "and when one goes back"
        assert page.news["map"]["bits"] == {}, "what was told is not told again"
    trace = replace(live.trace, steps=live.player.steps)
    replay = gv.stage(trace, guide=live.guide, stack=True)
    again = Page(replay)
    for cursor in range(len(live.player.steps)):
        replay.take(cursor - replay.player.cursor)
        assert seen(again) == ASKED[cursor], "and in a replay"
    live.go(0).choose(BRACKETS.index(b"("))
    assert seen(page) == [set(), {b"x)]", b"x))"}], "after ( alone there is nothing that they could close"


def test_who_asked_the_stack_is_shown_only_where_somebody_wants_it_and_the_engine_knows(monkeypatch):
    for stage in (nested(stack=False), nested(engine="trie")):
        news = stage.take(3).display.news(True)
        assert {step["asked"] for step in news["add"]} == {None}
    data, *_ = nested(stack=False, steps=3)._repr_mimebundle_()
    assert "context-dependent" not in data["text/html"]

    def refuse(split, state):
        raise gv.PatternError("grammar", seen="more than 1,000,000 moves", hint="rules that are not ambiguous")

    monkeypatch.setattr(gv.tokens.Split, "answers", refuse)
    news = nested(steps=2).display.news(True)
    assert {step["asked"] for step in news["add"]} == {None}


def test_after_an_edit_the_new_stack_is_asked():
    stage = nested(steps=3, edit=NESTED)
    page = Page(stage)
    stage.edit('root ::= "(" root ")" | "[" root "]" | "x" | "y"', "grammar")
    stage.take()
    assert seen(page) == ASKED[4]


@pytest.mark.usefixtures("headless")
def test_the_still_picture_has_the_three_colours():
    said = "of 11 tokens 6 are accepted, 3 rejected, 2 context-dependent: 1 legal, 1 illegal"
    assert said in nested(steps=3)._repr_mimebundle_()["text/html"]


def test_a_special_token_is_explained_whole():
    vocabulary = gv.Vocabulary([b"a", b"<x>", b"<y>"], special={1, 2})
    guide = gv.guide(gv.grammar('root ::= <x> "a"'), vocabulary)
    explained = [guide.explain(guide.initial, token) for token in (1, 2)]
    legal, refused = map(panels.pack_explanation, explained)
    begins = [row[:3] for row in legal["rows"]]
    assert begins == [("<x>", "n0", "→ n5")]
    begins = [row[:2] for row in refused["rows"]]
    assert begins == [("<y>", "n0")]


def test_a_byte_that_a_counted_repeat_has_no_room_for_comes_with_the_count():
    model = gv.ToyModel(
        [b"<eos>", b"a", b"ab", b"!"], lambda tokens: [0, 8 if len(tokens) < 3 else 5, len(tokens) * 2, 1], eos={0}
    )
    guide = regex_guide(model, "[a-z]{1,3}!")
    stage = gv.stage(model, "a", guide, temperature=0, steps=3)
    steps = told(stage)["add"]
    assert [step["label"] for step in steps] == ["a", "a", "a"]
    assert steps[2]["refused"] == [2, "b"]
    assert steps[2]["counted"] == [3, 3]
    assert "counted" not in steps[0], "nothing is refused but the end"


def test_no_byte_of_a_name_is_shown_as_a_number():
    machine = gv.grammar('root ::= <x> "a"')
    assert "0xFF" not in gv.draw_machine(machine).text
    assert "⟪" in gv.draw_machine(machine).text


def test_where_a_likely_token_dies_in_a_grammar_the_page_has_the_stack():
    model = says([b"<eos>", b"[", b"1", b"]}", b"]", b"x"], b"[", b"1", b"]", likely=(b"]}",))
    guide = gv.guide(gv.json(), model.vocabulary)
    news = told(gv.stage(model, "x", guide, temperature=0, steps=3))
    last = news["add"][2]
    state, read = last["refusedIn"]
    assert (last["refused"], read) == ([3, "}"], "]")
    assert str(state) in news["stacks"]


def test_the_exits_of_a_state_lie_behind_calls_that_may_read_nothing_too():
    grammar = gv.grammar('root ::= ws value "!"\nws ::= " "*\nvalue ::= "a" | "b"')
    packed = panels.pack_state(grammar, grammar.initial)
    calls = [call for place in packed["exits"] for call in grammar.nodes.calls[place]]
    called = {grammar.nodes.names[rule] for rule, _ in calls}
    assert called == {"ws", "value"}
    assert set(packed["now"]) < set(packed["exits"])
