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


@pytest.mark.parametrize("size", [(931, 768), (1280, 720), (390, 844)])
@pytest.mark.quick("size0")
def test_a_stage_opens_on_the_machine_and_its_regex_is_edited_above_it(bare, size):
    stage = bare.show_stage(gv.stage(gv.ToyModel(PIECES, rule, eos={0}), "say ", edit=NAME, seed=3, steps=6))
    bare.resize(*size)
    if size[0] < 640:
        stage.tab("machine")
    line = stage.root.locator(".gv-edit-line")
    machine = stage.root.locator("[data-part=machine]")
    text = line.get_by_role("textbox", name="regex")
    assert text.input_value() == NAME
    assert text.bounding_box()["y"] < machine.bounding_box()["y"]
    assert machine.bounding_box()["height"] > 230
    high = stage.root.bounding_box()["height"]
    good = NAME.replace(r"\}", r"(, \"age\": [0-9]+)?\}")
    for written, state in ((NAME[:-6], "wrong"), (REJECTS, "waits"), (good, "runs")):
        text.fill(written)
        wait_for(line, state)
        assert size[0] < 640 or stage.root.bounding_box()["height"] == high, "nothing below the stage moves"
    text.press("Home")
    assert stage.cursor == 6, "the keys are those of the line"
    stage.tab("constraint")
    assert not line.is_visible()
    assert stage.root.locator(".gv-edit textarea").input_value() == good


def test_a_wrong_text_shows_its_caret_and_another_language_is_a_press_away(bare):
    _, stage, box = show(bare)
    write(box, 'root ::= "{" vlaue\nvalue ::= "a"')
    wait_for(box, "waits")  # as a regex it is right, and something else
    box.get_by_role("button", name="grammar").click()
    error = box.locator(".gv-edit-error")
    error.get_by_text("GBNF line 1, column 14").wait_for()
    line, caret = error.locator("pre").inner_text().split("\n")
    assert line[caret.index("^") :].startswith("vlaue")
    bare.resize(560, 1000)
    assert stage.root.evaluate("root => root.scrollWidth <= root.clientWidth + 1"), "nothing sticks out"
