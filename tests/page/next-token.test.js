import assert from "node:assert/strict";
import { test } from "node:test";

import { build } from "../../guidedviz/widgets/page/shared/parts.js";
import { barsOf, removedOf, rulerOf, sayChance, sayFactor, sayMask, sayShare } from "../../guidedviz/widgets/page/stage/bars.js";
import { countDots } from "../../guidedviz/widgets/page/stage/dots.js";
import { fallPart, scalePart } from "../../guidedviz/widgets/page/stage/next-token.js";
import * as stage from "../../guidedviz/widgets/page/kinds/stage.js";
import { HEAD, HOSTILE, render, stageNews, step } from "./fixtures.js";

const ROWS = [[3, "yes", 0.25, 0.75, true, "0.25", "0.75"], [4, "no", 0.5, 0, false, "0.50", "forbidden"]];
const OTHERS = [[-1, "others legal", 0.15, 0.25, true, "0.15", "0.25"], [-1, "others forbidden", 0.1, 0, false, "0.10", "0"]];
const STEP = step("yes", { rows: ROWS, token: 3, mass: 0.4, others: OTHERS });
const text = (nodes) => nodes.map((node) => node.textContent);

function painted(rows = ROWS, names = []) {
  const picked = [];
  const bars = barsOf({ ...STEP, rows });
  const node = build(fallPart(bars, 3, rulerOf(STEP, bars), removedOf(STEP), (token) => picked.push(token), names));
  const all = (selector) => [...node.querySelectorAll(selector)];
  return { node, picked, all, shown: all("button.gv-row"), said: text(all(".gv-said")) };
}

test("a row has one number, after the mask; both are said on hover and to readers of the screen", () => {
  const { said, all } = painted();
  assert.deepEqual(said, ["0.75", "0", "0.25", "0"]);
  const both = ["0.25 from the model, drawn from 0.75", "0.50 from the model, forbidden", "0.15 from the model, drawn from 0.25", "0.10 from the model, forbidden"];
  assert.deepEqual(text(all(".gv-heard")), both);
  assert.deepEqual(all(".gv-row").map((row) => row.title), both);
  assert.ok(all(".gv-bars").every((bar) => bar.getAttribute("aria-hidden")));
});

test("an outline is as wide as the probability before, a bar as the one after", () => {
  const share = (node) => Number(node.style.getPropertyValue("--share"));
  assert.deepEqual(painted().all(".gv-before").map(share), [0.25, 0.5, 0.15, 0.1]);
  assert.deepEqual(painted().all(".gv-row:not(.gv-struck) .gv-after").map(share), [0.75, 0.25]);
});

test("of an older record eight tokens have a row, the chosen one among them; the others are two rows", () => {
  const rows = Array.from({ length: 9 }, (_, n) => [n, `t${n}`, 0.1, n % 2 ? 0 : 0.18, n % 2 === 0, "0.10", "0.18"]);
  const bars = barsOf({ ...STEP, rows, token: 8, mass: 0.56, rest: [0.1, 0.1, "0.10", "0.10"], others: undefined });
  assert.deepEqual(bars.map((bar) => bar.key), ["t0", "t1", "t2", "t3", "t4", "t5", "t6", "t8", "legal", "forbidden"]);
  assert.ok(Math.abs(bars.reduce((sum, bar) => sum + bar.raw, 0) - 1) < 1e-9, "they are all of the probability");
});

test("where nothing is forbidden, no row says so", () => {
  const bars = barsOf({ ...STEP, rows: ROWS.slice(0, 1), mass: 1, rest: [0.75, 0.25, "0.75", "0.25"], others: undefined });
  assert.deepEqual(bars.map((bar) => bar.key), ["t3", "legal"]);
});

test("the chosen token is marked, and a forbidden one is struck", () => {
  const { shown } = painted();
  assert.deepEqual(shown.map(({ classList }) => classList.contains("gv-chosen")), [true, false]);
  assert.deepEqual(shown.map(({ classList }) => classList.contains("gv-struck")), [false, true]);
  assert.deepEqual(text(shown.map((row) => row.querySelector(".gv-who"))), ["▸yes", "✕no"]);
});

test("the line through a forbidden token begins at the byte that has no way on", () => {
  const [yes, no] = barsOf({ ...STEP, rows: ROWS, reads: ["", "n"] });
  assert.deepEqual([yes.read, no.read], ["", "n"]);
  assert.equal(barsOf({ ...STEP, rows: ROWS, reads: ["", "x"] })[1].read, "", "of a record that is wrong nothing is left out");
  const row = build(fallPart([no], NaN, null, 0, () => {})).querySelector(".gv-struck .gv-name");
  assert.equal(row.textContent, "no");
  assert.equal(row.querySelector(".gv-read").textContent, "n");
});

test("no line goes through signs, which it would hide", () => {
  const rows = ["no", "```", "é!", "{'", "_"].map((label, token) => [token, label, 0.1, 0, false, "0.10", "0"]);
  const { shown } = painted(rows);
  assert.deepEqual(shown.map((row) => row.classList.contains("gv-signs")), [false, true, true, true, false]);
});

test("the pointer stands in the bar of the token that was drawn, at the number that was drawn", () => {
  const rows = [[1, "a", 0.5, 0.5, true, "0.50", "0.50"], [2, "b", 0.5, 0.5, true, "0.50", "0.50"]];
  const drawn = { ...STEP, rows, token: 2, mass: 1, others: [], inside: 0.5 };
  assert.deepEqual(rulerOf(drawn, barsOf(drawn)), { row: 1, at: 0.25, share: 0.5, number: 0.75 });
  assert.equal(rulerOf({ ...drawn, how: "inserted" }, barsOf(drawn)), null, "a person drew no number");
  const sure = { ...drawn, rows: [[2, "b", 0.5, 1, true, "0.50", "1"]] };
  assert.equal(rulerOf(sure, barsOf(sure)), null, "nor did temperature 0");
});

