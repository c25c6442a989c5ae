// The elements of the stage, built once: controls, text, panels, timeline.

/** @import { Say, StageView } from "../types.js" */
import { buildMachinePanel } from "../machine/machine-panel.js";
import { buildStackPanel, pickTab } from "../machine/stack-panel.js";
import { buildMapPanel } from "../map/map-panel.js";
import { buildNote, button, panel, slider, toggle, widgetRoot } from "../shared/controls.js";
import { buildDistribution, buildMeter } from "../shared/distribution.js";
import { make } from "../shared/elements.js";
import { drawPanel } from "../shared/drawn-panel.js";
import { buildSaveMenu, copyText, drawingActions } from "../shared/export.js";
import { buildConstraintBox } from "./constraint-box.js";
import { toggleLecture } from "./lecture.js";
import { buildLesson } from "./lesson.js";
import { buildPanels } from "./panels.js";
import { buildQuiz } from "./quiz.js";
import { buildTimeline } from "./timeline.js";
import { buildHelp, buildTour } from "./tour.js";

const BLANK = "The probabilities of the next token will stand here.";
let stages = 0; // on this page: the id of a tip is its own
const KEYS = "stage: arrows step, space plays, Home and End, r resets, digits take a token, q asks before each step, f is for full screen, ? lists the keys";

/**
 * @typedef {object} StageActions what a person can do on the stage
 * @property {Say} say
 * @property {(cursor: number) => void} go
 * @property {() => void} start
 * @property {() => void} back
 * @property {() => void} play
 * @property {() => void} step
 * @property {() => void} end
 * @property {() => void} reset
 * @property {(branch: number) => void} turn
 * @property {() => void} ask ask before each step, or stop asking
 * @property {() => void} paint
 * @property {() => StageView} view what is shown now
 * @property {() => void} page save the run as a page
 * @property {() => void} copy copy the text
 * @property {(token: number) => void} pick
 * @property {(place: number) => void} speed
 * @property {(value: number) => void} temperature
 * @property {(value: number) => void} seed
 */

/** @typedef {ReturnType<typeof buildStage>} StageUi */

/**
 * The buttons and sliders below the panels.
 * @param {StageActions} act
 * @param {HTMLElement} scrub
 */
function buildControls(act, scrub) {
  const keys = {
    start: button("start", "go to the prompt", "Home", act.start),
    back: button("back", "one step back", "←", act.back),
    play: button("play", "play", "space", act.play),
    step: button("step", "one step on", "→", act.step),
    end: button("end", "to the end, decoding what is missing", "End", act.end),
    reset: button("reset", "delete all steps and start again", "r", act.reset),
  };
  const speed = slider("speed", { min: 0, max: 6, step: 1 }, act.speed);
  const heat = slider("temperature", { min: 0, max: 2, step: 0.05 }, act.temperature);
  /** @type {Node} */ (speed.node.firstChild).textContent = "";
  /** @type {Node} */ (heat.node.firstChild).textContent = "T";
  heat.node.classList.add("gv-temperature");
  heat.input.title = "temperature of the steps from here on; 0 always takes the likeliest";
  const seed = make("input", { type: "number", min: 0, step: 1, "aria-label": "seed", class: "gv-seed" });
  seed.addEventListener("change", () => act.seed(Math.max(0, Math.floor(Number(seed.value) || 0))));
  const { start, back, play, step, end, reset } = keys;
  const group = make("span", { class: "gv-keys", role: "group", "aria-label": "steps" }, start, back, play, step, end);
  const at = make("span", { class: "gv-at" });
  const ask = button("ask", "ask before each step", "q", act.ask);
  const set = make("span", { class: "gv-set" }, speed.node, heat.node, make("label", { class: "gv-slider" }, "seed", seed), ask, reset);
  return { node: make("div", { class: "gv-controls", "data-part": "controls" }, group, scrub, at, set), keys, speed, heat, seed, at, ask };
}

/**
 * What is rarely needed: colours, bars of time, and the run as a file.
 * @param {...Node} rows
 */
function buildMenu(...rows) {
  const menu = make("details", { class: "gv-more" }, make("summary", { class: "gv-key", "aria-label": "more", title: "colours, bars, files" }, "⋯"));
  menu.append(make("div", { class: "gv-more-rows gv-soft" }, ...rows));
  menu.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget && !menu.contains(/** @type {Node} */ (relatedTarget)) && !(/** @type {Node} */ (relatedTarget).contains(menu))) menu.open = false;
  });
  return menu;
}

