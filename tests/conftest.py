"""Browser tests come last: Playwright's event loop stays in the thread for the rest of the run."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

os.environ.setdefault("GUIDEDVIZ_CACHE", "0")  # tests read nothing that an earlier run left on the disk

settings.register_profile("untimed", deadline=None)  # a loaded machine is no fault of a test
settings.load_profile("untimed")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: "browser" in item.keywords)
