"""The stage in a real JupyterLab: what a person presses, and what the page then shows."""

from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = pytest.mark.browser

TOY = (Path(__file__).parents[1] / "widgets" / "toy.py").read_text(encoding="utf-8")
GUIDED = "model = toy_model()\nstage = gv.stage(model, 'say ', WordsGuide(model.vocabulary), seed=3)\nstage"


def open_stage(open_notebook, cell=GUIDED):
    notebook = open_notebook(TOY, cell)
    notebook.run_all()
    return notebook, notebook.stage()


def test_it_steps_and_goes_back(open_notebook):
    notebook, stage = open_stage(open_notebook)
    assert "no step yet" in stage.words
    assert stage.root.get_by_role("button", name="one step back").is_disabled()
    notebook.shot("stage-start", stage.root)
    for step in range(1, 5):
        stage.press("one step on")
        stage.wait(step)
    tokens = stage.tokens
    assert "".join(tokens).startswith('{"name":')
    assert stage.words.startswith("step 4 of 4 · “")
    stage.press("one step back")
    stage.wait(3)
    assert stage.tokens == tokens, "going back forgets nothing"
    stage.press("one step on")
    stage.wait(4)
    assert stage.tokens == tokens, "forward again gives the same token"
    stage.press("go to the prompt")
    stage.wait(0)
    stage.run_to_end()
    assert "the model ended its output" in stage.words
    assert stage.root.get_by_role("button", name="one step on").is_disabled()
    assert stage.root.get_by_role("button", name="play", exact=True).is_disabled()
    notebook.shot("stage-end", stage.root)
    stage.press("forget all steps and start anew")
    stage.wait(0)
    assert stage.tokens == []


def test_hostile_tokens_stay_text(open_notebook):
    words = "[b'<script>window.hacked=1</script><img src=x onerror=window.hacked=1>\\xe2\\x82']"
    cell = f"model = toy_model()\ngv.stage(model, 'say ', WordsGuide(model.vocabulary, {words}), steps=9)"
    notebook, stage = open_stage(open_notebook, cell)
    assert stage.tokens[:2] == ["<script>window.hacked=1</script>", "<img␣src=x␣onerror=window.hacked=1>"]
    assert stage.tokens[2] == "<0xE2><0x82>"
    assert notebook.page.evaluate("window.hacked") is None
    stage.root.locator(".gv-chip").nth(1).hover()
    notebook.shot("stage-hostile", stage.root)
    assert notebook.page.evaluate("window.hacked") is None


def test_where_nothing_is_forbidden_one_bar_is_enough(open_notebook):
    notebook, stage = open_stage(open_notebook, "gv.stage(toy_model(end=False), 'say ', steps=14)")
    assert "→" not in stage.root.locator("button.gv-row.gv-chosen .gv-said").inner_text()
    notebook.shot("stage-unguided", stage.root)


def test_a_bar_puts_its_token_in_and_a_past_token_branches(open_notebook):
    notebook, stage = open_stage(open_notebook)
    stage.run_to_end()
    before = stage.tokens
    place = next(i for i, token in enumerate(before) if token in ("A", "Ada", "Bob"))
    stage.root.locator(".gv-chip").nth(place).click()
    stage.wait(place + 1)
    other = "Bob" if before[place] != "Bob" else "Ada"
    row = stage.root.locator(f"button.gv-row:has(.gv-name:text-is('{other}'))")
    row.click()
    stage.root.locator(f".gv-chip.gv-now:has(.gv-name:text-is('{other}'))").wait_for()
    assert stage.tokens == [*before[:place], other], "what came after is cut"
    assert "put in by you" in stage.words
    stage.root.get_by_role("button", name="how it came").click()
    notebook.shot("stage-inserted", stage.root)
    stage.run_to_end()
    assert "".join(stage.tokens).replace("␣", " ").startswith('{"name": "' + other)


