"""The stack in a real JupyterLab: frames are pushed and popped, byte by byte, and what stays is the same node."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser

TOY = """import guidedviz as gv, zlib, time, numpy as np
PIECES = [b"<eos>", *(bytes([i]) for i in range(32, 127)), b'{"', b'":', b'"}}', b'"}', b'}}', b']}', b'[{', b'","']
PIECES += [b' "', b'<img src=x onerror=window.hacked=1>', b"key", b"true", b"42", b", "]
def rule(tokens):
    return np.random.default_rng(zlib.crc32(repr(list(tokens)[-6:]).encode())).normal(0, 2.0, len(PIECES))
def says(*pieces):
    def rule(tokens):
        place = len(tokens) - 4
        wanted = pieces[place] if place < len(pieces) else b"<eos>"
        return [9.0 if piece == wanted else 6.0 if piece == b"]}" else 0.0 for piece in PIECES]
    return gv.ToyModel(PIECES, rule, eos={0})
json = gv.json()
"""
NESTED = """pair = b'key', b'":'
model = says(b'{"', *pair, b'[{', b'"', *pair, b'{"', *pair, b'"', b'key', b'"}}', b']}')
stage = gv.stage(model, 'say ', gv.guide(json, model.vocabulary), temperature=0, max_tokens=40)
stage"""


def open_stage(open_notebook, cell=NESTED):
    notebook = open_notebook(TOY, cell)
    notebook.run_all()
    stage = notebook.stage()
    return notebook, stage, stage.root.locator("[data-slot='stack']")


def frames(slot) -> list[str]:
    """The rules on the page, innermost first, without those that are leaving."""
    return list(slot.locator(".gv-frame-card:not(.gv-popped) b").all_inner_texts())


def settle(stage) -> None:
    stage.notebook.page.wait_for_timeout(1200)


def test_frames_are_pushed_and_popped_and_back_restores_them(open_notebook):
    notebook, stage, slot = open_stage(open_notebook)
    assert frames(slot) == ["root"]
    seen = [["root"]]
    slot.locator(".gv-frame-card").evaluate("node => node.id = 'the-root'")
    for step in range(1, 15):
        stage.press("one step on")
        stage.wait(step)
        settle(stage)
        seen.append(frames(slot))
        if step == 12:
            notebook.shot("stack-light", stage.root)
    notebook.run_cell(0, "print([list(json.stack(path[-1])) for path in stage._panels.machine._paths])")
    assert seen[1:] == eval(notebook.outputs(0))
    assert max(map(len, seen)) == 7
    assert slot.locator("#the-root b").inner_text() == "root", "what stays is the same node"
    for step in range(13, -1, -1):
        stage.press("one step back")
        stage.wait(step)
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


def test_the_bytes_of_one_token_are_seen_one_after_another(open_notebook):
    notebook, stage, slot = open_stage(open_notebook)
    for step in range(1, 13):
        stage.press("one step on")
        stage.wait(step)
    settle(stage)
    notebook.page.evaluate(FOLLOW, slot.element_handle())
    stage.press("one step on")
    stage.wait(13)
    settle(stage)
    assert stage.tokens[-1] == '"}}'
    seen = notebook.page.evaluate("window.seen")
    said = [words for words, _ in seen]
    assert [words.split(" | ")[1] for words in said[-3:]] == ['" read', "} read", "} read"]
    depths = [len(words.split(" | ")[0].split()) for words in said[-3:]]
    assert depths == sorted(depths, reverse=True), "popped one after another"
    assert depths[0] > depths[-1]
    assert len({lit for _, lit in seen[-3:]}) > 1, "and the machine moves with them"
    notebook.shot("stack-token", stage.root)


def test_where_motion_is_not_wanted_only_the_end_of_a_token_is_seen(open_notebook):
    notebook = open_notebook(TOY, NESTED)
    notebook.page.emulate_media(reduced_motion="reduce")
    notebook.run_all()
    stage = notebook.stage()
    slot = stage.root.locator("[data-slot='stack']")
    notebook.page.evaluate(FOLLOW, slot.element_handle())
    stage.press("one step on")
    stage.wait(1)
    settle(stage)
    assert len(notebook.page.evaluate("window.seen")) == 2


def test_why_shows_the_stack_at_the_byte_that_died(open_notebook):
    notebook, stage, slot = open_stage(open_notebook)
    for step in range(1, 14):
        stage.press("one step on")
        stage.wait(step)
    for _ in range(2):
        stage.press("one step back")
    stage.wait(11)
    settle(stage)
    stage.root.locator("button.gv-row:has(.gv-name:text-is(']}'))").click()
    why = stage.root.locator(".gv-why")
    why.wait_for()
    assert "the innermost open rule is member" in why.inner_text()
    assert "stack, top first: member, object, object, array, object, root" in why.inner_text()
    slot.locator(".gv-stack-byte.gv-died:text-is('✕ ] cannot come')").wait_for()
    assert stage.root.locator(".gv-over .gv-cross").count() == 1
    notebook.shot("stack-why", stage.root)


def test_other_pictures_are_drawn_while_they_are_seen_and_follow_the_cursor(open_notebook):
    notebook, stage, slot = open_stage(open_notebook)
    picture = slot.locator(".gv-stack-picture svg")
    for step in range(1, 7):
        stage.press("one step on")
        stage.wait(step)
    for name in ("shared", "tree", "chart", "depth"):
        slot.get_by_role("button", name=name, exact=True).click()
        picture.wait_for()
        notebook.page.wait_for_timeout(700)
        notebook.shot(f"stack-{name}", stage.root)
        before = picture.evaluate("node => node.outerHTML")
        stage.press("one step on")
        different = "([node, before]) => node.querySelector('svg')?.outerHTML !== before"
        holder = slot.locator(".gv-stack-picture").element_handle()
        notebook.page.wait_for_function(different, arg=[holder, before], timeout=8000)
    slot.get_by_role("button", name="stack", exact=True).click()
    assert frames(slot)[-1] == "root"
    assert not picture.is_visible()


def test_an_edit_changes_the_machine_and_its_stack(open_notebook):
    cell = NESTED.replace("max_tokens=40)", "max_tokens=40, edit=True, steps=4)")
    notebook, stage, slot = open_stage(open_notebook, cell)
    box = stage.root.locator(".gv-edit")
    text = box.locator("textarea").input_value()
    assert text.startswith("root")
    grammar = 'root ::= map\nmap ::= "{" pair ("," pair)* "}"\npair ::= name ":" (name | list)\n'
    grammar += 'list ::= "[" (map ("," map)*)? "]"\nname ::= "\\"" [a-z]+ "\\""'
    box.locator("textarea").fill(grammar)
    box.and_(notebook.page.locator("[data-state='runs']")).wait_for()
    slot.locator("b:text-is('list')").wait_for()
    assert frames(slot) == ["map", "list", "map"]
    assert stage.root.locator(".gv-sheets > svg:not(.gv-over) [data-rule]").count() == 5
    notebook.shot("stack-edited", stage.root)
    box.locator("textarea").fill('root ::= "{" [a-z]* "}"')
    box.and_(notebook.page.locator("[data-state='waits']")).wait_for()
    assert frames(slot) == ["map", "list", "map"]
    box.get_by_role("button", name="go back there").click()
    stage.wait(0)
    assert frames(slot) == ["root"]
    assert stage.root.locator(".gv-sheets > svg:not(.gv-over) [data-rule]").count() == 1


DEEP = """model = gv.ToyModel(PIECES, lambda tokens: [9.0 if piece == b'[{' else 0.0 for piece in PIECES], eos={0})
deep = gv.grammar('root ::= "(" root ")" | "[" root "]" | "{" root "}" | "x"')
gv.stage(model, 'say ', gv.guide(deep, model.vocabulary), temperature=0, max_tokens=80, steps=60)"""


def test_a_deep_stack_is_folded(open_notebook):
    notebook, stage, slot = open_stage(open_notebook, DEEP)
    assert slot.locator(".gv-fold").inner_text() == "⋮ 115 more"
    assert slot.locator(".gv-frame-card").count() == 5
    assert "depth 120" in slot.inner_text()
    stage.press("go to the prompt")
    stage.wait(0)
    assert slot.locator(".gv-fold").count() == 0
    assert frames(slot) == ["root"]
    notebook.shot("stack-deep", stage.root)


def test_light_dark_and_narrow(open_notebook):
    cell = NESTED.replace("max_tokens=40)", "max_tokens=40, edit=True, steps=12)")
    notebook, stage, slot = open_stage(open_notebook, cell)
    inside = "([a, b]) => [a, b].every((box) => box.scrollWidth <= box.clientWidth + 1)"
    for theme in ("Light", "Dark"):
        notebook.theme(f"JupyterLab {theme}")
        notebook.shot(f"stack-stage-{theme.lower()}", stage.root)
    for width in (1000, 760):
        notebook.page.set_viewport_size({"width": width, "height": 1000})
        notebook.page.wait_for_timeout(400)
        handles = [stage.root.locator(".gv-grid").element_handle(), slot.element_handle()]
        assert notebook.page.evaluate(inside, handles), "nothing sticks out"
        notebook.shot(f"stack-narrow-{width}", stage.root)


def test_a_recording_shows_machine_and_stack_of_its_guide(open_notebook):
    cell = NESTED.rsplit("\n", 1)[0] + "\nguide = gv.guide(json, model.vocabulary)\n"
    cell += "gv.stage(gv.record(model, 'say ', guide, temperature=0, max_tokens=40), guide=guide, steps=12)"
    notebook, stage, slot = open_stage(open_notebook, cell)
    assert frames(slot)[0] == "string"
    assert stage.root.locator(".gv-over .gv-state.gv-lit").count() == 1
    stage.press("go to the prompt")
    stage.wait(0)
    assert frames(slot) == ["root"]
    notebook.shot("stack-recorded", stage.root)


RUN = """taken = []
def timed(tokens):
    taken.append(time.time())
    logits = rule(tokens)
    logits[[PIECES.index(piece) for piece in (b"{", b"[", b'[{', b'{"')]] += 2
    return logits
