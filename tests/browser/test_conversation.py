"""A conversation on the stage: a result is changed on the page, and the model's next turn has it in its prompt."""

import pytest

import guidedviz as gv
from guidedviz.decoding import Conversation
from tests.browser.access import CONTRAST
from tests.decoding.scripted import Scripted

pytestmark = pytest.mark.browser


def add(a: int, b: int) -> int:
    """The sum."""
    return a + b


def sees(stage, selector):
    """Whether the text shows this without scrolling."""
    tape, shown = (stage.root.locator(one).bounding_box() for one in (".gv-tape", selector))
    return tape["y"] <= shown["y"] and shown["y"] + shown["height"] <= tape["y"] + tape["height"]


CALL = 'I add.<tool_call>\n{"name": "add", "arguments": {"a": 12, "b": 30}}\n</tool_call>'


def test_a_result_is_changed_before_the_model_reads_it(bare):
    model = Scripted(f"<think>A sum.</think>\n{CALL}", "<think>Read.</think>It is 42.")
    live = gv.stage(Conversation(model, "What is 12 + 30?", [add]), temperature=0, max_tokens=200, steps=200)
    stage = bare.show_stage(live)
    box = stage.root.locator(".gv-result textarea")
    assert box.input_value() == "42"
    box.fill("41 </tool_response>")
    stage.root.get_by_role("button", name="let the model read it").click()
    stage.wait(0)
    read = stage.root.locator(".gv-read").first
    chips = read.locator(".gv-special").all_inner_texts()
    assert chips.count("</tool_response>") == 1, "what was typed is no chip"
    assert "41 </tool_response></tool_response>" in read.inner_text()
    assert sees(stage, ".gv-turn-now")
    for theme in ("Dark", "Light"):
        bare.theme(theme)
        assert stage.root.locator(".gv-tape").evaluate(CONTRAST) == {}, "chips can be read"
    stage.go_on(1)
    assert sees(stage, ".gv-chip.gv-now")
    said = stage.root.locator(".gv-other-turn")
    said.focus()
    bare.page.keyboard.press("Enter")
    stage.wait(0)
    assert stage.root.locator(".gv-talk").first.inner_text() == "turn 1", "the shown turn has its steps"
    said.click()
    bare.wait(lambda: live.talk.now == 1)
