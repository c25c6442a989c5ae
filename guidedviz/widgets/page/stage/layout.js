// The elements of the stage, built once: controls, text, panels, timeline.

/** @import { Say, StageView } from "../types.js" */
import { buildMachinePanel } from "../machine/machine-panel.js";
import { buildStackPanel } from "../machine/stack-panel.js";
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

/** @param {StageActions} act */
function buildControls(act) {
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
  /** @type {Node} */ (heat.node.firstChild).textContent = "T";
  heat.node.classList.add("gv-temperature");
  heat.input.title = "temperature of the steps from here on; 0 always takes the likeliest";
  const seed = make("input", { type: "number", min: 0, step: 1, "aria-label": "seed", class: "gv-seed" });
  seed.addEventListener("change", () => act.seed(Math.max(0, Math.floor(Number(seed.value) || 0))));
  const { start, back, play, step, end, reset } = keys;
  const group = make("span", { class: "gv-keys", role: "group", "aria-label": "steps" }, start, back, play, step, end);
  const node = make("div", { class: "gv-controls" }, group, speed.node, heat.node, make("label", { class: "gv-slider" }, "seed", seed), reset);
  return { node, keys, speed, heat, seed };
}

/** @param {StageActions} act */
export function buildStage(act) {
  const controls = buildControls(act);
  const badge = make("strong", { class: "gv-badge" });
  const about = make("span", { class: "gv-soft" });
  const lecture = button("wide", "full screen with large type", "f", () => toggleLecture(root));
  const save = buildSaveMenu("run", { page: act.page, text: act.copy, link: () => copyText(location.href) });
  const [quiz, tour] = [buildQuiz(act.paint), buildTour(act.paint)];
  const ask = button("ask", "ask before each step", "q", act.ask);
  const help = buildHelp(act.view, () => tour.start(true));
  controls.node.append(ask, save, lecture, help);
  const header = make("header", { role: "none" }, make("div", { class: "gv-about" }, badge, about), controls.node);

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
  const under = make("div", { class: "gv-under" }, words, colour.node);
  const strip = make("div", { role: "group", class: "gv-panel gv-strip", "aria-label": "text" }, tape, under, branches);
  const note = buildNote();
  const lesson = buildLesson(act.say);
  const box = buildConstraintBox(act);

  const distribution = buildDistribution(9, act.pick);
  const [mass, legal] = [buildMeter("legal mass Z"), buildMeter("legal tokens")];
  const meters = make("div", { class: "gv-meters" }, mass.node, legal.node);
  const facts = make("dl", { class: "gv-facts" });
  const why = make("div", { class: "gv-why", "aria-live": "polite" });
  const hint = make("p", { class: "gv-hint gv-soft" });
  const next = panel("next", "next token", make("p", { class: "gv-blank gv-soft" }, BLANK), meters, distribution.node, facts, why, hint);
  next.head.append(distribution.legend, buildSaveMenu("distribution", drawingActions("distribution", () => [drawPanel(distribution.node)])));

  const [machineSlot, stackSlot, mapSlot] = ["machine", "stack", "map"].map((slot) =>
    make("div", { role: "group", class: "gv-panel", "data-slot": slot, hidden: true }));
  const map = buildMapPanel(mapSlot, act);
  const machine = buildMachinePanel(machineSlot);
  const stack = buildStackPanel(stackSlot, act);
  const panels = buildPanels({ machine: [machineSlot, stackSlot], next: [next.node], map: [mapSlot] });
  const height = toggle("bars", { odds: "probability", cost: "time" }, (name) => setLook("height", name));
  const timeline = buildTimeline(height.node);
  const tip = make("div", { class: "gv-tip", role: "tooltip", id: `gv-tip-${++stages}`, hidden: true });
  const root = widgetRoot("gv-live-stage", KEYS, { tabindex: 0 }, header, lesson.node, strip, tour.node, quiz.node, box.node, note, panels.node, timeline.node, tip);

  const toggles = { colour, height };
  /** @param {"colour" | "height"} kind @param {string} name */
  function setLook(kind, name) {
    root.dataset[kind] = name;
    toggles[kind].set(name);
  }
  setLook("colour", "odds");
  setLook("height", "odds");
  return {
    root, controls, badge, about, prompt, chips, tape, words, branches, note, lesson, box, panels, distribution, next, mass, legal, facts, why, hint,
    map, machine, stack, timeline, tip, ask, help, quiz, tour,
    shown: /** @type {[number, number][]} */ ([]), // the last cursors that were painted while it played, and when
    marked: 0, // the cursor that was painted last
    gone: /** @type {Set<number>} */ (new Set()), // the steps that were painted as taken back
  };
}
