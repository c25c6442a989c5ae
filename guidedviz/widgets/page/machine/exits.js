// The exits of the current states, on a sheet above the drawing. The label of one that runs out of sight stands where its line is
// still seen. The name of the state that the token came from stands where its arrow comes into sight.

/** @import { Point } from "../motion/travel.js" */
/** @import { Drawing } from "./drawing.js" */
import { nameState, shape } from "../shared/elements.js";
import { toPixels } from "./camera.js";
import { copyPart, copyParts, pointsOn, spotOf } from "./drawing.js";

const PARTS = 40; // straight parts of a line that is looked along
const ROOM = 26; // pixels that a label needs
const ABOVE = 6; // units between a line and its label

/**
 * @param {Drawing} drawing
 * @param {number[]} states
 * @param {string} [arrow] that led to them
 */
export function drawExits(drawing, states, arrow = "") {
  const { arrows, layer } = drawing;
  const own = [...arrows].filter(([key]) => states.includes(Number.parseInt(key, 10)));
  const copies = own.map(([, node]) => copyPart(node));
  copies.forEach((copy) => fitLabel(copy, drawing));
  const others = states.filter((state) => !layer.querySelector(`[data-state="${state}"]`));
  const nodes = copyParts(drawing.states, others, "gv-near");
  const exits = shape("g", { class: "gv-exits", "data-move": "exits", opacity: 0 }, ...copies, ...nodes, ...nameSource(drawing, arrow));
  const group = shape("g", { class: "gv-machine", transform: layer.getAttribute("transform") ?? "" }, exits);
  layer.parentElement?.append(group);
  return group;
}

/**
 * Whether a label at a point is seen.
 * @param {Drawing} drawing
 * @param {Point} point
 */
function isSeen({ camera, room }, point) {
  const { x, y } = toPixels(camera, point);
  return x >= ROOM && x <= room[0] - ROOM && y >= ROOM / 2 && y <= room[1] - ROOM / 2;
}

/**
 * Moves the label of an arrow that runs out of sight to the last point of its line that is seen.
 * @param {SVGElement} arrow
 * @param {Drawing} drawing
 */
export function fitLabel(arrow, drawing) {
  const label = arrow.querySelector("text.gv-label");
  const line = /** @type {SVGPathElement | null} */ (arrow.querySelector("path.gv-line"));
  if (!label || !line || isSeen(drawing, { x: Number(label.getAttribute("x")), y: Number(label.getAttribute("y")) })) return;
  const last = pointsSeen(line, drawing).at(-1);
  if (!last) return;
  label.setAttribute("x", String(last.x));
  label.setAttribute("y", String(last.y - ABOVE));
}

/**
 * The points of a line that are seen.
 * @param {SVGPathElement} line
 * @param {Drawing} drawing
 */
const pointsSeen = (line, drawing) => pointsOn(line, PARTS).filter((point) => isSeen(drawing, point));

/**
 * The name of the state that an arrow comes from, if the state is out of sight.
 * @param {Drawing} drawing
 * @param {string} key of the arrow
 */
export function nameSource(drawing, key) {
  const source = Number.parseInt(key, 10);
  const spot = spotOf(drawing.states.get(source));
  const line = /** @type {SVGPathElement | null | undefined} */ (drawing.arrows.get(key)?.querySelector("path.gv-line"));
  if (!spot || !line || isSeen(drawing, spot)) return [];
  const seen = pointsSeen(line, drawing);
  const place = Math.floor(seen.length / 3); // the label of the arrow may stand at the edge
  return seen.slice(place, place + 1).map(({ x, y }) => shape("text", { class: "gv-source", x, y: y - ABOVE }, `from ${nameState(source)}`));
}
