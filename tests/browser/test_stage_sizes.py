"""What can be read on the stage at the sizes at which it is used: beside a file browser, full screen, on a phone."""

from pathlib import Path

import pytest

import guidedviz as gv
from tests.browser.bare import SIZES, middle
from tests.common import regex_guide

pytestmark = pytest.mark.browser
MEASURE = Path(__file__).with_name("sizes.js").read_text("utf-8").partition("\n")[2]
BOXES = "Hi! The piano holds a kettle, which holds a wallet, which holds a lemon.\nNested JSON:\n"
ADA = "Ada Brook is 42 years old.\nJSON:\n"
EMAIL = {"type": "string", "pattern": "^[a-z]+@[a-z]+[.](org|com)$"}
FIELDS = {"name": {"type": "string"}, "age": {"type": "integer"}, "email": EMAIL}


@pytest.fixture(scope="module")
def models():
    return {name: gv.load_model(name) for name in ("bard", "clerk", "scout")}


def lookup(table: str, key: str) -> int:
    """Looks up a value in a table."""
    return 45


def staged(models, kind):
    """A machine of six states, one of 81, the pushdown machine of JSON, and a turn of a conversation."""
    bard = models["bard"]
    clerk = models["clerk"]
    if kind == "six":
        return gv.stage(bard, "\n", regex_guide(bard, "[A-Z]+: [a-z]+\n"), seed=0, show=7)
    if kind == "json":
        return gv.stage(clerk, BOXES, gv.guide(gv.json(), clerk.vocabulary), seed=1, show=12)
    if kind == "talk":
        talk = gv.decoding.Conversation(models["scout"], "What is the price of the lamp?", [lookup])
        return gv.stage(talk, temperature=0, max_tokens=120, steps=120)
    machine = gv.json_schema({"type": "object", "properties": FIELDS, "required": list(FIELDS)})
    return gv.stage(clerk, ADA, gv.guide(machine, clerk.vocabulary), show=6, max_tokens=30)


def show(bare, models, kind, size):
    live = staged(models, kind)
    stage = bare.show_stage(live)
    if kind == "talk":
        bare.wait(lambda: live.talk.is_ready)
        live.answer().take(120).go(14)
        stage.wait(14)
    bare.resize(*SIZES[size])
    if size.isdigit():
        stage.root.press("f")
        bare.page.wait_for_function("document.fullscreenElement")
    return stage


def ask_why(stage):
    """Press the first forbidden token, where there is one."""
    struck = stage.root.locator(".gv-row.gv-struck:visible")
    if struck.count():
        struck.first.click()
        stage.root.locator(".gv-why *").first.wait_for()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", ["six", "large", "json", "talk"])
@pytest.mark.quick("json-phone")
def test_what_must_be_seen_can_be_read(bare, models, kind, size):
    stage = show(bare, models, kind, size)
    phone = size == "phone"
    for move in (None, "go to the prompt", "to the end, decoding what is missing"):
        if phone:
            stage.tab("next")
        if move:
            stage.press(move)
            stage.wait(0) if "prompt" in move else stage.wait_end()
        stage.wait_ready()
        if not phone:
            bare.wait(lambda: stage.root.evaluate(MEASURE)["lit"])
        ask_why(stage)
        found = readable(stage, size)
        assert found["rows"] >= (5 if phone else 8)
        assert found["bar"] >= (105 if phone else found["next"][0] / 3), "the full scale of a bar"
        if phone:
            assert found["machine"] is None, "one panel at a time"
            stage.tab("machine")
            found = readable(stage, size)
            assert found["next"] is None
        assert found["machine"] >= ([330, 260] if phone else [400, 300])
        assert found["share"] >= 55, "of the panel is the drawing"
        if kind != "talk":  # there the machine shows the rule in which the token that was asked about dies
            assert found["lit"], "the current state is in sight"


def readable(stage, size):
    """What is measured, once nothing in it is small, cut, covered or out of sight."""
    stage.page.wait_for_timeout(150)
    found = stage.root.evaluate(MEASURE)
    assert found["least"][0] > (15.99 if size.isdigit() else 11.99), found["least"]
    assert [found[name] for name in ("cut", "over", "targets", "nested", "page")] == [[], [], [], 0, False]
    assert found["why"] is not False, "the reason is in sight"
    return found


