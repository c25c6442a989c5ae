"""The machine and its stack on a bare page: they move byte by byte, and what the pointer is on is lit everywhere."""

import zlib
from itertools import pairwise

import numpy as np
import pytest

import guidedviz as gv
from tests.browser.test_motion import HOLD, SEEK

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
    """A stage of nested JSON, where no other machine is given; nothing moves unless `bare` is told so."""
    machine, model = machine or gv.json(), model or says(*NESTED)
    guide = gv.guide(machine, model.vocabulary)
    live = gv.stage(model, "say ", guide, **{"temperature": 0, "max_tokens": 40, **settings})
    stage = bare.show_stage(live)
    return live, stage, stage.root.locator("[data-slot='machine']")


@pytest.fixture
def still(bare):
    """A page of a person who wants no motion: the stack does not walk through the bytes of a token."""
    bare.page.emulate_media(reduced_motion="reduce")
    return bare


def frames(slot):
    """The rules on the page, innermost first."""
    return list(slot.locator(".gv-stack-column b").all_text_contents())


def test_frames_are_pushed_and_popped_and_back_restores_them(still):
    live, stage, slot = show(still)
    seen = [frames(slot)]
    assert seen == [["root"]]
    slot.locator(".gv-stack-column > *").evaluate("node => node.id = 'the-root'")
    for _ in range(14):
        stage.go_on(1)
        seen.append(frames(slot))
    states = [live.player.point(cursor).state for cursor in range(15)]
    assert seen == [list(live.guide.machine.stack(state)) for state in states]
    assert max(map(len, seen)) == 7
    assert slot.locator("#the-root b").text_content() == "root", "what stays is the same node"
    for step in range(13, -1, -1):
        stage.go_back(1)
        assert frames(slot) == seen[step]


@pytest.mark.parametrize("size", [(931, 768), (1280, 720), (390, 844)])
@pytest.mark.slow
def test_the_ground_keeps_its_place_and_the_open_rules_pile_upward_from_it(still, size):
    _, stage, slot = show(still, steps=14)
    still.page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
    if size[0] < 640:
        stage.tab("machine")
    stage.press("go to the prompt")
    stage.wait(0)
    cards, row = slot.locator(".gv-stack-column > *"), slot.locator("[data-part='rule']")
    grounds, depths, sizes = set(), set(), set()
    for _ in range(14):
        stage.go_on(1)
        still.page.wait_for_timeout(60)
        scene = slot.locator(".gv-scene").bounding_box()
        ground = scene["y"] + scene["height"]
        boxes = [card.bounding_box() for card in cards.all() if card.is_visible()][::-1]
        grounds.add(ground)
        depths.add(cards.count())
        sizes |= {round(box["height"]) for box in boxes}
        assert all(box["y"] > next_box["y"] for box, next_box in pairwise(boxes)), "the innermost frame is on top"
        assert ground - 10 < boxes[0]["y"] + boxes[0]["height"] < ground, "the outermost lies on the ground"
        head, inside = boxes[-1], row.bounding_box()
        assert abs(head["y"] - inside["y"] - inside["height"]) <= 2, "the innermost is the head of its row"
        assert inside["height"] >= 75
    assert (len(grounds), max(depths)) == (1, 7)
    assert sizes <= {28, 8}, "a frame is a strip, or an edge"


@pytest.mark.slow
def test_of_a_deep_stack_the_caller_and_four_edges_are_shown_and_the_strips_say_how_deep_it_is(still):
    model = gv.ToyModel(PIECES, lambda tokens: [9.0 * (piece == b"[{") for piece in PIECES], eos={0})
    deep = gv.grammar('root ::= "(" root ")" | "[" root "]" | "{" root "}" | "x"')
    _, stage, slot = show(still, deep, model, max_tokens=80, steps=60)
    still.page.set_viewport_size({"width": 931, "height": 768})
    for depth in (120, 118):
        still.page.wait_for_timeout(120)
        cards = [card.bounding_box()["height"] for card in slot.locator(".gv-stack-column > :visible").all()]
        assert cards[:2] == [28, 28]
        assert cards[cards.count(28) :] == [8] * 4
        assert slot.locator(".gv-top small").inner_text() == str(depth)
        assert slot.locator(".gv-ground").inner_text() == f"… {depth - 2} more"
        edge = slot.locator(".gv-edge:visible").last
        words = "node => getComputedStyle(node, '::after').content"
        assert edge.evaluate(words) == "none"
        edge.hover(force=True)
        assert "root then" in edge.evaluate(words), "pointing at an edge shows its words"
        still.page.mouse.move(2, 2)
        edge.focus()
        still.page.keyboard.press("Shift+Tab")
        still.page.keyboard.press("Tab")
        assert "root then" in edge.evaluate(words), "and so does the key that reaches it"
        stage.go_back(1)


