// The help: the keys that do something in this run. The tour: a list of things to try on the stage; it points at one
// control at a time, and goes on when it was used.

/** @import { Stop, StageView } from "../types.js" */
/** @import { Part } from "../shared/parts.js" */
/** @import { StageActions } from "./layout.js" */
import { hasQuestions, isMasked } from "./quiz.js";
import { isEnded } from "./view.js";

/** @param {StageView} view */
const isLive = (view) => !view.alone && view.head.live;

/** @param {StageView} view */
const hasMask = ({ head, steps, next }) => !head.free && [...steps, next].some((step) => step && isMasked(step));

/** @type {[string[], string, ((view: StageView) => boolean)?][]} */
const KEYS = [
  [["space"], "play and pause"],
  [["←", "→"], "one step back, one step on"],
  [["Home", "End"], "to the prompt, to the end"],
  [["1", "…", "8"], "take this token", isLive],
  [["1", "…", "8"], "read why this token is illegal", (view) => !isLive(view) && hasMask(view)],
  [["m"], "see again how the mask falls", hasMask],
  [["r"], "delete all steps and start again", isLive],
  [["q"], "ask before each step, and stop asking", hasQuestions],
  [["f"], "full screen with large type, and back"],
  [["⋯"], "edit the prompt, choose a model, put a text next", isLive],
  [["?"], "these keys"],
];

/** @type {Stop[2]} */
const goesOn = (view, was) => view.cursor > was.cursor;
/** @type {Stop[2]} */
const goesBack = (view, was) => view.cursor < was.cursor;

/** @type {Stop[2]} */
const hasPaused = (view, was) => view.plays > was.plays + 1 || (view.plays > was.plays && isEnded(view));

/** @type {Stop[]} */
const STOPS = [
  ["Press → : the model writes one token.", "step", goesOn, (view) => !isEnded(view)],
  [
    "An outlined bar is before the mask, a filled one after it; what it removes goes through the bin to the legal tokens. Press a token with ✕ to read why it is illegal.",
    "rows", (view) => Boolean(view.why), hasMask,
  ],
  ["Press ← : the stage goes one step back. Nothing is computed again.", "back", goesBack],
  ["Press a legal token, or its digit: it is written instead of the one that would be drawn.", "rows", goesOn, isLive],
  ["Press space: the stage plays, and space again pauses it.", "play", hasPaused],
  ["Press a token of the text: the stage goes back to before it.", "chips", goesBack],
  ["Move T, the temperature: the steps from here on are drawn with it.", "temperature", (view, was) => view.temperature !== was.temperature, isLive],
  ["Press q: the stage asks you about each next token before it shows it.", "ask", (view, was) => view.asks !== was.asks, hasQuestions],
];

/**
 * The keys of this run, and a button that starts the tour.
 * @param {StageView} view
 * @param {StageActions} act
 * @returns {Part}
 */
export function helpPart(view, act) {
  /** @param {any} event */
  const takeTour = ({ currentTarget }) => {
    currentTarget.closest("details").open = false; // it would lie over the tour
    act.set({ tour: { stops: STOPS.filter(([, , , fits]) => !fits || fits(view)), stop: 0, was: { ...view } } });
    act.focus();
  };
  return ["div.gv-help", { role: "group", "aria-label": "keys", "data-part": "help" },
    ...KEYS.filter(([, , fits]) => !fits || fits(view)).map(([names, words]) => ["p", ["span", ...names.map((name) => ["kbd", name])], words]),
    ["button.gv-key", { click: takeTour }, "take the tour"]];
}

/**
 * The tour at its next stop.
 * @param {StageView} view
 */
const nextStop = (view) => view.tour && { ...view.tour, stop: view.tour.stop + 1, was: { ...view } };

/**
 * Goes on to the next stop where this one is done.
 * @param {StageView} view
 */
export function followTour(view) {
  const { tour, cursor } = view;
  if (tour?.stops[tour.stop]?.[2](view, tour.was)) view.tour = nextStop(view);
  else if (tour && cursor > tour.was.cursor) tour.was.cursor = cursor; // also after a play, back is back
}

/**
 * @param {StageView} view
 * @param {StageActions} act
 * @returns {Part | null}
 */
export function tourPart(view, act) {
  if (!view.tour) return null;
  const { stops, stop } = view.tour;
  const now = stops[stop];
  return ["div.gv-bar.gv-tour", { role: "group", "aria-label": "tour", "data-part": "tour" },
    ["strong", now ? `${stop + 1} of ${stops.length}` : "✓"], ["span", { role: "status" }, now?.[0] ?? "That was the tour. The ? lists all keys."],
    ["button.gv-key", { hidden: !now, click: () => act.set({ tour: nextStop(view) }) }, "next"],
    ["button.gv-key", { click: () => act.set({ tour: null }) }, "end the tour"]];
}
