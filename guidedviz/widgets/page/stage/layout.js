// The stage from top to bottom: head, text, two panels, controls. Each part is a function of the view; machine, stack and map
// are islands that paint themselves.

/** @import { MachinePanel } from "../machine/machine-panel.js" */
/** @import { Part } from "../shared/parts.js" */
/** @import { Say, StageView } from "../types.js" */
/** @import { MapSlot } from "./map-slot.js" */
import { choicePart, keyPart, notePart, playPart, rootOf, sourcePart } from "../shared/controls.js";
import { copyText, downloadPng, drawingActions, onGround } from "../shared/export.js";
import { constraintPart, regexPart } from "./constraint-box.js";
import { lookedPart } from "./looked.js";
import { nextPart } from "./next-token.js";
import { branchesPart } from "./other-runs.js";
import { hasQuestions } from "./quiz.js";
import { resultsPart } from "./results.js";
import { numberPart } from "./settings.js";
import { tapePart, tipPart, wordsPart } from "./text.js";
import { timePart } from "./timeline.js";
import { isEnded, isFixed, isReady } from "./view.js";

const COUNTED = 12; // painted steps over which the rate is taken
const KEYS = "stage: arrows step, space plays, ? lists all keys";

/**
 * @typedef {object} StageActions what a person can do on the stage
 * @property {Say} say
 * @property {() => void} paint
 * @property {() => void} focus give the keys to the stage
 * @property {(cursor: number) => void} go
 * @property {(turn: number) => void} visit go to another turn of a conversation
 * @property {() => void} start
 * @property {() => void} back
 * @property {() => void} play
 * @property {() => void} step
 * @property {() => void} end
 * @property {() => void} reset
 * @property {(token: number) => void} pick
 * @property {(now: Partial<StageView>) => void} set change what is shown
 * @property {(name: "tab" | "swapped", value: string) => void} choose the same, and remember it in this notebook
 * @property {() => void} ask ask before each step, or stop asking
 * @property {() => void} again show again how the mask falls
 * @property {() => void} lecture fill the screen, or leave it
 * @property {() => void} page save the run as a page
 * @property {() => void} copy copy the text
 * @property {() => void} showPrompt show all of a long prompt
 * @property {(event?: Event) => void} editPrompt edit the prompt, unless the press was for something in it
 * @property {(place: number) => void} speed
 */

/** @typedef {{ machine: MachinePanel, map: MapSlot }} Islands the panels that paint themselves */

/**
 * The panel beside the next token; where there is room for one panel only, it may be the next token.
 * @param {StageView} view
 * @returns {string}
 */
export function tabShown({ tab, there, narrow }) {
  if (there.includes(tab) || (narrow && tab === "next")) return tab;
  if (narrow) return "next";
  return ["machine", "constraint"].find((name) => there.includes(name)) ?? there[0] ?? "";
}

/**
 * Rows behind a button. They go when something else has the focus; a press elsewhere and Escape close them, too.
 * @param {string} name
 * @param {string} sign
 * @param {Record<string, any>} about
 * @param {...Part} rows
 * @returns {Part}
 */
function popup(name, sign, about, ...rows) {
  /** @param {any} event */
  const focusout = ({ currentTarget, relatedTarget }) => {
    if (relatedTarget && !currentTarget.contains(relatedTarget) && !relatedTarget.contains(currentTarget)) currentTarget.open = false;
  };
  return [`details.gv-popup.${name}`, { focusout },
    ["summary.gv-key", about, sign], ["div.gv-popup-rows.gv-soft", ...rows]];
}

/**
 * What this run can be saved as.
 * @param {StageView} view
 * @param {StageActions} act
 * @param {Islands} islands
 * @returns {any[]}
 */
