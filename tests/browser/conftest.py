"""A browser, and pages in it: bare ones for the widgets, JupyterLab for what only JupyterLab can show."""

import os

import pytest

from tests.browser import chromium
from tests.browser.bare import SIZE, BarePage
from tests.browser.jupyter import lab_server, open_lab, open_notebook, workbench
from tests.browser.looks import Looks
from tests.site.load import load_site

__all__ = ["lab_server", "open_lab", "open_notebook", "workbench"]
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


@pytest.fixture(scope="session")
def browser():
    """One Chromium for all tests, which keeps what it loaded: JupyterLab is read and compiled once."""
    path = chromium.find()
    if path is None:
        say = "no Chromium: run `python -m playwright install chromium`, or `apt-get install chromium` as root"
        pytest.fail(say) if os.environ.get("CI") else pytest.skip(say)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        launched = play.chromium.launch(executable_path=path or None, args=FLAGS)
        yield launched.new_context(viewport=SIZE)
        launched.close()


@pytest.fixture
def bare(browser, monkeypatch):
    """An empty page; no error may be in its console afterwards."""
    monkeypatch.delenv("GUIDEDVIZ_HEADLESS", raising=False)
    page = BarePage(browser)
    yield page
    page.close()


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The site with one lab, built once for all tests of a worker."""
    folder = tmp_path_factory.mktemp("site") / "site"
    with pytest.MonkeyPatch.context() as patch:
        for name in ("GUIDEDVIZ_SITE", "GUIDEDVIZ_HEADLESS", "CUDA_VISIBLE_DEVICES"):
            patch.setenv(name, "")  # the build sets them: they are restored
        load_site().build(folder, ["02_static_masks"])
    return folder


@pytest.fixture
def looks(browser):
    """Compares what is on a page with the same in JupyterLab."""
    found = Looks(browser)
    yield found
    found.context.close()
