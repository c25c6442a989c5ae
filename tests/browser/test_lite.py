"""The course in a browser tab, as far as it goes without a network: its pages open and its Python starts."""

import functools
import http.server
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import ClassVar
from zipfile import ZipFile

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]
ROOT = Path(__file__).resolve().parents[2]
# there after tests/tab/numpy.sh, or after a build in a network
NUMPY = [*(ROOT / "build" / "lite" / "distribution").glob("numpy-*.whl")]
without_numpy = pytest.mark.skipif(bool(NUMPY), reason="NumPy is there")
with_numpy = pytest.mark.skipif(not NUMPY, reason="no NumPy for a tab is there: tests/tab/numpy.sh builds it")
RUN = """async code => {
  const kernel = () => window.jupyterapp.shell.currentWidget.sessionContext.session?.kernel;
  for (let tries = 0; !kernel() && tries < 600; tries++) await new Promise(done => setTimeout(done, 100));
  const future = kernel().requestExecute({code});
  const said = [];
  future.onIOPub = message => {
    const {text, traceback, data} = message.content;
    said.push(text ?? traceback?.join("\\n") ?? data?.["text/plain"] ?? (data && JSON.stringify(data)) ?? "");
  };
  await future.done;
  return said.join("");
}"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A static host, and what it was asked for."""

    asked: ClassVar[list[str]] = []

    extensions_map = http.server.SimpleHTTPRequestHandler.extensions_map | {
        ".mjs": "text/javascript", ".wasm": "application/wasm", ".whl": "application/zip"
    }  # fmt: skip

    def do_GET(self):
        self.asked.append(self.path.partition("?")[0])
        super().do_GET()

    def log_message(self, *about):
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The address of the site, its folder, and the folder of Python in it."""
    to = tmp_path_factory.mktemp("lite")
    words = [sys.executable, str(ROOT / "assets" / "lite" / "build.py"), "--offline", "--to", str(to / "site")]
    if not NUMPY:
        words.append("--without-numpy")
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode and not os.environ.get("CI"):
        pytest.skip(f"no site without the package registries: {done.stderr[-200:]}")
    assert done.returncode == 0, done.stderr
    assert NUMPY or "numpy" in done.stdout.splitlines()[1], "what is missing is said"
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(to / "site")))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    python = next((to / "site").glob("static/pyodide-*")).relative_to(to / "site").as_posix()
    yield f"http://127.0.0.1:{server.server_port}", to / "site", python
    server.shutdown()


@pytest.fixture(scope="module")
def asked():
    """The addresses that the tab asked."""
    return []


@pytest.fixture(scope="module")
def page(site, browser, asked):
    """A tab with lab 00."""
    page = browser.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{site[0]}/notebooks/index.html?path=labs/00_start_here.ipynb#cell-id=00-start-here-20")
    page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=60_000)
    yield page
    page.close()


def test_the_lab_opens_with_its_text_and_its_pictures(page):
    page.wait_for_selector(".jp-Notebook h1:has-text('Start here')")
    page.wait_for_selector(".jp-Notebook .jp-OutputArea img")  # those near the cell; the rest is drawn when it is seen


def test_an_address_opens_a_lab_at_a_cell_and_the_page_says_where_the_work_stays(page):
    page.wait_for_selector(".gv-tab-bar")
    active = "window.jupyterapp.shell.currentWidget.content.activeCell.model.id"
    assert page.evaluate(active) == "00-start-here-20"
    with page.expect_download() as download:
        page.get_by_role("button", name="download my work").click()
    assert download.value.suggested_filename.endswith("00_start_here.ipynb")


def test_its_python_has_the_library_and_machines_work(page):
    code = """
import guidedviz as gv
date = gv.regex(r"[0-9]{4}-[0-9]{2}")
person = gv.json_schema({"type": "object", "properties": {"age": {"type": "integer"}}})
print(date.accepts(b"2026-11"), date.accepts(b"2026"), person.accepts(b'{"age": 36}'), gv.json().accepts(b"[1, 2]"))"""
    assert page.evaluate(RUN, code).strip().endswith("True False True True")


def test_python_starts_beside_jupyterlab_and_the_first_kernel_takes_it_over(page):
    page.evaluate(RUN, "1")
    assert [worker.url.rsplit("/", 1)[1] for worker in page.workers] == ["worker.mjs"]


def test_a_start_compiles_no_module(page):
    code = """
