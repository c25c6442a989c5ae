"""What can be read on the stage at the sizes at which it is used: beside a file browser, full screen, on a phone."""

from __future__ import annotations

import pytest

import guidedviz as gv

pytestmark = pytest.mark.browser
BOXES = "Hi! The piano holds a kettle, which holds a wallet, which holds a lemon.\nNested JSON:\n"
SIZES = {"cell": (931, 768), "hall": (1280, 720), "large hall": (1920, 1080), "phone": (390, 844)}
# what a part shows: its box, and whether the text inside is cut
MEASURE = """root => {
  const zoom = Number(getComputedStyle(root).zoom) || 1;
  const box = (node) => {
    const { x, y, width, height } = node.getBoundingClientRect();
    return { x, y, width, height };
  };
  const seen = (node) => node.checkVisibility({ visibilityProperty: true }) && node.getBoundingClientRect().width > 0;
  const all = (selector) => [...root.querySelectorAll(selector)].filter(seen);
  const parts = (name) => all(`[data-part=${name}]`).map(box);
  const cut = all(".gv-said, .gv-at, .gv-meter b, .gv-tabs button, .gv-title, .gv-reason p")
    .filter((node) => getComputedStyle(node).display !== "inline" && node.scrollWidth > node.clientWidth + 1);
  const letters = all(":not(svg *, .gv-frame-card *, [data-part=map] *)")
    .filter((node) => [...node.childNodes].some((one) => one.nodeType === 3 && one.data.trim()));
  const small = letters.filter((node) => parseFloat(getComputedStyle(node).fontSize) * zoom < (zoom > 1 ? 15.99 : 12));
  const least = innerWidth < 640 ? 44 : 24;
  const targets = all("button, summary, input, textarea").map((node) => [node.className, box(node)])
    .filter(([, { width, height }]) => Math.min(width, height) < least).map(([name]) => name);
  const scrolls = all(".gv-panels *").filter((node) =>
    /auto|scroll/.test(getComputedStyle(node).overflowY) && node.scrollHeight > node.clientHeight + 1);
  const nested = scrolls.filter((node) => scrolls.some((other) => other !== node && other.contains(node))).length;
  const state = root.querySelector(".gv-over .gv-state.gv-lit");
  const words = (nodes) => nodes.map((node) => node.textContent);
  return {
    next: parts("next"), rows: parts("row"), bars: parts("bar"), machine: parts("machine"), stack: parts("stack"),
    why: parts("why"), diagram: box(root.querySelector(".gv-diagram")), state: state && box(state),
    cut: words(cut), small: words(small), targets, nested,
  };
}"""


@pytest.fixture(scope="module")
def clerk():
    return gv.load_model("clerk")


def constrained(clerk, kind):
    """The stage of lab 05 or 06, in the middle of its run."""
    if kind == "schema":
        fields = {"name": {"type": "string"}, "age": {"type": "integer"}}
        machine = gv.json_schema({"type": "object", "properties": fields, "required": list(fields)})
        return gv.stage(
            clerk, "Ada Brook is 42 years old.\nJSON with name, age:\n", gv.guide(machine, clerk.vocabulary), show=3
        )
    return gv.stage(clerk, BOXES, gv.guide(gv.json(), clerk.vocabulary), seed=1, show=12)


def inside(box, panel):
    """Whether a box lies in a panel."""
    across = box["x"] >= panel["x"] - 1 and box["x"] + box["width"] <= panel["x"] + panel["width"] + 1
    return across and box["y"] >= panel["y"] - 1 and box["y"] + box["height"] <= panel["y"] + panel["height"] + 1


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", ["schema", "stack"])
def test_what_must_be_seen_can_be_read(bare, clerk, kind, size):
    width, height = SIZES[size]
    stage = bare.show_stage(constrained(clerk, kind))
    bare.page.set_viewport_size({"width": width, "height": height})
    if "hall" in size:
        stage.root.press("f")
        bare.page.wait_for_function("document.fullscreenElement")
    stage.wait_ready()
    stage.root.locator(".gv-row.gv-struck:visible").first.click()
    stage.root.locator(".gv-why").wait_for()
    bare.page.wait_for_timeout(300)
    phone = size == "phone"
    found = stage.root.evaluate(MEASURE)
    (next_panel,) = found["next"]
    shown = [row for row in found["rows"] if inside(row, next_panel)]
    assert len(shown) >= (5 if phone else 8)
    assert min(bar["width"] for bar in found["bars"]) >= (105 if phone else 110)
    assert phone or min(bar["width"] for bar in found["bars"]) >= next_panel["width"] / 3
    (why,) = found["why"]
    assert inside(why, next_panel)
    assert why["height"] >= 60
    readable(found)
    if phone:
        assert found["machine"] == [], "one panel at a time"
        stage.tab("machine")
        bare.page.wait_for_timeout(300)
        found = stage.root.evaluate(MEASURE)
        assert found["next"] == []
    (machine,) = found["machine"]
    assert machine["width"] >= (330 if phone else 400)
    assert machine["height"] >= (260 if phone else 300)
    diagram = found["diagram"]
    assert diagram["width"] * diagram["height"] >= 0.55 * machine["width"] * machine["height"]
    assert inside(found["state"], diagram), "the current state is in sight"
    readable(found)
    if kind == "stack":
        if phone:
            stage.tab("stack")
        top, (stack,) = stage.root.locator(".gv-frame-card").first.bounding_box(), stage.root.evaluate(MEASURE)["stack"]
        assert inside(top, stack), "the top of the stack is in sight"
    bare.shot(f"stage-{kind}-{size.replace(' ', '-')}", None if "hall" in size else stage.root)


def readable(found):
    assert found["cut"] == []
    assert found["small"] == []
    assert found["nested"] == 0
    assert found["targets"] == []


def test_a_phone_shows_one_panel_and_a_swipe_steps(bare, clerk):
    bare.page.set_viewport_size({"width": 390, "height": 844})
    stage = bare.show_stage(constrained(clerk, "schema"))
    stage.tab("next")
    shown = [part for part in ("machine", "map", "next") if stage.root.locator(f"[data-part={part}]").is_visible()]
    assert shown == ["next"]
    swipe = """([node, from, to]) => {
      const at = (x) => ({ bubbles: true, clientX: x, clientY: 300, pointerType: "touch" });
      node.dispatchEvent(new PointerEvent("pointerdown", at(from)));
      node.dispatchEvent(new PointerEvent("pointerup", at(to)));
    }"""
    rows = stage.root.locator(".gv-rows").element_handle()
    for start, end, cursor in ((300, 100, 4), (100, 300, 3), (300, 270, 3)):
        bare.page.evaluate(swipe, [rows, start, end])
        stage.wait(cursor)


def test_the_two_panels_are_exchanged_and_the_notebook_remembers_it(bare, clerk):
    stage = bare.show_stage(constrained(clerk, "schema"))
    left = [stage.root.locator(f"[data-part={part}]").bounding_box()["x"] for part in ("machine", "next")]
    assert left == sorted(left)
    stage.root.locator(".gv-more > summary").click()
    stage.press("⇄ exchange the panels")
    again = bare.show_stage(constrained(clerk, "schema"))
    for one in (stage, again):
        left = [one.root.locator(f"[data-part={part}]").bounding_box()["x"] for part in ("machine", "next")]
        assert left == sorted(left, reverse=True)
