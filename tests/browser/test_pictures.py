"""The pictures of machine and stack: saved as files, described in words, scrolled in their panel, in forced colours."""

from __future__ import annotations

import re
import struct
from pathlib import Path
from xml.etree import ElementTree

import pytest

import guidedviz as gv
from tests.browser.test_machine import show as show_machine
from tests.browser.test_stack import show as show_stack

pytestmark = pytest.mark.browser
PICTURE = ".gv-sheets > svg:not(.gv-over)"


@pytest.fixture
def still(bare):
    bare.page.emulate_media(reduced_motion="reduce")
    return bare


def save(bare, slot, form):
    slot.locator(".gv-save-key").click()
    with bare.page.expect_download() as found:
        slot.locator(".gv-save-menu").get_by_text(form, exact=True).click()
    return found.value.suggested_filename, Path(found.value.path()).read_bytes()


def open_tab(slot, name):
    slot.page.locator(".gv-tabs [data-name='stack']").click()
    slot.get_by_role("button", name=name, exact=True).click()
    slot.locator(PICTURE).wait_for()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_saved_machine_is_a_whole_svg_with_the_lit_state_in_the_colours_of_the_theme(still, theme):
    _, stage, _ = show_machine(still)
    still.theme(theme.title())
    stage.go_on(3)
    name, data = stage.save("machine", "SVG")
    root = ElementTree.fromstring(data)
    text = data.decode()
    assert name == "machine.svg"
    assert not re.search(r"var\(|<style", text)
    (lit,) = [e for e in root.iter() if "gv-lit" in e.get("class", "").split()]
    assert [int(lit.get("data-state", -1))] == stage.lit()
    disc = next(e for e in lit.iter() if "gv-disc" in e.get("class", ""))
    assert disc.get("fill") == {"light": "rgb(184, 79, 0)", "dark": "rgb(245, 145, 74)"}[theme]
    page = next(e for e in root if e.tag.endswith("rect"))
    assert page.get("fill") == {"light": "rgb(246, 247, 249)", "dark": "rgb(29, 33, 39)"}[theme]
    assert f"now in q{stage.lit()[0]}" in root.get("aria-label", "")


def test_a_saved_png_has_two_pixels_per_unit_and_is_not_blank(still):
    _, stage, slot = show_machine(still)
    stage.go_on(2)
    name, data = stage.save("machine", "PNG")
    _, _, width, height = map(float, slot.locator(".gv-sheets > svg").first.get_attribute("viewBox").split())
    assert name == "machine.png"
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", data[16:24]) == (-int(-2 * width // 1), -int(-2 * height // 1))
    assert len(data) > 3_000, "a machine is on it"


def test_a_picture_of_the_stack_is_saved_as_it_is_shown(still):
    _, stage, slot = show_stack(still, steps=6)
    open_tab(slot, "chart")
    name, data = stage.save("stack picture", "SVG")
    assert name == "stack.svg"
    assert "scan: a byte was read" in "".join(ElementTree.fromstring(data).itertext())


def test_hostile_names_are_text_in_a_saved_file(still):
    _, stage, _ = show_machine(still, "(<img src=x>|</svg><script>)+", steps=0)
    _, data = stage.save("machine", "SVG")
    tags = {e.tag.partition("}")[2] for e in ElementTree.fromstring(data).iter()}
    assert tags <= {"svg", "g", "rect", "path", "text", "title", "polygon", "circle"}


def test_the_menu_is_used_with_keys(still):
    _, stage, _ = show_machine(still)
    menu = stage.root.locator(".gv-more")
    key = menu.locator("summary")
    key.focus()
    still.page.keyboard.press("Space")
    assert menu.evaluate("node => node.open")
    for button in (key, *menu.get_by_role("button").all()):
        box = button.bounding_box()
        assert min(box["width"], box["height"]) >= 24
    still.page.keyboard.press("Tab")
    still.page.keyboard.press("Escape")
    assert not menu.evaluate("node => node.open")
    assert key.evaluate("node => node === document.activeElement")
    assert stage.root.get_attribute("data-playing") == "false", "no key reached the stage"


def test_the_machine_is_described_with_its_current_state(still):
    _, stage, slot = show_machine(still)
    drawing = slot.locator(".gv-sheets > svg").first
    seen = []
    for _ in range(3):
        seen.append(drawing.get_attribute("aria-label"))
        assert seen[-1].endswith(f"now in q{stage.lit()[0]}")
        stage.go_on(1)
    assert seen[0].startswith("machine, 4 states")
    assert len(set(seen)) > 1


