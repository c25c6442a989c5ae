"""Hostile texts at every place of a recording, of a message and of a page: nothing runs, nothing is fetched.

Each place is tried alone, then all places whose texts are shown are tried together with every text. A page may fail to
show a damaged recording; it may not do what the recording says.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

import guidedviz as gv
from guidedviz.files import shipped
from guidedviz.widgets.display import RECORDING
from guidedviz.widgets.recordings.recorded_page import page_css, read_bundle
from guidedviz.widgets.sharing.role import make_bar
from tests.browser.watched import Watched
from tests.hostile import Attack

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("hostile")]
GRAMMAR = 'root ::= "{" pair{1,3} "}"\npair ::= ["a]+ ":" (list | [0-9]) ","?\nlist ::= "[" [0-9] "]" | "[" root "]"'
PIECES = [b"<eos>", b"{", b'"a"', b":", b"[", b"1", b",", b"]", b"}", b"x", b"0", b"\xe2\x82"]
KINDS = [f"{kind}, recorded" for kind in ("stage", "film", "fold", "map", "table", "fraction")]
KINDS += [f"{kind}, live" for kind in ("stage", "map", "predict", "score", "picture")]
ROUNDS = {"recorded": 6, "live": 3}  # the page shows both with the same code
TEXT = (1, 2, 3, 4, 5, 7, 6, 8, 0)


def rule(tokens):
    wanted = TEXT[min(len(tokens) - 1, len(TEXT) - 1)]
    return [9.0 if token == wanted else 7.0 if token == 9 else 1.0 for token in range(len(PIECES))]


class Lesson:
    """A role that says a line, as the teacher's stage does in a class."""

    follows = False
    bar = staticmethod(lambda: make_bar("The class sees this run.", stop="stop"))
    start = moved = stop = staticmethod(lambda *stage: None)
    hear = staticmethod(lambda said, stage: False)


def build_run():
    """A model that writes a nested text, and the guide with its machine, its stack and its map."""
    model = gv.ToyModel(PIECES, rule, eos={0})
    return model, gv.guide(gv.grammar(GRAMMAR), model.vocabulary)


def build():
    """Every kind of widget."""
    model, nested = build_run()
    digits = gv.guide(gv.regex("[0-9]+x?"), gv.Vocabulary([b"<eos>", b"1", b"22", b"x", b"a"], eos={0}))
    payoff = gv.decoding.Payoff.load(shipped("traces/jump-cpu.json"))
    drawing = gv.draw_machine(gv.regex("ab"))
    asked = gv.predict("How `many`?", choices=["a", "b"], answer="a", reveal=["said", lambda: print(1), drawing])
    return {
        "stage": gv.stage(model, "x", nested, temperature=0, max_tokens=6, edit=True),
        "film": gv.film(gv.sketches.minimal_frames("ab|cb"), "a film"),
        "fold": gv.folded(gv.regex("(abc|xyz)[0-9]")),
        "map": gv.vocabulary_map(digits, before=1),
        "table": gv.token_table(digits),
        "fraction": gv.fraction_slider(replace(payoff, runs=payoff.runs[:2])),
        "predict": asked,
        "score": gv.score(),
        "picture": gv.bias_sliders(model, "x", ["x", '"a"']),
    }


@pytest.fixture(scope="module")
def shown():
    """What each kind of widget plays without a kernel, and the first message of those that a kernel tells more."""
    patch = pytest.MonkeyPatch()
    for name in ("GUIDEDVIZ_HEADLESS", "GUIDEDVIZ_SITE"):
        patch.setenv(name, "1")
    widgets = build()
    bundles = {kind: widget._repr_mimebundle_() for kind, widget in widgets.items()}
    found = {f"{kind}, recorded": bundle[RECORDING]["shown"] for kind, bundle in bundles.items() if RECORDING in bundle}
    for name in ("GUIDEDVIZ_HEADLESS", "GUIDEDVIZ_SITE"):
        patch.delenv(name)
    with ThreadPoolExecutor(1) as alone:  # Playwright's loop runs in this thread, and a widget would wait for it
        found |= alone.submit(tell).result()
    patch.undo()
    return json.loads(json.dumps(found))


def tell():
    """The messages of a kernel."""
    widgets = build()
    stage = widgets["stage"].take(4).join(Lesson())
    stage.display.widget._receive(None, {"do": "picture", "name": "tree"}, None)
    stage.go(2)
    stage.edit('root ::= "{" "b"', "grammar")
    widgets["predict"].commit("b")
    widgets["score"].display.tell()
    widgets["map"]._feed.hear({"do": "map", "ask": "texts", "of": 0}, 0)
    heard = {}
    for kind in ("stage", "map", "predict", "score", "picture"):
        wire = widgets[kind].display.widget if kind != "picture" else widgets[kind].widget.children[-1]
        wire.send = lambda content, buffers=None, kind=kind: heard.update({f"{kind}, live": content})
        wire.tell(everything=True)
    return heard


