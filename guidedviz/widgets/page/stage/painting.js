// Paints the stage at every message: text, distribution, timeline and panels, all at one cursor.

/** @import { Head, Step, StageView, Why } from "../types.js" */
/** @import { StageUi } from "./layout.js" */
import { paintMachinePanel } from "../machine/machine-panel.js";
import { paintStackPanel } from "../machine/stack-panel.js";
import { paintMapPanel } from "../map/map-panel.js";
import { paintNote, paintPlayButton, paintSource } from "../shared/controls.js";
import { paintDistribution, paintMeter } from "../shared/distribution.js";
import { make, setText, tokenName, withCommas, writeToken } from "../shared/elements.js";
import { markRejected, paintConstraintBox } from "./constraint-box.js";
import { paintLesson } from "./lesson.js";
import { paintPanels } from "./panels.js";
import { hasQuestions, paintQuiz } from "./quiz.js";
import { paintBars, paintScrub, paintTimes } from "./timeline.js";
import { paintTour } from "./tour.js";
import { currentChip, isEnded, isReady, placeShown, shownStep } from "./view.js";

/** @type {Record<string, string>} */
const ENDS = { max_tokens: "limit", context: "context", stop: "stopped", complete: "complete" };
const COUNTED = 12; // painted steps over which the rate is taken
const NONE = -2; // no token: -1 is that of a step without one
const UNASKED = "Only one continuation is legal, so the model is not asked and there is no distribution.";
const PRESS = "Press a bar to take that token.";
const PRESS_STRUCK = "Press a bar to take that token; press a forbidden one to read why.";
const ALONE = "Press a forbidden token to read why.";
const NO_STEP = "no step yet · press play, or → for one step";

/**
 * @param {StageUi} ui
 * @param {StageView} view
 * @param {number} same the steps that are painted already
 */
export function paintStage(ui, view, same) {
  paintHead(ui, view.alone && view.head.source === "LIVE" ? { ...view.head, source: "RECORDED" } : view.head);
  ui.root.classList.toggle("gv-fast", view.playing && view.speed > 8);
  Object.assign(ui.root.dataset, { cursor: view.cursor, playing: view.playing, ended: isEnded(view), ready: isReady(view) });
  paintChips(ui, view, same);
  paintBars(ui.timeline, view, same);
  paintCursor(ui, view, same);
  paintWords(ui, view);
  paintNext(ui, view);
  paintBranches(ui.branches, view.branches);
  paintControls(ui, view);
  paintWhy(ui.why, view.why);
  paintNote(ui.note, view.note);
  paintLesson(ui.lesson, view);
  paintQuiz(ui.quiz, ui.root, view);
  paintTour(ui.tour, ui.root, view);
  ui.ask.hidden = !hasQuestions(view);
  ui.ask.setAttribute("aria-pressed", String(view.asks));
  paintConstraintBox(ui.box, view.edit);
  markRejected(ui.chips, view);
  paintMachinePanel(ui.machine, view);
  paintStackPanel(ui.stack, ui.machine.drawing, view);
  // these two measure the page: they come late, so that it is laid out once
  showChip(ui.tape, /** @type {HTMLElement | undefined} */ (ui.chips.children[view.cursor - 1]));
  paintMapPanel(ui.map, view);
  paintPanels(ui.panels);
}

/**
 * @param {StageUi} ui
 * @param {Head} head
 */
function paintHead(ui, head) {
  paintSource(ui.badge, head.source);
  setText(ui.about, [head.about, head.date, head.constraint].filter(Boolean).join(" · "));
  ui.about.title = String(ui.about.textContent);
  writeToken(ui.prompt, head.prompt);
}

// --- the text ---

/**
 * @param {Step} step
 * @param {number} place
 */
function buildChip(step, place) {
  const below = {
    sampled: step.maskedText, none: "end", forced: "forced", inserted: "inserted", accepted: `✓ ${step.maskedText}`,
  }[step.how];
  const dropped = step.dropped ? [make("del", { title: "rejected draft" }, step.dropped), " "] : [];
  const about = { "data-place": place, "aria-description": `go back to before token ${place + 1}`, "data-end": ENDS[step.end] };
  const look = { class: `gv-chip gv-how-${step.how}`, vars: { "--p": step.masked } };
  return make("button", { type: "button", tabindex: -1, ...look, ...about }, tokenName(step.label), make("small", {}, ...dropped, below));
}