def test_an_illegal_token_says_why(open_notebook):
    notebook, stage = open_stage(open_notebook)
    stage.press("one step on")
    stage.wait(1)
    stage.root.locator("button.gv-row.gv-struck").first.click()
    why = stage.root.locator(".gv-why")
    why.wait_for()
    assert "illegal here?" in why.inner_text()
    assert "expected {" in why.inner_text()
    notebook.shot("stage-why", stage.root)
    stage.press("one step on")
    stage.wait(2)
    assert not why.is_visible()


def test_temperature_and_seed_change_what_comes_next_only(open_notebook):
    notebook, stage = open_stage(open_notebook, "gv.stage(toy_model(end=False), 'say ', steps=12, max_tokens=40)")
    before = stage.tokens
    for _ in range(8):
        stage.press("one step back")
    stage.wait(4)
    slider = stage.root.get_by_role("slider", name="temperature")
    box = slider.bounding_box()
    notebook.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    notebook.page.mouse.down()
    notebook.page.mouse.move(box["x"], box["y"] + box["height"] / 2, steps=8)
    notebook.page.mouse.up()
    stage.root.locator(".gv-slider output:text-is('0.00')").wait_for()
    notebook.shot("stage-stale", stage.root)
    stage.press("one step on")
    stage.wait(5)
    assert stage.tokens[:4] == before[:4]
    assert len(stage.tokens) == 5, "the old future is cut"
    best = stage.root.locator("button.gv-row").first
    assert "gv-chosen" in best.get_attribute("class"), "at temperature 0 the likeliest is taken"
    stage.root.get_by_role("spinbutton", name="seed").fill("9")
    notebook.page.keyboard.press("Tab")
    stage.press("one step on")
    stage.wait(6)


def test_everything_has_a_key(open_notebook):
    notebook, stage = open_stage(open_notebook)
    stage.root.focus()
    press = notebook.page.keyboard.press
    for step in (1, 2, 3):
        press("ArrowRight")
        stage.wait(step)
    press("ArrowLeft")
    stage.wait(2)
    press("Home")
    stage.wait(0)
    press("End")
    stage.root.locator(".gv-words:has-text('ended')").wait_for()
    press("Home")
    stage.wait(0)
    press("ArrowRight")
    stage.wait(1)
    rows = stage.root.locator("button.gv-row:visible")
    legal = [i for i in range(rows.count()) if "gv-struck" not in rows.nth(i).get_attribute("class")]
    other = next(i for i in legal if "gv-chosen" not in rows.nth(i).get_attribute("class"))
    press(str(other + 1))
    stage.root.locator(".gv-words:has-text('put in by you')").wait_for()
    press("r")
    stage.wait(0)
    press("Space")
    stage.root.locator("[data-name='pause']").wait_for()
    press("Space")
    stage.wait_paused()
    kinds = "window.jupyterapp.shell.currentWidget.content.widgets.map(c => c.model.type)"
    assert notebook.page.evaluate(kinds) == ["code", "code"], "the notebook took no key"


def test_scrubbing_along_the_bars(open_notebook):
    notebook, stage = open_stage(open_notebook, "gv.stage(toy_model(end=False), 'say ', steps=30)")
    bars = stage.root.locator(".gv-timebars i")
    first, last = bars.nth(3).bounding_box(), bars.nth(20).bounding_box()
    notebook.page.mouse.move(first["x"] + 3, first["y"])
    notebook.page.mouse.down()
    stage.wait(3)
    notebook.page.mouse.move(last["x"] + 3, first["y"], steps=10)
    notebook.page.mouse.up()
    stage.wait(20)
    assert stage.words.startswith("step 20 of 30")