def test_a_second_stack_stands_beside_the_first_from_the_strip_on_that_it_leaves(still):
    _, stage, slot = show(still, model=says(b"[{", b'"', *PAIR, b"42"), steps=5)
    still.page.set_viewport_size({"width": 931, "height": 768})
    assert slot.locator(".gv-top b").first.inner_text() == "number"
    (beside,) = slot.locator(".gv-beside-stack").all()
    assert beside.inner_text().split() == ["object", "3", "now", ",", "or", "}"], "the number may have ended"
    still.wait(lambda: beside.bounding_box()["height"] == 28)
    (first,) = slot.locator(".gv-stack-column:first-of-type [data-frame]:nth-child(2)").all()
    one, other = first.bounding_box(), beside.bounding_box()
    assert one["y"] == other["y"]
    assert one["x"] + one["width"] <= other["x"]
    assert one["width"] == pytest.approx(other["width"], abs=8)
    stage.go_back(1)
    assert slot.locator(".gv-beside-stack").count() == 0


def test_a_grammar_that_fits_is_shown_whole_and_does_not_move(still):
    small = gv.grammar('root ::= "[" root "]" | "x"')
    _, stage, slot = show(still, small, says(b"[", b"[", b"x", b"]", b"]"))
    still.page.set_viewport_size({"width": 931, "height": 768})
    places = set()
    for _ in range(4):
        stage.go_on(1)
        still.page.wait_for_timeout(60)
        box = slot.locator(".gv-sheets").bounding_box()
        places.add((box["x"], box["y"], box["width"]))
    assert len(places) == 1
    assert slot.locator(".gv-rule-chip").count() == 0
    assert slot.locator(".gv-diagram").get_attribute("data-size") == "whole"


def test_one_rule_is_a_large_row_and_a_chip_shows_another_one(still):
    _, stage, slot = show(still, steps=12)
    still.page.set_viewport_size({"width": 931, "height": 768})
    for _ in range(4):
        still.page.wait_for_timeout(60)
        active = frames(slot)[0]
        assert slot.locator(".gv-rule-chip[aria-current]").inner_text() == active
        assert f"rule {active};" in slot.locator(".gv-sheets > svg").first.get_attribute("aria-label")
        assert slot.locator(".gv-diagram").get_attribute("data-size") == "whole", "no rule is cut, and no view moves"
        assert slot.evaluate(LETTERS) >= 0.85 * 14
        stage.go_back(1)
    slot.get_by_role("button", name="number", exact=True).click()
    chips = slot.locator(".gv-rule-chip[aria-pressed='true']")
    assert chips.all_inner_texts() == ["number"]
    assert "rule number;" in slot.locator(".gv-sheets > svg").first.get_attribute("aria-label")
    assert frames(slot)[0] != "number", "the stack stays as it is"
    assert slot.locator(".gv-top .gv-waits").inner_text() == "shown below: number"
    stage.go_on(1)
    assert chips.all_inner_texts() == [frames(slot)[0]], "the next step shows the active rule again"


# --- a finite machine ---

DECIMAL = "[0-9]+([.][0-9]+)?x?", b"42", b".", b"1", b"42", b"x"


def machine_of(bare, regex, *pieces, **settings):
    live, stage, _ = show(bare, gv.regex(regex), says(*pieces), **settings)
    return live, stage, stage.root.locator("[data-slot='machine']")


def test_the_machine_moves_byte_by_byte_with_the_steps_and_goes_back(bare):
    live, stage, slot = machine_of(bare, *DECIMAL)
    arrows = "nodes => nodes.map(n => [n.dataset.arrow, n.querySelector('.gv-nth')?.textContent ?? ''])"

    def lit():
        return stage.lit(), dict(slot.locator(".gv-arrow.gv-on").evaluate_all(arrows))

    seen = [lit()]
    assert seen[0] == ([0], {})
    for cursor in range(5):
        stage.go_on(1)
        path = live.guide.path(live.player.point(cursor).state, live.player.steps[cursor].token)
        seen.append(lit())
        assert seen[-1][0] == [path[-1]], "the lit state is where the step led"
        assert set(seen[-1][1]) == {f"{a}-{b}" for a, b in pairwise(path)}, "and its edges are lit"
    assert seen[1][1] == {"0-1": "1", "1-1": "2"}, "the bytes inside a token are numbered"
    bare.shot("machine-stage", stage.root)
    for step in (4, 3, 2, 1, 0):
        stage.go_back(1)
        assert lit() == seen[step], "and it goes back"


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


