"""A recording as text: compressed when it is written, checked when it is read, for it may come from a stranger."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from typing import Any

from guidedviz.decoding.trace import Trace
from guidedviz.errors import TraceError, quoted

MOST = 64 << 20  # bytes of a recording when it is unpacked
FIELDS: dict[str, tuple[type, ...]] = {  # what every packed step has
    **dict.fromkeys(("token", "legal"), (int,)),
    **dict.fromkeys(("label", "how", "maskedText", "after", "massText", "state", "end", "words", "drawn"), (str,)),
    **dict.fromkeys(("masked", "mass"), (int, float)),
    **dict.fromkeys(("rows", "rest", "stack", "ms", "times", "back"), (list,)),
    "free": (bool,),
}
ROW = 7  # values of a row
SHAPES = "svg|g|path|rect|circle|ellipse|line|polygon|text|tspan|title|style|defs|marker"
UNSAFE = re.compile(
    rf"<\s*(?!/?(?:{SHAPES})\b)\S|\son\w+\s*=|href|javascript:|url\(\s*['\"]?(?!#)|@import", re.IGNORECASE
)


def compress(shown: Mapping[str, Any]) -> str:
    """JSON, compressed, as text; the same recording always gives the same text."""
    data = json.dumps(shown, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return b64encode(gzip.compress(data, 9, mtime=0)).decode()


def expand(recording: str, trace: Trace) -> dict[str, Any]:
    """The recording of a trace that was loaded, checked: it may come from a stranger."""
    shown = _unpack(recording)
    steps = shown.get("add") if isinstance(shown, dict) else None
    if not isinstance(steps, list) or len(steps) != len(trace.steps):
        raise TraceError("recording", seen="other steps", expected=f"the {len(trace.steps)} steps of the trace")
    for place, (packed, step) in enumerate(zip(steps, trace.steps, strict=True)):
        _check_step(f"recording, step {place + 1}", packed, step.token)
    for drawing in _drawings(shown):
        if not isinstance(drawing, str) or (found := UNSAFE.search(drawing)):
            seen = quoted(found[0]) if isinstance(drawing, str) and found else quoted(drawing)
            raise TraceError("recording, drawing", seen=seen, expected="shapes and text only")
    return dict(shown)


def _check_step(where: str, packed: Any, token: int) -> None:
    """Refuse a packed step that lacks something, or has something of another type than a step has."""
    for name, kind in FIELDS.items():
        seen = packed.get(name) if isinstance(packed, dict) else packed
        if type(seen) not in kind:
            expected = " or ".join(one.__name__ for one in kind)
            raise TraceError(f"{where}, {name}", seen=quoted(seen), expected=f"a value of type {expected}")
    if packed["token"] != token:
        raise TraceError(f"{where}, token", seen=quoted(packed["token"]), expected=str(token))
    if type(packed.get("dropped", "")) is not str:  # an older recording has none
        raise TraceError(f"{where}, dropped", seen=quoted(packed["dropped"]), expected="a value of type str")
    if any(type(row) is not list or len(row) != ROW for row in packed["rows"]):
        raise TraceError(f"{where}, rows", seen=quoted(packed["rows"]), expected=f"rows of {ROW} values")
    if any(type(state) is not int for state in packed.get("path", [])):
        raise TraceError(f"{where}, path", seen=quoted(packed["path"]), expected="numbers of states")


def _unpack(recording: str) -> Any:
    try:
        unpacker = zlib.decompressobj(31)
        data = unpacker.decompress(b64decode(recording, validate=True), MOST)
        if unpacker.unconsumed_tail:
            raise TraceError("recording", seen=f"more than {MOST >> 20} MB", expected="a smaller run")
        return json.loads(data)
    except (ValueError, zlib.error, RecursionError) as error:
        raise TraceError("recording", seen=str(error)[:80], expected="what Trace.save wrote") from None


def _drawings(shown: Mapping[str, Any]) -> Iterator[Any]:
    drawings = shown.get("drawings", {})
    for drawing in drawings.values() if isinstance(drawings, dict) else [drawings]:
        yield drawing.get("svg") if isinstance(drawing, dict) else drawing
