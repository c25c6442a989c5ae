// The panels share the room: one or two are large, the others are small pictures of themselves that a click makes large.
// The choice is remembered per notebook.

import { make } from "../shared/elements.js";

const MOST = 2; // large panels

/** @typedef {ReturnType<typeof buildPanels>} Panels */

const place = () => `guidedviz.panels:${location.pathname}`;

/** @returns {string[]} */
function recall() {
  try {
    return JSON.parse(localStorage.getItem(place()) ?? "[]");
  } catch {
    return [];
  }
}

/** @param {string[]} names */
function remember(names) {
  try {
    localStorage.setItem(place(), JSON.stringify(names));
  } catch {
    // a page without storage forgets it
  }
}

/**
 * @param {Record<string, HTMLElement[]>} groups the elements of each panel; the first one has the head
 */
export function buildPanels(groups) {
  const names = Object.keys(groups);
  const titles = { machine: "machine", next: "next token", map: "the whole vocabulary" };
  const wished = recall().filter((name) => names.includes(name));
  const boxes = Object.fromEntries(names.map((name) => {
    const title = titles[/** @type {"map"} */ (name)];
    const grow = make("button", { type: "button", class: "gv-grow", "aria-label": `show the panel: ${title}`, title, on: { click: () => enlarge(panels, name) } });
    const inside = make("div", { class: "gv-inside" }, ...groups[name]);
    return [name, { node: make("div", { class: "gv-box", "data-box": name }, inside, grow), inside, grow, parts: groups[name] }];
  }));
  const rail = make("div", { class: "gv-rail" });
  const panels = { node: make("div", { class: "gv-panels" }, rail), rail, names, boxes, wished, shown: "" };
  for (const name of names) {
    const less = make("button", { type: "button", class: "gv-less", "aria-label": `make small: ${name}`, title: "make small", on: { click: () => shrink(panels, name) } }, "–");
    boxes[name].parts[0].querySelector(".gv-panel-head")?.append(less);
  }
  return panels;
}

/**
 * The large panels: those that the person chose, else the first ones.
 * @param {Panels} panels
 */
function chosen({ names, boxes, wished }) {
  const there = names.filter((name) => !boxes[name].parts[0].hidden);
  const wish = wished.filter((name) => there.includes(name)).slice(-MOST);
  return { there, large: wish.length ? wish : there.slice(0, MOST) };
}

/**
 * @param {Panels} panels
 * @param {string} name
 */
function enlarge(panels, name) {
  const { large } = chosen(panels);
  // the distribution stays; another panel makes room
  const kept = large.length < MOST ? large : large.filter((one) => one === "next").slice(0, 1);
  setWish(panels, [...kept, name]);
}

/**
 * @param {Panels} panels
 * @param {string} name
 */
function shrink(panels, name) {
  const { large } = chosen(panels);
  if (large.length > 1) setWish(panels, large.filter((one) => one !== name));
}

/**
 * @param {Panels} panels
 * @param {string[]} names
 */
function setWish(panels, names) {
  panels.wished.splice(0, Infinity, ...names);
  remember(names);
  paintPanels(panels);
}

/** @param {Panels} panels */
export function paintPanels(panels) {
  const { node, rail, names, boxes } = panels;
  const { there, large } = chosen(panels);
  const shown = [there, large].join("|");
  if (panels.shown === shown) return;
  panels.shown = shown;
  const ordered = names.filter((name) => large.includes(name));
  const small = there.filter((name) => !large.includes(name));
  for (const name of names) boxes[name].inside.inert = small.includes(name);
  node.dataset.large = ordered.join(" ");
  rail.hidden = small.length === 0;
  rail.replaceChildren(...small.map((name) => boxes[name].node));
  node.replaceChildren(...ordered.map((name) => boxes[name].node), rail);
}
