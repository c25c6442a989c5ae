// Marks over the map: squares around tokens that depended on the stack, dots on a few legal tokens, rings around found
// ones, and callouts: each likely token of the step has a sign on its cell and a label above or below the map, where it
// covers no cell.

/** @import { Mark } from "../types.js" */
/** @import { Colours, Pen, Scene } from "./map-ground.js" */
import { pixelOf, scaleOf } from "./map-data.js";
import { FEW, MONO, paintPlaceNames, TEXT_CELL } from "./map-ground.js";

const DOT = 8; // pixels of the dot of a legal token where few are legal
const SQUARE = 9; // the least width of a square
const DASHES = [3, 2];
const GAP = 8; // pixels between two labels
const SIGN = 14; // pixels of the sign in a label
const SIDE = 6; // pixels between the text of a label and its border
const SIZE = 12; // pixels of a letter
const HIGH = 20; // of a label
const MOST_LETTERS = 16;
const LIKELY = 0.01; // a less likely token has no callout, unless it was chosen
export const BAND = HIGH + 12; // the room for labels above the map, and below it
export const RIM = 6; // pixels around the map that a mark at its edge may need

/**
 * Strokes what was drawn, over a wider line in the colour of the page.
 * @param {Pen} pen
 * @param {Colours} colours
 * @param {string} colour
 * @param {number} [width]
 */
function outline(pen, { page }, colour, width = 2) {
  const dashes = pen.getLineDash();
  for (const [strokeStyle, wider, dash] of /** @type {[string, number, number[]][]} */ ([[page, 2, []], [colour, 0, dashes]])) {
    Object.assign(pen, { strokeStyle, lineWidth: width + wider });
    pen.setLineDash(dash);
    pen.stroke();
  }
}

/** @param {Scene} scene */
export function paintMarks({ map, tile, colours, pen }) {
  const scale = scaleOf(map);
  /** @param {Iterable<number>} ranks @param {string} colour @param {number[]} [dashes] */
  const squares = (ranks, colour, dashes = []) => {
    const size = Math.max(SQUARE, scale + 1);
    pen.beginPath();
    for (const rank of ranks) {
      const [x, y] = pixelOf(map, rank);
      pen.rect(x - size / 2, y - size / 2, size, size);
    }
    pen.setLineDash(dashes);
    outline(pen, colours, colour);
    pen.setLineDash([]);
  };
  /** @param {Iterable<number>} ranks @param {number} radius */
  const discs = (ranks, radius) => {
    pen.beginPath();
    for (const rank of ranks) {
      const [x, y] = pixelOf(map, rank);
      pen.moveTo(x + radius, y);
      pen.arc(x, y, radius, 0, 2 * Math.PI);
    }
  };
  squares(tile.asked[0], colours.magenta, DASHES);
  squares(tile.asked[1], colours.gold);
  const asked = new Set(tile.asked[1]);
  const few = tile.few.filter((rank) => !asked.has(rank));
  if (!map.found && few.length <= FEW && scale < DOT) {
    discs(few, DOT / 2);
    outline(pen, colours, colours.page, 0);
    pen.fillStyle = colours.sea;
    pen.fill();
  }
  discs(map.found?.ranks ?? [], Math.max(6, scale * 0.55));
  outline(pen, colours, colours.gold);
  squares([map.hover].filter((rank) => rank >= 0), colours.ink);
  squares([map.focus].filter((rank) => rank >= 0), colours.orange);
}

// --- callouts ---

/** @typedef {{ x: number, y: number, wide: number }} Spot the middle of a cell, and the width of its label */

/**
 * A place for each label, the most important first: its side (0 above, 1 below) and its left edge. A label is on the side
 * that is nearer to its cell, or else on the other; one for which neither has room is left out. On each side they are in
 * the order of their cells, so no two lines cross.
 * @template {Spot} T
 * @param {T[]} spots
 * @param {number} width
 * @param {number} height
 */
export function placeLabels(spots, width, height) {
  /** @type {[T[], T[]]} */
  const sides = [[], []];
  for (const spot of spots) {
    const near = Number(spot.y > height / 2);
    const side = [near, 1 - near].find((one) => sides[one].reduce((sum, { wide }) => sum + wide + GAP, spot.wide) <= width);
    if (side !== undefined) sides[side].push(spot);
  }
  return sides.flatMap((row, side) => placeRow(row.sort((one, two) => one.x - two.x), width).map((left, i) => ({ ...row[i], side, left })));
}

/**
 * The left edges of a row of labels without overlap; the largest distance from a cell is as small as possible.
 * @param {Spot[]} row
 * @param {number} width
 */
