"""What can be read and pressed in each widget where it is used: beside a file browser, on a projector, on a phone."""

from pathlib import Path

import pytest

import guidedviz as gv
from guidedviz.decoding.samplers import Task
from guidedviz.files import shipped
from tests.browser.bare import SIZES
from tests.browser.test_map import open_stage
from tests.common import regex_guide

pytestmark = pytest.mark.browser

# letters of less than 12 pixels as they are painted, what is cut or scrolls, and what is too small to be pressed
MEASURE = """root => {
  const seen = [...root.querySelectorAll("*")].filter((node) => node.checkVisibility({ visibilityProperty: true }));
  const own = (node) => [...node.childNodes].some((one) => one.nodeType === 3 && one.data.trim());
  const letters = (node) => parseFloat(getComputedStyle(node).fontSize) * (node.getScreenCTM?.()?.a ?? 1);
  const say = (node) => node.textContent.trim().slice(0, 30) || String(node.getAttribute("class"));
  const boxes = seen.filter((node) => node instanceof HTMLElement && getComputedStyle(node).overflow !== "visible");
  const beyond = ({ scrollWidth, clientWidth, scrollHeight, clientHeight }) =>
    scrollWidth > clientWidth + 1 || scrollHeight > clientHeight + 1;
  const least = innerWidth < 640 ? 44 : 24;
  const pressed = seen.filter((node) => node.matches("button, input, summary"));
  const tiny = ({ width, height }) => Math.min(width, height) < least - 0.5;
  return {
    small: seen.filter((node) => own(node) && letters(node) < 11.9).map(say),
    cut: boxes.filter((node) => beyond(node) && !node.matches(".gv-diagram")).map(say),
    tiny: pressed.filter((node) => tiny((node.closest("label") ?? node).getBoundingClientRect())).map(say),
    wide: document.documentElement.scrollWidth > innerWidth,
  };
}"""
DIST = Path(gv.__file__).parent / "widgets/page/dist"
FINE = {"small": [], "cut": [], "tiny": [], "wide": False}


MONTHS = gv.ToyModel([b"0", b"1", b"9"], lambda tokens: [-2.0, 2.0, -9.0] if tokens[-1] == 2 else [1.0, 0.5, 3.0])
WIDGETS = {
    "tree": lambda: gv.text_tree(Task(MONTHS, "9", regex_guide(MONTHS, "[01][01]"))),
    "slider": lambda: gv.fraction_slider(gv.decoding.Payoff.load(shipped("traces/jump-cpu.json"))),
    "film": lambda: gv.film(gv.views.dfa_frames("(a|b)*abb")),
    "folded": lambda: gv.folded(gv.regex(r'\{"name": "[a-z]+", "age": [0-9]{1,3}\}')),
    "choice": lambda: gv.predict("Which `{`?", choices=["a DFA", "a stack", "neither"], answer="a DFA"),
    "number": lambda: gv.predict("How many?", number=2),
}


PAIRS = """object ::= "{" string ": " value "}"
value ::= object | number
string ::= "\\"" [a-z]+ "\\""
number ::= [0-9]+"""
SUMS = {"sum": [("sum", "+", "term"), ("term",)], "term": [("number",), ("(", "sum", ")")]}
WIDE = {
    "stack": lambda: gv.views.stack_frames(gv.grammar(PAIRS, root="object"), '{"key": {"b": 1}}'),
    "chart": lambda: gv.views.earley_frames(SUMS, "(12)", {"number": "[0-9]+"}),
}


LOOKS = """root => [root, ...root.querySelectorAll("*")].map((node) => {
  const style = getComputedStyle(node);
  const names = [...style].filter((name) => !name.startsWith("--"));
  return names.map((name) => `${name}: ${style.getPropertyValue(name)}`).join(";");
})"""


@pytest.mark.parametrize("name", WIDGETS)
@pytest.mark.quick("number")
def test_each_widget_can_be_read_and_pressed_and_no_other_widget_changes_how_it_looks(bare, name):
    root = bare.show(WIDGETS[name]())
    for size in SIZES:
        bare.resize(*SIZES[size])
        bare.page.wait_for_timeout(300)
        found = root.evaluate(MEASURE)
        if name in ("film", "folded"):
            found["small"] = []  # how large a machine is drawn is measured on the stage
        assert found == FINE
        if size != "phone":
            assert root.bounding_box()["height"] <= SIZES[size][1] - 80, "beside JupyterLab's own rows"
    before = root.evaluate(LOOKS)
    for style in sorted(DIST.glob("*.css")):
        if style.stem not in ("class", "player"):  # these are pages of their own
            bare.page.add_style_tag(content=style.read_text(encoding="utf-8"))
    for one, other in zip(before, root.evaluate(LOOKS), strict=True):
        assert set(one.split(";")) ^ set(other.split(";")) == set()


