"""Machine and stack can be read wherever the stage is used: labels, the current state, the small map, the frames."""

from __future__ import annotations

import pytest

import guidedviz as gv
from tests.browser.test_stage_sizes import BOXES, SIZES, inside

pytestmark = pytest.mark.browser
MEASURE = """root => {
  const zoom = Number(getComputedStyle(root).zoom) || 1;
  const seen = (node) => node.checkVisibility({ visibilityProperty: true });
  const box = (node) => {
    const { x, y, width, height } = node.getBoundingClientRect();
    return { x, y, width, height };
  };
  const all = (selector) => [...root.querySelectorAll(selector)].filter(seen);
  const first = (selector) => all(selector).map(box)[0] ?? null;
  const machine = root.querySelector("[data-slot=machine]");
  const said = (node) => node.textContent && seen(node);
  const labels = [...machine.querySelectorAll(".gv-sheets text")].filter(said)
    .map((node) => parseFloat(getComputedStyle(node).fontSize) * node.getScreenCTM().a);
  const words = all("[data-slot=machine] .gv-panel-head :not(.gv-save *), [data-slot=stack] :not(.gv-save *)")
    .filter((node) => [...node.childNodes].some((one) => one.nodeType === 3 && one.data.trim()));
  const head = all("[data-slot=machine] .gv-panel-head :is(.gv-title, .gv-machine-now, .gv-overview, button)").map(box);
  const along = (a, b, start, size) => a[start] < b[start] + b[size] - 1 && b[start] < a[start] + a[size] - 1;
  const meet = (a, b) => along(a, b, "x", "width") && along(a, b, "y", "height");
  return {
    machine: box(machine), diagram: first(".gv-diagram"), state: first(".gv-over .gv-state.gv-lit"),
    here: first(".gv-spot"), window: first(".gv-window"), overview: first(".gv-overview"),
    size: root.querySelector(".gv-diagram").dataset.size,
    labels, words: words.map((node) => parseFloat(getComputedStyle(node).fontSize) * zoom),
    cut: words.filter((node) => getComputedStyle(node).display !== "inline" && node.scrollWidth > node.clientWidth + 1)
      .map((node) => node.textContent),
    overlaps: head.some((a, n) => head.slice(n + 1).some((b) => meet(a, b))),
    stack: first("[data-slot=stack]"), top: first(".gv-frame-card.gv-top"),
    cards: all(".gv-frame-card").map(box), fold: root.querySelector(".gv-fold").textContent,
  };
}"""
NAME, LINE = "[A-Z]+: [a-z]+\n", "\n"


@pytest.fixture(scope="module")
def models():
    return {name: gv.load_model(name) for name in ("bard", "clerk")}


def staged(models, kind):
    """A machine of six states, one of 81, and the pushdown machine of JSON."""
    bard, clerk = models["bard"], models["clerk"]
    if kind == "six":
        return gv.stage(bard, LINE, gv.guide(gv.regex(NAME), bard.vocabulary), seed=0, show=7)
    if kind == "json":
        return gv.stage(clerk, BOXES, gv.guide(gv.json(), clerk.vocabulary), seed=1, show=12)
    fields = {
        "name": {"type": "string"},
        "age": {"type": "integer"},
        "email": {"type": "string", "pattern": "^[a-z]+@[a-z]+[.](org|com)$"},
    }
    machine = gv.json_schema({"type": "object", "properties": fields, "required": list(fields)})
    return gv.stage(
        clerk, "Ada Brook is 42 years old.\nJSON:\n", gv.guide(machine, clerk.vocabulary), show=6, max_tokens=30
    )


def show(bare, models, kind, size):
    bare.page.emulate_media(reduced_motion="reduce")
    stage = bare.show_stage(staged(models, kind))
    width, height = SIZES[size]
    bare.page.set_viewport_size({"width": width, "height": height})
    if "hall" in size:
        stage.root.press("f")
        bare.page.wait_for_function("document.fullscreenElement")
    if size == "phone":
        stage.tab("machine")
    return stage


def measure(stage):
    stage.wait_ready()
    stage.page.wait_for_timeout(120)
    return stage.root.evaluate(MEASURE)


@pytest.mark.parametrize("size", ["cell", "hall", "phone"])
@pytest.mark.parametrize("kind", ["six", "large", "json"])
def test_the_machine_can_be_read_and_its_current_state_is_in_sight(bare, models, kind, size):
    stage = show(bare, models, kind, size)
    for move in (None, "go to the prompt", "to the end, decoding what is missing"):
        if move:
            stage.press(move)
            stage.wait(0) if "prompt" in move else stage.wait_end()
        found = measure(stage)
        assert min(found["labels"]) > (15.99 if size == "hall" else 11.99)
        assert inside(found["state"], found["diagram"]), "the current state is in sight"
        assert inside(found["diagram"], found["machine"])
        area = found["machine"]["width"] * found["machine"]["height"]
        assert found["diagram"]["width"] * found["diagram"]["height"] >= 0.55 * area
        assert min(found["words"]) >= (16 if size == "hall" else 12)
        assert found["cut"] == []
        assert not found["overlaps"]
        assert (found["size"] == "close") == bool(found["window"])
        if found["window"]:
            assert found["overview"]["width"] >= 55, "a map that can be used"
            assert inside(found["here"], found["window"]), "the dot is in what is in sight"
    bare.shot(f"stage-machine-{kind}-{size}", stage.root)


