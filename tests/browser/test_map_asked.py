"""The stage's third colour and its times in a real JupyterLab: who asked the stack, what it said, what it all cost."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser

NESTED = r"""import time
import numpy as np
import guidedviz as gv
llama3 = gv.Vocabulary.llama3()
noise = np.random.default_rng(0).normal(0, 1, len(llama3)).astype(np.float32)
for piece, likely in ((b'"]}', 12), (b'"}}', 11), (b'"},', 10), (b'{"', 9), (b'}', 8)):
    noise[list(llama3.ids(piece))] = likely
taken = []
def rule(tokens):
    taken.append(time.time())
    logits = noise.copy()
    logits[plan[(len(tokens) - 1) % len(plan)]] = 14
    return logits
model = gv.ToyModel(llama3.pieces, rule, eos=llama3.eos)
plan = model.encode('[' + '{"name": "Ada Lovelace", "of": [[true, 36.5], "x"]}, ' * 9)
guide = gv.guide(gv.json(), model.vocabulary)
stage = gv.stage(model, " ", guide, temperature=0, max_tokens=110)
stage"""
SAY = """def count(cursor):
    state = stage._panels.masked_at(stage.player, cursor)
    said, legal = guide.split.answers(state), guide.mask(state)
    return [int((said == 1).sum()), int((said == 0).sum()), int((legal & (said == 2)).sum()), int((said == 2).sum())]
print([count(cursor) for cursor in range(1, 9)])"""
PARTS = ("forward", "mask", "sample")
REPLAY = "gv.stage(stage.trace, guide=guide, steps=len(stage.trace.steps))"


@pytest.fixture(scope="module")
def nested(open_once):
    """A live stage, a cell to ask the kernel in, and the replay of what was decoded."""
    notebook = open_once(NESTED, "", "")
    notebook.run_cell(0)
    assert notebook.failed_cells() == []
    return notebook, notebook.stage()


def legend(stage):
    """The four counts below the map."""
    return [int(count.replace(",", "")) for count in stage.root.locator(".gv-map-legend b").all_inner_texts()]


def told(counts):
    """The same as the kernel has it: surely legal, surely illegal, asked and legal, asked and illegal."""
    yes, no, legal, asked = counts
    return [yes, no, legal, asked - legal]


def painted(stage, name):
    """How many pixels of the map's canvas have a colour of the theme."""
    return stage.root.locator(".gv-map canvas").first.evaluate(
        """(canvas, name) => {
          const pen = document.createElement('canvas').getContext('2d');
          pen.fillStyle = getComputedStyle(canvas).getPropertyValue('--gv-' + name).trim();
          const want = [1, 3, 5].map(i => parseInt(pen.fillStyle.slice(i, i + 2), 16));
          const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
          let count = 0;
          for (let i = 0; i < data.length; i += 4) count += want.every((part, k) => data[i + k] === part);
          return count;
        }""",
        name,
    )


def settle(stage, cursor):
    stage.wait(cursor)
    stage.notebook.page.wait_for_timeout(80)


def test_the_legend_counts_what_the_split_knows_at_every_step_and_going_back(nested):
    notebook, stage = nested
    seen = []
    for cursor in range(1, 9):
        stage.press("one step on")
        settle(stage, cursor)
        seen.append(legend(stage))
    notebook.run_cell(1, SAY)
    assert seen == [told(counts) for counts in eval(notebook.outputs(1))]
    assert len({tuple(counts) for counts in seen}) > 4
    for cursor in (7, 6, 5):
        stage.press("one step back")
        settle(stage, cursor)
        assert legend(stage) == seen[cursor - 1]


def test_who_asked_has_a_colour_in_both_themes_and_none_when_masks_are_compared(nested):
    notebook, stage = nested
    stage.root.locator(".gv-chip").nth(5).click()
    settle(stage, 6)
    _, _, legal, illegal = legend(stage)
    assert min(legal, illegal) > 20
    for theme in ("Light", "Dark"):
        notebook.theme(f"JupyterLab {theme}")
        assert painted(stage, "gold") > 20
        assert painted(stage, "orange") > 20
        notebook.shot(f"asked-{theme.lower()}", stage.root)
    notebook.theme("JupyterLab Light")
    xor = stage.root.get_by_role("button", name="⊕ xor with the step before")
    xor.click()
    stage.root.locator(".gv-map-legend:has-text('neither')").wait_for()
    assert painted(stage, "gold") == 0
    xor.click()
    stage.root.locator(".gv-map-legend:has-text('asked, legal')").wait_for()


