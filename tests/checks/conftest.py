"""Endless answers end soon, as most tests give them a quarter of the processor time."""

from contextlib import nullcontext
from threading import Thread

import pytest

from guidedviz.checks import guard
from tests.checks.small_process import small_process


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    monkeypatch.setattr(guard, "CPU_SECONDS", guard.CPU_SECONDS / 4)


@pytest.fixture(scope="module")
def apart():
    """A small process in which answers are tried."""
    with small_process() as pool:
        yield pool


@pytest.fixture
def refuse_threads(monkeypatch):
    """From its call on, no thread can be started."""

    def refuse(thread):
        raise RuntimeError("can't start new thread")

    return lambda: monkeypatch.setattr(Thread, "start", refuse)


@pytest.fixture
def in_this_process(monkeypatch, refuse_threads):
    """Without a fork or a thread, as in a browser: most of a test's time is saved where functions end."""
    monkeypatch.setattr(guard, "FORKS", False)
    monkeypatch.setattr(guard, "_watched", lambda watch: nullcontext())
    refuse_threads()
