// The map by itself: type a text to see what may come after it, or press a state.

/** @import { Model, Say } from "../types.js" */
import { showMasks } from "../map/map-data.js";
import { buildMap } from "../map/map-view.js";
import { connect } from "../shared/connection.js";
import { buildNote, paintNote, widgetRoot } from "../shared/controls.js";
import { make, setText, withCommas } from "../shared/elements.js";

/** @typedef {{ states: string[], at: number | null, text: string, reads: boolean, note: string, map: any }} MapNews */

/** @param {Say} say */
function buildChart(say) {
  const map = buildMap({ say });
  const about = make("span", { class: "gv-soft" });
  const head = make("div", { class: "gv-about" }, make("strong", { class: "gv-title" }, "vocabulary"), about);
  const text = make("input", { type: "text", class: "gv-find gv-read", "aria-label": "after the text", placeholder: "nothing yet", spellcheck: "false" });
  text.addEventListener("input", () => say({ do: "read", text: text.value }));
  const state = make("span", { class: "gv-soft" });
  const reading = make("label", { class: "gv-map-find" }, "after the text", text);
  const states = make("span", { class: "gv-map-states", role: "group", "aria-label": "states" });
  const note = buildNote();
  const row = make("div", { class: "gv-map-row" }, reading, state, states, map.finder);
  const root = widgetRoot("gv-chart gv-map-chart", "vocabulary map", {}, make("header", { role: "none" }, head), row, note, map.node);
  return { root, map, about, text, state, reading, states, note };
}

/**
 * One button per state.
 * @param {HTMLElement} node
 * @param {MapNews} news
 * @param {Say} say
 */
function paintStates(node, { states, at }, say) {
  if (node.children.length !== states.length) {
    const buttons = states.map((name, state) => make("button", { type: "button", on: { click: () => say({ do: "state", state }) } }, name));
    node.replaceChildren(...buttons);
  }
  [...node.children].forEach((one, state) => one.setAttribute("aria-pressed", String(state === at)));
}

/**
 * @param {ReturnType<typeof buildChart>} ui
 * @param {MapNews} news
 * @param {Say} say
 */
function paintChart(ui, news, say) {
  const { map, paint } = ui.map;
  setText(ui.about, `${withCommas(map.land.count)} tokens in byte order along a Hilbert curve`);
  ui.reading.hidden = !news.reads;
  setText(ui.state, news.states.length ? "" : `state ${map.state}`);
  if (document.activeElement !== ui.text) ui.text.value = news.text;
  paintStates(ui.states, news, say);
  paintNote(ui.note, news.note);
  paint();
}

/** @param {{ model: Model, el: HTMLElement }} place */
function render({ model, el }) {
  const { say, start, stop } = connect(model);
  const ui = buildChart(say);
  el.append(ui.root);
  /** @param {MapNews[]} all */
  function onNews(all) {
    for (const { map } of all) {
      ui.map.hear(map);
      showMasks(ui.map.map, map);
    }
    if (ui.map.map.land) paintChart(ui, all[all.length - 1], say);
  }
  start(onNews, (words) => paintNote(ui.note, words));
  return () => {
    ui.map.stop();
    stop();
  };
}

export default { render };
