"""The mask falls: each phase of one step as frames, at the sizes of the stage, and what ends, reverses or stills it."""

import pytest

import guidedviz as gv
from tests.browser.sizes import SIZES
from tests.common import constant_model, regex_guide

pytestmark = pytest.mark.browser
# each frame of a motion is looked at: what begins to move stands still until a test moves it
HOLD = """() => {
  const animate = Element.prototype.animate;
  window.held = [];
  Element.prototype.animate = function (...given) {
    const one = animate.apply(this, given);
    one.pause();
    window.held.push(one);
    return one;
  };
}"""
FALLS = "held.some((one) => one.playState !== 'idle' && one.effect.target.matches('.gv-before'))"
LAND = "held.forEach((one) => one.playState !== 'idle' && one.finish())"
SEEK = """time => new Promise((done) => {
  const running = held.filter(({ playState }) => playState !== "idle");
  for (const one of running) one.currentTime = Math.min(time, one.effect.getComputedTiming().endTime - 0.01);
  requestAnimationFrame(() => requestAnimationFrame(done));
})"""
LOOK = """root => {
  const panel = root.querySelector("[data-slot='next']");
  const wide = (node) => Math.round(node.getBoundingClientRect().width);
  const seen = (selector) => Number(getComputedStyle(panel.querySelector(selector)).opacity);
  const track = panel.querySelector("[data-part='bar']").clientWidth;
  const bin = panel.querySelector(".gv-bin");
  const isIn = (node, other) => {
    const [box, room] = [node, other].map((one) => one.getBoundingClientRect());
    return Math.abs(box.x - room.x) < 2 && box.top > room.top - 3 && box.bottom < room.bottom + 3;
  };
  const rows = [...panel.querySelectorAll(".gv-row")].map((row) => {
    const parts = ["before", "after", "gain", "name"];
    const [before, after, gain, name] = parts.map((part) => row.querySelector(`.gv-${part}`));
    const bar = getComputedStyle(after);
    return {
      forbidden: row.classList.contains("gv-struck"),
      before: wide(before) / track,
      after: wide(after) / track,
      shown: Number(bar.opacity),
      number: row.querySelector(".gv-said").textContent,
      struck: getComputedStyle(name).color === getComputedStyle(panel.querySelector(".gv-removed")).color,
      gain: getComputedStyle(gain).opacity > 0 && gain.getBoundingClientRect().height / bin.clientHeight,
      gainInBin: isIn(gain, bin),
    };
  });
  return {
    rows,
    mask: seen(".gv-mask"),
    bin: seen(".gv-bin > i"),
    scale: seen(".gv-scale > :first-child"),
    pointer: seen(".gv-pointer"),
  };
}"""
CONTRAST = """root => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const bright = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((c) => linear(c / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = bright(getComputedStyle(root.querySelector("[data-slot='next']")).backgroundColor);
  const style = (selector, name) => getComputedStyle(root.querySelector(selector))[name];
  const colours = {
    legal: style(".gv-row:not(.gv-struck) .gv-after", "backgroundColor"),
    forbidden: style(".gv-struck .gv-before", "borderTopColor"),
    bin: style(".gv-bin > i", "borderTopColor"),
    outline: style(".gv-row:not(.gv-struck) .gv-before", "borderTopColor"),
    pointer: style(".gv-pointer", "backgroundColor"),
    track: style(".gv-bars", "borderLeftColor"),
    dark: style(".gv-dots path:not(.gv-lit-dots)", "stroke"),
    lit: style(".gv-lit-dots", "stroke"),
  };
  return Object.fromEntries(Object.entries(colours).map(([name, colour]) => {
    const [low, high] = [ground, bright(colour)].sort((one, other) => one - other);
    return [name, (high + 0.05) / (low + 0.05)];
  }));
}"""
PACE = """async root => {
  const spent = [];
  const frame = window.requestAnimationFrame;
  let now = 0;
  window.requestAnimationFrame = (act) => frame((time) => {
    const begin = performance.now();
    act(time);
    now += performance.now() - begin;
  });
  root.dispatchEvent(new KeyboardEvent("keydown", { key: "m", bubbles: true }));
  for (let count = 0; count < 60; count++) {
    await new Promise((done) => frame(() => frame(done)));
    spent.push(now);
    now = 0;
  }
  window.requestAnimationFrame = frame;
  return spent.sort((one, other) => one - other)[Math.floor(0.95 * spent.length)];
}"""


