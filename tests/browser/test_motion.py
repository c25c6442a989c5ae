"""The mask falls: each phase of one step as frames, at the sizes of the stage, and what ends, reverses or stills it."""

import pytest

import guidedviz as gv
from tests.browser.bare import SIZES, middle
from tests.common import regex_guide

pytestmark = pytest.mark.browser
FALLS = "held.some((one) => one.playState !== 'idle' && one.effect.target.matches('.gv-before'))"
LOOK = """root => [...root.querySelectorAll("[data-slot='next'] *")].map((node) => {
  const { x, y, width, height } = node.getBoundingClientRect();
  const { opacity, color, backgroundColor } = getComputedStyle(node);
  return [node.className, x, y, width, height, opacity, color, backgroundColor].join(" ");
})"""
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


def at_the_first(bare, bard, size="cell"):
    """A run of lab 03 that stands at its first token, on a page that moves; the second step wants illegal letters."""
    guide = regex_guide(bard, "[A-Z]+: [a-z]+\n")
    bare.move()
    bare.resize(*SIZES[size])
    stage = bare.show_stage(gv.stage(bard, "\n", guide, seed=0, steps=18, show=0))
    if size == "phone":
        stage.tab("next")
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
    bare.land()
    bare.wait(lambda: bare.page.evaluate(FALLS))


def test_the_end_is_what_the_page_shows_without_motion(bare, bard):
    stage = at_the_first(bare, bard)
    moving = "root => root.getAnimations({ subtree: true }).length"
    stage.go_on(1)
    stage.root.press("m")
    bare.wait(lambda: stage.root.evaluate(moving) == 0)
    moved = stage.root.evaluate(LOOK)
    bare.be_still()
    stage.go_on(1)
    stage.go_back(1)
    assert stage.root.evaluate(moving) == 0
    assert stage.root.evaluate(LOOK) == moved


@pytest.mark.slow
def test_the_next_key_ends_a_motion_m_plays_it_again_and_a_step_back_goes_backwards(bare, bard):
    stage = at_the_first(bare, bard)
    bare.hold()
    step_on(bare, stage)
    bare.page.evaluate("first = held")
    bare.hold()
    step_on(bare, stage, 2)
    assert bare.page.evaluate("first.length > 0 && first.every((one) => one.playState === 'idle')")
    bare.hold()
    stage.root.press("m")
    assert bare.page.evaluate("held.length"), "it is played again"
    bare.hold()
    stage.root.press("ArrowLeft")
    stage.wait(1)
    assert bare.page.evaluate("held.every((one) => one.playbackRate < 0)")
    leaving = stage.root.locator(".gv-leaving")
    assert leaving.get_attribute("inert") is not None, "what leaves can not be pressed or read"
    stage.root.press("ArrowLeft")
    stage.wait(0)
    bare.land()
    leaving.wait_for(state="detached")


FLYING = """root => [...root.querySelectorAll(".gv-travel .gv-flying")]
  .filter((one) => getComputedStyle(one).opacity > 0.1)
  .map((one) => {
    const { x, y, width } = one.getBoundingClientRect();
    return [one.textContent, x + width / 2, y];
  })"""


def flying(bare, stage, time):
    """The signs that fly at a time, each with the middle of its box."""
    bare.seek(time)
    return stage.root.evaluate(FLYING)


def disc(stage, state):
    """A state of the machine, as it is drawn."""
    return stage.root.locator(f".gv-sheets > svg:first-child [data-state='{state}'] .gv-disc")


def test_the_token_that_was_taken_flies_to_the_machine_and_lands_in_the_text(bare, bard):
    stage = at_the_first(bare, bard)
    bare.hold()
    take_off(bare, stage)
    assert stage.root.locator(".gv-leaving").count() == 1, "the panel that it left is still there"
    chip = stage.root.locator(".gv-chip.gv-now")
    lit = stage.root.locator(".gv-over .gv-state.gv-lit")
    opacity = "node => Number(getComputedStyle(node).opacity)"
    token = stage.tokens[0]
    ((sign, start, _),) = flying(bare, stage, 0)
    assert sign == token
    assert start > middle(disc(stage, 1))[0] + 100, "it begins at its bar, in the other panel"
    for time, state in ((251, 0), (649, 1)):
        ((sign, x, _),) = flying(bare, stage, time)
        assert (sign, x) == (token, pytest.approx(middle(disc(stage, state))[0], abs=4))
    assert chip.evaluate(opacity) == lit.evaluate(opacity) == 0, "it has not landed"
    bare.seek(700)
    assert lit.evaluate(opacity) == 1, "the state fills as the byte lands"
    assert flying(bare, stage, 5000) == []
    bare.land()
    stage.root.locator(".gv-leaving").wait_for(state="detached")
    assert chip.evaluate(opacity) > 0.9


def test_a_film_moves_what_the_next_key_ends_and_a_step_back_goes_backwards(bare):
    bare.move()
    film = bare.show(gv.film(gv.views.nfa_reading_frames("(a|b)*ab", "ab")))
    moving = film.locator(".gv-moving")
    lit = film.locator(".gv-over > :first-child .gv-lit[data-state]")
    bare.hold()
    film.press("ArrowRight")
    assert moving.locator(".gv-walker").count() == 2, "the wave along two ε edges"
    film.press("ArrowRight")
    assert moving.count() == 1, "the next key ended the wave"
    bare.seek(0)
    one, other = (middle(tile) for tile in moving.locator(".gv-tile").all() if tile.is_visible())
    assert one == pytest.approx(other, abs=1), "both bytes come from one cell"
    film.press("ArrowLeft")
    assert film.get_attribute("data-frame") == "1"
    assert bare.page.evaluate("held.at(-1).playbackRate") < 0
    assert lit.count() == 2, "the later frame stays so long"
    bare.land()
    bare.wait(lambda: (moving.count(), lit.count()) == (0, 3))
    bare.be_still()
    film.press("ArrowRight")
    assert moving.count() == 0


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.slow
def test_the_bars_are_the_largest_thing_of_their_panel(bare, bard, size):
    stage = at_the_first(bare, bard, size)
    bare.be_still()
    stage.go_on(1)
    found = stage.root.evaluate("""root => {
      const box = (selector) => root.querySelector(selector).getBoundingClientRect();
      const [end, numbers] = [box(".gv-bars").right, [...root.querySelectorAll(".gv-said")]];
      return {
        share: box("[data-part='bar']").width / box("[data-slot='next']").width >= (innerWidth < 640 ? 0.8 : 0.55),
        bin: box(".gv-bin").width >= 24,
        row: Math.min(box(".gv-row").height, box(".gv-row .gv-before").height) >= 16,
        number: parseFloat(getComputedStyle(numbers[0]).fontSize) >= 14,
        rows: root.querySelectorAll("button.gv-row").length <= 8,
        inside: numbers.every((one) => one.getBoundingClientRect().right <= end + 1),
      };
    }""")
    assert found == dict.fromkeys(found, True)


@pytest.mark.parametrize("theme", ["Light", "Dark"])
@pytest.mark.quick("Dark")
def test_legal_and_forbidden_bars_can_be_told_from_their_ground(bare, bard, theme):
    stage = at_the_first(bare, bard)
    bare.be_still()
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
