"""A short hash of what a drawing shows, so that a test notices a lost arrow, another label or another colour.

It leaves out what may differ between two machines: positions and sizes (Graphviz), dates, devices and times.
"""

import re
from collections.abc import Iterator
from hashlib import sha256

from guidedviz.markup import Element

KEPT_ATTRIBUTES = frozenset("class fill stroke font-weight text-decoration data-arrow data-state data-rule".split())
VARIES = re.compile(r"\d{4}-\d\d-\d\d|\b(cpu|mps|cuda(:\d+)?)\b|[\d,]*\.?\d+ (s|ms|µs)\b")


def fingerprint(drawn: Element) -> str:
    """Twelve hex digits of the elements of a drawing, their classes and colours, and its texts.

    >>> from guidedviz.markup import node
    >>> fingerprint(node("text", "a", x=1)) == fingerprint(node("text", "a", x=2))
    True
    >>> fingerprint(node("text", "a", x=1)) == fingerprint(node("text", "b", x=1))
    False
    """
    return sha256("\n".join(_content(drawn)).encode("utf-8", "replace")).hexdigest()[:12]


def _content(element: Element) -> Iterator[str]:
    if element.attributes.get("class") == "gv-nth":
        return  # the number of a step: short arrows have no room for one
    kept = [f"{name}={value}" for name, value in sorted(element.attributes.items()) if name in KEPT_ATTRIBUTES]
    yield " ".join([f"<{element.name}", *kept])
    for part in element.inside:
        if isinstance(part, str):
            yield VARIES.sub("…", part)
        else:
            yield from _content(part)
