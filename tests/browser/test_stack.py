"""The stack on a bare page: frames are pushed and popped, byte by byte, and what stays is the same node."""

from __future__ import annotations

import time
import zlib

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
    paths = live._panels.machine.paths(live.player.steps)
    assert seen[1:] == [list(live.guide.machine.stack(path[-1])) for path in paths]
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


def test_the_bytes_of_one_token_are_seen_one_after_another(bare):
    live, stage, slot = show(bare, steps=12)
    innermost = live.guide.machine.stack(live._panels.machine.paths(live.player.steps)[-1][-1])[0]
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


def test_where_motion_is_not_wanted_only_the_end_of_a_token_is_seen(still):
    _, stage, slot = show(still)
    still.page.evaluate(FOLLOW, slot.element_handle())
    stage.go_on(1)
    still.page.wait_for_function("window.seen.length >= 2")
    still.page.wait_for_timeout(400)  # as long as two bytes would be seen
    assert len(still.page.evaluate("window.seen")) == 2


def test_why_shows_the_stack_at_the_byte_that_died(still):
    _, stage, slot = show(still, steps=13)
    stage.go_back(3)
    stage.root.locator("button.gv-row:has(.gv-name:text-is(']}'))").click()
    why = stage.root.locator(".gv-why")
    why.wait_for()
    assert "the innermost open rule is member" in why.inner_text()
    assert "stack, top first: member, object, object, array, object, root" in why.inner_text()
    slot.locator(".gv-stack-byte.gv-died:text-is('✕ ] cannot come')").wait_for()
    assert stage.root.locator(".gv-over .gv-cross").count() == 1
    still.shot("stack-why", stage.root)


def test_other_pictures_are_drawn_while_they_are_seen_and_follow_the_cursor(still):
    _, stage, slot = show(still, steps=6)
    stage.tab("stack")
    picture = slot.locator(".gv-sheets > svg:not(.gv-over)")
    before = ""
    different = "([node, before]) => node.querySelector('svg') && node.querySelector('svg').outerHTML !== before"
    for name in ("shared", "tree", "chart", "depth"):
        slot.get_by_role("button", name=name, exact=True).click()
        holder = slot.locator(".gv-sheets").element_handle()
        still.page.wait_for_function(different, arg=[holder, before])
        before = picture.evaluate("node => node.outerHTML")
        stage.go_on(1)
        still.page.wait_for_function(different, arg=[holder, before])
        before = picture.evaluate("node => node.outerHTML")
        still.shot(f"stack-{name}", stage.root)
    slot.get_by_role("button", name="stack", exact=True).click()
    assert frames(slot)[-1] == "root"
    assert not picture.is_visible()


def test_an_edit_changes_the_machine_and_its_stack(still):
    _, stage, slot = show(still, steps=4, edit=True)
    box = stage.root.locator(".gv-edit")
    assert box.locator("textarea").input_value().startswith("root")
    grammar = 'root ::= map\nmap ::= "{" pair ("," pair)* "}"\npair ::= name ":" (name | list)\n'
    grammar += 'list ::= "[" (map ("," map)*)? "]"\nname ::= "\\"" [a-z]+ "\\""'
    box.locator("textarea").fill(grammar)
    box.and_(still.page.locator("[data-state='runs']")).wait_for()
    stage.tab("machine")
    slot.locator("b:text-is('list')").wait_for()
    assert frames(slot) == ["map", "list", "map"]
    assert stage.root.locator(".gv-sheets > svg:not(.gv-over) [data-rule]").count() == 5
    stage.tab("constraint")
    box.locator("textarea").fill('root ::= "{" [a-z]* "}"')
    box.and_(still.page.locator("[data-state='waits']")).wait_for()
    assert frames(slot) == ["map", "list", "map"]
    box.get_by_role("button", name="go back there").click()
    stage.wait(0)
    assert frames(slot) == ["root"]
    assert stage.root.locator(".gv-sheets > svg:not(.gv-over) [data-rule]").count() == 1


def test_a_deep_stack_is_shortened(still):
    model = gv.ToyModel(PIECES, lambda tokens: [9.0 if piece == b"[{" else 0.0 for piece in PIECES], eos={0})
    deep = gv.grammar('root ::= "(" root ")" | "[" root "]" | "{" root "}" | "x"')
    _, stage, slot = show(still, deep, model, max_tokens=80, steps=60)
    shown = [box for card in slot.locator(".gv-frame-card:visible").all() if (box := card.bounding_box())]
    panel = slot.bounding_box()
    assert len(shown) >= 5
    assert all(box["y"] + box["height"] <= panel["y"] + panel["height"] for box in shown), "no frame is cut"
    assert slot.locator(".gv-fold").inner_text() == f"⋮ {120 - len(shown)} more below"
    assert "depth 120" in slot.inner_text()
    stage.press("go to the prompt")
    stage.wait(0)
    assert slot.locator(".gv-fold").inner_text() == ""
    assert frames(slot) == ["root"]


def test_nothing_sticks_out_however_narrow_the_page(still):
    _, stage, slot = show(still, steps=12, edit=True)
    inside = "([a, b]) => [a, b].every((box) => box.scrollWidth <= box.clientWidth + 1)"
    for width in (1380, 1000, 760):
        still.narrow(width)
        handles = [stage.root.locator(".gv-panels").element_handle(), slot.element_handle()]
        still.page.wait_for_function(inside, arg=handles)
        still.shot(f"stack-narrow-{width}", stage.root)


def test_a_recording_shows_machine_and_stack_of_its_guide(still):
    model = says(*NESTED)
    guide = gv.guide(gv.json(), model.vocabulary)
    trace = gv.record(model, "say ", guide, temperature=0, max_tokens=40)
    stage = still.show_stage(gv.stage(trace, guide=guide, steps=12))
    slot = stage.root.locator("[data-slot='stack']")
    assert frames(slot)[0] == "string"
    assert len(stage.lit()) == 1
    stage.press("go to the prompt")
    stage.wait(0)
    assert frames(slot) == ["root"]


@pytest.mark.timed
def test_steps_at_full_speed_with_a_pushdown_machine_and_its_stack(bare, capsys):
    taken = []
    opening = [PIECES.index(piece) for piece in (b"{", b"[", b"[{", b'{"')]

    def timed(tokens):
        taken.append(time.time())
        logits = rule(tokens)
        logits[opening] += 2
        return logits

    model = gv.ToyModel(PIECES, timed, eos={0})
    _, stage, _ = show(bare, None, model, temperature=1.0, bias={0: -100}, max_tokens=100)
    stage.root.get_by_role("slider", name="speed").fill("6")
    stage.watch()
    stage.press("play")
    stage.wait(100, 60)
    bare.page.wait_for_function("window.seen.at(-1)[0] === 100")
    painted = bare.page.evaluate("window.seen")
    behind = painted[-1][1] / 1000 - taken[-1]
    rate = (len(painted) - 1) / (painted[-1][1] - painted[0][1]) * 1000
    tops = len({top for _, _, top, _ in painted})
    with capsys.disabled():
        print(f"\n  pushdown machine and stack: {rate:.0f} steps/s painted, {tops} tops; the last {behind:.2f} s late")
    assert [step for step, *_ in painted] == sorted(step for step, *_ in painted)
    assert tops > 1, "the stack is seen to move"
