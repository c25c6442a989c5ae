// What of a live run can be changed in the menu: its model, its prompt, and the settings that the controls do not have.

/** @import { StageView } from "../types.js" */
/** @import { Part } from "../shared/parts.js" */
/** @import { StageActions } from "./layout.js" */
import { askRows } from "./looked.js";
import { isFixed } from "./view.js";

/** @type {["top_k" | "top_p" | "repetition_penalty", string, Record<string, any>][]} */
const IN_MENU = [
  ["top_k", "top-k", { min: 0, title: "only the k likeliest legal tokens can be drawn; 0 for all" }],
  ["top_p", "top-p", { min: 0.05, max: 1, step: 0.05, title: "only the likeliest legal tokens that have this share together can be drawn; 1 for all" }],
  ["repetition_penalty", "penalty", { min: 1, max: 2, step: 0.05, title: "repetition penalty: tokens that are in the prompt or the text are weakened; 1 for none" }],
];
const FIXED = "This run is recorded: on a live stage its prompt, its model and its settings can be changed.";

/**
 * A number that the steps from here on are drawn with; the kernel says what is wrong with it.
 * @param {"seed" | "top_k" | "top_p" | "repetition_penalty"} name
 * @param {string} words
 * @param {StageView} view
 * @param {StageActions} act
 * @param {Record<string, any>} [about]
 * @returns {Part}
 */
export function numberPart(name, words, view, act, about) {
  /** @param {any} event */
  const change = ({ target }) => act.say({ do: "set", name, value: target.valueAsNumber });
  /** @param {Event} event */
  const keydown = (event) => event.stopPropagation(); // Enter is for the field: in JupyterLab it would open the cell
  return ["label.gv-slider", words, ["input.gv-seed", { type: "number", min: 0, "aria-label": words, given: view[name], disabled: isFixed(view), change, keydown, ...about }]];
}

/**
 * @param {StageView} view
 * @param {StageActions} act
 * @returns {Part[]}
 */
export function settingRows(view, act) {
  if (isFixed(view)) return [["span.gv-soft.gv-fixed", FIXED]];
  const { asked, models = [] } = view.head;
  /** @param {any} event */
  const choose = ({ target }) => {
    act.say({ do: "model", name: target.value });
    target.value = models[0]; // until the model is there
    target.closest("details").open = false; // it covers the text
    act.focus();
  };
  /** @param {any} event */
  const edit = ({ currentTarget }) => {
    currentTarget.closest("details").open = false; // it covers the prompt
    act.editPrompt();
  };
  return [["label.gv-slider", { hidden: !models.length }, "model", ["select.gv-seed.gv-wide", { "aria-label": "model", given: models[0], change: choose }, ...models.map((name) => ["option", { value: name }, name])]],
    ["button.gv-key.gv-wide", { hidden: asked === undefined, click: edit }, "edit the prompt"],
    ["span.gv-set", ...IN_MENU.map(([name, words, about]) => numberPart(name, words, view, act, about))],
    ...askRows(view, act)];
}