function placeRow(row, width) {
  let used = -GAP;
  const before = row.map(({ wide }) => (used += wide + GAP) - wide); // what the labels on the left need
  const wishes = row.map(({ x, wide }, i) => Math.max(0, Math.min(width - used, x - wide / 2 - before[i])));
  let [least, most] = [0, Infinity];
  const right = wishes.map((wish) => (least = Math.max(least, wish)));
  const left = [...wishes].reverse().map((wish) => (most = Math.min(most, wish))).reverse();
  return before.map((start, i) => start + (right[i] + left[i]) / 2);
}

/**
 * @param {Mark[]} marks
 * @returns {Mark[]} the chosen token, then the likely ones
 */
export const likely = (marks) =>
  marks.filter(({ raw, chosen }) => chosen || raw >= LIKELY).sort((one, two) => Number(two.chosen) - Number(one.chosen) || two.raw - one.raw);

/** @param {Scene} scene */
export function paintCallouts(scene) {
  const { map, width, height, colours, pen } = scene;
  const corner = scaleOf(map) >= TEXT_CELL ? scaleOf(map) / 2 - 5 : 0; // a cell with text keeps its middle free
  Object.assign(pen, { textBaseline: "middle", textAlign: "left", font: `${SIZE}px ${MONO}` });
  const spots = likely(map.marks).flatMap((mark) => {
    const [x, y] = pixelOf(map, mark.rank);
    if (x < 0 || y < 0 || x > width || y > height) return [];
    const name = mark.label.length > MOST_LETTERS ? `${mark.label.slice(0, MOST_LETTERS - 1)}…` : mark.label;
    const middle = pen.measureText(`${name} `).width; // bold letters are as wide
    return [{ ...mark, name, middle, x: x + corner, y: y - corner, wide: SIGN + middle + pen.measureText(mark.text).width + 2 * SIDE }];
  });
  const placed = placeLabels(spots, width, height);
  for (const { x, y, side, left, wide } of placed) {
    pen.beginPath();
    pen.moveTo(x, y);
    pen.lineTo(x, side ? height : 0); // straight to the edge of the map, and then to the label
    pen.lineTo(Math.max(left + 4, Math.min(left + wide - 4, x)), side ? height + BAND - HIGH : HIGH - BAND);
    outline(pen, colours, colours.ink, 1);
  }
  if (scaleOf(map) < TEXT_CELL) paintPlaceNames(scene); // again: no line goes through letters
  Object.assign(pen, { textAlign: "left", font: `${SIZE}px ${MONO}` });
  for (const { x, y, legal } of placed) paintSign(pen, colours, x, y, legal);
  for (const { side, left, wide, name, middle, text, legal, chosen } of placed) {
    const top = side ? height + BAND - HIGH : -BAND;
    pen.beginPath();
    pen.roundRect(left + 1, top + 1, wide - 2, HIGH - 2, 4);
    Object.assign(pen, { fillStyle: colours.page, lineWidth: chosen ? 2 : 1, strokeStyle: chosen ? colours.ink : legal ? colours.blue : colours.magenta });
    pen.fill();
    pen.setLineDash(legal || chosen ? [] : DASHES);
    pen.stroke();
    pen.setLineDash([]);
    paintSign(pen, colours, left + SIDE + 5, top + HIGH / 2, legal);
    Object.assign(pen, { fillStyle: colours.ink, font: `${chosen ? "bold " : ""}${SIZE}px ${MONO}` });
    pen.fillText(name, left + SIDE + SIGN, top + HIGH / 2 + 1);
    Object.assign(pen, { fillStyle: colours.soft, font: `${SIZE}px ${MONO}` });
    pen.fillText(text, left + SIDE + SIGN + middle, top + HIGH / 2 + 1);
  }
}

/**
 * A dot in a disc, or a cross in a square.
 * @param {Pen} pen
 * @param {Colours} colours
 * @param {number} x
 * @param {number} y
 * @param {boolean} legal
 */
function paintSign(pen, colours, x, y, legal) {
  pen.beginPath();
  if (legal) pen.arc(x, y, 5.5, 0, 2 * Math.PI);
  else pen.rect(x - 5.5, y - 5.5, 11, 11);
  outline(pen, colours, colours.ink, 1);
  pen.fillStyle = colours.page;
  pen.fill();
  pen.beginPath();
  if (legal) pen.arc(x, y, 2, 0, 2 * Math.PI);
  else for (const way of [-3, 3]) {
    pen.moveTo(x - 3, y - way);
    pen.lineTo(x + 3, y + way);
  }
  Object.assign(pen, { strokeStyle: legal ? colours.blue : colours.magenta, lineWidth: legal ? 3 : 2 });
  pen.stroke();
}