def test_why_walks_to_the_state_where_the_token_died(bare):
    _, stage, slot = machine_of(bare, "k?ey|kex", b"k", b"e", b"y")
    stage.root.locator("button.gv-row:has(.gv-name:text-is('key'))").wait_for(state="attached")
    stage.root.locator("button.gv-row:has(.gv-name:text-is(']}'))").click()
    stage.root.locator(".gv-why").wait_for()
    cross = slot.locator(".gv-cross")
    cross.wait_for()
    (died,) = stage.lit()
    assert cross.evaluate("node => node.textContent") == "]"
    assert f"in q{died} ·" in stage.root.locator(".gv-why").inner_text()
    stage.go_on(1)
    assert cross.count() == 0


def test_a_film_runs_forward_and_back_without_a_kernel_and_its_frames_are_saved(bare):
    bare.page.emulate_media(reduced_motion="reduce")
    film = bare.reopen(gv.film(gv.views.minimal_frames("(ab|cb)d?"), title="minimise"))
    frames = int(film.locator(".gv-about .gv-soft").inner_text().split()[-1])
    words = [film.locator(".gv-film-words").inner_text()]

    def wait(frame):
        bare.page.wait_for_selector(f".gv-film[data-frame='{frame}']")

    for frame in range(1, frames):
        film.get_by_role("button", name="one frame on").click()
        wait(frame)
        words.append(film.locator(".gv-film-words").inner_text())
    assert len(set(words)) == frames, "every frame says something else"
    bare.shot("film-last", film)
    bare.page.keyboard.press("Home")
    wait(0)
    film.get_by_role("slider", name="frame").fill(str(frames - 1))
    wait(frames - 1)
    film.locator(".gv-save-key").click()
    with bare.page.expect_download() as found:
        film.locator(".gv-save-menu").get_by_text("SVG", exact=True).click()
    assert found.value.suggested_filename == "frame.svg"
    bare.page.keyboard.press("Escape")
    film.focus()
    bare.page.keyboard.press("Home")
    film.get_by_role("button", name="play").click()
    wait(1)


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


def moving(bare, step, width=931):
    """A page that moves, after a step whose token is on its way."""
    _, stage, slot = show(bare, steps=14)
    bare.page.set_viewport_size({"width": width, "height": 768})
    if width < 640:
        stage.tab("machine")
    stage.press("go to the prompt")
    stage.wait(0)
    for _ in range(step):
        stage.go_on(1)
    bare.page.emulate_media(reduced_motion="no-preference")
    bare.page.evaluate(HOLD)
    stage.root.press("ArrowRight")
    stage.wait(step + 1)
    slot.locator(".gv-calls").wait_for(state="attached")
    return stage, slot


def scenes(bare, slot, time):
    bare.page.evaluate(SEEK, time)
    found = slot.evaluate(SCENES)
    return [one for one in found if not one["strip"]], [one["rule"] for one in found if one["strip"]]


def test_the_called_box_grows_into_the_row_while_its_caller_shrinks_into_a_strip(bare):
    _, slot = moving(bare, 4)  # after [{ comes ", which calls a member and a string
    ((caller,), strips) = scenes(bare, slot, 240)
    assert caller["rule"] == "object"
    lit = slot.locator(".gv-row-sheet").first.locator(".gv-call.gv-open")
    bare.page.evaluate(SEEK, 700)
    assert lit.count() == 2, "ws, which reads nothing here, and member"
    assert lit.locator("..").first.evaluate("node => getComputedStyle(node).opacity") == "1"
    sizes = []
    for time in (830, 920, 1040):
        rows, _ = scenes(bare, slot, time)
        called = next(row for row in rows if row["rule"] == "member")
        sizes.append(called["height"])
        assert caller["y"] - 1 <= called["y"]
        assert called["y"] + called["height"] <= caller["y"] + caller["height"] + 1, "it stays under the eye"
        waits = [row["height"] for row in rows if row["rule"] == "object"]
        assert waits == [] or waits[0] < caller["height"], "its caller shrinks"
    assert sizes == sorted(sizes)
    assert sizes[0] < 0.75 * caller["height"]
    ((last,), after) = scenes(bare, slot, 1800)
    assert last["rule"] == "string"
    assert after == [*strips, "object", "member"], "the callers wait above"
    row, ends = slot.locator("[data-part='rule']"), slot.evaluate(DISCS)
    bare.page.evaluate("held.forEach((one) => one.finish())")
    slot.locator(".gv-calls").wait_for(state="detached")
    box, head = row.bounding_box(), slot.locator(".gv-top").bounding_box()
    assert box["y"] == pytest.approx(last["y"], abs=1)
    assert head["y"] + head["height"] == pytest.approx(last["y"] + last["height"], abs=1)
    assert slot.evaluate(DISCS) == ends, "the view does not jump when the motion ends"


