"""The machine and its stack on a bare page: they move byte by byte, and what the pointer is on is lit everywhere."""

import zlib

import numpy as np
import pytest

import guidedviz as gv
from tests.browser.bare import middle

pytestmark = pytest.mark.browser

PIECES = [b"<eos>", *(bytes([i]) for i in range(32, 127)), b'{"', b'":', b'"}}', b'"}', b"}}", b"]}", b"[{", b'","']
PIECES += [b' "', b"<img src=x onerror=window.hacked=1>", b"key", b"true", b"42", b", "]
PAIR = (b"key", b'":')
NESTED = (b'{"', *PAIR, b"[{", b'"', *PAIR, b'{"', *PAIR, b'"', b"key", b'"}}', b"]}")


def rule(tokens):
    return np.random.default_rng(zlib.crc32(repr(list(tokens)[-6:]).encode())).normal(0, 2.0, len(PIECES))


LETTERS = """slot => Math.min(...[...slot.querySelectorAll(".gv-sheets > svg:first-child text")]
  .filter((one) => one.textContent)
  .map((one) => parseFloat(getComputedStyle(one).fontSize) * one.getScreenCTM().a))"""


def says(*pieces):
    def choose(tokens):
        place = len(tokens) - 4
        wanted = pieces[place] if place < len(pieces) else b"<eos>"
        return [9.0 if piece == wanted else 6.0 if piece == b"]}" else 0.0 for piece in PIECES]

    return gv.ToyModel(PIECES, choose, eos={0})


def show(bare, machine=None, model=None, **settings):
    """A stage of nested JSON beside a file browser, where no other machine is given."""
    machine = machine or gv.json()
    model = model or says(*NESTED)
    guide = gv.guide(machine, model.vocabulary)
    bare.resize(931, 768)
    live = gv.stage(model, "say ", guide, **{"temperature": 0, "max_tokens": 40, **settings})
    stage = bare.show_stage(live)
    return live, stage, stage.root.locator("[data-slot='machine']")


def frames(slot):
    """The rules on the page, innermost first."""
    return list(slot.locator(".gv-stack-column b").all_text_contents())


@pytest.mark.parametrize("size", [(931, 768), (1280, 720), (390, 844)])
@pytest.mark.slow
def test_the_ground_keeps_its_place_and_the_open_rules_pile_upward_from_it(bare, size):
    _, stage, slot = show(bare)
    bare.resize(*size)
    if size[0] < 640:
        stage.tab("machine")
    grounds = set()
    for _ in range(14):
        stage.go_on(1)
        bare.page.wait_for_timeout(60)
        scene, row = (slot.locator(part).bounding_box() for part in (".gv-scene", "[data-part='rule']"))
        cards = [card.bounding_box() for card in slot.locator(".gv-stack-column > :visible").all()]
        grounds.add(scene["y"] + scene["height"])
        tops = [card["y"] for card in cards]
        assert tops == sorted(tops), "the innermost frame is on top"
        assert tops[-1] < max(grounds) < tops[-1] + cards[-1]["height"] + 10, "the outermost lies on the ground"
        assert tops[0] == pytest.approx(row["y"] + row["height"], abs=2), "the innermost is the head of its row"
        assert row["height"] >= 75
    assert len(grounds) == 1


@pytest.mark.slow
def test_of_a_deep_stack_the_caller_and_four_edges_are_shown_and_the_strips_say_how_deep_it_is(bare):
    model = gv.ToyModel(PIECES, lambda tokens: [9.0 * (piece == b"[{") for piece in PIECES], eos={0})
    deep = gv.grammar('root ::= "(" root ")" | "[" root "]" | "{" root "}" | "x"')
    _, _, slot = show(bare, deep, model, max_tokens=80, steps=60)
    heights = [card.bounding_box()["height"] for card in slot.locator(".gv-stack-column > :visible").all()]
    strips = heights.count(18)
    assert strips >= 1
    assert heights == [28] + [18] * strips + [8] * 4, "the head, thin strips, and edges"
    assert slot.locator(".gv-top small").inner_text() == "120"
    assert slot.locator(".gv-ground").inner_text() == f"… {119 - strips} below"
    edge = slot.locator(".gv-edge:visible").last
    words = "node => getComputedStyle(node, '::after').content"
    assert edge.evaluate(words) == "none"
    edge.hover(force=True)
    assert "root then" in edge.evaluate(words), "pointing at an edge shows its words"
    bare.page.mouse.move(2, 2)
    edge.focus()
    bare.page.keyboard.press("Shift+Tab")
    bare.page.keyboard.press("Tab")
    assert "root then" in edge.evaluate(words), "and so does the key that reaches it"


