// Elements of the page, and the words in them.

/** @import { Part } from "./parts.js" */
import { build, fill, SVG } from "./parts.js";

/**
 * An HTML element; "on" holds its listeners.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, any>} [attributes]
 * @param {...(Node | string)} inside
 */
export const make = (tag, { on, ...attributes } = {}, ...inside) => /** @type {HTMLElementTagNameMap[Tag]} */ (build([tag, { type: undefined, ...attributes, ...on }, ...inside]));

/**
 * An SVG element.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, any>} attributes
 * @param {...(Node | string)} inside
 */
export const shape = (tag, attributes, ...inside) => /** @type {SVGElementTagNameMap[Tag]} */ (/** @type {unknown} */ (build([tag, attributes, ...inside], SVG)));

/**
 * A token's text. Signs that stand for white space are paler than letters.
 * @param {string} label
 * @returns {any[]}
 */
export const lettersOf = (label) => label.split(/([␣↵⇥]+)/).filter(Boolean).map((part) => (/^[␣↵⇥]/.test(part) ? ["i.gv-mark", part] : part));

/**
 * A token.
 * @param {string} label
 * @param {"span" | "code"} [tag]
 * @returns {Part}
 */
export const tokenPart = (label, tag = "span") => [`${tag}.gv-name`, ...lettersOf(label)];

/**
 * A special token: its name without the usual signs around it.
 * @param {string} label
 * @returns {Part}
 */
export const specialPart = (label) => ["span.gv-special", { role: "img", "aria-label": `special token ${label}` }, label.replace(/^<\|(.+)\|>$/, "$1")];

/**
 * @param {HTMLElement} node
 * @param {string} label
 */
export const writeToken = (node, label) => fill(node, lettersOf(label));

/** @param {string} label */
export const tokenName = (label) => build(tokenPart(label));

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
