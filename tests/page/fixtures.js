// What the tests of the page share: a model as anywidget gives one, a drawing, a step, keys.

import map from "../../guidedviz/widgets/page/map/map-panel.js";
import learning from "../../guidedviz/widgets/page/stage/learning.js";

export const HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';

/** A model that remembers what the page says; `tell` is what the kernel does. */
export function newModel(saved = {}) {
  const listeners = new Map();
  const model = {
    said: [],
    get: (name) => ({ saved })[name],
    on: (name, listener) => listeners.set(name, listener),
    off: (name) => listeners.delete(name),
    send: (content) => model.said.push(content),
    tell: (content) => listeners.get("msg:custom")?.(content),
    /** What JupyterLab does when the kernel is restarted. */
    restart() {
      model.send = () => {
        throw new Error("Cannot send");
      };
      listeners.get("comm_live_update")?.();
    },
    listeners,
    /** What a person made the page say: greetings and answers left out. */
    get asked() {
      return model.said.filter((content) => !["hello", "painted"].includes(content.do));
    },
  };
  return model;
}

/** Runs what waits for the next frame, and what that makes wait for another. */
export function frame() {
  while (globalThis.frames.length) globalThis.frames.shift()(0);
}

/** Renders a widget that was saved in this state. */
export function render(kind, saved) {
  const model = newModel(saved);
  const el = document.createElement("div");
  document.body.replaceChildren(el);
  const load = (name) => ({ then: (act) => act({ map, learning }[name]) }); // at once
  const stop = kind.default.render({ model, el, load });
  el.firstElementChild?.dispatchEvent(new Event("pointerover")); // somebody is there
  return { model, el, stop, root: el.firstElementChild, find: (selector) => el.querySelector(selector), all: (selector) => [...el.querySelectorAll(selector)] };
}

export function press(node, key, options = {}) {
  const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...options });
  node.dispatchEvent(event);
  return event;
}

/** A drawing of states in a row, with an arrow from each to the next. */
export function drawing(states) {
  const state = (n) => ["g", { class: "gv-state", "data-state": n }, ["rect", { class: "gv-disc", x: 50 * n, y: 0, width: 20, height: 20 }]];
  const arrow = (n) => ["g", { class: "gv-arrow", "data-arrow": `${n}-${n + 1}` }, ["path", { class: "gv-line" }], ["text", { class: "gv-nth" }]];
  const parts = Array.from({ length: states }, (_, n) => (n + 1 < states ? [state(n), arrow(n)] : [state(n)])).flat();
  return ["svg", { viewBox: "0 0 200 40", width: 200, height: 40 }, ["g", {}, ["g", { class: "gv-machine" }, ...parts]]];
}

export function step(label, more = {}) {
  const rows = [[7, label, 0.5, 0.9, true, "0.50", "0.90"], [8, "no", 0.4, 0, false, "0.40", "forbidden"]];
  return {
    token: 7, label, how: "sampled", back: [], masked: 0.9, maskedText: "0.90", rows, legal: 3, others: [[-1, "others legal", 0.1, 0.1, true, "0.10", "0.10"]],
    after: "after the mask", mass: 0.5, massText: "0.50", state: "q1", stack: [], ms: [1, 0.2, 0.1], times: ["1.0 ms", "0.2 ms", "0.1 ms"],
    end: "", words: `“${label}” sampled`, drawn: "", asked: null, ranks: [], drawing: 0, ...more,
  };
}

export const HEAD = {
  source: "LIVE", about: "clerk · cpu", date: "", prompt: "say ", constraint: "a regex", vocabulary: 4096, live: true, speeds: [1, 2, 4, 8, 15, 30, 60],
};

/** What the kernel tells a stage that has nothing: all steps, and where the cursor is. */
export function stageNews(steps, cursor, more = {}) {
  return {
    number: 1, from: 0, add: steps, next: null, head: HEAD, cursor, turn: 0, ended: false, stale: [], branches: [], temperature: 1, seed: 0, playing: false,
    speed: 4, note: "", why: null, top: [1.3, "1.3 ms"], ...more,
  };
}
