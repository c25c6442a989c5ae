// A drawing in a panel: whole while its labels can be read, else close up, with a small map of the whole below. It comes
// once and is not touched again: what is lit lies on a second sheet above it, so that a step paints a few shapes and not
// three hundred states.

import { toggle } from "../shared/controls.js";
/** @import { Shapes } from "../types.js" */
import { make, shape } from "../shared/elements.js";
import { draw } from "../shared/shapes.js";

const LEAST = 12; // pixels on the screen of the smallest label
const LEAST_AFAR = 16; // the same in a lecture hall
const TINY = 0.5; // of it is too small to be offered, but on a full screen
const LESS = 0.85; // of it is better than a drawing that is cut by a little
const MOST = 18; // a drawing is not enlarged beyond labels of so many pixels
const HIGH = 400; // pixels that a drawing may be high where its panel has no height of its own

/** @typedef {{ x: number, y: number, rx: number, ry: number }} Spot the middle of a part and half its size */

/** @typedef {ReturnType<typeof buildDrawing>} Drawing */

export function buildDrawing(label = "drawing of the machine") {
  const sheets = make("div", { class: "gv-sheets" });
  const view = make("div", { class: "gv-diagram", role: "group", "aria-label": label, on: { scroll: () => markWindow(drawing) } }, sheets);
  const [small, frame, here] = [make("div"), make("i", { class: "gv-window" }), make("i", { class: "gv-spot" })];
  /** @param {PointerEvent} event */
  const press = ({ type, pointerId, clientX, clientY, buttons }) => {
    if (type === "pointerdown") map.setPointerCapture(pointerId);
    const box = map.getBoundingClientRect();
    if (buttons) moveTo(drawing, ((clientX - box.left) / box.width) * drawing.width, ((clientY - box.top) / box.height) * drawing.height);
  };
  const map = make("div", { class: "gv-overview", "aria-hidden": "true", on: { pointerdown: press, pointermove: press } }, small, frame, here);
  const drawing = {
    view,
    sheets,
    map,
    small,
    frame,
    here,
    node: make("div", { class: "gv-diagram-box" }, view, map),
    size: toggle("", { whole: "whole" }, () => {
      drawing.whole = view.dataset.size === "close";
      fitDrawing(drawing);
    }),
    svg: /** @type {SVGElement | null} */ (null),
    layer: shape("g", {}),
    states: /** @type {Map<number, SVGElement>} */ (new Map()),
    arrows: /** @type {Map<string, SVGElement>} */ (new Map()),
    rules: /** @type {Map<string, SVGElement>} */ (new Map()),
    at: /** @type {Spot | null} */ (null), // the part that is followed
    shown: "", // what is lit now
    whole: false, // whether the person wants all of it, however small
    letters: LEAST, // the size of the smallest label in the drawing
    width: 0,
    height: 0,
    scale: 1,
    room: [0, 0],
  };
  drawing.size.node.hidden = map.hidden = true;
  drawing.size.node.title = "the whole drawing, however small its labels are";
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
  drawing.states = new Map(parts("state").map((node) => [Number(node.dataset.state), node]));
  drawing.arrows = new Map(parts("arrow").map((node) => [String(node.dataset.arrow), node]));
  drawing.rules = new Map(parts("rule").map((node) => [String(node.dataset.rule), node]));
  const [viewBox, width, height] = ["viewBox", "width", "height"].map((name) => svg.getAttribute(name));
  [drawing.width, drawing.height] = [Number(width), Number(height)];
  const labels = [...svg.querySelectorAll("text[font-size]")].filter((node) => node.textContent);
  drawing.letters = Math.min(...labels.map((node) => Number(node.getAttribute("font-size"))), LEAST);
  const frame = svg.querySelector(".gv-machine")?.parentElement;
  drawing.layer = shape("g", { class: "gv-machine", transform: frame?.getAttribute("transform") ?? "" });
  const over = shape("svg", { viewBox, width, height, class: "gv-over", "aria-hidden": "true" }, drawing.layer);
  drawing.shown = "";
  drawing.whole = false;
  drawing.sheets.replaceChildren(svg, over);
  drawing.small.replaceChildren();
  drawing.map.style.setProperty("--shape", String(drawing.width / drawing.height));
  fitDrawing(drawing);
}

