"""Pages that are watched while hostile texts are on them: what runs, what is fetched, which elements appear."""

import json
import re
from pathlib import Path

from tests.browser.bare import SIZE
from tests.hostile import SENTINEL

SCRIPT = Path(__file__).with_name("watch.js")
# Told where a text would become markup, which runs no script by itself.
POLICY = {"Content-Security-Policy-Report-Only": "require-trusted-types-for 'script'; trusted-types 'none'"}


class Watched:
    """A page on which nothing may run and that may fetch nothing but itself: addresses that begin as `own` says."""

    def __init__(self, browser, own, **about):
        self.asked = []
        self.context = browser.browser.new_context(**{"viewport": SIZE, "reduced_motion": "reduce", **about})
        self.context.add_init_script(path=SCRIPT)
        self.context.route(f"{SENTINEL}**", lambda route: route.abort())
        self.page = self.context.new_page()
        self.page.set_default_timeout(15_000)
        self.page.on("dialog", self._dismiss)
        self.page.on("popup", lambda page: self.asked.append(f"another page {page.url}"))
        self.page.on("request", lambda request: self._hear(request.url, own))

    def _dismiss(self, dialog):
        self.asked.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def _hear(self, url, own):
        if not re.match(own, url) and not url.startswith(("data:", "blob:")):
            self.asked.append(f"fetched {url}")

    def call(self, name, *given):
        """Call a function of watch.js. What is given travels as JSON, as a message of the kernel does."""
        return self.page.evaluate(f"given => watch.{name}(...JSON.parse(given))", json.dumps(given))

    def faults(self):
        """What happened since the last time that may not happen; where it is known with the number of the text."""
        self.page.wait_for_timeout(40)  # a frame or two: what a style fetches is asked for when it is painted
        found = [*self.call("takeFaults"), *self.asked]
        self.asked.clear()
        return [*dict.fromkeys(found), *(f"a frame: {frame.url}" for frame in self.page.frames[1:])]

    def close(self):
        self.context.close()