def test_a_token_says_that_the_stack_was_asked(nested):
    _, stage = nested
    card = stage.root.locator(".gv-map-card")
    find = stage.root.get_by_label("find tokens")
    for text, said in (('/"}/', "the stack was asked"), ("/Ada/", "surely legal")):
        find.fill(text)
        stage.root.locator(".gv-map-find:has-text('found, ')").wait_for()
        stage.notebook.page.wait_for_timeout(450)
        find.press("Enter")
        card.locator(f"b:has-text('{said}')").wait_for()
    find.fill("")
    stage.root.locator(".gv-map").press("Escape")


def test_another_token_asks_another_stack(nested):
    _, stage = nested
    before = legend(stage)
    stage.root.locator(".gv-chip").nth(0).click()
    settle(stage, 1)
    other = stage.root.locator("button.gv-row:has(.gv-name:text-is('{\"'))")
    other.click()
    stage.root.locator(".gv-words:has-text('put in by you')").wait_for()
    stage.press("forget all steps and start anew")
    stage.wait(0)
    assert legend(stage) != before


@pytest.mark.timed
def test_three_colours_keep_up_with_the_steps(nested, capsys):
    notebook, stage = nested
    stage.root.get_by_role("slider", name="speed").fill("5")
    stage.watch()
    stage.press("play")
    stage._wait_for("root.dataset.ended === 'true'", 60)
    seen = notebook.page.evaluate("window.seen")
    notebook.run_cell(1, "print(taken[-1])")
    late = seen[-1][1] - 1000 * float(notebook.outputs(1))
    rate = (len(seen) - 1) / (seen[-1][1] - seen[0][1]) * 1000
    with capsys.disabled():
        print(f"\n  three colours of 128k tokens: {rate:.0f} steps/s painted, the last {late:.0f} ms late")
    assert late < 1500, "no backlog"
    assert rate >= 5


def test_every_bar_is_its_steps_time_in_three_parts(nested):
    notebook, stage = nested
    if stage.cursor < 6:
        stage.run_to_end()
    stage.root.get_by_role("button", name="time", exact=True).click()
    high = "nodes => nodes.map(node => node.getBoundingClientRect().height)"
    heights = [stage.root.locator(f".gv-timebars .gv-part-{name}").evaluate_all(high) for name in PARTS]
    notebook.run_cell(1, "print([(s.forward_ms, s.mask_ms, s.sample_ms) for s in stage.trace.steps])")
    times = eval(notebook.outputs(1))
    assert len(heights[0]) == len(times)
    full = float(stage.root.locator(".gv-timebars").evaluate("node => node.style.getPropertyValue('--top')"))
    assert full in [pytest.approx(sum(parts), abs=0.001) for parts in times], "a full bar is one of the steps"
    for *drawn, parts in zip(*heights, times, strict=True):
        assert drawn == pytest.approx([41 * ms / full for ms in parts], abs=0.1)
    said = stage.root.locator(".gv-cost").inner_text()
    assert "a full bar is" in said
    notebook.shot("stage-times", stage.root)
    stage.root.get_by_role("button", name="probability", exact=True).last.click()
    assert not stage.root.locator(".gv-scale").is_visible()


def test_the_replay_of_a_recording_has_the_same_map(nested):
    notebook, stage = nested
    if stage.cursor < 6:
        stage.run_to_end()
    notebook.run_cell(2, REPLAY)
    replay = notebook.stage(1)
    replay.wait(stage.cursor)
    for cursor in (4, 6):
        for one in (stage, replay):
            one.root.locator(".gv-chip").nth(cursor - 1).click()
            settle(one, cursor)
        assert legend(replay) == legend(stage)