@pytest.fixture(scope="module")
def bard():
    return gv.load_model("bard")


def at_the_first(bare, bard, size="cell", **settings):
    """A run of lab 03 that stands at its first token, on a page that moves; the second step wants illegal letters."""
    guide = regex_guide(bard, "[A-Z]+: [a-z]+\n")
    bare.page.emulate_media(reduced_motion="no-preference")
    width, height = SIZES[size]
    bare.page.set_viewport_size({"width": width, "height": height})
    stage = bare.show_stage(gv.stage(bard, "\n", guide, seed=0, steps=18, show=0, **settings))
    if size == "phone":
        stage.tab("next")
    stage.wait(0)
    stage.wait_ready()
    return stage


def take_off(bare, stage, cursor=1):
    """One step on: its token begins to fly."""
    stage.root.press("ArrowRight")
    stage.wait(cursor)
    stage.wait_ready()
    bare.wait(lambda: bare.page.evaluate("held.some((one) => one.playState !== 'idle')"))


def step_on(bare, stage, cursor=1):
    """One step on, up to the mask, which falls when the token has landed."""
    take_off(bare, stage, cursor)
    bare.page.evaluate(LAND)
    bare.wait(lambda: bare.page.evaluate(FALLS))


def look(bare, stage, time):
    bare.page.evaluate(SEEK, time)
    return stage.root.evaluate(LOOK)


def test_each_phase_is_seen_in_its_frames(bare, bard):
    stage = at_the_first(bare, bard)
    end = stage.root.evaluate(LOOK)
    bare.page.evaluate(HOLD)
    step_on(bare, stage)
    grows, falls, pours, flows, passes = (look(bare, stage, time) for time in (100, 700, 1325, 1548, 1850))
    full_bin = look(bare, stage, 1550)
    forbidden = [place for place, row in enumerate(grows["rows"]) if row["forbidden"]]
    legal = [place for place, row in enumerate(grows["rows"]) if not row["forbidden"]]
    assert len(forbidden) >= 4, "the model wants what is illegal"

    full = [row["before"] for row in falls["rows"]]
    first = forbidden[0]
    assert 0 < grows["rows"][first]["before"] < full[first], "outlines grow"
    assert not any(row["struck"] or row["shown"] for row in grows["rows"]), "nothing is said to be forbidden yet"
    assert grows["mask"] == 0

    struck = [falls["rows"][place]["struck"] for place in forbidden]
    assert struck == sorted(struck, reverse=True), "the mask strikes from the first row to the last"
    assert set(struck) == {True, False}, "and is half-way"
    assert falls["mask"] == 1

    assert all(flows["rows"][place]["struck"] for place in forbidden)
    for row in (pours["rows"][place] for place in forbidden):
        assert row["after"] + row["gain"] == pytest.approx(row["before"], abs=0.06), "what a bar loses rises in the bin"
    assert all(flows["rows"][place]["gainInBin"] for place in forbidden), "they lie in the bin"
    assert (flows["bin"], flows["scale"]) == (0, 0), "no legal bar has grown"

    assert all(full_bin["rows"][place]["shown"] == 0 for place in forbidden)
    layers = [full_bin["rows"][place] for place in legal]
    assert all(layer["gainInBin"] for layer in layers), "what lay there is cut for the legal bars"
    assert full_bin["bin"] == 1

    assert passes["scale"] == 1
    assert passes["pointer"] == 0
    assert not passes["rows"][legal[0]]["gainInBin"], "it is on its way"

    end = look(bare, stage, 1e6)
    assert end["pointer"] == 1
    for place, layer in zip(legal, layers, strict=True):
        raw, full = (frame["rows"][place]["after"] for frame in (flows, end))
        assert raw <= full
        assert layer["gain"] == pytest.approx(full - raw, abs=0.02), "a layer is as high as what its bar gains"
        assert end["rows"][place]["gain"] is False
        assert end["rows"][place]["before"] == pytest.approx(flows["rows"][place]["before"], abs=0.01), "outlines stay"
    assert sum(end["rows"][place]["after"] for place in legal) == pytest.approx(1, abs=0.03), "all of the probability"
    assert {end["rows"][place]["number"] for place in forbidden} == {"0"}


