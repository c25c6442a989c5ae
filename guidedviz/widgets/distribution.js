// Building blocks that every widget of the house shares. Text reaches the page as text nodes only, never as HTML:
// a vocabulary holds "<script>".

const SVG = "http://www.w3.org/2000/svg";
const MARKS = new Set("␣↵⇥");

function make(tag, attributes = {}, ...inside) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") for (const [event, act] of Object.entries(value)) node.addEventListener(event, act);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...inside);
  return node;
}

function icon(path) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  const line = document.createElementNS(SVG, "path");
  line.setAttribute("d", path);
  svg.append(line);
  return svg;
}

// A token's text; the signs that stand for white space are paler than letters.
function spell(node, label) {
  if (node.dataset.label === label) return;
  node.dataset.label = label;
  const parts = label.split(/([␣↵⇥]+)/).filter(Boolean);
  node.replaceChildren(...parts.map((part) => (MARKS.has(part[0]) ? make("i", { class: "gv-mark" }, part) : part)));
}

function odds(p) {
  if (p === 0 || p === 1) return String(p);
  return p < 0.005 ? "<0.01" : p > 0.995 ? ">0.99" : p.toFixed(2);
}

function percent(share) {
  return `${(100 * Math.max(0, Math.min(1, share))).toFixed(2)}%`;
}

function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// --- the distribution: one row a token, its probability before (outlined) and after (filled) ---

function buildRow(pick) {
  const digit = make("kbd", { "aria-hidden": "true" });
  const name = make("span", { class: "gv-name" });
  const before = make("span", { class: "gv-before" });
  const after = make("span", { class: "gv-after" });
  const bars = make("span", { class: "gv-bars", "aria-hidden": "true" }, before, after);
  const said = make("span", { class: "gv-said" });
  const node = make("button", { class: "gv-row", type: "button" }, digit, name, bars, said);
  node.addEventListener("click", () => pick?.(Number(node.dataset.token)));
  return { node, digit, name, before, after, said };
}

function paintRow(row, [token, label, raw, drawn, legal], chosen, words, free) {
  row.node.dataset.token = token;
  row.node.classList.toggle("gv-struck", !legal);
  row.node.classList.toggle("gv-chosen", chosen);
  spell(row.name, label);
  row.before.style.width = percent(raw);
  row.after.style.width = percent(drawn);
  setText(row.said, free ? odds(raw) : `${odds(raw)} → ${legal ? odds(drawn) : "forbidden"}`);
  const state = legal ? words.legal : words.forbidden;
  const now = chosen ? `, ${words.chosen}` : "";
  row.node.setAttribute("aria-label", `${label}: ${odds(raw)} before, ${odds(drawn)} after${now}. ${state}`);
  row.node.title = chosen ? words.chosen : state;
}

function buildDistribution(count, pick, names = ["before", "after the mask"]) {
  const rows = Array.from({ length: count }, () => buildRow(pick));
  rows.forEach((row, place) => setText(row.digit, pick && place < 9 ? String(place + 1) : ""));
  const rest = buildRow(null);
  const others = make("div", { class: "gv-row gv-rest" }, ...rest.node.childNodes);
  rest.name.textContent = "all others";
  const legend = make("span", { class: "gv-legend" });
  const after = make("span", {}, names[1]);
  legend.append(make("i", { class: "gv-before" }), names[0], make("i", { class: "gv-after" }), after);
  const node = make("div", { class: "gv-rows" }, ...rows.map((row) => row.node), others);
  return { node, legend, after, rows, rest, others };
}

const WORDS = {
  legal: "Press to take it instead.",
  forbidden: "Forbidden here; press to hear why.",
  chosen: "this one was taken",
};

// Where nothing is forbidden, before and after are the same and one bar is enough.
function paintDistribution(parts, candidates, chosen, rest, words = WORDS, free = false) {
  parts.node.classList.toggle("gv-free", free);
  parts.legend.hidden = free;
  parts.rows.forEach((row, place) => {
    row.node.hidden = place >= candidates.length;
    if (place < candidates.length) paintRow(row, candidates[place], chosen.has(candidates[place][0]), words, free);
  });
  parts.rest.before.style.width = percent(rest[0]);
  parts.rest.after.style.width = percent(rest[1]);
  setText(parts.rest.said, free ? odds(rest[0]) : `${odds(rest[0])} → ${odds(rest[1])}`);
}

function buildMeter(label) {
  const fill = make("span", { class: "gv-fill" });
  const number = make("b");
  const track = make("span", { class: "gv-track", role: "meter", "aria-label": label, "aria-valuemin": 0, "aria-valuemax": 1 }, fill);
  const node = make("div", { class: "gv-meter" }, make("span", {}, label), track, number);
  return { node, track, fill, number };
}

function paintMeter(meter, share, words = odds(share)) {
  meter.fill.style.width = percent(share);
  meter.track.setAttribute("aria-valuenow", share.toFixed(3));
  setText(meter.number, words);
}

// --- talking with the kernel: say something, hear what changed, paint once a frame, answer when it is painted ---

function connect(model, { onNews, onSilence }) {
  let silence = 0;
  const say = (content) => {
    model.send(content);
    clearTimeout(silence);
    silence = setTimeout(onSilence, 2500);
  };
  const waiting = [];
  let owed = 0;
  let timer = 0;
  const answer = () => {
    timer = 0;
    model.send({ do: "painted", number: owed });
  };
  const paint = () => {
    const now = waiting.splice(0, waiting.length > 4 ? waiting.length : 1); // messages come in bunches: one a frame
    onNews(now);
    owed = now.at(-1).number;
    timer ||= setTimeout(answer, 40); // an answer costs the kernel more than a picture: one for several
    if (waiting.length) nextFrame(paint);
  };
  const hear = (news) => {
    clearTimeout(silence);
    if (waiting.push(news) === 1) nextFrame(paint);
  };
  model.on("msg:custom", hear);
  say({ do: "hello" });
  return { say, stop: () => (clearTimeout(silence), clearTimeout(timer), model.off("msg:custom", hear)) };
}

const SILENCE = "The kernel does not answer. It is busy, or it was restarted: then run this cell again.";

// At the next frame; a hidden page has no frames, so not later than a fifth of a second.
function nextFrame(act) {
  let done = false;
  const once = () => done || ((done = true), act());
  requestAnimationFrame(once);
  setTimeout(once, 200);
}
