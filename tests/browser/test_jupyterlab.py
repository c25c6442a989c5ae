"""What only JupyterLab can show: its keys and themes, a cell that runs again, a notebook that is opened again."""

import json
from pathlib import Path

import pytest

from tests.browser.jupyter import Notebook, write_notebook
from tests.browser.test_hostile_pages import pack, run
from tests.hostile import text

__all__ = ["run"]
pytestmark = pytest.mark.browser

TOY = (Path(__file__).parents[1] / "widgets" / "toy.py").read_text(encoding="utf-8")
STAGE = """import gc, weakref
model = toy_model(slow=0.05)
old, new = globals().get('new'), weakref.ref(model)
stage = gv.stage(model, 'say ', WordsGuide(model.vocabulary), seed=3)
stage"""
BIAS = "gv.bias_sliders(toy_model(), 'say ', ['Ada', 'Bob', 'Sure'])"
ASK = "import guidedviz as gv\ngv.predict('How many?', number=lambda: 3, within=1, reveal='Three states.')"
SCORE = "import guidedviz as gv\ngv.score()"
ASKED = 4  # places of cells
SCORED = 5
STRANGE = ":is(script, style, iframe, img, image, object, embed, a, foreignObject, [srcdoc])"
LOOK = f"[window.ran ?? 0, document.querySelectorAll('iframe, .gv-stage > :not(style) {STRANGE}').length]"


@pytest.mark.slow
def test_a_run_of_a_stranger_does_nothing(run, open_notebook, workbench):
    """Hostile texts at every place of a run that is loaded; what no run may have is refused (test_recording.py)."""
    run = json.loads(json.dumps(run))
    for step in run["recording"]["add"]:
        step |= {name: text("prefixed frame", 3) for name in ("label", "state", "words", "after", "drawn")}
    run["trace"] |= {name: text("image", 4) for name in ("prompt", "model", "device", "constraint")}
    (workbench.folder / "run.json").write_text(pack(run), encoding="utf-8")
    notebook = open_notebook("import guidedviz as gv\ngv.stage(gv.Trace.load('run.json'), steps=2)")
    asked = []
    notebook.page.on("request", lambda request: asked.append(request.url))
    before = notebook.page.evaluate(LOOK)
    notebook.run_cell(0)
    notebook.stages.locator(".gv-chip").first.wait_for()
    notebook.page.wait_for_timeout(200)
    assert notebook.page.evaluate(LOOK) == before
    own = ("data:", "blob:", notebook.page.url.partition("/lab")[0])
    assert [url for url in asked if not url.startswith(own)] == []
    assert text("image", 4) in notebook.stages.first.inner_text(), "as text"


# the same elements in a frame that has our style sheet alone, and the styles that differ there
STYLES = """async root => {
  const around = (side) => [`padding-${side}`, `margin-${side}`, `border-${side}-width`];
  const SIDES = ["top", "right", "bottom", "left"].flatMap(around);
  const NAMES = ["display", "float", "box-sizing", "font-family", "font-size", "font-weight", "font-style",
    "line-height", "letter-spacing", "text-align", "vertical-align", "text-decoration-line", "white-space",
    "list-style-type", "opacity", "color", "background-color", "width", "height", ...SIDES];
  const frame = document.createElement("iframe");
  frame.srcdoc = "<!doctype html>";
  await new Promise((loaded) => { frame.onload = loaded; document.body.append(frame); });
  frame.style.width = `${innerWidth}px`;
  frame.style.height = `${innerHeight}px`;
  const inside = frame.contentDocument, sheets = [...root.parentElement.querySelectorAll("style")];
  for (const name of ["jpThemeLight", "jpThemeName"]) inside.body.dataset[name] = document.body.dataset[name];
  const asked = getComputedStyle(document.body);
  for (const name of new Set(sheets.flatMap((sheet) => sheet.textContent.match(/--jp-[\\w-]+/g) ?? [])))
    inside.documentElement.style.setProperty(name, asked.getPropertyValue(name));
  const place = inside.body.appendChild(inside.createElement("div"));
  place.style.width = `${root.getBoundingClientRect().width}px`;
  const twin = inside.importNode(root, true);
  twin.classList.remove("gv-focus");
  place.append(...sheets.map((sheet) => inside.importNode(sheet, true)), twin);
  const [ours, theirs] = [root, twin].map((one) => [one, ...one.querySelectorAll("*:not(svg *)")]);
  const found = new Set();
  ours.forEach((node, at) => {
    if (!node.checkVisibility()) return;
    const [here, alone] = [getComputedStyle(node), frame.contentWindow.getComputedStyle(theirs[at])];
    for (const name of NAMES) {
      const [one, other] = [here.getPropertyValue(name), alone.getPropertyValue(name)];
      if (here.display === "inline" && /width|height/.test(name)) continue; // as high as the letters of the font
      if (one !== other && !(Math.abs(parseFloat(one) - parseFloat(other)) < 0.6))
        found.add(`${node.tagName.toLowerCase()}.${node.className}: ${name} ${one}, alone ${other}`);
    }
  });
  frame.remove();
  return [...found];
}"""


