// A drawing of the kernel as elements. It comes as shapes: a name, attributes, and texts or shapes inside. Elements and
// attributes are of a fixed list, as in guidedviz/markup.py; anything else is left out. A recording may come from a stranger.

/** @import { Shapes } from "../types.js" */
import { SVG } from "./parts.js";

export const ELEMENTS = new Set("svg g path rect circle ellipse line polygon polyline text tspan title defs pattern mask image".split(" "));
export const PLAIN = new Set((
  "x y x1 x2 y1 y2 cx cy r rx ry width height d points transform viewBox opacity fill-opacity stroke-width "
  + "stroke-dasharray stroke-linecap stroke-linejoin paint-order font-size font-family font-weight text-anchor "
  + "text-decoration xml:space role aria-label aria-hidden maskUnits patternUnits image-rendering preserveAspectRatio "
  + "data-state data-arrow data-rule data-part").split(" "));
const PAINT = /^(none|transparent|currentColor|#[0-9a-fA-F]{3,8}|var\(--gv-[a-z]+\)|url\(#gv-[\w-]+\))$/;
/** @type {Map<string, RegExp>} */
export const FORMS = new Map([
  ["class", /^(gv-[\w-]+( gv-[\w-]+)*)?$/],
  ["id", /^gv-[\w-]+$/],
  ["fill", PAINT],
  ["stroke", PAINT],
  ["mask", /^url\(#gv-[\w-]+\)$/],
  ["href", /^data:image\/png;base64,[A-Za-z0-9+/]+=*$/],
]);
const XML = "http://www.w3.org/XML/1998/namespace"; // of xml:space, which keeps the columns of a text
const DEEPEST = 40;

/**
 * @param {string} name
 * @param {string} value
 */
const isAllowed = (name, value) => PLAIN.has(name) || Boolean(FORMS.get(name)?.test(value));

/**
 * @param {Shapes} shapes
 * @param {number} [deep]
 * @returns {SVGElement}
 */
export function draw(shapes, deep = 0) {
  const [name, attributes, ...inside] = Array.isArray(shapes) && ELEMENTS.has(shapes[0]) && deep < DEEPEST ? shapes : ["g", {}];
  const node = /** @type {SVGElement} */ (document.createElementNS(SVG, name));
  for (const [key, value] of Object.entries(attributes ?? {})) if (isAllowed(key, String(value))) node.setAttributeNS(key.startsWith("xml:") ? XML : null, key, String(value));
  node.append(...inside.map((part) => (Array.isArray(part) ? draw(part, deep + 1) : String(part))));
  if (!deep) node.classList.add("gv-drawing");
  return node;
}
