"""The bytes of an arrow as text: short for its label, in full for its tooltip."""

from collections.abc import Iterator, Sequence, Set
from itertools import groupby

from guidedviz.errors import shorten
from guidedviz.machines.ranges import byte_ranges
from guidedviz.machines.visible import counted, visible, visible_bytes
from guidedviz.views.layout.sketch import Arrow, Ranges, is_one_byte

LABEL_LENGTH = 16  # characters of a label, and twice as many of a chain's; the tooltip has the rest
ASCII_BYTES = frozenset(range(128))
CONTROL_BYTES = frozenset(range(32))


def say_arrow(arrow: Arrow) -> str:
    """The bytes of an arrow, short for its label; those of a folded chain as one text.

    >>> say_arrow(Arrow(0, 1, ((48, 57),))), say_arrow(Arrow(0, 2, ((97, 97), (32, 32)), through=(1,)))
    ('0-9', 'a␣')
    """
    if arrow.call:
        return f"calls {arrow.call}"
    if arrow.loop:
        return f"{arrow.loop} times"
    if arrow.folds_loop:
        return shorten(say_ranges(arrow.ranges, 64), LABEL_LENGTH)
    if arrow.through:
        return shorten(_say_chain(arrow), 2 * LABEL_LENGTH)
    return shorten(say_ranges(arrow.ranges), LABEL_LENGTH)


def say_arrow_in_full(arrow: Arrow) -> str:
    """The bytes of an arrow in full, for its tooltip.

    >>> say_arrow_in_full(Arrow(0, 4, ((97, 97), (195, 195), (169, 169), (32, 32)), through=(1, 2, 3)))
    'aé␣ (3 states inside)'
    """
    if arrow.call:
        return f"calls {arrow.call}"
    if arrow.loop:
        return f"again, {arrow.loop} times in all"
    if not arrow.through:
        return say_ranges(arrow.ranges, 64, whole=True)
    text = say_ranges(arrow.ranges, 64, whole=True) if arrow.folds_loop else _say_chain(arrow)
    return f"{text} ({counted(len(arrow.through), 'state')} inside)"


def _say_chain(arrow: Arrow) -> str:
    return visible(bytes(low for low, _ in arrow.ranges))


def say_row(row: Sequence[Ranges]) -> Iterator[str]:
    """Arrows in a row: single bytes as one text, equal classes as one with a count.

    >>> list(say_row([((58, 58),), ((32, 32),), ((48, 57),), ((48, 57),)]))
    [':␣', '0-9 ×2']
    """
    for single, group in groupby(row, key=is_one_byte):
        if single:
            yield visible(bytes(low for [(low, _)] in group))
            continue
        for ranges, same in groupby(group):
            count = len(list(same))
            yield say_ranges(ranges) if count == 1 else f"{say_ranges(ranges)} ×{count}"


def say_ranges(ranges: Ranges, limit: int = 4, whole: bool = False) -> str:
    """Ranges of bytes, short for a label or in full for a tooltip.

    >>> say_ranges(((48, 57),)), say_ranges(((0, 33), (35, 91), (93, 127))), say_ranges(((0xC2, 0xDF),)), say_ranges(())
    ('0-9', 'any but " \\\\', '0xC2-0xDF', 'ε')
    """
    if not ranges:
        return "an epsilon edge: reads nothing" if whole else "ε"
    values = {value for low, high in ranges for value in range(low, high + 1)}
    if len(values) == 256:
        return "any byte"
    parts = []
    if values & ASCII_BYTES:
        parts.append(_say_ascii(values & ASCII_BYTES, limit, whole))
    for low, high in byte_ranges(values - ASCII_BYTES):
        parts.append(f"0x{low:02X}" if low == high else f"0x{low:02X}-0x{high:02X}")
    return (", " if whole else " ").join(parts)


def _say_ascii(values: Set[int], limit: int, whole: bool) -> str:
    """A few characters as they are, and many by what is missing of them."""
    missing = ASCII_BYTES - values
    without_controls = missing >= CONTROL_BYTES
    seen = missing - CONTROL_BYTES if without_controls else missing
    if len(values) <= 64 or len(seen) > 8:
        return visible_bytes(values, limit)
    kind = "any ASCII" if whole or not missing else "any"
    words = [visible_bytes(seen, 8)] if seen else []
    if without_controls:
        words.append("controls" if whole else "ctrl")
    return f"{kind} but {' '.join(words)}" if words else kind
