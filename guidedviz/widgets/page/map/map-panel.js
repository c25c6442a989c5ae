// The map's panel on the stage: the mask of the step at the cursor, with the model's likeliest tokens over it. It is a bundle of
// its own: `stage/map-slot.js` loads it.

/** @import { Motion, Play } from "../motion/player.js" */
/** @import { Say, StageView, Step } from "../types.js" */
import { make } from "../shared/elements.js";
import { mayMove } from "../stage/pace.js";
import { placeShown, shownStep } from "../stage/view.js";
import { showMask } from "./map-data.js";
import { buildMap } from "./map-view.js";
import { keepForWave } from "./map-wave.js";

/** @typedef {ReturnType<typeof buildMapPanel>} MapPanel */
/** @typedef {{ build: typeof buildMapPanel, paint: typeof paintMapPanel }} MapCode */

/**
 * @param {HTMLElement} slot
 * @param {{ say: Say, pick: (token: number) => void }} act
 */
function buildMapPanel(slot, act) {
  const map = buildMap({ say: act.say, take: act.pick, callouts: true });
  slot.append(make("div", { class: "gv-panel-head" }, make("strong", { class: "gv-title", title: "one cell per token, in byte order along a Hilbert curve" }, "map"), map.finder), map.node);
  slot.setAttribute("aria-label", "map of the vocabulary");
  return { slot, map, at: 0, wave: /** @type {Motion | null} */ (null) };
}

/**
 * @param {MapPanel} panel
 * @param {StageView} view
 * @param {Play} play
 */
function paintMapPanel(panel, view, play) {
  const { slot, map: { map, legend, paint } } = panel;
  const step = shownStep(view);
  slot.hidden = !map.land || step?.mask === undefined;
  if (!map.land || step?.mask === undefined) return;
  const rank = map.base ? rankTaken(panel.at, view) : -1;
  if (view.cursor !== panel.at) panel.wave?.finish();
  panel.at = view.cursor;
  const begin = rank < 0 ? null : keepForWave(panel.map, rank, play);
  showMask(map, { now: step.mask, asked: step.asked, state: step.state });
  map.marks = marksOf(step, placeShown(view) >= 0);
  legend.setAttribute("aria-live", view.playing ? "off" : "polite");
  paint();
  if (begin) panel.wave = begin();
}

/**
 * The place on the map of the token that was taken on the way here, or -1 where nothing moves.
 * @param {number} at the cursor that was shown before
 * @param {StageView} view
 */
function rankTaken(at, view) {
  const step = view.steps[at];
  if (view.cursor !== at + 1 || !step?.ranks || !mayMove(view)) return -1;
  return step.ranks[step.rows.findIndex(([token]) => token === step.token)] ?? -1;
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

export default { build: buildMapPanel, paint: paintMapPanel };
