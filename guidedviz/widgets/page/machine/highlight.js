// What is lit in a drawing: the states and arrows that a token's bytes went through, and where a forbidden one died.

/** @import { Spot } from "./camera.js" */
/** @import { Drawing } from "./drawing.js" */
/** @import { StageView, Way } from "../types.js" */
import { shape } from "../shared/elements.js";
import { mayMove } from "../stage/pace.js";
import { copyPart, copyParts, follow, pathOf, spotOf } from "./drawing.js";

/**
 * Lights the last state of a path and the states before it; arrows carry the numbers of their bytes.
 * @param {Drawing} drawing
 * @param {number[]} path
 * @param {string} died the byte that could not be read
 * @param {StageView} view
 */
export function lightPath(drawing, path, died, view) {
  const shown = `${path}|${died}`;
  if (drawing.shown === shown) return;
  drawing.shown = shown;
  const taken = new Map();
  path.slice(1).forEach((state, place) => addTo(taken, `${path[place]}-${state}`, place + 1));
  const last = path[path.length - 1];
  const before = [...new Set(path)].filter((state) => state !== last);
  const spot = spotOf(drawing.states.get(last));
  drawing.layer.replaceChildren(
    ...copyArrows(drawing, taken, path.length + (died ? 1 : 0) > 2),
    ...copyParts(drawing.states, before, "gv-met"),
    ...copyParts(drawing.states, [last], "gv-lit"),
    ...(spot && died ? [drawCross(spot, died)] : []),
  );
  drawing.at = pathOf(drawing, path);
  follow(drawing, mayMove(view));
}

/**
 * Lights a pushdown machine after a token: its nodes, its open calls, the arrows that read the bytes.
 * @param {Drawing} drawing
 * @param {StageView} view
 * @param {Way} way
 */
export function lightStack(drawing, view, way) {
  const shown = `${way.path}|${way.died}`;
  if (drawing.shown === shown) return;
  drawing.shown = shown;
  const { now, back, calls, last, rules, counts, frames } = view.known[way.path[way.path.length - 1]];
  const { states, arrows } = drawing;
  const called = new Set(calls.map(([key]) => key));
  const taken = new Map();
  way.taken.forEach((keys, place) => keys.forEach((key) => addTo(taken, key, place + 1)));
  const open = [...new Set(frames.map(([, rule]) => rule))].filter((rule) => !rules.includes(rule));
  const blocks = [...copyParts(drawing.rules, open, "gv-open"), ...copyParts(drawing.rules, rules, "gv-lit")];
  blocks.forEach((block) => sayCount(block, new Map(counts)));
  const spot = spotOf(states.get(now.find((node) => states.has(node)) ?? -1));
  drawing.layer.replaceChildren(
    ...blocks,
    ...copyParts(arrows, last.filter((key) => !called.has(key)), "gv-last"),
    ...calls.flatMap(([key, times]) => copyCall(arrows.get(key), times)),
    ...copyArrows(drawing, taken, way.path.length > 2),
    ...copyParts(states, back.filter((node) => !now.includes(node)), "gv-back"),
    ...copyParts(states, now, "gv-lit"),
    ...(spot && way.died ? [drawCross(spot, way.died)] : []),
  );
  const passed = way.taken.flatMap((keys) => keys.flatMap((key) => key.split(/\D/).map(Number)));
  const ends = [...states].flatMap(([state, node]) => (node.matches(".gv-may-end") ? [state] : []));
  drawing.at = pathOf(drawing, [...passed, ...now]) ?? pathOf(drawing, ends.slice(-1)); // where a text has ended it stands nowhere
  follow(drawing, mayMove(view));
}

/**
 * @param {Map<string, number[]>} lists
 * @param {string} key
 * @param {number} value
 */
const addTo = (lists, key, value) => lists.set(key, [...(lists.get(key) ?? []), value]);

/** @param {number[]} numbers */
const sayNumbers = (numbers) =>
  numbers.length <= 3 ? numbers.join(" ") : `${numbers[0]} ${numbers[1]} … ${numbers[numbers.length - 1]}`;

/**
 * @param {SVGElement | undefined} node
 * @param {number} times
 */
function copyCall(node, times) {
  if (!node) return [];
  const twin = copyPart(node, "gv-open");
  const more = twin.querySelector(".gv-times");
  if (more && times > 1) more.textContent = `×${times}`;
  return [twin];
}

/**
 * Writes the counter of a counted rule into its frame.
 * @param {SVGElement} block
 * @param {Map<string | undefined, string>} counts
 */
function sayCount(block, counts) {
  const text = block.querySelector(".gv-count");
  const said = counts.get(block.dataset.rule);
  if (text && said) text.textContent = said;
}

/**
 * Copies of the arrows that were taken. Arrows of one folded run stay together, with the run's label.
 * @param {Drawing} drawing
 * @param {Map<string, number[]>} taken arrow to the numbers of its bytes
 * @param {boolean} numbered
 */
function copyArrows(drawing, taken, numbered) {
  /** @type {Map<Element, SVGElement[]>} */
  const runs = new Map();
  const copies = [];
  for (const [key, numbers] of taken) {
    const node = drawing.arrows.get(key);
    if (!node) continue;
    const arrow = copyPart(node, "gv-on");
    const number = arrow.querySelector(".gv-nth");
    if (number && numbered) number.textContent = sayNumbers(numbers);
    const run = node.closest(".gv-run");
    if (!run) copies.push(arrow);
    else runs.set(run, [...(runs.get(run) ?? []), arrow]);
  }
  for (const [run, arrows] of runs) {
    const label = /** @type {Node} */ (run.lastChild).cloneNode(true);
    copies.push(shape("g", { class: "gv-run gv-on" }, ...arrows, label));
  }
  return copies;
}

/**
 * A cross at a state, with the byte that could not be read.
 * @param {Spot} spot
 * @param {string} byte
 */
function drawCross({ x, y, rx, ry }, byte) {
  const [left, top] = [x + rx + 9, y - ry - 5];
  const text = shape("text", { x: left + 10, y: top + 4, "font-size": 12 }, byte);
  return shape("g", { class: "gv-cross" }, shape("path", { d: `M${left - 5},${top - 5}l10,10m0,-10l-10,10` }), text);
}
