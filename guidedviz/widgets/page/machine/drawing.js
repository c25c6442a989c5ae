// A drawing in a panel: whole while its labels can be read, else close up on what is followed. A pointer can drag it. It comes
// once and is not touched again: what is lit lies on a second sheet above it, so that a step paints a few shapes and not
// three hundred states.

import { toggle } from "../shared/controls.js";
/** @import { Shapes } from "../types.js" */
/** @import { Camera, Path, Scales, Size, Spot } from "./camera.js" */
import { make, shape, wantsStillness } from "../shared/elements.js";
import { draw } from "../shared/shapes.js";
import { aim, around, LESS, toPixels, transformOf } from "./camera.js";

const LEAST = 12; // pixels on the screen of the smallest label
const LEAST_AFAR = 16; // the same in a lecture hall
const HALF = 3.5; // units of a letter to both sides
const TINY = 0.5; // of it is too small to be offered, but on a full screen
const MOST = 18; // a drawing is not enlarged beyond labels of so many pixels
const HIGH = 400; // pixels that a drawing may be high where its panel has no height of its own
const EASE = { duration: 250, easing: "ease-in-out" }; // of the move to another part

/** @typedef {ReturnType<typeof buildDrawing>} Drawing */

export function buildDrawing(label = "drawing of the machine") {
  const sheets = make("div", { class: "gv-sheets" });
  /** @param {PointerEvent} event */
  const drag = ({ buttons, movementX, movementY }) => {
    if (!buttons || view.dataset.size !== "close") return;
    const { x, y, scale } = drawing.camera;
    place(drawing, { scale, x: x + movementX, y: y + movementY });
  };
  const view = make("div", { class: "gv-diagram", role: "group", "aria-label": label, on: { pointermove: drag } }, sheets);
  const drawing = {
    view,
    sheets,
    node: make("div", { class: "gv-diagram-box" }, view),
    size: toggle("", { whole: "whole" }, () => {
      drawing.whole = view.dataset.size === "close";
      fitDrawing(drawing);
    }),
    svg: /** @type {SVGElement | null} */ (null),
    layer: shape("g", {}),
    states: /** @type {Map<number, SVGElement>} */ (new Map()),
    arrows: /** @type {Map<string, SVGElement>} */ (new Map()),
    rules: /** @type {Map<string, SVGElement>} */ (new Map()),
    at: /** @type {Path | null} */ (null), // the part that is followed
    shown: "", // what is lit now
    whole: false, // whether the person wants all of it, however small
    row: false, // whether it is a rule in focus
    letters: LEAST, // the size of the smallest label in the drawing
    width: 0,
    height: 0,
    camera: /** @type {Camera} */ ({ scale: 1, x: 0, y: 0 }),
    room: /** @type {Size} */ ([0, 0]),
    scales: /** @type {Scales} */ ({ least: 1, most: 1 }),
  };
  drawing.size.node.hidden = true;
  drawing.size.node.title = "the whole drawing, with small labels";
  new ResizeObserver(() => fitDrawing(drawing)).observe(drawing.node);
  return drawing;
}

/**
 * @param {Drawing} drawing
 * @param {Shapes} shapes
 */
export function showDrawing(drawing, shapes) {
  const svg = draw(shapes);
  /** @param {string} name */
  const parts = (name) => /** @type {SVGElement[]} */ ([...svg.querySelectorAll(`[data-${name}]`)]);
  drawing.svg = svg;
  svg.dataset.move = "ground";
  drawing.states = new Map(parts("state").map((node) => [Number(node.dataset.state), node]));
  drawing.arrows = new Map(parts("arrow").map((node) => [String(node.dataset.arrow), node]));
  drawing.rules = new Map(parts("rule").map((node) => [String(node.dataset.rule), node]));
  const [viewBox, width, height] = ["viewBox", "width", "height"].map((name) => svg.getAttribute(name));
  [drawing.width, drawing.height] = [Number(width), Number(height)];
  drawing.letters = lettersIn(svg);
  const frame = svg.querySelector(".gv-machine")?.parentElement;
  drawing.layer = shape("g", { class: "gv-machine", transform: frame?.getAttribute("transform") ?? "" });
  const over = shape("svg", { viewBox, width, height, class: "gv-over", "aria-hidden": "true" }, drawing.layer);
  drawing.shown = "";
  drawing.whole = false;
  drawing.at = null;
  drawing.sheets.replaceChildren(svg, over);
  fitDrawing(drawing);
}

/**
 * The size of the smallest label of a drawing.
 * @param {SVGElement} svg
 */
export function lettersIn(svg) {
  const labels = [...svg.querySelectorAll("text[font-size]")].filter((node) => node.textContent);
  return Math.min(...labels.map((node) => Number(node.getAttribute("font-size"))), LEAST);
}

