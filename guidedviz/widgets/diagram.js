// A machine on the page. Its drawing comes once, as the very SVG of the still picture; afterwards only classes change.

const COLOURS = ["blue", "green", "gold", "orange", "sky"];
const CALM = matchMedia("(prefers-reduced-motion: reduce)");
const WALK = 220; // milliseconds a dot takes through the bytes of one token

function shape(name, attributes, ...inside) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...inside);
  return node;
}

// A parsed drawing runs nothing: a document made by DOMParser has no scripts, and every label in it is escaped text.
function parseDrawing(text) {
  return document.importNode(new DOMParser().parseFromString(text, "image/svg+xml").documentElement, true);
}

function buildDiagram() {
  const view = make("div", { class: "gv-diagram", tabindex: -1 });
  const ui = { view, node: make("div", { class: "gv-diagram-box" }, view), states: new Map(), arrows: new Map(), lit: [], mode: "" };
  ui.size = toggle("size", { whole: "whole", close: "close" }, (mode) => resize(ui, mode));
  new ResizeObserver(() => ui.svg && fitDrawing(ui)).observe(view);
  return ui;
}

function showDrawing(ui, text) {
  ui.svg = parseDrawing(text);
  ui.states = new Map([...ui.svg.querySelectorAll("[data-state]")].map((node) => [Number(node.dataset.state), node]));
  ui.arrows = new Map();
  for (const node of ui.svg.querySelectorAll("[data-arrow]")) ui.arrows.set(node.dataset.arrow, node);
  ui.body = ui.svg.querySelector(".gv-machine");
  ui.lit = [];
  ui.chosen = "";
  ui.view.replaceChildren(ui.svg);
  fitDrawing(ui);
}

// A drawing that would become too small to read is shown close and follows what is lit.
function fitDrawing(ui) {
  const broad = Number(ui.svg.getAttribute("width"));
  const room = ui.view.clientWidth || 900;
  ui.size.node.hidden = broad <= room;
  resize(ui, ui.chosen || (broad > 1.5 * room ? "close" : "whole"), true);
}

function resize(ui, mode, alone) {
  if (!alone) ui.chosen = mode;
  ui.view.dataset.size = mode;
  ui.size.set(mode);
  follow(ui);
}

function spotOf(node) {
  const disc = node.querySelector(".gv-disc");
  const [x, y, wide, high] = ["x", "y", "width", "height"].map((name) => Number(disc.getAttribute(name)));
  return { x: x + wide / 2, y: y + high / 2, rx: wide / 2, ry: high / 2 };
}

function follow(ui) {
  if (ui.view.dataset.size !== "close" || !ui.at) return;
  const { clientWidth, clientHeight } = ui.view;
  ui.view.scrollTo(ui.at.x + (ui.shift ?? 0) - clientWidth / 2, ui.at.y - clientHeight / 2);
}

function mark(ui, node, name) {
  if (!node) return;
  node.classList.add(name);
  ui.lit.push([node, name]);
}

function unmark(ui) {
  for (const [node, name] of ui.lit) name ? node.classList.remove(name) : node.textContent = "";
  ui.lit = [];
  ui.cross?.remove();
  ui.walker?.remove();
}

function sayNumbers(numbers) {
  return numbers.length <= 3 ? numbers.join(" ") : `${numbers[0]} ${numbers[1]} … ${numbers.at(-1)}`;
}

// The way of a text: the last state is lit, those before it are met, arrows carry the numbers of the bytes.
function lightPath(ui, path, died = "", quick = true) {
  const said = `${path}|${died}`;
  if (ui.said === said && ui.lit.length) return;
  ui.said = said;
  unmark(ui);
  const taken = new Map();
  path.slice(1).forEach((state, place) => {
    const key = `${path[place]}-${state}`;
    taken.set(key, [...(taken.get(key) ?? []), place + 1]);
  });
  for (const [key, numbers] of taken) {
    const node = ui.arrows.get(key);
    mark(ui, node, "gv-on");
    mark(ui, node?.closest(".gv-run"), "gv-on");
    const number = node?.querySelector(".gv-nth");
    if (number && path.length + (died ? 1 : 0) > 2) {
      number.textContent = sayNumbers(numbers);
      ui.lit.push([number, ""]);
    }
  }
  const last = path.at(-1);
  for (const state of new Set(path)) mark(ui, ui.states.get(state), state === last ? "gv-lit" : "gv-met");
  const node = ui.states.get(last);
  ui.at = node && spotOf(node);
  if (node && died) ui.body.append((ui.cross = drawCross(ui.at, died)));
  if (!quick && !CALM.matches && path.length > 2) walk(ui, path);
  follow(ui);
}

function drawCross({ x, y, rx, ry }, byte) {
  const [a, b] = [x + rx + 9, y - ry - 5];
  const text = shape("text", { x: a + 10, y: b + 4, "font-size": 12 }, byte);
  return shape("g", { class: "gv-cross" }, shape("path", { d: `M${a - 5},${b - 5}l10,10m0,-10l-10,10` }), text);
}

// A dot that runs through the arrows of a token, so that one sees that a token is several bytes.
function walk(ui, path) {
  const lines = path.slice(1).map((state, place) => ui.arrows.get(`${path[place]}-${state}`)?.querySelector(".gv-line"));
  const ways = lines.filter(Boolean).map((line) => [line, line.getTotalLength()]);
  const whole = ways.reduce((sum, [, long]) => sum + long, 0);
  if (!whole) return;
  const dot = (ui.walker = shape("circle", { class: "gv-walker", r: 5 }));
  ui.body.append(dot);
  const begun = performance.now();
  const move = (now) => {
    let left = whole * Math.max(0, (now - begun) / WALK);
    const way = ways.find(([, long]) => (left <= long ? true : ((left -= long), false)));
    if (!way || dot !== ui.walker) return dot.remove();
    const { x, y } = way[0].getPointAtLength(left);
    dot.setAttribute("cx", x);
    dot.setAttribute("cy", y);
    requestAnimationFrame(move);
  };
  requestAnimationFrame(move);
}

// --- the slot on the stage ---

function hangDiagram(slot) {
  const ui = buildDiagram();
  const head = make("div", { class: "gv-panel-head" }, make("h4", {}, "machine"), (ui.aside = make("span", { class: "gv-soft" })));
  head.append((ui.now = make("span", { class: "gv-soft gv-machine-now" })), ui.size.node);
  slot.setAttribute("aria-label", "machine");
  slot.append(head, ui.node);
  ui.slot = slot;
  return ui;
}

function paintHungDiagram(ui, view) {
  ui.slot.hidden = !view.machine;
  if (!view.machine) return;
  if (ui.drawn !== view.machine) {
    ui.drawn = view.machine;
    ui.said = "";
    setText(ui.aside, view.machine.words);
    showDrawing(ui, view.machine.svg);
  }
  const step = view.steps[view.cursor - 1];
  const why = view.why?.path ? view.why : null;
  const path = why?.path ?? step?.path ?? [view.machine.initial];
  lightPath(ui, path, why?.died ?? "", view.playing && view.speed > 8);
  const names = path.map((state) => `q${state}`);
  setText(ui.now, why ? `${names.at(-1)} ✕ ${why.died}` : names.length > 6 ? `${names.slice(0, 2).join(" ")} … ${names.at(-1)}` : names.join(" → "));
}
