// What the stage is built of, once: keys, sliders, panels.

const ICONS = {
  start: "M3 3v10M13 3 6 8l7 5z",
  back: "M11 3 4 8l7 5z",
  play: "M4 2.5 13 8l-9 5.5z",
  pause: "M5 3v10M11 3v10",
  step: "M5 3l7 5-7 5z",
  end: "M13 3v10M3 3l7 5-7 5z",
  reset: "M12.5 5.5A5 5 0 1 0 13 9M13 2.5v3.5H9.5",
};
const BLANK = "At every step the model weighs all its tokens. The likeliest will stand here.";
const HELP = [
  [["space"], "play and pause"],
  [["←", "→"], "one step back, one step on"],
  [["Home", "End"], "to the prompt, to the end"],
  [["1", "…", "9"], "take this token instead"],
  [["r"], "forget all and start anew"],
];

function button(name, label, key, act, words) {
  const title = key ? `${label} (${key})` : label;
  const node = make("button", { type: "button", class: `gv-key gv-${name}`, "aria-label": label, title }, icon(ICONS[name]));
  if (words) node.append(words);
  node.addEventListener("click", act);
  return node;
}

function slider(label, limits, act) {
  const input = make("input", { type: "range", "aria-label": label, ...limits });
  const value = make("output");
  input.addEventListener("input", () => act(Number(input.value)));
  return { input, value, node: make("label", { class: "gv-slider" }, label, input, value) };
}

function toggle(label, names, act) {
  const buttons = Object.entries(names).map(([name, words]) => {
    const node = make("button", { type: "button", "aria-pressed": "false", "data-name": name }, words);
    node.addEventListener("click", () => act(name));
    return node;
  });
  const node = make("span", { class: "gv-toggle", role: "group", "aria-label": label }, label, ...buttons);
  return { node, set: (name) => buttons.forEach((b) => b.setAttribute("aria-pressed", String(b.dataset.name === name))) };
}

function buildControls(act) {
  const keys = {
    start: button("start", "go to the prompt", "Home", act.start),
    back: button("back", "one step back", "←", act.back),
    play: button("play", "play", "space", act.play),
    step: button("step", "one step on", "→", act.step),
    end: button("end", "to the end, decoding what is missing", "End", act.end),
    reset: button("reset", "forget all steps and start anew", "r", act.reset, "reset"),
  };
  const speed = slider("speed", { min: 0, max: 6, step: 1 }, act.speed);
  const heat = slider("temperature", { min: 0, max: 2, step: 0.05 }, act.temperature);
  heat.node.firstChild.textContent = "T";
  heat.input.title = "temperature of the steps from here on; 0 always takes the likeliest";
  const seed = make("input", { type: "number", min: 0, step: 1, "aria-label": "seed", class: "gv-seed" });
  seed.addEventListener("change", () => act.seed(Math.max(0, Math.floor(Number(seed.value) || 0))));
  const { start, back, play, step, end, reset } = keys;
  const group = make("span", { class: "gv-keys", role: "group", "aria-label": "steps" }, start, back, play, step, end);
  const seedLabel = make("label", { class: "gv-slider" }, "seed", seed);
  const node = make("div", { class: "gv-controls" }, group, speed.node, heat.node, seedLabel, reset);
  return { node, keys, speed, heat, seed };
}

function panel(slot, title, ...inside) {
  const aside = make("span", { class: "gv-soft" });
  const head = make("div", { class: "gv-panel-head" }, make("h4", {}, title), aside);
  const node = make("section", { class: "gv-panel", "data-slot": slot, "aria-label": title }, head, ...inside);
  return { node, head, aside };
}

// What stands there before the first step: how to drive.
function buildHelp() {
  const lines = HELP.map(([keys, words]) => [make("dt", {}, ...keys.map((key) => make("kbd", {}, key))), make("dd", {}, words)]);
  return make("dl", { class: "gv-help gv-soft", "aria-label": "keys" }, ...lines.flat());
}

