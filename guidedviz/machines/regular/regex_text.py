"""Where the constructs of a regex stand in its text: Python's parser forgets most positions, and errors name them.

The pieces of `a[)]{2}(?=b)` are a, [)], {2}, (?, =, b and ).
"""

import re
from collections.abc import Iterator
from re import _constants as op  # type: ignore[attr-defined]

from guidedviz.errors import PatternError

# The pieces of a pattern: an escape or a whole class is one piece.
PATTERN_PIECES = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?(?:P=|\(|>)?|(?:[*+?]|\{\d*,?\d*\})[+?]?|.", re.DOTALL)
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
# Unsupported constructs: the parser's name, our name, and a regex that finds the construct in the text.
NOT_REGULAR = {
    "GROUPREF": ("a backreference", r"\\[1-9]|\(\?P="),
    "GROUPREF_EXISTS": ("a conditional group", r"\(\?\("),
    "ATOMIC_GROUP": ("an atomic group", r"\(\?>"),
    "POSSESSIVE_REPEAT": ("a possessive repeat", r"[*+?{][^+]*\+"),
}


def find_lookarounds(text: str) -> Iterator[str]:
    """The lookarounds of a pattern by their places, in their order; none if there may be comments.

    >>> list(find_lookarounds("(?=a[(?=](?<!b))"))
    ['(?= at position 0', '(?<! at position 9']
    """
    if COMMENTS.search(text):
        return
    for piece in PATTERN_PIECES.finditer(text):
        found = LOOKAROUND.match(text, piece.start())
        if piece[0] == "(?" and found:
            yield f"{found[0]} at position {piece.start()}"


def find_anchors(text: str) -> dict[str, int]:
    """The first place of each kind of anchor.

    >>> find_anchors("^a$|^[$]")
    {'^': 0, '$': 2}
    """
    found: dict[str, int] = {}
    for piece in PATTERN_PIECES.finditer(text):
        if piece[0] in ANCHORS.values():
            found.setdefault(piece[0], piece.start())
    return found


def not_regular(text: str, construct: str) -> PatternError:
    """The error for a construct that no finite machine can read.

    >>> print(not_regular("(a)b\\\\1", "GROUPREF"))
    regex, position 4: saw a backreference, expected a regular pattern; try: rewrite it, or use a grammar
    """
    name, looks = NOT_REGULAR[construct]
    found = (piece.start() for piece in PATTERN_PIECES.finditer(text) if re.match(looks, piece[0]))
    where = f"regex, position {next(found, 0)}"
    return PatternError(where, seen=name, expected="a regular pattern", hint="rewrite it, or use a grammar")
