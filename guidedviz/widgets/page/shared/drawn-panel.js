// A panel of boxes and words as a drawing, for a file: every box and every word in its place and in its colours.

import { shape } from "./elements.js";
import { groundOf } from "./export.js";

const CLEAR = /transparent|, 0\)$/;

/** @param {HTMLElement} panel */
export function drawPanel(panel) {
  const home = panel.getBoundingClientRect();
  const ground = shape("rect", { width: home.width, height: home.height, fill: groundOf(panel) });
  const shown = [...panel.querySelectorAll("*")].filter((node) => node.checkVisibility());
  return shape("svg", { viewBox: `0 0 ${home.width} ${home.height}` }, ground, ...shown.flatMap((node) => [...drawBox(node, home), ...drawWords(node, home)]));
}

/**
 * The ground and the border of an element.
 * @param {Element} node
 * @param {DOMRect} home
 */
function drawBox(node, home) {
  const style = getComputedStyle(node);
  const line = style.borderTopStyle === "none" ? 0 : parseFloat(style.borderTopWidth);
  const fill = CLEAR.test(style.backgroundColor) ? "none" : style.backgroundColor;
  if (fill === "none" && !line) return [];
  const { x, y, width, height } = node.getBoundingClientRect();
  const place = { x: x - home.x + line / 2, y: y - home.y + line / 2, width: Math.max(0, width - line), height: Math.max(0, height - line) };
  const dashes = style.borderTopStyle === "dashed" ? "4 3" : "none";
  return [shape("rect", { ...place, rx: parseFloat(style.borderTopLeftRadius) || 0, fill, stroke: line ? style.borderTopColor : "none", "stroke-width": line, "stroke-dasharray": dashes })];
}

/**
 * The words that stand directly in an element; what is too long is cut as on the page.
 * @param {Element} node
 * @param {DOMRect} home
 */
function drawWords(node, home) {
  const style = getComputedStyle(node);
  const right = node.getBoundingClientRect().right;
  return [...node.childNodes].flatMap((child) => {
    const words = child.nodeType === Node.TEXT_NODE ? child.textContent ?? "" : "";
    if (!words.trim()) return [];
    const range = document.createRange();
    range.selectNodeContents(child);
    const box = range.getBoundingClientRect();
    const room = style.overflowX === "visible" ? box.width : right - box.x;
    const text = box.width > room + 1 ? `${words.slice(0, Math.max(0, Math.floor((words.length * room) / box.width) - 1))}…` : words;
    const look = { "font-family": style.fontFamily, "font-size": style.fontSize, "font-weight": style.fontWeight, "font-style": style.fontStyle, fill: style.color };
    return [shape("text", { ...look, x: box.x - home.x, y: box.y - home.y + box.height / 2, "dominant-baseline": "central", "xml:space": "preserve" }, text)];
  });
}
