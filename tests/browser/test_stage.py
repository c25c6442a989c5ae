"""The stage on a bare page: what a person presses, and what the page then shows."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest

import guidedviz as gv
from tests.widgets.toy import PIECES, WordsGuide, rule, toy_model

pytestmark = pytest.mark.browser


def guided(words=None, **settings):
    model = toy_model()
    guide = WordsGuide(model.vocabulary, words) if words else WordsGuide(model.vocabulary)
    return gv.stage(model, "say ", guide, **{"seed": 3, **settings})


def free(**settings):
    return gv.stage(toy_model(end=False), "say ", **settings)


def test_it_steps_and_goes_back(bare):
    stage = bare.show_stage(guided())
    assert "no step yet" in stage.words
    assert stage.root.get_by_role("button", name="one step back").is_disabled()
    bare.shot("stage-start", stage.root)
    stage.go_on(4)
    tokens = stage.tokens
    assert "".join(tokens).startswith('{"name":')
    assert stage.words.startswith("step 4 of 4 · “")
    stage.go_back(1)
    assert stage.tokens == tokens, "going back forgets nothing"
    stage.go_on(1)
    assert stage.tokens == tokens, "forward again gives the same token"
    stage.press("go to the prompt")
    stage.wait(0)
    stage.run_to_end()
    assert "the model ended its output" in stage.words
    assert stage.root.get_by_role("button", name="one step on").is_disabled()
    assert stage.root.get_by_role("button", name="play", exact=True).is_disabled()
    stage.press("delete all steps and start again")
    stage.wait(0)
    assert stage.tokens == []


def test_hostile_tokens_stay_text(bare):
    hostile = b"<script>window.hacked=1</script><img src=x onerror=window.hacked=1>\xe2\x82"
    stage = bare.show_stage(guided([hostile], steps=9))
    assert stage.tokens[:2] == ["<script>window.hacked=1</script>", "<img␣src=x␣onerror=window.hacked=1>"]
    assert stage.tokens[2] == "<0xE2><0x82>"
    stage.root.locator(".gv-chip").nth(1).hover()
    stage.root.locator("[role=tooltip]").wait_for()
    bare.shot("stage-hostile", stage.root)
    assert bare.page.evaluate("window.hacked") is None


def test_the_tip_of_a_token_goes_when_a_key_is_pressed(bare):
    stage = bare.show_stage(guided(steps=4))
    stage.root.locator(".gv-chip").nth(1).click()  # the keys go to the stage
    stage.wait(1)
    bare.page.mouse.move(5, 5)
    stage.root.locator(".gv-chip").nth(1).hover()
    tip = stage.root.locator("[role=tooltip]")
    tip.wait_for()
    bare.page.keyboard.press("ArrowRight")
    stage.wait(2)
    assert not tip.is_visible()


def test_where_nothing_is_forbidden_one_bar_is_enough(bare):
    stage = bare.show_stage(free(steps=14))
    assert "→" not in stage.root.locator("button.gv-row .gv-said").first.inner_text()


def test_a_bar_puts_its_token_in_and_a_past_token_branches(bare):
    stage = bare.show_stage(guided())
    stage.run_to_end()
    before = stage.tokens
    place = next(i for i, token in enumerate(before) if token in ("A", "Ada", "Bob"))
    stage.root.locator(".gv-chip").nth(place).click()
    stage.wait(place)
    assert stage.root.locator(".gv-row.gv-chosen .gv-name").inner_text() == before[place], "what was drawn is marked"
    other = "Bob" if before[place] != "Bob" else "Ada"
    stage.root.locator(f"button.gv-row:has(.gv-name:text-is('{other}'))").click()
    stage.root.locator(f".gv-chip.gv-now:has(.gv-name:text-is('{other}'))").wait_for()
    assert stage.tokens == [*before[:place], other], "what came after is cut"
    assert "put in by you" in stage.words
    assert stage.root.locator(".gv-branch").inner_text().endswith("".join(before[place:])), "the run that was left"
    stage.look("colour", "how")
    assert stage.root.get_attribute("data-colour") == "how"
    bare.shot("stage-inserted", stage.root)
    stage.run_to_end()
    assert "".join(stage.tokens).replace("␣", " ").startswith('{"name": "' + other)
    stage.root.locator(".gv-branch").first.click()
    stage.wait(place)
    assert stage.tokens == before


def test_an_illegal_token_says_why(bare):
    stage = bare.show_stage(guided())
    stage.root.locator("button.gv-row.gv-struck").first.click()
    why = stage.root.locator(".gv-why")
    why.wait_for()
    assert "illegal here?" in why.inner_text()
    assert "expected {" in why.inner_text()
    bare.shot("stage-why", stage.root)
    stage.go_on(1)
    assert not why.is_visible()


def test_temperature_and_seed_change_what_comes_next_only(bare):
    stage = bare.show_stage(free(steps=12, max_tokens=40))
    before = stage.tokens
    stage.go_back(8)
    box = stage.root.get_by_role("slider", name="temperature").bounding_box()
    bare.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    bare.page.mouse.down()
    bare.page.mouse.move(box["x"], box["y"] + box["height"] / 2, steps=8)
    bare.page.mouse.up()
    stage.root.locator(".gv-slider output:text-is('0.00')").wait_for()
    stage.go_on(1)
    assert stage.tokens[:4] == before[:4]
    assert len(stage.tokens) == 5, "the old future is cut"
    stage.go_back(1)
    best = stage.root.locator("button.gv-row").first
    assert "gv-chosen" in best.get_attribute("class"), "at temperature 0 the likeliest is taken"
    stage.root.get_by_role("spinbutton", name="seed").fill("9")
    bare.page.keyboard.press("Tab")
    stage.go_on(1)


def test_everything_has_a_key(bare):
    stage = bare.show_stage(guided())
    stage.root.focus()
    press = bare.page.keyboard.press
    for key, cursor in (("ArrowRight", 1), ("ArrowRight", 2), ("ArrowRight", 3), ("ArrowLeft", 2), ("Home", 0)):
        press(key)
        stage.wait(cursor)
    press("End")
    stage.wait_words("ended")
    press("Home")
    stage.wait(0)
    press("ArrowRight")
    stage.wait(1)
    press("ArrowLeft")
    stage.wait(0)
    rows = stage.root.locator("button.gv-row:visible")
    assert rows.count() == 9
    legal = [i for i in range(rows.count()) if "gv-struck" not in rows.nth(i).get_attribute("class")]
    other = next(i for i in legal if "gv-chosen" not in rows.nth(i).get_attribute("class"))
    press(str(other + 1))
    stage.wait_words("put in by you")
    press("r")
    stage.wait(0)
    press("Space")
    stage.root.locator("[data-name='pause']").wait_for()
    press("Space")
    stage.wait_paused()


def test_scrubbing_along_the_bars(bare):
    stage = bare.show_stage(free(steps=30))
    stage.look("bars", "odds")
    bars = stage.root.locator(".gv-timebars i")
    first, last = bars.nth(3).bounding_box(), bars.nth(20).bounding_box()
    bare.page.mouse.move(first["x"] + 3, first["y"])
    bare.page.mouse.down()
    stage.wait(3)
    bare.page.mouse.move(last["x"] + 3, first["y"], steps=10)
    bare.page.mouse.up()
    stage.wait(20)
    assert stage.words.startswith("step 20 of 30")


def test_pause_stops_within_one_step(bare):
    live = gv.stage(toy_model(slow=0.1, end=False), "say ")
    stage = bare.show_stage(live)
    stage.root.get_by_role("slider", name="speed").fill("6")
    stage.press("play")
    stage.wait_past(2)
    stage.press("pause")
    stage.wait_paused()
    cursor = stage.cursor
    bare.wait(lambda: not live._runner._one_at_a_time.locked())
    bare.page.wait_for_timeout(300)  # three steps' time
    assert stage.cursor <= cursor + 1


@pytest.mark.timed
def test_steps_at_full_speed_are_painted_in_order(bare, capsys):
    taken = []

    def timed(tokens):
        taken.append(time.time())
        return rule(tokens, end=False)

    stage = bare.show_stage(gv.stage(gv.ToyModel(PIECES, timed, eos={0}), "say ", max_tokens=100))
    stage.root.get_by_role("slider", name="speed").fill("6")
    stage.watch()
    stage.press("play")
    stage.wait(100, 60)
    bare.page.wait_for_function("window.seen.at(-1)[0] === 100")
    seen = bare.page.evaluate("window.seen")
    painted, late = 1000 * (len(seen) - 1) / (seen[-1][1] - seen[0][1]), seen[-1][1] - 1000 * taken[-1]
    with capsys.disabled():
        print(f"\n  {painted:.0f} steps/s painted; the last {late:.0f} ms late")
    assert [step for step, *_ in seen] == sorted(step for step, *_ in seen)


def test_an_error_is_shown_and_the_stage_lives(bare):
    def broken(tokens):
        if len(tokens) == 4:
            raise gv.ModelError("toy", seen="out of memory", hint="a smaller model")
        return rule(tokens, end=False)

    stage = bare.show_stage(gv.stage(gv.ToyModel(PIECES, broken, eos={0}), "say "))
    stage.press("play")
    stage.root.locator(".gv-note:has-text('out of memory')").wait_for()
    stage.wait_paused()
    stage.go_back(1)  # the page moves at once, and the note goes with the kernel's answer
    stage.root.locator(".gv-note").first.wait_for(state="hidden")


def test_the_menu_saves_what_this_run_has(bare):
    stage = bare.show_stage(guided(steps=3))
    name, page = stage.save("run", "page")
    assert name == "run.html"
    assert page.startswith(b"<!doctype html>")
    name, picture = stage.save("map", "PNG")
    assert name == "map.png"
    assert picture.startswith(b"\x89PNG")
    assert stage.root.locator("[aria-label='machine as SVG'], [aria-label='stack picture as SVG']").count() == 0


def test_the_panels_fit_one_screen_and_tabs_choose_one_beside_the_next_token(bare):
    guide = gv.guide(gv.json(), toy_model().vocabulary)
    stage = bare.show_stage(gv.stage(toy_model(), "say ", guide, steps=3))
    for width, height in ((950, 620), (1280, 720), (1920, 1080)):
        bare.page.set_viewport_size({"width": width, "height": height})
        box = stage.root.bounding_box()
        assert box["height"] <= max(480, height - 100)
        assert stage.root.evaluate("root => root.scrollHeight <= root.clientHeight + 1"), "nothing is cut off"
    assert stage.root.locator(".gv-panels").get_attribute("data-tab") == "machine"
    assert stage.root.locator("[data-part='stack']").is_visible(), "the stack stands beside its machine"
    stage.tab("map")
    assert stage.root.locator("[data-part='map']").is_visible()
    assert not stage.root.locator("[data-part='machine']").is_visible()
    again = bare.show_stage(gv.stage(toy_model(), "say ", guide))
    assert again.root.locator(".gv-panels").get_attribute("data-tab") == "map", "it is remembered"


def test_the_stage_is_as_high_at_every_step(bare):
    stage = bare.show_stage(guided())
    high = stage.root.bounding_box()["height"]
    stage.run_to_end()
    stage.root.locator(".gv-row.gv-struck").first.click()
    assert stage.root.bounding_box()["height"] == high


def test_full_screen_has_large_type_and_escape_leaves_it(bare):
    stage = bare.show_stage(guided(steps=2))
    stage.root.focus()
    bare.page.keyboard.press("f")
    bare.page.wait_for_function("document.fullscreenElement !== null")
    large = "document.querySelector('.gv-lecture .gv-chip .gv-name')?.getBoundingClientRect().height > 30"
    bare.page.wait_for_function(large)
    bare.shot("stage-lecture")
    bare.page.keyboard.press("f")
    bare.page.wait_for_function("!document.fullscreenElement && !document.querySelector('.gv-lecture')")


def test_a_lost_kernel_is_said_also_when_its_last_message_comes_after(bare):
    stage = bare.show_stage(guided())
    stage.go_on(1)
    stage.wait_ready()  # the last message has the next distribution, so it may be heard again
    bare.page.evaluate("() => { hear(heard); lose(); hear(heard); }")
    bare.page.wait_for_timeout(100)  # all frames are painted
    assert "The kernel was restarted" in stage.root.locator(".gv-note").first.inner_text()


def test_a_dead_end_is_said(bare):
    stage = bare.show_stage(guided([b"{z"], steps=3))
    assert "dead end" in stage.words


def test_what_a_notebook_keeps_is_shown_without_a_kernel(bare):
    live = guided(steps=3)
    json.dumps(live.display.widget.saved)
    bare.page.clock.install()
    root = bare.reopen(live)
    assert root.get_attribute("data-cursor") == "3"
    bare.page.clock.run_for(2600)
    root.locator(".gv-note:has-text('The kernel does not answer')").wait_for()
    live.display.close()


def test_light_dark_and_narrow(bare):
    stage = bare.show_stage(guided(steps=7))
    looks = set()
    for theme in ("Light", "Dark"):
        bare.theme(theme)
        looks.add(stage.root.evaluate("root => getComputedStyle(root).backgroundColor"))
        bare.shot(f"stage-{theme.lower()}", stage.root)
    assert len(looks) == 2
    bare.narrow(620)
    assert stage.root.evaluate("root => root.scrollWidth <= root.clientWidth + 1"), "nothing sticks out"
    bare.shot("stage-narrow", stage.root)


def test_a_recording_replays(bare):
    model = toy_model()
    trace = gv.record(model, "say ", WordsGuide(model.vocabulary), seed=3)
    stage = bare.show_stage(gv.stage(replace(trace, source="RECORDED")))
    assert "RECORDED" in stage.root.locator(".gv-badge").inner_text()
    stage.go_on(1)
    stage.run_to_end()
    assert "ended" in stage.words
    assert stage.root.get_by_role("slider", name="temperature").is_disabled()


# Every property that JavaScript can read of every element that is seen.
LOOKS = """root => [root, ...root.querySelectorAll("*")].map((node) => {
  const style = getComputedStyle(node);
  const names = ["display", "width", "height", "color", "margin", "padding", "border", "background", "font", "position",
    "opacity", "gridArea", "minHeight", "minWidth"];
  return [node.className.baseVal ?? node.className, ...names.map((name) => style[name])].join(" | ");
})"""


def test_the_style_of_one_widget_leaves_the_others_alone(bare):
    bare.page.emulate_media(reduced_motion="reduce")  # nothing may be on its way when it is measured
    machine = gv.json()
    vocabulary = toy_model().vocabulary
    number = gv.guide(gv.regex("[0-9]+"), vocabulary)
    widgets = [
        gv.film(gv.views.minimal_frames("(ab|cb)d?")),
        gv.stage(toy_model(), "say ", gv.guide(machine, vocabulary), steps=5, edit=True),
        gv.vocabulary_map(number),
        gv.token_table(number),
        gv.folded(gv.regex("abc[0-9]")),
    ]
    before = []
    for widget in widgets:
        root = bare.show(widget)
        bare.wait(lambda widget=widget: hasattr(widget, "reel") or widget.display.widget._answered)
        before.append((root, root.evaluate(LOOKS)))
    styles = {widget.display.widget.kind: widget.display.widget.code.style for widget in reversed(widgets)}
    for style in styles.values():
        bare.page.add_style_tag(content=style)
    for root, looks in before:
        assert root.evaluate(LOOKS) == looks


def test_the_styles_of_a_widget_that_comes_later_leave_the_stage_as_it_was(bare):
    stage = bare.show_stage(guided([b"a", b"b"], steps=2))
    bare.show(gv.film(gv.views.minimal_frames("ab")))
    style = "(nodes, name) => getComputedStyle(nodes[0])[name]"
    assert stage.root.locator(".gv-prompt").evaluate_all(style, "whiteSpace") == "pre-wrap"
    assert stage.root.locator(".gv-ask svg").evaluate_all(style, "fill") == "none"