function saveRows({ alone, there }, act, { machine, map }) {
  /** @type {[string, Record<string, () => void>, unknown][]} */
  const saved = [
    ["run", { ...(alone ? {} : { page: act.page }), text: act.copy, link: () => copyText(location.href) }, true],
    ["machine", drawingActions("machine", machine.drawings), there.includes("machine")],
    ["map", { PNG: () => map.panel && downloadPng(onGround(map.panel.map.canvas), "map") }, there.includes("map") && map.panel],
  ];
  return saved.map(([what, forms, has]) => has ? ["span.gv-toggle", { role: "group", "aria-label": `save the ${what}` }, `save the ${what}`,
    ...Object.entries(forms).map(([form, save]) => ["button", { "aria-label": `${what} as ${form}`, click: save }, form])] : null);
}

/**
 * @param {StageView} view
 * @param {StageActions} act
 * @param {Islands} islands
 * @returns {Part}
 */
function headPart(view, act, islands) {
  const { head, alone, there, narrow } = view;
  const about = [head.about, head.date, head.constraint].filter(Boolean).join(" · ");
  const pieces = about.split(" · ").map((one, place) => ["span", place ? ` · ${one}` : one]); // one that does not fit is left out
  const tabs = narrow ? ["next", ...there] : there;
  const names = Object.fromEntries(tabs.map((name) => [name, name === "next" ? "next token" : name]));
  return ["header", { role: "none" },
    ["div.gv-about", sourcePart(alone && head.source === "LIVE" ? "RECORDED" : head.source), ["span.gv-soft", { title: about }, ...pieces]],
    choicePart("", names, tabShown(view), (name) => act.choose("tab", name), { class: "gv-toggle gv-tabs", "aria-label": "panel", hidden: tabs.length < 2 }),
    ["div.gv-head-keys", keyPart("wide", "full screen with large type", "f", act.lecture),
      popup("gv-more", "⋯", { "aria-label": "more", title: "colours, bars, files" },
        choicePart("colour", { odds: "probability", how: "how it came" }, view.colour, (name) => act.set({ colour: name })),
        choicePart("bars", { none: "none", odds: "probability", cost: "time" }, view.bars, (name) => act.set({ bars: name })),
        ...(view.learning?.settingRows(view, act) ?? []),
        ...saveRows(view, act, islands),
        ["button.gv-key", { hidden: narrow || !there.length, click: () => act.choose("swapped", view.swapped ? "" : "true") }, "⇄ exchange the panels"]),
      popup("gv-keys-help", "?", { "aria-label": "keys", title: "keys (?)" }, ...(view.learning ? [view.learning.helpPart(view, act)] : []))]];
}

/**
 * @param {StageView} view
 * @param {StageActions} act
 * @returns {Part}
 */
const lessonPart = ({ lesson, alone }, act) => ["div.gv-panel.gv-lesson", { role: "group", "aria-label": "class", hidden: !lesson || alone },
  ["span", { role: "status" }, lesson?.words], ["span.gv-lesson-keys", ...(lesson?.keys ?? []).map(([say, label]) =>
    ["button.gv-key", { click: () => (act.say({ do: say }), act.focus()) }, label])]]; // the key may go

/**
 * A slider; what stands beside it is not always its name.
 * @param {string} name
 * @param {string} shown
 * @param {Record<string, any>} about
 * @param {string} said
 * @param {(value: number) => void} set
 * @returns {Part}
 */
const sliderPart = (name, shown, about, said, set) => [`label.gv-slider.gv-${name}`, shown,
  ["input", { type: "range", "aria-label": name, ...about, input: (/** @type {any} */ { target }) => set(Number(target.value)) }], ["output", said]];

/**
 * @param {StageView} view
 * @param {StageActions} act
 * @returns {Part}
 */
