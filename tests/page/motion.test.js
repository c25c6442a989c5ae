import assert from "node:assert/strict";
import { test } from "node:test";

import { CHANGES, FALLEN, FALLS, GONE, GROWN, maskFalls, passAt, POURS, SHARED } from "../../guidedviz/widgets/page/motion/mask-falls.js";
import { countAt, framesOf, lengthOf, play } from "../../guidedviz/widgets/page/motion/player.js";
import { FLIGHT, paceOf, travel } from "../../guidedviz/widgets/page/motion/travel.js";
import { barsOf, removedOf, rulerOf } from "../../guidedviz/widgets/page/stage/bars.js";
import { mayMove, rateOf } from "../../guidedviz/widgets/page/stage/pace.js";
import { step } from "./fixtures.js";

const FROM = step("x", { token: 1, rows: [[1, "x", 0.6, 0.6, true, "0.60", "0.60"], [2, "b", 0.4, 0.4, true, "0.40", "0.40"]], mass: 1, others: [], inside: 0.5 });
const ROWS = [[3, "f", 0.5, 0, false, "0.50", "forbidden"], [2, "b", 0.3, 0.6, true, "0.30", "0.60"], [4, "c", 0.2, 0.4, true, "0.20", "0.40"]];
const TO = step("c", { token: 4, rows: ROWS, mass: 0.5, others: [], inside: 0.5 });

function shownIn(one) {
  const bars = barsOf(one);
  return { bars, ruler: rulerOf(one, bars), chosen: bars.findIndex(({ token }) => token === one.token), mass: one.mass, removed: removedOf(one), changes: one.changes ? (one.stages?.length ?? 0) + 1 : 0 };
}
const moves = (more = {}, from = FROM) => maskFalls(from && shownIn(from), shownIn({ ...TO, ...more }));
const of = (list, part, name) => list.filter(([one, look]) => one === part && (!name || name in look));
const times = (list) => list.map(([, , , begin, end]) => [begin, end]);

test("first the outlines grow to what the model wants", () => {
  for (const [key, raw] of [["t3", "50.000%"], ["t2", "30.000%"], ["t4", "20.000%"]]) {
    const [[, , to, begin, end]] = of(moves(), `${key}.before`, "width");
    assert.deepEqual([to.width, begin, end], [raw, 0, GROWN]);
  }
});

test("a number stands at what the model wants from the first frame, and its row rests before the mask falls", () => {
  for (const [key, raw] of [["t3", 0.5], ["t2", 0.3], ["t4", 0.2]]) {
    const counts = of(moves(), `${key}.said`);
    assert.deepEqual([0, 100, GROWN, FALLS, FALLEN].map((time) => countAt(counts, time)), [raw, raw, raw, raw, raw]);
  }
  const grown = moves().filter(([, , , begin]) => begin > GROWN).map(([, , , begin]) => begin);
  assert.ok(Math.min(...grown) >= GROWN + 130, "only the mask's line appears, just before it falls");
  assert.ok(FALLS - GROWN >= 200);
});

test("the number of a forbidden bar is what the model wants until the bar is in the bin", () => {
  const counts = of(moves(), "t3.said");
  assert.deepEqual([FALLEN, GONE - 1, GONE].map((time) => countAt(counts, time)), [0.5, 0.5, 0]);
});

test("a token that was there before comes from its own row and its own length, a new one appears", () => {
  const [[, from]] = of(moves(), "t2.before", "width");
  assert.equal(from.width, "40.000%");
  assert.deepEqual(times(of(moves(), "t2", "opacity")), []);
  assert.deepEqual(times(of(moves(), "t3", "opacity")), [[0, GROWN]]);
  const [[, moved]] = of(moves({ rows: [ROWS[1], ROWS[0], ROWS[2]] }), "t2", "transform");
  assert.equal(moved.transform, "translateY(100%)", "it was one row lower");
});

test("then the mask falls from the first row to the last, and strikes a forbidden bar as it passes", () => {
  const [[, , , begin, end]] = of(moves(), "mask", "top");
  assert.deepEqual([begin, end], [FALLS, FALLEN]);
  const passes = [0, 1, 2].map((place) => passAt(place, 3));
  assert.ok(FALLS < passes[0] && passes[0] < passes[1] && passes[1] < passes[2] && passes[2] < FALLEN);
  for (const part of ["t3.name", "t3.cross"]) assert.equal(of(moves(), part)[0][3], passes[0]);
  assert.equal(of(moves(), "t2.name").length, 0, "a legal name is not struck");
  assert.equal(of(moves(), "t2.after", "opacity")[0][3], passes[1], "a legal bar is filled as the mask passes");
});

