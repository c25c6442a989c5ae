"""The bytes of an arrow as text: short for its label, in full for its tooltip and for people who cannot see it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from guidedviz.errors import shorten
from guidedviz.machines.visible import counted, visible, visible_bytes
from guidedviz.sketches.sketch import Arrow, Ranges, is_single

LABEL = 16  # characters of a label; the tooltip has the rest
ASCII = frozenset(range(128))
CONTROLS = frozenset(range(32))


def say_arrow(arrow: Arrow, whole: bool = False) -> str:
    """The bytes of an arrow; those of a folded chain as one text.

    >>> chain = Arrow(0, 4, ((97, 97), (195, 195), (169, 169), (32, 32)), through=(1, 2, 3))
    >>> say_arrow(chain), say_arrow(chain, whole=True), say_arrow(Arrow(0, 1, ((48, 57),)))
    ('aé␣', 'aé␣ (3 states inside)', '0-9')
    """
    if arrow.loop:
        return f"again, {arrow.loop} times in all" if whole else f"{arrow.loop} times"
    if arrow.folds_loop:
        words = say_ranges(arrow.ranges, limit=64, whole=whole)
        return f"{words} ({counted(len(arrow.through), 'state')} inside)" if whole else shorten(words, LABEL)
    if arrow.through:
        text = visible(bytes(low for low, _ in arrow.ranges))
        return f"{text} ({counted(len(arrow.through), 'state')} inside)" if whole else shorten(text, 2 * LABEL)
    return say_ranges(arrow.ranges, limit=64, whole=True) if whole else shorten(say_ranges(arrow.ranges), LABEL)


def say_row(row: Sequence[Ranges]) -> Iterator[str]:
    """Arrows in a row: single bytes as one text, equal classes as one with a count.

    >>> list(say_row([((58, 58),), ((32, 32),), ((48, 57),), ((48, 57),)]))
    [':␣', '0-9 ×2']
    """
    for single, group in groupby(row, key=is_single):
        if single:
            yield visible(bytes(ranges[0][0] for ranges in group))
            continue
        for ranges, same in groupby(group):
            count = len(list(same))
            yield say_ranges(ranges) + (f" ×{count}" if count > 1 else "")


def say_ranges(ranges: Ranges, limit: int = 4, whole: bool = False) -> str:
    """Ranges of bytes, short for a label or in full for a tooltip.

    >>> say_ranges(((48, 57),)), say_ranges(((0, 33), (35, 91), (93, 127))), say_ranges(((0xC2, 0xDF),)), say_ranges(())
    ('0-9', 'any but " \\\\', '0xC2-0xDF', 'ε')
    """
    if not ranges:
        return "an epsilon edge: reads nothing" if whole else "ε"
    values = frozenset(value for low, high in ranges for value in range(low, high + 1))
    ascii_part, high_part = values & ASCII, sorted(values - ASCII)
    if len(values) == 256:
        return "any byte"
    parts = [_say_ascii(ascii_part, limit, whole)] if ascii_part else []
    parts += [_say_high(high_part, whole)] if high_part else []
    return (", " if whole else " ").join(parts)


def _say_ascii(values: frozenset[int], limit: int, whole: bool) -> str:
    missing = ASCII - values
    kind = "any ASCII" if whole or not missing else "any"
    seen = missing - CONTROLS if missing >= CONTROLS else missing
    if len(values) <= 64 or len(seen) > 8:
        return visible_bytes(values, limit)
    words = [visible_bytes(seen, 8)] * bool(seen) + ["controls" if whole else "ctrl"] * (seen != missing)
    return f"{kind} but {' '.join(words)}" if words else kind


def _say_high(values: Sequence[int], whole: bool) -> str:
    """Bytes beyond ASCII in hexadecimal and, in full, their roles in UTF-8."""
    cuts = [n for n in range(1, len(values)) if values[n] != values[n - 1] + 1]
    rows = [values[a:b] for a, b in zip([0, *cuts], [*cuts, len(values)], strict=True)]
    said = " ".join(f"0x{row[0]:02X}" + (f"-0x{row[-1]:02X}" if len(row) > 1 else "") for row in rows)
    if not whole:
        return said
    kinds = dict.fromkeys(map(_kind, values))
    return f"{'byte' if len(values) == 1 else 'bytes'} {said} ({', '.join(kinds)})"


def _kind(byte: int) -> str:
    if byte < 0xC0:
        return "inside a character"
    if byte > 0xF4 or byte < 0xC2:
        return "never in UTF-8"
    return f"first of {2 if byte < 0xE0 else 3 if byte < 0xF0 else 4} bytes of a character"
