"""The constraint is edited on the page: an error shows its caret, a good text is taken over or waits."""

import zlib

import numpy as np
import pytest

import guidedviz as gv

pytestmark = pytest.mark.browser

PIECES = [b"<eos>", *(bytes([i]) for i in range(32, 127)), b'{"', b'":', b"name", b"age", b"Ada", b"Bob", b"36", b'"}']
PIECES += [b"<img src=x onerror=window.hacked=1>", "\u202e".encode()]
NAME = r'\{"name": ?"[A-Z][a-z]+"\}'
REJECTS = r'\{"age": ?[0-9]+\}'


def rule(tokens):
    logits = np.random.default_rng(zlib.crc32(repr(list(tokens)[-6:]).encode())).normal(0, 2.0, len(PIECES))
    logits[96:] += 5
    return logits


def show(bare):
    live = gv.stage(gv.ToyModel(PIECES, rule, eos={0}), "say ", edit=NAME, seed=3, steps=6)
    stage = bare.show_stage(live)
    stage.tab("constraint")
    return live, stage, stage.root.locator(".gv-edit")


def write(box, text):
    box.locator("textarea").fill(text)


def wait_for(box, state):
    box.and_(box.page.locator(f"[data-state='{state}']")).wait_for()


def test_a_wrong_text_shows_its_caret_and_a_good_one_holds_at_once(bare):
    live, stage, box = show(bare)
    states = stage.root.locator("[data-slot='machine'] svg:not(.gv-over) .gv-state").count()
    write(box, r'\{"name": ?"[A-Z')
    wait_for(box, "wrong")
    said = box.locator(".gv-edit-error")
    assert said.locator("p").inner_text().startswith("regex line 1, column 13: ")
    line, caret = said.locator("pre").inner_text().split("\n")
    assert line[caret.index("^")] == "["
    stage.go_on(1)
    assert gv.regex(NAME).accepts_prefix(live.text.encode()), "the old constraint runs on"
    write(box, r'\{"name": ?"[A-Z][a-z]+"(, "age": [0-9]+)?\}')
    wait_for(box, "runs")
    stage.root.locator("[data-slot='machine'] svg:not(.gv-over) .gv-state").nth(states).wait_for(state="attached")
    assert "from step 8 on" in stage.root.locator(".gv-about").inner_text()
    stage.go_on(1)


def test_what_rejects_a_token_marks_it_and_goes_back_there(bare):
    _, stage, box = show(bare)
    write(box, REJECTS)
    wait_for(box, "waits")
    tokens = stage.tokens
    marked = stage.root.locator(".gv-chip.gv-rejected")
    place = int(marked.get_attribute("data-place"))
    assert tokens[place] in box.locator(".gv-edit-rejects").inner_text()
    assert stage.cursor == 6, "the constraint before runs on"
    box.get_by_role("button", name="go back there").click()
    stage.wait(place)
    assert stage.tokens == tokens[:place]
    wait_for(box, "runs")
    assert marked.count() == 0
    names = "nodes => nodes.map(node => node.textContent).join(' ')"
    assert "a g e" in stage.root.locator("[data-slot='machine'] .gv-label").evaluate_all(names), "the new machine"
    stage.go_on(1)
    assert stage.tokens[-1] == "age"


@pytest.mark.parametrize("size", [(931, 768), (1280, 720), (390, 844)])
@pytest.mark.quick("size0")
def test_a_stage_opens_on_the_machine_and_its_regex_is_edited_above_it(bare, size):
    live = gv.stage(gv.ToyModel(PIECES, rule, eos={0}), "say ", edit=NAME, seed=3, steps=6)
    stage = bare.show_stage(live)
    bare.resize(*size)
    if size[0] < 640:
        stage.tab("machine")
    line, machine = stage.root.locator(".gv-edit-line"), stage.root.locator("[data-part=machine]")
    text = line.get_by_role("textbox", name="regex")
    assert text.input_value() == NAME
    assert text.bounding_box()["y"] < machine.bounding_box()["y"]
    assert machine.bounding_box()["height"] > 230
    high = stage.root.bounding_box()["height"]
    text.fill(r'\{"name": ?"[A-Z')
    wait_for(line, "wrong")
    text.fill(REJECTS)
    wait_for(line, "waits")
    line.get_by_role("button", name="go back there").wait_for()
    assert size[0] < 640 or stage.root.bounding_box()["height"] == high, "nothing below the stage moves"
    good = r'\{"name": ?"[A-Z][a-z]+"(, "age": [0-9]+)?\}'
    text.fill(good)
    wait_for(line, "runs")
    text.press("Home")
    assert stage.cursor == 6, "the keys are those of the line"
    stage.tab("constraint")
    assert not line.is_visible()
    assert stage.root.locator(".gv-edit textarea").input_value() == good


def test_letters_typed_are_letters_escape_gives_the_keys_back_and_another_language_is_a_press_away(bare):
    _, stage, box = show(bare)
    text = box.locator("textarea")
    text.fill("")
    text.press_sequentially("r 1aabdd")
    for key in ("ArrowLeft", "Home", "End", "Shift+Enter", "Control+Enter"):
        text.press(key)
    assert (text.input_value().strip(), stage.cursor) == ("r 1aabdd", 6)
    assert stage.root.get_attribute("data-playing") == "false"
    text.press("Escape")
    bare.page.keyboard.press("ArrowLeft")
    stage.wait(5)
    write(box, 'root ::= "{" vlaue\nvalue ::= "a"')
    wait_for(box, "waits")  # as a regex it is right, and something else
    box.get_by_role("button", name="grammar").click()
    box.locator(".gv-edit-error:has-text('GBNF line 1, column 14')").wait_for()
    assert 'did you mean "value"' in box.locator(".gv-edit-error").inner_text()
    bare.resize(560, 1000)
    assert stage.root.evaluate("root => root.scrollWidth <= root.clientWidth + 1"), "nothing sticks out"
