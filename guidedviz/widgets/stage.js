// The stage: text, distribution, timeline, all at one cursor. It draws what the kernel tells and decides nothing.

const BADGES = { LIVE: "●", RECORDED: "◼", TOY: "◆" };
const PARTS = ["forward", "mask", "sample"]; // of a step's time
const LIMITS = { max_tokens: "limit", stop: "stopped", complete: "complete" };

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

const costOf = ({ ms }) => ms[0] + ms[1] + ms[2];

// A full bar is the longest step that is not far above most others; what is longer is cut.
function scaleBars(ui, { steps, top: [top, words] }) {
  ui.bars.style.setProperty("--top", top);
  const cut = steps.filter((step, i) => ui.bars.children[i + 1].classList.toggle("gv-cut", costOf(step) > 1.001 * top));
  setText(ui.scale, `a full bar is ${words}${cut.length ? ", ≈ is longer" : ""}`);
}

function paintSteps(ui, view, same) {
  const add = view.steps.slice(same);
  const cut = (parent, count) => { while (parent.children.length > count) parent.lastChild.remove(); };
  cut(ui.chips, same);
  cut(ui.bars, same + 1);
  if (!ui.bars.firstChild) ui.bars.append(make("i", { class: "gv-prompt-bar" }));
  ui.chips.append(...add.map((step, i) => chip(step, same + i)));
  ui.bars.append(...add.map(timebar));
  if (add.length) scaleBars(ui, view);
}

function paintCursor(ui, view, same) {
  const [low, high] = [Math.min(ui.marked ?? 0, view.cursor, same), Math.max(ui.marked ?? 0, view.cursor, view.steps.length - 1)];
  const [gone, was] = [takenBack(view.steps, view.cursor), ui.gone ?? new Set()];
  const mark = (node, i) => {
    node?.classList.toggle("gv-now", i === view.cursor - 1);
    node?.classList.toggle("gv-ahead", i >= view.cursor);
  };
  for (const i of new Set([...gone, ...was])) ui.chips.children[i]?.classList.toggle("gv-gone", gone.has(i));
  ui.gone = gone;
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
  const facts = [["state", step.state], ["stack", view.machine?.stack ? "" : [...step.stack].reverse().join(" › ")], ["drawn", step.drawn]];
  const said = facts.filter(([, value]) => value);
  if (ui.facts.dataset.said !== String(said)) {
    ui.facts.dataset.said = said;
    ui.facts.replaceChildren(...said.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
  }
  ui.hint.hidden = Boolean(view.why);
  const ways = step.free ? "Press a bar to take that token instead." : "Press a bar to take that token instead; press a struck one to hear why it is forbidden.";
  ui.root.classList.toggle("gv-unasked", step.how === "forced");
  setText(ui.hint, step.how === "forced" ? UNASKED : ways);
  ui.spent.forEach((node, i) => setText(node, `${PARTS[i]} ${step.times[i]}`));
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
  paintEdit(ui.edit, view);
  markRejected(ui, view);
  paintHungMap(ui.map, view);
  paintHungDiagram(ui.machine, view);
  paintHungStack(ui.stack, ui.machine, view);
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
    if (kind === "number" || kind === "textarea") return;
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
  const view = { head: null, steps: [], cursor: 0, known: {}, colour: "odds", height: "odds" };
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
      Object.assign(view.known, standing.stacks, standing.why?.stacks);
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
  render: ({ model, el }) => ({ bias: showBias, fraction: showFraction, map: showMap, table: showTable, film: showFilm, fold: showFold })[model.get("kind")]?.(model, el) ?? showStage(model, el),
};
