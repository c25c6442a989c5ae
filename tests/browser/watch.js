// Watches a page while hostile texts are on it, and shows widgets with such texts. It is added to every frame of a page
// before the page itself (see watched.py); what may not happen is noted in `faults`.

const ELEMENTS = new Set((
  "body div span p strong b i em small code pre kbd br wbr button input label select option textarea details summary form "
  + "fieldset legend ul ol li dl dt dd del table caption thead tbody tr th td header h1 h2 h3 nav canvas output svg g path "
  + "rect circle ellipse line polygon polyline text tspan title defs pattern mask image").split(" "));
const ATTRIBUTES = new RegExp(`^(${(
  "class id role tabindex type name value title hidden inert disabled checked required open for lang scope placeholder min "
  + "max step rows autocomplete autocapitalize spellcheck wrap xmlns width height x y x1 y1 x2 y2 cx cy r rx ry dx dy d "
  + "points viewBox preserveAspectRatio transform fill fill-\\w+ stroke stroke-\\w+ opacity mask maskUnits patternUnits "
  + "image-rendering font-\\w+ letter-spacing text-anchor text-decoration dominant-baseline paint-order xml:space style "
  + "aria-\\w+ data-(?!commandlinker)[\\w-]+").replaceAll(" ", "|")})$`);
const STYLED = /^(style|fill|stroke|mask)$/; // attributes that can fetch an address
const FETCHES = /script:|@import|image-set|url\((?!["']?#)/i;
const SITE = 'script[src$="files/index.js"], .found a:not([href*=":"])'; // adds these
const STRANGE = "script style link meta base iframe frame object embed img image use a form foreignObject video audio animate"
  + " set";
const SEEN = /(ran=|invalid\/)\d{7}/g; // the numbers of hostile texts

const faults = [];
let watching = true;
const note = (what) => faults.length < 2000 && faults.push(what.slice(0, 300));

/** Notes an element that no page of ours has, and an attribute that does something. */
function lookAt(node) {
  if (node.matches(SITE)) return;
  if (!ELEMENTS.has(node.tagName.toLowerCase())) note(`element ${node.outerHTML.slice(0, 120)}`);
  for (const { name, value } of node.attributes) {
    const tile = name === "href" && value.startsWith("data:image/png;base64,"); // of a map
    if (!tile && !ATTRIBUTES.test(name)) note(`attribute ${name} of ${node.outerHTML.slice(0, 120)}`);
    const said = value.replace(/--[\w-]+:[^;]*/g, ""); // without custom properties, which are only read as numbers
    if (STYLED.test(name) && FETCHES.test(said)) note(`${name} is ${value.slice(0, 120)}`);
  }
}

// Everything that is added once the page was read is looked at, also what is removed again at once.
const observer = new MutationObserver((all) => {
  for (const { type, target, addedNodes } of watching ? all : []) {
    if (type === "attributes") lookAt(target);
    for (const node of addedNodes) if (node.nodeType === 1) [node, ...node.querySelectorAll("*")].forEach(lookAt);
  }
});
const WHAT = { subtree: true, childList: true, attributes: true };
document.addEventListener("readystatechange", () => observer.observe(document, WHAT), { once: true });
Object.defineProperty(window, "ran", { set: (number) => note(`a script ran: ${number}`), get: () => undefined });
addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI, sample }) => {
  const parsed = effectiveDirective.startsWith("require-trusted-types");
  note(parsed ? `a text became markup: ${sample}` : `refused by the policy: ${effectiveDirective} ${blockedURI}`);
}, true);

/** The elements on the page that are strange, wherever they come from, and those that would run a script. */
function count() {
  const all = [...document.querySelectorAll("*")];
  const runs = ({ name, value }) => /^on/i.test(name) || (/href|src|action/i.test(name) && /^\s*javascript:/i.test(value));
  const bad = all.filter((node) => [...node.attributes].some(runs)).map((node) => node.outerHTML.slice(0, 200));
  const strange = all.map((node) => node.localName).filter((name) => STRANGE.split(" ").includes(name));
  return { strange: strange.sort().join(" "), bad, polluted: Object.keys(Object.prototype) };
}

const numbersIn = (text) => [...new Set(text.match(SEEN))];

