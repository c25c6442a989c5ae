// The drawings of a grammar's rules, one row each, and what is found in them: nodes, and the boxes of calls.

/** @import { StageView } from "../types.js" */
/** @import { Size, Spot } from "./camera.js" */
import { draw } from "../shared/shapes.js";
import { lettersIn, spotOf } from "./drawing.js";

/** @typedef {ReturnType<typeof readRow>} RuleRow */
/** @typedef {StageView["drawings"][number]} RuleDrawing */

/** @type {WeakMap<RuleDrawing, RuleRow>} */
const known = new WeakMap();

/** @param {RuleDrawing} drawing */
function readRow(drawing) {
  const svg = draw(drawing.shapes);
  /** @type {Map<string, Spot>} */
  const spots = new Map();
  for (const node of /** @type {NodeListOf<SVGElement>} */ (svg.querySelectorAll("[data-state], .gv-call"))) {
    const spot = spotOf(node);
    if (spot) spots.set(node.dataset.state ?? String(node.dataset.arrow), spot);
  }
  const size = /** @type {Size} */ (["width", "height"].map((name) => Number(svg.getAttribute(name))));
  return { drawing, rule: String(drawing.rule), svg, spots, size, letters: lettersIn(svg) };
}

/**
 * All rules that the page can draw.
 * @param {StageView} view
 */
export const rowsOf = ({ drawings }) => Object.values(drawings).flatMap((drawing) => {
  if (!drawing.rule) return [];
  const row = known.get(drawing) ?? readRow(drawing);
  known.set(drawing, row);
  return [row];
});

/**
 * The row of a rule in which a node is drawn; of a very large rule there may be several.
 * @param {RuleRow[]} rows
 * @param {string | undefined} rule
 * @param {number[]} nodes
 */
export function findRow(rows, rule, nodes) {
  const own = rows.filter((row) => row.rule === rule);
  return own.find(({ spots }) => nodes.some((node) => spots.has(String(node)))) ?? own[0];
}
