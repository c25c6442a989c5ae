"""A JupyterLab of our own, with live kernels: a few tests need one, most run on a bare page."""

import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import closing, suppress
from html import unescape
from pathlib import Path

import pytest

from tests.browser.bare import SIZE, Shown

ROOT = Path(__file__).resolve().parents[2]
LABS = ROOT / "labs"
# JupyterLab's own, seen a few times in hundreds of notebooks: it took the name of a kernel's channel for its message
NOT_OURS = re.compile(
    r'Kernel message validation error: Unexpected token .*"(kernel|stream)\.'
    r"|Canceled future for \w+ message"  # at a restart JupyterLab drops what it asked the old kernel
    r"|'removeChild' on 'Node'[^\n]*\n +at \S*/jlab_core\."  # thrown in JupyterLab's own code
)
OPENED = """name => {
  const shown = window.jupyterapp.shell.currentWidget;
  return shown?.context?.path === name && shown.sessionContext?.isReady;
}"""
CLOSE = """() => {
  const shown = window.jupyterapp.shell.currentWidget;
  void shown.sessionContext.shutdown().then(() => shown.dispose());
}"""
RUN = """command => {
  window.cellsRan = false;
  window.jupyterapp.commands.execute(command).finally(() => (window.cellsRan = true));
}"""
COMMIT = """roots => roots.forEach(root => {
  const number = root.querySelector("input[type=number]");
  if (number) number.value = "0";
  else root.querySelector("input[type=radio]").click();
  root.querySelector(".gv-commit").click();
})"""
TOLD = "count => document.querySelectorAll('.gv-predict[data-state=told]').length === count"
READ = """roots => roots.map(root => [
  root.querySelector(".gv-verdict").innerText, root.innerText, root.querySelector(".gv-reveal").childElementCount,
  root.querySelector(".gv-note").innerText,
])"""
RESTORED = "() => window.jupyterapp?.restored.then(() => window.jupyterapp.commands.hasCommand('docmanager:open'))"
SETTINGS = {
    "@jupyterlab/docmanager-extension/plugin.jupyterlab-settings": {"autosave": False},
    "@jupyterlab/apputils-extension/notification.jupyterlab-settings": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/notebook-extension/tracker.jupyterlab-settings": {"windowingMode": "none"},
}


def free_port():
    with closing(socket.socket()) as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


@pytest.fixture(scope="session")
def lab_server(tmp_path_factory):
    """A JupyterLab with settings of its own: its address, its token, its folder."""
    home = tmp_path_factory.mktemp("jupyter")
    folder = tmp_path_factory.mktemp("notebooks")
    settings = home / "config" / "lab" / "user-settings"
    for name, content in SETTINGS.items():
        (settings / name).parent.mkdir(parents=True, exist_ok=True)
        (settings / name).write_text(json.dumps(content))
    port = free_port()
    token = secrets.token_hex(8)
    env = {k: v for k, v in os.environ.items() if k not in ("GUIDEDVIZ_HEADLESS", "JUPYTER_TOKEN")}
    env |= {"JUPYTER_CONFIG_DIR": str(home / "config"), "IPYTHONDIR": str(home / "ipython")}
    env |= {"JUPYTER_DATA_DIR": str(home / "data")}
    env |= {"JUPYTERLAB_SETTINGS_DIR": str(settings), "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces")}
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}",
        f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={folder}", "--LabApp.expose_app_in_browser=True",
        "--ServerApp.port_retries=0",
    ]  # fmt: skip
    with (home / "log").open("w") as log:
        server = subprocess.Popen(command, env=env, stdout=log, stderr=log)
    try:
        wait_for_server(f"http://127.0.0.1:{port}/api/status?token={token}", server, home / "log")
        yield f"http://127.0.0.1:{port}", token, folder
    finally:
        server.terminate()
        with suppress(subprocess.TimeoutExpired):  # on a busy machine it takes its time to stop the kernels
            server.wait(timeout=20)
        server.kill()


