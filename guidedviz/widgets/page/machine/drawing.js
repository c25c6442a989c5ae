// A machine on the page. Its drawing comes once and is not touched again: what is lit
// lies on a second sheet above it, so that a step paints a few shapes and not three hundred states.

import { toggle } from "../shared/controls.js";
/** @import { Shapes } from "../types.js" */
import { make, shape } from "../shared/elements.js";
import { draw } from "../shared/shapes.js";

const HIGH = 300; // pixels that a drawing may be high
const LEGIBLE = 0.65; // a drawing that would be scaled below this is shown at full size and scrolled
const LEGIBLE_AFAR = 0.85; // the same in a lecture hall

/** @typedef {{ x: number, y: number, rx: number, ry: number }} Spot the middle of a state and half its size */

/** @typedef {ReturnType<typeof buildDrawing>} Drawing */

export function buildDrawing() {
  const sheets = make("div", { class: "gv-sheets" });
  const view = make("div", { class: "gv-diagram", role: "group", "aria-label": "drawing of the machine" }, sheets);
  const drawing = {
    view,
    sheets,
    node: make("div", { class: "gv-diagram-box" }, view),
    size: toggle("size", { whole: "whole", close: "close" }, (mode) => resize(drawing, (drawing.chosen = mode))),
    svg: /** @type {SVGElement | null} */ (null),
    layer: shape("g", {}),
    states: /** @type {Map<number, SVGElement>} */ (new Map()),
    arrows: /** @type {Map<string, SVGElement>} */ (new Map()),
    rules: /** @type {Map<string, SVGElement>} */ (new Map()),
    at: /** @type {Spot | null} */ (null), // the state that is followed
    shown: "", // what is lit now
    chosen: "", // the size that the person chose
    width: 0,
    height: 0,
    scale: 1,
    room: [0, 0],
  };
  new ResizeObserver(() => drawing.svg && fitDrawing(drawing)).observe(view);
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
  const frame = /** @type {Element} */ (svg.querySelector(".gv-machine")?.parentNode);
  drawing.layer = shape("g", { class: "gv-machine", transform: frame.getAttribute("transform") ?? "" });
  const over = shape("svg", { viewBox, width, height, class: "gv-over", "aria-hidden": "true" }, drawing.layer);
  drawing.shown = drawing.chosen = "";
  drawing.sheets.replaceChildren(svg, over);
  fitDrawing(drawing);
}

/** @param {Drawing} drawing */
function fitDrawing(drawing) {
  const fills = drawing.view.closest(".gv-live-stage"); // there a panel has its height from the screen
  drawing.view.style.maxHeight = fills ? "" : `${HIGH}px`;
  drawing.room = [drawing.view.clientWidth || 900, drawing.view.clientHeight || HIGH];
  drawing.scale = Math.min(1, drawing.room[0] / drawing.width, (fills ? drawing.room[1] : HIGH) / drawing.height);
  drawing.size.node.hidden = drawing.scale === 1;
  resize(drawing, drawing.chosen || (drawing.scale < (drawing.view.closest(".gv-lecture") ? LEGIBLE_AFAR : LEGIBLE) ? "close" : "whole"));
}

/**
 * @param {Drawing} drawing
 * @param {string} mode
 */
function resize(drawing, mode) {
  drawing.view.dataset.size = mode;
  if (mode === "close") drawing.view.tabIndex = 0; // what scrolls can have the focus
  else drawing.view.removeAttribute("tabindex");
  drawing.size.set(mode);
  const scale = mode === "whole" ? drawing.scale : 1;
  drawing.sheets.style.width = `${drawing.width * scale}px`;
  drawing.sheets.style.height = `${drawing.height * scale}px`;
  follow(drawing);
}

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
 * Scrolls the lit state to the middle, unless it is well in sight.
 * @param {Drawing} drawing
 */
export function follow({ view, at, room: [width, height] }) {
  if (view.dataset.size !== "close" || !at) return;
  const [x, y] = [at.x - view.scrollLeft, at.y - view.scrollTop];
  if (x > 60 && x < width - 60 && y > 40 && y < height - 40) return;
  view.scrollTo(at.x - width / 2, at.y - height / 2);
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
