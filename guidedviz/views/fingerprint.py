"""A short hash of what a drawing shows, so that a test notices a lost arrow, another label or another colour.

It leaves out what may differ between two machines: positions and sizes (Graphviz), dates, devices and times.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import sha256

PART = re.compile(r"<(/?)([\w:-]+)([^<>]*?)/?>|([^<>]+)")
ATTRIBUTE = re.compile(r'([\w:-]+)="([^"]*)"')
KEPT = frozenset("class fill stroke font-weight text-decoration data-arrow data-state data-rule".split())
VARIES = re.compile(r"\d{4}-\d\d-\d\d|\b(cpu|mps|cuda(:\d+)?)\b|[\d,]*\.?\d+ (s|ms|µs)\b")
STEP_NUMBER = re.compile(r'<text[^<>]*class="gv-nth"[^<>]*(/>|>[^<>]*</text>)')  # short arrows have no room for one


def fingerprint(svg: str) -> str:
    """Twelve hex digits of the elements of a drawing, their classes and colours, and its texts.

    >>> fingerprint('<text x="1">a</text>') == fingerprint('<text x="2">a</text>')
    True
    >>> fingerprint('<text x="1">a</text>') == fingerprint('<text x="1">b</text>')
    False
    """
    return sha256("\n".join(_content(svg)).encode("utf-8", "replace")).hexdigest()[:12]


def _content(svg: str) -> Iterator[str]:
    for closing, name, attributes, text in PART.findall(STEP_NUMBER.sub("", svg)):
        if text:
            yield VARIES.sub("…", text)
        elif not closing:
            yield " ".join([f"<{name}", *(f"{k}={v}" for k, v in sorted(ATTRIBUTE.findall(attributes)) if k in KEPT)])