def wait_for_server(url, server, log):
    deadline = time.time() + 90
    while time.time() < deadline:
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            assert server.poll() is None, log.read_text()
            time.sleep(0.2)
    raise AssertionError(f"JupyterLab did not start: {log.read_text()}")


class Workbench:
    """JupyterLab in a page of the browser, which loads once; notebooks are opened in it one after the other."""

    def __init__(self, browser, lab):
        address, token, self.folder = lab
        self.errors = []
        self.page = browser.new_page()
        self.page.on("console", self._hear)
        self.page.on("pageerror", self._catch)
        # a workspace of its own: a test that is run again loads JupyterLab again, and two pages may not share one
        self.page.goto(f"{address}/lab/workspaces/{secrets.token_hex(4)}?token={token}")
        self.page.wait_for_function(RESTORED, timeout=90000)
        self.page.evaluate("window.jupyterapp.shell.collapseLeft()")

    def _catch(self, error):
        if not NOT_OURS.search(f"{error}\n{error.stack}"):
            self.errors.append(f"page error: {error}")

    def _hear(self, message):
        if message.type == "error" and not NOT_OURS.search(message.text):
            self.errors.append(f"{message.text} {message.location.get('url', '')}")


class Notebook(Shown):
    """A notebook in JupyterLab, and what a person does with it."""

    def __init__(self, workbench, name):
        self.name = name
        self.folder = workbench.folder
        self.page = workbench.page
        self.errors = workbench.errors
        self.page.evaluate("path => { window.jupyterapp.commands.execute('docmanager:open', { path }); }", name)
        self.page.wait_for_function(OPENED, arg=name, timeout=90000)
        self.page.wait_for_selector(".jp-Notebook .jp-Cell")
        self.theme("JupyterLab Light")  # JupyterLab remembers what the test before has chosen

    def run_all(self, timeout=120):
        """Run all cells and wait until the kernel has run the last."""
        self._run("notebook:run-all-cells", timeout)

    def run_cell(self, place, source=None, timeout=60):
        """Run one cell, with another source if given."""
        change = """([place, source]) => {
          const cells = window.jupyterapp.shell.currentWidget.content;
          cells.activeCellIndex = place;
          if (source) cells.activeCell.model.sharedModel.setSource(source);
        }"""
        self.page.evaluate(change, [place, source])
        self._run("notebook:run-cell", timeout)

    def _run(self, command, timeout):
        self.page.evaluate(RUN, command)
        self.page.wait_for_function("window.cellsRan", timeout=timeout * 1000)

    def outputs(self, place):
        """What a cell printed."""
        cell = self.page.locator(".jp-Cell").nth(place)
        cell.locator(".jp-OutputArea-output").first.wait_for()
        return str(cell.locator(".jp-OutputArea").inner_text())

    def failed_cells(self):
        """What every cell that raised has to say."""
        return list(self.page.locator("[data-mime-type='application/vnd.jupyter.error']").all_inner_texts())

    def save(self):
        """Save, and read what is in the file."""
        self.page.wait_for_timeout(1000)  # a stage leaves its picture when it has been still for 0.7 s
        self.page.evaluate("window.jupyterapp.commands.execute('docmanager:save')")
        self.page.wait_for_function("!window.jupyterapp.shell.currentWidget.context.model.dirty")
        return dict(json.loads((self.folder / self.name).read_text(encoding="utf-8")))

    def theme(self, name):
        """JupyterLab Light or JupyterLab Dark."""
        if self.page.evaluate("document.body.dataset.jpThemeLight") == ("false" if "Dark" in name else "true"):
            return
        self.page.evaluate("name => window.jupyterapp.commands.execute('apputils:change-theme', {theme: name})", name)
        self.page.wait_for_function(
            "dark => document.body.dataset.jpThemeLight === (dark ? 'false' : 'true')", arg="Dark" in name
        )

    def close(self):
        """Shut the kernel down and leave without being asked; no error may be in the console."""
        self.page.evaluate(CLOSE)
        self.page.set_viewport_size(SIZE)
        self.page.emulate_media(reduced_motion="no-preference")
        errors = [self.errors.pop() for _ in list(self.errors)]
        assert errors == [], errors