def test_the_end_is_what_the_page_shows_without_motion(bare, bard):
    stage = at_the_first(bare, bard)
    stage.go_on(1)
    stage.root.press("m")
    bare.page.wait_for_function(
        "root => !root.getAnimations({ subtree: true }).length", arg=stage.root.element_handle()
    )
    moved = stage.root.evaluate(LOOK)
    bare.page.emulate_media(reduced_motion="reduce")
    stage.go_on(1)
    stage.go_back(1)
    assert stage.root.evaluate("root => root.getAnimations({ subtree: true }).length") == 0
    assert stage.root.evaluate(LOOK) == moved


@pytest.mark.slow
def test_the_next_key_ends_a_motion_m_plays_it_again_and_a_step_back_goes_backwards(bare, bard):
    stage = at_the_first(bare, bard)
    bare.page.evaluate(HOLD)
    step_on(bare, stage)
    running = "() => held.filter((one) => one.playState === 'paused').length"
    assert bare.page.evaluate(running)
    before = bare.page.evaluate("held.length")
    step_on(bare, stage, 2)
    assert bare.page.evaluate("n => held.slice(0, n).every((one) => one.playState === 'idle')", before)
    again = bare.page.evaluate("held.length")
    stage.root.press("m")
    assert bare.page.evaluate("n => held.slice(n).length", again), "it is played again"
    count = bare.page.evaluate("held.length")
    stage.root.press("ArrowLeft")
    stage.wait(1)
    assert bare.page.evaluate("n => held.slice(n).every((one) => one.playbackRate < 0)", count)
    leaving = stage.root.locator(".gv-leaving")
    assert leaving.get_attribute("inert") is not None, "what leaves can not be pressed or read"
    stage.root.press("ArrowLeft")
    stage.wait(0)
    bare.page.evaluate("held.forEach((one) => one.finish())")
    leaving.wait_for(state="detached")


@pytest.mark.slow
def test_at_speed_nothing_moves_and_to_explain_it_moves_slowly(bare, bard):
    stage = at_the_first(bare, bard)
    bare.page.evaluate(HOLD)
    stage.root.get_by_role("slider", name="speed").fill("3")
    stage.press("play")
    stage.wait_past(3)
    stage.press("pause")
    stage.wait_paused()
    assert bare.page.evaluate("held.length") == 0
    speed = stage.root.get_by_role("slider", name="speed")
    speed.fill("0")
    bare.wait(lambda: speed.get_attribute("aria-valuetext") == "explain")
    step_on(bare, stage, stage.cursor + 1)
    assert bare.page.evaluate("held[0].playbackRate") == 0.5


FLYING = """root => [...root.querySelectorAll(".gv-travel .gv-flying")]
  .filter((one) => getComputedStyle(one).opacity > 0.1)
  .map((one) => {
    const { x, y, width } = one.getBoundingClientRect();
    return [one.textContent, x + width / 2, y];
  })"""


def middle(locator):
    box = locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def flying(bare, stage, time):
    """The signs that fly at a time, each with the middle of its box."""
    bare.page.evaluate(SEEK, time)
    return stage.root.evaluate(FLYING)


@pytest.mark.slow
def test_the_token_that_was_taken_flies_to_the_machine_and_lands_in_the_text(bare, bard):
    stage = at_the_first(bare, bard)
    bare.page.evaluate(HOLD)
    take_off(bare, stage)
    assert stage.root.locator(".gv-leaving").count() == 1, "the panel that it left is still there"
    states = [stage.root.locator(f".gv-sheets > svg:first-child [data-state='{state}'] .gv-disc") for state in (0, 1)]
    chip = stage.root.locator(".gv-chip.gv-now")
    token = stage.tokens[0]
    ((sign, start, _),) = flying(bare, stage, 0)
    assert sign == token
    assert start > middle(states[1])[0] + 100, "it begins at its bar, in the other panel"
    for time, state in ((251, states[0]), (649, states[1])):
        ((sign, x, _),) = flying(bare, stage, time)
        assert sign == token
        assert x == pytest.approx(middle(state)[0], abs=4)
    assert chip.evaluate("node => getComputedStyle(node).opacity") == "0", "it has not landed"
    lit = stage.root.locator(".gv-over .gv-state.gv-lit")
    assert lit.evaluate("node => getComputedStyle(node).opacity") == "0"
    flying(bare, stage, 700)
    assert lit.evaluate("node => getComputedStyle(node).opacity") == "1", "the state fills as the byte lands"
    assert flying(bare, stage, 5000) == []
    bare.page.evaluate(LAND)
    stage.root.locator(".gv-leaving").wait_for(state="detached")
    assert float(chip.evaluate("node => getComputedStyle(node).opacity")) > 0.9


