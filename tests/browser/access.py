"""What everybody needs of a widget: axe-core's rules, text that can be read, and targets that can be pressed."""

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

import guidedviz as gv

PAGE = Path(gv.__file__).parent / "widgets" / "page"
AXE = PAGE / "node_modules" / "axe-core" / "axe.min.js"
# "region" asks that the whole page stands in landmarks; around a widget the page is the notebook's.
AUDIT = """async root => {
  const rules = { region: { enabled: false } };
  const { violations } = await axe.run(root, { preload: false, resultTypes: ["violations"], rules });
  return violations.flatMap(({ id, nodes }) => nodes.map(node => [id, node.html.slice(0, 140), node.failureSummary]));
}"""
TARGETS = """root => [...root.querySelectorAll("button, input, summary, textarea")]
  .filter(node => node.checkVisibility({ visibilityProperty: true }) && !node.closest("[inert]"))
  .map(node => [node.getAttribute("aria-label") ?? node.textContent, node.getBoundingClientRect()])
  .filter(([, { width, height }]) => Math.min(width, height) < 24).map(([name]) => name)"""
# Colours as the page paints them, with what is behind a text looked up from the outside in.
CONTRAST = """root => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const bright = (rgb) => {
    const [r, g, b] = rgb.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const over = (colours) => {
    canvas.clearRect(0, 0, 1, 1);
    for (const colour of colours) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
    return bright([...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3));
  };
  const found = {};
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const owner = node.parentElement;
    if (!node.data.trim() || owner.tagName === "title" || !owner.getClientRects().length) continue;
    if (owner.closest(":disabled")) continue;
    const behind = [];
    for (let up = owner; up; up = up.parentElement) behind.unshift(getComputedStyle(up).backgroundColor);
    const filled = owner.matches(".gv-times") ? null : owner.closest(".gv-state.gv-lit, .gv-call.gv-open");
    if (filled) behind.push(getComputedStyle(filled.querySelector(".gv-disc, rect.gv-box")).fill);
    const ground = ["white", ...behind], style = getComputedStyle(owner);
    const text = owner.namespaceURI.endsWith("svg") ? style.fill : style.color;
    const [low, high] = [over(ground), over([...ground, text])].sort((a, b) => a - b);
    const ratio = (high + 0.05) / (low + 0.05);
    if (ratio < 4.5) found[node.data] = ratio;
  }
  return found;
}"""


@cache
def read_axe():
    """axe-core as the page's checks install it."""
    if not AXE.exists():
        if not shutil.which("npm"):
            assert not os.environ.get("CI"), "no npm"
            pytest.skip("axe-core needs npm")
        subprocess.run(["npm", "ci", "--silent"], cwd=PAGE, check=True, timeout=300)
    return AXE.read_text(encoding="utf-8")


def audit(page, root, set_theme):
    """The faults of one widget in both themes."""
    page.emulate_media(reduced_motion="reduce")
    page.evaluate(read_axe())
    found = {}
    for theme in ("Light", "Dark"):
        set_theme(theme)
        found[theme] = page.evaluate(AUDIT, root.element_handle())
    return {theme: faults for theme, faults in found.items() if faults}
