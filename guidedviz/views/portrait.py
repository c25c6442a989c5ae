"""What a notebook shows of a value at the end of a cell: a trace as a strip, a machine as a small picture.

The classes are in rooms below the views and ask for it by `lazy.load_views`. Where nothing can be drawn, the notebook
shows the one line that the value is as text.
"""

from typing import Any

from guidedviz.decoding.trace import Trace
from guidedviz.errors import GuidedVizError
from guidedviz.machines.machine import Machine
from guidedviz.machines.visible import counted
from guidedviz.markup import Element, node, table
from guidedviz.tokens.guide import Guide
from guidedviz.tokens.shown_mask import ShownMask
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.views.figure import show_figure
from guidedviz.views.machine.highlight import Drawable
from guidedviz.views.machine.picture import draw_machine
from guidedviz.views.strip import draw_strip
from guidedviz.views.vocabulary.map import draw_mask

SAMPLE = 16  # tokens of a vocabulary that are shown


def html_of(value: Any) -> str | None:
    """The value as HTML; None where there is no picture of it.

    >>> html_of(gv.regex("a*")) is None, html_of(3)
    (False, None)
    """
    try:
        shown = draw_portrait(value)
    except GuidedVizError:  # too large, say
        return None
    return None if shown is None else str(shown)


def draw_portrait(value: Any) -> Element | None:
    """The picture of a value, and for a guide and a vocabulary a line of text."""
    match value:
        case Trace(steps=(_, *_)):
            return show_figure(draw_strip(value))
        case ShownMask(is_whole=True, vocabulary=Vocabulary() as vocabulary):
            return show_figure(draw_mask(vocabulary, value, "a mask"))
        case Vocabulary():
            return node("div", repr(value), table(describe_vocabulary(value)))
        case Guide(machine=Machine()):
            inside = draw_portrait(value.machine)
            return None if inside is None else node("div", repr(value), inside)
        case Machine() if isinstance(value, Drawable):
            return show_figure(draw_machine(value))
    return None


def describe_vocabulary(vocabulary: Vocabulary) -> list[tuple[str, str]]:
    """What a vocabulary holds, in names and values."""
    text = vocabulary.order[: len(vocabulary.text_ids)].tolist()
    sample = [vocabulary.display(token) for token in text[:: max(1, len(text) // SAMPLE)][:SAMPLE]]
    names = list(vocabulary.special_ids)
    rows = [
        ("text tokens", f"{len(text):,}, at most {counted(vocabulary.longest, 'byte')} long"),
        ("such as", " ".join(sample)),
    ]
    if names:
        rows.append(("special", f"{len(names):,}: {' '.join(names[:SAMPLE])}"))
    if vocabulary.eos:
        rows.append(("ends a text", " ".join(map(vocabulary.display, sorted(vocabulary.eos)))))
    return rows
