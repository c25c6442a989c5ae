"""The machine in a real JupyterLab: it is seen to move, and films run."""

from __future__ import annotations

from itertools import pairwise

import pytest

pytestmark = pytest.mark.browser

TOY = """import guidedviz as gv, zlib, numpy as np
PIECES = [b"<eos>", *(bytes([i]) for i in range(32, 127)), b"3.", b"14", b".5", b"1.5", b"42", b'<img src=x>', b"x1"]
def rule(tokens):
    return np.random.default_rng(zlib.crc32(repr(list(tokens)[-6:]).encode())).normal(0, 2.0, len(PIECES))
def likes(*pieces):
    return gv.ToyModel(PIECES, lambda tokens: [9.0 - pieces.index(p) if p in pieces else 0.0 for p in PIECES], eos={0})
model = gv.ToyModel(PIECES, rule, eos={0})
decimal = gv.regex(r"[0-9]+([.][0-9]+)?")
"""
DECIMAL = "stage = gv.stage(model, 'say ', gv.guide(decimal, model.vocabulary), seed=3)\nstage"


def open_stage(open_notebook, cell=DECIMAL):
    notebook = open_notebook(TOY, cell)
    notebook.run_all()
    stage = notebook.stage()
    return notebook, stage, stage.root.locator("[data-slot='machine']")


def lit(slot):
    return slot.locator(".gv-state.gv-lit").evaluate_all("nodes => nodes.map(n => Number(n.dataset.state))")


def on(slot):
    return sorted(slot.locator(".gv-arrow.gv-on").evaluate_all("nodes => nodes.map(n => n.dataset.arrow)"))


def test_the_machine_moves_with_the_steps_and_goes_back(open_notebook):
    notebook, stage, slot = open_stage(open_notebook)
    assert slot.is_visible()
    assert lit(slot) == [0]
    seen = [(lit(slot), on(slot))]
    for step in range(1, 5):
        stage.press("one step on")
        stage.wait(step)
        seen.append((lit(slot), on(slot)))
    notebook.run_cell(0, "print([[list(path) for path in stage._panels.machine.paths(stage.player.steps)]])")
    (paths,) = eval(notebook.outputs(0))
    for path, (now, taken) in zip(paths, seen[1:], strict=True):
        assert now == path[-1:], "the lit state is where the step led"
        assert set(taken) == {f"{a}-{b}" for a, b in pairwise(path)}, "and its edges are lit"
    assert len({tuple(now) for now, _ in seen}) > 1, "it is seen to move"
    notebook.shot("machine-stage-light", stage.root)
    for step in (3, 2, 1, 0):
        stage.press("one step back")
        stage.wait(step)
        assert (lit(slot), on(slot)) == seen[step], "and it goes back"


def test_the_bytes_inside_a_token_are_numbered(open_notebook):
    notebook, stage, slot = open_stage(open_notebook, "model = likes(b'1.5')\n" + DECIMAL)
    stage.press("one step on")
    stage.wait(1)
    assert stage.tokens == ["1.5"]
    assert lit(slot) == [3]
    number = "arrows => arrows.map(a => [a.dataset.arrow, a.querySelector('.gv-nth').textContent])"
    numbers = slot.locator(".gv-arrow.gv-on").evaluate_all(number)
    assert sorted(numbers) == [["0-1", "1"], ["1-2", "2"], ["2-3", "3"]]
    assert slot.locator(".gv-machine-now").inner_text() == "q0 → q1 → q2 → q3"
    notebook.shot("machine-token", stage.root)
    stage.press("one step back")
    stage.wait(0)
    assert slot.locator(".gv-nth").evaluate_all("a => a.map(n => n.textContent).join('')") == ""


def test_why_walks_to_the_state_where_the_token_died(open_notebook):
    cell = "model, decimal = likes(b'1.5', b'3.'), gv.regex('[0-9]+x|1[.]5')\n" + DECIMAL
    notebook, stage, slot = open_stage(open_notebook, cell)
    stage.press("one step on")
    stage.wait(1)
    row = stage.root.locator("button.gv-row:has(.gv-name:text-is('3.'))")
    row.click()
    stage.root.locator(".gv-why").wait_for()
    cross = slot.locator(".gv-cross")
    cross.wait_for()
    assert cross.evaluate("node => node.textContent") == "."
    died = lit(slot)
    assert len(died) == 1
    assert f"q{died[0]} ✕" in stage.root.locator(".gv-died").inner_text()
    notebook.shot("machine-why", stage.root)
    stage.press("one step back")
    stage.wait(0)
    assert cross.count() == 0


