import assert from "node:assert/strict";
import { test } from "node:test";

import * as film from "../../guidedviz/widgets/page/kinds/film.js";
import { drawing, HOSTILE, press, render } from "./fixtures.js";

const FRAMES = [0, 1, 2, 3].map((n) => ({
  drawing: 0, words: `frame number ${n}`, states: [0, 1].slice(0, n + 1), arrows: n ? ["0-1"] : [], lit: [n % 2], on: n ? ["0-1"] : [], groups: [],
}));

function open(frames = FRAMES, title = "a film", show = 0) {
  const page = render(film, { title, drawings: [drawing(2)], frames, show });
  const button = (name) => page.all("button").find((node) => node.getAttribute("aria-label") === name);
  return { ...page, button, at: () => Number(page.root.dataset.frame), words: () => page.find(".gv-film-words").textContent };
}

test("it opens at the frame that was asked for, as its picture does", () => {
  const { root, words, at } = open(FRAMES, "a film", 2);
  assert.deepEqual([at(), words()], [2, "frame number 2"]);
  press(root, "Home");
  assert.equal(at(), 0);
});

test("it steps forward and back, and the words follow", () => {
  const { button, at, words } = open();
  button("one frame on").click();
  button("one frame on").click();
  assert.deepEqual([at(), words()], [2, "frame number 2"]);
  button("one frame back").click();
  assert.deepEqual([at(), words()], [1, "frame number 1"]);
});

test("keys do the same, and are not seen by the notebook", () => {
  const { root, at } = open();
  for (const [key, frame] of [["End", 3], ["ArrowLeft", 2], ["ArrowRight", 3], ["ArrowRight", 3], ["Home", 0]]) {
    assert.ok(press(root, key).defaultPrevented);
    assert.equal(at(), frame);
  }
  assert.ok(!press(root, "ArrowRight", { ctrlKey: true }).defaultPrevented);
  assert.ok(!press(root, "x").defaultPrevented);
  assert.ok(!press(root, "r").defaultPrevented, "a film has nothing to reset");
  assert.equal(at(), 0);
});

test("buttons stop at the ends", () => {
  const { button, root } = open();
  assert.deepEqual(["to the first frame", "one frame back", "play", "one frame on"].map((name) => button(name).disabled), [true, true, false, false]);
  press(root, "End");
  assert.deepEqual(["one frame back", "play", "one frame on", "to the last frame"].map((name) => button(name).disabled), [false, true, true, true]);
});

test("it plays to the last frame and stops there", (context) => {
  context.mock.timers.enable({ apis: ["setInterval"] });
  const { button, at } = open();
  button("play").click();
  assert.ok(button("pause"));
  context.mock.timers.tick(1500);
  assert.equal(at(), 1);
  context.mock.timers.tick(10000);
  assert.equal(at(), 3);
  assert.ok(button("play").disabled);
});

test("a step by hand ends the playing", (context) => {
  context.mock.timers.enable({ apis: ["setInterval"] });
  const { button, root, at } = open();
  press(root, " ");
  press(root, "ArrowRight");
  context.mock.timers.tick(10000);
  assert.equal(at(), 1);
  assert.ok(button("play"));
});

test("the slider goes to any frame", () => {
  const { find, at } = open();
  find("input").value = "2";
  find("input").dispatchEvent(new Event("input"));
  assert.equal(at(), 2);
  assert.equal(find("input").getAttribute("aria-valuetext"), "frame 3 of 4: frame number 2");
});

test("what a frame does not have yet is pale or hidden, what it lights is lit", () => {
  const { root, all } = open();
  const ghosts = () => all(".gv-sheets > svg:first-child .gv-ghost").map((node) => node.dataset.state);
  assert.deepEqual(ghosts(), ["1"]);
  assert.equal(all(".gv-arrow.gv-absent").length, 1);
  press(root, "ArrowRight");
  assert.deepEqual(ghosts(), []);
  assert.deepEqual(all(".gv-over .gv-lit").map((node) => node.dataset.state), ["1"]);
  assert.deepEqual(all(".gv-over .gv-on").map((node) => node.dataset.arrow), ["0-1"]);
});

test("groups are tags beside their states, and hostile names stay text", () => {
  const { all, find, words } = open([{ ...FRAMES[1], words: HOSTILE, groups: [["AB", [0, 1]], [HOSTILE, [1]]] }], HOSTILE);
  assert.deepEqual(all(".gv-tag").map((node) => node.textContent), ["AB", "AB", "<i…"]);
  assert.equal(words(), HOSTILE);
  assert.equal(find("img, script"), null);
});