/** Presses what a person can press; of buttons that look alike the first two. */
function press(root, look = () => {}, flush = () => {}) {
  flush();
  const counts = {};
  const isNew = ({ className }) => (counts[className] = (counts[className] ?? 0) + 1) <= 2;
  const few = (selector) => [...root.querySelectorAll(selector)].filter(isNew);
  const send = (node, Kind, type, more) => node.dispatchEvent(new Kind(type, { bubbles: true, cancelable: true, ...more }));
  for (const node of few(".gv-chip, .gv-row, .gv-state, .gv-timebars i, td")) {
    for (const type of ["pointerover", "pointerenter", "pointermove", "focusin"]) send(node, PointerEvent, type);
    flush();
  }
  look();
  for (const node of few("canvas, .gv-map, table")) {
    for (const key of ["Home", "ArrowRight"]) send(node, KeyboardEvent, "keydown", { key });
  }
  flush();
  look();
  for (const name of Object.keys(counts)) delete counts[name];
  for (const node of few("button, summary, td, [role=button], label")) {
    if (node.isConnected && !node.closest(".gv-save")) send(node, MouseEvent, "click");
    if (node.matches(".gv-struck")) look();
  }
  flush();
  look();
  for (const key of ["End", "Home", "ArrowRight"]) send(root, KeyboardEvent, "keydown", { key });
  flush();
}

const kinds = {};

/** Loads a kind of widget as the loader does, with its styles. */
async function load(kind, code, style) {
  const lines = [code, "export default guidedvizKind.default;"];
  kinds[kind] = (await import(URL.createObjectURL(new Blob(lines, { type: "text/javascript" })))).default;
  watching = false;
  document.head.append(Object.assign(document.createElement("style"), { textContent: style }));
  await new Promise((done) => setTimeout(done, 50));
  watching = true;
}

/** Shows a widget with each record in turn; says why it failed, and which hostile texts were seen. */
async function show(kind, live, pressed, records) {
  const nextFrame = window.requestAnimationFrame;
  const frames = [];
  let failed = "";
  window.requestAnimationFrame = (act) => frames.push(act); // a widget's frames come at once, so that its errors are caught
  window.onerror = (words) => (failed ||= words); // what a listener throws
  HTMLAnchorElement.prototype.click = function click() { // saves a file
    if (!this.href.startsWith("blob:")) note(`a link to ${this.href}`);
  };
  function attempt(act) {
    try {
      return act();
    } catch (error) {
      failed ||= String(error);
      return undefined;
    }
  }
  function flush() {
    for (let round = 0; round < 3; round++) for (const act of frames.splice(0)) attempt(() => act(performance.now()));
  }
  const said = [];
  for (const saved of records) {
    const el = document.body.appendChild(document.createElement("div"));
    const listeners = {};
    const known = live ? { saved: {} } : { saved, recorded: true, open: 2 };
    const model = { get: (name) => known[name], on: (name, act) => (listeners[name] = act), off: () => {}, send: () => {} };
    let seen = "";
    failed = "";
    const stop = attempt(() => kinds[kind].render({ model, el, load: async (name) => kinds[name] }));
    if (live) attempt(() => listeners["msg:custom"](saved));
    flush();
    el.getBoundingClientRect(); // styles are computed, and what they fetch is asked for
    if (pressed) await new Promise((done) => nextFrame(() => setTimeout(done))); // a map is drawn once it has a size
    const look = () => (seen += el.outerHTML);
    if (pressed && el.firstElementChild) press(el.firstElementChild, look, flush);
    look();
    stop?.();
    el.remove();
    said.push([failed, numbersIn(seen)]);
  }
  Object.assign(window, { requestAnimationFrame: nextFrame, onerror: null });
  return said;
}

/** Plays all recordings of a page. They are played where they are in sight, so they are made low. */
async function play() {
  const places = [...document.querySelectorAll(".gv-place")];
  for (const { style } of places) [style.height, style.overflow] = ["80px", "hidden"];
  const isBusy = () => places.some((place) => place.childElementCount < 2);
  for (let wait = 0; wait < 100 && isBusy(); wait++) await new Promise((done) => setTimeout(done, 20));
  return places.filter((place) => place.childElementCount > 1).length;
}

/** Answers the questions of the class page, each time with something else. */
async function answerClass(answers) {
  const said = [];
  for (const answer of answers) {
    window.fetch = async () => ({ ok: true, headers: new Headers(), json: async () => answer });
    document.getElementById("updates").dispatchEvent(new Event("change"));
    await new Promise((done) => setTimeout(done, 5));
    const choice = document.getElementById("choice");
    for (const { value } of [...choice.options]) {
      choice.value = value;
      choice.dispatchEvent(new Event("change"));
    }
    said.push([document.getElementById("said").textContent, numbersIn(document.body.outerHTML)]);
  }
  return said;
}

const numbers = () => numbersIn(document.body.outerHTML);
const pressAll = () => [...document.querySelectorAll(".gv-stage")].slice(0, 6).forEach((root) => press(root));
const takeFaults = () => faults.splice(0);
window.watch = { answerClass, count, load, numbers, play, pressAll, show, takeFaults };
