"""The vocabulary map in a real JupyterLab: a person points, types, zooms, and the picture is the mask."""

from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = pytest.mark.browser

TOY = (Path(__file__).parents[1] / "widgets" / "toy.py").read_text(encoding="utf-8")
RECORD = r"""import guidedviz as gv
PERSON = r'\{"name": "[A-Za-z ]{1,30}", "age": [0-9]{1,3}, "city": "[A-Za-z]{1,30}"\}'
"""
CLERK = RECORD + "guide = gv.guide(gv.regex(PERSON), gv.load_model('clerk', device='cpu').vocabulary)\n"
STRING = r"""import guidedviz as gv
guide = gv.guide(gv.regex(r'\{"name": "([^"\\\x00-\x1f]|\\["\\/bfnrt])*", "age": [0-9]+\}'), gv.Vocabulary.llama3())
"""


class Chart:
    """A map as a person finds it on the page."""

    def __init__(self, notebook, place=0):
        self.notebook, self.page = notebook, notebook.page
        self.root = notebook.page.locator(".gv-stage:has(.gv-map)").nth(place)
        self.sheet = self.root.locator(".gv-map")
        self.root.locator(".gv-map-legend b").first.wait_for(timeout=20000)
        self.sheet.scroll_into_view_if_needed()

    @property
    def legend(self):
        return self.root.locator(".gv-map-legend").inner_text()

    @property
    def card(self):
        return self.root.locator(".gv-map-card").inner_text()

    def wait(self, selector, words):
        self.root.locator(f"{selector}:has-text({words!r})").first.wait_for(timeout=10000)

    def at(self, x, y):
        """A place on the sheet, as parts of its width and height."""
        box = self.sheet.bounding_box()
        return box["x"] + box["width"] * x, box["y"] + box["height"] * y

    def colours(self):
        """How many pixels of the canvas have the colour of the sea, and how many that of the land."""
        return self.sheet.locator("canvas").first.evaluate(
            """canvas => {
              const style = getComputedStyle(canvas);
              const pen = document.createElement('canvas').getContext('2d');
              const rgb = name => { pen.fillStyle = style.getPropertyValue('--gv-' + name).trim();
                return [1, 3, 5].map(i => parseInt(pen.fillStyle.slice(i, i + 2), 16)).join(); };
              const looks = [rgb('sea'), rgb('land')], counts = [0, 0];
              const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
              for (let i = 0; i < data.length; i += 4) {
                const kind = looks.indexOf([data[i], data[i + 1], data[i + 2]].join());
                if (kind >= 0) counts[kind] += 1;
              }
              return counts.map(n => n / (canvas.width * canvas.height));
            }"""
        )


def open_chart(open_notebook, *cells):
    notebook = open_notebook(*cells)
    notebook.run_all()
    assert notebook.failed_cells() == []
    return Chart(notebook)


def test_the_picture_is_the_mask_and_follows_what_is_typed(open_notebook):
    chart = open_chart(open_notebook, STRING, "chart = gv.vocabulary_map(guide)\nchart")
    assert "legal 2 (" in chart.legend
    assert "EOS illegal" in chart.legend
    sea, land = chart.colours()
    assert sea < 0.01 < 0.9 < land
    chart.notebook.shot("map-llama3-start", chart.root)
    chart.root.get_by_label("after the text").fill('{"name": "Ada')
    chart.wait(".gv-map-legend", "legal 123,218 (96%)")
    sea, land = chart.colours()
    assert sea > 0.85
    assert land < 0.1
    chart.notebook.shot("map-llama3-light", chart.root)
    chart.root.get_by_label("after the text").fill('{"name": "Ada"x')
    chart.wait(".gv-note", "x cannot come: expected ,")
    chart.root.get_by_label("after the text").fill('{"name": "Ada')
    chart.wait(".gv-map-legend", "legal 123,218 (96%)")
    chart.notebook.theme("JupyterLab Dark")
    chart.notebook.shot("map-llama3-dark", chart.root)
    sea = chart.colours()[0]
    chart.notebook.theme("JupyterLab Light")
    assert sea > 0.85, "the canvas took the colours of the theme"


def test_pointing_says_the_token_its_bytes_and_why_it_is_illegal(open_notebook):
    chart = open_chart(open_notebook, STRING, "chart = gv.vocabulary_map(guide)\nchart")
    chart.page.mouse.move(*chart.at(0.3, 0.5))
    chart.wait(".gv-map .gv-tip", "illegal")
    chart.wait(".gv-map .gv-tip", "cannot come: expected {")
    tip = chart.root.locator(".gv-map .gv-tip").inner_text()
    assert "bytes 20 " in tip
    assert "␣a–z" in tip
    chart.page.mouse.click(*chart.at(0.3, 0.5))
    chart.wait(".gv-map-card", "cannot come")
    first = chart.card
    chart.page.keyboard.press("ArrowRight")
    chart.page.wait_for_function(
        "([node, old]) => node.innerText !== old && node.innerText.includes('id ')",
        arg=[chart.root.locator(".gv-map-card").element_handle(), first],
    )
    chart.page.keyboard.press("Home")
    chart.wait(".gv-map-card", "bytes 00 ")
    chart.page.keyboard.press("End")
    chart.wait(".gv-map-card", "no text")
    chart.notebook.shot("map-hover", chart.root)


