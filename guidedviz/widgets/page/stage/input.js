// What a person does on the stage with keys and pointer; the buttons are wired where they are built.

/** @import { StageView } from "../types.js" */
/** @import { StageActions, StageUi } from "./layout.js" */
import { commandOf, consume, hasModifier, refocusAfterPress } from "../shared/controls.js";
import { make, tokenName } from "../shared/elements.js";
import { toggleLecture } from "./lecture.js";
import { currentChip, shownStep } from "./view.js";

/**
 * @param {StageUi} ui
 * @param {StageView} view
 * @param {StageActions} act
 */
export function listenToKeys(ui, view, act) {
  /** @type {Record<string, () => void>} */
  const letters = { f: () => toggleLecture(ui.root), q: act.ask, "?": () => (ui.help.open = !ui.help.open) };
  ui.root.addEventListener("keydown", (event) => {
    const target = /** @type {HTMLInputElement} */ (event.target);
    if (hasModifier(event) || target.type === "number" || target.type === "textarea") return;
    if (target.type === "range" && target !== ui.timeline.scrub && /^(Arrow|Home|End)/.test(event.key)) return;
    const row = /^[1-9]$/.test(event.key) ? shownStep(view)?.rows[Number(event.key) - 1] : undefined;
    const command = commandOf(event);
    if (row) act.pick(row[0]);
    else if (command) act[/** @type {"step"} */ (command)]();
    else if (letters[event.key.toLowerCase()]) letters[event.key.toLowerCase()]();
    else return;
    consume(event);
  });
  refocusAfterPress(ui.root, "button, .gv-track-time");
}

/**
 * Clicks on tokens of the text, and what else could have come where the pointer is.
 * @param {StageUi} ui
 * @param {StageView} view
 * @param {StageActions} act
 */
export function listenToChips(ui, view, act) {
  ui.chips.addEventListener("pointerover", (event) => {
    const chip = chipOf(event);
    if (chip && !view.playing) showTip(ui, view, chip);
    else ui.tip.hidden = true;
  });
  ui.chips.addEventListener("pointerleave", () => (ui.tip.hidden = true));
  ui.chips.addEventListener("focusin", (event) => {
    const chip = chipOf(event);
    if (chip?.matches(":focus-visible")) describeByTip(ui, view, chip);
  });
  ui.chips.addEventListener("focusout", () => (ui.tip.hidden = true));
  ui.root.addEventListener("keydown", () => (ui.tip.hidden = true), true);
  ui.chips.addEventListener("click", (event) => {
    ui.tip.hidden = true;
    const chip = chipOf(event);
    if (chip) act.go(Number(chip.dataset.place));
  });
}

/**
 * The token of the text that an event is on.
 * @param {Event} event
 * @returns {HTMLElement | null}
 */
export const chipOf = (event) => /** @type {Element} */ (event.target).closest?.(".gv-chip");

/**
 * A token that has the focus hands it to the token that a step leads to.
 * @param {StageUi} ui
 * @param {StageView} view
 */
export function followFocus(ui, view) {
  const chip = /** @type {HTMLElement | undefined} */ (ui.chips.children[currentChip(view)]);
  const held = chip === document.activeElement;
  (chip ?? ui.root).focus({ preventScroll: true });
  if (chip && held) describeByTip(ui, view, chip);
}

/**
 * @param {StageUi} ui
 * @param {StageView} view
 * @param {HTMLElement} chip
 */
function describeByTip(ui, view, chip) {
  if (view.playing) return;
  showTip(ui, view, chip);
  chip.setAttribute("aria-describedby", ui.tip.id);
}

/**
 * @param {StageUi} ui
 * @param {StageView} view
 * @param {HTMLElement} chip
 */
function showTip({ tip, root }, view, chip) {
  const step = view.steps[Number(chip.dataset.place)];
  const best = [...step.rows].sort((one, two) => Math.max(two[2], two[3]) - Math.max(one[2], one[3])).slice(0, 5);
  const lines = best.map(([, label, raw, drawn, legal, , drawnText]) => {
    const bar = make("i");
    bar.style.width = `${60 * (legal ? drawn : raw)}px`;
    return make("div", { class: legal ? "" : "gv-struck" }, tokenName(label), bar, make("span", {}, legal ? drawnText : "forbidden"));
  });
  tip.replaceChildren(make("p", {}, step.words), ...lines);
  tip.hidden = false;
  const [home, box] = [root.getBoundingClientRect(), chip.getBoundingClientRect()];
  tip.style.left = `${Math.max(8, Math.min(box.left - home.left, home.width - tip.offsetWidth - 8))}px`;
  tip.style.top = `${box.bottom - home.top + 6}px`;
}
