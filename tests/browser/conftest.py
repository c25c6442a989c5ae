"""A browser, and pages in it: bare ones for the widgets, JupyterLab for what only JupyterLab can show."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.bare import SIZE, BarePage
from tests.browser.jupyter import lab, lab_page, open_notebook, workbench

__all__ = ["lab", "lab_page", "open_notebook", "workbench"]
# the first is the same engine without a window: a test takes a third less time
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


def find_chromium() -> str | None:
    """The browser's path; None lets Playwright use its own."""
    if path := next(filter(None, map(shutil.which, BROWSERS)), None):
        return path
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        if Path(play.chromium.executable_path).exists():
            return None
    if getattr(os, "geteuid", lambda: 1)() == 0 and shutil.which("apt-get") and (path := install_chromium()):
        return path
    say = "no Chromium: run `python -m playwright install chromium`, or `apt-get install chromium` as root"
    pytest.fail(say) if os.environ.get("CI") else pytest.skip(say)


def install_chromium() -> str | None:
    """The path of a browser that the system's packages install; one process installs it, the others wait."""
    import fcntl  # Windows has none

    with (Path(tempfile.gettempdir()) / "guidedviz-chromium.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for command in ("update", f"install -y {BROWSERS[0]}", f"install -y {BROWSERS[1]}"):
            if path := shutil.which(BROWSERS[0]):
                return path
            subprocess.run(["apt-get", "-q", *command.split()], capture_output=True, timeout=600, check=False)
    return shutil.which(BROWSERS[1])


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One Chromium for all tests, which keeps what it loaded: JupyterLab is read and compiled once."""
    path = find_chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=path, args=FLAGS)
        yield chromium.new_context(viewport=SIZE)
        chromium.close()


@pytest.fixture
def bare(browser: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[BarePage]:
    """An empty page; no error may be in its console afterwards."""
    monkeypatch.delenv("GUIDEDVIZ_HEADLESS", raising=False)
    page = BarePage(browser)
    yield page
    page.close()
