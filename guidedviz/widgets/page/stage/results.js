// What the tools gave in a conversation, at the end of a turn: grey text, which a person may change before the model reads it.

/** @import { StageView } from "../types.js" */
/** @import { Part } from "../shared/parts.js" */
/** @import { StageActions } from "./layout.js" */

const WIDE = 60; // letters of a result in one row
const MOST_ROWS = 4;

/** @param {string} text */
const rowsOf = (text) => Math.min(MOST_ROWS, Math.max(text.split("\n").length, Math.ceil(text.length / WIDE)));

/**
 * @param {StageView} view
 * @param {StageActions} act
 * @returns {Part}
 */
export function resultsPart(view, act) {
  const { results = [], replies, alone } = view;
  if (!results.length) return ["div.gv-results", { hidden: true }];
  const send = () => {
    act.say({ do: "answer", texts: replies });
    act.focus(); // the key goes
  };
  const rows = results.map(([call, text, failed], place) => ["label.gv-result", { "data-failed": failed },
    ["span.gv-result-call", ["b", { "aria-hidden": true }, failed ? "✕ " : "→ "], ["code", call]],
    ["textarea.gv-edit-text", {
      rows: rowsOf(text), spellcheck: "false", "aria-label": `what the model reads as the result of ${call}`, given: replies[place], disabled: alone,
      input: (/** @type {any} */ { target }) => (replies[place] = target.value),
      keydown: (/** @type {any} */ event) => event.stopPropagation(), // letters are letters here, and not keys of the stage
    }]]);
  return ["div.gv-results", { role: "group", "aria-label": "results of the tools", "data-part": "results" }, ...rows,
    ["button.gv-key.gv-results-send", { click: send, disabled: alone }, "let the model read it"]];
}
