// The box in which the constraint is edited, and the line above the machine for a regex. Both send their text at each pause
// in typing; the kernel answers what became of it.

/** @import { StageView } from "../types.js" */
/** @import { Part } from "../shared/parts.js" */
/** @import { StageActions } from "./layout.js" */
import { choicePart, icon } from "../shared/controls.js";
import { tokenPart } from "../shared/elements.js";

const PAUSE = 350; // milliseconds without a key that count as a pause
const LANGUAGES = { regex: "regex", schema: "JSON Schema", grammar: "grammar", lark: "Lark" };
/** @type {Record<string, string>} */
const EXAMPLES = { regex: "[0-9]+", schema: '{"type": "integer"}', grammar: "root ::= [0-9]+", lark: "start: /[0-9]+/" };
const BEFORE = "the one before runs on";
const STATES = {
  "": "",
  compiling: "compiling …",
  wrong: BEFORE,
  waits: `waits for you; ${BEFORE}`,
  runs: "runs",
};
const IDLE = "Change it while the model decodes; Escape leaves.";

/**
 * Sends what stands in the box; an empty one changes nothing.
 * @param {StageView} view
 * @param {StageActions} act
 */
function send({ typing, edit, box: { kind, text } }, act) {
  clearTimeout(typing);
  if (text.trim()) act.say({ do: "edit", kind, text });
  else if (edit) edit.state = "wrong";
  act.paint();
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
 * What is wrong with the text, and the token that it rejects.
 * @param {NonNullable<StageView["edit"]>} edit
 * @param {StageActions} act
 * @returns {any[]}
 */
function foundParts({ error, rejects, place }, act) {
  const [said, ...caret] = error.split("\n");
  return [
    ["div.gv-edit-error", { role: "alert", hidden: !error }, ["p", said], ["pre", caret.join("\n")]],
    rejects && ["p.gv-edit-rejects", ["b", "✕ "], `step ${Number(place) + 1}, `, tokenPart(rejects[0], "code"), ` is the first token that it rejects: ${rejects[1]}. `,
      ["button.gv-key.gv-edit-back", { click: () => act.say({ do: "go_back" }) }, icon("back"), "go back there"]],
  ];
}

/**
 * A regex stands above its machine and is edited there.
 * @param {StageView} view
 * @param {StageActions} act
 * @param {string} tab
 * @returns {Part}
 */
export function regexPart(view, act, tab) {
  const { edit, box: { kind, text } } = view;
  if (!edit || kind !== "regex" || text.includes("\n")) return ["div.gv-edit-line", { hidden: true }];
  return ["div.gv-edit-line", { hidden: tab !== "machine", "data-state": edit.state },
    ["label.gv-edit-row", ["span.gv-soft", "regex"],
      ["input.gv-edit-text", { type: "text", spellcheck: "false", autocapitalize: "off", title: IDLE, placeholder: EXAMPLES.regex, given: text, ...listeners(view, act) }]],
    ["span.gv-soft.gv-edit-fate", { role: "status" }, STATES[edit.state]], ...foundParts(edit, act)];
}

/**
 * @param {StageView} view
 * @param {StageActions} act
 * @returns {Part}
 */
export function constraintPart(view, act) {
  const { edit, box: { kind, text } } = view;
  if (!edit) return ["div"];
  const { state, error, rejects } = edit;
  const choice = choicePart("", LANGUAGES, kind, (name) => {
    view.box.kind = name;
    send(view, act);
  }, { "aria-label": "language of the constraint" });
  const rows = Math.max(kind === "regex" ? 2 : 3, Math.min(8, text.split("\n").length));
  return ["div.gv-panel.gv-edit", { role: "group", "aria-label": "constraint", "data-slot": "constraint", "data-part": "constraint", "data-state": state },
    ["div.gv-panel-head", ["strong.gv-title", "constraint"], choice, ["span.gv-soft.gv-edit-fate", { role: "status" }, STATES[state]]],
    ["div.gv-edit-box",
      ["textarea.gv-edit-text", {
        rows, spellcheck: "false", autocapitalize: "off", wrap: "off", "aria-label": "text of the constraint",
        placeholder: EXAMPLES[kind], given: text, ...listeners(view, act),
      }],
      ["div.gv-edit-found", ...foundParts(edit, act),
        ["p.gv-soft.gv-edit-idle", { hidden: Boolean(error || rejects) }, IDLE]]]];
}
