// The stage: text, distribution, timeline, all at one cursor. It draws what the kernel tells and decides nothing.

const ICONS = {
  start: "M3 3v10M13 3 6 8l7 5z",
  back: "M11 3 4 8l7 5z",
  play: "M4 2.5 13 8l-9 5.5z",
  pause: "M5 3v10M11 3v10",
  step: "M5 3l7 5-7 5z",
  end: "M13 3v10M3 3l7 5-7 5z",
  reset: "M12.5 5.5A5 5 0 1 0 13 9M13 2.5v3.5H9.5",
};
const BADGES = { LIVE: "●", RECORDED: "◼", TOY: "◆" };
const BLANK = "At every step the model weighs all its tokens. The likeliest will stand here.";
const HELP = [
  [["space"], "play and pause"],
  [["←", "→"], "one step back, one step on"],
  [["Home", "End"], "to the prompt, to the end"],
  [["1", "…", "9"], "take this token instead"],
  [["r"], "forget all and start anew"],
];
const LIMITS = { max_tokens: "limit", stop: "stopped", complete: "complete" };

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

// --- building, once ---

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

  ui.bars = make("div", { class: "gv-timebars", "aria-hidden": "true" });
  ui.scrub = make("input", { type: "range", min: 0, max: 0, step: 1, class: "gv-scrub", "aria-label": "step" });
  ui.height = toggle("bars", { odds: "probability", cost: "time" }, act.height);
  ui.cost = make("span", { class: "gv-soft gv-cost" });
  const foot = make("div", { class: "gv-under" }, ui.cost, ui.height.node);
  ui.time = make("div", { class: "gv-time" }, make("div", { class: "gv-track-time" }, ui.bars, ui.scrub), foot);
  ui.tip = make("div", { class: "gv-tip", role: "tooltip", hidden: true });
  const attributes = { class: "gv gv-stage", tabindex: 0, role: "group", "data-lm-suppress-shortcuts": "true" };
  attributes["aria-label"] = "stage: arrows step, space plays, Home and End, r resets, digits take a token instead";
  ui.root = make("div", attributes, ui.header, ui.strip, ui.note, ui.grid, ui.time, ui.tip);
  return ui;
}

// --- painting, at every message ---

function chip(step, place) {
  const name = make("span", { class: "gv-name" });
  spell(name, step.label);
  const below = step.how === "sampled" ? odds(step.masked) : step.how === "none" ? "end" : step.how;
  const node = make("button", { type: "button", class: `gv-chip gv-how-${step.how}`, tabindex: -1, "data-place": place }, name);
  node.append(make("small", {}, below));
  node.style.setProperty("--p", step.masked);
  node.setAttribute("aria-label", `go to step ${place + 1}: ${step.words}`);
  if (LIMITS[step.end]) node.dataset.end = LIMITS[step.end];
  return node;
}

function timebar(step) {
  const node = make("i");
  const cost = step.ms[0] + step.ms[1] + step.ms[2];
  node.style.setProperty("--odds", Math.max(step.masked, 0.03));
  node.style.setProperty("--cost", cost);
  return node;
}

function paintSteps(ui, view, same) {
  const add = view.steps.slice(same);
  const cut = (parent, count) => { while (parent.children.length > count) parent.lastChild.remove(); };
  cut(ui.chips, same);
  cut(ui.bars, same + 1);
  if (!ui.bars.firstChild) ui.bars.append(make("i", { class: "gv-prompt-bar" }));
  ui.chips.append(...add.map((step, i) => chip(step, same + i)));
  ui.bars.append(...add.map(timebar));
  if (add.length) {
    const costs = view.steps.map((s) => s.ms[0] + s.ms[1] + s.ms[2]);
    ui.bars.style.setProperty("--most", Math.max(0.001, ...costs));
  }
}

