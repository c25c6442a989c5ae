"""The stage on a bare page: what a person presses, and what the page then shows."""

import math
import re
import struct
from xml.etree import ElementTree

import pytest

import guidedviz as gv
from tests.browser.test_stack import PIECES, rule
from tests.browser.test_stack import show as show_stack
from tests.widgets.toy import WordsGuide, toy_model

pytestmark = pytest.mark.browser


def guided(**settings):
    model = toy_model()
    return gv.stage(model, "say ", WordsGuide(model.vocabulary), **{"seed": 3, **settings})


@pytest.mark.parametrize("width", [390, 1366])
@pytest.mark.quick("1366")
def test_the_help_goes_for_the_tour_with_escape_and_with_a_press_elsewhere(bare, width):
    stage = bare.show_stage(guided())
    bare.resize(width, 768)
    rows = stage.root.locator(".gv-help")
    for leave in (
        lambda: stage.press("take the tour"),
        lambda: bare.page.keyboard.press("Escape"),
        lambda: bare.page.mouse.click(2, 760),
        lambda: stage.root.locator(".gv-at").click(),
    ):
        stage.root.press("?")
        rows.wait_for()
        leave()
        rows.wait_for(state="hidden")
    words = stage.root.locator(".gv-tour [role=status]")
    assert words.bounding_box()["width"] > 180, "the tour is not a narrow column beside its buttons"


def test_a_bar_puts_its_token_in_and_a_past_token_branches(bare):
    stage = bare.show_stage(guided())
    stage.run_to_end()
    before = stage.tokens
    place = next(i for i, token in enumerate(before) if token in ("A", "Ada", "Bob"))
    other = "Ada" if before[place] == "Bob" else "Bob"
    stage.root.locator(".gv-chip").nth(place).click()
    stage.wait(place)
    assert stage.root.locator(".gv-row.gv-chosen .gv-name").inner_text() == before[place], "what was drawn is marked"
    stage.root.locator(f"button.gv-row:has(.gv-name:text-is('{other}'))").click()
    stage.root.locator(f".gv-chip.gv-now:has(.gv-name:text-is('{other}'))").wait_for()
    assert stage.tokens == [*before[:place], other], "what came after is cut"
    assert "put in by you" in stage.words
    assert stage.root.locator(".gv-branch").inner_text().endswith("".join(before[place:])), "the run that was left"
    stage.look("colour", "how")
    assert stage.root.get_attribute("data-colour") == "how"
    stage.root.locator(".gv-branch").first.click()
    stage.wait(place)
    assert stage.tokens == before


def test_it_fits_one_screen_and_tabs_choose_a_panel_beside_the_next_token(bare):
    guide = gv.guide(gv.json(), toy_model().vocabulary)
    stage = bare.show_stage(gv.stage(toy_model(), "say ", guide, steps=3))
    for width, height in ((950, 620), (1280, 720), (1920, 1080)):
        bare.resize(width, height)
        high = stage.root.bounding_box()["height"]
        assert high <= max(480, height - 100)
        assert stage.root.evaluate("root => root.scrollHeight <= root.clientHeight + 1"), "nothing is cut off"
        stage.root.locator(".gv-row.gv-struck").first.click()
        stage.root.locator(".gv-why").wait_for()
        assert stage.root.bounding_box()["height"] == high, "nothing below it moves"
    panels = [stage.root.locator(f"[data-part='{name}']") for name in ("stack", "machine", "map")]
    assert [panel.is_visible() for panel in panels] == [True, True, False], "the stack stands beside its machine"
    stage.tab("map")
    assert [panel.is_visible() for panel in panels[1:]] == [False, True]
    again = bare.show_stage(gv.stage(toy_model(), "say ", guide))
    assert again.root.locator(".gv-panels").get_attribute("data-tab") == "map", "it is remembered"
    for is_large in ("", "!"):
        again.root.press("f")
        bare.page.wait_for_function(
            f"{is_large}document.querySelector('.gv-lecture:fullscreen, :fullscreen .gv-lecture')"
        )


