"""A bare page: the bundles that users get, in Chromium, without JupyterLab.

The widget's Python side runs in the test's own process. What it sends goes to the page through a web socket that
Playwright routes, and what the page sends comes back the same way. Playwright runs an asyncio loop in the test's
thread, and the widget uses this loop: it runs while the test waits for the page.
"""

import json
import time
from pathlib import Path

SIZE = {"width": 1380, "height": 1000}
HTML = "<!doctype html><meta charset=utf-8><title>guidedviz</title><body data-jp-theme-light=true>"
ADDRESS = "bare.test"
# beside the file browser of a laptop, a projector, a large one, a phone
SIZES = {"cell": (931, 768), "1280": (1280, 720), "1920": (1920, 1080), "phone": (390, 844)}
MOUNT = """async (text) => {
  const [name, code, saved, lost] = JSON.parse(text);
  const el = document.body.appendChild(document.createElement("div"));
  const listeners = new Map();
  let socket = { readyState: 1, send: () => {} };  // a page without a kernel
  if (name) {
    socket = new WebSocket(`ws://bare.test/${name}`);
    await new Promise((open) => (socket.onopen = open));
    const hear = (data) => listeners.get("msg:custom")?.(JSON.parse(data));
    window.hear = hear;  // of the last widget
    window.lose = () => listeners.get("comm_live_update")?.();
    socket.onmessage = ({ data }) => hear((window.heard = data));
  }
  const model = {
    get: (trait) => ({ saved, code: "IPY_MODEL_code" })[trait],
    widget_manager: { get_model: async () => lost ? Promise.reject() : ({ get: (trait) => code[trait] }) },
    on: (name, listener) => listeners.set(name, listener),
    off: (name) => listeners.delete(name),
    send: (content) => socket.send(JSON.stringify(content)),
  };
  const widget = await import("http://bare.test/loader.js");
  await widget.default.render({ model, el });
  (el.lastElementChild ?? el).dataset.shown = name;
}"""
WATCH = """root => {
  window.seen = [];
  window.watched = root;
  const look = () => {
    const cursor = Number(root.dataset.cursor);
    const top = root.querySelector(".gv-frame-card")?.textContent;
    const lit = root.querySelector(".gv-over .gv-state.gv-lit")?.dataset.state;
    if (cursor && window.seen.at(-1)?.[0] !== cursor) window.seen.push([cursor, Date.now(), top, lit]);
    if (window.watched === root) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""

HOLD = """() => {
  const isHeld = window.held;
  window.held = [];
  if (isHeld) return;
  const animate = Element.prototype.animate;
  Element.prototype.animate = function (...given) {
    const one = animate.apply(this, given);
    one.pause();
    window.held.push(one);
    return one;
  };
}"""
SEEK = """time => new Promise((done) => {
  const running = held.filter(({ playState }) => playState !== "idle");
  for (const one of running) one.currentTime = Math.min(time, one.effect.getComputedTiming().endTime - 0.01);
  requestAnimationFrame(() => requestAnimationFrame(done));
})"""


class Shown:
    """A page with widgets on it."""

    @property
    def stages(self):
        """All stages on the page; the other live views share their looks, not their keys."""
        return self.page.locator(".gv-stage:not(.gv-film, .gv-fraction, .gv-chart)")

    def stage(self, place=0):
        """A stage on the page, counted from the top."""
        return StagePage(self, self.stages.nth(place))


class BarePage(Shown):
    """An empty page on which widgets are shown, each with its own connection."""

    def __init__(self, context):
        self.errors = []
        self._shown = {}
        self._loader = ""
        self.page = context.new_page()
        self.be_still()  # a test of a motion asks for it
        self.page.set_default_timeout(15000)
        self.page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.route(f"http://{ADDRESS}/**", self._serve)
        self.page.route_web_socket(f"ws://{ADDRESS}/*", self._connect)
        self.page.goto(f"http://{ADDRESS}/")
        self.page.evaluate("localStorage.clear()")

    def _serve(self, route):
        name = route.request.url.rsplit("/", 1)[1]
        if name.endswith(".js"):
            route.fulfill(body=self._loader, content_type="text/javascript")
        else:
            route.fulfill(body=HTML if not name else "", content_type="text/html")

    def _connect(self, socket):
        wire = self._shown[socket.url.rsplit("/", 1)[1]].display.widget
        wire.send = lambda content, buffers=None: socket.send(json.dumps(content))
        socket.on_message(lambda said: wire._receive(None, json.loads(said), None))

    def show(self, shown, lost=False):
        """Put a live widget on the page, which may have lost the widget's code."""
        name = f"widget{len(self._shown)}"
        wire = shown.display.widget
        self._shown[name] = shown
        self._mount(name, wire, lost)
        return self.page.locator(f"[data-shown={name}]")

    def reopen(self, shown, lost=False):
        """Put on the page what a notebook keeps of a widget, without a kernel."""
        wire = shown.display.widget
        self._mount("", wire, lost)
        return self.page.locator("[data-shown='']")

    def _mount(self, name, wire, lost):
        self._loader = wire._esm
        self.page.evaluate(MOUNT, json.dumps([name, wire.code.parts, wire.saved, lost]))

    def show_stage(self, stage):
        """Put a stage on the page and wait until it has heard from Python."""
        page = StagePage(self, self.show(stage))
        self.wait(lambda: stage.display.widget._answered)
        return page

    def resize(self, width, height):
        self.page.set_viewport_size({"width": width, "height": height})

    def be_still(self):
        """As for a person who wants no motion."""
        self.page.emulate_media(reduced_motion="reduce")

    def move(self):
        self.page.emulate_media(reduced_motion="no-preference")

    def hold(self):
        """From now on what begins to move stands still until `seek` moves it, or `land` ends it."""
        self.page.evaluate(HOLD)

    def seek(self, time):
        """Move what is on its way to a time of its motion, in milliseconds."""
        self.page.evaluate(SEEK, time)

    def land(self):
        """End all that is on its way."""
        self.page.evaluate("held.forEach((one) => one.playState !== 'idle' && one.finish())")

    def theme(self, name):
        """Light or Dark, as JupyterLab says it."""
        self.page.evaluate("light => (document.body.dataset.jpThemeLight = light)", str(name == "Light").lower())

    def wait(self, holds, timeout=15):
        """Until something holds in Python."""
        deadline = time.monotonic() + timeout
        while not holds():
            assert time.monotonic() < deadline, "it did not come to hold"
            self.page.wait_for_timeout(5)

    def close(self):
        """Close what was shown; no error may be in the console."""
        for shown in self._shown.values():
            shown.display.close()
        self.page.close()
        assert self.errors == [], self.errors


