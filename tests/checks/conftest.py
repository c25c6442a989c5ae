"""Endless answers end soon, as most tests give them a quarter of the processor time."""

import pytest

from guidedviz.checks import guard


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    monkeypatch.setattr(guard, "SECONDS", guard.SECONDS / 4)


@pytest.fixture
def in_this_process(monkeypatch):
    """Without a fork, which takes most of a test's time: for tests of verdicts on functions that end."""

    def work_here(work, take):
        work(take)
        return guard.GONE

    monkeypatch.setattr(guard, "_in_process", work_here)
