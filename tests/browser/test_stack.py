"""The machine and its stack on a bare page: they move byte by byte, and what the pointer is on is lit everywhere."""

import zlib
from itertools import pairwise

import numpy as np
import pytest

import guidedviz as gv

pytestmark = pytest.mark.browser

PIECES = [b"<eos>", *(bytes([i]) for i in range(32, 127)), b'{"', b'":', b'"}}', b'"}', b"}}", b"]}", b"[{", b'","']
PIECES += [b' "', b"<img src=x onerror=window.hacked=1>", b"key", b"true", b"42", b", "]
PAIR = (b"key", b'":')
NESTED = (b'{"', *PAIR, b"[{", b'"', *PAIR, b'{"', *PAIR, b'"', b"key", b'"}}', b"]}")


def rule(tokens):
    return np.random.default_rng(zlib.crc32(repr(list(tokens)[-6:]).encode())).normal(0, 2.0, len(PIECES))


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
    return live, stage, stage.root.locator("[data-slot='stack']")


@pytest.fixture
def still(bare):
    """A page of a person who wants no motion: the stack does not walk through the bytes of a token."""
    bare.page.emulate_media(reduced_motion="reduce")
    return bare


def frames(slot):
    """The rules on the page, innermost first, without those that are leaving."""
    return list(slot.locator(".gv-frame-card:not(.gv-popped) b").all_inner_texts())


def test_frames_are_pushed_and_popped_and_back_restores_them(still):
    live, stage, slot = show(still)
    seen = [frames(slot)]
    assert seen == [["root"]]
    slot.locator(".gv-frame-card").evaluate("node => node.id = 'the-root'")
    for _ in range(14):
        stage.go_on(1)
        seen.append(frames(slot))
    states = [live.player.point(cursor).state for cursor in range(15)]
    assert seen == [list(live.guide.machine.stack(state)) for state in states]
    assert max(map(len, seen)) == 7
    assert slot.locator("#the-root b").inner_text() == "root", "what stays is the same node"
    for step in range(13, -1, -1):
        stage.go_back(1)
        assert frames(slot) == seen[step]


# Every picture of the column and the nodes that are lit, as they change.
FOLLOW = """slot => {
  window.seen = [];
  const look = () => {
    const all = (where, css, say) => [...where.querySelectorAll(css)].map(say).join(" ");
    const names = all(slot, ".gv-frame-card:not(.gv-popped) b", (node) => node.textContent);
    const lit = all(document, ".gv-over .gv-state.gv-lit", (node) => node.dataset.state);
    const said = `${names} | ${slot.querySelector(".gv-stack-byte").textContent}`;
    if (window.seen.at(-1)?.[0] !== said) window.seen.push([said, lit]);
    requestAnimationFrame(look);
  };
  look();
}"""


@pytest.mark.slow
def test_the_bytes_of_one_token_are_seen_one_after_another(bare):
    bare.page.emulate_media(reduced_motion="no-preference")
    live, stage, slot = show(bare, steps=12)
    innermost = live.guide.machine.stack(live.player.point(12).state)[0]
    slot.locator(f".gv-frame-card.gv-top b:text-is('{innermost}')").wait_for()
    bare.page.evaluate(FOLLOW, slot.element_handle())
    stage.go_on(1)
    assert stage.tokens[-1] == '"}}'
    bare.page.wait_for_function("window.seen.length >= 4")
    seen = bare.page.evaluate("window.seen")
    said = [words for words, _ in seen]
    assert [words.split(" | ")[1] for words in said[-3:]] == ['" read', "} read", "} read"]
    depths = [len(words.split(" | ")[0].split()) for words in said[-3:]]
    assert depths == sorted(depths, reverse=True), "popped one after another"
    assert depths[0] > depths[-1]
    assert len({lit for _, lit in seen[-3:]}) > 1, "and the machine moves with them"
    bare.shot("stack-token", stage.root)


@pytest.mark.parametrize("size", [(931, 768), (1280, 720), (390, 844)])
@pytest.mark.quick("size0")
def test_the_ground_keeps_its_place_and_frames_pile_up_on_it(still, size):
    _, stage, slot = show(still, steps=14)
    still.page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
    if size[0] < 640:
        stage.tab("stack")
    stage.press("go to the prompt")
    stage.wait(0)
    cards, ground = slot.locator(".gv-frame-card:not(.gv-below)"), slot.locator(".gv-ground")
    lows, depths = set(), set()
    for _ in range(14):
        stage.go_on(1)
        still.page.wait_for_timeout(60)
        low = ground.bounding_box()["y"]
        boxes = [card.bounding_box() for card in cards.all()]
        lows.add(low)
        depths.add(len(boxes))
        assert all(box["y"] < next_box["y"] for box, next_box in pairwise(boxes)), "the innermost frame is on top"
        assert low - 26 < boxes[-1]["y"] + boxes[-1]["height"] < low, "the outermost stands on the ground"
        edges = [round(box["height"]) for box in boxes if box["height"] < 30]
        assert set(edges) <= {8}, "a frame is whole, or an edge"
    assert (len(lows), max(depths)) == (1, 7)


@pytest.mark.parametrize("size", [(931, 768), (390, 844)])
@pytest.mark.slow
def test_the_top_of_a_deep_stack_is_in_sight_and_what_is_below_is_counted(still, size):
    model = gv.ToyModel(PIECES, lambda tokens: [9.0 * (piece == b"[{") for piece in PIECES], eos={0})
    deep = gv.grammar('root ::= "(" root ")" | "[" root "]" | "{" root "}" | "x"')
    _, stage, slot = show(still, deep, model, max_tokens=80, steps=60)
    still.page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
    if size[0] < 640:
        stage.tab("stack")
    for depth in (120, 118):
        slot.locator(".gv-frame-card:visible").nth(4).wait_for()
        still.page.wait_for_timeout(120)
        cards = [card.bounding_box() for card in slot.locator(".gv-frame-card:visible").all()]
        column = slot.locator(".gv-stack-column").bounding_box()
        assert all(box["y"] >= column["y"] for box in cards), "no frame is cut"
        assert cards[-1]["y"] + cards[-1]["height"] <= column["y"] + column["height"]
        assert [round(box["height"]) for box in cards[-4:]] == [8] * 4, "edges"
        assert slot.locator(".gv-fold").inner_text() == f"⋮ {depth - len(cards) + 4} more below"
        assert f"depth {depth}" in slot.inner_text()
        stage.go_back(1)


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