class StagePage:
    """A stage as a person finds it on the page."""

    def __init__(self, shown, root):
        self.shown = shown
        self.page = shown.page
        self.root = root
        root.wait_for(timeout=20000)
        root.scroll_into_view_if_needed()

    def watch(self):
        """Note in `window.seen` when each step is painted, with the top of the stack and the lit state."""
        self.page.evaluate(WATCH, self.root.element_handle())

    def press(self, label):
        self.root.get_by_role("button", name=label, exact=True).click()

    def tab(self, name):
        """Show a panel beside the next token: machine, stack, map or constraint."""
        if self.page.viewport_size["width"] < 640:  # a phone has one tab more, which moves the others
            self.root.locator(".gv-tabs [data-name='next']").wait_for()
        self.root.locator(f".gv-tabs [data-name='{name}']").click()

    def look(self, what, name):
        """Choose colours or bars in the menu."""
        self.root.locator(".gv-more > summary").click()
        self.root.locator(f".gv-more [aria-label='{what}'] [data-name='{name}']").click()
        self.root.locator(".gv-more > summary").click()

    def save(self, what, form):
        """Save something of the run by the menu: the name of the file, and what is in it."""
        self.root.locator(".gv-more > summary").click()
        with self.page.expect_download() as saved:
            self.root.get_by_role("button", name=f"{what} as {form}", exact=True).click()
        self.root.locator(".gv-more > summary").click()
        return saved.value.suggested_filename, Path(saved.value.path()).read_bytes()

    def go_on(self, count):
        """Press for one step on, so many times; the page must follow each time."""
        for cursor in range(self.cursor + 1, self.cursor + count + 1):
            self.press("one step on")
            self.wait(cursor)

    def go_back(self, count):
        """Press for one step back, so many times."""
        for cursor in range(self.cursor - 1, self.cursor - count - 1, -1):
            self.press("one step back")
            self.wait(cursor)

    @property
    def cursor(self):
        return int(self.root.get_attribute("data-cursor"))

    def wait(self, cursor, timeout=15):
        """Until the page stands at this step."""
        self._wait_for(f"Number(root.dataset.cursor) === {cursor}", timeout)

    def run_to_end(self, timeout=30):
        """Press End and wait until the decode has ended."""
        self.press("to the end, decoding what is missing")
        self.wait_end(timeout)

    def wait_end(self, timeout=60):
        self._wait_for("root.dataset.ended === 'true' && root.dataset.playing === 'false'", timeout)

    def wait_ready(self, timeout=15):
        """Until the distribution of the next token is shown, or the end."""
        self._wait_for("root.dataset.ready === 'true' || root.dataset.ended === 'true'", timeout)

    def wait_past(self, cursor, timeout=15):
        """Until the page stands at this step or a later one."""
        self._wait_for(f"Number(root.dataset.cursor) >= {cursor}", timeout)

    def wait_paused(self, timeout=30):
        self._wait_for("root.dataset.playing === 'false'", timeout)

    def wait_words(self, words):
        """Until this is said of the step."""
        self.root.locator(f".gv-words:has-text({json.dumps(words)})").wait_for()

    def _wait_for(self, check, timeout):
        self.page.wait_for_function(f"root => {check}", arg=self.root.element_handle(), timeout=timeout * 1000)

    @property
    def tokens(self):
        return list(self.root.locator(".gv-chip .gv-name").all_inner_texts())

    @property
    def words(self):
        return str(self.root.locator(".gv-words").inner_text())

    def lit(self):
        """The states of the machine that are lit."""
        states = self.root.locator(".gv-over .gv-state.gv-lit")
        return list(states.evaluate_all("nodes => nodes.map(node => Number(node.dataset.state))"))


def middle(locator):
    """Where the middle of an element is on the page."""
    box = locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