function buildStage(act) {
  const ui = { controls: buildControls(act) };
  ui.badge = make("strong", { class: "gv-badge" });
  ui.about = make("span", { class: "gv-soft" });
  ui.header = make("header", {}, make("div", { class: "gv-about" }, ui.badge, ui.about), ui.controls.node);

  ui.prompt = make("span", { class: "gv-prompt", "aria-label": "prompt" });
  ui.chips = make("span", { class: "gv-chips" });
  ui.tape = make("div", { class: "gv-tape" }, ui.prompt, ui.chips);
  ui.words = make("p", { class: "gv-words", role: "status", "aria-live": "polite" });
  ui.colour = toggle("colour", { odds: "probability", how: "how it came" }, act.colour);
  const under = make("div", { class: "gv-under" }, ui.words, ui.colour.node);
  ui.strip = make("section", { class: "gv-panel gv-strip", "aria-label": "text" }, ui.tape, under);
  ui.note = make("p", { class: "gv-note", role: "alert", hidden: true });
  ui.edit = buildEdit(act);

  ui.distribution = buildDistribution(9, act.pick);
  ui.next = panel("next", "next token", ui.distribution.node, make("p", { class: "gv-blank gv-soft" }, BLANK));
  ui.next.head.append(ui.distribution.legend);
  ui.mass = buildMeter("legal mass Z");
  ui.legal = buildMeter("legal tokens");
  ui.facts = make("dl", { class: "gv-facts" });
  ui.why = make("div", { class: "gv-why", "aria-live": "polite" });
  ui.hint = make("p", { class: "gv-hint gv-soft" });
  ui.now = panel("now", "this step", ui.mass.node, ui.legal.node, ui.facts, ui.why, ui.hint, buildHelp());

  const hung = ["machine", "stack", "map"].map((slot) => make("section", { class: "gv-panel", "data-slot": slot, hidden: true }));
  ui.grid = make("div", { class: "gv-grid" }, ...hung, ui.next.node, ui.now.node);
  ui.map = hangMap(hung[2], act);
  ui.machine = hangDiagram(hung[0]);
  ui.stack = hangStack(hung[1], act);

  ui.bars = make("div", { class: "gv-timebars", "aria-hidden": "true" });
  ui.scrub = make("input", { type: "range", min: 0, max: 0, step: 1, class: "gv-scrub", "aria-label": "step" });
  ui.height = toggle("bars", { odds: "probability", cost: "time" }, act.height);
  ui.spent = PARTS.map(() => make("span"));
  ui.scale = make("span", { class: "gv-scale" });
  const named = PARTS.map((name, i) => make("span", {}, make("i", { class: `gv-part gv-part-${name}` }), ui.spent[i]));
  ui.cost = make("span", { class: "gv-soft gv-cost" }, ...named, ui.scale);
  const foot = make("div", { class: "gv-under" }, ui.cost, ui.height.node);
  ui.time = make("div", { class: "gv-time" }, make("div", { class: "gv-track-time" }, ui.bars, ui.scrub), foot);
  ui.tip = make("div", { class: "gv-tip", role: "tooltip", hidden: true });
  const attributes = { class: "gv gv-stage", tabindex: 0, role: "group", "data-lm-suppress-shortcuts": "true" };
  attributes["aria-label"] = "stage: arrows step, space plays, Home and End, r resets, digits take a token instead";
  ui.root = make("div", attributes, ui.header, ui.strip, ui.edit.node, ui.note, ui.grid, ui.time, ui.tip);
  return ui;
}

const UNASKED = "The model was not asked: nothing else may come next, so there is no distribution to show.";

// The places of the steps whose tokens a later one has taken back, up to the cursor.
function takenBack(steps, cursor) {
  const [standing, gone] = [[], new Set()];
  for (let place = 0; place < cursor; place++) {
    for (let count = steps[place].back; count > 0; count--) gone.add(standing.pop());
    standing.push(place);
  }
  return gone;
}

// A bar of the timeline: as high as the token was likely, or as its step was long; then its parts lie one on the other.
function timebar(step) {
  const part = (name, i) => make("b", { class: `gv-part gv-part-${name}`, style: `--ms:${step.ms[i]}` });
  const node = make("i", {}, ...PARTS.map(part));
  node.style.setProperty("--odds", Math.max(step.masked, 0.03));
  return node;
}
