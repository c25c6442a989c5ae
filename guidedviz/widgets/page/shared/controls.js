// Buttons, sliders and panels that every kind of widget uses.

/** @import { Part } from "./parts.js" */
import { make } from "./elements.js";
import { build, change } from "./parts.js";

const ICONS = {
  start: "M3 3v10M13 3 6 8l7 5z",
  back: "M11 3 4 8l7 5z",
  play: "M4 2.5 13 8l-9 5.5z",
  pause: "M5 3v10M11 3v10",
  step: "M5 3l7 5-7 5z",
  end: "M13 3v10M3 3l7 5-7 5z",
  ask: "M2 8.5 6 12.5 14 3.5",
  wide: "M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4",
  reset: "M12.5 5.5A5 5 0 1 0 13 9M13 2.5v3.5H9.5",
};
/** @type {Record<string, string>} */
const SOURCE_SIGNS = { LIVE: "●", RECORDED: "◼", TOY: "◆" };
/** @type {Record<string, string>} */
const COMMANDS = { ArrowRight: "step", ArrowLeft: "back", " ": "play", Home: "start", End: "end", r: "reset", R: "reset" };

/** @param {keyof typeof ICONS} name */
export const icon = (name) => ["svg", { viewBox: "0 0 16 16", "aria-hidden": true }, ["path", { d: ICONS[name] }]];

const QUIET = "data-lm-suppress-shortcuts";
/** @param {Event} event JupyterLab looks for this mark at the focused element before it looks at the elements around it */
const focusin = ({ target }) => /** @type {Element} */ (target).setAttribute(QUIET, "true");

/**
 * What the outermost element of a widget has.
 * @param {string} classes
 * @param {string} label
 * @param {Record<string, any>} attributes
 */
export const rootOf = (classes, label, attributes) =>
  ({ class: `gv gv-stage ${classes}`.trim(), role: "group", "aria-label": label, [QUIET]: true, focusin, ...attributes });

/**
 * @param {string} classes
 * @param {string} label
 * @param {Record<string, any>} attributes
 * @param {...Node} children
 */
export const widgetRoot = (classes, label, attributes, ...children) => make("div", rootOf(classes, label, attributes), ...children);

/**
 * A button with a sign.
 * @param {keyof typeof ICONS} name
 * @param {string} label
 * @param {string} key the key that does the same, or ""
 * @param {() => void} act
 * @param {Record<string, any>} [more]
 * @param {...any} words
 * @returns {Part}
 */
export const keyPart = (name, label, key, act, more, ...words) =>
  [`button.gv-key.gv-${name}`, { "aria-label": label, title: key ? `${label} (${key})` : label, click: act, ...more }, icon(name), ...words];

/**
 * @param {boolean} playing
 * @param {() => void} act
 * @param {Record<string, any>} [more]
 */
export function playPart(playing, act, more) {
  const name = playing ? "pause" : "play";
  return keyPart(name, name, "space", act, { class: "gv-key gv-play", "data-name": name, ...more });
}

/**
 * A group of buttons of which one is pressed.
 * @param {string} label
 * @param {Record<string, string>} names
 * @param {string} chosen
 * @param {(name: string) => void} act
 * @param {Record<string, any>} [more]
 * @returns {Part}
 */
export const choicePart = (label, names, chosen, act, more) => ["span.gv-toggle", { role: "group", "aria-label": label, ...more }, label,
  ...Object.entries(names).map(([name, words]) =>
    ["button", { "aria-pressed": name === chosen, "data-name": name, click: () => act(name) }, words])];

/**
 * A line for errors, hidden while there is none.
 * @param {string} words
 * @returns {Part}
 */
export const notePart = (words) => ["p.gv-note", { role: "alert", hidden: !words }, words && `⚠ ${words}`];

/**
 * LIVE, RECORDED or TOY.
 * @param {string} source
 * @returns {Part}
 */
export const sourcePart = (source) => [`strong.gv-badge.gv-${source.toLowerCase()}`, `${SOURCE_SIGNS[source]} ${source}`];

// the same as elements, for widgets that keep theirs

/** @type {(...given: [keyof typeof ICONS, string, string, () => void, (Node | string)?]) => HTMLButtonElement} */
export const button = (name, label, key, act, words) => /** @type {HTMLButtonElement} */ (build(keyPart(name, label, key, act, {}, words)));

/**
 * @param {HTMLElement} node
 * @param {boolean} playing
 * @param {() => void} act
 */
export const paintPlayButton = (node, playing, act) => change(node, playPart(playing, act));

/**
 * @param {string} label
 * @param {Record<string, string>} names
 * @param {(name: string) => void} act
 */
export function toggle(label, names, act) {
  const node = build(choicePart(label, names, "", act));
  /** @param {string} name */
  const set = (name) => change(node, choicePart(label, names, name, act));
  return { node, buttons: [...node.querySelectorAll("button")], set };
}

export const buildNote = () => build(notePart(""));

/**
 * @param {HTMLElement} node
 * @param {string} words
 */
export const paintNote = (node, words) => change(node, notePart(words));

/**
 * @param {HTMLElement} node
 * @param {string} source
 */
export const paintSource = (node, source) => change(node, sourcePart(source));

/**
 * The command of a key, or "". Space on a button presses that button instead.
 * @param {KeyboardEvent} event
 */
export function commandOf(event) {
  if (hasModifier(event)) return "";
  const onButton = /^(BUTTON|SUMMARY)$/.test(/** @type {Element} */ (event.target).tagName);
  return event.key === " " && onButton ? "" : COMMANDS[event.key] ?? "";
}

/** @param {KeyboardEvent} event */
export const hasModifier = (event) => event.ctrlKey || event.metaKey || event.altKey;

/**
 * Marks a key as handled, so that neither the page nor JupyterLab acts on it.
 * @param {Event} event
 */
export function consume(event) {
  event.preventDefault();
  event.stopPropagation();
}

/**
 * Gives the keyboard back to the whole widget after a press with the mouse.
 * @param {HTMLElement} root
 * @param {string} selector what was pressed
 */
export function refocusAfterPress(root, selector) {
  root.addEventListener("click", (event) => {
    if (event.detail && /** @type {Element} */ (event.target).closest(selector)) root.focus({ preventScroll: true });
  });
}