LARGE = """import time
from guidedviz.machines.dfa import DFA
taken = []
edges = [((97, 109, (n + 1) % 300), (110, 122, (n * 7 + 1) % 300)) for n in range(300)]
big = DFA(tuple(edges), frozenset(range(0, 300, 10)))
def timed(tokens):
    taken.append(time.time())
    return rule(tokens)
model = gv.ToyModel(PIECES, timed, eos={0})
gv.stage(model, 'say ', gv.guide(big, model.vocabulary), bias={0: -100}, max_tokens=200)"""

WATCH = """root => {
  window.seen = [];
  window.states = new Set();
  const look = () => {
    const cursor = Number(root.dataset.cursor);
    const last = window.seen.at(-1);
    if (cursor && (!last || last[0] !== cursor)) {
      window.seen.push([cursor, Date.now()]);
      window.states.add(root.querySelector(".gv-state.gv-lit")?.dataset.state);
    }
    if (cursor < 200) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""


def work_of(page):
    """Seconds that the page's main thread has worked."""
    return next(m["value"] for m in page.send("Performance.getMetrics")["metrics"] if m["name"] == "TaskDuration")


@pytest.mark.timed
def test_thirty_steps_a_second_with_a_machine_of_many_states(open_notebook, capsys):
    notebook, stage, slot = open_stage(open_notebook, LARGE)
    states = slot.locator("svg:not(.gv-over) .gv-state").count()
    stage.root.get_by_role("slider", name="speed").fill("6")
    notebook.page.evaluate(WATCH, stage.root.element_handle())
    page = notebook.page.context.new_cdp_session(notebook.page)
    page.send("Performance.enable", {"timeDomain": "threadTicks"})  # work, not waiting: the same on a busy machine
    before = work_of(page)
    stage.press("play")
    stage.wait(200, 60)
    notebook.page.wait_for_function("window.seen.at(-1)[0] === 200")
    seen, lit_states = notebook.page.evaluate("[window.seen, window.states.size]")
    notebook.run_cell(0, "print(taken[-1])")
    work = 1000 * (work_of(page) - before) / len(seen)
    seconds = (seen[-1][1] - seen[0][1]) / 1000
    painted, late = (len(seen) - 1) / seconds, seen[-1][1] - 1000 * float(notebook.outputs(0))
    with capsys.disabled():
        print(f"\n  {states} states: {painted:.0f} steps/s painted, {work:.0f} ms of the page's work a painted step;")
        print(f"  {lit_states} states lit; the last {late:.0f} ms late")
    notebook.shot("machine-large", stage.root)
    assert states == 300
    notebook.page.evaluate("document.querySelector('.gv-sheets').style.width = '5000px'")
    widths = slot.evaluate("slot => [slot.querySelector('.gv-diagram').clientWidth, slot.clientWidth]")
    assert widths[0] < widths[1], "a drawing wider than its panel is scrolled, not spilled"
    assert lit_states > 20
    assert late < 1000, "no backlog; the figures above are the measure, this only catches a flood"
    assert painted >= 5


def test_light_dark_narrow_and_a_machine_with_runs(open_notebook):
    record = r"""r'\\{"name": "[A-Za-z ]{1,30}", "age": [0-9]{1,3}\\}'""".replace("\\\\", "\\")
    cell = f"gv.stage(model, 'say ', gv.guide(gv.regex({record}), model.vocabulary), steps=12)"
    notebook, stage, slot = open_stage(open_notebook, cell)
    assert len(lit(slot)) == 1
    notebook.shot("machine-run-light", stage.root)
    notebook.theme("JupyterLab Dark")
    notebook.shot("machine-run-dark", stage.root)
    notebook.theme("JupyterLab Light")
    notebook.page.set_viewport_size({"width": 620, "height": 1000})
    notebook.page.wait_for_timeout(300)
    notebook.shot("machine-run-narrow", stage.root)


