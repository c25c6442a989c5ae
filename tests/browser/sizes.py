"""What can be read of the stage: the stages of six labs at four sizes, measured in Chromium.

`python -m tests.browser.sizes` prints one line per lab, size and place in the run; `--pictures FOLDER` keeps a picture
of each in both themes. It needs the packages of the tests and a Chromium, as `make test` installs them.
"""

import argparse
import ast
import contextlib
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import guidedviz as gv
from tests.browser.bare import BarePage, StagePage, work_of
from tests.browser.chromium import find
from tests.browser.conftest import FLAGS

LABS = Path(__file__).resolve().parents[2] / "labs"
NUMBERS = ("00", "03", "07", "08", "09", "13")
# a laptop's cell of 915 × 640 beside the file browser, a projector, a large one, a phone
SIZES = {"cell": (931, 768), "1280": (1280, 720), "1920": (1920, 1080), "phone": (390, 844)}
MEASURE = Path(__file__).with_suffix(".js").read_text("utf-8").partition("\n")[2]


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


def measure_speed(context: Any) -> None:
    """Print how 150 steps of nested JSON are painted at 60 taken per second, and what each costs."""
    text = b'[{"key": [{"key": "' + b"".join(b"ab %d, " % number for number in range(150))
    clerk = gv.load_model("clerk")
    tokens = clerk.encode(text.decode())[:150]

    def rule(read: list[int]) -> Any:
        logits = np.random.default_rng(len(read)).normal(0, 1, len(clerk.vocabulary))
        logits[tokens[min(len(read) - 1, len(tokens) - 1)]] += 12
        return logits

    model = gv.ToyModel(clerk.vocabulary.pieces, rule, eos=clerk.vocabulary.eos)
    stage = gv.stage(model, "x", gv.guide(gv.json(), model.vocabulary), temperature=0, max_tokens=len(tokens))
    bare = BarePage(context)
    page = bare.show_stage(stage)
    bare.page.set_viewport_size({"width": 931, "height": 768})
    sent: list[int] = []
    wire = stage.display.widget
    pass_on = wire.send

    def send(content: Any, buffers: Any = None) -> None:
        sent.append(len(json.dumps(content)))
        pass_on(content, buffers)

    wire.send = send
    page.root.get_by_role("slider", name="speed").fill("7")
    session = bare.page.context.new_cdp_session(bare.page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.watch()
    before = work_of(session)
    page.press("play")
    page.wait(len(tokens), 60)
    painted = bare.page.evaluate("window.seen")
    work = 1000 * (work_of(session) - before) / len(painted)
    rate = 1000 * (len(painted) - 1) / (painted[-1][1] - painted[0][1])
    print(
        f"{rate:.0f} steps painted per second at {stage.speed}; {work:.1f} ms of the page's work per painted step; ",
        end="",
    )
    print(f"{sum(sent) / len(tokens) / 1000:.1f} kB sent per step in {len(sent)} messages")
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
    parser = argparse.ArgumentParser(prog="python -m tests.browser.sizes", description=__doc__)
    parser.add_argument("--labs", nargs="*", default=NUMBERS, help="numbers of labs")
    parser.add_argument("--sizes", nargs="*", default=list(SIZES), choices=list(SIZES))
    parser.add_argument("--pictures", type=Path, help="a folder for pictures")
    parser.add_argument("--speed", action="store_true", help="measure painted steps instead")
    asked = parser.parse_args()
    if asked.pictures:
        asked.pictures.mkdir(parents=True, exist_ok=True)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=find() or None, args=FLAGS)
        if asked.speed:
            measure_speed(browser.new_context())
            asked.labs = []
        for number in asked.labs:
            for size in asked.sizes:
                measure(browser.new_context(), number, size, asked.pictures)


if __name__ == "__main__":
    main()
