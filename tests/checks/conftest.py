"""Endless answers end soon, as most tests give them a quarter of the processor time."""

import pytest

from guidedviz.checks import guard


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    monkeypatch.setattr(guard, "SECONDS", guard.SECONDS / 4)
