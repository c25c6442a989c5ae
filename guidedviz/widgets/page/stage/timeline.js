// The scrubber, and above it the bars of the steps where somebody asks for them: one bar per step, as high as its token was likely or as the step was long.

/** @import { Step, StageView } from "../types.js" */
import { make, setText } from "../shared/elements.js";

const PARTS = ["forward", "mask", "sample"]; // of a step's time

/** @typedef {ReturnType<typeof buildTimeline>} Timeline */

export function buildTimeline() {
  const bars = make("div", { class: "gv-timebars", "aria-hidden": "true" }, make("i", { class: "gv-prompt-bar" }));
  const scrub = make("input", { type: "range", min: 0, max: 0, step: 1, class: "gv-scrub", "aria-label": "step" });
  const spent = PARTS.map(() => make("span"));
  const scale = make("span", { class: "gv-scale" });
  const named = PARTS.map((name, place) => make("span", {}, make("i", { class: `gv-part gv-part-${name}` }), spent[place]));
  const track = make("div", { class: "gv-track-time" }, bars);
  return { node: make("div", { class: "gv-time" }, track, make("span", { class: "gv-soft gv-cost" }, ...named, scale)), bars, scrub, spent, scale, track };
}

/** @param {Step} step */
function buildBar(step) {
  const parts = PARTS.map((name, place) => make("b", { class: `gv-part gv-part-${name}`, vars: { "--ms": step.ms[place] } }));
  return make("i", { vars: { "--odds": Math.max(step.masked, 0.03) } }, ...parts);
}

/**
 * Adds the bars of the steps that are new. A full bar is the longest step that is not far above most others; a longer
 * step is cut and marked.
 * @param {Timeline} ui
 * @param {StageView} view
 * @param {number} same the steps that have a bar
 */
export function paintBars({ bars, scale }, { steps, top }, same) {
  while (bars.children.length > same + 1) bars.lastChild?.remove();
  if (steps.length === same) return;
  bars.append(...steps.slice(same).map(buildBar));
  const [most, words] = top;
  bars.style.setProperty("--top", String(most));
  let cut = false;
  steps.forEach(({ ms }, place) => {
    const longer = ms[0] + ms[1] + ms[2] > 1.001 * most;
    bars.children[place + 1].classList.toggle("gv-cut", longer);
    cut ||= longer;
  });
  setText(scale, `a full bar is ${words}${cut ? ", ≈ is longer" : ""}`);
}

/**
 * @param {Timeline} ui
 * @param {Step} step
 */
export function paintTimes({ spent }, step) {
  spent.forEach((node, place) => setText(node, `${PARTS[place]} ${step.times[place]}`));
}

/**
 * @param {Timeline} ui
 * @param {StageView} view
 */
export function paintScrub({ scrub }, { cursor, steps }) {
  scrub.disabled = steps.length === 0;
  scrub.max = String(steps.length);
  scrub.value = String(cursor);
  scrub.setAttribute("aria-valuetext", `step ${cursor} of ${steps.length}`);
}

/**
 * @param {Timeline} ui
 * @param {StageView} view
 * @param {(cursor: number) => void} go
 */
export function listenToScrub({ bars, scrub, track }, view, go) {
  /** @param {PointerEvent} event */
  const goTo = (event) => {
    const { left, width } = bars.children[1].getBoundingClientRect();
    go(Math.max(0, Math.min(view.steps.length, 1 + Math.floor((event.clientX - left) / (width + 2)))));
  };
  track.addEventListener("pointerdown", (event) => {
    if (!view.steps.length) return;
    track.setPointerCapture(event.pointerId);
    event.preventDefault();
    goTo(event);
  });
  track.addEventListener("pointermove", (event) => {
    if (event.buttons && view.steps.length) goTo(event);
  });
  scrub.addEventListener("input", () => go(Number(scrub.value)));
}