function controlsPart(view, act) {
  const { cursor, head, steps, speed, temperature: heat, playing, alone } = view;
  const [ended, count, fixed] = [isEnded(view), steps.length, isFixed(view)];
  return ["div.gv-controls", { "data-part": "controls" },
    ["span.gv-keys", { role: "group", "aria-label": "steps" },
      keyPart("start", "go to the prompt", "Home", act.start, { disabled: !cursor }), keyPart("back", "one step back", "←", act.back, { disabled: !cursor }),
      playPart(playing, act.play, { disabled: ended && !playing }), keyPart("step", "one step on", "→", act.step, { disabled: ended }),
      keyPart("end", "to the end, decoding what is missing", "End", act.end, { disabled: ended })],
    ["input", {
      type: "range", max: count, class: "gv-scrub", "aria-label": "step", disabled: !count, value: cursor, "aria-valuetext": `step ${cursor} of ${count}`,
      input: (/** @type {any} */ { target }) => act.go(Number(target.value)),
    }],
    ["span.gv-at", `${cursor} / ${count}`],
    ["span.gv-set",
      sliderPart("speed", "", { max: head.speeds.length - 1, given: head.speeds.indexOf(speed), "aria-valuetext": speed < 1 ? "explain" : `${speed} per second` },
        speed < 1 ? "explain" : `${speed}/s${sayShown(view)}`, act.speed),
      sliderPart("temperature", "T", {
        max: 2, step: 0.05, given: heat, disabled: fixed, "aria-valuetext": heat.toFixed(2), title: "temperature of the steps from here on; 0 always takes the likeliest",
      }, heat.toFixed(2), (value) => act.say({ do: "set", name: "temperature", value })),
      numberPart("seed", "seed", view, act),
      keyPart("ask", "ask before each step", "q", act.ask, { hidden: !hasQuestions(view), "aria-pressed": view.asks }),
      keyPart("reset", "delete all steps and start again", "r", act.reset, { disabled: alone || !count })]];
}

/**
 * How many steps per second are really shown, where they are fewer than asked for.
 * @param {StageView} view
 */
function sayShown({ shown, cursor, playing, speed }) {
  if (!playing) shown.length = 0;
  else if (shown.at(-1)?.[0] !== cursor) shown.push([cursor, performance.now()]);
  if (shown.length > COUNTED) shown.shift();
  if (shown.length < COUNTED) return "";
  const rate = (1000 * (shown.length - 1)) / (shown[shown.length - 1][1] - shown[0][1]);
  return rate < 0.8 * speed ? `, ${Math.round(rate)} shown` : "";
}

/**
 * @param {StageView} view
 * @param {StageActions} act
 * @param {Islands} islands
 * @param {Record<string, (event: any) => void>} onChips
 * @param {string} tipId
 * @returns {Part}
 */
export function stagePart(view, act, islands, onChips, tipId) {
  const { cursor, playing, speed, colour, bars, lecture, tour, narrow, swapped, learning } = view;
  const tab = tabShown(view);
  const look = (playing && speed > 8 ? " gv-fast" : "") + (lecture ? " gv-lecture" : "");
  const about = {
    tabindex: 0, "data-part": "stage", "data-cursor": cursor, "data-playing": playing, "data-ended": isEnded(view), "data-ready": isReady(view), "data-colour": colour,
    "data-height": bars, "data-narrow": narrow || undefined, "data-quiz": learning?.questionOf(view), "data-here": tour?.stops[tour.stop]?.[1], vars: { "--zoom": lecture },
  };
  return ["div", rootOf(`gv-live-stage${look}`, KEYS, about),
    headPart(view, act, islands), lessonPart(view, act),
    ["div.gv-strip", { role: "group", "aria-label": "text", "data-part": "text" },
      tapePart(view, act, tipId, onChips), wordsPart(view), lookedPart(view), branchesPart(view, act), ...(learning?.parts(view, act) ?? [null, null, null]), resultsPart(view, act)],
    notePart(view.note),
    ["div.gv-panels", { "data-tab": tab, "data-swapped": swapped || undefined },
      ["div.gv-beside", { "data-tab": tab, hidden: !tab || tab === "next" }, regexPart(view, act, tab), islands.machine.slot, islands.map.slot, constraintPart(view, act)],
      narrow && tab !== "next" ? null : nextPart(view, act.pick), view.leaving],
    timePart(view, act), controlsPart(view, act), tipPart(view, tipId), ...view.sheets];
}
