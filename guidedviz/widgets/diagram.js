// A machine on the page. Its drawing comes once, as the very SVG of the still picture, and is never touched again:
// what is lit lies on a second sheet above it, so that a step paints a few shapes and not three hundred states.

const COLOURS = ["blue", "green", "gold", "orange", "sky"];
const CALM = matchMedia("(prefers-reduced-motion: reduce)");
const HIGH = 300; // pixels that a diagram may be high
const HIGHER = 370; // and one with a stack beside it
const LEGIBLE = 0.65; // a drawing that had to be smaller than this is shown close instead
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
  const sheets = make("div", { class: "gv-sheets" });
  const view = make("div", { class: "gv-diagram" }, sheets);
  const ui = { view, sheets, node: make("div", { class: "gv-diagram-box" }, view), states: new Map(), arrows: new Map() };
  ui.size = toggle("size", { whole: "whole", close: "close" }, (mode) => resize(ui, (ui.chosen = mode)));
  new ResizeObserver(() => ui.svg && fitDrawing(ui)).observe(view);
  return ui;
}

function showDrawing(ui, text) {
  ui.svg = parseDrawing(text);
  ui.states = new Map([...ui.svg.querySelectorAll("[data-state]")].map((node) => [Number(node.dataset.state), node]));
  ui.arrows = new Map([...ui.svg.querySelectorAll("[data-arrow]")].map((node) => [node.dataset.arrow, node]));
  ui.rules = new Map([...ui.svg.querySelectorAll("[data-rule]")].map((node) => [node.dataset.rule, node]));
  ui.body = ui.svg.querySelector(".gv-machine");
  const [viewBox, width, height] = ["viewBox", "width", "height"].map((name) => ui.svg.getAttribute(name));
  ui.broad = Number(width);
  ui.high = Number(height);
  ui.layer = shape("g", { class: "gv-machine", transform: ui.body.parentNode.getAttribute("transform") ?? "" });
  const over = shape("svg", { viewBox, width, height, class: "gv-over", "aria-hidden": "true" }, ui.layer);
  ui.said = ui.chosen = "";
  ui.sheets.replaceChildren(ui.svg, over);
  fitDrawing(ui);
}

// A drawing that would become too small to read is shown close and follows what is lit.
function fitDrawing(ui) {
  ui.highest = ui.tall ? HIGHER : HIGH;
  ui.view.style.maxHeight = `${ui.highest}px`;
  ui.room = [ui.view.clientWidth || 900, ui.view.clientHeight || ui.highest];
  ui.scale = Math.min(1, ui.room[0] / ui.broad, ui.highest / ui.high);
  ui.size.node.hidden = ui.scale === 1;
  resize(ui, ui.chosen || (ui.scale < LEGIBLE ? "close" : "whole"));
}

function resize(ui, mode) {
  ui.view.dataset.size = mode;
  ui.size.set(mode);
  const scale = mode === "whole" ? ui.scale : 1;
  ui.sheets.style.width = `${ui.broad * scale}px`;
  ui.sheets.style.height = `${ui.high * scale}px`;
  follow(ui);
}

function spotOf(node) {
  const disc = node.querySelector(".gv-disc");
  const [x, y, wide, high] = ["x", "y", "width", "height"].map((name) => Number(disc.getAttribute(name)));
  return { x: x + wide / 2, y: y + high / 2, rx: wide / 2, ry: high / 2 };
}

// What is lit is brought to the middle, unless it is well in sight.
function follow(ui) {
  if (ui.view.dataset.size !== "close" || !ui.at) return;
  const [x, y] = [ui.at.x - ui.view.scrollLeft, ui.at.y - ui.view.scrollTop];
  const [wide, high] = ui.room;
  if (x > 60 && x < wide - 60 && y > 40 && y < high - 40) return;
  ui.view.scrollTo(ui.at.x - wide / 2, ui.at.y - high / 2);
}

function sayNumbers(numbers) {
  return numbers.length <= 3 ? numbers.join(" ") : `${numbers[0]} ${numbers[1]} … ${numbers.at(-1)}`;
}

function copy(node, ...names) {
  const twin = node.cloneNode(true);
  twin.classList.add(...names);
  return twin;
}

