// The distribution: one row per token with its probability before (outlined) and after (filled), and meters.

/** @import { Rest, Row } from "../types.js" */
import { make, setText, writeToken } from "./elements.js";

const TAKE = "Press to take it.";
const ASK = "Forbidden here; press to hear why.";
const TAKEN = "this one was taken";

/** @param {number} share */
export const percent = (share) => `${(100 * Math.max(0, Math.min(1, share))).toFixed(2)}%`;

/** @param {((token: number) => void) | null} pick */
function buildRow(pick) {
  const digit = make("kbd", { "aria-hidden": "true" });
  const name = make("span", { class: "gv-name" });
  const before = make("span", { class: "gv-before" });
  const after = make("span", { class: "gv-after" });
  const bars = make("span", { class: "gv-bars", "aria-hidden": "true", "data-part": "bar" }, before, after);
  const said = make("span", { class: "gv-said" });
  const node = make("button", { class: "gv-row", type: "button", "data-part": "row" }, digit, name, bars, said);
  node.addEventListener("click", () => pick?.(Number(node.dataset.token)));
  return { node, digit, name, before, after, said };
}

/**
 * @param {ReturnType<typeof buildRow>} row
 * @param {Row} candidate
 * @param {boolean} chosen
 * @param {boolean} free
 */
function paintRow(row, [token, label, raw, drawn, legal, rawText, drawnText], chosen, free) {
  row.node.dataset.token = String(token);
  row.node.classList.toggle("gv-struck", !legal);
  row.node.classList.toggle("gv-chosen", chosen);
  row.node.classList.toggle("gv-single", label.length === 1);
  writeToken(row.name, label);
  row.before.style.width = percent(raw);
  row.after.style.width = percent(drawn);
  setText(row.said, free ? rawText : `${rawText} → ${legal ? drawnText : "forbidden"}`);
  row.node.title = chosen ? TAKEN : legal ? TAKE : ASK;
}

/**
 * @param {number} count
 * @param {(token: number) => void} pick
 */
export function buildDistribution(count, pick) {
  const rows = Array.from({ length: count }, () => buildRow(pick));
  rows.slice(0, 9).forEach((row, place) => setText(row.digit, String(place + 1)));
  const rest = buildRow(null);
  const others = make("div", { class: "gv-row gv-rest" }, ...rest.node.childNodes);
  rest.name.textContent = "all others";
  const after = make("span", {}, "after the mask");
  const legend = make("span", { class: "gv-legend" }, make("i", { class: "gv-before" }), "before", make("i", { class: "gv-after" }), after);
  const node = make("div", { class: "gv-rows" }, ...rows.map((row) => row.node), others);
  return { node, legend, after, rows, rest };
}

/**
 * Where nothing is forbidden (`free`), before and after are the same and one bar is enough.
 * @param {ReturnType<typeof buildDistribution>} parts
 * @param {Row[]} candidates
 * @param {number} chosen
 * @param {Rest} rest
 * @param {boolean} [free]
 */
export function paintDistribution(parts, candidates, chosen, [raw, drawn, rawText, drawnText], free = false) {
  parts.node.classList.toggle("gv-free", free);
  parts.legend.hidden = free;
  parts.rows.forEach((row, place) => {
    row.node.hidden = place >= candidates.length;
    if (place < candidates.length) paintRow(row, candidates[place], chosen === candidates[place][0], free);
  });
  parts.rest.before.style.width = percent(raw);
  parts.rest.after.style.width = percent(drawn);
  setText(parts.rest.said, free ? rawText : `${rawText} → ${drawnText}`);
}

/** @param {string} label */
export function buildMeter(label) {
  const fill = make("span", { class: "gv-fill" });
  const number = make("b");
  const track = make("span", { class: "gv-track", role: "meter", "aria-label": label, "aria-valuemin": 0, "aria-valuemax": 1 }, fill);
  return { node: make("div", { class: "gv-meter" }, make("span", {}, label), track, number), track, fill, number };
}

/**
 * @param {ReturnType<typeof buildMeter>} meter
 * @param {number} share
 * @param {string} words
 */
export function paintMeter(meter, share, words) {
  meter.fill.style.width = percent(share);
  meter.track.setAttribute("aria-valuenow", share.toFixed(3));
  setText(meter.number, words);
}
