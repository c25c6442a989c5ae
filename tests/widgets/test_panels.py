"""What the page of a stage is told: machine, stack and masks, each once."""

from base64 import b64decode
from dataclasses import replace
from itertools import chain, pairwise
from unittest.mock import Mock

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
    assert not {"machine", "drawings"} & set(news)
    assert news["add"] == [None], "it was told as the next step"
    assert told(stage)["add"][0]["path"] == [0, 1, 2, 3], "one more state per byte"
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
    model = says([b"<eos>", b"a", b"a" * 1499], b"a", b"a" * 1499, b"a")
    guide = gv.guide(DFA((*moves, ()), frozenset({2000})), model.vocabulary, engine="trie")
    stage = gv.stage(model, "a", guide, temperature=0, steps=3)
    news = told(stage)
    assert [step["drawing"] for step in news["add"]] == [0, 1, 1], "a new one where the old one lacks the state"
    assert "of 2,001 states" in news["drawings"]["0"]["words"]
    for number, state in (("0", 0), ("1", 1500)):
        assert f"'data-state': {state}}}" in str(news["drawings"][number]["shapes"])
    assert "drawings" not in told(stage, False)


# --- a stack ---


def test_the_frames_of_every_state_are_those_of_the_machine_and_its_arrows_are_drawn():
    news = told(staged(7))
    pda = gv.json()
    state = pda.initial
    drawn = str(news["drawings"]["0"]["shapes"])
    for step, piece in zip(news["add"], TEXT, strict=True):
        assert "".join(step["bytes"]) == piece.decode()
        assert len(step["taken"]) == len(piece)
        for key in chain(*step["taken"]):
            assert f"'data-arrow': '{key}'" in drawn
        for number, byte in zip(step["path"][1:], piece, strict=True):
            state = pda.step(state, byte)
            known = news["stacks"][str(number)]
            assert tuple(rule for _, rule, _ in known["frames"]) == pda.stack(state)
            assert known["ground"] == ("bottom · the text may end" if pda.is_accepting(state) else "bottom")
            assert (known["depth"], known["ways"]) == (pda.depth(state), say_ways(state))
            assert known["now"] == sorted(pda.places(state))


def test_a_grammar_is_drawn_whole_and_each_rule_alone():
    news = told(staged(7))
    nodes = gv.json().nodes
    drawn = {drawing.get("rule", ""): str(drawing["shapes"]) for drawing in news["drawings"].values()}
    assert list(drawn) == ["", *nodes.names]
    for step in news["add"]:
        for key in chain(*step["taken"]):
            rule = nodes.name_of(int(key.partition("-")[0]))
            assert f"'data-arrow': '{key}'" in drawn[rule], "a byte is read in the row of its rule"
        (_, top, _), *_ = news["stacks"][str(step["path"][-1])]["frames"]
        assert news["drawings"][str(step["drawing"])]["rule"] == top


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
    news = told(gv.stage(model, "x", guide, temperature=0, steps=2))
    state = news["stacks"][str(news["add"][-1]["path"][-1])]
    number, array, _ = state["frames"]
    assert number[1] == "number"
    assert state["others"] == [[array]], "the number has ended, and the list is read on"


def test_a_state_is_told_once_and_again_to_a_new_page():
    stage = staged()
    news = told(stage)
    first = news["stacks"]
    assert set(first) == {str(state) for state in news["next"]["path"]}, "the first state, and those of the next token"
    stage.take(2)
    assert first.keys().isdisjoint(told(stage, False)["stacks"])
    stage.go(stage.player.cursor - 2).take(1)
    assert told(stage, False)["stacks"] == {}
    news = told(stage)
    steps = [step for step in [*news["add"], news["next"]] if step]
    assert set(news["stacks"]) == {str(n) for step in steps for n in step["path"]}
    assert set(map(str, stage.display.saved()["stacks"])) == set(news["stacks"])


def test_what_stays_open_keeps_its_number():
    news = told(staged(7))
    path = [number for step in news["add"] for number in step["path"][1:]]
    outward = [[number for number, *_ in reversed(news["stacks"][str(state)]["frames"])] for state in path]
    for before, after in pairwise(outward):
        below = min(len(before), len(after)) - 1
        assert before[:below] == after[:below]
    assert len({len(numbers) for numbers in outward}) > 3


def test_why_shows_the_stack_where_the_token_died():
    stage = staged(5)
    told(stage)
    stage.display.hear({"do": "choose", "token": PIECES.index(b"x"), "cursor": 5})
    why = told(stage, False)["why"]
    node = why["stacks"][str(why["path"][-1])]["now"][0]
    assert why["rows"][-1][:2] == ["x", f"n{node}"]
    assert (why["died"], why["stack"][0]) == ("x", "array")
    assert "innermost open rule is array" in why["reason"]