def test_a_forced_text_comes_out_of_the_machine_and_unrolls_in_one_go(bare):
    toy = constant_model([b"a", b"b", b"c", b"d"], [1.0, 0.0, 0.0, 0.0])
    guide = regex_guide(toy, "abcd|cb")
    bare.page.emulate_media(reduced_motion="no-preference")
    bare.page.set_viewport_size(dict(zip(("width", "height"), SIZES["cell"], strict=True)))
    stage = bare.show_stage(gv.stage(toy, "a", guide, temperature=0, jump_forward=True, show=1))
    stage.wait(1)
    bare.page.evaluate(HOLD)
    stage.root.press("ArrowRight")
    stage.wait(4)
    bare.wait(lambda: bare.page.evaluate("held.length"))
    chips = stage.root.locator(".gv-chip.gv-how-forced")
    state = stage.root.locator(".gv-sheets > svg:first-child [data-state='1'] .gv-disc")
    ((sign, start, _),) = flying(bare, stage, 0)
    assert sign == "bcd"
    assert start == pytest.approx(middle(state)[0], abs=4)
    landed = "nodes => nodes.filter((node) => getComputedStyle(node).opacity !== '0').length"
    for count, time in enumerate((0, 1000, 1400, 5000)):
        flying(bare, stage, time)
        assert chips.evaluate_all(landed) == count
    assert flying(bare, stage, 5000) == []


def test_a_forbidden_token_stops_at_the_byte_that_dies_and_falls(bare, bard):
    stage = at_the_first(bare, bard)
    bare.page.emulate_media(reduced_motion="reduce")
    stage.go_on(1)
    bare.page.emulate_media(reduced_motion="no-preference")
    bare.page.evaluate(HOLD)
    row = stage.root.locator(".gv-struck[data-token]").first
    refused = row.locator(".gv-name").inner_text()
    row.click()
    stage.root.locator(".gv-why p").first.wait_for()
    bare.wait(lambda: bare.page.evaluate("held.length"))
    ((sign, x, high),) = flying(bare, stage, 730)
    assert sign == refused
    state = stage.root.locator(".gv-sheets > svg:first-child [data-state='1'] .gv-disc")
    assert x == pytest.approx(middle(state)[0], abs=60), "at the state that refuses it"
    size = stage.root.locator(".gv-dying").bounding_box()
    assert size["height"] >= 60, "the largest sign"
    ((_, _, low),) = flying(bare, stage, 1330)
    assert low > high + 20, "it falls"
    assert stage.root.locator(".gv-why").is_visible(), "the reason stays"


def test_what_the_model_wants_goes_to_the_state_that_refuses_it_whose_exits_are_lit(bare):
    toy = constant_model([b"a", b"!", b"aba"], [1.0, 0.0, 3.0])
    guide = regex_guide(toy, "[ab]{2}!")
    bare.page.emulate_media(reduced_motion="no-preference")
    bare.page.set_viewport_size(dict(zip(("width", "height"), SIZES["cell"], strict=True)))
    stage = bare.show_stage(gv.stage(toy, "a", guide, show=0))
    stage.wait_ready()
    bare.page.evaluate(HOLD)
    stage.root.press("m")
    bare.wait(lambda: bare.page.evaluate(FALLS))
    first, last = (
        stage.root.locator(f".gv-sheets > svg:first-child [data-state='{state}'] .gv-disc") for state in (0, 2)
    )
    ((sign, x, _),) = flying(bare, stage, 499)
    assert (sign, x) == ("aba", pytest.approx(middle(first)[0], abs=4)), "it comes from its bar"
    ((sign, x, _),) = flying(bare, stage, 900)
    assert (sign, x) == ("ab", pytest.approx(middle(last)[0], abs=4)), "what can be read of it leads on"
    refused = stage.root.locator(".gv-refused")
    assert refused.inner_text() == "✕ a\n✓ !"
    box, state = refused.bounding_box(), last.bounding_box()
    assert abs(box["y"] - state["y"] - state["height"]) < 20, "below the state"
    assert box["x"] <= middle(last)[0] <= box["x"] + box["width"]
    exits = stage.root.locator(".gv-exits")
    assert exits.evaluate("node => getComputedStyle(node).opacity") == "1"
    assert exits.locator(".gv-label").all_text_contents() == ["!"]


