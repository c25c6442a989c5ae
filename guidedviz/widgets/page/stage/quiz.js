// The quiz: before each step the stage asks about the next token, hides the panels that tell the answer, and shows them
// once the person has answered. The questions are made of the record alone, so a recording asks them too.

/** @import { StageView, Step } from "../types.js" */
import { make, setText, tokenName } from "../shared/elements.js";
import { isReady, shownStep } from "./view.js";

const MOST = 4; // choices

/**
 * @typedef {object} Question
 * @property {"legal" | "mass" | "stack"} kind
 * @property {string} words
 * @property {string[]} choices
 * @property {number[]} right the places of the right choices
 */

/** @typedef {ReturnType<typeof buildQuiz>} Quiz */

/** @param {Step} step */
export const isMasked = ({ rows, mass, how }) => how !== "forced" && (mass < 0.999 || rows.some(([, , , , legal]) => !legal));

/**
 * @param {Step} step
 * @returns {Question | null}
 */
function askLegal({ rows, how }) {
  /** @param {boolean} wanted */
  const some = (wanted) => rows.filter(([, , , , legal]) => legal === wanted).slice(0, MOST / 2);
  if (how === "forced" || !some(false).length || !some(true).length) return null;
  const asked = [...some(true), ...some(false)].sort(([one], [two]) => one - two);
  const right = asked.flatMap(([, , , , legal], place) => (legal ? [place] : []));
  return { kind: "legal", words: "Which of these tokens are legal next?", choices: asked.map(([, label]) => label), right };
}

/**
 * @param {Step} step
 * @returns {Question | null}
 */
function askMass(step) {
  if (!isMasked(step)) return null;
  const words = "Is the legal mass Z of the next token below 0.5?";
  return { kind: "mass", words, choices: ["below 0.5", "0.5 or above"], right: [step.mass < 0.5 ? 0 : 1] };
}

/**
 * @param {Step} step
 * @param {Step[]} steps
 * @returns {Question | null}
 */
function askStack({ stack: [top] }, steps) {
  const others = [...new Set(steps.map((step) => step.stack[0]))].filter((rule) => rule && rule !== top);
  if (!top || !others.length) return null;
  const choices = [top, ...others.slice(0, MOST - 1)].sort();
  return { kind: "stack", words: "Which rule is on top of the stack now?", choices, right: [choices.indexOf(top)] };
}

/**
 * The question about a record: the kinds take turns, and a kind that does not fit is skipped.
 * @param {Step} step
 * @param {Step[]} steps
 * @param {number} cursor
 * @returns {Question | null}
 */
export function makeQuestion(step, steps, cursor) {
  const fitting = [askLegal(step), askStack(step, steps), askMass(step)].filter((one) => one !== null);
  return fitting[cursor % fitting.length] ?? null;
}

/**
 * Whether there is a question about any step of a run.
 * @param {StageView} view
 */
export function hasQuestions({ steps, next }) {
  const known = next ? [...steps, next] : steps;
  return known.some(isMasked) || new Set(known.map((step) => step.stack[0]).filter(Boolean)).size > 1;
}

/** @param {() => void} paint called when the person has answered */
export function buildQuiz(paint) {
  const [words, said, score] = [make("span"), make("span", { role: "status" }), make("span", { class: "gv-soft" })];
  const choices = make("span", { class: "gv-choices", role: "group", "aria-label": "choices" });
  const node = make("div", { class: "gv-bar gv-quiz", role: "group", "aria-label": "question", hidden: true }, words, choices, said, score);
  /** @type {WeakMap<Step, boolean>} */
  const answered = new WeakMap();
  const quiz = { node, words, said, score, choices, answered, count: 0, right: 0, shown: "", answer };
  /** @param {Step} step @param {boolean} isRight */
  function answer(step, isRight) {
    answered.set(step, isRight);
    quiz.count += 1;
    quiz.right += Number(isRight);
    /** @type {HTMLElement | null} */ (node.closest(".gv-stage"))?.focus({ preventScroll: true });
    paint();
  }
  return quiz;
}

/**
 * @param {Quiz} quiz
 * @param {HTMLElement} root
 * @param {StageView} view
 */
export function paintQuiz(quiz, root, view) {
  const step = view.asks && !view.playing && isReady(view) ? shownStep(view) : undefined;
  quiz.node.hidden = !step;
  delete root.dataset.quiz;
  if (!step) return;
  const question = makeQuestion(step, view.steps, view.cursor);
  const isRight = quiz.answered.get(step);
  const isOpen = question && isRight === undefined;
  if (isOpen) root.dataset.quiz = question.kind;
  setText(quiz.words, question?.words ?? "No question about this step: press → for the next one.");
  setText(quiz.said, question && isRight !== undefined ? tellAnswer(question, isRight) : "");
  setText(quiz.score, quiz.count ? `${quiz.right} of ${quiz.count} right` : "");
  const shown = JSON.stringify([view.cursor, question, isOpen]);
  if (quiz.shown === shown) return;
  quiz.shown = shown;
  quiz.choices.replaceChildren(...(isOpen ? buildChoices(quiz, question, step) : []));
}

/**
 * @param {Question} question
 * @param {boolean} isRight
 */
function tellAnswer({ right, choices }, isRight) {
  return `${isRight ? "✓ Right" : "✗ No"}: ${right.map((place) => `“${choices[place]}”`).join(", ")}. Press → for the next one.`;
}

/**
 * One button per choice. Where several may be right, each is pressed or not, and one more button commits.
 * @param {Quiz} quiz
 * @param {Question} question
 * @param {Step} step
 */
function buildChoices({ answer }, { kind, choices, right }, step) {
  /** @type {Set<number>} */
  const picked = new Set();
  const commit = () => answer(step, picked.size === right.length && right.every((place) => picked.has(place)));
  const many = kind === "legal";
  const buttons = choices.map((label, place) => {
    const node = make("button", { type: "button", class: "gv-choice", ...(many && { "aria-pressed": "false" }) }, tokenName(label));
    node.addEventListener("click", () => {
      if (!picked.delete(place)) picked.add(place);
      if (!many) return commit();
      node.setAttribute("aria-pressed", String(picked.has(place)));
    });
    return node;
  });
  return many ? [...buttons, make("button", { type: "button", class: "gv-key", on: { click: commit } }, "answer")] : buttons;
}
