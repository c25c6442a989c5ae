// The map's panel on the stage: the mask of the step at the cursor, with the model's likeliest tokens over it.

/** @import { Say, StageView, Step } from "../types.js" */
import { make } from "../shared/elements.js";
import { masksShown, placeShown, shownStep } from "../stage/view.js";
import { showMasks } from "./map-data.js";
import { buildMap } from "./map-view.js";

/** @typedef {ReturnType<typeof buildMapPanel>} MapPanel */

/**
 * @param {HTMLElement} slot
 * @param {{ say: Say, pick: (token: number) => void }} act
 */
export function buildMapPanel(slot, act) {
  /** @param {boolean} on */
  const xor = (on) => {
    map.map.xor = panel.wished = on;
    map.paint();
  };
  const map = buildMap({ say: act.say, take: act.pick, xor, callouts: true });
  const panel = { slot, map, wished: false, edited: false };
  slot.append(make("div", { class: "gv-panel-head" }, make("strong", { class: "gv-title", title: "one cell per token, in byte order along a Hilbert curve" }, "vocabulary"), map.finder, map.xor), map.node);
  slot.setAttribute("aria-label", "the whole vocabulary");
  return panel;
}

/**
 * @param {MapPanel} panel
 * @param {StageView} view
 */
export function paintMapPanel(panel, view) {
  const { slot, map: { map, xor, legend, paint } } = panel;
  const [step, masks] = [shownStep(view), masksShown(view)];
  slot.hidden = !map.land || !step || !masks;
  if (!map.land || !step || !masks) return;
  const edited = Boolean(view.edited);
  if (panel.edited !== edited) map.xor = edited || panel.wished; // an edit shows at once what it changed; afterwards the person's choice counts again
  panel.edited = edited;
  xor.title = edited ? "compare with the constraint before" : "compare with the step before";
  showMasks(map, masks);
  map.marks = edited ? [] : marksOf(step, placeShown(view) >= 0); // an edit changes the next token, which has no distribution yet
  legend.setAttribute("aria-live", view.playing ? "off" : "polite");
  paint();
}

/**
 * The candidates of a step.
 * @param {Step} step
 * @param {boolean} drawn
 */
function marksOf(step, drawn) {
  return step.rows.map(([token, label, raw, , legal, text], place) =>
    ({ rank: step.ranks?.[place] ?? -1, raw, text, legal, label, chosen: drawn && token === step.token }));
}
