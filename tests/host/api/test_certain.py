"""Claims about a turn that grows: what is sent of it stays, and all of it is what the whole turn says."""

import re

import pytest

from guidedviz.decoding.reply import BEGINS_NAME, ENDS_NAME, join_parts, split_reply, style_signs
from guidedviz.host.api.certain import certain_parts, hold_back
from guidedviz.machines.turn import TURN_STYLES

TEXTS = ["", "Three.", " I add \n<tool", "a <tool_cal", 'say {"name": 1']


def write_turn(style, thinking, text, calls):
    """A turn as a model of this style writes it, with signs around special tokens."""
    said = ""
    if style.think and thinking is not None:
        said = style.think.replace("TEXT", thinking) + "\n" * (style.after_thinking != "")
    if calls:
        call = style.call.replace("PLAIN_NAME", "add").replace("NAME", '"add"').replace("ARGS", '{"a": 1}')
        rest = style.opens + style.between.join([call] * calls) + style.closes
        said += (text if style.text_before_calls else "") + rest
    else:
        said += style.answer.replace("TEXT", text)
    return style_signs(style, said)


def parts_of(said):
    return re.split(f"{BEGINS_NAME}(.*?){ENDS_NAME}", said, flags=re.DOTALL)


@pytest.mark.parametrize("calls", [0, 1, 2])
@pytest.mark.parametrize("thinking", [None, "One\nand two.\n"])
@pytest.mark.parametrize("name", TURN_STYLES)
def test_what_is_certain_of_a_beginning_stands_in_the_whole(name, thinking, calls):
    style = TURN_STYLES[name]
    thinks = thinking is not None and bool(style.think)
    for text in TEXTS:
        said = write_turn(style, thinking, text, calls)
        assert join_parts(parts_of(said)) == said
        whole = certain_parts(said, style, thinks, ended=True)
        reply = split_reply(parts_of(said), style, thinks)
        assert whole == (reply.thinking, reply.text)
        before = ("", "")
        for end in range(len(said)):
            begun = said[:end]
            if begun.rfind(BEGINS_NAME) > begun.rfind(ENDS_NAME):
                continue  # a special token comes whole
            now = certain_parts(begun, style, thinks, ended=False)
            for earlier, later, last in zip(before, now, whole, strict=True):
                assert later.startswith(earlier), (begun, text)
                assert last.startswith(later), (begun, text)
            before = now


def test_a_text_is_held_back_only_where_a_mark_may_begin():
    assert hold_back("a stop", ["stopped"]) == "a "
    assert hold_back("a stopp!", ["stopped"]) == "a stopp!"
    assert hold_back("ababa", ["abac", "babab"]) == "a"
    assert hold_back("", ["x"]) == ""