/** @param {StageActions} act */
export function buildStage(act) {
  const timeline = buildTimeline();
  const controls = buildControls(act, timeline.scrub);
  const badge = make("strong", { class: "gv-badge" });
  const about = make("span", { class: "gv-soft" });
  const lecture = button("wide", "full screen with large type", "f", () => toggleLecture(root));
  const save = buildSaveMenu("run", { page: act.page, text: act.copy, link: () => copyText(location.href) });
  const [quiz, tour] = [buildQuiz(act.paint), buildTour(act.paint)];
  const help = buildHelp(act.view, () => tour.start(true));

  const prompt = make("span", { class: "gv-prompt", "aria-label": "prompt" });
  const chips = make("span", { class: "gv-chips" });
  const tape = make("div", { class: "gv-tape" }, prompt, chips);
  const words = make("p", { class: "gv-words", role: "status", "aria-live": "polite" });
  const branches = make("div", { class: "gv-branches", role: "group", "aria-label": "other runs", hidden: true });
  branches.addEventListener("click", (event) => {
    const row = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest("[data-branch]"));
    if (row) act.turn(Number(row.dataset.branch));
  });
  const colour = toggle("colour", { odds: "probability", how: "how it came" }, (name) => setLook("colour", name));
  const height = toggle("bars", { none: "none", odds: "probability", cost: "time" }, (name) => setLook("height", name));
  const strip = make("div", { role: "group", class: "gv-strip", "aria-label": "text", "data-part": "text" }, tape, words, tour.node, quiz.node, branches);
  const note = buildNote();
  const lesson = buildLesson(act.say);
  const box = buildConstraintBox(act);

  const distribution = buildDistribution(9, act.pick);
  const [mass, legal] = [buildMeter("legal mass Z"), buildMeter("legal")];
  const meters = make("div", { class: "gv-meters" }, mass.node, legal.node);
  const facts = make("dl", { class: "gv-facts" });
  const why = make("div", { class: "gv-why", "aria-live": "polite" });
  const hint = make("p", { class: "gv-hint gv-soft" });
  const reason = make("div", { class: "gv-reason", "data-part": "why" }, why, hint, facts);
  const next = panel("next", "next token", make("p", { class: "gv-blank gv-soft" }, BLANK), meters, distribution.node, reason);
  next.node.dataset.part = "next";
  next.head.append(distribution.legend, buildSaveMenu("distribution", drawingActions("distribution", () => [drawPanel(distribution.node)])));

  const [machineSlot, stackSlot, mapSlot] = ["machine", "stack", "map"].map((slot) =>
    make("div", { role: "group", class: "gv-panel", "data-slot": slot, "data-part": slot, hidden: true }));
  const map = buildMapPanel(mapSlot, act);
  const machine = buildMachinePanel(machineSlot);
  const stack = buildStackPanel(stackSlot, act);
  machine.head.append(buildSaveMenu("machine", drawingActions("machine", machine.drawings)));
  stack.head.append(buildSaveMenu("stack picture", drawingActions("stack", stack.drawings)));
  const panels = buildPanels({ machine: machineSlot, stack: stackSlot, map: mapSlot, constraint: box.node }, next.node, (name) => {
    if (name === "machine") pickTab(stack, "stack");
    act.paint();
  });
  const menu = buildMenu(colour.node, height.node, make("span", {}, "run", save));
  const side = make("div", { class: "gv-head-keys" }, lecture, menu, help);
  const header = make("header", { role: "none" }, make("div", { class: "gv-about" }, badge, about), panels.tabs.node, side);
  const tip = make("div", { class: "gv-tip", role: "tooltip", id: `gv-tip-${++stages}`, hidden: true });
  const root = widgetRoot("gv-live-stage", KEYS, { tabindex: 0, "data-part": "stage" }, header, lesson.node, strip, note, panels.node, timeline.node, controls.node, tip);

  const toggles = { colour, height };
  /** @param {"colour" | "height"} kind @param {string} name */
  function setLook(kind, name) {
    root.dataset[kind] = name;
    toggles[kind].set(name);
  }
  setLook("colour", "odds");
  setLook("height", "none");
  return {
    root, controls, badge, about, prompt, chips, tape, words, branches, note, lesson, box, panels, distribution, next, mass, legal, facts, why, hint,
    map, machine, stack, timeline, tip, ask: controls.ask, help, quiz, tour,
    shown: /** @type {[number, number][]} */ ([]), // the last cursors that were painted while it played, and when
    marked: 0, // the cursor that was painted last
    gone: /** @type {Set<number>} */ (new Set()), // the steps that were painted as taken back
  };
}