/**
 * @param {StageUi} ui
 * @param {StageView} view
 * @param {number} same
 */
function paintChips({ chips }, { steps }, same) {
  while (chips.children.length > same) chips.lastChild?.remove();
  chips.append(...steps.slice(same).map((step, place) => buildChip(step, same + place)));
}

/**
 * Marks the step at the cursor; only steps between the old and the new cursor are touched.
 * @param {StageUi} ui
 * @param {StageView} view
 * @param {number} same
 */
function paintCursor(ui, view, same) {
  const { chips, timeline: { bars } } = ui;
  const gone = new Set(view.steps.slice(0, view.cursor).flatMap((step) => step.back));
  for (const place of new Set([...gone, ...ui.gone])) chips.children[place]?.classList.toggle("gv-gone", gone.has(place));
  ui.gone = gone;
  const first = Math.min(ui.marked, view.cursor, same) - 1;
  const last = Math.max(ui.marked, view.cursor, view.steps.length - 1);
  for (let place = Math.max(0, first); place <= last; place++) {
    for (const node of [chips.children[place], bars.children[place + 1]]) {
      node?.classList.toggle("gv-now", place === view.cursor - 1);
      node?.classList.toggle("gv-ahead", place >= view.cursor);
      node?.classList.toggle("gv-stale", place >= view.cursor && view.stale.includes(place));
      node?.classList.toggle("gv-unseen", place >= view.seen);
    }
    chips.children[place]?.setAttribute("tabindex", place === currentChip(view) ? "0" : "-1");
  }
  ui.marked = view.cursor;
  paintScrub(ui.timeline, view);
}

/**
 * @param {HTMLElement} tape
 * @param {HTMLElement | undefined} chip
 */
function showChip(tape, chip) {
  const top = chip ? chip.offsetTop - 8 : 0;
  const bottom = chip ? chip.offsetTop + chip.offsetHeight + 8 - tape.clientHeight : 0;
  // without a token to focus, a long prompt is scrolled with the keys
  if (!chip && tape.scrollHeight > tape.clientHeight) tape.tabIndex = 0;
  else tape.removeAttribute("tabindex");
  if (!chip) tape.scrollTop = 0;
  else if (bottom > tape.scrollTop || top < tape.scrollTop) tape.scrollTop = Math.max(0, bottom);
}

/**
 * @param {StageUi} ui
 * @param {StageView} view
 */
function paintWords({ words }, view) {
  const step = view.steps[view.cursor - 1];
  const hint = view.playing || !step || step.end || view.cursor > 1 ? "" : " · click a token to go back to before it";
  const nothing = view.steps.length ? "at the prompt" : NO_STEP;
  setText(words, step ? `step ${view.cursor} of ${view.steps.length} · ${step.words}${hint}` : nothing);
  words.setAttribute("aria-live", view.playing ? "off" : "polite");
}

// --- the next token ---

/**
 * @param {StageUi} ui
 * @param {StageView} view
 */
function paintNext(ui, view) {
  const step = shownStep(view);
  const last = view.steps[view.cursor - 1];
  ui.root.classList.toggle("gv-empty", !step);
  if (last) paintTimes(ui.timeline, last);
  ui.timeline.node.classList.toggle("gv-untimed", !last);
  if (!step) return;
  const place = placeShown(view);
  const isLast = step === last;
  paintDistribution(ui.distribution, step.rows, place < 0 ? NONE : step.token, step.rest, step.free);
  setText(ui.distribution.after, step.drawn ? `drawn ${step.drawn}` : step.after);
  setText(ui.next.aside, isLast ? "the last draw" : place < 0 ? "" : `token ${place + 1} was drawn from these`);
  paintMeter(ui.mass, step.mass, step.massText);
  const { vocabulary } = view.head;
  paintMeter(ui.legal, step.legal / vocabulary, `${withCommas(step.legal)} of ${withCommas(vocabulary)}`);
  const stack = [...step.stack].reverse().join(" › ");
  paintFacts(ui.facts, view.machine ? [] : [["state", step.state], ["stack", stack]]);
  const forced = step.how === "forced";
  ui.root.classList.toggle("gv-unasked", forced);
  ui.hint.hidden = Boolean(view.why);
  const forbidden = step.rows.some(([, , , , legal]) => !legal);
  const chooses = view.head.live && !view.alone && !isEnded(view);
  setText(ui.hint, forced ? UNASKED : chooses ? (forbidden ? PRESS_STRUCK : PRESS) : forbidden ? ALONE : "");
}

