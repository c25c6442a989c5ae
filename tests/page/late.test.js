import assert from "node:assert/strict";
import { test } from "node:test";

import map from "../../guidedviz/widgets/page/map/map-panel.js";
import * as stage from "../../guidedviz/widgets/page/kinds/stage.js";
import learning from "../../guidedviz/widgets/page/stage/learning.js";
import { newModel, press, stageNews, step } from "./fixtures.js";

const LAND = { count: 4, width: 2, height: 2, moves: btoa("\x00"), borders: "M0,0", chunk: 4, eos: [], ways: "", places: [["letters", 0, 4, 1, 1, 2]] };
const ON_MAP = { mask: 1, ranks: [0, 1] };
const MACHINE = { machine: { drawing: 0, initial: 0, stack: false }, drawings: { 0: { words: "1 state", shapes: ["svg", { viewBox: "0 0 9 9" }] } } };
const settled = () => new Promise((done) => setTimeout(done));

/** A stage that stands on its machine; what it loads is noted, and comes only where it is there. */
function open(there = { map, learning }) {
  const news = stageNews([step("a", { path: [0, 0], ...ON_MAP }), step("b", { path: [0, 0], ...ON_MAP })], 1, { ...MACHINE, map: { land: LAND, bits: { 1: btoa("\x03") }, answers: [] } });
  const el = document.createElement("div");
  document.body.replaceChildren(el);
  const loaded = [];
  const load = async (name) => {
    loaded.push(name);
    if (!there[name]) throw new Error("lost");
    return there[name];
  };
  const stop = stage.default.render({ model: newModel(news), el, load });
  const tab = (name) => [...el.querySelectorAll(".gv-tabs button")].find((node) => node.textContent === name).click();
  return { el, loaded, stop, tab, root: el.firstElementChild };
}

test("the map is loaded when it is opened first, and knows what the kernel said before", async () => {
  const { el, loaded, tab, stop } = open();
  await settled();
  assert.deepEqual([loaded, el.querySelector(".gv-map")], [[], null]);
  tab("map");
  tab("machine");
  tab("map");
  await settled();
  el.querySelector(".gv-map").resizeTo(40);
  assert.match(el.querySelector(".gv-map-legend").textContent, /legal 2/);
  assert.deepEqual(loaded, ["map"], "once");
  stop();
});

test("help, tour and quiz are loaded when somebody points at the stage, or asks for them", async () => {
  const { el, loaded, root, stop } = open();
  assert.equal(el.querySelector(".gv-help"), null);
  press(root, "q");
  await settled();
  assert.ok(el.querySelector(".gv-quiz"), "it asks as soon as it can");
  root.dispatchEvent(new Event("pointerover"));
  root.dispatchEvent(new Event("focusin"));
  await settled();
  assert.match(el.querySelector(".gv-help").textContent, /play and pause/);
  assert.deepEqual(loaded, ["learning"], "once");
  stop();
});

test("where the code is lost the stage says so, and goes on", async () => {
  const { el, root, tab, stop } = open({});
  tab("map");
  await settled();
  assert.match(el.querySelector(".gv-note").textContent, /code is missing on this page. Run this cell again/);
  press(root, "ArrowRight");
  assert.equal(root.dataset.cursor, "2");
  stop();
});
