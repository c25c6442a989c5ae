"""The bytes of an arrow as text: short for its label, in full for its tooltip."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from guidedviz.errors import shorten
from guidedviz.machines.visible import byte_ranges, counted, visible, visible_bytes
from guidedviz.views.layout.sketch import Arrow, Ranges, is_single

LABEL = 16  # characters of a label; the tooltip has the rest
ASCII = frozenset(range(128))
CONTROLS = frozenset(range(32))


def say_arrow(arrow: Arrow, whole: bool = False) -> str:
    """The bytes of an arrow; those of a folded chain as one text.

    >>> chain = Arrow(0, 4, ((97, 97), (195, 195), (169, 169), (32, 32)), through=(1, 2, 3))
    >>> say_arrow(chain), say_arrow(chain, whole=True), say_arrow(Arrow(0, 1, ((48, 57),)))
    ('aé␣', 'aé␣ (3 states inside)', '0-9')
    """
    if arrow.call:
        return f"calls {arrow.call}"
    if arrow.loop:
        return f"again, {arrow.loop} times in all" if whole else f"{arrow.loop} times"
    chain = arrow.through and not arrow.folds_loop
    if chain:
        text = visible(bytes(low for low, _ in arrow.ranges))
    else:
        text = say_ranges(arrow.ranges, 64 if whole or arrow.folds_loop else 4, whole)
    if not whole:
        return shorten(text, 2 * LABEL if chain else LABEL)
    return text + (f" ({counted(len(arrow.through), 'state')} inside)" if arrow.through else "")


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
    if len(values) == 256:
        return "any byte"
    parts = [_say_ascii(values & ASCII, limit, whole)] if values & ASCII else []
    parts += [f"0x{low:02X}" + f"-0x{high:02X}" * (high > low) for low, high in byte_ranges(values - ASCII)]
    return (", " if whole else " ").join(parts)


def _say_ascii(values: frozenset[int], limit: int, whole: bool) -> str:
    missing = ASCII - values
    kind = "any ASCII" if whole or not missing else "any"
    seen = missing - CONTROLS if missing >= CONTROLS else missing
    if len(values) <= 64 or len(seen) > 8:
        return visible_bytes(values, limit)
    words = [visible_bytes(seen, 8)] * bool(seen) + ["controls" if whole else "ctrl"] * (seen != missing)
    return f"{kind} but {' '.join(words)}" if words else kind
