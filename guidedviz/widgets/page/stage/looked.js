// What a person asks the model: what it looked at for the token at the cursor, and to go on after another text.

/** @import { StageView } from "../types.js" */
/** @import { Part } from "../shared/parts.js" */
/** @import { StageActions } from "./layout.js" */
import { tokenPart } from "../shared/elements.js";

/**
 * @param {StageView} view
 * @param {StageActions} act
 * @returns {Part[]}
 */
export function askRows({ cursor }, act) {
  /** @param {any} event */
  const keydown = (event) => {
    event.stopPropagation(); // letters are letters here, and not keys of the stage
    if (event.key !== "Enter" || !event.target.value) return;
    act.say({ do: "insert", text: event.target.value });
    event.target.value = "";
  };
  /** @param {any} event */
  const click = ({ currentTarget }) => {
    act.say({ do: "look" });
    currentTarget.closest("details").open = false; // it covers the answer
    act.focus();
  };
  return [
    ["button.gv-key.gv-look", { disabled: !cursor, click }, "what the model looked at"],
    ["label.gv-insert", "put next", ["input.gv-seed", { type: "text", "aria-label": "text to put next", placeholder: "a text, then Enter", spellcheck: "false", keydown }]]];
}

/**
 * The text before a token: the more of the token's probability is lost without a part, the darker that part is.
 * @param {StageView} view
 * @returns {Part}
 */
export function lookedPart({ looked, cursor }) {
  if (looked?.place !== cursor) return ["div.gv-looked", { hidden: true }];
  const rows = looked.rows.map(([label, said, lost]) => ["span.gv-looked-part", { vars: { "--p": lost } }, tokenPart(label), ["small", said]]);
  return ["div.gv-looked", { role: "group", "aria-label": "what the model looked at", "data-part": "looked", tabindex: 0 }, ...rows, ["p", { role: "status" }, looked.words.join(" ")]];
}
