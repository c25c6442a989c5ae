"""Make assets/stage.png: the run that README shows, before its 8th token is drawn, in Chromium.

PYTHONPATH=. python assets/picture.py            # needs the `test` extra and Chromium
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import sync_playwright

import guidedviz as gv
from tests.browser import chromium

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "assets" / "stage.png"
STEP, SIZE = 7, {"width": 1280, "height": 800}


def readme_run() -> tuple[str, str, int]:
    """The grammar, the prompt and the seed of the run in README."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    cell = next(part for part in re.findall(r"```python\n(.*?)```", readme, re.DOTALL) if "grammar = r" in part)
    names: dict[str, Any] = {}
    exec(cell.partition("gv.stage(")[0], names)
    (prompt, seed) = re.findall(r"gv\.stage\(model, (.+), edit=grammar, seed=(\d+)\)", cell)[0]
    return names["grammar"], eval(prompt, names), int(seed)


def recorded_run() -> gv.Trace:
    """The run in README, recorded."""
    text, prompt, seed = readme_run()
    model = gv.load_model("clerk")
    guide = gv.guide(gv.grammar(text), model.vocabulary)
    return replace(gv.record(model, prompt, guide=guide, seed=seed, constraint="boxes"), source="RECORDED")


def main() -> None:
    """Play the run in a browser and save its picture."""
    trace = recorded_run()
    with TemporaryDirectory() as folder, sync_playwright() as play:
        page_file = Path(folder) / "run.html"
        trace.page(page_file, STEP)
        browser = play.chromium.launch(executable_path=chromium.find() or None, args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE, reduced_motion="reduce")
        page.goto(page_file.as_uri())
        page.locator(".gv-stage").wait_for()
        page.locator(".gv-row.gv-struck").first.click()  # why it is forbidden
        page.mouse.move(0, 0)
        page.wait_for_timeout(500)  # until it is painted
        page.evaluate("document.activeElement.blur()")
        page.locator(".gv-stage").screenshot(path=PICTURE)
    print(f"{PICTURE}: {STEP} of {len(trace.steps)} steps")


if __name__ == "__main__":
    main()