model = gv.ToyModel(PIECES, timed, eos={0})
stage = gv.stage(model, 'say ', gv.guide(json, model.vocabulary), bias={0: -100}, max_tokens=200)
stage"""

WATCH = """root => {
  window.painted = [];
  const look = () => {
    const cursor = Number(root.dataset.cursor);
    const last = window.painted.at(-1);
    const top = root.querySelector(".gv-frame-card:not(.gv-popped)")?.textContent;
    if (cursor && (!last || last[0] !== cursor)) window.painted.push([cursor, Date.now(), top]);
    if (cursor < 200) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""


@pytest.mark.timed
def test_thirty_steps_a_second_with_a_pushdown_machine_and_its_stack(open_notebook, capsys):
    notebook, stage, _ = open_stage(open_notebook, RUN)
    stage.root.get_by_role("slider", name="speed").fill("6")
    notebook.page.evaluate(WATCH, stage.root.element_handle())
    stage.press("play")
    stage.wait(200, 60)
    notebook.page.wait_for_function("window.painted.at(-1)[0] === 200")
    painted = notebook.page.evaluate("window.painted")
    notebook.run_cell(0, "print(taken[-1])")
    behind = painted[-1][1] / 1000 - float(notebook.outputs(0))
    rate = (len(painted) - 1) / (painted[-1][1] - painted[0][1]) * 1000
    tops = len({top for _, _, top in painted})
    with capsys.disabled():
        print(f"\npushdown machine and stack: {rate:.1f} painted steps a second, {len(painted)} of 200, {tops} tops")
    assert behind < 1, "no backlog"
    assert rate > 20, "the target is 30 on a quiet machine"
    assert tops > 5, "the stack is seen to move"
