// Buttons, sliders and panels that every kind of widget uses.

import { icon, make, setText } from "./elements.js";

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

/**
 * The outermost element of a widget.
 * @param {string} classes
 * @param {string} label
 * @param {Record<string, any>} attributes
 * @param {...Node} children
 */
export function widgetRoot(classes, label, attributes, ...children) {
  const shared = { class: `gv gv-stage ${classes}`.trim(), role: "group", "aria-label": label, "data-lm-suppress-shortcuts": "true" };
  const root = make("div", { ...shared, ...attributes }, ...children);
  // JupyterLab looks for this mark at the focused element before it looks at the elements around it
  root.addEventListener("focusin", (event) => {
    /** @type {Element} */ (event.target).setAttribute("data-lm-suppress-shortcuts", "true");
  });
  return root;
}

/**
 * @param {keyof typeof ICONS} name
 * @param {string} label
 * @param {string} key the key that does the same, or ""
 * @param {() => void} act
 * @param {Node | string} [words]
 */
export function button(name, label, key, act, words) {
  const title = key ? `${label} (${key})` : label;
  const node = make("button", { type: "button", class: `gv-key gv-${name}`, "aria-label": label, title, on: { click: act } }, icon(ICONS[name]));
  if (words) node.append(words);
  return node;
}

export const backIcon = () => icon(ICONS.back);

/**
 * @param {HTMLButtonElement} node
 * @param {boolean} playing
 */
export function paintPlayButton(node, playing) {
  const name = playing ? "pause" : "play";
  if (node.dataset.name === name) return;
  node.dataset.name = name;
  node.replaceChildren(icon(ICONS[name]));
  node.setAttribute("aria-label", name);
  node.title = `${name} (space)`;
}

/**
 * @param {string} label
 * @param {Record<string, number>} limits
 * @param {(value: number) => void} act
 */
export function slider(label, limits, act) {
  const input = make("input", { type: "range", "aria-label": label, ...limits, on: { input: () => act(Number(input.value)) } });
  const value = make("output");
  return { input, value, node: make("label", { class: "gv-slider" }, label, input, value) };
}

/**
 * A group of buttons of which one is pressed.
 * @param {string} label
 * @param {Record<string, string>} names
 * @param {(name: string) => void} act
 */
export function toggle(label, names, act) {
  const buttons = Object.entries(names).map(([name, words]) =>
    make("button", { type: "button", "aria-pressed": "false", "data-name": name, on: { click: () => act(name) } }, words));
  const node = make("span", { class: "gv-toggle", role: "group", "aria-label": label }, label, ...buttons);
  /** @param {string} name */
  const set = (name) => buttons.forEach((one) => one.setAttribute("aria-pressed", String(one.dataset.name === name)));
  return { node, buttons, set };
}

/**
 * @param {string} slot
 * @param {string} title
 * @param {...Node} children
 */
export function panel(slot, title, ...children) {
  const aside = make("span", { class: "gv-soft" });
  const head = make("div", { class: "gv-panel-head" }, make("strong", { class: "gv-title" }, title), aside);
  const node = make("div", { role: "group", class: "gv-panel", "data-slot": slot, "aria-label": title }, head, ...children);
  return { node, head, aside };
}

/** A line for errors, hidden while there is none. */
export const buildNote = () => make("p", { class: "gv-note", role: "alert", hidden: true });

/**
 * @param {HTMLElement} node
 * @param {string} words
 */
export function paintNote(node, words) {
  node.hidden = !words;
  setText(node, words ? `⚠ ${words}` : "");
}

/**
 * LIVE, RECORDED or TOY.
 * @param {HTMLElement} node
 * @param {string} source
 */
export function paintSource(node, source) {
  node.className = `gv-badge gv-${source.toLowerCase()}`;
  setText(node, `${SOURCE_SIGNS[source]} ${source}`);
}

/**
 * The command of a key, or "". Space on a button presses that button instead.
 * @param {KeyboardEvent} event
 */
export function commandOf(event) {
  if (hasModifier(event)) return "";
  const onButton = /** @type {Element} */ (event.target).tagName === "BUTTON";
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
