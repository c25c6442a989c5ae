"""Widgets are live unless a test says that nobody is there to click; a test that is a coroutine runs in a loop."""

import asyncio
import inspect
import json
import sys
from importlib import import_module
from pathlib import Path

import pytest

from guidedviz.decoding.records import read_value
from guidedviz.widgets import display


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    asyncio.run(run(pyfuncitem.obj, {name: pyfuncitem.funcargs[name] for name in names}))
    return True


async def run(test, given):
    """Run a test and close what it left open: a shared stage would go on calling its host."""
    try:
        await test(**given)
    finally:
        for shown in list(display.OPEN_DISPLAYS):
            shown.close()


@pytest.fixture
def until():
    """Wait until something holds."""

    async def until(holds) -> None:
        async with asyncio.timeout(10):
            while not holds():
                await asyncio.sleep(0.002)

    return until


@pytest.fixture
def headless(monkeypatch):
    monkeypatch.setenv("GUIDEDVIZ_HEADLESS", "1")


@pytest.fixture(autouse=True)
def live_by_default(monkeypatch):
    monkeypatch.delenv("GUIDEDVIZ_HEADLESS", raising=False)


@pytest.fixture
def messages(monkeypatch):
    """The script that holds the forms of the messages."""
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "assets"))
    monkeypatch.delitem(sys.modules, "messages", raising=False)
    return import_module("messages")


@pytest.fixture
def in_form(messages):
    """A message of a stage, once it has been found to have its form."""

    def check(news):
        read_value(messages.PackedNews, json.loads(json.dumps(news)), "news")
        return news

    return check
