"""What can be read of the stage: the stages of six labs at four sizes, measured in Chromium.

`python -m bench.stage` prints one line per lab, size and place in the run; `--pictures FOLDER` keeps a picture of each in
both themes. It needs the packages of the tests and a Chromium, as `make test` installs them.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.browser.bare import BarePage, StagePage
from tests.browser.chromium import find
from tests.browser.conftest import FLAGS

LABS = Path(__file__).resolve().parents[1] / "labs"
NUMBERS = ("00", "03", "06", "07", "08", "12")
# a laptop's cell of 915 × 640 beside the file browser, a projector, a large one, a phone
SIZES = {"cell": (931, 768), "1280": (1280, 720), "1920": (1920, 1080), "phone": (390, 844)}
MEASURE = """root => {
  const zoom = Number(getComputedStyle(root).zoom) || 1;
  const seen = (node) => node.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const all = (selector) => [...root.querySelectorAll(selector)].filter((node) => seen(node) && node.getBoundingClientRect().width > 1);
  const home = root.getBoundingClientRect();
  const parts = (name) => all(`[data-part=${name}]`).map((node) => node.getBoundingClientRect());
  const size = (box) => box ? [Math.round(box.width), Math.round(box.height)] : null;
  const inside = (one, other, slack = 2) => one.x >= other.x - slack && one.right <= other.right + slack
    && one.y >= other.y - slack && one.bottom <= other.bottom + slack;
  const clips = (node) => {
    let box = { x: home.x, y: home.y, right: home.right, bottom: home.bottom };
    for (let at = node.parentElement; at && at !== root; at = at.parentElement) {
      if (getComputedStyle(at).overflow === "visible") continue;
      const { x, y, right, bottom } = at.getBoundingClientRect();
      box = { x: Math.max(box.x, x), y: Math.max(box.y, y), right: Math.min(box.right, right), bottom: Math.min(box.bottom, bottom) };
    }
    return box;
  };
  const own = all("*").filter((node) => [...node.childNodes].some((one) => one.nodeType === 3 && one.data.trim()));
  const cut = [], over = [], sizes = [];
  for (const node of own) {
    const box = node.getBoundingClientRect(), frame = clips(node), style = getComputedStyle(node);
    const middle = [(box.x + box.right) / 2, (box.y + box.bottom) / 2];
    if (middle[0] < frame.x || middle[0] > frame.right || middle[1] < frame.y || middle[1] > frame.bottom) continue; // scrolled away
    const drawn = node.ownerSVGElement ? node.getScreenCTM().a : zoom;
    sizes.push([parseFloat(style.fontSize) * drawn, node.textContent.slice(0, 20)]);
    const words = node.textContent.slice(0, 24);
    if (!node.ownerSVGElement) {
      const short = style.display !== "inline" && style.overflowX !== "visible" && node.scrollWidth > node.clientWidth + 1;
      if (short || (!inside(box, frame, 3) && !node.closest(".gv-tape, .gv-stack-picture"))) cut.push(words); // those scroll
      const top = document.elementFromPoint(...middle);
      if (top && top !== node && !node.contains(top) && !top.contains(node) && root.contains(top) && seen(top)) over.push(words);
    }
  }
  const least = innerWidth < 640 ? 44 : 24;
  const targets = all("button, summary, input:not([type=range])").filter((node) => {
    const box = node.getBoundingClientRect(), frame = clips(node);
    return inside(box, frame) && Math.min(box.width, box.height) < least - 0.5;
  }).map((node) => node.className || node.type);
  const scrolls = all("*").filter((node) => /auto|scroll/.test(getComputedStyle(node).overflowY) && node.scrollHeight > node.clientHeight + 2);
  const nested = scrolls.filter((node) => scrolls.some((other) => other !== node && other.contains(node))).length;
  const [next] = parts("next"), [machine] = parts("machine"), [why] = parts("why");
  const drawing = root.querySelector(".gv-diagram");
  const lit = root.querySelector(".gv-over .gv-state.gv-lit")?.getBoundingClientRect();
  const diagram = drawing && seen(drawing) ? drawing.getBoundingClientRect() : null;
  return {
    least: sizes.sort((one, two) => one[0] - two[0])[0], cut, over, targets, nested,
    rows: next ? parts("row").filter((row) => inside(row, next)).length : 0,
    bar: Math.round(Math.min(...parts("bar").map((bar) => bar.width))), next: size(next), machine: size(machine), stack: size(parts("stack")[0]),
    share: machine && diagram ? Math.round((100 * diagram.width * diagram.height) / (machine.width * machine.height)) : null,
    lit: diagram && lit ? inside(lit, diagram) : null, why: why ? inside(why, next ?? home) : null, page: document.body.scrollWidth > innerWidth,
  };
}"""


def stage_of(number: str) -> Any:
    """The last live stage of a lab, as its notebook with solutions makes it."""
    (path,) = (LABS / "solutions").glob(f"{number}_*.ipynb")
    names: dict[str, Any] = {"__name__": "__main__"}
    found = None
    with contextlib.redirect_stdout(io.StringIO()):
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            if cell["cell_type"] != "code":
                continue
            tree = ast.parse("".join(cell["source"]))
            last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
            exec(compile(tree, path.name, "exec"), names)
            if last is not None:
                shown = eval(compile(ast.Expression(last.value), path.name, "eval"), names)  # type: ignore[attr-defined]
                found = shown if "gv.stage(" in "".join(cell["source"]) else found
    return found


def places(stage: Any, page: StagePage) -> Iterator[str]:
    """The prompt, the middle and the end, each reached on the page."""
    page.run_to_end()
    steps = len(stage.player.steps)
    for name, cursor in (("prompt", 0), ("middle", steps // 2), ("end", steps)):
        stage.go(cursor)
        page.wait(cursor)
        page.wait_ready()
        yield name


def ask_why(page: StagePage) -> None:
    """Press the first forbidden token, where there is one."""
    struck = page.root.locator(".gv-row.gv-struck:visible")
    if struck.count():
        struck.first.click()
        page.root.locator(".gv-why *").first.wait_for()


def measure(context: Any, number: str, size: str, pictures: Path | None) -> None:
    """Print what is found of one lab's stage at one size."""
    bare, stage = BarePage(context), stage_of(number)
    page = bare.show_stage(stage)
    width, height = SIZES[size]
    bare.page.set_viewport_size({"width": width, "height": height})
    if size.isdigit():
        page.root.press("f")
        bare.page.wait_for_function("document.fullscreenElement")
    for place in places(stage, page):
        ask_why(page)
        bare.page.wait_for_timeout(250)
        print(f"{number} {size:5} {place:6} {say(page.root.evaluate(MEASURE))}", flush=True)
        for theme in ("Light", "Dark") if pictures else ():
            bare.theme(theme)
            bare.page.wait_for_timeout(60)
            bare.page.screenshot(path=str(pictures / f"{number}-{size}-{place}-{theme.lower()}.png"))  # type: ignore[operator]
    bare.close()


