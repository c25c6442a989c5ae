// What is seen of other runs once somebody asks: one of them beside the shown run, and the prompt as a field that begins a new one.

/** @import { StageView } from "../types.js" */
/** @import { Part } from "../shared/parts.js" */
/** @import { StageActions } from "./layout.js" */
import { consume } from "../shared/controls.js";
import { lettersOf } from "../shared/elements.js";

/**
 * It closes when a run with another prompt begins, so that a prompt that was refused can be mended.
 * @param {StageView} view
 * @param {StageActions} act
 * @returns {Part}
 */
export function promptField({ head }, act) {
  const close = () => {
    act.set({ prompting: null });
    act.focus();
  };
  /** @param {any} event */
  const keydown = (event) => {
    event.stopPropagation(); // letters are letters here, and not keys of the stage
    if (event.key === "Escape") close();
    if (event.key !== "Enter" || event.shiftKey) return;
    consume(event);
    if (event.target.value === head.asked) close();
    else act.say({ do: "prompt", text: event.target.value });
  };
  return ["textarea.gv-prompt-field", { rows: 2, given: head.asked, "aria-label": "prompt: Enter begins a new run, Escape gives up", title: "Enter: a new run · Shift+Enter: a line end · Escape: give up", spellcheck: "false", keydown }];
}

/**
 * Two runs token by token: those that are equal, then the first token where they part.
 * @param {StageView} view
 * @param {StageActions} act
 * @returns {Part}
 */
export function besidePart({ beside, branches }, act) {
  if (!beside) return ["div.gv-pair", { hidden: true }];
  const { words, first, same, runs, branch } = beside;
  const names = ["this run", ["button.gv-key", { disabled: branch >= branches.length, click: () => act.say({ do: "turn", branch }) }, "take this run"]];
  return ["div.gv-pair", { role: "group", "aria-label": "two runs beside each other", "data-part": "beside" }, ["p", { role: "status" }, words],
    ...runs.map((labels, run) => ["p.gv-pair-run", ["span.gv-pair-name", names[run]], first > 0 && "… ",
      ...labels.map((label, place) => [place === same ? "mark.gv-name" : place < same ? "span.gv-name.gv-soft" : "span.gv-name", ...lettersOf(label)])])];
}