test("a press picks the token of the row, and rows have the digits of their keys", () => {
  const { shown, picked, all } = painted();
  shown[1].click();
  shown[0].click();
  assert.deepEqual(picked, [4, 3]);
  assert.deepEqual(text(all("button kbd")), ["1", "2"]);
});

test("a hostile token stays text in every part of its row", () => {
  const { node, all } = painted([[3, HOSTILE, 0.25, 0.75, true, "0.25", "0.75"]]);
  assert.equal(all(".gv-name")[0].textContent, HOSTILE);
  assert.equal(node.querySelector("img, script"), null);
});

test("a special token of the prompt is a chip, other names stay text", () => {
  const { node, all } = painted([[9, "<|im_end|>", 0.25, 0.75, true, "0.25", "0.75"], [8, "<|x|>", 0.5, 0.1, true, "0.50", "0.10"]], ["<|im_end|>"]);
  assert.deepEqual(text(all("button .gv-name")), ["im_end", "<|x|>"]);
  assert.equal(node.querySelectorAll(".gv-special").length, 1);
});

test("the bin is as high as what the mask removed, and the line below says it with the factor", () => {
  const bin = painted().node.querySelector("[data-part=bin]");
  assert.deepEqual([bin.getAttribute("role"), bin.getAttribute("aria-valuetext")], ["meter", "60%"]);
  assert.equal(bin.firstChild.style.getPropertyValue("--share"), "0.6");
  const said = (more) => build(scalePart({ ...STEP, ...more }, null)).textContent;
  assert.equal(said(), "× 1/Z = × 2.5removed 60%");
  assert.equal(said({ mass: 1 }), "removed under 0.0001%removed 0%");
  assert.equal(build(scalePart({ ...STEP, mass: 1 }, null)).querySelector(".gv-removed").hidden, true);
});

test("where no token is legal none is marked as drawn, and none is offered", () => {
  const dead = step("x", { token: -1, mass: 0, rows: [[8, "x", 0.6, 0, false, "0.60", "0"]], others: [[-1, "others forbidden", 0.4, 0, false, "0.40", "0"]] });
  const { find, stop } = render(stage, stageNews([step("a")], 1, { next: dead }));
  assert.equal(find(".gv-chosen"), null);
  assert.equal(find(".gv-hint").textContent, "Press a forbidden token to read why.");
  stop();
});

test("what bias and temperature changed is named", () => {
  const head = (more) => {
    const { find, stop } = render(stage, stageNews([step("a", { rows: [[7, "a", 0.5, 0.9, true, "0.50", "0.90"]], ...more })], 1));
    const said = [find(".gv-changes").textContent, find(".gv-legend").textContent, find(".gv-scale").firstChild.textContent];
    stop();
    return said;
  };
  assert.deepEqual(head({ changes: "bias · T 0.50", after: "as drawn" }), ["bias · T 0.50", "the modeldrawn fromforbidden", "× 1/Z = × 2"]);
  assert.deepEqual(head({ changes: "" }), ["", "beforeafter the maskforbidden", "× 1/Z = × 2"]);
});

test("what each stage of the sampler left of a token is said, also where nothing moves", () => {
  const more = { changes: "penalty 1.3 · T 0.50 · top-k 1", stages: [[0.7, 0, 0.3], [0.8, 0, 0.2]] };
  const { find, stop } = render(stage, stageNews([step("a", more)], 1));
  assert.equal(find(".gv-row").title, "0.50 from the model, 0.70 after penalty 1.3, 0.80 after T 0.50, drawn from 0.90");
  stop();
});

test("without a constraint nothing is said of a mask", () => {
  const special = [9, "im_start", 0.0002, 0, false, "1 in 5,000", "forbidden"];
  const rows = [[7, "a", 0.5, 1, true, "0.50", "1"], [8, "b", 0.4, 0, true, "0.40", "0"], special];
  const { find, stop } = render(stage, stageNews([step("a", { rows, mass: 0.9998 })], 1, { head: { ...HEAD, free: true } }));
  const said = find("[data-part=next]").textContent;
  assert.match(said, /no mask/);
  assert.doesNotMatch(said, /forbidden|legal|mask changes|im_start/);
  assert.ok(find(".gv-removed").hidden);
  stop();
});

test("numbers are said as Python says them", () => {
  assert.deepEqual([0.876, 0, 1, 0.9999, 0.0004, 0.0000123, 1e-9].map(sayChance), ["0.88", "0", "1", ">0.99", "1 in 2,500", "1 in 81,000", "1 in 10⁹"]);
  assert.deepEqual([0.9637, 0.5, 0.0000312, 0, 0.99996, 0.9988].map(sayShare), ["96%", "50%", "0.0031%", "0%", ">99.9%", "99.9%"]);
  assert.deepEqual([2, 66.4, 801, 1.0002, 12345, 1e9].map(sayFactor), ["2", "66", "800", "1.0002", "12,000", "10⁹"]);
  assert.equal(sayMask({ mass: 0 }), "No token is legal here.");
});

test("a dot is one token or a round number of them; all are lit only where all is legal", () => {
  assert.deepEqual(countDots(27, 65), { unit: 1, all: 65, lit: 27 });
  assert.deepEqual(countDots(3959, 4096), { unit: 100, all: 41, lit: 40 });
  assert.deepEqual(countDots(4095, 4096).lit, 40);
  assert.deepEqual(countDots(1, 128256), { unit: 1000, all: 129, lit: 1 });
  assert.deepEqual([countDots(128256, 128256).lit, countDots(0, 65).lit], [129, 0]);
});
