// The quiz: before each step the stage asks about the next token, hides the panels that tell the answer, and shows them
// once the person has answered. The questions are made of the record alone, so a recording asks them too.

/** @import { StageView, Step } from "../types.js" */
/** @import { Part } from "../shared/parts.js" */
/** @import { StageActions } from "./layout.js" */
import { tokenPart } from "../shared/elements.js";
import { isReady, shownStep } from "./view.js";

const MOST = 4; // choices

/**
 * @typedef {object} Question
 * @property {"legal" | "mass" | "stack"} kind
 * @property {string} words
 * @property {string[]} choices
 * @property {number[]} right the places of the right choices
 */

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

/**
 * The question that is asked now, with the step it is about, and whether it was answered rightly.
 * @param {StageView} view
 */
export function askedNow(view) {
  const step = view.asks && !view.playing && isReady(view) ? shownStep(view) : undefined;
  const question = step ? makeQuestion(step, view.steps, view.cursor) : null;
  const isRight = step && view.answers.get(step);
  return { step, question, isRight, isOpen: Boolean(question) && isRight === undefined };
}

/**
 * One button per choice. Where several may be right, each is pressed or not, and one more button commits.
 * @param {StageView} view
 * @param {StageActions} act
 * @returns {Part | null}
 */
export function quizPart(view, act) {
  const { step, question, isRight, isOpen } = askedNow(view);
  if (!step) return null;
  const { answers } = view;
  const picked = view.picked.get(step) ?? new Set();
  view.picked.set(step, picked);
  const { kind, words, choices, right } = question ?? { kind: "", words: "No question about this step: press → for the next one.", choices: [], right: [] };
  const commit = () => {
    answers.set(step, picked.size === right.length && right.every((place) => picked.has(place)));
    act.focus();
    act.paint();
  };
  const many = kind === "legal";
  /** @param {number} place */
  const pick = (place) => {
    if (!picked.delete(place)) picked.add(place);
    if (many) act.paint();
    else commit();
  };
  const told = question && isRight !== undefined && `${isRight ? "✓ Right" : "✗ No"}: ${right.map((place) => `“${choices[place]}”`).join(", ")}. Press → for the next one.`;
  const score = [...answers.values()].filter(Boolean).length;
  return ["div.gv-bar.gv-quiz", { role: "group", "aria-label": "question" }, ["span", words],
    ["span.gv-choices", { role: "group", "aria-label": "choices" }, ...(isOpen ? choices : []).map((label, place) =>
      ["button.gv-choice", { "aria-pressed": many ? picked.has(place) : undefined, click: () => pick(place) }, tokenPart(label)]),
      isOpen && many && ["button.gv-key", { click: commit }, "answer"]],
    ["span", { role: "status" }, told], ["span.gv-soft", answers.size > 0 && `${score} of ${answers.size} right`]];
}
