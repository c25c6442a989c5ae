"""Hosts that several tests ask."""

from __future__ import annotations

import pytest

from tests.host.running import TOKEN, hosting
from tests.widgets.conftest import pytest_pyfunc_call

__all__ = ["pytest_pyfunc_call"]


@pytest.fixture(scope="module")
def host(bard):
    """A host of bard without a token."""
    with hosting(bard) as running:
        yield running


@pytest.fixture(scope="module")
def guarded(bard):
    """A host of bard that asks for a token."""
    with hosting(bard, {"": TOKEN}) as running:
        yield running
