"""The machine on a bare page: it is seen to move, and films run."""

from __future__ import annotations

import time
import zlib
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import guidedviz as gv
from guidedviz.machines.regular.dfa import DFA
from tests.browser.bare import work_of

pytestmark = pytest.mark.browser

PIECES = [b"<eos>", *(bytes([i]) for i in range(32, 127)), b"3.", b"14", b".5", b"1.5", b"42", b"<img src=x>", b"x1"]
DECIMAL = "[0-9]+([.][0-9]+)?"


def rule(tokens):
    return np.random.default_rng(zlib.crc32(repr(list(tokens)[-6:]).encode())).normal(0, 2.0, len(PIECES))


def likes(*pieces):
    return gv.ToyModel(PIECES, lambda tokens: [9.0 - pieces.index(p) if p in pieces else 0.0 for p in PIECES], eos={0})


MODEL = gv.ToyModel(PIECES, rule, eos={0})


def show(bare, regex=DECIMAL, model=MODEL, **settings):
    live = gv.stage(model, "say ", gv.guide(gv.regex(regex), model.vocabulary), seed=3, **settings)
    stage = bare.show_stage(live)
    return live, stage, stage.root.locator("[data-slot='machine']")


def on(slot):
    return sorted(slot.locator(".gv-arrow.gv-on").evaluate_all("nodes => nodes.map(n => n.dataset.arrow)"))


def test_the_machine_moves_with_the_steps_and_goes_back(bare):
    live, stage, slot = show(bare)
    assert slot.is_visible()
    assert stage.lit() == [0]
    seen = [(stage.lit(), on(slot))]
    for _ in range(4):
        stage.go_on(1)
        seen.append((stage.lit(), on(slot)))
    paths = live.panels.machine.paths(live.player.steps)
    for path, (now, taken) in zip(paths, seen[1:], strict=True):
        assert now == [path[-1]], "the lit state is where the step led"
        assert set(taken) == {f"{a}-{b}" for a, b in pairwise(path)}, "and its edges are lit"
    assert len({tuple(now) for now, _ in seen}) > 1, "it is seen to move"
    bare.shot("machine-stage", stage.root)
    for step in (3, 2, 1, 0):
        stage.go_back(1)
        assert (stage.lit(), on(slot)) == seen[step], "and it goes back"


def test_what_the_pointer_is_on_is_lit_in_the_other_panels(bare):
    live, stage, slot = show(bare, steps=6)
    paths = live.panels.machine.paths(live.player.steps)
    now = stage.lit()
    stage.root.locator(".gv-chip").nth(1).hover()
    assert stage.lit() == [paths[1][-1]], "the path of that token"
    bare.page.mouse.move(2, 2)
    assert stage.lit() == now
    slot.locator(f".gv-sheets > svg:not(.gv-over) [data-state='{paths[1][-1]}'] .gv-disc").hover(force=True)
    linked = stage.root.locator(".gv-chip").evaluate_all("chips => chips.map(c => c.classList.contains('gv-linked'))")
    assert linked == [paths[1][-1] in path for path in paths]


def test_the_bytes_inside_a_token_are_numbered(bare):
    _, stage, slot = show(bare, model=likes(b"1.5"))
    stage.go_on(1)
    assert stage.tokens == ["1.5"]
    assert stage.lit() == [3]
    number = "arrows => arrows.map(a => [a.dataset.arrow, a.querySelector('.gv-nth').textContent])"
    numbers = slot.locator(".gv-arrow.gv-on").evaluate_all(number)
    assert sorted(numbers) == [["0-1", "1"], ["1-2", "2"], ["2-3", "3"]]
    assert slot.locator(".gv-machine-now").inner_text() == "q0 … q3"
    bare.shot("machine-token", stage.root)
    stage.go_back(1)
    assert slot.locator(".gv-nth").evaluate_all("a => a.map(n => n.textContent).join('')") == ""


def test_why_walks_to_the_state_where_the_token_died(bare):
    _, stage, slot = show(bare, "[0-9]+x|1[.]5", likes(b"1.5", b"3."))
    stage.root.locator("button.gv-row:has(.gv-name:text-is('3.'))").click()
    stage.root.locator(".gv-why").wait_for()
    cross = slot.locator(".gv-cross")
    cross.wait_for()
    assert cross.evaluate("node => node.textContent") == "."
    (died,) = stage.lit()
    assert f"in q{died} ·" in stage.root.locator(".gv-why").inner_text()
    bare.shot("machine-why", stage.root)
    stage.go_on(1)
    assert cross.count() == 0