class LabPage(Notebook):
    """A lab that has been run, its cells found by words that stand in them."""

    def __init__(self, workbench, path):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        self.sources = ["".join(cell["source"]) for cell in cells]
        self.truths = [truth_of(cell) for cell in cells if "gv.predict(" in "".join(cell["source"])]
        shutil.copytree(LABS, workbench.folder / "labs", dirs_exist_ok=True, ignore=shutil.ignore_patterns("src", ".*"))
        workbench.page.emulate_media(reduced_motion="reduce")  # motion is seen on bare pages and in test_jupyterlab.py
        super().__init__(workbench, f"labs/{path.name}")
        self.run_all(timeout=300)
        assert self.failed_cells() == []

    def place_of(self, words):
        return next(place for place, source in enumerate(self.sources) if words in source)

    def cell_of(self, words):
        """The first cell with these words, on the page."""
        cell = self.page.locator(".jp-Cell").nth(self.place_of(words))
        cell.scroll_into_view_if_needed()
        return cell

    def answer(self, words, source=None):
        """Run the first cell with these words, a student's answer in it if there is one; what it says."""
        self.run_cell(self.place_of(words), source)
        return self.outputs(self.place_of(words))

    def answer_predictions(self):
        """Commit to the first choice or to 0 in every prediction: its truth unfolds, and the score counts it."""
        asked = self.page.locator(".gv-predict")
        assert asked.count() == len(self.truths)
        asked.evaluate_all(COMMIT)  # by mouse and by keys in test_predict.py
        self.page.wait_for_function(TOLD, arg=len(self.truths), timeout=60000)
        for truth, (verdict, words, revealed, note) in zip(self.truths, asked.evaluate_all(READ), strict=True):
            assert note == ""
            assert "rue" in verdict or "Right" in verdict
            assert truth in words, "as it was when the cell above had just been run"
            assert revealed
        self.page.locator(f".gv-score:has-text(' of {asked.count()} prediction')").wait_for()


def truth_of(cell):
    """The true answer of a prediction in a built notebook, as the page writes it."""
    html = "".join(cell["outputs"][-1]["data"]["text/html"])
    return unescape(re.sub("<[^>]+>", "", html.split("<summary>Answer</summary>")[1].split("</strong>")[0]))


@pytest.fixture(scope="session")
def workbench(browser, lab_server):
    """The JupyterLab in which one notebook after the other is opened."""
    return Workbench(browser, lab_server)


@pytest.fixture
def open_notebook(workbench):
    """Open a notebook made of these cells; afterwards no error may be in the console."""
    opened = []

    def open_it(*cells):
        opened.append(Notebook(workbench, write_notebook(workbench.folder, *cells)))
        return opened[-1]

    yield open_it
    for notebook in opened:
        notebook.close()


@pytest.fixture(scope="module")
def open_lab(workbench):
    """Open the lab with a number and run all its cells; afterwards no error may be in the console."""
    opened = []

    def open_it(number):
        opened.extend(LabPage(workbench, path) for path in LABS.glob(f"{number}_*.ipynb"))
        return opened[-1]

    yield open_it
    for page in opened:
        page.close()


def write_notebook(folder, *cells):
    """A notebook made of these cells in a folder; its name."""
    code = {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": []}
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    listed = [{**code, "id": f"cell{place}", "source": source} for place, source in enumerate(cells)]
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernel}, "cells": listed}
    name = f"test{secrets.token_hex(3)}.ipynb"
    (folder / name).write_text(json.dumps(notebook), encoding="utf-8")
    return name