def test_pause_stops_within_one_step(open_notebook):
    notebook, stage = open_stage(open_notebook, "gv.stage(toy_model(slow=0.4, end=False), 'say ')")
    stage.root.get_by_role("slider", name="speed").fill("6")
    stage.press("play")
    stage.wait_past(2)
    stage.press("pause")
    stage.wait_paused()
    cursor = stage.cursor
    notebook.page.wait_for_timeout(1500)
    assert stage.cursor <= cursor + 1


FAST = """import time
taken = []
def timed(tokens):
    taken.append(time.time())
    return rule(tokens, end=False)
gv.stage(gv.ToyModel(PIECES, timed, eos={0}), 'say ', max_tokens=200)"""

WATCH = """root => {
  window.seen = [];
  window.frames = 0;
  const look = () => {
    const cursor = Number(root.dataset.cursor);
    const last = window.seen.at(-1);
    if (cursor) window.frames += 1;
    if (cursor && (!last || last[0] !== cursor)) window.seen.push([cursor, Date.now()]);
    if (cursor < 200) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""


@pytest.mark.timed
def test_thirty_steps_a_second_and_no_backlog(open_notebook, capsys):
    notebook, stage = open_stage(open_notebook, FAST)
    stage.root.get_by_role("slider", name="speed").fill("6")
    notebook.page.evaluate(WATCH, stage.root.element_handle())
    stage.press("play")
    stage.wait(200, 60)
    notebook.page.wait_for_function("window.seen.at(-1)[0] === 200")
    seen, frames = notebook.page.evaluate("[window.seen, window.frames]")
    notebook.run_cell(0, "print(taken[-1])")
    seconds = (seen[-1][1] - seen[0][1]) / 1000
    painted, could, taken = ((n - 1) / seconds for n in (len(seen), frames, 200))
    late = seen[-1][1] - 1000 * float(notebook.outputs(0))
    with capsys.disabled():
        print(f"\n  {painted:.0f} steps/s painted, {taken:.0f} taken, {could:.0f} frames; the last {late:.0f} ms late")
    assert late < 1000, "no backlog; the figures above are the measure, this only catches a flood"
    assert painted >= 5


def test_a_second_run_stops_the_first_and_frees_its_model(open_notebook):
    run = "import weakref\nmodel = toy_model(slow=0.05, end=False)\n"
    run += "old = globals().get('new')\nnew = weakref.ref(model)\nstage = gv.stage(model, 'say ')\nstage"
    notebook, stage = open_stage(open_notebook, run)
    stage.press("play")
    stage.wait_past(3)
    notebook.run_cell(1)
    stage = notebook.stage()
    assert stage.cursor == 0
    assert notebook.page.locator(".gv-stage").count() == 1
    notebook.run_cell(0, "import gc, time; time.sleep(0.2); gc.collect(); print('freed', old() is None)")
    assert "freed True" in notebook.outputs(0)
    stage.press("one step on")
    stage.wait(1)


def test_an_error_is_shown_and_the_notebook_lives(open_notebook):
    cell = """def broken(tokens):
    if len(tokens) > 4:
        raise gv.ModelError("toy", seen="out of memory", hint="a smaller model")
    return rule(tokens, end=False)
