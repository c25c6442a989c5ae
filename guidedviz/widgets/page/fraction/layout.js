// The elements of the fraction slider, built once.

import { buildNote, paintSource, widgetRoot } from "../shared/controls.js";
import { make, setText, shape } from "../shared/elements.js";
import { draw } from "../shared/shapes.js";
/** @import { FractionView } from "../types.js" */

/** @typedef {ReturnType<typeof buildFraction>} FractionUi */

/**
 * A lane, and its part of the formula: the first lane is over the line, the second one under it.
 * @param {string} name
 * @param {string} passWords
 */
function buildLane(name, passWords) {
  const own = shape("path", { class: "gv-pass-own" });
  const read = shape("path", { class: "gv-pass-read" });
  const clock = shape("path", { class: "gv-pass-clock" });
  const svg = shape("svg", { viewBox: "0 0 1000 18", preserveAspectRatio: "none", class: "gv-lane", "aria-hidden": "true" }, own, read, clock);
  const said = make("span", { class: "gv-lane-said" });
  const ownTerm = buildTerm("own", `${name}: ${passWords}`, own);
  const readTerm = buildTerm("read", `${name}: milliseconds to read a token`, read);
  const formula = make("span", { class: "gv-formula" }, ownTerm, " + ", readTerm);
  return { own, read, clock, said, ownTerm, readTerm, nodes: [make("span", {}, make("span", { class: "gv-soft" }, `${name}: `), said), svg, formula] };
}

/**
 * A number of the formula: it and its boxes light each other.
 * @param {string} name
 * @param {string} meaning
 * @param {SVGElement} boxes
 */
function buildTerm(name, meaning, boxes) {
  const term = make("button", { type: "button", class: `gv-term gv-term-${name}`, title: meaning, "aria-description": meaning });
  for (const [node, on, off] of /** @type {[Element, string, string][]} */ ([[term, "pointerenter", "pointerleave"], [term, "focus", "blur"], [boxes, "pointerenter", "pointerleave"]])) {
    node.addEventListener(on, () => [term, boxes].forEach((one) => one.classList.add("gv-lit")));
    node.addEventListener(off, () => [term, boxes].forEach((one) => one.classList.remove("gv-lit")));
  }
  return term;
}

/** @param {string} name */
export const sign = (name) => make("i", { class: `gv-sign gv-sign-${name}` });

/** @param {() => void} sweep times every place */
export function buildFraction(sweep) {
  const badge = make("strong", { class: "gv-badge" });
  const about = make("span", { class: "gv-soft" });
  const all = make("button", { type: "button", class: "gv-key gv-step", on: { click: sweep } });
  const header = make("header", { role: "none" }, make("div", { class: "gv-about" }, badge, about), all);
  const words = make("p", { class: "gv-fraction-words" });
  const fate = make("p", { class: "gv-soft gv-fraction-fate", role: "status", "aria-live": "polite" });
  const note = buildNote();

  const plot = make("div", { class: "gv-fraction-plot" });
  const share = make("input", { type: "range", min: 0, step: 0.005, class: "gv-share", "aria-label": "fraction of tokens that are forced" });
  const rows = make("input", { type: "range", min: 0, step: 0.05, class: "gv-batch", "aria-label": "texts side by side" });
  const count = make("output");
  const rowSlider = make("label", { class: "gv-fraction-rows" }, "texts side by side", rows, count);
  const left = make("div", { role: "group", class: "gv-panel", "aria-label": "speed-up" }, plot, share, rowSlider);

  const says = { ideal: make("b"), model: make("b"), measured: make("b") };
  /** @param {keyof typeof says} name @param {string} curve */
  const line = (name, curve) => [sign(name), make("span", {}, curve), says[name]];
  const others = make("span", { class: "gv-soft gv-others" }, sign("others"), "with other rows");
  const lines = [...line("ideal", "ideal, 1/(1 − f)"), ...line("model", "cost model"), ...line("measured", "measured")];
  const kinds = make("div", { class: "gv-fraction-kinds gv-soft" });
  const text = make("div", { class: "gv-fraction-text", role: "group", "aria-label": "tokens" });
  const legend = make("div", { class: "gv-fraction-legend" }, ...lines, others);
  const room = make("div", { class: "gv-fraction-room", "aria-hidden": "true" }); // the longest text: nothing below moves with the handle
  const right = make("div", { role: "group", class: "gv-panel", "aria-label": "text" }, legend, kinds, make("div", { class: "gv-fraction-texts" }, room, text));

  const lanes = [buildLane("token by token", "milliseconds of a pass"), buildLane("jump-forward", "the share of free tokens times the milliseconds of a pass")];
  const equals = make("b", { class: "gv-equals" });
  /** @param {string} name @param {string} meaning */
  const key = (name, meaning) => make("span", {}, sign(name), meaning);
  const keys = make("div", { class: "gv-fraction-keys gv-soft" }, key("own", "a pass"), key("read", "the tokens that it reads, by the cost model"), key("clock", "measured"));
  const formula = make("span", { class: "gv-soft gv-formula-words" }, "(pass + token) / ((1 − f) · pass + token), in milliseconds");
  const below = make("div", { role: "group", class: "gv-panel gv-fraction-lanes", "aria-label": "passes" }, ...lanes.flatMap((lane) => lane.nodes), equals, keys, formula);

  const grid = make("div", { class: "gv-fraction-grid" }, left, right);
  const root = widgetRoot("gv-fraction", "fraction slider", {}, header, words, fate, note, grid, below);
  return {
    root, badge, about, all, words, fate, note, plot, share, rows, count, says, others, kinds, text, room, lanes, equals,
    parts: /** @type {Record<string, SVGElement>} */ ({}), // of the plot
    painted: /** @type {{ row?: number, runs?: object, text?: object }} */ ({}), // what was painted last
  };
}

/**
 * Shows another plot, with nothing of the old one kept.
 * @param {FractionUi} ui
 * @param {FractionView} view
 */
export function showPlot(ui, { plot, axes, rows, head }) {
  const svg = draw(plot);
  const parts = /** @type {SVGElement[]} */ ([...svg.querySelectorAll("[data-part]")]);
  ui.parts = Object.fromEntries(parts.map((node) => [node.dataset.part, node]));
  ui.parts["on-model"].setAttribute("r", "8");
  ui.plot.replaceChildren(svg);
  for (const name of /** @type {const} */ (["left", "span"])) ui.root.style.setProperty(`--gv-${name}`, String(axes[name] / axes.width));
  ui.share.max = String(axes.last);
  ui.rows.max = String(rows.length - 1);
  paintSource(ui.badge, head.source);
  setText(ui.about, head.about);
  ui.painted = {};
}