def test_a_grammar_that_fits_is_shown_whole_without_chips_of_rules(bare):
    small = gv.grammar('root ::= "[" root "]" | "x"')
    _, _, slot = show(bare, small, says(b"[", b"[", b"x", b"]", b"]"), steps=4)
    assert slot.locator(".gv-rule-chip").count() == 0
    assert slot.locator(".gv-diagram").get_attribute("data-size") == "whole"


def test_one_rule_is_a_large_row_and_a_chip_shows_another_one(bare):
    _, stage, slot = show(bare, steps=8)
    sheet = slot.locator(".gv-sheets > svg").first
    chosen = slot.locator(".gv-rule-chip[aria-pressed='true']")
    active = frames(slot)[0]
    assert slot.locator(".gv-rule-chip[aria-current]").inner_text() == active
    assert f"rule {active};" in sheet.get_attribute("aria-label")
    assert slot.locator(".gv-diagram").get_attribute("data-size") == "whole", "no rule is cut"
    assert slot.evaluate(LETTERS) >= 11
    slot.get_by_role("button", name="number", exact=True).click()
    assert chosen.all_inner_texts() == ["number"]
    assert "rule number;" in sheet.get_attribute("aria-label")
    assert frames(slot)[0] == active != "number", "the stack stays as it is"
    assert slot.locator(".gv-top .gv-waits").inner_text() == "shown below: number"
    stage.go_on(1)
    assert chosen.all_inner_texts() == [frames(slot)[0]], "the next step shows the active rule again"


# --- a finite machine ---

DECIMAL = "[0-9]+([.][0-9]+)?x?", b"42", b".", b"1", b"42", b"x"


def machine_of(bare, regex, *pieces, **settings):
    return show(bare, gv.regex(regex), says(*pieces), **settings)


def test_machine_and_stack_move_with_the_steps_and_go_back(bare):
    """What is lit and on top, against the machine itself; `stage.test.js` holds that what stays is the same node."""
    live, stage, slot = show(bare)
    machine = live.guide.machine
    live.take(14)
    states = [live.player.point(cursor).state for cursor in range(15)]
    for cursor in (*range(13, -1, -1), *range(1, 15)):
        stage.root.get_by_role("slider", name="step").fill(str(cursor))
        stage.wait(cursor)
        assert frames(slot) == list(machine.stack(states[cursor]))
        assert set(stage.lit()) <= set(machine.places(states[cursor]))


@pytest.mark.slow
def test_what_the_pointer_is_on_is_lit_in_the_other_panels(bare):
    live, stage, slot = machine_of(bare, *DECIMAL, steps=5)
    paths = [live.guide.path(live.player.point(at).state, step.token) for at, step in enumerate(live.player.steps)]
    now = stage.lit()
    stage.root.locator(".gv-chip").nth(1).hover()
    assert stage.lit() == [paths[1][-1]], "the path of that token"
    bare.page.mouse.move(2, 2)
    assert stage.lit() == now
    slot.locator(f".gv-sheets > svg:not(.gv-over) [data-state='{paths[1][-1]}'] .gv-disc").hover(force=True)
    linked = stage.root.locator(".gv-chip").evaluate_all("chips => chips.map(c => c.classList.contains('gv-linked'))")
    assert linked == [paths[1][-1] in path for path in paths]