def test_search_counts_marks_and_goes_from_one_to_the_next(open_notebook):
    chart = open_chart(open_notebook, STRING, 'chart = gv.vocabulary_map(guide).read(\'{"name": "Ada\')\nchart')
    find = chart.root.get_by_label("find tokens")
    find.fill("/[0-9]+/")
    chart.wait(".gv-map-find", "1,110 found, 1,110 legal")
    chart.notebook.shot("map-found-many", chart.root)
    find.fill("json")
    chart.wait(".gv-map-find", "found, ")
    chart.page.wait_for_timeout(500)
    find.press("Enter")
    chart.wait(".gv-map-card", "json")
    chart.notebook.shot("map-found", chart.root)
    find.fill("/(/")
    chart.wait(".gv-map-find", "regex")
    find.fill("")
    chart.page.wait_for_timeout(400)
    assert "found" not in chart.root.locator(".gv-map-find").last.inner_text()


def test_zooming_in_until_the_tokens_can_be_read(open_notebook):
    chart = open_chart(open_notebook, STRING, 'chart = gv.vocabulary_map(guide).read(\'{"name": "Ada\')\nchart')
    chart.page.mouse.move(*chart.at(0.53, 0.7))
    chart.page.mouse.wheel(0, -300)
    chart.page.wait_for_timeout(300)
    before = chart.colours()
    chart.sheet.scroll_into_view_if_needed()
    chart.page.mouse.click(*chart.at(0.53, 0.7))
    for _ in range(12):
        chart.page.mouse.wheel(0, -120)
        chart.page.wait_for_timeout(30)
    chart.page.wait_for_timeout(500)
    assert chart.colours() != before
    chart.notebook.shot("map-zoom-light", chart.root)
    chart.notebook.theme("JupyterLab Dark")
    chart.notebook.shot("map-zoom-dark", chart.root)
    chart.root.get_by_role("button", name="show all").click()
    chart.page.wait_for_timeout(200)
    chart.notebook.shot("map-whole-dark", chart.root)
    chart.notebook.theme("JupyterLab Light")


def test_two_states_are_compared(open_notebook):
    chart = open_chart(open_notebook, CLERK, 'chart = gv.vocabulary_map(guide).read(\'{"name": "Ada\')\nchart')
    chart.root.get_by_role("button", name="⊕ compare").click()
    chart.root.get_by_label("after the text").fill('{"name": "Ada", "age": ')
    chart.wait(".gv-map-legend", "neither")
    chart.page.wait_for_timeout(300)
    chart.notebook.shot("map-xor-light", chart.root)
    chart.notebook.theme("JupyterLab Dark")
    chart.notebook.shot("map-xor-dark", chart.root)
    chart.notebook.theme("JupyterLab Light")


def test_small_vocabularies_show_their_tokens_and_hostile_ones_stay_text(open_notebook):
    cell = "model = toy_model()\ngv.vocabulary_map(WordsGuide(model.vocabulary))"
    chart = open_chart(open_notebook, TOY, cell)
    chart.page.wait_for_timeout(500)
    chart.notebook.shot("map-toy", chart.root)
    assert chart.page.evaluate("window.hacked") is None
    chart.root.get_by_label("find tokens").fill("script")
    chart.wait(".gv-map-find", "1 found, 0 legal")
    chart.root.get_by_label("find tokens").press("Enter")
    chart.wait(".gv-map-card", "<script>")
    assert chart.page.evaluate("window.hacked") is None


STAGE = (
    RECORD
    + """model = gv.load_model("clerk", device="cpu")
guide = gv.guide(gv.regex(PERSON), model.vocabulary)
prompt = "Hi! Ada Lovelace is 36 and lives in London.\\nJSON with name, age, city:\\n"
gv.stage(model, prompt, guide, seed=7, constraint="a regex")"""
)


