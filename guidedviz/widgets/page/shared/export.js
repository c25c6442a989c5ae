// Pictures of panels as files. The colours that the theme gives are written into the picture, so a file needs no style.

import { make, shape } from "./elements.js";

const SHARP = 2; // pixels of a PNG per unit of the drawing
const STYLES = (
  "fill fill-opacity stroke stroke-width stroke-dasharray stroke-linecap stroke-linejoin stroke-opacity opacity "
  + "font-family font-size font-weight font-style text-anchor paint-order").split(" ");
const DROPPED = "style, script, foreignObject";

/** @typedef {{ text: string, width: number, height: number }} Sheet a whole SVG, and its size */

/**
 * Drawings on top of each other, all of one size, as one SVG with the colours in which they are shown.
 * @param {SVGElement[]} drawings the lowest first
 * @returns {Sheet}
 */
export function writeSvg(drawings) {
  const [x, y, width, height] = (drawings[0].getAttribute("viewBox") ?? "0 0 0 0").split(/[\s,]+/).map(Number);
  const about = { viewBox: `${x} ${y} ${width} ${height}`, width, height, role: "img", "aria-label": drawings[0].getAttribute("aria-label") ?? undefined };
  const sheet = shape("svg", about, shape("rect", { x, y, width, height, fill: groundOf(drawings[0]) }));
  sheet.append(...drawings.flatMap((drawing) => [...drawing.children].flatMap(styledCopy)));
  return { text: new XMLSerializer().serializeToString(sheet), width, height };
}

/**
 * A copy of a part with the styles that it is shown with; what is not shown is left out.
 * @param {Element} part
 * @returns {Element[]}
 */
function styledCopy(part) {
  if (part.matches(DROPPED)) return [];
  const copy = /** @type {Element} */ (part.cloneNode(false));
  for (const { name } of [...copy.attributes]) if (/^on|^style$|href$/i.test(name)) copy.removeAttribute(name);
  if (part.matches("title")) copy.textContent = part.textContent;
  else {
    const shown = getComputedStyle(part);
    if (shown.display === "none" || shown.visibility === "hidden") return [];
    for (const name of STYLES) {
      const value = shown.getPropertyValue(name);
      if (value) copy.setAttribute(name, value);
    }
    copy.append(...[...part.childNodes].flatMap((node) => (node instanceof Element ? styledCopy(node) : [node.cloneNode()])));
  }
  return [copy];
}

/**
 * The colour behind an element.
 * @param {Element} node
 * @returns {string}
 */
export function groundOf(node) {
  for (let at = /** @type {Element | null} */ (node); at; at = at.parentElement) {
    const colour = getComputedStyle(at).backgroundColor;
    if (colour && colour !== "transparent" && !/, 0\)$/.test(colour)) return colour;
  }
  return "#ffffff";
}

/**
 * An SVG as a canvas, two pixels per unit.
 * @param {Sheet} sheet
 */
export async function paintSvg({ text, width, height }) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = make("canvas", { width: Math.ceil(SHARP * width), height: Math.ceil(SHARP * height) });
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas;
}

/**
 * A canvas with the colour behind it.
 * @param {HTMLCanvasElement} canvas
 */
export function onGround(canvas) {
  const { width, height } = canvas;
  const copy = make("canvas", { width, height });
  const pen = /** @type {CanvasRenderingContext2D} */ (copy.getContext("2d"));
  pen.fillStyle = groundOf(canvas);
  pen.fillRect(0, 0, width, height);
  pen.drawImage(canvas, 0, 0);
  return copy;
}

/**
 * @param {Blob} blob
 * @param {string} name
 */
export function download(blob, name) {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/**
 * Copies a text; where the browser forbids it, the text becomes a file.
 * @param {string} text
 */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    download(new Blob([text], { type: "text/plain" }), "run.txt");
  }
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {string} name
 */
export const downloadPng = (canvas, name) => canvas.toBlob((blob) => blob && download(blob, `${name}.png`), "image/png");

/**
 * The actions that save a drawing as SVG and as PNG.
 * @param {string} name of the file, without its ending
 * @param {() => SVGElement[]} find the drawings, the lowest first; none while there is nothing to save
 */
export function drawingActions(name, find) {
  /** @param {(sheet: Sheet) => unknown} save */
  const write = (save) => () => {
    const drawings = find();
    if (drawings.length) save(writeSvg(drawings));
  };
  return {
    SVG: write(({ text }) => download(new Blob([text], { type: "image/svg+xml" }), `${name}.svg`)),
    PNG: write(async (sheet) => downloadPng(await paintSvg(sheet), name)),
  };
}

/**
 * A small button that opens a choice of formats.
 * @param {string} what the panel
 * @param {Record<string, () => void>} actions a format to what saves it
 */
export function buildSaveMenu(what, actions) {
  const formats = Object.entries(actions).map(([format, act]) =>
    make("button", { type: "button", "aria-label": `${what} as ${format}`, on: { click: () => { open(false); act(); } } }, format));
  const menu = make("span", { class: "gv-save-menu", role: "group", "aria-label": `save the ${what}`, hidden: true }, ...formats);
  const key = make("button", { type: "button", class: "gv-save-key", "aria-expanded": "false", "aria-label": `save the ${what}`, title: `save the ${what}`, on: { click: () => open(Boolean(menu.hidden)) } }, "⤓");
  const node = make("span", { class: "gv-save" }, key, menu);
  /** @param {boolean} wide */
  function open(wide) {
    if (!wide && menu.contains(document.activeElement)) key.focus();
    menu.hidden = !wide;
    key.setAttribute("aria-expanded", String(wide));
    if (wide) document.addEventListener("pointerdown", ({ target }) => node.contains(/** @type {Node} */ (target)) || open(false), { once: true });
  }
  node.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || menu.hidden) return;
    event.stopPropagation();
    open(false);
  });
  node.addEventListener("focusout", ({ relatedTarget }) => {
    const other = /** @type {Node | null} */ (relatedTarget); // the widget itself takes the focus after each press
    if (other && !node.contains(other) && !other.contains(node)) open(false);
  });
  return node;
}
