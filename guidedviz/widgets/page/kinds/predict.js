// A question that is answered once. Only after the answer is locked does the kernel send the truth and what it reveals.

/** @import { Model, Prediction } from "../types.js" */
import { connect } from "../shared/connection.js";
import { buildNote, consume, paintNote, widgetRoot } from "../shared/controls.js";
import { make } from "../shared/elements.js";
import { draw } from "../shared/shapes.js";

let groups = 0; // each widget has a radio group of its own

const MARKS = /`([^`\n]+)`|(?<![\p{L}\p{N}_*])\*\*(?=\S)([^*\n]+)(?<=\S)\*\*(?![\p{L}\p{N}_*])|(?<![\p{L}\p{N}_*])\*(?=\S)([^*\n]+)(?<=\S)\*(?![\p{L}\p{N}_*])|<sup>([^<>\n]+)<\/sup>/gu;
const MARKED = /** @type {const} */ (["code", "strong", "em", "sup"]);

/**
 * A text in which code, emphasis, strong words and what is raised are elements, as `with_marks` in markup.py writes it.
 * @param {string} text
 * @returns {(Node | string)[]}
 */
export function withMarks(text) {
  const parts = [];
  let end = 0;
  for (const found of text.matchAll(MARKS)) {
    const place = found.findIndex((part, group) => group > 0 && part !== undefined);
    parts.push(text.slice(end, found.index), make(MARKED[place - 1], {}, ...(place === 1 ? [found[1]] : withMarks(found[place]))));
    end = found.index + found[0].length;
  }
  return [...parts, text.slice(end)];
}

/** @param {Prediction} news */
function buildChoices({ question, choices }) {
  const name = `gv-choice-${(groups += 1)}`;
  const rows = choices.map((text) => {
    const radio = make("input", { type: "radio", name, required: true });
    radio.value = text;
    return make("label", { class: "gv-option" }, radio, make("span", {}, ...withMarks(text)));
  });
  return make("fieldset", {}, make("legend", { class: "gv-question" }, ...withMarks(question)), ...rows);
}

/** @param {Prediction} news */
function buildNumber({ question, hint }) {
  const input = make("input", { type: "number", min: 0, step: "any", required: true, class: "gv-number" });
  const about = hint ? [make("span", { class: "gv-soft" }, hint)] : [];
  return make("div", {}, make("label", {}, make("span", { class: "gv-question" }, ...withMarks(question)), input), ...about);
}

/**
 * The form that asks; `commit` takes the answer, a choice or a number.
 * @param {Prediction} news
 * @param {(answer: string | number) => void} commit
 */
function buildForm(news, commit) {
  const fields = news.choices.length ? buildChoices(news) : buildNumber(news);
  const lock = make("button", { type: "submit", class: "gv-key gv-commit" }, "Commit");
  const once = make("span", { class: "gv-soft" }, "You can answer once. Then you see the truth.");
  const form = make("form", {}, fields, make("div", { class: "gv-controls" }, lock, once));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const chosen = /** @type {HTMLInputElement | null} */ (form.querySelector("input:checked, input[type=number]"));
    if (chosen && chosen.value !== "") commit(chosen.type === "number" ? Number(chosen.value) : chosen.value);
  });
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || /** @type {Element} */ (event.target).tagName !== "INPUT") return;
    consume(event); // in JupyterLab, Enter does not submit a form by itself
    form.requestSubmit();
  });
  return form;
}

/**
 * A choice after the answer is locked: the person's, the true one, both or neither.
 * @param {string} text
 * @param {Prediction} news
 */
function buildLocked(text, { said, truth }) {
  const [mine, right] = [text === said, text === truth];
  const sign = right ? "✓" : mine && truth ? "✗" : mine ? "●" : "○";
  const words = [mine && "your answer", right && "true"].filter(Boolean).join(", ");
  const mark = make("span", { class: "gv-tick-mark", "aria-hidden": "true" }, sign);
  return make("li", { class: `gv-option${right ? " gv-true" : mine ? " gv-mine" : ""}` }, mark, make("span", {}, ...withMarks(text)), make("small", {}, words));
}

/**
 * The question with the locked answer and, once it is known, the true one.
 * @param {Prediction} news
 */
function buildAnswered(news) {
  const asked = make("p", { class: "gv-question" }, ...withMarks(news.question));
  if (!news.choices.length) return [asked, make("p", {}, `Your answer: ${news.said}`)];
  return [asked, make("ul", { class: "gv-answers" }, ...news.choices.map((text) => buildLocked(text, news)))];
}

/** @param {Prediction["parts"][number]} part */
function buildPart([kind, text, shapes]) {
  if (shapes) return make("div", { class: "gv-drawn" }, draw(shapes));
  return kind === "print" ? make("pre", {}, text) : make("p", {}, ...withMarks(text));
}

/**
 * The answers that this page has shown, per notebook. A restarted kernel loads this script again, so they are kept
 * outside of it; what the widget manager keeps may be gone, because a kernel may close its widgets when it ends.
 * @param {Model} model
 * @returns {Map<string, string | number>}
 */
function answersOf(model) {
  /** @type {{ [key: symbol]: WeakMap<object, Map<string, string | number>> }} */
  const page = /** @type {any} */ (globalThis);
  const kept = (page[Symbol.for("guidedviz.answers")] ??= new WeakMap());
  const notebook = model.widget_manager ?? model;
  if (!kept.has(notebook)) kept.set(notebook, new Map());
  return /** @type {Map<string, string | number>} */ (kept.get(notebook));
}

/**
 * The answer of this question from before a restart of the kernel, if there is one: as this page has shown it, or as
 * the saved notebook keeps it.
 * @param {Model} model
 * @param {string} question
 */
async function findEarlier(model, question) {
  const shown = answersOf(model).get(question);
  if (shown !== undefined) return shown;
  const kept = await model.widget_manager?.get_state?.({});
  const saved = Object.values(kept?.state ?? {}).map(({ state }) => (state.kind === "predict" ? state.saved : undefined));
  return saved.reverse().find((one) => one?.question === question && one.answer !== null)?.answer;
}

/** @param {{ model: Model, el: HTMLElement }} place */
function render({ model, el }) {
  const { say, start, stop } = connect(model);
  const ask = make("div", {});
  const verdict = make("p", { class: "gv-verdict", role: "status", tabindex: -1 });
  const parts = make("div", { class: "gv-reveal" });
  const note = buildNote();
  const root = widgetRoot("gv-chart gv-predict", "prediction", {}, make("strong", { class: "gv-soft" }, "Predict"), ask, verdict, parts, note);
  let [shown, asked, answered] = ["", false, false];
  el.append(root);

  /** @param {Prediction} news */
  function paint(news) {
    paintNote(note, news.note);
    const now = JSON.stringify({ ...news, number: 0 });
    if (shown === now) return;
    shown = now;
    answered = news.answer !== null;
    if (news.answer !== null) answersOf(model).set(news.question, news.answer);
    else if (!asked && !model.get("recorded")) recall(news.question);
    root.dataset.state = news.words || news.note ? "told" : answered ? "locked" : "open";
    const held = ask.contains(document.activeElement);
    if (answered) ask.replaceChildren(...buildAnswered(news));
    else if (!asked) ask.replaceChildren(buildForm(news, (answer) => say({ do: "commit", answer })));
    asked = true;
    if (held && answered) verdict.focus({ preventScroll: true });
    const waits = answered && !news.note ? "Your answer is locked. The truth is being computed." : "";
    verdict.replaceChildren(...withMarks(news.words || waits));
    verdict.classList.toggle("gv-right", news.right);
    parts.replaceChildren(...news.parts.map(buildPart));
  }

  start((all) => paint(all.at(-1)), (words) => {
    if (!answered) paintNote(note, words); // an answer and its truth need no kernel
  });
  if (model.get("recorded")) ask.inert = true;

  /** @param {string} question */
  async function recall(question) {
    const earlier = await findEarlier(model, question).catch(() => undefined);
    if (earlier !== undefined && !answered) say({ do: "commit", answer: earlier });
  }
  return stop;
}

export default { render };
