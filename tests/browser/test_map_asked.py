"""The map's third colour and the times of the steps: who asked the stack, what it said, what it all cost."""

from __future__ import annotations

import time
from itertools import product

import numpy as np
import pytest

import guidedviz as gv
from tests.browser.bare import BarePage

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("map_asked")]  # they share a page

CLOSERS = [bytes(way) for length in (1, 2, 3, 4) for way in product(b'"}],', repeat=length)]
WORDS = [b'{"', b'": ', b'": [', b"name", b"of", b"Ada", b" Lovelace", b"true", b"36", b".5", b", ", b"[["]
PIECES = list(dict.fromkeys([*CLOSERS, *(bytes([i]) for i in range(32, 127)), *WORDS]))
PLAN = [
    b"[",
    b'{"',
    b"name",
    b'": ',
    b'"',
    b"Ada",
    b" Lovelace",
    b'",',
    b" ",
    b'"',
    b"of",
    b'": [',
    b"[",
    b"true",
    b", ",
]
PLAN += [b"36", b".5", b"]", b", ", b'"', b"x", b'"]}', b", "]
PARTS = ("forward", "mask", "sample")


def nested(taken=None):
    """A live stage that writes nested JSON with the split engine."""
    likely = {b'"]}': 12, b'"}}': 11, b'"},': 10, b'{"': 9, b"}": 8}
    noise = np.random.default_rng(0).normal(0, 1, len(PIECES) + 1).astype(np.float32)
    for piece, amount in likely.items():
        noise[PIECES.index(piece)] = amount

    def rule(tokens):
        if taken is not None:
            taken.append(time.time())
        logits = noise.copy()
        logits[PIECES.index(PLAN[(len(tokens) - 1) % len(PLAN)])] = 14
        return logits

    model = gv.ToyModel([*PIECES, b"<eos>"], rule, eos={len(PIECES)})
    guide = gv.guide(gv.json(), model.vocabulary, engine="split")
    return gv.stage(model, " ", guide, temperature=0, max_tokens=46, stack=True)


@pytest.fixture(scope="module")
def page(browser):
    """One page and one stage for the tests that only look."""
    bare = BarePage(browser)
    live = nested()
    stage = bare.show_stage(live)
    stage.tab("map")
    yield bare, live, stage
    bare.close()


def legend(stage):
    """The four counts below the map."""
    return [int(count.replace(",", "")) for count in stage.root.locator(".gv-map-legend b").all_inner_texts()]


def told(live, cursor):
    """The same as Python has it: accepted, rejected, context-dependent and legal, context-dependent and illegal."""
    state = live._panels.state_at(live.player.go(cursor))
    said, legal = live.guide.split.answers(state), live.guide.mask(state)
    asked_legal = int((legal & (said == 2)).sum())
    return [int((said == 1).sum()), int((said == 0).sum()), asked_legal, int((said == 2).sum()) - asked_legal]


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


def test_the_legend_counts_what_the_split_knows_at_every_step_and_going_back(page):
    bare, live, stage = page
    seen = []
    for cursor in range(1, 11):
        stage.go_on(1)
        bare.wait(lambda cursor=cursor: legend(stage) == told(live, cursor))
        seen.append(legend(stage))
    assert len({tuple(counts) for counts in seen}) > 4
    for cursor in (9, 8, 7):
        stage.go_back(1)
        assert legend(stage) == seen[cursor - 1]


def to_end(stage):
    """Decode what is missing."""
    if not stage.root.get_by_role("button", name="to the end").is_disabled():
        stage.run_to_end()


def go_where_many_asked(live, stage):
    """To a step at which the stack was asked about many tokens, with both answers."""
    to_end(stage)
    cursor = max(range(len(live.player.steps)), key=lambda cursor: min(told(live, cursor)[2:]))
    stage.root.locator(".gv-chip").nth(cursor).click()
    stage.wait(cursor)
    assert min(legend(stage)[2:]) > 5


