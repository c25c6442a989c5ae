"""Pages that are watched while hostile texts are on them: what runs, what is fetched, which elements appear."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tests.browser.bare import SIZE
from tests.hostile import SENTINEL

TAGS = (
    "body div span p strong b i em small code pre kbd br button input label select option textarea details summary form fieldset legend "
    "ul ol li table caption thead tbody tr th td header h1 h2 h3 nav canvas output "
    "dl dt dd del svg g path rect circle ellipse line polygon polyline text tspan title defs pattern mask image"
).split()
ATTRIBUTES = (
    r"class id role tabindex type name value title hidden inert disabled checked required open for lang scope placeholder "
    r"min max step rows autocomplete spellcheck xmlns width height x y x1 y1 x2 y2 cx cy r rx ry dx dy d points viewBox "
    r"transform fill fill-\w+ stroke stroke-\w+ opacity font-\w+ letter-spacing text-anchor dominant-baseline paint-order "
    r"xml:space preserveAspectRatio maskUnits patternUnits image-rendering text-decoration mask wrap autocapitalize style aria-\w+ data-[\w-]+"
).split()
STYLED = r"^(style|fill|stroke|mask)$"  # attributes in which an address is fetched
# Everything that is added once the page was read is looked at, also what is removed again at once.
WATCH = """(() => {
  const [tags, attributes, styled] = [new Set(%s), new RegExp(%s), new RegExp(%s)];
  const faults = [];
  const note = (what) => faults.length < 2000 && faults.push(what.slice(0, 300));
  const own = 'script[type="text/plain"][data-code], script[src$="files/index.js"], .found a:not([href*=":"])'; // of the site
  const lookAt = (node) => {
    if (node.matches(own)) return;
    if (!tags.has(node.localName) || node.localName !== node.tagName.toLowerCase()) note(`element ${node.outerHTML.slice(0, 120)}`);
    for (const { name, value } of node.attributes) {
      if (name === "href" && value.startsWith("data:image/png;base64,")) continue; // the tiles of a map
      if (!attributes.test(name)) note(`attribute ${name} of ${node.outerHTML.slice(0, 120)}`);
      else if (styled.test(name) && /script:|@import|image-set|url\\((?!["']?#)/i.test(value.replace(/--[\\w-]+:[^;]*/g, ""))) note(`${name} is ${value.slice(0, 120)}`);
    }
  };
  Object.assign(window, { faults, lookAt, note });
  Object.defineProperty(window, "ran", { set: (number) => note(`a script ran: ${number}`), get: () => undefined });
  if (top !== window) top.note?.(`a frame: ${location}`);
  addEventListener("securitypolicyviolation", (event) => {
    const sink = event.effectiveDirective.startsWith("require-trusted-types");
    if (!event.sourceFile?.startsWith("__")) note(sink ? `text became markup: ${event.sample}` : `refused by the policy: ${event.effectiveDirective} ${event.blockedURI}`);
  }, true);
  const observer = new MutationObserver((all) => {
    if (window.unwatched) return;
    for (const { type, target, addedNodes } of all) {
      if (type === "attributes") lookAt(target);
      for (const node of addedNodes) if (node.nodeType === 1) [node, ...node.querySelectorAll("*")].forEach(lookAt);
    }
  });
  document.addEventListener("readystatechange", () => observer.observe(document, { subtree: true, childList: true, attributes: true }), { once: true });
})()""" % (json.dumps(TAGS), json.dumps(f"^({'|'.join(ATTRIBUTES)})$"), json.dumps(STYLED))
FACTS = """() => {
  const strange = "script, style, link, meta, base, iframe, frame, object, embed, img, image, use, a, form, foreignObject, video, audio, animate, set, template";
  const found = [...document.querySelectorAll(strange)].map((node) => node.localName);
  const all = [...document.querySelectorAll("*")];
  const bad = all.filter((node) => [...node.attributes].some(({ name, value }) => /^on/i.test(name) || /^\\s*javascript:/i.test(value) && /href|src|action/i.test(name)));
  return { found: found.sort().join(" "), bad: bad.map((node) => node.outerHTML.slice(0, 200)), polluted: Object.keys(Object.prototype).length };
}"""


class Watched:
    """A page on which nothing may run and that may fetch nothing but itself."""

    def __init__(self, browser: Any, own: str, **about: Any) -> None:
        self.asked: list[str] = []
        self.context = browser.browser.new_context(**{"viewport": SIZE, "reduced_motion": "reduce", **about})
        self.context.add_init_script(WATCH)
        self.context.route(f"{SENTINEL}**", lambda route: route.abort())
        self.page = self.context.new_page()
        self.page.set_default_timeout(15_000)
        self.page.on("dialog", self._dismiss)
        self.page.on("request", lambda request: self._ask(request.url, own))
        self.page.on("popup", lambda page: self.asked.append(f"another page {page.url}"))

    def _dismiss(self, dialog: Any) -> None:
        self.asked.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def _ask(self, url: str, own: str) -> None:
        if not re.match(own, url) and not url.startswith(("data:", "blob:")):
            self.asked.append(url)

    def faults(self) -> list[str]:
        """What happened since the last time that may not happen; the number of a text stands in it where it is known."""
        self.page.wait_for_timeout(40)  # a frame or two: what is fetched for a style is asked for when it is painted
        found = [*self.page.evaluate("faults.splice(0)"), *(f"fetched {url}" for url in self.asked)]
        self.asked.clear()
        return [*dict.fromkeys(found), *(f"a frame: {frame.url}" for frame in self.page.frames[1:])]

    def close(self) -> None:
        self.context.close()