def test_a_film_needs_no_kernel_says_something_else_in_each_frame_and_its_frames_are_saved(bare):
    film = bare.reopen(gv.film(gv.views.minimal_frames("(ab|cb)d?"), title="minimise"))
    frames = int(film.locator(".gv-about .gv-soft").inner_text().split()[-1])
    words = set()
    for frame in range(frames):
        film.get_by_role("slider", name="frame").fill(str(frame))
        bare.page.wait_for_selector(f".gv-film[data-frame='{frame}']")
        words.add(film.locator(".gv-film-words").inner_text())
    assert len(words) == frames
    film.locator(".gv-save-key").click()
    with bare.page.expect_download() as found:
        film.locator(".gv-save-menu").get_by_text("SVG", exact=True).click()
    assert found.value.suggested_filename == "frame.svg"


def test_what_a_walk_has_cut_keeps_its_colour_where_the_style_of_machines_is_loaded_again(bare):
    """In JupyterLab the style of another picture comes after that of the film."""
    film = bare.reopen(gv.film(gv.views.trie_frames(gv.regex("3+"), gv.Vocabulary([b"3", b"33", b".", b".5"])), show=1))
    style = "<style>.gv-machine .gv-disc { stroke: black; }</style>"
    bare.page.evaluate("style => document.body.insertAdjacentHTML('beforeend', style)", style)
    colours = film.locator(".gv-cut .gv-disc").evaluate_all("all => all.map((disc) => getComputedStyle(disc).stroke)")
    assert set(colours) == {"rgb(138, 14, 87)"}


# --- a rule is called ---

SCENES = """slot => [...slot.querySelectorAll(".gv-calls > *")].flatMap((node) => {
  const style = getComputedStyle(node);
  const { x, y, width, height } = node.getBoundingClientRect();
  const strip = node.matches(".gv-frame-card");
  if (style.visibility === "hidden" || Number(style.opacity) < 0.05 || !height) return [];
  return [{ rule: node.querySelector("b").textContent, strip, x, y, width, height }];
})"""
DISCS = """slot => {
  const seen = (svg) => svg.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const last = [...slot.querySelectorAll(".gv-sheets > svg:not(.gv-over)")].filter(seen).at(-1);
  const places = [...last.querySelectorAll(".gv-disc")].map((node) => {
    const { x, y } = node.getBoundingClientRect();
    return [Math.round(x), Math.round(y)];
  });
  const isFirst = ([x, y], at) => places.findIndex(([left, top]) => left === x && top === y) === at;
  return places.filter(isFirst); // a lit copy stands on its state
}"""


def begin(bare, stage, cursor):
    """Stand at a step; from now on the page moves, and what begins to move is held."""
    stage.root.get_by_role("slider", name="step").fill(str(cursor))
    stage.wait(cursor)
    bare.move()
    bare.hold()


def step_on(stage, cursor):
    stage.root.press("ArrowRight")
    stage.wait(cursor)


def moving(bare, width=931):
    """A page with [{ whose next token, a quote, calls a member and a string, and is on its way."""
    _, stage, slot = show(bare, steps=14)
    bare.resize(width, 768)
    if width < 640:
        stage.tab("machine")
    begin(bare, stage, 4)
    step_on(stage, 5)
    slot.locator(".gv-calls").wait_for(state="attached")
    return stage, slot


def scenes(bare, slot, time):
    """The boxes of rules at a time of the motion, and the names on strips."""
    bare.seek(time)
    found = slot.evaluate(SCENES)
    return {one["rule"]: one for one in found if not one["strip"]}, [one["rule"] for one in found if one["strip"]]


def test_the_called_box_grows_into_the_row_while_its_caller_shrinks_into_a_strip(bare):
    _, slot = moving(bare)
    rows, strips = scenes(bare, slot, 240)
    caller = rows.pop("object")
    assert rows == {}
    bare.seek(500)
    lit = slot.locator(".gv-row-sheet").first.locator(".gv-call.gv-open")
    assert lit.count() == 2, "ws, which reads nothing here, and member"
    assert lit.locator("..").first.evaluate("node => getComputedStyle(node).opacity") == "1"
    rows, _ = scenes(bare, slot, 620)
    called = rows["member"]
    assert called["height"] < 0.75 * caller["height"]
    assert rows["object"]["height"] < caller["height"], "its caller shrinks"
    assert caller["y"] - 1 <= called["y"]
    assert called["y"] + called["height"] <= caller["y"] + caller["height"] + 1, "it stays under the eye"
    rows, after = scenes(bare, slot, 1800)
    assert list(rows) == ["string"]
    assert after == [*strips, "object", "member"], "the callers wait above"
    last = rows["string"]
    ends = slot.evaluate(DISCS)
    bare.land()
    slot.locator(".gv-calls").wait_for(state="detached")
    row = slot.locator("[data-part='rule']").bounding_box()
    head = slot.locator(".gv-top").bounding_box()
    assert row["y"] == pytest.approx(last["y"], abs=1)
    assert head["y"] + head["height"] == pytest.approx(last["y"] + last["height"], abs=1)
    assert slot.evaluate(DISCS) == ends, "the view does not jump when the motion ends"