def test_a_recording_moves_the_machine_of_its_guide(open_notebook):
    cell = "from dataclasses import replace\nguide = gv.guide(decimal, model.vocabulary)\n"
    cell += "trace = replace(gv.record(model, 'say ', guide, seed=3, max_tokens=6), source='RECORDED')\n"
    _, stage, slot = open_stage(open_notebook, cell + "gv.stage(trace, guide=guide)")
    assert lit(slot) == [0]
    stage.press("one step on")
    stage.wait(1)
    assert lit(slot) != [0]
    assert "RECORDED" in stage.root.locator(".gv-badge").inner_text()


def test_a_film_runs_forward_and_back_without_the_kernel(open_notebook):
    notebook = open_notebook("import guidedviz as gv", "gv.film(gv.minimal_frames('(ab|cb)d?'), title='minimise')")
    notebook.run_all()
    film = notebook.page.locator(".gv-film")
    film.wait_for()
    frames = int(film.locator(".gv-about .gv-soft").inner_text().split()[-1])
    notebook.page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    words = [film.locator(".gv-film-words").inner_text()]
    notebook.shot("film-first", film)
    for frame in range(1, frames):
        film.get_by_role("button", name="one frame on").click()
        film.page.wait_for_selector(f".gv-film[data-frame='{frame}']")
        words.append(film.locator(".gv-film-words").inner_text())
        if frame == 1:
            notebook.shot("film-middle", film)
    assert len(set(words)) == frames, "every frame says something else"
    assert film.get_by_role("button", name="one frame on").is_disabled()
    notebook.shot("film-last", film)
    notebook.page.keyboard.press("ArrowLeft")
    film.page.wait_for_selector(f".gv-film[data-frame='{frames - 2}']")
    assert film.locator(".gv-film-words").inner_text() == words[-2]
    notebook.page.keyboard.press("Home")
    film.page.wait_for_selector(".gv-film[data-frame='0']")
    film.get_by_role("slider", name="frame").fill(str(frames - 1))
    film.page.wait_for_selector(f".gv-film[data-frame='{frames - 1}']")
    notebook.page.keyboard.press("Home")
    film.get_by_role("button", name="play").click()
    film.page.wait_for_selector(".gv-film[data-frame='1']", timeout=5000)
    # JupyterLab may say in the console that its kernel is gone; a fault of the film would be a page error
    notebook.errors = [error for error in notebook.errors if error.startswith("page error")]


def test_hostile_names_stay_text_on_the_page(open_notebook):
    bad = "</text><script>window.hacked=1</script><img src=x onerror=window.hacked=1>"
    cell = f"""from guidedviz.machines.sketch import Arrow, Sketch
bad = {bad!r}
arrows, first = (Arrow(0, 1, ((255, 255),)),), frozenset({{0}})
one = Sketch((bad, '\\u202eq'), arrows, 0, first, ((bad, first),), bad, first)
gv.film([one, one], title=bad)"""
    notebook = open_notebook("import guidedviz as gv", cell)
    notebook.run_all()
    film = notebook.page.locator(".gv-film")
    film.wait_for()
    assert "<script>" in film.locator(".gv-film-words").inner_text()
    assert film.locator("script, img").count() == 0
    assert notebook.page.evaluate("window.hacked") is None
    notebook.shot("film-hostile", film)


def test_a_film_of_a_construction_grows(open_notebook):
    notebook = open_notebook("import guidedviz as gv", "gv.film(gv.nfa_frames('[0-9]+(x|yz)?'))")
    notebook.run_all()
    film = notebook.page.locator(".gv-film")
    film.wait_for()
    visible = "nodes => nodes.filter(n => !n.classList.contains('gv-absent')).length"
    before = film.locator(".gv-arrow").evaluate_all(visible)
    notebook.shot("film-nfa-first", film)
    film.get_by_role("button", name="to the last frame").click()
    assert film.locator(".gv-arrow").evaluate_all(visible) > before
    notebook.shot("film-nfa-last", film)
