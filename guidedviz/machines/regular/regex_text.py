"""Where the constructs of a regex stand in its text: Python's parser forgets most positions, and errors name them."""

import re
from collections.abc import Iterator
from re import _constants as op  # type: ignore[attr-defined]

# Unsupported constructs: the parser's name, our name, and a regex that finds the construct in the text.
REFUSED = {
    "GROUPREF": ("a backreference", r"\\[1-9]|\(\?P="),
    "GROUPREF_EXISTS": ("a conditional group", r"\(\?\("),
    "ATOMIC_GROUP": ("an atomic group", r"\(\?>"),
    "POSSESSIVE_REPEAT": ("a possessive repeat", r"[*+?{][^+]*\+"),
}
# The pieces of a pattern: an escape or a whole class is one piece.
PIECES = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?(?:P=|\(|>)?|(?:[*+?]|\{\d*,?\d*\})[+?]?|.", re.DOTALL)
LOOKAROUND = re.compile(r"\(\?(?:<?=|<?!(?!\)))")  # an empty one that is negated is none for the parser
COMMENTS = re.compile(r"\(\?(?:#|[a-zA-Z]*x)")  # or the flag that allows them
ANCHORS = {
    op.AT_BEGINNING: "^",
    op.AT_BEGINNING_STRING: r"\A",
    op.AT_END: "$",
    op.AT_END_STRING: r"\Z",
    op.AT_BOUNDARY: r"\b",
    op.AT_NON_BOUNDARY: r"\B",
}


def find_lookarounds(text: str) -> Iterator[str]:
    """The lookarounds of a pattern by their places, in their order; none if there may be comments.

    >>> list(find_lookarounds("(?=a[(?=](?<!b))"))
    ['(?= at position 0', '(?<! at position 9']
    """
    if COMMENTS.search(text):
        return
    for piece in PIECES.finditer(text):
        if piece[0] == "(?" and (found := LOOKAROUND.match(text, piece.start())):
            yield f"{found[0]} at position {piece.start()}"
