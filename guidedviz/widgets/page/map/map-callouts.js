// Callouts: the likely tokens of the step, each with a mark on its cell and a label above or below the map, where it
// covers no cell. A thin line joins the two. A dot in a disc is a legal token, a cross in a square an illegal one.
// views/vocabulary/callouts.py has the same placement.

/** @import { Mark } from "../types.js" */
/** @import { Scene } from "./map-ground.js" */
import { MONO, TEXT_CELL } from "./map-ground.js";
import { pixelOf } from "./map-position.js";

const GAP = 8; // pixels between two labels
const SIGN = 14; // pixels of the mark in a label
const HALF = 5.5; // half of its width
const EDGE = 6; // pixels between the text of a label and its border
const MOST_LETTERS = 16;
const LIKELY = 0.01; // a less likely token has no callout, unless it was chosen
const DASHES = [3, 2];

/** @typedef {{ x: number, y: number, wide: number }} Spot the middle of a cell, and the width of its label */

/** The height of a label. @param {number} type pixels of a letter */
const labelHigh = (type) => Math.round(type * 1.3) + 4;

/** The room for labels above the map, and below it. @param {number} type pixels of a letter */
export const bandOf = (type) => labelHigh(type) + 12;

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

/**
 * @param {Scene} scene
 * @param {CanvasRenderingContext2D} pen
 */
export function paintCallouts({ map, view, colours }, pen) {
  const corner = view.scale >= TEXT_CELL ? view.scale / 2 - 5 : 0; // a cell with text keeps its middle free
  pen.textBaseline = "middle";
  pen.textAlign = "left";
  setFont(pen, view.type, false);
  const spots = likely(map.marks).flatMap((mark) => {
    const [x, y] = pixelOf(map, view, mark.rank);
    if (x < 0 || y < 0 || x > view.width || y > view.height) return [];
    const name = mark.label.length > MOST_LETTERS ? `${mark.label.slice(0, MOST_LETTERS - 1)}…` : mark.label;
    const middle = pen.measureText(`${name} `).width; // bold letters are as wide
    return [{ ...mark, name, middle, x: x + corner, y: y - corner, wide: SIGN + middle + pen.measureText(mark.text).width + 2 * EDGE }];
  });
  const placed = placeLabels(spots, view.room, view.height);
  for (const one of placed) paintLine(pen, view, colours, one);
  for (const { x, y, legal } of placed) paintSign(pen, colours, x, y, legal);
  for (const one of placed) paintLabel(pen, view, colours, one);
}

/** @typedef {ReturnType<typeof placeLabels<Mark & Spot & { name: string, middle: number }>>[number]} Callout */
/** @typedef {Scene["view"]} View */
/** @typedef {Scene["colours"]} Colours */

/** @param {CanvasRenderingContext2D} pen @param {number} size @param {boolean} bold */
const setFont = (pen, size, bold) => (pen.font = `${bold ? "bold " : ""}${size}px ${MONO}`);

/**
 * From a cell straight to the edge of the map, and then to its label.
 * @param {CanvasRenderingContext2D} pen
 * @param {View} view
 * @param {Colours} colours
 * @param {Callout} callout
 */
function paintLine(pen, { height, type, band }, colours, { x, y, side, left, wide }) {
  const away = band - labelHigh(type);
  pen.beginPath();
  pen.moveTo(x, y);
  pen.lineTo(x, side ? height : 0);
  pen.lineTo(Math.max(left + 4, Math.min(left + wide - 4, x)), side ? height + away : -away);
  strokeTwice(pen, colours.page, 3, colours.ink, 1);
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {string} ground
 * @param {number} wide
 * @param {string} ink
 * @param {number} thin
 */
function strokeTwice(pen, ground, wide, ink, thin) {
  for (const [colour, width] of /** @type {[string, number][]} */ ([[ground, wide], [ink, thin]])) {
    Object.assign(pen, { strokeStyle: colour, lineWidth: width });
    pen.stroke();
  }
}

/**
 * A dot in a disc, or a cross in a square.
 * @param {CanvasRenderingContext2D} pen
 * @param {Colours} colours
 * @param {number} x
 * @param {number} y
 * @param {boolean} legal
 */
function paintSign(pen, colours, x, y, legal) {
  pen.beginPath();
  if (legal) pen.arc(x, y, HALF, 0, 2 * Math.PI);
  else pen.rect(x - HALF, y - HALF, 2 * HALF, 2 * HALF);
  strokeTwice(pen, colours.page, 3, colours.ink, 1);
  pen.fillStyle = colours.page;
  pen.fill();
  pen.beginPath();
  if (legal) {
    pen.arc(x, y, 3.5, 0, 2 * Math.PI);
    pen.fillStyle = colours.blue;
    return pen.fill();
  }
  for (const way of [-3, 3]) {
    pen.moveTo(x - 3, y - way);
    pen.lineTo(x + 3, y + way);
  }
  Object.assign(pen, { strokeStyle: colours.orange, lineWidth: 2 });
  pen.stroke();
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {View} view
 * @param {Colours} colours
 * @param {Callout} callout
 */
function paintLabel(pen, { height, type, band }, colours, { side, left, wide, name, middle, text, legal, chosen }) {
  const high = labelHigh(type);
  const top = side ? height + band - high : -band;
  pen.beginPath();
  pen.roundRect(left + 1, top + 1, wide - 2, high - 2, 4);
  pen.fillStyle = colours.page;
  pen.fill();
  Object.assign(pen, { lineWidth: chosen ? 2 : 1, strokeStyle: chosen ? colours.ink : legal ? colours.blue : colours.orange });
  pen.setLineDash(legal || chosen ? [] : DASHES);
  pen.stroke();
  pen.setLineDash([]);
  const base = top + high / 2;
  paintSign(pen, colours, left + EDGE + 5, base, legal);
  if (chosen) setFont(pen, type, true);
  pen.fillStyle = colours.ink;
  pen.fillText(name, left + EDGE + SIGN, base + 1);
  if (chosen) setFont(pen, type, false);
  pen.fillStyle = colours.soft;
  pen.fillText(text, left + EDGE + SIGN + middle, base + 1);
}