/** The middle and the height of a layer in the bin, in hundredths of the bin; the bar has its place among three rows. */
const layer = (look, place) => [["top", place], ["height", 0]].map(([name, more]) => Math.round((Number(/calc\((\S+)/.exec(look[name])[1]) + more) * 100 / 3));

const TWO = moves({ rows: [ROWS[0], ROWS[1], [5, "d", 0.2, 0, false, "0.20", "forbidden"]], mass: 0.3 });

test("then each forbidden bar slides to the bin, whole, and pours into it: its end stays there", () => {
  const [slides, pours] = of(TWO, "t3.after", "left");
  const [there, gone] = ["calc(50.000% + var(--gap))", "calc(100.000% + var(--gap))"];
  assert.deepEqual(slides.slice(1), [{ left: "0%" }, { left: there }, FALLEN, POURS]);
  assert.deepEqual(pours.slice(1), [{ left: there, width: "50.000%" }, { left: gone, width: "0%" }, POURS, GONE]);
});

test("what a bar loses rises in the bin at the same time, up to what was removed", () => {
  const layers = ["t3.gain", "t5.gain"].map((part) => of(TWO, part, "top")[0]);
  assert.deepEqual(times(layers), Array(2).fill([POURS, GONE]));
  assert.deepEqual(layers.map(([, from]) => from.height), ["0px", "0px"]);
  assert.deepEqual(layers.map(([, { top }], row) => layer({ top, height: "calc(0)" }, 2 * row)[0]), [100, 100], "from its floor");
  assert.deepEqual([layer(layers[0][2], 0), layer(layers[1][2], 2)], [[55, 50], [90, 20]], "0.3 of the bin stays free above them");
});

test("a forbidden bar leaves an empty outline, in its row and in the bin", () => {
  assert.equal(of(moves(), "t3.after", "opacity").at(-1)[4], GONE);
  const [, , empty] = of(moves(), "t3.before", "borderStyle")[0];
  assert.deepEqual([empty.borderStyle, empty.backgroundImage, empty.backgroundColor], ["dashed", "none", "transparent"]);
  assert.deepEqual(of(moves(), "bin"), [["bin", { opacity: 0 }, { opacity: 1 }, GONE - 1, GONE]]);
});

test("then what lies in the bin is cut into layers, one per legal bar, and each is as high as what its bar gains", () => {
  const starts = ["t2", "t4"].map((key, place) => layer(of(moves(), `${key}.gain`, "top")[0][1], place + 1));
  assert.deepEqual(starts, [[65, 30], [90, 20]], "of the lower half, 0.3 go to one and 0.2 to the other");
  assert.deepEqual(times(of(moves(), "t4.gain", "opacity"))[0], [GONE - 1, GONE], "as the forbidden bars go");
  assert.equal(of(moves(), "t3.gain", "opacity").at(-1)[4], GONE, "what the forbidden bars brought is these layers now");
});

test("each layer goes to the end of its bar, one after the other, and is there what the bar gains", () => {
  const across = ["t2", "t4"].map((key) => of(moves(), `${key}.gain`, "left")[0]);
  assert.deepEqual(across.map(([, from]) => [from.left, from.width]), Array(2).fill(["calc(100.000% + var(--gap))", "24px"]));
  assert.deepEqual(across.map(([, , to]) => [to.left, to.width]), [["30.000%", "30.000%"], ["20.000%", "20.000%"]]);
  const [[first], [second, last]] = times(across);
  assert.ok(first === GONE && first < second && last < SHARED);
});

test("a legal bar stretches by 1/Z as it fills what has come, its number counts along, and one line says the factor", () => {
  const there = of(moves(), "t2.gain", "left")[0][4];
  const [, from, to, ...when] = of(moves(), "t2.after", "width").at(-1);
  assert.deepEqual([from.width, to.width, when[0]], ["30.000%", "60.000%", there]);
  assert.deepEqual(of(moves(), "t2.said").at(-1), ["t2.said", { count: 0.3 }, { count: 0.6 }, ...when]);
  assert.deepEqual(of(moves(), "t2.gain", "opacity").at(-1).slice(2), [{ opacity: 0 }, ...when], "the hatch goes");
  assert.ok(when[1] <= SHARED);
  assert.deepEqual([of(moves(), "scale")[0][3], of(moves(), "t2.before", "width").length], [GONE, 1], "outlines stay");
});

test("at last the pointer runs along the legal bars and stops at the number that was drawn", () => {
  const runs = of(moves(), "pointer", "left");
  assert.deepEqual(runs.map(([, , to]) => [to.left, to.top]), [["60.000%", "33.333%"], ["0%", "66.667%"], ["20.000%", "66.667%"]]);
  assert.deepEqual(runs.slice(1).map(([, from]) => from.left), ["60.000%", "0%"], "it glides to the next row");
  assert.equal(runs[0][3], SHARED);
  assert.deepEqual(runs.slice(1).map(([, , , begin]) => begin), [runs[0][4], runs[1][4]], "without a rest");
  assert.deepEqual(times(of(moves(), "number")).flat()[0], runs[2][4]);
  assert.equal(lengthOf(moves()), runs[2][4] + 70);
});

test("bias, temperature, top-k and top-p come between the mask and the draw, where they are set", () => {
  const list = moves({ changes: "T 0.50", rows: [ROWS[0], [2, "b", 0.3, 0.69, true, "0.30", "0.69"], [4, "c", 0.2, 0.31, true, "0.20", "0.31"]] });
  const widths = of(list, "t2.after", "width").map(([, from, to, ...when]) => [from.width, to.width, ...when]);
  assert.deepEqual([widths[0].slice(0, 2), widths[1]], [["30.000%", "60.000%"], ["60.000%", "69.000%", CHANGES, CHANGES + 400]]);
  assert.equal(CHANGES - SHARED, 200, "what the mask made is seen before");
  assert.equal(of(list, "pointer", "left")[0][3], CHANGES + 400);
});

test("each stage of the sampler moves the bars by itself, and its name is lit as it does", () => {
  const rows = [ROWS[0], [2, "b", 0.3, 1, true, "0.30", "1"], [4, "c", 0.2, 0, true, "0.20", "0"]];
  const list = moves({ token: 2, changes: "penalty 1.3 · T 0.50 · top-k 1", stages: [[0, 0.7, 0.3, 0], [0, 0.8, 0.2, 0]], rows });
  const shares = of(list, "t2.after", "width").slice(1).map(([, from, to, begin, end]) => [from.width, to.width, begin - CHANGES, end - begin]);
  assert.deepEqual(shares, [["60.000%", "70.000%", 0, 400], ["70.000%", "80.000%", 500, 400], ["80.000%", "100.000%", 1000, 400]]);
  assert.deepEqual(of(list, "t4.after", "width").at(-1)[2], { width: "0.000%" }, "top-k leaves it out");
  assert.deepEqual([0, 1, 2].map((place) => of(list, `change${place}`)[0][3] - CHANGES), [0, 500, 1000]);
  assert.equal(of(list, "chosen")[0][3], CHANGES + 1400, "the draw comes after the last one");
});

test("where the mask changes nothing, only bars grow and the pointer runs", () => {
  const list = maskFalls(shownIn(TO), shownIn(FROM));
  assert.deepEqual(["mask", "bin", "scale", "t1.name"].map((part) => of(list, part).length), [0, 0, 0, 0]);
  assert.equal(of(list, "pointer", "left")[0][3], GROWN);
});

test("the first step of a run has no step before it, and a token that a person chose has no pointer", () => {
  assert.equal(of(moves({}, null), "t2.before", "width")[0][1].width, "0.000%");
  assert.equal(of(moves({ how: "inserted" }), "pointer").length, 0);
});

test("no token is marked before it is drawn, also where no number is drawn and where the text knows it", () => {
  const [, drawn] = of(moves(), "pointer", "left").at(-1).slice(3);
  const certain = moves({ rows: [ROWS[0], [2, "b", 0.3, 0, true, "0.30", "0"], [4, "c", 0.2, 1, true, "0.20", "1"]], changes: "T 0.00" });
  assert.equal(of(certain, "pointer").length, 0);
  for (const [list, time] of [[moves(), drawn], [certain, CHANGES + 400]]) {
    for (const part of ["chosen", "ahead", "t4"]) assert.deepEqual(times(of(list, part).slice(-1)), [[time, time + 70]]);
    assert.equal(of(list, "t4", "borderColor")[0][1].borderColor, "transparent");
  }
});

test("every moving part ends as the page has painted it", () => {
  const ends = new Map();
  for (const [part, , to] of moves()) ends.set(part, { ...ends.get(part), ...to });
  assert.equal(ends.get("t2.after").width, "60.000%");
  assert.equal(ends.get("t2.end").width, "60.000%");
  assert.equal(ends.get("pointer").left, "20.000%");
  assert.deepEqual(["t3.after", "t2.gain"].map((part) => ends.get(part).opacity), [0, 0], "they have gone on");
});

test("between two moves of a part the end of the first holds", () => {
  const list = [["a", { width: "0%" }, { width: "10%" }, 0, 200], ["a", { width: "10%" }, { width: "90%" }, 600, 800]];
  const frames = framesOf(list, 1000).map(({ offset, width }) => [offset, width]);
  assert.deepEqual(frames, [[0, "0%"], [0, "0%"], [0.2, "10%"], [0.6, "10%"], [0.8, "90%"], [1, "90%"]]);
});

test("a number counts as its bar moves", () => {
  const counts = [["a", { count: 0 }, { count: 0.5 }, 100, 200], ["a", { count: 0.5 }, { count: 1 }, 300, 500]];
  assert.deepEqual([0, 150, 250, 400, 900].map((time) => countAt(counts, time)), [0, 0.25, 0.5, 0.75, 1]);
});

const POINTS = [{ x: 0, y: 0 }, { x: 10, y: 0 }, { x: 20, y: 0 }];
const BAR = { x: 90, y: 50 };
const place = (x, y) => `calc(${x.toFixed(1)}px - 50%) calc(${y.toFixed(1)}px - 50%)`;

test("a token flies from its bar to the current state and opens into its bytes, which slide along their arrows", () => {
  const list = travel({ bar: BAR, states: POINTS, text: { x: 5, y: -40 }, died: false });
  const [flight, up] = of(list, "token", "translate");
  assert.deepEqual([flight[1], up[2], flight[3], up[4]], [{ translate: place(90, 50) }, { translate: place(0, 0) }, 0, FLIGHT]);
  assert.equal(up[1].translate, place(0, 56), "it comes from below, clear of the labels of arrows");
  assert.deepEqual(times(of(list, "byte0", "translate")), [[FLIGHT, FLIGHT + 400]]);
  assert.deepEqual(times(of(list, "byte1", "translate")), [[FLIGHT + 400, FLIGHT + 800]]);
  assert.equal(of(list, "byte1", "translate")[0][2].translate, place(20, 0));
});

test("an arrow is lit while its byte goes along it, and the new state is named when the last byte lands", () => {
  const list = travel({ bar: BAR, states: POINTS, text: null, died: false });
  assert.deepEqual(["arrow0", "arrow1"].map((part) => times(of(list, part))), [[[FLIGHT - 1, FLIGHT]], [[FLIGHT + 399, FLIGHT + 400]]]);
  assert.deepEqual(of(list, "arrow1")[0].slice(1, 3), [{ opacity: 0 }, { opacity: 1 }]);
  assert.equal(of(list, "title")[0][4], FLIGHT + 800);
});

test("a byte is on its arrow most of the time: along a loop, whose state is seen faintly until the byte is back", () => {
  const loop = [{ x: -4, y: -3 }, { x: -5, y: -20 }, { x: 5, y: -20 }, { x: 4, y: -3 }];
  const list = travel({ bar: BAR, states: [POINTS[0], POINTS[0]], lines: [loop], text: null, died: false });
  const parts = of(list, "byte0", "translate");
  const far = parts.map(([, , to]) => to.translate.match(/-?[0-9.]+(?=px)/g).map(Number));
  loop.forEach(({ x, y }, point) => assert.ok(Math.abs(Math.hypot(...far[point]) - Math.hypot(x, y) - 18) < 0.1, "around the loop, which is seen"));
  assert.deepEqual(far.at(-1), [0, 0]);
  assert.deepEqual([parts[0][3], parts[4][4]], [FLIGHT, FLIGHT + 400]);
  assert.equal(parts[3][4] - parts[1][3], 0.6 * 400, "between the ends of its line");
  const frames = framesOf(parts, lengthOf(list));
  assert.ok(frames.every(({ easing = "linear" }) => easing === "linear"), "at one pace");
  assert.ok(of(list, "state")[0][1].opacity > 0);
  assert.equal(of(travel({ bar: BAR, states: POINTS, text: null, died: false }), "state")[0][1].opacity, 0);
});

test("the state fills when the last byte lands, and the token lands in the text", () => {
  const list = travel({ bar: BAR, states: POINTS, text: { x: 5, y: -40 }, died: false });
  assert.equal(of(list, "state")[0][4], FLIGHT + 800);
  assert.equal(of(list, "text0")[0][4], lengthOf(list));
  assert.equal(of(list, "token", "translate").at(-1)[2].translate, place(5, -40));
});

test("a forced text unrolls in one go: each of its tokens lands as its last byte is read", () => {
  const list = travel({ bar: POINTS[0], states: [...POINTS, { x: 30, y: 0 }], text: { x: 5, y: -40 }, died: false }, [1, 2]);
  assert.deepEqual(["text0", "text1"].map((name) => of(list, name)[0][4]), [FLIGHT + 400, FLIGHT + 1200]);
  assert.equal(lengthOf(list), FLIGHT + 1200, "none of them flies alone");
});

test("all bytes of a long token take little more than a second", () => {
  assert.equal(paceOf(3), 400);
  assert.equal(paceOf(20), 60);
});

test("a forbidden token stops at the byte that dies: it shakes, stays and falls, and lands nowhere", () => {
  const list = travel({ bar: BAR, states: POINTS, text: null, died: true });
  assert.equal(of(list, "state").length + of(list, "text0").length, 0);
  const landed = FLIGHT + 800;
  assert.equal(of(list, "byte1", "scale")[0][2].scale, "3", "the largest sign on the screen");
  const [, , down, begin] = of(list, "byte1", "translate").at(-1);
  assert.equal(begin, landed + 600);
  assert.notEqual(down.translate, place(20, 0));
  assert.equal(of(list, "byte0", "opacity").at(-1)[2].opacity, 0, "the bytes that were read are gone");
});

test("where no machine is in sight, the token flies to the text", () => {
  const list = travel({ bar: BAR, states: [], text: { x: 5, y: -40 }, died: false });
  assert.deepEqual(of(list, "token", "translate").map(([, from, to]) => [from.translate, to.translate]), [[place(90, 50), place(5, -40)]]);
});

/** An element that remembers how it was animated. */
function actor(text = "") {
  const node = { textContent: text, animate: (frames, about) => (node.animation = { frames, about, currentTime: 0, cancel: () => (node.cancelled = true), pause: () => (node.paused = true) }) };
  return node;
}

test("a motion that is finished leaves every element as it was", () => {
  const nodes = { bar: actor(), said: actor("0.60") };
  let done = 0;
  const list = [["bar", { width: "0%" }, { width: "60%" }, 0, 100], ["said", { count: 0 }, { count: 0.6 }, 0, 100], ["not there", { opacity: 0 }, { opacity: 1 }, 0, 100]];
  const motion = play(list, (part) => nodes[part], { say: String, done: () => done++ });
  assert.equal(nodes.said.textContent, "0");
  motion.finish();
  motion.finish();
  assert.deepEqual([nodes.said.textContent, nodes.bar.cancelled, done], ["0.60", true, 1]);
});

test("after its last count a number is what the page says, also before the motion ends", () => {
  const nodes = { bar: actor(), said: actor("legal, 0") };
  const motion = play([["said", { count: 0.3 }, { count: 0 }, 0, 50], ["bar", { opacity: 0 }, { opacity: 1 }, 0, 100]], (part) => nodes[part], { say: String });
  nodes.bar.animation.currentTime = 60;
  globalThis.frames.splice(0).forEach((draw) => draw(0));
  assert.equal(nodes.said.textContent, "legal, 0");
  motion.finish();
});

test("a motion can go slower, and back from its end", () => {
  const bar = actor();
  const motion = play([["bar", { width: "0%" }, { width: "60%" }, 0, 100]], () => bar, { rate: 0.5, back: true, say: String });
  assert.deepEqual([bar.animation.playbackRate, bar.animation.currentTime], [-0.5, 100]);
  motion.finish();
});

test("there is time for a motion at a key press and in a slow play, and none at speed or where less motion is asked for", () => {
  const still = globalThis.matchMedia;
  globalThis.matchMedia = () => ({ matches: false });
  const may = (more) => mayMove({ playing: false, speed: 4, asks: false, ...more });
  assert.deepEqual([may(), may({ playing: true, speed: 1 }), may({ playing: true, speed: 0.2 })], [true, true, true]);
  assert.deepEqual([may({ playing: true }), may({ playing: true, speed: 60 }), may({ asks: true })], [false, false, false]);
  globalThis.matchMedia = still;
  assert.equal(may(), false);
});

test("a motion of a play ends before its next step; to explain it is slower", () => {
  assert.equal(rateOf({ playing: false, speed: 4 }, 2000), 1);
  assert.equal(rateOf({ playing: false, speed: 0.2 }, 2000), 0.5);
  assert.ok(2000 / rateOf({ playing: true, speed: 1 }, 2000) < 1000);
});
