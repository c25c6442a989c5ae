"""Every widget with keys only, with axe-core, with large targets, in forced colours, with text that can be read."""

import pytest

import guidedviz as gv
from tests.browser.access import CONTRAST, TARGETS, audit, read_axe
from tests.browser.test_edit import NAME, REJECTS, wait_for, write
from tests.browser.test_edit import show as show_edit
from tests.browser.test_fraction import show_record
from tests.browser.test_map import PERSON, VOCABULARY, open_chart, person
from tests.browser.test_predict import ask_choice, ask_number
from tests.browser.test_stack import show as show_stack
from tests.browser.test_widget_sizes import WIDGETS as SIZED
from tests.common import constant_model

pytestmark = pytest.mark.browser


def left_run(bare):
    """A stage with a finite machine, another token put in, its map, and why a token is forbidden."""
    stage = bare.show_stage(person(steps=12))
    stage.look("colour", "how")
    other = stage.root.locator("button.gv-row:not(.gv-struck, .gv-chosen):visible")
    stage.go_back(1)
    while not other.count():
        stage.go_back(1)
    other.first.click()
    stage.root.locator(".gv-branch").wait_for()
    stage.tab("map")
    stage.root.locator("button.gv-row.gv-struck:visible").first.click()
    stage.root.locator(".gv-why").wait_for()
    return stage.root


def stack(bare):
    """A stage with a stack, with its keys, its tour and its questions."""
    _, stage, _ = show_stack(bare, steps=9)
    stage.go_back(3)
    stage.root.locator(".gv-keys-help summary").click()
    stage.press("take the tour")
    stage.press("ask before each step")
    assert stage.root.locator(".gv-choice").count() >= 2
    return stage.root


def edited(text, fate):
    def show(bare):
        _, stage, box = show_edit(bare)
        write(box, text)
        wait_for(box, fate)
        return stage.root

    return show


def film(bare):
    root = bare.show(gv.film(gv.views.minimal_frames("(ab|cb)d?")))
    root.get_by_role("button", name="to the last frame").click()
    return root


def chart(bare):
    chart = open_chart(bare, gv.guide(gv.regex(PERSON), VOCABULARY))
    bare.page.mouse.click(*chart.at(0.3, 0.5))
    chart.wait(".gv-map-card", "id ")
    return chart.root


def folded(bare):
    root = bare.show(gv.folded(gv.regex('"name": "[a-z]+"')))
    root.locator(".gv-turns").first.wait_for()
    return root


WIDGETS = {
    "a run that was left": left_run,
    "a stack, its tour and its questions": stack,
    "a wrong constraint": edited(NAME[:-6], "wrong"),
    "a constraint that rejects a token": edited(REJECTS, "waits"),
    "a fraction slider": lambda bare: show_record(bare)[1].root,
    "a film": film,
    "a map": chart,
    "a tree of texts": lambda bare: bare.show(SIZED["tree"]()),
    "a folded machine": folded,
    "a choice": lambda bare: bare.show(ask_choice()),
    "a number": lambda bare: bare.show(ask_number()),
    "an answer": lambda bare: bare.show(ask_choice().commit("a DFA")),
    "a score": lambda bare: bare.show(gv.score()),
}


@pytest.fixture
def still(bare):
    bare.resize(1366, 768)
    return bare


@pytest.mark.parametrize("name", WIDGETS)
@pytest.mark.quick("a run that was left")
def test_a_widget_has_no_fault_its_words_can_be_read_and_its_targets_pressed(still, name):
    root = WIDGETS[name](still)
    assert audit(still.page, root, still.theme) == {}
    assert root.evaluate(TARGETS) == []
    for theme in ("Light", "Dark"):
        still.theme(theme)
        still.page.mouse.move(1, 1)
        assert root.evaluate(CONTRAST) == {}, "also in drawings and on tinted tokens, which axe-core leaves out"


def test_the_signs_of_white_space_in_a_token_follow_a_change_of_the_theme(bare):
    stage = bare.show_stage(gv.stage(constant_model([b" a"], [0.0]), " a", steps=3, max_tokens=3))
    signs = stage.root.locator(".gv-chip .gv-name, .gv-chip .gv-mark")
    colours = "nodes => nodes.map((node) => getComputedStyle(node).color)"
    light = signs.evaluate_all(colours)
    bare.theme("Dark")
    dark = signs.evaluate_all(colours)
    assert (len(light), len({*light}), len({*dark}), {*light} & {*dark}) == (6, 1, 1, set())


@pytest.mark.slow
def test_widgets_that_share_a_page_repeat_no_landmark_and_no_id(bare):
    for _ in range(2):
        bare.show_stage(person(steps=2))
        bare.show(gv.film(gv.views.minimal_frames("ab")))
    bare.page.evaluate(read_axe())
    rules = ["landmark-unique", "landmark-no-duplicate-banner", "landmark-banner-is-top-level", "duplicate-id-aria"]
    found = bare.page.evaluate("async rules => (await axe.run({ runOnly: rules })).violations.map(v => v.id)", rules)
    assert found == []


def held(page):
    """What has the focus, and how its description starts."""
    return page.evaluate("[document.activeElement.dataset.place, document.activeElement.ariaDescription]")