/**
 * Chooses the scale: the whole drawing where its labels stay legible, or nearly so, else close up.
 * @param {Drawing} drawing
 */
function fitDrawing(drawing) {
  const { node, view, sheets, map, small, frame, svg, letters, width, height } = drawing;
  if (!svg || !node.clientWidth) return; // out of sight
  map.hidden = true; // it takes room
  const stage = view.closest(".gv-live-stage"); // there a panel has its height from the screen
  const zoom = Math.round((100 * node.getBoundingClientRect().width) / node.offsetWidth) / 100;
  const least = (view.closest(".gv-lecture") ? LEAST_AFAR : LEAST) / zoom / letters;
  const fit = Math.min(MOST / letters, node.clientWidth / width, (stage ? node.clientHeight : HIGH) / height);
  const whole = fit >= LESS * least;
  const close = !whole && !drawing.whole;
  drawing.scale = close ? least : fit;
  drawing.size.node.hidden = whole || (fit < TINY * least && !view.closest(".gv-lecture, .gv-film"));
  drawing.size.set(close ? "" : "whole");
  view.dataset.size = close ? "close" : "whole";
  if (close) view.tabIndex = 0; // what scrolls can have the focus
  else view.removeAttribute("tabindex");
  map.hidden = !close;
  if (close && !small.firstChild) small.append(copyWhole(svg));
  sheets.style.width = `${width * drawing.scale}px`;
  sheets.style.height = `${height * drawing.scale}px`;
  view.style.height = stage ? "" : `${Math.min(HIGH, height * drawing.scale)}px`;
  drawing.room = [view.clientWidth, view.clientHeight];
  frame.style.width = `${Math.min(100, (100 * drawing.room[0]) / width / drawing.scale)}%`;
  frame.style.height = `${Math.min(100, (100 * drawing.room[1]) / height / drawing.scale)}%`;
  markWindow(drawing);
  follow(drawing);
}

/**
 * The lines and boxes of a drawing for the small map; its states are no states to be found, counted or pressed.
 * @param {SVGElement} svg
 */
function copyWhole(svg) {
  const copy = /** @type {SVGElement} */ (svg.cloneNode(true));
  for (const node of copy.querySelectorAll("text, title, .gv-reach, .gv-head, .gv-jumps")) node.remove();
  for (const state of copy.querySelectorAll("[data-state]")) state.replaceWith(...state.querySelectorAll("rect"));
  return copy;
}

/**
 * Marks on the map what is in sight.
 * @param {Drawing} drawing
 */
function markWindow({ view, frame, room }) {
  frame.style.translate = `${(100 * view.scrollLeft) / room[0]}% ${(100 * view.scrollTop) / room[1]}%`;
}

/**
 * Moves a place of the drawing to the middle of the view.
 * @param {Drawing} drawing
 * @param {number} x
 * @param {number} y
 */
const moveTo = ({ view, scale, room }, x, y) => view.scrollTo(x * scale - room[0] / 2, y * scale - room[1] / 2);

/**
 * Where a state stands in the drawing.
 * @param {Element | undefined} node
 * @returns {Spot | null}
 */
export function spotOf(node) {
  const disc = node?.querySelector(".gv-disc");
  if (!disc) return null;
  const [x, y, width, height] = ["x", "y", "width", "height"].map((name) => Number(disc.getAttribute(name)));
  return { x: x + width / 2, y: y + height / 2, rx: width / 2, ry: height / 2 };
}

/**
 * Moves the part that is followed to the middle, unless it is well in sight; one that is larger than
 * the view is read from its beginning.
 * @param {Drawing} drawing
 */
export function follow(drawing) {
  const { view, here, at, scale, room, width, height } = drawing;
  here.hidden = !at;
  if (!at || view.dataset.size !== "close") return;
  here.style.inset = `${(100 * at.y) / height}% auto auto ${(100 * at.x) / width}%`;
  const x = at.x - Math.max(0, at.rx - room[0] / scale / 2);
  const y = at.y - Math.max(0, at.ry - room[1] / scale / 2);
  const off = Math.max(Math.abs((x * scale - view.scrollLeft) / room[0] - 0.5), Math.abs((y * scale - view.scrollTop) / room[1] - 0.5));
  if (off > 0.35) moveTo(drawing, x, y);
}

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
