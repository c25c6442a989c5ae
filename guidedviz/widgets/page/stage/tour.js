// The help: the keys that do something in this run. The tour: a list of things to try on the stage; it points at one
// control at a time, and goes on when it was used.

/** @import { StageView } from "../types.js" */
import { make, setText } from "../shared/elements.js";
import { hasQuestions, isMasked } from "./quiz.js";

/**
 * @typedef {object} Stop
 * @property {string} words
 * @property {string} at selects the control
 * @property {(view: StageView, was: StageView) => boolean} done whether it was used since the stop began
 * @property {(view: StageView) => boolean} [fits] whether it can be used here
 */

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

/** @type {Stop[]} */
const STOPS = [
  { words: "Press → : the model writes one token.", at: ".gv-step", done: (view, was) => view.cursor > was.cursor },
  {
    words: "An outlined bar is the probability before the mask, a filled bar after it. Press a crossed-out token to read why it is illegal.",
    at: ".gv-rows", fits: hasMask, done: (view) => Boolean(view.why),
  },
  { words: "Press ← : the stage goes one step back. Nothing is computed again.", at: ".gv-back", done: (view, was) => view.cursor < was.cursor },
  {
    words: "Press a legal token, or its digit: it is written instead of the one that would be drawn.",
    at: ".gv-rows", fits: isLive, done: (view, was) => view.cursor > was.cursor,
  },
  { words: "Press space: the stage plays, and space again pauses it.", at: ".gv-play", done: (view) => view.playing },
  { words: "Press a token of the text: the stage goes back to before it.", at: ".gv-chips", done: (view, was) => view.cursor < was.cursor },
  {
    words: "Move T, the temperature: the steps from here on are drawn with it.",
    at: ".gv-temperature", fits: isLive, done: (view, was) => view.temperature !== was.temperature,
  },
  { words: "Press q: the stage asks you about each next token before it shows it.", at: ".gv-ask", fits: hasQuestions, done: (view) => view.asks },
];

/** @typedef {ReturnType<typeof buildTour>} Tour */

/**
 * A button that shows the keys of this run and starts the tour.
 * @param {() => StageView} view
 * @param {() => void} startTour
 */
export function buildHelp(view, startTour) {
  const start = make("button", { type: "button", class: "gv-key" }, "take the tour");
  const list = make("div", { class: "gv-help gv-soft", role: "group", "aria-label": "keys" }, start);
  const help = make("details", { class: "gv-keys-help" }, make("summary", { class: "gv-key", "aria-label": "keys", title: "keys (?)" }, "?"), list);
  help.addEventListener("toggle", () => {
    const keys = KEYS.filter(([, , fits]) => !fits || fits(view()));
    list.replaceChildren(...keys.map(([names, words]) => make("p", {}, make("span", {}, ...names.map((name) => make("kbd", {}, name))), words)), start);
  });
  start.addEventListener("click", () => {
    help.open = false;
    startTour();
  });
  return help;
}

/** @param {() => void} paint */
export function buildTour(paint) {
  const [place, words] = [make("strong"), make("span", { role: "status" })];
  const skip = make("button", { type: "button", class: "gv-key", on: { click: () => goOn() } }, "next");
  const close = make("button", { type: "button", class: "gv-key", on: { click: () => start(false) } }, "end the tour");
  const node = make("div", { class: "gv-bar gv-tour", role: "group", "aria-label": "tour", hidden: true }, place, words, skip, close);
  const tour = { node, place, words, close, skip, on: false, stop: 0, was: /** @type {StageView | null} */ (null), start, goOn };
  /** @param {boolean} on */
  function start(on) {
    Object.assign(tour, { on, stop: 0, was: null });
    paint();
  }
  function goOn() {
    Object.assign(tour, { stop: tour.stop + 1, was: null });
    paint();
  }
  return tour;
}

/**
 * @param {Tour} tour
 * @param {HTMLElement} root
 * @param {StageView} view
 */
export function paintTour(tour, root, view) {
  const stops = STOPS.filter(({ fits }) => !fits || fits(view));
  if (tour.on && tour.was && stops[tour.stop]?.done(view, tour.was)) Object.assign(tour, { stop: tour.stop + 1, was: null });
  const stop = tour.on ? stops[tour.stop] : undefined;
  tour.was ??= { ...view };
  if (view.cursor > tour.was.cursor) tour.was.cursor = view.cursor; // also after a play, back is back
  tour.node.hidden = !tour.on;
  root.querySelectorAll(".gv-here").forEach((node) => node.classList.remove("gv-here"));
  if (!tour.on) return;
  setText(tour.place, stop ? `${tour.stop + 1} of ${stops.length}` : "✓");
  setText(tour.words, stop?.words ?? "That was the tour. The ? lists all keys.");
  tour.skip.hidden = !stop;
  if (stop) root.querySelector(stop.at)?.classList.add("gv-here");
}