def test_a_small_machine_fills_its_panel_and_is_not_drawn_larger_than_that(bare, models):
    stage = show(bare, models, "six", "cell")
    found = measure(stage)
    assert found["size"] == "whole"
    assert max(found["labels"]) < 18.5
    drawn = stage.root.locator("[data-slot='machine'] .gv-sheets").bounding_box()
    assert drawn["width"] > 0.9 * found["diagram"]["width"]
    above = drawn["y"] - found["diagram"]["y"]
    below = found["diagram"]["y"] + found["diagram"]["height"] - drawn["y"] - drawn["height"]
    assert abs(above - below) <= 2, "it stands in the middle"


def test_a_press_on_the_small_map_moves_the_view_and_the_next_step_brings_the_state_back(bare, models):
    stage = show(bare, models, "large", "cell")
    before, overview = measure(stage), stage.root.locator("[data-slot='machine'] .gv-overview")
    box = overview.bounding_box()
    bare.page.mouse.move(box["x"] + 0.9 * box["width"], box["y"] + box["height"] / 2)
    bare.page.mouse.down()
    pressed = measure(stage)
    assert pressed["window"]["x"] > before["window"]["x"] + 50
    assert not inside(pressed["state"], pressed["diagram"])
    bare.page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + box["height"] / 2)
    bare.page.mouse.up()
    dragged = measure(stage)
    assert before["window"]["x"] < dragged["window"]["x"] < pressed["window"]["x"]
    stage.go_back(1)
    stage.go_on(1)
    after = measure(stage)
    assert inside(after["state"], after["diagram"])


def test_the_whole_machine_can_be_chosen_and_left_again(bare, models):
    stage = show(bare, models, "json", "cell")
    whole = stage.root.locator("[data-slot='machine']").get_by_role("button", name="whole", exact=True)
    assert whole.get_attribute("aria-pressed") == "false"
    whole.click()
    found = measure(stage)
    assert whole.get_attribute("aria-pressed") == "true"
    assert (found["size"], found["overview"]) == ("whole", None)
    assert inside(stage.root.locator("[data-slot='machine'] .gv-sheets").bounding_box(), found["diagram"])
    whole.click()
    assert measure(stage)["size"] == "close"


@pytest.mark.parametrize("size", ["cell", "hall", "phone"])
def test_the_top_of_a_deep_stack_is_in_sight_and_what_is_below_is_counted(bare, models, size):
    clerk = models["clerk"]
    deep = gv.grammar('root ::= "x" | "(" root ")" | "[" root "]"')
    model = gv.ToyModel(
        clerk.vocabulary.pieces, lambda tokens: [9.0 * (piece == b"(") for piece in clerk.vocabulary.pieces], eos=set()
    )
    bare.page.emulate_media(reduced_motion="reduce")
    stage = bare.show_stage(gv.stage(model, "x", gv.guide(deep, model.vocabulary), max_tokens=40, show=20))
    width, height = SIZES[size]
    bare.page.set_viewport_size({"width": width, "height": height})
    if size == "hall":
        stage.root.press("f")
        bare.page.wait_for_function("document.fullscreenElement")
    if size == "phone":
        stage.tab("stack")
    for _ in range(3):
        found = measure(stage)
        assert inside(found["top"], found["stack"])
        assert all(inside(card, found["stack"]) for card in found["cards"]), "no frame is cut"
        depth = int(stage.root.locator("[data-slot='stack'] .gv-panel-head").inner_text().split()[2])
        assert depth > 15
        assert found["fold"] == f"⋮ {depth - len(found['cards'])} more below"
        assert len(found["cards"]) >= 5
        assert min(found["words"]) >= (16 if size == "hall" else 12)
        stage.go_back(1)
    bare.shot(f"stage-stack-{size}", stage.root)


def test_a_text_with_several_stacks_says_so_in_the_words_of_the_still_picture(bare, models):
    clerk = models["clerk"]
    grammar = gv.grammar('root ::= a | b\na ::= "x" (a | b) "y" | "x"\nb ::= "x" (a | b) "z" | "x"')
    stage = bare.show_stage(gv.stage(clerk, "x", gv.guide(grammar, clerk.vocabulary), show=1, temperature=0))
    text = stage.tokens[0].encode()
    ways = stage.root.locator(".gv-ways").inner_text()
    assert ways.endswith("ways to read this so far")
    assert gv.draw_stack(grammar, text).text.splitlines()[0].endswith(f" · {ways}")
    stage.go_back(1)
    assert not stage.root.locator(".gv-ways").is_visible() or ways != stage.root.locator(".gv-ways").inner_text()
