// The box in which the constraint is edited. It sends its text at each pause in typing; the kernel answers what became
// of it.

/** @import { Change, Edit, Say, StageView } from "../types.js" */
import { backIcon, toggle } from "../shared/controls.js";
import { make, setText, tokenName, withCommas } from "../shared/elements.js";

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

/** @typedef {ReturnType<typeof buildConstraintBox>} ConstraintBox */

/** @param {{ say: Say }} act */
export function buildConstraintBox(act) {
  const text = make("textarea", {
    class: "gv-edit-text", rows: 1, spellcheck: "false", autocapitalize: "off", autocomplete: "off", wrap: "off", "aria-label": "text of the constraint",
  });
  const back = make("button", { type: "button", class: "gv-key gv-edit-back", on: { click: () => act.say({ do: "go_back" }) } }, backIcon(), "go back there");
  const said = make("p");
  const caret = make("pre");
  const ui = {
    text, back, said, caret,
    kind: "regex",
    kinds: toggle("", LANGUAGES, (kind) => {
      choose(ui, kind);
      send();
    }),
    state: make("span", { class: "gv-soft gv-edit-fate", role: "status" }),
    error: make("div", { class: "gv-edit-error", role: "alert", hidden: true }, said, caret),
    rejects: make("p", { class: "gv-edit-rejects", hidden: true }),
    changes: make("div", { class: "gv-edit-changes", hidden: true }),
    idle: make("p", { class: "gv-soft gv-edit-idle" }, IDLE),
    node: make("div", { role: "group", class: "gv-panel gv-edit", "aria-label": "constraint", hidden: true }),
    painted: /** @type {Edit | null} */ (null),
  };
  ui.kinds.node.setAttribute("aria-label", "language of the constraint");
  const head = make("div", { class: "gv-panel-head" }, make("strong", { class: "gv-title" }, "constraint"), ui.kinds.node, ui.state);
  const found = make("div", { class: "gv-edit-found" }, ui.error, ui.rejects, ui.changes, ui.idle);
  ui.node.append(head, make("div", { class: "gv-edit-box" }, text, found));

  /** @type {any} */
  let typing = 0;
  function send() {
    clearTimeout(typing);
    if (text.value.trim()) act.say({ do: "edit", kind: ui.kind, text: text.value });
  }
  text.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(send, PAUSE);
    fitText(ui);
  });
  text.addEventListener("keydown", (event) => {
    event.stopPropagation(); // letters are letters here, and not keys of the stage
    if (event.key === "Escape") /** @type {HTMLElement} */ (ui.node.closest(".gv-stage")).focus({ preventScroll: true });
  });
  return ui;
}

/**
 * @param {ConstraintBox} ui
 * @param {string} kind
 */
function choose(ui, kind) {
  ui.kind = kind;
  ui.kinds.set(kind);
  ui.text.placeholder = EXAMPLES[kind];
}

/** @param {ConstraintBox} ui */
function fitText(ui) {
  const lines = ui.text.value.split("\n").length;
  ui.text.rows = Math.max(ui.kind === "regex" ? 2 : 3, Math.min(8, lines));
}

/**
 * @param {ConstraintBox} ui
 * @param {Edit | undefined} edit
 */
export function paintConstraintBox(ui, edit) {
  ui.node.hidden = !edit;
  if (!edit || ui.painted === edit) return;
  ui.painted = edit;
  if (edit.text !== undefined) {
    ui.text.value = edit.text;
    choose(ui, edit.kind);
    fitText(ui);
  }
  ui.node.dataset.state = edit.state;
  setText(ui.state, STATES[edit.state]);
  ui.error.hidden = !edit.error;
  const [said, ...lines] = edit.error.split("\n");
  setText(ui.said, said);
  setText(ui.caret, lines.join("\n"));
  ui.idle.hidden = Boolean(edit.error || edit.rejects || edit.changes);
  paintRejects(ui, edit);
  paintChanges(ui, edit.changes);
}

/**
 * @param {ConstraintBox} ui
 * @param {Edit} edit
 */
function paintRejects(ui, { rejects, place }) {
  ui.rejects.hidden = !rejects;
  if (!rejects) return;
  const [label, reason] = rejects;
  const words = [`step ${Number(place) + 1}, `, tokenName(label, "code"), ` is the first token that it rejects: ${reason}. `];
  ui.rejects.replaceChildren(make("b", {}, "✕ "), ...words, ui.back);
}

/**
 * @param {ConstraintBox} ui
 * @param {Edit["changes"]} changes
 */
function paintChanges(ui, changes) {
  ui.changes.hidden = !changes;
  if (!changes) return;
  const title = make("p", { class: "gv-soft" }, `as the next token, step ${changes.step}`);
  ui.changes.replaceChildren(title, changeLine("+", "legal", changes.legal), changeLine("−", "illegal", changes.illegal));
}

/**
 * How many tokens changed, and the likeliest of them.
 * @param {string} sign
 * @param {string} words
 * @param {Change} change
 */
function changeLine(sign, words, [count, likeliest]) {
  const counted = make("span", { class: "gv-edit-count" }, make("b", {}, `${sign} ${withCommas(count)}`), ` became ${words}`);
  const some = likeliest.map(([label, text]) => make("span", { class: "gv-edit-token" }, tokenName(label, "code"), make("small", {}, text)));
  const more = count > likeliest.length && likeliest.length ? ["…"] : [];
  return make("div", { class: `gv-edit-line gv-edit-${words}` }, counted, ...some, ...more);
}

/**
 * Crosses out the first token that the edited constraint rejects.
 * @param {HTMLElement} chips
 * @param {StageView} view
 */
export function markRejected(chips, view) {
  const node = chips.children[view.edit?.place ?? -1];
  for (const other of chips.querySelectorAll(".gv-rejected")) if (other !== node) other.classList.remove("gv-rejected");
  node?.classList.add("gv-rejected");
}