def test_the_tip_of_a_token_is_reached_with_keys_and_follows_the_steps(still):
    stage = still.show_stage(person(steps=6))
    press = still.page.keyboard.press
    tip = stage.root.locator("[role=tooltip]")
    stage.go_back(1)
    stage.root.locator(".gv-keys-help summary").focus()
    press("Tab")
    assert held(still.page) == ["4", "go back to before token 5"], "Tab goes from the header to the current token"
    assert stage.root.locator(".gv-chip:focus").get_attribute("aria-describedby") == tip.get_attribute("id")
    said = {4: tip.inner_text()}
    for key, cursor in (("ArrowLeft", 4), ("ArrowRight", 5), ("ArrowRight", 6), ("Home", 0)):
        press(key)
        stage.wait(cursor)
        place = max(cursor - 1, 0)
        assert held(still.page)[0] == str(place)
        assert said.setdefault(place, tip.inner_text()) == tip.inner_text()
    assert len(set(said.values())) == len(said) == 4
    press("Escape")
    assert not tip.is_visible()
    press("r")
    stage.root.locator(".gv-chip").first.wait_for(state="detached")
    assert stage.root.evaluate("root => root === document.activeElement"), "the keys stay with the stage"


@pytest.mark.slow
def test_what_is_changed_says_its_value_in_words_and_the_machine_names_its_state(still):
    _, stage, _ = show_stack(still, steps=1)
    said = [stage.root.get_by_role("slider", name=name) for name in ("speed", "temperature", "step")]
    assert [one.get_attribute("aria-valuetext") for one in said] == ["4 per second", "0.00", "step 1 of 1"]
    drawing = stage.root.locator("[data-slot='machine'] .gv-sheets svg").first.get_attribute("aria-label")
    name = stage.root.locator(".gv-over .gv-lit .gv-name").text_content()
    assert f"now in {name}; top of the stack: " in drawing


def test_the_menu_is_used_with_keys(still):
    stage = still.show_stage(person(steps=2))
    menu = stage.root.locator(".gv-more")
    key = menu.locator("summary")
    key.focus()
    still.page.keyboard.press("Space")
    assert menu.evaluate("node => node.open")
    assert stage.root.evaluate(TARGETS) == []
    still.page.keyboard.press("Tab")
    still.page.keyboard.press("Escape")
    assert not menu.evaluate("node => node.open")
    assert key.evaluate("node => node === document.activeElement")
    assert stage.root.get_attribute("data-playing") == "false", "no key reached the stage"


def colour(node, name="backgroundColor"):
    return node.evaluate("(node, name) => getComputedStyle(node)[name]", name)


@pytest.fixture
def forced(still):
    still.page.emulate_media(forced_colors="active", color_scheme="dark", reduced_motion="reduce")
    return still


def test_forced_colours_tell_bars_tokens_and_times_apart(forced):
    stage = forced.show_stage(person(steps=9))
    stage.go_back(3)
    root = stage.root
    canvas = colour(stage.root)
    stage.look("bars", "odds")
    filled = (".gv-rest .gv-after", ".gv-legend .gv-after", ".gv-timebars i:nth-child(3)")
    outlined = {".gv-rest .gv-before": "borderTopColor", ".gv-legend .gv-before": "borderTopColor"}
    for part, name in (dict.fromkeys(filled, "backgroundColor") | outlined | {".gv-bin": "borderLeftColor"}).items():
        assert colour(root.locator(part).first, name) not in (canvas, "rgba(0, 0, 0, 0)"), part
    past, now = (root.locator(f".gv-timebars i{kind}").first for kind in (":nth-child(3)", ".gv-now"))
    assert colour(past) != colour(now)
    past, now, ahead = (root.locator(".gv-chip").nth(place) for place in (1, 5, 7))
    assert [colour(chip, "outlineStyle") for chip in (past, now, ahead)] == ["none", "solid", "none"]
    assert colour(past, "borderTopColor") != colour(ahead, "borderTopColor")
    stage.look("bars", "cost")
    forward, mask, sample = (root.locator(f".gv-cost .gv-part-{part}") for part in ("forward", "mask", "sample"))
    assert colour(forward) != canvas
    assert "gradient" in colour(mask, "backgroundImage")
    assert colour(sample, "borderTopWidth") == "1px"


@pytest.mark.slow
def test_forced_colours_tell_lit_states_and_frames_apart_by_shape(forced):
    _, _, slot = show_stack(forced, steps=6)
    lit = slot.locator(".gv-over .gv-lit .gv-disc").first
    plain = slot.locator(".gv-sheets > svg .gv-disc").first
    assert colour(lit, "fill") != colour(plain, "fill")
    assert float(colour(lit, "strokeWidth")[:-2]) > 2 * float(colour(plain, "strokeWidth")[:-2])
    assert colour(slot.locator(".gv-over .gv-lit .gv-name").first, "fill") != colour(lit, "fill")
    cards = slot.locator(".gv-frame-card")
    assert (colour(cards.first, "borderBottomWidth"), colour(cards.last, "borderBottomWidth")) == ("2px", "1px")


@pytest.mark.slow
def test_forced_colours_leave_the_map_its_own_colours_and_mark_fixed_tokens(forced):
    shown = open_chart(forced, gv.guide(gv.regex("[A-Za-z ]*"), VOCABULARY))
    assert min(shown.colours()) > 0.05, "legal and illegal cells are seen"
    _, slider = show_record(forced)
    edges = {colour(slider.root.locator(f".gv-part-{kind}").first, "borderBottomWidth") for kind in ("fixed", "free")}
    assert edges == {"1px", "3px"}
