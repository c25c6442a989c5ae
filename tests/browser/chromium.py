"""Finds Chromium for the browser tests, or installs it. `make test` runs this first, while it installs our packages."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

# the first is the same engine without a window: a test takes a third less time
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def find():
    """The path of a browser, "" for Playwright's own; None if there is none and none can be installed."""
    if path := next(filter(None, map(shutil.which, BROWSERS)), None):
        return path
    if has_own():
        return ""
    may_install = getattr(os, "geteuid", lambda: 1)() == 0 and shutil.which("apt-get")
    return install() if may_install else None


def has_own():
    """Whether Playwright is there, and has a browser of its own."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return False
    with sync_playwright() as play:
        return Path(play.chromium.executable_path).exists()


def install():
    """The path of a browser that the system's packages install; one process installs it, the others wait."""
    import fcntl  # Windows has none

    with (Path(tempfile.gettempdir()) / "guidedviz-chromium.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for command in ("update", f"install -y {BROWSERS[0]}", f"install -y {BROWSERS[1]}"):
            if path := shutil.which(BROWSERS[0]):
                return path
            subprocess.run(["apt-get", "-q", *command.split()], capture_output=True, timeout=600, check=False)
    return shutil.which(BROWSERS[1])


if __name__ == "__main__":
    find()
