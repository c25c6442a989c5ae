"""When and why a decode ends."""

from __future__ import annotations

from typing import Any

from guidedviz.decoding.settings import Settings
from guidedviz.decoding.step_record import Point
from guidedviz.decoding.trace import End
from guidedviz.tokens.guide import Guide


def find_end(guide: Guide, after: Point, settings: Settings) -> End:
    """Why the decode ends at this point; "" if it goes on."""
    if after.tokens[-1] in guide.vocabulary.eos:
        return "eos"
    if is_complete(guide, after.state):
        return "complete"
    return "max_tokens" if after.position >= settings.max_tokens else ""


def is_complete(guide: Guide, state: Any) -> bool:
    """Whether the text may end here and nothing may follow, not even EOS."""
    return guide.is_accepting(state) and not guide.mask(state).any()
