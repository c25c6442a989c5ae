// Two panels share the room: the next token, and beside it one of the others, chosen by tabs. A stack stands beside its
// machine. The choice is remembered per notebook.

import { toggle } from "../shared/controls.js";
import { make } from "../shared/elements.js";

/** @typedef {ReturnType<typeof buildPanels>} Panels */

const TABS = { machine: "machine", stack: "stack", map: "map", constraint: "constraint" };
const place = () => `guidedviz.tab:${location.pathname}`;

/** @returns {string} */
function recall() {
  try {
    return localStorage.getItem(place()) ?? "";
  } catch {
    return "";
  }
}

/** @param {string} name */
function remember(name) {
  try {
    localStorage.setItem(place(), name);
  } catch {
    // a page without storage forgets it
  }
}

/**
 * @param {Record<string, HTMLElement>} parts the panels that a tab shows; one that this run lacks is hidden
 * @param {HTMLElement} next
 * @param {(name: string) => void} pick called when the person has chosen a tab
 */
export function buildPanels(parts, next, pick) {
  const tabs = toggle("", TABS, (name) => {
    panels.wished = name;
    remember(name);
    pick(name);
  });
  tabs.node.setAttribute("aria-label", "panel");
  tabs.node.classList.add("gv-tabs");
  const beside = make("div", { class: "gv-beside" }, ...Object.values(parts));
  const panels = { node: make("div", { class: "gv-panels" }, beside, next), tabs, beside, parts, wished: recall() };
  return panels;
}

/** @param {Panels} panels */
export function paintPanels({ node, tabs, beside, parts, wished }) {
  const there = Object.keys(parts).filter((name) => !parts[name].hidden);
  const first = there.includes("constraint") ? "constraint" : there[0] ?? ""; // who asked for the box wants to write in it
  const chosen = there.includes(wished) ? wished : first;
  tabs.node.hidden = there.length < 2;
  tabs.buttons.forEach((button) => (button.hidden = !there.includes(String(button.dataset.name))));
  tabs.set(chosen);
  for (const name of there) parts[name].classList.toggle("gv-off", name !== chosen && !(name === "stack" && chosen === "machine"));
  beside.hidden = !chosen;
  beside.dataset.tab = node.dataset.tab = chosen;
}