@pytest.mark.slow
def test_a_phone_which_shows_no_bars_beside_the_machine_shows_the_call_too(bare):
    _, slot = moving(bare, 4, 390)
    assert [row["rule"] for row in scenes(bare, slot, 240)[0]] == ["object"]
    rows, strips = scenes(bare, slot, 1800)
    assert [row["rule"] for row in rows] == ["string"]
    assert strips[-2:] == ["object", "member"]


def test_a_byte_slides_along_the_arrow_of_the_rule_that_reads_it(bare):
    stage, slot = moving(bare, 4)
    bare.page.evaluate(SEEK, 1701)  # the picture has slid, two calls have ended, and the byte begins
    row = slot.locator(".gv-row-sheet").last
    discs = row.locator(".gv-state:not(.gv-dot) .gv-disc")
    start = discs.first.bounding_box()
    byte = stage.root.locator("[data-move='byte0']").bounding_box()
    assert byte["x"] + byte["width"] / 2 == pytest.approx(start["x"] + start["width"] / 2, abs=3)
    assert byte["y"] + byte["height"] / 2 == pytest.approx(start["y"] + start["height"] / 2, abs=3)


@pytest.mark.slow
def test_a_step_back_is_the_reverse_and_without_motion_only_the_end_is_shown(bare):
    stage, slot = moving(bare, 4)
    bare.page.evaluate("held.forEach((one) => one.finish())")
    slot.locator(".gv-calls").wait_for(state="detached")
    count = bare.page.evaluate("held.length")
    stage.root.press("ArrowLeft")
    stage.wait(4)
    slot.locator(".gv-calls").wait_for(state="attached")
    rates = (
        "n => held.slice(n).filter((one) => one.effect.target.closest('.gv-calls')).map((one) => one.playbackRate < 0)"
    )
    assert set(bare.page.evaluate(rates, count)) == {True}
    stage.root.press("ArrowRight")
    stage.wait(5)
    bare.page.emulate_media(reduced_motion="reduce")
    stage.go_on(1)
    assert slot.locator(".gv-calls").count() == 0


@pytest.mark.slow
def test_the_view_does_not_jump_where_a_token_leaves_a_rule_and_comes_back(bare):
    row = (b'{"', b"true", b'{"', b"42")
    machine = gv.grammar(
        'root ::= ("{" quote ("true" | "key") "{" quote ("42" | "x"))+\nquote ::= "\\"" | "(" quote ")"'
    )
    _, stage, slot = show(bare, machine, says(*row, *row), steps=8)
    bare.page.set_viewport_size({"width": 931, "height": 768})
    stage.press("go to the prompt")
    stage.wait(0)
    bare.page.emulate_media(reduced_motion="no-preference")
    bare.page.evaluate(HOLD)
    for cursor in range(1, 8):
        before = slot.evaluate(DISCS)
        stage.root.press("ArrowRight")
        stage.wait(cursor)
        bare.page.evaluate(SEEK, 0)
        assert slot.evaluate(DISCS) == before
        if cursor % 2:
            assert slot.locator(".gv-row-sheet b").all_inner_texts() == ["root", "quote", "root"]
        bare.page.evaluate(SEEK, 1e6)
        end = slot.evaluate(DISCS)
        bare.page.evaluate("held.forEach((one) => one.playState !== 'idle' && one.finish())")
        slot.locator(".gv-calls").wait_for(state="detached")
        assert slot.evaluate(DISCS) == end


@pytest.mark.slow
def test_the_view_of_a_large_finite_machine_moves_once_per_token_and_never_jumps(bare):
    words = (b"key", b", ", b"true", b", ", b"42", b", ", b"key")
    large = gv.regex("(key|true|42)(, (key|true|42)){5}")
    _, stage, slot = show(bare, large, says(*words), steps=7)
    bare.page.set_viewport_size({"width": 931, "height": 768})
    stage.press("go to the prompt")
    stage.wait(0)
    assert slot.locator(".gv-diagram").get_attribute("data-size") == "close"
    bare.page.emulate_media(reduced_motion="no-preference")
    bare.page.evaluate(HOLD)
    moves = []
    for cursor in range(1, 8):
        before, count = slot.evaluate(DISCS), bare.page.evaluate("held.length")
        stage.root.press("ArrowRight")
        stage.wait(cursor)
        bare.page.evaluate(SEEK, 0)
        assert slot.evaluate(DISCS) == before
        views = "n => held.slice(n).filter((one) => one.effect.target.matches('.gv-sheets')).length"
        moves.append(bare.page.evaluate(views, count))
        bare.page.evaluate("held.forEach((one) => one.finish())")
    assert set(moves) == {0, 1}
