"""How the parts of a widget look on a page, compared with the same elements below the style sheets of a notebook.

The reference is a page that has only what the kernel sends to JupyterLab (`widgets/wire.py`), with the theme and the
width of the page that is looked at. That JupyterLab itself changes nothing is tested in test_jupyterlab.py.
"""

import re
from pathlib import Path

from guidedviz.widgets.player_page import BUNDLES, NO_KINDS, page_css

SCRIPT = Path(__file__).with_suffix(".js").read_text("utf-8").partition("\n")[2]
KINDS = sorted(path.stem for path in BUNDLES.glob("*.js") if path.stem not in NO_KINDS)
ROOTS = ".gv-stage, .picture > .gv"  # live widgets, and still drawings that are part of a page


class Looks:
    """A page for the reference; `seen` has the classes of all parts that were compared."""

    def __init__(self, browser):
        self.seen = set()
        sheets = page_css(*KINDS)
        self.variables = sorted(set(re.findall(r"--jp-[\w-]+", sheets)))
        self.context = browser.browser.new_context(reduced_motion="reduce")
        self.page = self.context.new_page()
        self.page.set_content(f"<!doctype html><style>{sheets}</style><body><main></main>")

    def compare(self, root):
        """Every visible part of a widget that looks otherwise than in JupyterLab, with both looks."""
        self.page.set_viewport_size(root.page.viewport_size)
        taken = root.evaluate(SCRIPT, {"variables": self.variables})
        shown = self.page.locator("main").evaluate(SCRIPT, {**taken, "variables": []})
        found = {}
        for part, twin in zip(taken["parts"], shown["parts"], strict=True):
            assert part["name"] == twin["name"]
            if not part["seen"]:
                continue
            self.seen.update(part["name"].split("."))
            for one, other in zip(part["looks"], twin["looks"], strict=True):
                if one != other:
                    found[f"{part['name']}: {one}, in JupyterLab {other}"] = None
        return list(found)

    def compare_page(self, page):
        """The same for every widget and still drawing of a page, in both themes."""
        found = []
        for theme in ("light", "dark"):
            for one in (page, self.page):
                one.emulate_media(color_scheme=theme, reduced_motion="reduce")
            for root in page.locator(ROOTS).all():
                found += [f"{theme}, {line}" for line in self.compare(root)]
        return found