@pytest.mark.timed
def test_steps_at_full_speed_with_a_machine_of_many_states(bare, capsys):
    edges = tuple(((97, 109, (n + 1) % 300), (110, 122, (n * 7 + 1) % 300)) for n in range(300))
    big, taken = DFA(edges, frozenset(range(0, 300, 10))), []

    def timed(tokens):
        taken.append(time.time())
        return rule(tokens)

    model = gv.ToyModel(PIECES, timed, eos={0})
    stage = bare.show_stage(gv.stage(model, "say ", gv.guide(big, model.vocabulary), bias={0: -100}, max_tokens=100))
    slot = stage.root.locator("[data-slot='machine']")
    assert slot.locator("svg:not(.gv-over) .gv-state").count() == 300
    stage.root.get_by_role("slider", name="speed").fill("6")
    stage.watch()
    session = bare.page.context.new_cdp_session(bare.page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})  # work, not waiting: the same on a busy machine
    before = work_of(session)
    stage.press("play")
    stage.wait(100, 60)
    bare.page.wait_for_function("window.seen.at(-1)[0] === 100")
    seen = bare.page.evaluate("window.seen")
    work = 1000 * (work_of(session) - before) / len(seen)
    painted, late = 1000 * (len(seen) - 1) / (seen[-1][1] - seen[0][1]), seen[-1][1] - 1000 * taken[-1]
    lit = {state for *_, state in seen}
    with capsys.disabled():
        print(f"\n  300 states: {painted:.0f} steps/s painted, {work:.0f} ms of the page's work a painted step;")
        print(f"  {len(lit)} states lit; the last {late:.0f} ms late")
    bare.page.evaluate("document.querySelector('.gv-sheets').style.width = '5000px'")
    widths = slot.evaluate("slot => [slot.querySelector('.gv-diagram').clientWidth, slot.clientWidth]")
    assert widths[0] < widths[1], "a drawing wider than its panel is scrolled, not spilled"
    assert len(lit) > 5
    assert [step for step, *_ in seen] == sorted(step for step, *_ in seen)


def test_a_machine_with_runs_fits_in_a_narrow_page(bare):
    _, stage, _ = show(bare, r'\{"name": "[A-Za-z ]{1,30}", "age": [0-9]{1,3}\}', steps=12)
    assert len(stage.lit()) == 1
    for width in (1380, 620):
        bare.narrow(width)
        assert stage.root.evaluate("root => root.scrollWidth <= root.clientWidth + 1"), "nothing sticks out"
        bare.shot(f"machine-run-{width}", stage.root)


def test_a_recording_moves_the_machine_of_its_guide(bare):
    guide = gv.guide(gv.regex(DECIMAL), MODEL.vocabulary)
    trace = replace(gv.record(MODEL, "say ", guide, seed=3, max_tokens=6), source="RECORDED")
    stage = bare.show_stage(gv.stage(trace, guide=guide))
    assert stage.lit() == [0]
    stage.go_on(1)
    assert stage.lit() != [0]
    assert "RECORDED" in stage.root.locator(".gv-badge").inner_text()


def test_a_film_runs_forward_and_back_without_a_kernel(bare):
    film = bare.reopen(gv.film(gv.views.minimal_frames("(ab|cb)d?"), title="minimise"))
    frames = int(film.locator(".gv-about .gv-soft").inner_text().split()[-1])
    words = [film.locator(".gv-film-words").inner_text()]

    def wait(frame):
        bare.page.wait_for_selector(f".gv-film[data-frame='{frame}']")

    for frame in range(1, frames):
        film.get_by_role("button", name="one frame on").click()
        wait(frame)
        words.append(film.locator(".gv-film-words").inner_text())
    assert len(set(words)) == frames, "every frame says something else"
    assert film.get_by_role("button", name="one frame on").is_disabled()
    bare.shot("film-last", film)
    bare.page.keyboard.press("ArrowLeft")
    wait(frames - 2)
    assert film.locator(".gv-film-words").inner_text() == words[-2]
    bare.page.keyboard.press("Home")
    wait(0)
    film.get_by_role("slider", name="frame").fill(str(frames - 1))
    wait(frames - 1)
    bare.page.keyboard.press("Home")
    film.get_by_role("button", name="play").click()
    wait(1)


def test_a_film_of_a_construction_grows(bare):
    film = bare.show(gv.film(gv.views.dfa_frames("[0-9]+(x|yz)?")))
    visible = "nodes => nodes.filter(n => !n.classList.contains('gv-absent')).length"
    before = film.locator(".gv-arrow").evaluate_all(visible)
    film.get_by_role("button", name="to the last frame").click()
    assert film.locator(".gv-arrow").evaluate_all(visible) > before
    bare.shot("film-dfa-last", film)