def test_a_step_says_the_likeliest_forbidden_token_and_its_byte_that_dies():
    pieces = [b"<eos>", b"a", b"no", b"ab", b"b"]
    wanted = [[0, 3, 9, 0, 1], [9, 1, 0, 0, 3], [0, 1, 0, 9, 8]]
    model = gv.ToyModel(pieces, lambda tokens: wanted[len(tokens) - 1], eos={0})
    first, second, last = told(gv.stage(model, "a", regex_guide(model, "aba"), temperature=0, steps=3))["add"]
    assert [step["refused"] for step in (first, second, last)] == [[2, "n"], [0, "end"], [3, "b"]]
    assert not {"refusedIn", "reads"} & set(first), "it dies at once"
    assert last["refusedIn"] == [last["path"][-1], "a"], "of ab the first byte is legal"
    labels = [label for _, label, *_ in last["rows"]]
    assert dict(zip(labels, last["reads"], strict=True))["ab"] == "a"
    assert "refused" not in told(gv.stage(model, "a", temperature=0, steps=1))["add"][0]


def test_a_recording_shows_the_machine_and_the_stack_of_its_guide_and_another_guide_is_refused():
    live = staged(5)
    model = live.player.walk.model
    trace = gv.record(model, "x", live.guide, temperature=0, max_tokens=20)
    again = gv.guide(gv.json(), model.vocabulary)
    replay = gv.stage(replace(trace, source="RECORDED"), guide=again, steps=5)
    one = told(live)
    other = told(replay)
    for name in ("path", "taken", "bytes", "drawing", "mask", "rows"):
        assert [step[name] for step in other["add"]] == [step[name] for step in one["add"]]
    assert other["stacks"] == one["stacks"]
    assert other["drawings"] == one["drawings"]
    for stage in (replay, gv.stage(trace, steps=5)):  # a fresh record keeps its guide
        told(stage)
        stage.display.hear({"do": "choose", "token": PIECES.index(b"x"), "cursor": 5})
        assert told(stage, False)["why"]["died"] == "x", "a replay can explain as well"
    with pytest.raises(gv.TraceError, match=r"this guide, step 1: saw '\{\"', expected a token that the guide allows"):
        gv.stage(trace, guide=gv.guide(gv.grammar('root ::= "{" root "}" | "x"'), model.vocabulary))
    assert not told(gv.stage(replace(trace, guide=None))).get("machine")


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
    order = model.vocabulary.order
    news = told(stage)
    state = b""
    for step, taken in zip([*news["add"], news["next"]], [*stage.player.steps, None], strict=True):
        packed = np.frombuffer(b64decode(news["map"]["bits"][str(step["mask"])]), np.uint8)
        legal = np.unpackbits(packed, bitorder="little")[: len(order)]
        assert (legal == guide.mask(state)[order]).all()
        assert order[step["ranks"]].tolist() == [row[0] for row in step["rows"]]
        state += taken.piece if taken else b""
    stage.close()
    assert "map" not in told(stage)
    assert "map" not in told(gv.stage(model, "say ", steps=1)), "without a guide there is no map"


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
    data, *_ = nested(stack=False, steps=3)._repr_mimebundle_()
    assert "context-dependent" not in data["text/html"]
    plain = [nested(stack=False, steps=3), nested(engine="trie", steps=3)]
    error = gv.PatternError("grammar", seen="more than 1,000,000 moves", hint="rules that are not ambiguous")
    monkeypatch.setattr(gv.tokens.Split, "answers", Mock(side_effect=error))
    for stage in (*plain, nested(steps=2)):
        assert {step["asked"] for step in told(stage)["add"]} == {None}


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
    for token, row in ((1, ["<x>", "n0", "→ n5"]), (2, ["<y>", "n0"])):
        explained = panels.pack_explanation(guide.explain(guide.initial, token))
        assert [list(each[: len(row)]) for each in explained["rows"]] == [row]


def test_a_byte_that_a_counted_repeat_has_no_room_for_comes_with_the_count():
    pieces = [b"<eos>", b"a", b"ab", b"!"]
    model = gv.ToyModel(pieces, lambda read: [0, 8 if len(read) < 3 else 5, len(read) * 2, 1], eos={0})
    steps = told(gv.stage(model, "a", regex_guide(model, "[a-z]{1,3}!"), temperature=0, steps=3))["add"]
    assert [step["label"] for step in steps] == ["a", "a", "a"]
    assert (steps[2]["refused"], steps[2]["counted"]) == ([2, "b"], [3, 3])
    assert "counted" not in steps[0], "nothing is refused but the end"


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
