// The map by itself: type a text to see what may come after it, or press a state.

/** @import { Model, Say } from "../types.js" */
import { showMask } from "../map/map-data.js";
import { buildMap } from "../map/map-view.js";
import { connect } from "../shared/connection.js";
import { buildNote, paintNote, widgetRoot } from "../shared/controls.js";
import { make, setText, withCommas } from "../shared/elements.js";

/** @typedef {{ text: string, reads: boolean, note: string, map: any }} MapNews */

/** @param {Say} say */
function buildChart(say) {
  const map = buildMap({ say });
  const about = make("span", { class: "gv-soft" });
  const head = make("div", { class: "gv-about" }, make("strong", { class: "gv-title" }, "vocabulary"), about);
  const text = make("input", { type: "text", class: "gv-find gv-read", "aria-label": "after the text", placeholder: "nothing yet", spellcheck: "false" });
  text.addEventListener("input", () => say({ do: "read", text: text.value }));
  const state = make("span", { class: "gv-soft" });
  const reading = make("label", { class: "gv-map-find" }, "after the text", text);
  const note = buildNote();
  const row = make("div", { class: "gv-map-row" }, reading, state, map.finder);
  const root = widgetRoot("gv-chart gv-map-chart", "vocabulary map", {}, make("header", { role: "none" }, head), row, note, map.node);
  return { root, map, about, text, state, reading, note };
}

/**
 * @param {ReturnType<typeof buildChart>} ui
 * @param {MapNews} news
 */
function paintChart(ui, news) {
  const { map, paint } = ui.map;
  setText(ui.about, `${withCommas(map.land.count)} tokens in byte order along a Hilbert curve`);
  ui.reading.hidden = !news.reads;
  setText(ui.state, `state ${map.state}`);
  if (document.activeElement !== ui.text) ui.text.value = news.text;
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
      showMask(ui.map.map, map);
    }
    if (ui.map.map.land) paintChart(ui, all[all.length - 1]);
  }
  start(onNews, (words) => paintNote(ui.note, words));
  return () => {
    ui.map.stop();
    stop();
  };
}

export default { render };
