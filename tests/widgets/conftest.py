"""The toy of this folder, as a namespace; the browser tests run the same file in a notebook cell."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest


@pytest.fixture(scope="session")
def toy():
    return SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("toy.py"))))


@pytest.fixture
def headless(monkeypatch):
    monkeypatch.setenv("GUIDEDVIZ_HEADLESS", "1")


@pytest.fixture(autouse=True)
def live_by_default(monkeypatch):
    monkeypatch.delenv("GUIDEDVIZ_HEADLESS", raising=False)