def say(found: dict[str, Any]) -> str:
    """One line: sizes first, then what is wrong."""
    least, words = found["least"]
    parts = " ".join(
        f"{name} {found[name][0]}×{found[name][1]}" for name in ("next", "machine", "stack") if found[name]
    )
    line = f"least {least:.1f} ({words.strip()!r}) rows {found['rows']} bar {found['bar']} {parts}"
    line += f" drawing {found['share']}%" if found["share"] else ""
    faults = [f"{name} {found[name]}" for name in ("cut", "over", "targets", "nested") if found[name]]
    faults += ["state out of sight"] * (found["lit"] is False) + ["reason out of sight"] * (found["why"] is False)
    return line + " | " + ("; ".join(faults + ["page scrolls sideways"] * found["page"]) or "no fault")


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m bench.stage", description=__doc__)
    parser.add_argument("--labs", nargs="*", default=NUMBERS, help="numbers of labs")
    parser.add_argument("--sizes", nargs="*", default=list(SIZES), choices=list(SIZES))
    parser.add_argument("--pictures", type=Path, help="a folder for pictures")
    asked = parser.parse_args()
    if asked.pictures:
        asked.pictures.mkdir(parents=True, exist_ok=True)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=find() or None, args=FLAGS)
        for number in asked.labs:
            for size in asked.sizes:
                measure(browser.new_context(), number, size, asked.pictures)


if __name__ == "__main__":
    main()