/**
 * The runs that were left: press one to return to it.
 * @param {HTMLElement} node
 * @param {StageView["branches"]} branches
 */
function paintBranches(node, branches) {
  const said = JSON.stringify(branches);
  if (node.dataset.said === said) return;
  node.dataset.said = said;
  node.hidden = branches.length === 0;
  const rows = branches.map(([same, count, text], branch) => {
    const words = `${count} ${count === 1 ? "token" : "tokens"} from token ${same + 1} on`;
    const about = { type: "button", class: "gv-branch", "data-branch": branch, title: `return to this run: ${words}` };
    return make("button", about, make("small", {}, `${same + 1} `), tokenName(text));
  });
  node.replaceChildren(make("span", { class: "gv-soft" }, rows.length === 1 ? "other run" : "other runs"), ...rows);
}

/**
 * @param {HTMLElement} node
 * @param {[string, string][]} facts
 */
function paintFacts(node, facts) {
  const said = facts.filter(([, value]) => value);
  if (node.dataset.said === String(said)) return;
  node.dataset.said = String(said);
  node.replaceChildren(...said.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
}

/**
 * @param {StageUi} ui
 * @param {StageView} view
 */
function paintControls({ controls: { keys, speed, heat, seed }, shown }, view) {
  const { cursor, head } = view;
  const ended = isEnded(view);
  keys.start.disabled = keys.back.disabled = cursor === 0;
  keys.step.disabled = keys.end.disabled = ended;
  keys.play.disabled = ended && !view.playing;
  keys.reset.disabled = view.alone || view.steps.length === 0;
  paintPlayButton(keys.play, view.playing);
  setValue(speed.input, head.speeds.indexOf(view.speed));
  setValue(heat.input, view.temperature);
  setValue(seed, view.seed);
  heat.input.disabled = seed.disabled = !head.live || view.alone;
  setText(speed.value, `${view.speed}/s${sayShown(shown, view)}`);
  setText(heat.value, view.temperature.toFixed(2));
  speed.input.setAttribute("aria-valuetext", `${view.speed} per second`);
  heat.input.setAttribute("aria-valuetext", view.temperature.toFixed(2));
}

/**
 * How many steps per second are really shown, where they are fewer than asked for.
 * @param {[cursor: number, at: number][]} shown the last cursors that were painted
 * @param {StageView} view
 */
function sayShown(shown, { cursor, playing, speed }) {
  if (!playing) shown.length = 0;
  else if (shown.at(-1)?.[0] !== cursor) shown.push([cursor, performance.now()]);
  if (shown.length > COUNTED) shown.shift();
  if (shown.length < COUNTED) return "";
  const rate = (1000 * (shown.length - 1)) / (shown[shown.length - 1][1] - shown[0][1]);
  return rate < 0.8 * speed ? `, ${Math.round(rate)} shown` : "";
}

/**
 * Sets an input, unless the person is using it.
 * @param {HTMLInputElement} input
 * @param {number} value
 */
function setValue(input, value) {
  if (document.activeElement !== input) input.value = String(value);
}

/**
 * Why a token is illegal, byte by byte.
 * @param {HTMLElement} node
 * @param {Why | null} why
 */
function paintWhy(node, why) {
  node.hidden = !why;
  if (!why) return node.replaceChildren();
  const name = make("code");
  writeToken(name, why.label);
  /** @type {Node[]} */
  const parts = [make("strong", { class: "gv-title" }, "why is ", name, " illegal here?"), make("p", {}, why.reason)];
  const rows = why.rows.map(([byte, state, fate, died]) =>
    make("tr", { class: died ? "gv-died" : "" }, make("td", {}, byte), make("td", {}, state + (died ? " ✕" : "")), make("td", {}, fate)));
  const head = make("tr", {}, ...["byte", "state", "result"].map((words) => make("th", {}, words)));
  if (rows.length) parts.push(make("table", {}, head, ...rows));
  if (why.stack.length) parts.push(make("p", { class: "gv-soft" }, `stack, top first: ${why.stack.join(", ")}`));
  node.replaceChildren(...parts);
}