def test_on_the_stage_the_map_moves_with_every_step(open_notebook):
    notebook = open_notebook(STAGE)
    notebook.run_all()
    stage, chart = notebook.stage(), Chart(notebook)
    assert "legal 2 (" in chart.legend, "before the first step: what may come first"
    seen = []
    for step in range(1, 7):
        stage.press("one step on")
        stage.wait(step)
        chart.page.wait_for_timeout(60)
        seen.append((chart.legend, chart.colours()[0]))
    assert len({legend for legend, _ in seen}) > 3
    assert max(sea for _, sea in seen) > 0.5 > 0.01 > min(sea for _, sea in seen)
    notebook.shot("map-stage-light", stage.root)
    chart.root.get_by_role("button", name="⊕ xor with the step before").click()
    chart.wait(".gv-map-legend", "neither")
    notebook.shot("map-stage-xor", stage.root)
    chart.root.get_by_role("button", name="⊕ xor with the step before").click()
    notebook.theme("JupyterLab Dark")
    notebook.shot("map-stage-dark", stage.root)
    notebook.theme("JupyterLab Light")


def test_on_the_stage_any_legal_token_of_the_map_can_be_put_in(open_notebook):
    notebook = open_notebook(STAGE.replace('"a regex"', '"a regex", steps=5'))
    notebook.run_all()
    stage, chart = notebook.stage(), Chart(notebook)
    find = chart.root.get_by_label("find tokens")
    find.fill("/Grace/")
    chart.wait(".gv-map-find", "1 found, 1 legal")
    find.press("Enter")
    chart.root.get_by_role("button", name="put it in").click()
    stage.root.locator(".gv-words:has-text('put in by you')").wait_for()
    assert stage.tokens[-1] == "Grace"


LARGE = r"""import time
import numpy as np
import guidedviz as gv
llama3 = gv.Vocabulary.llama3()
noise = [np.random.default_rng(seed).normal(0, 2, len(llama3)).astype(np.float32) for seed in range(8)]
taken, told = [], []
def rule(tokens):
    taken.append(time.time())
    return noise[len(tokens) % 8]
model = gv.ToyModel(llama3.pieces, rule, eos=llama3.eos)
lines = gv.regex(r'(\{"name": "[a-zA-Z ]{1,12}", "age": [0-9]{1,3}\}\n|\[("[^"]{1,9}",){1,3}\]\n)+')
stage = gv.stage(model, "say ", gv.guide(lines, model.vocabulary), max_tokens=200)
feed = stage._panels.map
news = feed.news
def timed(*given):
    start = time.perf_counter()
    packed = news(*given)
    told.append((1000 * (time.perf_counter() - start), sum(map(len, packed["bits"].values()))))
    return packed
feed.news = timed
stage"""


@pytest.mark.timed
def test_a_map_of_128k_tokens_keeps_up_with_the_steps(open_notebook, capsys):
    notebook = open_notebook(LARGE, "")
    notebook.run_all()
    assert notebook.failed_cells() == []
    stage = notebook.stage()
    stage.root.get_by_role("slider", name="speed").fill("5")
    stage.watch()
    stage.press("play")
    stage._wait_for("root.dataset.ended === 'true'", 90)
    seen = notebook.page.evaluate("window.seen")
    say = "costs, sent = sorted(ms for ms, _ in told[1:]), sum(size for _, size in told)\n"
    say += "print(taken[-1], taken[-1] - taken[0], len(taken), costs[len(costs) // 2], costs[-1], sent)"
    notebook.run_cell(1, say)
    last, wall, steps, median, most, sent = map(float, notebook.outputs(1).split())
    seconds = (seen[-1][1] - seen[0][1]) / 1000
    painted, could, late = (len(seen) - 1) / seconds, (steps - 1) / wall, seen[-1][1] - 1000 * last
    with capsys.disabled():
        print(f"\n  {painted:.0f} steps/s painted, {could:.0f} taken, the last {late:.0f} ms late")
        print(f"  map in the kernel {median:.2f} ms, at most {most:.1f}; {sent / 1000:.0f} kB of masks in all")
    notebook.shot("map-stage-llama3", stage.root)
    assert late < 1500, "no backlog"
    assert painted >= 5


def test_the_token_table_is_searched_and_says_why(open_notebook):
    number = 'gv.token_table(gv.guide(gv.regex("[0-9]+"), guide.vocabulary))'
    notebook = open_notebook(CLERK, "gv.token_table(guide)", number)
    notebook.run_all()
    assert notebook.failed_cells() == []
    root = notebook.page.locator(".gv-stage:has(.gv-table)").nth(1)
    root.scroll_into_view_if_needed()
    assert "2 states × 4,096 tokens" in root.inner_text()
    assert root.locator("td.gv-filled").count() == 3
    root.locator("td[data-column]").first.click()
    root.locator(".gv-map-card:has-text('cannot come')").wait_for()
    root.get_by_label("only these tokens").fill("/[0-3]/")
    root.locator("td.gv-filled").nth(7).wait_for()
    assert root.locator("td.gv-filled").count() == 8
    notebook.page.locator(".gv-table td[data-column]").first.click()
    notebook.page.keyboard.press("ArrowDown")
    notebook.shot("table-light")
    notebook.theme("JupyterLab Dark")
    notebook.shot("table-dark")
    notebook.theme("JupyterLab Light")