gv.stage(gv.ToyModel(PIECES, broken, eos={0}), 'say ')"""
    notebook, stage = open_stage(open_notebook, cell)
    stage.press("play")
    stage.root.locator(".gv-note:has-text('out of memory')").wait_for(timeout=15000)
    stage.wait_paused()
    notebook.shot("stage-error", stage.root)
    notebook.run_cell(0, "print('alive')")
    assert "alive" in notebook.outputs(0)


def test_a_dead_end_is_said(open_notebook):
    cell = "model = toy_model()\ngv.stage(model, 'say ', WordsGuide(model.vocabulary, [b'{z']), steps=3)"
    notebook, stage = open_stage(open_notebook, cell)
    assert "dead end" in stage.words
    notebook.shot("stage-dead-end", stage.root)


def test_a_saved_notebook_opens_without_a_kernel_and_shows_the_stage(open_notebook):
    notebook, stage = open_stage(open_notebook, GUIDED)
    for step in (1, 2, 3):
        stage.press("one step on")
        stage.wait(step)
    saved = notebook.save()
    data = saved["cells"][1]["outputs"][0]["data"]
    assert "".join(data["text/html"]).startswith("<img alt=")
    assert "".join(data["text/plain"]).startswith("Stage: toy")
    notebook.page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    again = open_notebook(name=notebook.name)
    stage = again.stage()
    assert stage.cursor == 3
    assert "model not found" not in again.page.content()
    again.shot("stage-reopened")


def test_light_dark_and_narrow(open_notebook):
    notebook, stage = open_stage(open_notebook, GUIDED.replace("seed=3", "seed=3, steps=7"))
    notebook.shot("stage-light", stage.root)
    light = stage.root.evaluate("root => getComputedStyle(root).backgroundColor")
    notebook.theme("JupyterLab Dark")
    notebook.shot("stage-dark", stage.root)
    assert stage.root.evaluate("root => getComputedStyle(root).backgroundColor") != light
    notebook.theme("JupyterLab Light")
    notebook.page.set_viewport_size({"width": 620, "height": 1000})
    notebook.page.wait_for_timeout(300)
    notebook.shot("stage-narrow", stage.root)


def test_a_recording_replays(open_notebook):
    cell = "trace = gv.record(toy_model(), 'say ', WordsGuide(toy_model().vocabulary), seed=3)\n"
    cell += "from dataclasses import replace\ngv.stage(replace(trace, source='RECORDED'))"
    notebook, stage = open_stage(open_notebook, cell)
    assert "RECORDED" in stage.root.locator(".gv-badge").inner_text()
    stage.press("one step on")
    stage.wait(1)
    stage.run_to_end()
    assert "ended" in stage.words
    assert stage.root.get_by_role("slider", name="temperature").is_disabled()
    notebook.shot("stage-recorded", stage.root)


def test_bias_sliders_move_the_distribution(open_notebook):
    notebook = open_notebook(TOY, "gv.bias_sliders(toy_model(), 'say ', ['Ada', 'Bob', 'Sure'])")
    notebook.run_all()
    root = notebook.page.locator(".gv-bias")
    root.get_by_role("slider", name="bias of Ada").fill("0.5")
    root.locator(".gv-words:has-text('Ada +12.5')").wait_for()
    said = root.locator("button.gv-row:has(.gv-name:text-is('Ada')) .gv-said").inner_text()
    assert said == "<0.01 → >0.99"
    root.get_by_role("spinbutton", name="bias of Bob").fill("-100")
    notebook.page.keyboard.press("Tab")
    root.locator(".gv-words:has-text('Bob -100: 0.03 → <0.01')").wait_for()
    notebook.shot("bias-light", root)
    notebook.theme("JupyterLab Dark")
    notebook.shot("bias-dark", root)
    notebook.theme("JupyterLab Light")
    root.get_by_role("button", name="all sliders to zero").click()
    root.locator(".gv-words:has-text('Ada: ')").wait_for()


def test_the_picture_of_the_readme(open_notebook):
    cell = """import guidedviz as gv
model = gv.load_model("clerk", device="cpu")
person = gv.regex(r'\\{"name": "[A-Za-z ]+", "age": [0-9]{1,3}, "city": "[A-Za-z]+"\\}')
guide = gv.guide(person, model.vocabulary)
prompt = "Hi! Ada Lovelace is 36 and lives in London.\\nJSON with name, age, city:\\n"
gv.stage(model, prompt, guide, seed=7, constraint="a regex", steps=7)"""
    notebook = open_notebook(cell)
    notebook.run_all()
    stage = notebook.stage()
    stage.press("go to the prompt")
    stage.wait(0)
    stage.press("one step on")
    stage.wait(1)
    assert "legal" in stage.words
    notebook.shot("readme", stage.root)