LOAD = """async ([kind, code, style]) => {
  const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  window.kinds = Object.assign(window.kinds ?? {}, { [kind]: (await import(url)).default });
  unwatched = true;
  document.head.append(Object.assign(document.createElement("style"), { textContent: style }));
  await new Promise((done) => setTimeout(done, 50));
  unwatched = false;
}"""
# Presses what a person can press; of buttons that look alike the first two.
PRESS = """function press(root, look = () => {}, flush = () => {}) {
  flush();
  const counts = {};
  const few = (selector) => [...root.querySelectorAll(selector)].filter(({ className }) => (counts[selector + className] = (counts[selector + className] ?? 0) + 1) <= 2);
  const key = (node, name) => node.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }));
  for (const node of few(".gv-chip, .gv-row, .gv-state, .gv-timebars i, td")) {
    for (const name of ["pointerover", "pointerenter", "pointermove", "focusin"]) node.dispatchEvent(new PointerEvent(name, { bubbles: true }));
    flush();
  }
  look();
  for (const node of few("canvas, .gv-map, table")) for (const name of ["Home", "ArrowRight"]) key(node, name);
  flush();
  look();
  for (const node of few("button, summary, td, [role=button], label")) {
    if (node.isConnected && !node.closest(".gv-save")) node.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
    if (node.matches(".gv-struck")) look();
  }
  flush();
  look();
  for (const name of ["End", "Home", "ArrowRight"]) key(root, name);
  flush();
}"""
# Shows a widget with each record in turn, presses what can be pressed, and says whether it failed and which marks it shows.
TRY = """async ([kind, live, given]) => {
  const frames = [];
  window.nextFrame ??= window.requestAnimationFrame; // of the browser; frames that a widget asks for come when they are awaited
  window.requestAnimationFrame = (act) => frames.push(act);
  HTMLAnchorElement.prototype.click = function () { this.href.startsWith("blob:") || note(`a link to ${this.href}`); };
  const said = [];
  let failed = "";
  window.onerror = (words) => (failed ||= words); // what a listener throws
  for (const [pressed, saved] of JSON.parse(given)) {
    const el = document.createElement("div");
    document.body.append(el);
    const listeners = {};
    const known = live ? { saved: {} } : { saved, recorded: true, open: 2 };
    const model = { get: (name) => known[name], on: (name, act) => (listeners[name] = act), off: () => {}, send: () => {} };
    let [stop, seen] = [() => {}, ""];
    failed = "";
    try {
      stop = kinds[kind].render({ model, el }) ?? stop;
      if (live) listeners["msg:custom"](saved);
    } catch (error) {
      failed = String(error);
    }
    flush();
    el.getBoundingClientRect();
    if (pressed) await new Promise((done) => nextFrame(() => setTimeout(done))); // a map is drawn once it has a size
    const look = () => (seen += el.outerHTML);
    if (pressed && el.firstElementChild) press(el.firstElementChild, look, flush);
    look();
    stop();
    el.remove();
    said.push([failed, [...new Set(seen.match(/(ran=|invalid\\/)\\d{7}/g))]]);
  }
  return said;

  function flush() {
    for (let round = 0; round < 3; round++) {
      for (const act of frames.splice(0)) {
        try {
          act(performance.now());
        } catch (error) {
          failed ||= String(error);
        }
      }
    }
  }

%s
}""" % PRESS


@pytest.fixture(scope="module")
def bare_page(browser):
    """A page of the bundles, where no text may become markup."""
    page = Watched(browser, r"http://bare\.test/$")
    policy = {"Content-Security-Policy-Report-Only": "require-trusted-types-for 'script'; trusted-types 'none'"}
    html = "<!doctype html><meta charset=utf-8><title>x</title><body data-jp-theme-light=true>"
    page.page.route("http://bare.test/**", lambda route: route.fulfill(body=html, content_type="text/html", headers=policy))
    page.page.goto("http://bare.test/")
    yield page
    page.close()


@pytest.mark.parametrize("name", KINDS)
def test_no_text_of_a_widget_does_anything_on_the_page(shown, bare_page, name):
    kind, live = name.split(", ")
    style = page_css() + read_bundle(f"{kind}.css")
    bare_page.page.evaluate(LOAD, [kind, read_bundle(f"{kind}.js"), style])

    def show(records, pressed):
        return bare_page.page.evaluate(TRY, [kind, live == "live", json.dumps([[pressed, one] for one in records])])

    attack = Attack(shown[name], show, bare_page.faults)
    attack.run(ROUNDS[live], press_all=kind == "map")  # a map reads its texts when it is used
    attack.report(name)
    assert len(attack.shown) >= 0.4 * len(attack.texts), sorted(attack.texts.keys() - attack.shown)