import sys
origins = [str(module.__spec__.origin) for module in [*sys.modules.values()] if getattr(module, "__spec__", None)]
print(len([one for one in origins if one.endswith(".pyc")]), [one for one in origins if one.endswith(".py")])"""
    compiled, _, others = page.evaluate(RUN, code).strip().partition(" ")
    assert int(compiled) > 500
    assert others == "[]"


def test_a_name_is_completed(page):
    code = """async () => {
      const asked = {code: "import guidedviz as gv; gv.draw_ma", cursor_pos: 34};
      const { kernel } = window.jupyterapp.shell.currentWidget.sessionContext.session;
      return (await kernel.requestComplete(asked)).content.matches;
    }"""
    page.evaluate(RUN, "import guidedviz as gv")
    assert {".draw_machine", ".draw_map"} <= {*page.evaluate(code)}


def test_a_kernel_that_is_restarted_has_the_library(page):
    page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
    assert page.evaluate(RUN, "import guidedviz as gv\nprint(gv.regex('a').accepts(b'a'))").strip() == "True"


def test_python_and_then_the_model_of_the_lab_are_fetched_while_the_page_opens(page, asked, site):
    links = page.evaluate("[...document.querySelectorAll('link[rel=preload]')].map(link => link.href)")
    here = f"{site[0]}/{site[2]}/"
    assert {f"{here}pyodide.asm.wasm", f"{here}python_stdlib.zip"} <= {*links} & {*asked}
    for _ in range(300):
        if f"{here}guidedviz/models/clerk/tokenizer.json.z" not in asked:
            page.wait_for_timeout(100)
    ours = [one.removeprefix(here) for one in asked if one.startswith(f"{here}guidedviz/")]
    assert ours == [f"guidedviz/models/clerk/{name}.z" for name in ("model.safetensors", "tokenizer.json")]
    assert [file for file in ours if not (site[1] / site[2] / file).exists()] == []


def test_all_wheels_are_loaded_with_python_and_none_by_its_package_manager(page, asked):
    page.evaluate(RUN, "import guidedviz, ipywidgets")
    assert [one for one in asked if one.endswith(".whl")]
    assert [one for one in asked if "/pypi/" in one] == []


def test_the_page_draws_on_while_python_computes(page):
    page.evaluate("() => { window.frames = 0; (function draw() { window.frames++; requestAnimationFrame(draw); })(); }")
    code = "import time\nbegan = time.time()\nwhile time.time() < began + 1: pass\nprint('done')"
    before = page.evaluate("window.frames")
    assert page.evaluate(RUN, code).strip() == "done"
    assert page.evaluate("window.frames") - before > 10, "Python runs in a worker"


def test_what_a_widget_sends_arrives_whole(page):
    code = """
from comm import create_comm
from guidedviz.files import as_sent
create_comm(target_name="t", data=as_sent({"answer": None, "parts": [None, "a"], "right": False}))"""
    assert '{"answer":null,"parts":[null,"a"],"right":false}' in page.evaluate(RUN, code), "the kernel leaves out None"


@without_numpy
def test_what_needs_numpy_says_so_in_one_sentence(page):
    said = page.evaluate(RUN, "gv.load_model('clerk')").strip()
    assert said == "guidedviz.load_model needs NumPy, which this site lacks: it was built without a network"


@with_numpy
def test_a_lab_runs_its_live_stage_takes_a_step_and_a_prediction_is_answered(page):
    page.evaluate("window.jupyterapp.commands.execute('notebook:run-all-cells').then(() => { window.ran = true; })")
    page.wait_for_function("window.ran", timeout=300_000)
    cells = "[...window.jupyterapp.shell.currentWidget.content.model.cells]"
    outputs = f"{cells}.flatMap(cell => cell.outputs?.toJSON() ?? []).map(output => output.output_type)"
    assert "error" not in page.evaluate(outputs)
    scroll(page, "00-start-here-20")
    stage = page.locator('.gv-stage:has-text("LIVE")').first
    cursor = int(stage.get_attribute("data-cursor"))
    stage.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(f'.gv-stage[data-cursor="{cursor + 1}"]')
    scroll(page, "00-start-here-15")
    asked = page.locator('.gv-predict:has-text("print for this answer")').first
    asked.get_by_role("radio").nth(2).check()
    asked.get_by_role("button", name="Commit").click()
    asked.get_by_text("True:").or_(asked.get_by_text("Right:")).first.wait_for()


def scroll(page, cell):
    """Scroll to a cell; those far away are not drawn."""
    page.evaluate(
        """id => {
      const notebook = window.jupyterapp.shell.currentWidget.content;
      return notebook.scrollToCell(notebook.widgets.find(cell => cell.model.id === id), "start");
    }""",
        cell,
    )


def test_files_of_the_library_lie_beside_its_wheel_and_are_fetched_when_they_are_used(page, asked, site):
    named = "models/bard/model.safetensors"
    assert not [one for one in asked if named in one]
    code = f"from guidedviz.files import shipped\nprint(shipped('{named}').stat().st_size)"
    assert int(page.evaluate(RUN, code)) == (ROOT / "assets" / named).stat().st_size
    assert [one for one in asked if "models/bard/" in one]
    sizes = json.loads((site[1] / site[2] / "pyodide-lock.json").read_text())["packages"]
    wheel = site[1] / site[2] / sizes["guidedviz"]["file_name"]
    with ZipFile(wheel) as files:
        assert [name for name in files.namelist() if name.startswith("guidedviz/assets/models/")] == []
        sources = sum(one.compress_size for one in files.infolist() if not one.filename.endswith(".pyc"))
    assert sources < 1_000_000
    assert wheel.stat().st_size < 1_250_000, "with what is compiled"


def test_no_request_leaves_the_site(page, asked, site):
    assert [one for one in asked if not one.startswith((site[0], "blob:", "data:"))] == []


def test_a_second_visit_asks_for_no_file_whose_name_tells_its_content(page, site, browser):
    Quiet.asked.clear()
    again = browser.new_page()
    again.goto(page.url)
    again.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=60_000)
    again.close()
    assert "/notebooks/index.html" in Quiet.asked
    assert [one for one in Quiet.asked if one.startswith(("/build/", "/extensions/")) and one.endswith(".js")] == []
