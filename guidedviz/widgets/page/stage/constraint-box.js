// The box in which the constraint is edited. It sends its text at each pause in typing; the kernel answers what became
// of it.

/** @import { StageView } from "../types.js" */
/** @import { Part } from "../shared/parts.js" */
/** @import { StageActions } from "./layout.js" */
import { choicePart, icon } from "../shared/controls.js";
import { tokenPart } from "../shared/elements.js";

const PAUSE = 350; // milliseconds without a key that count as a pause
const LANGUAGES = { regex: "regex", schema: "JSON Schema", grammar: "grammar" };
/** @type {Record<string, string>} */
const EXAMPLES = { regex: "[0-9]+", schema: '{"type": "integer"}', grammar: "root ::= [0-9]+" };
const STATES = {
  "": "",
  compiling: "compiling …",
  wrong: "the constraint before keeps running",
  waits: "waits for you; the constraint before keeps running",
  runs: "runs",
};
const IDLE = "Change it while the model decodes: at each pause it is compiled; Escape leaves the box.";

/**
 * Sends what stands in the box.
 * @param {StageView} view
 * @param {StageActions} act
 */
function send({ typing, box: { kind, text } }, act) {
  clearTimeout(typing);
  if (text.trim()) act.say({ do: "edit", kind, text });
}

/**
 * @param {StageView} view
 * @param {StageActions} act
 */
const listeners = (view, act) => ({
  /** @param {any} event */
  input({ target }) {
    clearTimeout(view.typing);
    view.typing = setTimeout(send, PAUSE, view, act);
    view.box.text = target.value;
    act.paint();
  },
  /** @param {any} event */
  keydown(event) {
    event.stopPropagation(); // letters are letters here, and not keys of the stage
    if (event.key === "Escape") event.target.closest(".gv-stage").focus({ preventScroll: true });
  },
});

/**
 * @param {StageView} view
 * @param {StageActions} act
 * @returns {Part}
 */
export function constraintPart(view, act) {
  const { edit, box: { kind, text } } = view;
  if (!edit) return ["div"];
  const { state, error, rejects, place } = edit;
  const choice = choicePart("", LANGUAGES, kind, (name) => {
    view.box.kind = name;
    send(view, act);
    act.paint();
  }, { "aria-label": "language of the constraint" });
  const rows = Math.max(kind === "regex" ? 2 : 3, Math.min(8, text.split("\n").length));
  const [said, ...caret] = error.split("\n");
  return ["div.gv-panel.gv-edit", { role: "group", "aria-label": "constraint", "data-slot": "constraint", "data-part": "constraint", "data-state": state },
    ["div.gv-panel-head", ["strong.gv-title", "constraint"], choice, ["span.gv-soft.gv-edit-fate", { role: "status" }, STATES[state]]],
    ["div.gv-edit-box",
      ["textarea.gv-edit-text", {
        rows, spellcheck: "false", autocapitalize: "off", wrap: "off", "aria-label": "text of the constraint",
        placeholder: EXAMPLES[kind], given: text, ...listeners(view, act),
      }],
      ["div.gv-edit-found",
        ["div.gv-edit-error", { role: "alert", hidden: !error }, ["p", said], ["pre", caret.join("\n")]],
        rejects && ["p.gv-edit-rejects", ["b", "✕ "], `step ${Number(place) + 1}, `, tokenPart(rejects[0], "code"), ` is the first token that it rejects: ${rejects[1]}. `,
          ["button.gv-key.gv-edit-back", { click: () => act.say({ do: "go_back" }) }, icon("back"), "go back there"]],
        ["p.gv-soft.gv-edit-idle", { hidden: Boolean(error || rejects) }, IDLE]]]];
}
