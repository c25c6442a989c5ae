// The quiz: before each step the stage asks about the next token, hides the panels that tell the answer, and shows them
// once the person has answered. The questions are made of the record alone, so a recording asks them too.

/** @import { StageView, Step } from "../types.js" */
/** @import { Part } from "../shared/parts.js" */
/** @import { StageActions } from "./layout.js" */
import { tokenPart } from "../shared/elements.js";
import { isReady, shownStep } from "./view.js";

const MOST = 4; // choices

/** @typedef {[kind: "legal" | "stack" | "mass", words: string, choices: string[], right: number[]]} Question with the places of the right choices */

/** @param {Step} step */
export const isMasked = ({ rows, mass, how }) => how !== "forced" && (mass < 0.999 || rows.some(([, , , , legal]) => !legal));

/**
 * The question about a record: the kinds take turns, and a kind that does not fit is skipped. Where none fits, the mask
 * removes next to nothing, and Z is asked. A forced or a free token has no question.
 * @param {Step} step
 * @param {Step[]} steps
 * @param {number} cursor
 * @returns {Question | undefined}
 */
export function makeQuestion(step, steps, cursor) {
  const { rows, how, free, mass, stack: [top] } = step;
  const some = [true, false].flatMap((wanted) => rows.filter(([, , , , legal]) => legal === wanted).slice(0, MOST / 2)).sort(([one], [two]) => one - two);
  const right = some.flatMap(([, , , , legal], place) => (legal ? [place] : []));
  const rules = [...new Set([top, ...steps.map((other) => other.stack[0])])].filter(Boolean).slice(0, MOST);
  const sorted = [...rules].sort();
  /** @type {Question} */
  const ofMass = ["mass", "Is the legal mass Z of the next token below 0.5?", ["below 0.5", "0.5 or above"], [mass < 0.5 ? 0 : 1]];
  /** @type {(Question | false)[]} */
  const kinds = [
    how !== "forced" && right.length > 0 && right.length < some.length && ["legal", "Which of these tokens are legal next?", some.map(([, label]) => label), right],
    Boolean(top) && rules.length > 1 && ["stack", "Which rule is on top of the stack now?", sorted, [sorted.indexOf(top)]],
    isMasked(step) && ofMass,
  ];
  const fitting = kinds.filter((kind) => kind !== false);
  return fitting[cursor % fitting.length] ?? (how === "forced" || free ? undefined : ofMass);
}

/**
 * Whether there is a question about any step of a run.
 * @param {StageView} view
 */
export function hasQuestions({ head, steps, next }) {
  if (head.free) return false; // what is illegal there are special tokens, of which the stage shows nothing
  const known = next ? [...steps, next] : steps;
  return known.some(isMasked) || new Set(known.map((step) => step.stack[0]).filter(Boolean)).size > 1;
}

/**
 * The question that is asked now, with the step it is about, and whether it was answered rightly.
 * @param {StageView} view
 */
export function askedNow(view) {
  const step = view.asks && !view.playing && isReady(view) ? shownStep(view) : undefined;
  const question = step ? makeQuestion(step, view.steps, view.cursor) : undefined;
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
  const [kind, words, choices, right] = question ?? ["", "No question about this step: press → for the next one.", [], []];
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
  const told = question && isRight !== undefined
    && `${isRight ? "✓ Right" : "✗ No"}: ${right.map((place) => `“${choices[place]}”`).join(", ")}. Press → for the next one.`;
  const score = [...answers.values()].filter(Boolean).length;
  return ["div.gv-bar.gv-quiz", { role: "group", "aria-label": "question" }, ["span", words],
    ["span.gv-choices", { role: "group", "aria-label": "choices" }, ...(isOpen ? choices : []).map((label, place) =>
      ["button.gv-choice", { "aria-pressed": many ? picked.has(place) : undefined, click: () => pick(place) }, tokenPart(label)]),
      isOpen && many && ["button.gv-key", { click: commit }, "answer"]],
    ["span", { role: "status" }, told], ["span.gv-soft", answers.size > 0 && `${score} of ${answers.size} right`]];
}
