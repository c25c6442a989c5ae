// Creates elements of the page. Text enters as text nodes, never as HTML: a vocabulary may contain "<script>".

export const SVG = "http://www.w3.org/2000/svg";

/**
 * An HTML element. The attribute "on" holds event listeners, "vars" numbers for the style sheet; `true` sets an empty
 * attribute, `false` sets none.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, any>} [attributes]
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") for (const [event, act] of Object.entries(value)) node.addEventListener(event, act);
    else if (name === "vars") for (const [key, number] of Object.entries(value)) node.style.setProperty(key, String(Number(number)));
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

/**
 * An SVG element.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, any>} attributes
 * @param {...(Node | string)} children
 * @returns {SVGElementTagNameMap[Tag]}
 */
export function shape(tag, attributes, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

/** @param {string} path */
export function icon(path) {
  return shape("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" }, shape("path", { d: path }));
}

/**
 * Writes a token's text. Signs that stand for white space are paler than letters.
 * @param {HTMLElement} node
 * @param {string} label
 */
export function writeToken(node, label) {
  if (node.dataset.label === label) return;
  node.dataset.label = label;
  const parts = label.split(/([␣↵⇥]+)/).filter(Boolean);
  node.replaceChildren(...parts.map((part) => (/^[␣↵⇥]/.test(part) ? make("i", { class: "gv-mark" }, part) : part)));
}

/**
 * A token's text in an element of its own.
 * @param {string} label
 * @param {"span" | "code"} [tag]
 */
export function tokenName(label, tag = "span") {
  const node = make(tag, { class: "gv-name" });
  writeToken(node, label);
  return node;
}

/**
 * Writes text only where it differs: each write makes the browser lay out the page.
 * @param {Element} node
 * @param {string} text
 */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/**
 * The name of a DFA's state, as `machines/visible.py` writes it.
 * @param {number} state
 */
export const nameState = (state) => `q${state}`;

const COMMAS = new Intl.NumberFormat("en");

/** @param {number} count */
export const withCommas = (count) => COMMAS.format(count);

/** Whether the person asked the system for less motion. */
export const wantsStillness = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