def test_a_pushdown_machine_is_described_with_the_top_of_its_stack(still):
    _, stage, _ = show_stack(still)
    slot = stage.root.locator("[data-slot='machine']")
    drawing = slot.locator(".gv-sheets > svg").first
    assert drawing.get_attribute("aria-label").count("top of the stack: root, waits for ") == 1
    stage.go_on(1)
    said = drawing.get_attribute("aria-label")
    assert re.search(r"now in n\d+; top of the stack: (object|string|member), waits for ", said)
    name = re.search(r"now in (n\d+)", said)[1]
    assert slot.locator(".gv-machine-now").inner_text().endswith(name)
    assert slot.locator(".gv-over .gv-lit .gv-name").text_content() == name, "and the lit state has this name"


@pytest.mark.parametrize("name", ["shared", "tree", "chart", "depth"])
def test_a_picture_opens_at_its_newest_part_and_nothing_in_it_is_tiny(still, name):
    _, stage, slot = show_stack(still, steps=12)
    still.narrow(931)
    open_tab(slot, name)
    still.page.wait_for_timeout(100)  # it is fitted to its panel after a frame
    view, newest = slot.locator(".gv-diagram").bounding_box(), slot.locator(f"{PICTURE} [data-newest]").first
    box = newest.bounding_box()
    assert view["x"] - 1 <= box["x"] < view["x"] + view["width"]
    assert view["y"] - 1 <= box["y"] < view["y"] + view["height"]
    size = "node => parseFloat(getComputedStyle(node).fontSize) * node.getScreenCTM().a"
    assert min(text.evaluate(size) for text in slot.locator(f"{PICTURE} text").all()) > 11.99
    if slot.locator(".gv-diagram").get_attribute("data-size") == "whole":
        return
    seen, whole = slot.locator(".gv-window").bounding_box(), slot.locator(".gv-overview").bounding_box()
    assert seen["width"] * seen["height"] < whole["width"] * whole["height"], "the small map marks what is in sight"
    still.shot(f"stack-picture-{name}", stage.root)


def test_forced_colours_tell_states_lit_parts_and_frames_apart_by_shape(still):
    still.page.emulate_media(forced_colors="active", reduced_motion="reduce")
    _, stage, slot = show_stack(still, steps=6)
    style = "(node, name) => getComputedStyle(node)[name]"
    machine = stage.root.locator("[data-slot='machine']")
    lit, plain = machine.locator(".gv-over .gv-lit .gv-disc").first, machine.locator(".gv-sheets > svg .gv-disc").first
    assert lit.evaluate(style, "fill") != plain.evaluate(style, "fill")
    assert float(lit.evaluate(style, "strokeWidth")[:-2]) > 2 * float(plain.evaluate(style, "strokeWidth")[:-2])
    name = machine.locator(".gv-over .gv-lit .gv-name").first
    assert name.evaluate(style, "fill") != lit.evaluate(style, "fill")
    cards = slot.locator(".gv-frame-card")
    assert cards.first.evaluate(style, "borderTopWidth") == "2px"
    assert cards.last.evaluate(style, "borderTopWidth") == "1px"
    still.shot("machine-forced", stage.root)


def test_what_scrolls_can_have_the_focus(still):
    _, stage, slot = show_stack(still, steps=2)
    machine = stage.root.locator("[data-slot='machine']")
    assert machine.locator(".gv-diagram").get_attribute("tabindex") == "0"
    machine.get_by_role("button", name="whole", exact=True).click()
    assert machine.locator(".gv-diagram").get_attribute("tabindex") is None
    open_tab(slot, "chart")
    slot.locator(".gv-diagram[tabindex='0']").wait_for()


def test_a_frame_of_a_film_is_saved_as_it_is_shown(still):
    film = still.show(gv.film(gv.views.dfa_frames("[0-9]+(x|yz)?")))
    _, first = save(still, film, "SVG")
    film.get_by_role("button", name="to the last frame").click()
    name, last = save(still, film, "SVG")
    kinds = [[e.get("class", "") for e in ElementTree.fromstring(data).iter()] for data in (first, last)]
    arrows = [sum("gv-arrow" in kind for kind in found) for found in kinds]
    assert name == "frame.svg"
    assert arrows[0] < arrows[1], "arrows that are not there yet are not in the file"