LABELS = """root => {
  const room = root.querySelector(".gv-diagram").getBoundingClientRect();
  return [...root.querySelectorAll(".gv-sheets > svg:first-child text.gv-label")].map((label) => {
    const { left, right } = label.getBoundingClientRect();
    const isWhole = left >= room.left - 1 && right <= room.right + 1;
    return [isWhole, getComputedStyle(label).visibility === "visible", right > room.left && left < room.right];
  });
}"""


def test_a_label_at_the_edge_of_a_large_machine_is_whole_or_not_shown(bare):
    model = gv.ToyModel([b"a", b"b", b'"'], lambda tokens: [2, 1, 0])
    machine = gv.regex('[A-Za-z0-9 ]{1,20}"[0-9]*')
    bare.resize(931, 768)
    stage = bare.show_stage(gv.stage(model, "a", gv.guide(machine, model.vocabulary), temperature=0, show=15))
    stage.wait(15)
    found = stage.root.evaluate(LABELS)
    assert [is_shown for is_whole, is_shown, in_sight in found if in_sight and not is_whole].count(True) == 0
    assert sum(is_whole and is_shown for is_whole, is_shown, _ in found) > 4
    assert any(in_sight and not is_shown for _, is_shown, in_sight in found), "some would be cut"


@pytest.mark.parametrize(("theme", "colour"), [("Light", "rgb(184, 79, 0)"), ("Dark", "rgb(245, 145, 74)")])
@pytest.mark.quick(every=2)
def test_the_menu_saves_what_this_run_has_as_it_is_shown(bare, theme, colour):
    """A page, and pictures in the colours of the theme, on which a hostile name is text."""
    bare.theme(theme)
    hostile = gv.grammar('root ::= "{" ("<img src=x>" | "</svg><script>" | [a-z "] | ":" | "[" root)* "}"?')
    _, stage, _ = show_stack(bare, hostile, steps=3)
    name, data = stage.save("machine", "SVG")
    root = ElementTree.fromstring(data)
    assert name == "machine.svg"
    assert not re.search(r"var\(|<style", data.decode())
    drawn = {"svg", "g", "rect", "path", "text", "title", "polygon", "circle"}
    assert {element.tag.partition("}")[2] for element in root.iter()} <= drawn
    lit = next(e for e in root.iter() if "gv-lit" in e.get("class", "").split() and "data-state" in e.attrib)
    assert int(lit.get("data-state")) in stage.lit()
    assert next(e for e in lit.iter() if "gv-disc" in e.get("class", "")).get("fill") == colour
    name, data = stage.save("machine", "PNG")
    drawing = stage.root.locator("[data-slot='machine'] .gv-sheets > svg").first
    size = [math.ceil(2 * float(side)) for side in drawing.get_attribute("viewBox").split()[2:]]
    assert (name, data[:8]) == ("machine.png", b"\x89PNG\r\n\x1a\n")
    assert list(struct.unpack(">II", data[16:24])) == size, "two pixels per unit"
    assert len(data) > 3_000, "a machine is on it"
    stage.tab("map")  # its code is fetched when it is opened first
    assert stage.save("map", "PNG")[0] == "map.png"
    name, page = stage.save("run", "page")
    assert (name, page[:15]) == ("run.html", b"<!doctype html>")


@pytest.mark.timed
def test_steps_at_full_speed_are_painted_in_order_with_a_machine_and_its_stack(bare, capsys):
    opening = [PIECES.index(piece) for piece in (b"{", b"[", b"[{", b'{"')]

    def likes(tokens):
        logits = rule(tokens)
        logits[opening] += 2
        return logits

    model = gv.ToyModel(PIECES, likes, eos={0})
    _, stage, _ = show_stack(bare, None, model, temperature=1.0, bias={0: -100}, max_tokens=100)
    stage.root.get_by_role("slider", name="speed").fill("7")
    stage.watch()
    stage.press("play")
    stage.wait(100, 60)
    bare.page.wait_for_function("window.seen.at(-1)[0] === 100")
    steps, times, tops, _ = zip(*bare.page.evaluate("window.seen"), strict=True)
    with capsys.disabled():
        print(f"\n  {1000 * (len(times) - 1) / (times[-1] - times[0]):.0f} steps per second painted")
    assert list(steps) == sorted(steps)
    assert len(set(tops)) > 1, "the stack is seen to move"
