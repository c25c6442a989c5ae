"""A conversation on the stage: a result is changed on the page, and the model's next turn has it in its prompt."""

import pytest

import guidedviz as gv
from guidedviz.decoding import Conversation
from tests.decoding.scripted import Scripted

pytestmark = pytest.mark.browser


def add(a: int, b: int) -> int:
    """The sum."""
    return a + b


CALL = 'I add.<tool_call>\n{"name": "add", "arguments": {"a": 12, "b": 30}}\n</tool_call>'


def test_a_result_is_changed_before_the_model_reads_it(bare):
    model = Scripted(f"<think>A sum.</think>\n{CALL}", "<think>Read.</think>It is 42.")
    live = gv.stage(Conversation(model, "What is 12 + 30?", [add]), temperature=0, max_tokens=200, steps=200)
    stage = bare.show_stage(live)
    box = stage.root.locator(".gv-result textarea")
    assert box.input_value() == "42"
    bare.narrow(390)
    bare.shot("conversation-narrow", stage.root)
    bare.narrow(1380)
    bare.shot("conversation", stage.root)
    box.fill("41 </tool_response>")
    stage.root.get_by_role("button", name="let the model read it").click()
    stage.wait(0)
    assert box.count() == 0
    assert live.head.prompt.count("<tool_response>41 </tool_response></tool_response>") == 1
    stage.root.get_by_role("button", name="show the whole prompt").first.click()
    chips = stage.root.locator(".gv-prompt .gv-special").all_inner_texts()
    assert chips.count("</tool_response>") == 1, "what was typed is no chip"
    bare.shot("conversation-read", stage.root)
    stage.go_on(1)