def test_a_phone_shows_one_panel_and_a_swipe_steps(bare, models):
    stage = show(bare, models, "large", "phone")
    stage.tab("next")
    swipe = """([node, from, to]) => {
      const at = (x) => ({ bubbles: true, clientX: x, clientY: 300, pointerType: "touch" });
      node.dispatchEvent(new PointerEvent("pointerdown", at(from)));
      node.dispatchEvent(new PointerEvent("pointerup", at(to)));
    }"""
    rows = stage.root.locator(".gv-rows").element_handle()
    for start, end, cursor in ((300, 100, 7), (100, 300, 6), (300, 270, 6)):
        bare.page.evaluate(swipe, [rows, start, end])
        stage.wait(cursor)


def test_beside_the_margins_of_a_notebook_on_a_phone_nothing_is_cut(bare, models):
    guide = gv.guide(gv.json(), models["clerk"].vocabulary)
    bare.resize(286, 844)
    stage = bare.show_stage(gv.stage(models["clerk"], BOXES, guide, temperature=0, show=12))
    stage.tab("next")
    stage.wait_ready()
    assert stage.root.evaluate(MEASURE)["cut"] == []
    about = stage.root.locator(".gv-about > .gv-soft > span").first
    assert about.bounding_box()["width"] <= about.locator("..").bounding_box()["width"]


def test_the_two_panels_are_exchanged_and_the_notebook_remembers_it(bare, models):
    stage = show(bare, models, "six", "cell")

    def is_left(one):
        machine, bars = (middle(one.root.locator(f"[data-part={part}]")) for part in ("machine", "next"))
        return machine < bars

    assert is_left(stage)
    stage.root.locator(".gv-more > summary").click()
    stage.press("⇄ exchange the panels")
    assert not is_left(stage)
    assert not is_left(bare.show_stage(staged(models, "six")))


def test_a_pointer_drags_what_is_close_up_the_next_step_brings_the_state_back_and_a_full_screen_shows_all(bare, models):
    stage = show(bare, models, "large", "cell")
    stage.root.hover()  # what is loaded at the first touch is painted
    stage.root.locator(".gv-keys-help .gv-help").wait_for(state="attached")
    slot = stage.root.locator("[data-slot='machine']")
    sheets = slot.locator(".gv-sheets")
    box = slot.locator(".gv-diagram").bounding_box()
    before = sheets.bounding_box()["x"]
    for _ in range(3):
        bare.page.mouse.move(box["x"] + 30, box["y"] + 40)
        bare.page.mouse.down()
        bare.page.mouse.move(box["x"] + 330, box["y"] + 40)
        bare.page.mouse.up()
    assert sheets.bounding_box()["x"] == pytest.approx(before + 900, abs=2)
    assert not stage.root.evaluate(MEASURE)["lit"], "another part is in sight"
    stage.go_back(1)
    stage.go_on(1)
    bare.wait(lambda: stage.root.evaluate(MEASURE)["lit"])
    whole = slot.get_by_role("button", name="whole", exact=True)
    assert not whole.is_visible(), "its labels would have 5 pixels"
    stage.root.press("f")
    bare.page.wait_for_function("document.fullscreenElement")
    close = sheets.bounding_box()["width"]
    whole.click()
    assert whole.get_attribute("aria-pressed") == "true"
    assert sheets.bounding_box()["width"] < min(close, slot.bounding_box()["width"])
    whole.click()
    assert sheets.bounding_box()["width"] == close


def test_a_sign_of_the_legend_stands_beside_its_words_in_the_narrowest_panel(bare, models):
    stage = show(bare, models, "six", "phone")
    stage.tab("next")
    bare.resize(284, 1000)
    lines = stage.root.locator(".gv-legend > span").evaluate_all("nodes => nodes.map(node => node.offsetHeight)")
    assert len(lines) == 3
    assert max(lines) < 24