def test_the_map_fills_its_panel_on_the_stage_and_what_is_said_of_a_token_has_its_place(bare):
    _, chart = open_stage(bare, steps=5)
    panel = chart.root.locator("[data-slot=map]")
    for size, least in (("cell", 0.4), ("1280", 0.3), ("phone", 0.35)):
        bare.resize(*SIZES[size])
        chart.root.press("Escape")
        bare.page.wait_for_timeout(300)
        sheet = chart.sheet.bounding_box()
        room = panel.bounding_box()
        assert sheet["width"] * (sheet["height"] + 64) >= least * room["width"] * room["height"], "with its labels"
        assert sheet["width"] >= 300
        chart.sheet.click(position={"x": 40, "y": 40})
        chart.wait(".gv-map-card", "id ")
        assert panel.evaluate(MEASURE) == FINE
        assert chart.sheet.bounding_box() == sheet


@pytest.mark.parametrize("name", ["stack", "chart"])
@pytest.mark.quick("stack")
def test_a_film_that_is_a_little_too_wide_is_drawn_smaller_and_not_cut(bare, name):
    bare.resize(*SIZES["cell"])
    root = bare.show(gv.film(WIDE[name](), show=7))
    bare.page.wait_for_timeout(200)
    diagram = root.locator(".gv-diagram")
    assert diagram.get_attribute("data-size") == "whole"
    assert diagram.evaluate("node => node.scrollWidth <= node.clientWidth && node.scrollHeight <= node.clientHeight")
    letters = "node => Math.min(...[...node.querySelectorAll('.gv-sheets > svg:first-child text')].map(FONT))"
    size = "(one) => parseFloat(getComputedStyle(one).fontSize) * one.getScreenCTM().a"
    assert diagram.evaluate(letters.replace("FONT", size)) >= 0.85 * 12


NOT_SEEN = """root => {
  const box = root.querySelector(".gv-diagram").getBoundingClientRect();
  const seen = (node) => node.checkVisibility({ visibilityProperty: true });
  const byte = [...root.querySelectorAll("[data-arrow^='next '] rect")].filter(seen);
  const cards = [...root.querySelectorAll("[data-arrow^='top '] b, [data-arrow^='top '] text")].filter(seen);
  const lit = [...root.querySelectorAll(".gv-over .gv-lit .gv-disc")];
  const isIn = (node) => {
    const { left, right, top, bottom } = node.getBoundingClientRect();
    return left >= box.left - 2 && right <= box.right + 2 && top >= box.top && bottom <= box.bottom;
  };
  const isCut = ({ scrollWidth, clientWidth }) => clientWidth && scrollWidth > clientWidth + 1;
  const cut = [...root.querySelectorAll("header *")].filter(isCut);
  const main = root.querySelector(".gv-film-words").textContent.match(/^(Call|Return)/) ? cards : lit;
  return [...byte, ...main].filter((one) => !isIn(one)).concat(cut).map((one) => one.outerHTML);
}"""
READ = {"text": lambda: gv.views.reading_frames(gv.regex("[A-Z]: [a-z]+\\n"), "K: so\n")}


@pytest.mark.parametrize("name", [*WIDE, *READ])
@pytest.mark.quick("text")
def test_on_a_phone_a_film_moves_what_it_frames_into_sight_and_the_page_stands(bare, name):
    bare.resize(*SIZES["phone"])
    bare.page.evaluate("document.body.style.margin = '0 40px 0 60px'")  # as in a cell
    root = bare.show(gv.film((WIDE | READ)[name](), title="a title that is longer than a line"))
    scrub = root.locator(".gv-film-scrub")
    for frame in range(int(scrub.get_attribute("max")) + 1):
        scrub.fill(str(frame))
        bare.page.evaluate("() => new Promise(requestAnimationFrame)")
        assert root.evaluate(NOT_SEEN) == [], f"frame {frame}"
        assert bare.page.evaluate("[scrollX, scrollY]") == [0, 0]
    root.get_by_role("button", name="whole").click()
    bare.page.wait_for_timeout(100)
    moved = "[...document.querySelectorAll('[data-part=tape]')].map((text) => text.getAttribute('transform'))"
    assert bare.page.evaluate(moved) == ["translate(0)"]


@pytest.mark.slow
def test_a_film_and_what_is_below_it_keep_their_places(bare):
    bare.resize(*SIZES["phone"])
    root = bare.show(WIDGETS["film"]())
    boxes = set()
    frames = int(root.locator(".gv-film-scrub").get_attribute("max"))
    for frame in range(frames + 1):
        root.locator(".gv-film-scrub").fill(str(frame))
        box = root.bounding_box()
        screen = root.locator(".gv-panel").bounding_box()
        boxes.add((box["height"], screen["y"], screen["height"]))
    assert len(boxes) == 1
