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
const hasMask = ({ steps, next }) => [...steps, next].some((step) => step && isMasked(step));

/** @type {[string[], string, ((view: StageView) => boolean)?][]} */
const KEYS = [
  [["space"], "play and pause"],
  [["←", "→"], "one step back, one step on"],
  [["Home", "End"], "to the prompt, to the end"],
  [["1", "…", "9"], "take this token", isLive],
  [["1", "…", "9"], "read why this token is illegal", (view) => !isLive(view) && hasMask(view)],
  [["r"], "delete all steps and start again", isLive],
  [["q"], "ask before each step, and stop asking", hasQuestions],
  [["f"], "full screen with large type, and back"],
  [["?"], "these keys"],
];

/** @type {Stop["done"]} */
const goesOn = (view, was) => view.cursor > was.cursor;
/** @type {Stop["done"]} */
const goesBack = (view, was) => view.cursor < was.cursor;

/** @type {Stop[]} */
const STOPS = [
  { words: "Press → : the model writes one token.", at: "step", fits: (view) => !isEnded(view), done: goesOn },
  {
    words: "An outlined bar is the probability before the mask, a filled bar after it. Press a crossed-out token to read why it is illegal.",
    at: "rows", fits: hasMask, done: (view) => Boolean(view.why),
  },
  { words: "Press ← : the stage goes one step back. Nothing is computed again.", at: "back", done: goesBack },
  { words: "Press a legal token, or its digit: it is written instead of the one that would be drawn.", at: "rows", fits: isLive, done: goesOn },
  {
    words: "Press space: the stage plays, and space again pauses it.", at: "play",
    done: (view, was) => view.plays > was.plays + 1 || (view.plays > was.plays && isEnded(view)),
  },
  { words: "Press a token of the text: the stage goes back to before it.", at: "chips", done: goesBack },
  { words: "Move T, the temperature: the steps from here on are drawn with it.", at: "temperature", fits: isLive, done: (view, was) => view.temperature !== was.temperature },
  { words: "Press q: the stage asks you about each next token before it shows it.", at: "ask", fits: hasQuestions, done: (view, was) => view.asks !== was.asks },
];

/**
 * A button that shows the keys of this run and starts the tour.
 * @param {StageView} view
 * @param {StageActions} act
 * @returns {Part[]}
 */
export const helpRows = (view, act) => [
  ...KEYS.filter(([, , fits]) => !fits || fits(view)).map(([names, words]) => ["p", ["span", ...names.map((name) => ["kbd", name])], words]),
  ["button.gv-key", { click: act.tour }, "take the tour"]];

/** @param {StageView} view */
export const startTour = (view) => ({ stops: STOPS.filter(({ fits }) => !fits || fits(view)), stop: 0, was: { ...view } });

/**
 * Goes on to the next stop where this one is done, or at once.
 * @param {StageView} view
 * @param {boolean} [atOnce]
 */
export function followTour(view, atOnce = false) {
  const { tour } = view;
  if (!tour) return;
  if (atOnce || tour.stops[tour.stop]?.done(view, tour.was)) view.tour = { ...tour, stop: tour.stop + 1, was: { ...view } };
  else if (view.cursor > tour.was.cursor) tour.was.cursor = view.cursor; // also after a play, back is back
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
    ["strong", now ? `${stop + 1} of ${stops.length}` : "✓"], ["span", { role: "status" }, now?.words ?? "That was the tour. The ? lists all keys."],
    ["button.gv-key", { hidden: !now, click: act.passStop }, "next"],
    ["button.gv-key", { click: act.endTour }, "end the tour"]];
}