function paintCursor(ui, view, same) {
  const [low, high] = [Math.min(ui.marked ?? 0, view.cursor, same), Math.max(ui.marked ?? 0, view.cursor, view.steps.length - 1)];
  const mark = (node, i) => {
    node?.classList.toggle("gv-now", i === view.cursor - 1);
    node?.classList.toggle("gv-ahead", i >= view.cursor);
  };
  for (let i = Math.max(0, low - 1); i <= high; i++) [ui.chips.children[i], ui.bars.children[i + 1]].forEach((node) => mark(node, i));
  ui.marked = view.cursor;
  ui.scrub.max = view.steps.length;
  ui.scrub.value = view.cursor;
  ui.scrub.setAttribute("aria-valuetext", `step ${view.cursor} of ${view.steps.length}`);
  const now = ui.chips.children[view.cursor - 1];
  if (!now) return void (ui.tape.scrollTop = 0);
  const [top, bottom] = [now.offsetTop - 8, now.offsetTop + now.offsetHeight + 8 - ui.tape.clientHeight];
  if (bottom > ui.tape.scrollTop || top < ui.tape.scrollTop) ui.tape.scrollTop = Math.max(0, bottom);
}

function paintWords(ui, view) {
  const step = view.steps[view.cursor - 1];
  const ready = view.steps.length ? "at the prompt" : "no step yet · press play, or → for one step";
  const hint = view.playing || !step ? "" : step.end ? "" : " · click a token to go back there";
  setText(ui.words, step ? `step ${view.cursor} of ${view.steps.length} · ${step.words}${hint}` : ready);
  ui.words.setAttribute("aria-live", view.playing ? "off" : "polite");
}

