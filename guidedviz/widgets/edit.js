// The box in which the constraint is edited. It sends what stands in it at each pause; the kernel says what came of it.

const PAUSE = 350; // milliseconds without a key that count as a pause
const LANGUAGES = { regex: "regex", schema: "JSON Schema", grammar: "grammar" };
const HINTS = { regex: "[0-9]+", schema: '{"type": "integer"}', grammar: 'root ::= [0-9]+' };
const FATES = {
  "": "",
  compiling: "compiling …",
  wrong: "the constraint before keeps running",
  waits: "waits for you; the constraint before keeps running",
  runs: "runs",
};

function buildEdit(act) {
  const ui = { typed: 0, kind: "regex" };
  ui.text = make("textarea", { class: "gv-edit-text", rows: 1, spellcheck: "false", autocapitalize: "off", autocomplete: "off", wrap: "off", "aria-label": "text of the constraint" });
  ui.kinds = toggle("", LANGUAGES, (kind) => (choose(ui, kind), send()));
  ui.kinds.node.setAttribute("aria-label", "language of the constraint");
  ui.fate = make("span", { class: "gv-soft gv-edit-fate", role: "status" });
  ui.said = make("p");
  ui.caret = make("pre");
  ui.error = make("div", { class: "gv-edit-error", role: "alert", hidden: true }, ui.said, ui.caret);
  ui.rejects = make("p", { class: "gv-edit-rejects", hidden: true });
  ui.back = make("button", { type: "button", class: "gv-key gv-edit-back" }, icon(ICONS.back), "go back there");
  ui.changes = make("div", { class: "gv-edit-changes", hidden: true });
  ui.idle = make("p", { class: "gv-soft gv-edit-idle" }, "Change it while the model decodes: at each pause it is compiled; Escape leaves the box.");
  const found = make("div", { class: "gv-edit-found" }, ui.error, ui.rejects, ui.changes, ui.idle);
  const head = make("div", { class: "gv-panel-head" }, make("h4", {}, "constraint"), ui.kinds.node, ui.fate);
  ui.node = make("section", { class: "gv-panel gv-edit", "aria-label": "constraint", hidden: true }, head, make("div", { class: "gv-edit-box" }, ui.text, found));

  const send = () => {
    clearTimeout(ui.typed);
    if (ui.text.value.trim()) act.say({ do: "edit", kind: ui.kind, text: ui.text.value });
  };
  ui.text.addEventListener("input", () => {
    clearTimeout(ui.typed);
    ui.typed = setTimeout(send, PAUSE);
    fitText(ui);
  });
  ui.text.addEventListener("keydown", (event) => {
    event.stopPropagation(); // letters are letters here, and not the keys of the stage
    if (event.key === "Escape") ui.node.closest(".gv-stage").focus({ preventScroll: true });
  });
  ui.back.addEventListener("click", () => act.say({ do: "go_back" }));
  return ui;
}

function choose(ui, kind) {
  ui.kind = kind;
  ui.kinds.set(kind);
  ui.text.placeholder = HINTS[kind];
}

function fitText(ui) {
  const lines = ui.text.value.split("\n").length;
  ui.text.rows = Math.max(ui.kind === "regex" ? 2 : 3, Math.min(8, lines));
}

function paintEdit(ui, view) {
  const { edit } = view;
  ui.node.hidden = !edit;
  if (!edit || ui.painted === edit) return;
  ui.painted = edit;
  if (edit.text !== undefined) {
    ui.text.value = edit.text;
    choose(ui, edit.kind);
    fitText(ui);
  }
  ui.node.dataset.state = edit.state;
  setText(ui.fate, FATES[edit.state]);
  ui.error.hidden = !edit.error;
  const [said, ...lines] = edit.error.split("\n");
  setText(ui.said, said);
  setText(ui.caret, lines.join("\n"));
  ui.idle.hidden = Boolean(edit.error || edit.rejects || edit.changes);
  paintRejects(ui, edit);
  paintChanges(ui, edit.changes);
}

function named(label) {
  const name = make("code", { class: "gv-name" });
  spell(name, label);
  return name;
}

function paintRejects(ui, { rejects, place }) {
  ui.rejects.hidden = !rejects;
  if (!rejects) return;
  const [label, reason] = rejects;
  ui.rejects.replaceChildren(make("b", {}, "✕ "), `step ${place + 1}, `, named(label), ` is the first token that it rejects: ${reason}. `, ui.back);
}

function paintChanges(ui, changes) {
  ui.changes.hidden = !changes;
  if (!changes) return;
  const line = (sign, words, [count, likely]) => {
    const said = make("span", { class: "gv-edit-count" }, make("b", {}, `${sign} ${commas(count)}`), ` became ${words}`);
    const some = likely.map(([label, p]) => make("span", { class: "gv-edit-token" }, named(label), make("small", {}, odds(p))));
    return make("div", { class: `gv-edit-line gv-edit-${words}` }, said, ...some, ...(count > likely.length && likely.length ? ["…"] : []));
  };
  const title = make("p", { class: "gv-soft" }, `as the next token, step ${changes.step}`);
  ui.changes.replaceChildren(title, line("+", "legal", changes.legal), line("−", "illegal", changes.illegal));
}

// The token that the edited constraint rejects first is crossed out on the strip.
function markRejected(ui, view) {
  const place = view.edit?.place ?? -1;
  const node = ui.chips.children[place];
  for (const other of ui.chips.querySelectorAll(".gv-rejected")) if (other !== node) other.classList.remove("gv-rejected");
  node?.classList.add("gv-rejected");
}