/**
 * The scales of a drawing of this size of letters on a stage.
 * @param {Element} view
 * @param {number} letters
 * @returns {Scales}
 */
export function scalesOf(view, letters) {
  const node = /** @type {HTMLElement} */ (view);
  const zoom = Math.round((100 * node.getBoundingClientRect().width) / node.offsetWidth) / 100 || 1;
  return { least: (view.closest(".gv-lecture") ? LEAST_AFAR : LEAST) / zoom / letters, most: MOST / letters };
}

/**
 * Chooses the scale: the whole drawing where its labels stay legible, or nearly so, else close up.
 * @param {Drawing} drawing
 */
export function fitDrawing(drawing) {
  const { node, view, svg, letters, width, height, row } = drawing;
  if (!svg || !node.clientWidth) return; // out of sight
  const stage = view.closest(".gv-live-stage"); // there a panel has its height from the screen
  const scales = scalesOf(view, letters);
  const fit = Math.min(scales.most, node.clientWidth / width, (stage ? node.clientHeight : HIGH) / height);
  const whole = fit >= LESS * scales.least;
  const close = !whole && !drawing.whole;
  drawing.scales = { ...scales, whole: !close };
  drawing.size.node.hidden = row || whole || (fit < TINY * scales.least && !view.closest(".gv-lecture, .gv-film"));
  drawing.size.set(close ? "" : "whole");
  view.dataset.size = close ? "close" : "whole";
  if (!stage) view.style.height = `${Math.min(HIGH, height * (close ? scales.least : fit))}px`;
  drawing.room = [view.clientWidth, view.clientHeight];
  follow(drawing, false);
}

/**
 * Puts the drawing where a camera says; a label that is cut there is not shown.
 * @param {Drawing} drawing
 * @param {Camera} camera
 */
function place(drawing, camera) {
  const { sheets, width, height, room } = drawing;
  drawing.camera = camera;
  sheets.style.width = `${width * camera.scale}px`;
  sheets.style.height = `${height * camera.scale}px`;
  sheets.style.transform = transformOf(camera, camera.scale);
  for (const label of sheets.querySelectorAll("text.gv-label")) {
    const half = HALF * camera.scale * label.textContent.length;
    const { x } = toPixels(camera, { x: Number(label.getAttribute("x")), y: 0 });
    label.classList.toggle("gv-out", x < half || x > room[0] - half);
  }
}

/**
 * Moves the part that is followed into sight: one eased move, with time for it.
 * @param {Drawing} drawing
 * @param {boolean} eased
 */
export function follow(drawing, eased) {
  const { at, room, scales, width, height, camera: before, sheets } = drawing;
  if (!room[0]) return;
  const camera = aim([width, height], room, scales, at);
  if (transformOf(camera, 1) === transformOf(before, 1)) return;
  place(drawing, camera);
  if (eased && !wantsStillness()) sheets.animate([{ transform: transformOf(before, camera.scale) }, {}], EASE);
}

/**
 * Where a state, or the box of a call, stands in the drawing.
 * @param {Element | undefined} node
 * @returns {Spot | null}
 */
export function spotOf(node) {
  const disc = node?.querySelector(".gv-disc, rect.gv-box");
  if (!disc) return null;
  const [x, y, width, height] = ["x", "y", "width", "height"].map((name) => Number(disc.getAttribute(name)));
  return { x: x + width / 2, y: y + height / 2, rx: width / 2, ry: height / 2 };
}

/**
 * Points along a line.
 * @param {SVGPathElement | null | undefined} line
 * @param {number} parts
 */
export function pointsOn(line, parts) {
  const length = line?.getTotalLength();
  return line && length ? Array.from({ length: parts + 1 }, (_, nth) => line.getPointAtLength((length * nth) / parts)) : [];
}

/**
 * The spot around states, the last one last.
 * @param {Drawing} drawing
 * @param {number[]} path
 */
export const pathOf = ({ states }, path) => around(path.flatMap((state) => spotOf(states.get(state)) ?? []));

/**
 * A copy of a part, to be shown on the sheet above.
 * @param {SVGElement} node
 * @param {...string} classes
 */
export function copyPart(node, ...classes) {
  const twin = /** @type {SVGElement} */ (node.cloneNode(true));
  twin.classList.add(...classes);
  return twin;
}

/**
 * Copies of those parts that the drawing has.
 * @template Key
 * @param {Map<Key, SVGElement>} parts
 * @param {Key[]} keys
 * @param {string} name their class
 */
export function copyParts(parts, keys, name) {
  return keys.flatMap((key) => {
    const node = parts.get(key);
    return node ? [copyPart(node, name)] : [];
  });
}
