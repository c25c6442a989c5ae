// The bars of the steps, where somebody asks for them: one bar per step, as high as its token was likely or as the step was
// long. A press goes to the step.

/** @import { Step, StageView } from "../types.js" */
/** @import { Part } from "../shared/parts.js" */
/** @import { StageActions } from "./layout.js" */
import { lookOf } from "./text.js";

const PARTS = ["forward", "mask", "sample"]; // of a step's time

/**
 * @param {{ step: Step, look: string }} bar
 * @returns {Part}
 */
const bar = ({ step: { ms, masked }, look }) => [`i${look}`, { vars: { "--odds": Math.max(masked, 0.03) } },
  ...PARTS.map((name, place) => [`b.gv-part.gv-part-${name}`, { vars: { "--ms": ms[place] } }])];

/**
 * A full bar is the longest step that is not far above most others; a longer step is cut and marked.
 * @param {StageView} view
 * @param {StageActions} act
 * @returns {Part | null}
 */
export function timePart(view, act) {
  const { bars, steps, cursor, top: [most, words] } = view;
  if (bars === "none") return null;
  const last = steps[cursor - 1];
  const cut = steps.map(({ ms }) => ms[0] + ms[1] + ms[2] > 1.001 * most);
  /** @param {any} event */
  const press = (event) => {
    if (!steps.length || (event.type === "pointermove" && !event.buttons)) return;
    const { left, width } = event.currentTarget.querySelectorAll("i")[1].getBoundingClientRect();
    event.currentTarget.setPointerCapture(event.pointerId);
    event.preventDefault();
    act.go(Math.max(0, Math.min(steps.length, 1 + Math.floor((event.clientX - left) / (width + 2)))));
  };
  return ["div.gv-time",
    ["div.gv-track-time", { pointerdown: press, pointermove: press },
      ["div.gv-timebars", { "aria-hidden": true, vars: { "--top": most } }, ["i.gv-prompt-bar"],
        ...steps.map((step, place) => [bar, { step, look: lookOf(view, place) + (cut[place] ? ".gv-cut" : "") }])]],
    ["span.gv-soft.gv-cost", ...PARTS.map((name, place) => ["span", [`i.gv-part.gv-part-${name}`], last && `${name} ${last.times[place]}`]),
      ["span.gv-scale", `a full bar is ${words}${cut.includes(true) ? ", ≈ is longer" : ""}`]]];
}