@pytest.mark.slow
def test_no_style_of_jupyterlab_changes_another_widget(open_notebook, looks):
    """A film, a folded machine, the fraction slider and the score."""
    make = """import guidedviz as gv
clerk = gv.load_model('clerk')"""
    film = "gv.film(gv.views.dfa_frames('a|b'))"
    fold = "gv.folded(gv.regex('(abc|abd){4}'))"
    shows = [film, fold, "gv.fraction_slider(clerk)", "gv.score()"]
    notebook = open_notebook(make, *shows)
    for place in range(1 + len(shows)):
        notebook.run_cell(place)
    assert notebook.failed_cells() == []
    roots = notebook.page.locator(".gv-stage")
    assert roots.count() == len(shows)
    found = [line for root in roots.all() for line in root.evaluate(STYLES)]
    assert found == []
    for theme in ("Dark", "Light"):
        notebook.theme(f"JupyterLab {theme}")
        assert [line for root in roots.all() for line in looks.compare(root)] == []


@pytest.fixture(scope="module")
def notebook(workbench):
    """One notebook for all tests of this file: a stage, sliders, a cell to ask the kernel in, and a prediction."""
    opened = Notebook(workbench, write_notebook(workbench.folder, TOY, STAGE, BIAS, "", ASK, SCORE))
    opened.run_all()
    assert opened.failed_cells() == []
    yield opened
    opened.close()