def tiles(bare, root, time):
    """The bytes on their way at a time, each with the middle of its box."""
    bare.page.evaluate(SEEK, time)
    return [middle(one) for one in root.locator(".gv-moving .gv-tile").all() if one.is_visible()]


def test_a_film_moves_what_the_next_key_ends_and_a_step_back_goes_backwards(bare):
    bare.page.emulate_media(reduced_motion="no-preference")
    film = bare.show(gv.film(gv.views.nfa_reading_frames("(a|b)*ab", "ab")))
    bare.page.evaluate(HOLD)
    film.press("ArrowRight")
    assert film.locator(".gv-moving .gv-walker").count() == 2, "the wave along two ε edges"
    film.press("ArrowRight")
    assert film.locator(".gv-moving").count() == 1, "the next key ended the wave"
    nodes = film.locator(".gv-over > :first-child .gv-lit[data-state]")
    ends = {round(middle(nodes.nth(place))[0]) for place in range(nodes.count())}
    starts = tiles(bare, film, 0)
    assert len(starts) == 2
    assert starts[0] == pytest.approx(starts[1], abs=1), "both bytes come from one cell"
    landed = {round(x) for x, _ in tiles(bare, film, 740)}
    assert all(min(abs(x - end) for end in ends) < 30 for x in landed), "each is at the state that it reaches"
    film.press("ArrowLeft")
    assert film.get_attribute("data-frame") == "1"
    assert bare.page.evaluate("held.at(-1).playbackRate") < 0
    assert nodes.count() == 2, "the later frame stays so long"
    bare.page.evaluate("held.forEach((one) => one.playState === 'idle' || one.finish())")
    bare.wait(lambda: film.locator(".gv-moving").count() == 0)
    assert nodes.count() == 3
    bare.page.emulate_media(reduced_motion="reduce")
    film.press("ArrowRight")
    assert film.locator(".gv-moving").count() == 0


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.slow
def test_the_bars_are_the_largest_thing_of_their_panel(bare, bard, size):
    stage = at_the_first(bare, bard, size)
    bare.page.emulate_media(reduced_motion="reduce")
    stage.go_on(1)
    found = stage.root.evaluate("""root => {
      const box = (selector) => root.querySelector(selector).getBoundingClientRect();
      const [end, numbers] = [box(".gv-bars").right, [...root.querySelectorAll(".gv-said")]];
      return {
        share: box("[data-part='bar']").width / box("[data-slot='next']").width,
        bin: box(".gv-bin").width,
        row: box(".gv-row").height,
        bar: box(".gv-row .gv-before").height,
        number: parseFloat(getComputedStyle(numbers[0]).fontSize),
        rows: root.querySelectorAll("button.gv-row").length,
        out: numbers.filter((one) => one.getBoundingClientRect().right > end + 1).length,
      };
    }""")
    assert found["share"] >= (0.8 if size == "phone" else 0.55), "on a phone names stand above their bars"
    assert min(found["row"], found["bar"]) >= 16
    assert found["number"] >= 14
    assert found["rows"] <= 8
    assert found["out"] == 0, "no number leaves its bar's column"
    assert found["bin"] >= 24


@pytest.mark.parametrize("theme", ["Light", "Dark"])
@pytest.mark.quick("Dark")
def test_legal_and_forbidden_bars_can_be_told_from_their_ground(bare, bard, theme):
    stage = at_the_first(bare, bard)
    bare.page.emulate_media(reduced_motion="reduce")
    bare.theme(theme)
    stage.go_on(1)
    found = stage.root.evaluate(CONTRAST)
    assert {name: ratio for name, ratio in found.items() if ratio < 3} == {}


@pytest.mark.timed
@pytest.mark.slow
def test_a_motion_costs_little_script_per_frame(bare, bard, capsys):
    stage = at_the_first(bare, bard)
    stage.go_on(1)
    spent = min(stage.root.evaluate(PACE) for _ in range(3))  # another process may take the core for a moment
    with capsys.disabled():
        print(f"\n  {spent:.2f} ms of script in a frame of the motion, p95")
    assert spent <= 8
