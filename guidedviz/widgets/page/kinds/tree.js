// The tree of all texts, with one slider: when are illegal texts removed? All of it comes at once.

/** @import { Model, TreeBox } from "../types.js" */
/** @import { Motion } from "../motion/player.js" */
import { play } from "../motion/player.js";
import { lookOf, treeMoves } from "../motion/tree-moves.js";
import { commandOf, consume, widgetRoot } from "../shared/controls.js";
import { make, setText, wantsStillness, writeToken } from "../shared/elements.js";
import { sayChance } from "../stage/bars.js";

const STOPS = ["never", "at each step", "at the end"];
/** @type {Record<string, (stop: number) => number>} */
const KEYS = { step: (stop) => stop + 1, back: (stop) => stop - 1, start: () => 0, end: () => STOPS.length - 1 };

/**
 * A box with its token, its probability, and the hatch of what is forbidden.
 * @param {TreeBox} box
 */
function buildBox({ row, words, text, legal }) {
  const [name, said, hatch] = [make("b", { class: "gv-name" }), make("span", { class: "gv-tree-said" }), make("i", {})];
  writeToken(name, text || words);
  const node = make("div", { class: `gv-tree-box ${legal ? "gv-tree-legal" : "gv-tree-illegal"}`, vars: { "--row": row } }, hatch, name, said);
  node.classList.toggle("gv-tree-text", Boolean(text));
  return { node, said, hatch };
}

/** @param {{ model: Model, el: HTMLElement }} place */
function render({ model, el }) {
  const { boxes, words } = /** @type {{ boxes: TreeBox[], words: string[] }} */ (model.get("saved"));
  const parts = boxes.map(buildBox);
  const slider = make("input", { type: "range", min: 0, max: STOPS.length - 1, step: 1, value: 0, "aria-label": "illegal texts are removed" });
  const stops = make("div", { class: "gv-tree-stops", "aria-hidden": "true" }, ...STOPS.map((name) => make("span", {}, name)));
  const said = make("p", { class: "gv-tree-words", role: "status" });
  const room = make("div", { class: "gv-panel gv-tree", "aria-hidden": "true", vars: { "--rows": 1 + Math.max(...boxes.map(({ row }) => row)) } }, ...parts.map(({ node }) => node));
  const head = make("div", { class: "gv-tree-head" }, make("strong", {}, "illegal texts are removed"), make("div", {}, slider, stops));
  const root = widgetRoot("gv-texts", "the tree of all texts", {}, head, room, said);
  let at = 0;
  /** @type {Motion | null} */
  let motion = null;
  function paint() {
    boxes.forEach((box, place) => {
      const { node, said: number, hatch } = parts[place];
      Object.assign(node.style, lookOf(box, at));
      hatch.style.opacity = box.legal ? "0" : String(Math.min(at, 1));
      setText(number, sayChance(box.spans[box.legal ? at : 0][1]));
    });
    stops.querySelectorAll("span").forEach((name, stop) => name.classList.toggle("gv-tree-now", stop === at));
    root.dataset.stop = slider.value = String(at);
    slider.setAttribute("aria-valuetext", STOPS[at]);
    setText(said, words[at]);
  }
  /** @param {number} stop */
  function go(stop) {
    const before = at;
    at = Math.max(0, Math.min(STOPS.length - 1, stop));
    motion?.finish();
    paint();
    if (at === before || wantsStillness()) return;
    /** @param {string} part */
    const find = (part) => {
      const [kind, place] = part.split(" ");
      const { node, said: number, hatch } = parts[Number(place)];
      return { box: node, said: number, hatch }[kind];
    };
    motion = play(treeMoves(boxes, before, at), find, { say: sayChance });
  }
  slider.addEventListener("input", () => go(Number(slider.value)));
  root.addEventListener("keydown", (event) => {
    const key = KEYS[commandOf(event)];
    if (!key) return;
    consume(event);
    go(key(at));
  });
  el.append(root);
  paint();
}

export default { render };