def test_every_key_reaches_the_stage_and_none_the_notebook(notebook):
    stage = notebook.stage()
    stage.root.focus()
    keys = (("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("Home", 0), ("ArrowRight", 1), ("r", 0))
    for key, cursor in keys:
        notebook.page.keyboard.press(key)
        stage.wait(cursor)
    notebook.page.keyboard.press("Space")
    stage.wait_past(2)
    notebook.page.keyboard.press("Space")
    stage.wait_paused()
    assert notebook.page.evaluate(CELLS) == ["code"] * 6


CELLS = "window.jupyterapp.shell.currentWidget.content.widgets.map(c => c.model.type)"


@pytest.mark.slow
def test_a_control_that_was_clicked_keeps_its_keys_from_the_notebook(notebook):
    """In command mode x cuts a cell and arrows move to another one."""
    stage = notebook.stage()
    page = notebook.page
    active = "window.jupyterapp.shell.currentWidget.content.activeCellIndex"
    heat = stage.root.locator("input[type=range][aria-label=temperature]")
    stage.root.focus()
    for key, cursor in (("Home", 0), ("ArrowRight", 1)):
        page.keyboard.press(key)
        stage.wait(cursor)
    others = [stage.root.locator(one).first for one in (".gv-more > summary", "input[type=number]", ".gv-chip")]
    for control in (heat, *others):
        control.click()
        before = page.evaluate(active)
        for key in ("x", "d", "d", "ArrowUp", "a", "b", "m"):
            page.keyboard.press(key)
        assert page.evaluate(CELLS) == ["code"] * 6
        assert page.evaluate(active) == before
    heat.click()
    value = float(heat.input_value())
    page.keyboard.press("ArrowLeft")
    assert float(heat.input_value()) < value


def test_the_stage_takes_the_theme_of_jupyterlab(notebook):
    stage = notebook.stage()
    looks = set()
    for theme in ("Dark", "Light"):
        notebook.theme(f"JupyterLab {theme}")
        looks.add(stage.root.evaluate("root => getComputedStyle(root).backgroundColor"))
    assert len(looks) == 2


def test_no_style_of_jupyterlab_changes_the_stage(notebook, looks):
    stage = notebook.stage()
    stage.root.focus()
    notebook.page.keyboard.press("Home")
    notebook.page.keyboard.press("?")
    stage.root.get_by_role("group", name="keys").wait_for()
    notebook.page.mouse.move(0, 0)
    try:
        assert "\n".join(stage.root.evaluate(STYLES)) == ""
        question = notebook.page.locator(".gv-predict").first
        assert "\n".join(question.evaluate(STYLES)) == ""
        assert looks.compare(stage.root) == looks.compare(question) == []
    finally:
        stage.root.focus()
        notebook.page.keyboard.press("?")


def test_a_second_run_of_the_cell_stops_the_first_and_frees_its_model(notebook):
    stage = notebook.stage()
    stage.press("play")
    stage.wait_past(3)
    notebook.run_cell(1)
    stage = notebook.stage()
    assert stage.cursor == 0
    assert notebook.stages.count() == 1
    freed = "print('freed', old is not None and old() is None)"
    notebook.run_cell(3, f"import time; time.sleep(0.2); gc.collect(); {freed}")
    assert "freed True" in notebook.outputs(3)
    stage.go_on(1)


def test_the_answer_of_a_prediction_stays_when_its_cell_runs_again(notebook):
    box = notebook.page.get_by_label("How many?")
    box.click()
    for key in ("4", "x", "d", "d", "m"):  # keys of JupyterLab's command mode
        notebook.page.keyboard.press(key)
    assert notebook.page.evaluate(CELLS) == ["code"] * 6
    notebook.page.keyboard.press("Enter")
    notebook.page.get_by_text("Near enough").wait_for()
    notebook.page.get_by_text("1 of 1 prediction right.").wait_for()
    notebook.run_cell(ASKED)
    assert "Near enough" in notebook.page.locator(".gv-predict").inner_text()


@pytest.mark.slow
def test_after_a_restart_of_the_kernel_the_known_steps_are_walked(notebook):
    stage = notebook.stage()
    stage.press("delete all steps and start again")
    stage.wait(0)
    stage.go_on(3)
    notebook.page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
    stage.root.locator(".gv-note:has-text('The kernel was restarted')").wait_for()
    last = len(stage.tokens)
    stage.root.focus()
    for key, cursor in (("Home", 0), ("ArrowRight", 1), ("End", last), ("ArrowLeft", last - 1)):
        notebook.page.keyboard.press(key)
        stage.wait(cursor)


@pytest.fixture(scope="module")
def saved(notebook):
    """What is in the file of the notebook once it was saved with a stage at its third step."""
    notebook.run_all()
    if not notebook.page.get_by_text("Near enough").count():  # no test before this one has answered
        notebook.page.get_by_label("How many?").fill("4")
        notebook.page.keyboard.press("Enter")
    for shown in (".gv-predict:has-text('Near enough')", ".gv-score", ".widget-vbox svg"):
        notebook.page.locator(shown).first.wait_for()  # a widget that is not shown yet may not be saved
    notebook.stage().go_on(3)
    return notebook.save()


# In a page that has loaded the code of the widgets: the widget manager waits two seconds for a model that is in the
# notebook alone, and says "model not found" if its class comes later.
LEAVE = """async () => {
  const shown = window.jupyterapp.shell.currentWidget;
  await shown.sessionContext.shutdown();
  shown.dispose();
}"""


@pytest.mark.slow
def test_a_saved_notebook_shows_the_stage_and_the_answer_before_a_cell_has_run(saved, notebook, workbench):
    models = saved["metadata"]["widgets"]["application/vnd.jupyter.widget-state+json"]["state"].values()
    scripts = [model["state"]["script"] for model in models if "script" in model["state"]]
    assert len(scripts) == len(set(scripts)), "the script of a kind of widget is stored once"
    data = saved["cells"][1]["outputs"][0]["data"]
    assert "".join(data["text/html"]).startswith("<img alt=")
    assert "".join(data["text/plain"]).startswith("Stage: toy")
    notebook.page.evaluate(LEAVE)
    again = Notebook(workbench, notebook.name)
    assert again.stage().cursor == 3
    assert "model not found" not in again.page.content()
    assert "Near enough" in again.page.locator(".gv-predict").inner_text()
    again.run_cell(SCORED)
    again.page.locator(".gv-score:has-text('No predictions yet')").wait_for()  # the new kernel knows no answer
    again.run_cell(ASKED)
    again.page.get_by_text("1 of 1 prediction right.").wait_for()
