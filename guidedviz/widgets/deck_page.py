"""A deck of slides as one page: a sentence and a picture per slide, notes for the speaker, and recordings that play.

It has the policy of all our pages: it runs its own scripts and loads nothing. What a notebook brings to it is cleaned.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from secrets import token_urlsafe
from typing import Any, Literal

from guidedviz.decoding.recording import compress
from guidedviz.markup import node, with_marks
from guidedviz.widgets.clean import clean
from guidedviz.widgets.player_page import page_head, play_place

DECK = "deck"
SIZES = range(40, 19, -1)  # pixels of a text on a slide of 1280 by 720
TEXT_WIDTH = 1150  # pixels that a text has on such a slide
TEXT_HEIGHT = 500
LETTER = 0.61  # width of a letter, in its size
LINE = 1.4  # height of a line, in its size
LONGEST_LINE = int(TEXT_WIDTH / (LETTER * SIZES[-1]))  # letters of a line that need not break
OWN_ID = re.compile(r'( id="|url\(#)(?=gv-)')  # of a pattern or a mask of a drawing, and where it is used


@dataclass(frozen=True)
class Slide:
    """One slide: its sentence, what it shows as HTML, its notes as HTML, and the recording that plays in its place.

    A question may show, below it, what the slide before it showed.
    """

    sentence: str
    kind: Literal["picture", "text", "question"]
    shown: str
    notes: str
    recording: dict[str, Any] | None = None
    at_home: bool = False
    before: str = ""


def text_slide(sentence: str, text: str, notes: str) -> Slide:
    """A slide that shows a text, as large as it fits."""
    shown = node("pre", text, style=f"--size:{text_size(text)}")
    return Slide(sentence, "text", str(shown), notes)


def text_size(text: str) -> int:
    """The largest size at which a text fits on a slide: unbroken if it can be, else with broken lines.

    >>> text_size("short"), text_size("a long line " * 40), text_size("x" * 10000)
    (40, 35, 20)
    """
    lines = text.splitlines()
    longest = max(map(len, lines), default=0)
    for size in SIZES:
        if longest <= _columns(size) and len(lines) * LINE * size <= TEXT_HEIGHT:
            return size
    for size in SIZES:
        rows = sum(max(1, ceil(len(line) / _columns(size))) for line in lines)
        if rows * LINE * size <= TEXT_HEIGHT:
            return size
    return SIZES[-1]


def _columns(size: int) -> int:
    return int(TEXT_WIDTH / (LETTER * size))


def deck_page(title: str, slides: Sequence[Slide]) -> str:
    """The page of a deck."""
    nonce = token_urlsafe()
    kinds = dict.fromkeys(slide.recording["kind"] for slide in slides if slide.recording)
    head = page_head(title, kinds, nonce, DECK)
    inside = "".join(_write_slide(title, slide, nonce, number) for number, slide in enumerate(slides))
    # the class `site`: the page has a theme and addresses of its own
    body = f'<body class="site deck"><main class="gv">{inside}</main></body>'
    return f'<!doctype html>\n<html lang="en">{head}{body}</html>\n'


def _write_slide(title: str, slide: Slide, nonce: str, number: int) -> str:
    title = f"{title} · homework" if slide.at_home else title
    name = node("p", title, class_="name") if number else node("h1", title)
    sentence = node("h2", with_marks(slide.sentence))
    shown = slide.shown
    if slide.kind != "text":
        shown = _with_own_ids(clean(shown), f"{number}-")
    if slide.recording:
        saved = compress(slide.recording["shown"])
        place = play_place(slide.recording["kind"], saved, nonce, slide.recording["step"])
        shown = f'{place}<figure class="gv-still">{shown}</figure>'
    if slide.before:
        before = _with_own_ids(clean(slide.before), f"before-{number}-")
        shown += f'<figure class="before">{before}</figure>'
    notes = _with_own_ids(clean(slide.notes), f"notes-{number}-")
    kind = "plays" if slide.recording else slide.kind
    return (
        f'<section class="slide {kind}">{name}{sentence}<div class="shown">{shown}</div>'
        f'<aside class="notes">{notes}</aside></section>'
    )


def _with_own_ids(html: str, name: str) -> str:
    """HTML whose drawings use patterns and masks of their own: those on a slide that is hidden draw nothing.

    >>> _with_own_ids('<pattern id="gv-hatch"/><rect fill="url(#gv-hatch)"/>', "2-")
    '<pattern id="2-gv-hatch"/><rect fill="url(#2-gv-hatch)"/>'
    """
    return OWN_ID.sub(rf"\g<1>{name}", html)


def with_notes(slide: Slide, before: str, after: str) -> Slide:
    """The slide with more notes before and after its own."""
    return replace(slide, notes=f"{before}{slide.notes}{after}")