function paintStep(ui, view) {
  const step = view.steps[view.cursor - 1];
  ui.root.classList.toggle("gv-empty", !step);
  if (!step) return;
  paintDistribution(ui.distribution, step.rows, new Set([step.token]), step.rest, WORDS, step.free);
  setText(ui.distribution.after, step.after);
  setText(ui.next.aside, view.cursor === view.steps.length ? "" : `as it was at step ${view.cursor}`);
  paintMeter(ui.mass, step.mass);
  const of = `${step.legal.toLocaleString("en")} of ${view.head.vocabulary.toLocaleString("en")}`;
  paintMeter(ui.legal, step.legal / view.head.vocabulary, of);
  const facts = [["state", step.state], ["stack", [...step.stack].reverse().join(" › ")], ["drawn", step.drawn]];
  const said = facts.filter(([, value]) => value);
  if (ui.facts.dataset.said !== String(said)) {
    ui.facts.dataset.said = said;
    ui.facts.replaceChildren(...said.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
  }
  ui.hint.hidden = Boolean(view.why);
  const ways = step.free ? "Press a bar to take that token instead." : "Press a bar to take that token instead; press a struck one to hear why it is forbidden.";
  setText(ui.hint, ways);
  setText(ui.cost, `forward ${step.times[0]} · mask ${step.times[1]} · sample ${step.times[2]}`);
}

function paintControls(ui, view) {
  const { keys, speed, heat, seed } = ui.controls;
  const none = view.cursor === 0;
  keys.start.disabled = keys.back.disabled = none;
  keys.step.disabled = keys.end.disabled = view.ended;
  keys.play.disabled = view.ended && !view.playing;
  keys.reset.disabled = view.steps.length === 0;
  ui.scrub.disabled = view.steps.length === 0;
  const name = view.playing ? "pause" : "play";
  if (keys.play.dataset.name !== name) {
    keys.play.dataset.name = name;
    keys.play.replaceChildren(icon(ICONS[name]));
    keys.play.setAttribute("aria-label", name);
    keys.play.title = `${name} (space)`;
  }
  const held = document.activeElement;
  if (held !== speed.input) speed.input.value = view.head.speeds.indexOf(view.speed);
  if (held !== heat.input) heat.input.value = view.temperature;
  if (held !== seed) seed.value = view.seed;
  heat.input.disabled = seed.disabled = !view.head.live;
  setText(speed.value, `${view.speed}/s`);
  setText(heat.value, view.temperature.toFixed(2));
}

function paintHead(ui, head) {
  ui.badge.className = `gv-badge gv-${head.source.toLowerCase()}`;
  setText(ui.badge, `${BADGES[head.source]} ${head.source}`);
  setText(ui.about, [head.about, head.date, head.constraint].filter(Boolean).join(" · "));
  ui.about.title = ui.about.textContent;
  spell(ui.prompt, head.prompt);
}

function paintWhy(ui, why) {
  ui.why.hidden = !why;
  if (!why) return ui.why.replaceChildren();
  const name = make("code");
  spell(name, why.label);
  const rows = why.rows.map(([byte, state, fate, died]) =>
    make("tr", { class: died ? "gv-died" : "" }, make("td", {}, byte), make("td", {}, state + (died ? " ✕" : "")), make("td", {}, fate)));
  const head = make("tr", {}, ...["byte", "state", ""].map((words) => make("th", {}, words)));
  const parts = [make("h4", {}, "why is ", name, " illegal here?"), make("p", {}, why.reason)];
  if (rows.length) parts.push(make("table", {}, head, ...rows));
  if (why.stack.length) parts.push(make("p", { class: "gv-soft" }, `stack, top first: ${why.stack.join(", ")}`));
  ui.why.replaceChildren(...parts);
}

function paintNote(ui, words) {
  ui.note.hidden = !words;
  setText(ui.note, words ? `⚠ ${words}` : "");
}

function paint(ui, view, same) {
  paintHead(ui, view.head);
  ui.root.classList.toggle("gv-fast", view.playing && view.speed > 8);
  ui.root.classList.toggle("gv-stale", view.stale);
  ui.root.dataset.cursor = view.cursor;
  ui.root.dataset.playing = view.playing;
  ui.root.dataset.ended = view.ended;
  paintSteps(ui, view, same);
  paintCursor(ui, view, same);
  paintWords(ui, view);
  paintStep(ui, view);
  paintControls(ui, view);
  paintWhy(ui, view.why);
  paintNote(ui, view.note);
  paintHungMap(ui.map, view);
  paintHungDiagram(ui.machine, view);
}

// --- hover: what else could have come here ---

function showTip(ui, view, node) {
  const step = view.steps[Number(node.dataset.place)];
  const line = ([, label, raw, drawn, legal]) => {
    const name = make("span", { class: "gv-name" });
    spell(name, label);
    const said = make("span", {}, legal ? odds(drawn) : "forbidden");
    return make("div", { class: legal ? "" : "gv-struck" }, name, make("i", { style: `width:${60 * (legal ? drawn : raw)}px` }), said);
  };
  const best = [...step.rows].sort((a, b) => Math.max(b[2], b[3]) - Math.max(a[2], a[3])).slice(0, 5);
  ui.tip.replaceChildren(make("p", {}, step.words), ...best.map(line));
  ui.tip.hidden = false;
  const home = ui.root.getBoundingClientRect();
  const box = node.getBoundingClientRect();
  ui.tip.style.left = `${Math.max(8, Math.min(box.left - home.left, home.width - ui.tip.offsetWidth - 8))}px`;
  ui.tip.style.top = `${box.bottom - home.top + 6}px`;
}

function wireTips(ui, view) {
  const over = (event) => {
    const node = event.target.closest?.(".gv-chip");
    if (node && !view.playing) showTip(ui, view, node);
    else ui.tip.hidden = true;
  };
  ui.chips.addEventListener("pointerover", over);
  ui.chips.addEventListener("pointerleave", () => (ui.tip.hidden = true));
  ui.chips.addEventListener("click", () => (ui.tip.hidden = true));
}

// --- keys and scrubbing ---

const KEYS = { ArrowRight: "step", ArrowLeft: "back", " ": "play", Home: "start", End: "end", r: "reset", R: "reset" };

function wireKeys(ui, view, act) {
  ui.root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const kind = event.target.type;
    if (kind === "number") return;
    if (kind === "range" && event.target !== ui.scrub && /^(Arrow|Home|End)/.test(event.key)) return;
    if (event.key === " " && event.target.tagName === "BUTTON") return;
    const row = /^[1-9]$/.test(event.key) && view.steps[view.cursor - 1]?.rows[Number(event.key) - 1];
    if (row) act.pick(row[0]);
    else if (KEYS[event.key]) act[KEYS[event.key]]();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  // After a press with the mouse the keys belong to the whole stage again.
  ui.root.addEventListener("click", (event) => {
    if (event.detail && event.target.closest("button, .gv-track-time")) ui.root.focus({ preventScroll: true });
  });
}

function wireScrub(ui, view, act) {
  const at = (event) => {
    const first = ui.bars.children[1].getBoundingClientRect();
    return Math.max(0, Math.min(view.steps.length, 1 + Math.floor((event.clientX - first.left) / (first.width + 2))));
  };
  const track = ui.bars.parentNode;
  const move = (event) => event.buttons && act.go(at(event));
  track.addEventListener("pointerdown", (event) => {
    if (!view.steps.length) return;
    track.setPointerCapture(event.pointerId);
    event.preventDefault();
    act.go(at(event));
  });
  track.addEventListener("pointermove", move);
  ui.scrub.addEventListener("input", () => act.go(Number(ui.scrub.value)));
}

// --- the whole ---

function showStage(model, el) {
  const view = { head: null, steps: [], cursor: 0, colour: "odds", height: "odds" };
  let wire = null;
  const say = (content) => wire.say(content);
  const choose = (kind) => (name) => {
    ui.root.dataset[kind] = name;
    ui[kind].set(name);
  };
  const go = (cursor) => cursor !== view.cursor && say({ do: "go", cursor });
  const act = {
    go,
    start: () => go(0),
    back: () => say({ do: "back" }), // from where the kernel stands: presses may come quicker than pictures
    play: () => say({ do: view.playing ? "pause" : "play" }),
    step: () => view.ended || say({ do: "step" }),
    end: () => view.ended || say({ do: "end" }),
    reset: () => say({ do: "reset" }),
    pick: (token) => say({ do: "choose", token, cursor: view.cursor }),
    speed: (place) => say({ do: "speed", value: view.head.speeds[place] }),
    temperature: (value) => say({ do: "set", name: "temperature", value }),
    seed: (value) => say({ do: "set", name: "seed", value }),
    say,
    colour: choose("colour"),
    height: choose("height"),
  };
  const ui = buildStage(act);
  el.append(ui.root);
  choose("colour")("odds");
  choose("height")("odds");
  ui.chips.addEventListener("click", (event) => {
    const node = event.target.closest(".gv-chip");
    if (node) go(Number(node.dataset.place) + 1);
  });
  wireKeys(ui, view, act);
  wireTips(ui, view);
  wireScrub(ui, view, act);

  const onNews = (all) => {
    let same = view.steps.length;
    for (const { from, add, ...standing } of all) {
      view.steps.splice(from, Infinity, ...add);
      same = Math.min(same, from);
      Object.assign(view, standing);
      if (standing.map) ui.map.hear(standing.map);
    }
    if (view.head) paint(ui, view, same);
  };
  const onSilence = () => paintNote(ui, SILENCE);
  const saved = model.get("saved");
  if (saved?.head) onNews([saved]);
  wire = connect(model, { onNews, onSilence });
  return () => (ui.map.stop(), wire.stop());
}

export default {
  render: ({ model, el }) => ({ bias: showBias, map: showMap, table: showTable, film: showFilm })[model.get("kind")]?.(model, el) ?? showStage(model, el),
};