def test_who_asked_has_a_colour_in_both_themes_and_none_when_masks_are_compared(page):
    bare, live, stage = page
    go_where_many_asked(live, stage)
    for theme in ("Dark", "Light"):
        bare.theme(theme)
        bare.wait(lambda: painted(stage, "gold") > 20 and painted(stage, "orange") > 20)
        bare.shot(f"asked-{theme.lower()}", stage.root)
    xor = stage.root.get_by_role("button", name="⊕ xor")
    xor.click()
    stage.root.locator(".gv-map-legend:has-text('neither')").wait_for()
    assert painted(stage, "gold") == 0
    xor.click()
    stage.root.locator(".gv-map-legend:has-text('context-dependent, legal')").wait_for()


def test_a_token_says_that_the_stack_was_asked(page):
    bare, live, stage = page
    to_end(stage)
    stage.root.locator(".gv-chip").nth(7).click()  # after " Lovelace": inside a string
    stage.wait(7)
    find, found = stage.root.get_by_label("find tokens"), stage.root.locator(".gv-map-find span")
    for text, said in (('/"}/', "legal: context-dependent"), ("/Ada/", "legal: on every stack")):
        find.fill(text)
        bare.wait(lambda text=text: found.inner_text() == "1 found, 1 legal" and live._panels.map)
        find.press("Enter")
        stage.root.locator(f".gv-map-card b:has-text('{said}')").wait_for()
        find.fill("")
        bare.wait(lambda: found.inner_text() == "")
    stage.root.locator(".gv-map").press("Escape")


def test_another_token_asks_another_stack(bare):
    live = nested()
    stage = bare.show_stage(live)
    stage.tab("map")
    before = legend(stage)
    stage.root.locator("button.gv-row:has(.gv-name:text-is('{\"'))").click()
    stage.wait_words("put in by you")
    bare.wait(lambda: legend(stage) == told(live, 1))
    assert legend(stage) != before


@pytest.mark.timed
def test_three_colours_keep_up_with_the_steps(bare, capsys):
    taken = []
    stage = bare.show_stage(nested(taken))
    stage.root.get_by_role("slider", name="speed").fill("5")
    stage.watch()
    stage.press("play")
    stage.wait_end()
    seen = bare.page.evaluate("window.seen")
    late, rate = seen[-1][1] - 1000 * taken[-1], (len(seen) - 1) / (seen[-1][1] - seen[0][1]) * 1000
    with capsys.disabled():
        print(f"\n  three colours: {rate:.0f} steps/s painted, the last {late:.0f} ms late")
    assert [step for step, *_ in seen] == sorted(step for step, *_ in seen)


def test_every_bar_is_its_steps_time_in_three_parts(page):
    bare, live, stage = page
    to_end(stage)
    stage.look("bars", "cost")
    high = "nodes => nodes.map(node => node.getBoundingClientRect().height)"
    heights = [stage.root.locator(f".gv-timebars .gv-part-{name}").evaluate_all(high) for name in PARTS]
    times = [(step.forward_ms, step.mask_ms, step.sample_ms) for step in live.trace.steps]
    assert len(heights[0]) == len(times)
    full = float(stage.root.locator(".gv-timebars").evaluate("node => node.style.getPropertyValue('--top')"))
    assert full in [pytest.approx(sum(parts), abs=0.001) for parts in times], "a full bar is one of the steps"
    for *drawn, parts in zip(*heights, times, strict=True):
        assert drawn == pytest.approx([41 * ms / full for ms in parts], abs=0.1)
    assert "a full bar is" in stage.root.locator(".gv-cost").inner_text()
    bare.shot("stage-times", stage.root)
    short = stage.root.locator(".gv-timebars .gv-part-sample").first
    short.evaluate("node => node.style.setProperty('--ms', '0')")
    assert short.evaluate("node => node.getBoundingClientRect().height") == 0, "no border makes it higher"
    stage.look("bars", "odds")
    assert not stage.root.locator(".gv-scale").is_visible()


def test_the_replay_of_a_recording_has_the_same_map(page):
    bare, live, stage = page
    to_end(stage)
    replay = bare.show_stage(gv.stage(live.trace, guide=live.guide, steps=len(live.trace.steps), stack=True))
    replay.tab("map")
    for cursor in (4, 6):
        for one in (stage, replay):
            one.root.locator(".gv-chip").nth(cursor).click()
            one.wait(cursor)
        assert legend(replay) == legend(stage)
