// The exits of the current states, on a sheet above the drawing.

/** @import { Drawing } from "./drawing.js" */
import { shape } from "../shared/elements.js";
import { copyPart } from "./drawing.js";

/**
 * @param {Drawing} drawing
 * @param {number[]} states
 */
export function drawExits({ arrows, layer }, states) {
  const own = [...arrows].filter(([key]) => states.includes(Number.parseInt(key, 10)));
  const exits = shape("g", { class: "gv-exits", "data-move": "exits", opacity: 0 }, ...own.map(([, node]) => copyPart(node)));
  const group = shape("g", { class: "gv-machine", transform: layer.getAttribute("transform") ?? "" }, exits);
  layer.parentElement?.append(group);
  return group;
}
