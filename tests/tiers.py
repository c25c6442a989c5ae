"""Which tests `make test` runs, and which ones wait for `make slow`.

`make test` has four minutes and tests every part. `make slow` tests the same parts in depth. A test with the mark
`slow` runs there only. Of the parameters of a test with the mark `quick`, `make test` runs some and `make slow` the
others: `quick("a", "b")` names those for `make test`, `quick(every=5)` takes the first of each five.
"""

from collections import defaultdict

import pytest


def mark_slow(items: list[pytest.Item]) -> dict[str, set[str]]:
    """Give the mark `slow` to the parameters that `quick` leaves out; per test the names that no parameter has."""
    families: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("quick"):
            families[item.nodeid.partition("[")[0]].append(item)
    unknown = {}
    for test, family in families.items():
        mark = family[0].get_closest_marker("quick")
        names = [item.nodeid.partition("[")[2].removesuffix("]") for item in family]
        kept = mark.args or names[:: mark.kwargs["every"]]
        for item, name in zip(family, names, strict=True):
            if name not in kept:
                item.add_marker(pytest.mark.slow)
        if not set(kept) <= set(names):
            unknown[test] = set(kept) - set(names)
    return unknown
