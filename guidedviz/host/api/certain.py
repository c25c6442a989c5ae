"""What of a growing turn is certain: its thinking, and its text before the first call.

An end that may go on as a mark, or as white space that is no part of the text, is held back until more is known.
"""

from collections.abc import Sequence

from guidedviz.decoding.reply import style_signs, without_signs
from guidedviz.machines.turn import Style


def certain_parts(said: str, style: Style, thinks: bool | str, ended: bool) -> tuple[str, str]:
    """The thinking and the text of a turn that no later token changes.

    >>> from guidedviz.machines.turn import TURN_STYLES
    >>> certain_parts("Look: <tool", TURN_STYLES["text"], False, ended=False)
    ('', 'Look:')
    """
    thinking = ""
    if style.think and thinks:
        begin, mark = style_signs(style, style.think).split("TEXT")
        if thinks == "open":
            begin = ""
        if not said.startswith(begin):
            return ("", "") if begin.startswith(said) else ("", certain_text(said, style, ended))
        thinking, found, said = said.removeprefix(begin).partition(mark)
        if not found and not ended:
            return without_signs(settled(thinking, [mark])), ""
    return without_signs(thinking), certain_text(said, style, ended)


def certain_text(said: str, style: Style, ended: bool) -> str:
    """The text before the first call."""
    before, after = style_signs(style, style.answer).split("TEXT")
    mark = style_signs(style, call_mark(style))
    text, found, _ = said.lstrip().partition(mark)
    if not (ended or found):
        text = settled(text, [mark, after])
    if not text.startswith(before):
        return ""
    return without_signs(text.removeprefix(before).removesuffix(after))


def call_mark(style: Style) -> str:
    """The text that begins a call.

    >>> from guidedviz.machines.turn import TURN_STYLES
    >>> call_mark(TURN_STYLES["hermes"]), call_mark(TURN_STYLES["mistral"])
    ('<tool_call>', '[TOOL_CALLS][')
    """
    return style.opens or style.call.partition("NAME")[0].partition("\n")[0].removesuffix("PLAIN_")


def hold_back(text: str, marks: Sequence[str]) -> str:
    """The text without an end that may be the beginning of a mark.

    >>> hold_back("so <to", ["<tool>"]), hold_back("so", ["stop", "x"]), hold_back("x", [""])
    ('so ', 'so', 'x')
    """
    held = 0
    for mark in marks:
        for length in range(1, min(len(mark), len(text) + 1)):
            if text.endswith(mark[:length]):
                held = max(held, length)
    return text[: len(text) - held]


def settled(text: str, marks: Sequence[str]) -> str:
    """The text without an end that may go on as a mark, and without white space before it."""
    return hold_back(text, marks).rstrip()