// The way of a text: the last state is lit, those before it are met, arrows carry the numbers of the bytes.
function lightPath(ui, path, died = "", quick = true) {
  const said = `${path}|${died}`;
  if (ui.said === said) return;
  ui.said = said;
  const taken = new Map();
  path.slice(1).forEach((state, place) => {
    const key = `${path[place]}-${state}`;
    taken.set(key, [...(taken.get(key) ?? []), place + 1]);
  });
  const last = path.at(-1);
  const met = [...new Set(path)].filter((state) => state !== last && ui.states.has(state));
  const node = ui.states.get(last);
  ui.at = node && spotOf(node);
  ui.layer.replaceChildren(
    ...copyArrows(ui, taken, path.length + (died ? 1 : 0) > 2),
    ...met.map((state) => copy(ui.states.get(state), "gv-met")),
    ...(node ? [copy(node, "gv-lit")] : []),
    ...(node && died ? [drawCross(ui.at, died)] : []),
  );
  if (!quick && !CALM.matches && path.length > 2) walk(ui, path);
  follow(ui);
}

// A pushdown machine after so many bytes of a way: where it is, which calls are open, which arrows read the bytes.
function lightStack(ui, known, way, count) {
  const said = `${way.path.slice(0, count + 1)}|${way.died ?? ""}|${count}`;
  if (ui.said === said) return;
  ui.said = said;
  const { now, back, calls, last, rules, frames } = known[way.path[count]];
  const some = (map, keys, ...names) => keys.filter((key) => map.has(key)).map((key) => copy(map.get(key), ...names));
  const open = calls.map(([key]) => key);
  const taken = new Map();
  way.taken.slice(0, count).forEach((keys, place) => keys.forEach((key) => taken.set(key, [...(taken.get(key) ?? []), place + 1])));
  const opened = [...new Set(frames.map(([, rule]) => rule))].filter((rule) => !rules.includes(rule));
  const lit = now.find((node) => ui.states.has(node));
  ui.at = lit === undefined ? null : spotOf(ui.states.get(lit));
  ui.layer.replaceChildren(
    ...some(ui.rules, opened, "gv-open"),
    ...some(ui.rules, rules, "gv-lit"),
    ...some(ui.arrows, last.filter((key) => !open.includes(key)), "gv-last"),
    ...calls.filter(([key]) => ui.arrows.has(key)).map(([key, times]) => copyCall(ui.arrows.get(key), times)),
    ...copyArrows(ui, taken, way.path.length > 2),
    ...some(ui.states, back.filter((node) => !now.includes(node)), "gv-back"),
    ...some(ui.states, now, "gv-lit"),
    ...(ui.at && way.died && count === way.path.length - 1 ? [drawCross(ui.at, way.died)] : []),
  );
  follow(ui);
}

function copyCall(node, times) {
  const twin = copy(node, "gv-open");
  const more = twin.querySelector(".gv-times");
  if (more && times > 1) more.textContent = `×${times}`;
  return twin;
}

// Arrows of one run stay together, with the run's label.
function copyArrows(ui, taken, numbered) {
  const runs = new Map();
  const loose = [];
  for (const [key, numbers] of taken) {
    const node = ui.arrows.get(key);
    if (!node) continue;
    const arrow = copy(node, "gv-on");
    const number = arrow.querySelector(".gv-nth");
    if (number && numbered) number.textContent = sayNumbers(numbers);
    const run = node.closest(".gv-run");
    if (!run) loose.push(arrow);
    else runs.set(run, [...(runs.get(run) ?? []), arrow]);
  }
  for (const [run, arrows] of runs) loose.push(shape("g", { class: "gv-run gv-on" }, ...arrows, run.lastChild.cloneNode(true)));
  return loose;
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
  const dot = shape("circle", { class: "gv-walker", r: 5 });
  ui.layer.append(dot);
  const begun = performance.now();
  const move = (now) => {
    let left = whole * Math.max(0, (now - begun) / WALK);
    const way = ways.find(([, long]) => (left <= long ? true : ((left -= long), false)));
    if (!way || !dot.isConnected) return dot.remove();
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
    ui.tall = view.machine.stack;
    setText(ui.aside, view.machine.words);
    showDrawing(ui, view.machine.svg);
  }
  if (view.machine.stack) return setText(ui.now, ""); // the stack lights it, byte by byte
  const step = view.steps[view.cursor - 1];
  const why = view.why?.path ? view.why : null;
  const path = why?.path ?? step?.path ?? [view.machine.initial];
  lightPath(ui, path, why?.died ?? "", view.playing && view.speed > 8);
  const names = path.map((state) => `q${state}`);
  setText(ui.now, why ? `${names.at(-1)} ✕ ${why.died}` : names.length > 6 ? `${names.slice(0, 2).join(" ")} … ${names.at(-1)}` : names.join(" → "));
}