@pytest.mark.slow
def test_a_phone_which_shows_no_bars_beside_the_machine_shows_the_call_too(bare):
    _, slot = moving(bare, 390)
    assert list(scenes(bare, slot, 240)[0]) == ["object"]
    rows, strips = scenes(bare, slot, 1800)
    assert list(rows) == ["string"]
    assert strips[-2:] == ["object", "member"]


def test_a_byte_slides_along_the_arrow_of_the_rule_that_reads_it(bare):
    stage, slot = moving(bare)
    bare.seek(1470)  # two calls have ended, and the byte begins
    start = slot.locator(".gv-row-sheet").last.locator(".gv-state:not(.gv-dot) .gv-disc").first
    byte = stage.root.locator("[data-move='byte0']")
    assert middle(byte) == pytest.approx(middle(start), abs=3)


@pytest.mark.slow
def test_a_step_back_is_the_reverse_and_without_motion_only_the_end_is_shown(bare):
    stage, slot = moving(bare)
    bare.land()
    slot.locator(".gv-calls").wait_for(state="detached")
    bare.hold()
    stage.root.press("ArrowLeft")
    stage.wait(4)
    slot.locator(".gv-calls").wait_for(state="attached")
    rates = "held.filter((one) => one.effect.target.closest('.gv-calls')).map((one) => one.playbackRate < 0)"
    assert set(bare.page.evaluate(rates)) == {True}
    bare.be_still()
    stage.go_on(2)
    assert slot.locator(".gv-calls").count() == 0


@pytest.mark.slow
def test_the_view_does_not_jump_where_a_token_leaves_a_rule_and_comes_back(bare):
    row = (b'{"', b"true", b'{"', b"42")
    rules = 'root ::= ("{" quote ("true" | "key") "{" quote ("42" | "x"))+\nquote ::= "\\"" | "(" quote ")"'
    _, stage, slot = show(bare, gv.grammar(rules), says(*row, *row), steps=8)
    begin(bare, stage, 0)
    for cursor in range(1, 8):
        before = slot.evaluate(DISCS)
        step_on(stage, cursor)
        bare.seek(0)
        assert slot.evaluate(DISCS) == before
        if cursor % 2:
            assert slot.locator(".gv-row-sheet b").all_inner_texts() == ["root", "quote", "root"]
        bare.seek(1e6)
        end = slot.evaluate(DISCS)
        bare.land()
        slot.locator(".gv-calls").wait_for(state="detached")
        assert slot.evaluate(DISCS) == end


@pytest.mark.slow
def test_the_view_of_a_large_finite_machine_moves_once_per_token_and_never_jumps(bare):
    words = (b"key", b", ", b"true", b", ", b"42", b", ", b"key")
    large = gv.regex("(key|true|42)(, (key|true|42)){5}")
    _, stage, slot = show(bare, large, says(*words), steps=7)
    begin(bare, stage, 0)
    assert slot.locator(".gv-diagram").get_attribute("data-size") == "close"
    moves = set()
    for cursor in range(1, 8):
        before = slot.evaluate(DISCS)
        step_on(stage, cursor)
        bare.seek(0)
        assert slot.evaluate(DISCS) == before
        running = "held.filter((one) => one.playState === 'paused' && one.effect.target.matches('.gv-sheets')).length"
        moves.add(bare.page.evaluate(running))
        bare.land()
    assert moves == {0, 1}
