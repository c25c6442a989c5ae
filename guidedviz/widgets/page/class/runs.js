// The list of runs: how each answer of the host ended, two of them side by side, and a text from elsewhere. It asks the
// host every two seconds with the token of whoever looks, and keeps nothing.

import { make, setText } from "../shared/elements.js";
import { headersWith, sayRefusal } from "../shared/host.js";

/** @typedef {{ name: string, began: number, enforced: string, verdict: string, least: number, step: number, tokens: number, model_ms: number, mask_ms: number, text: string }} Run */

const PAUSE = 2000; // milliseconds between two looks
const LARGEST = 500_000; // characters of a file that is dropped
const SIGNS = { "going on": "… ", complete: "✓ ", cut: "✂ ", stopped: "■ ", "dead end": "✗ ", refused: "✗ " };
let token = "";
/** @type {any} */
let timer = 0;
/** @type {Run[]} */
let runs = [];
/** @type {string[]} */
let chosen = [];

/** @param {string} id */
const find = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
/** @param {string} id */
const field = (id) => /** @type {HTMLInputElement} */ (find(id));

/**
 * @param {string} path
 * @param {any} [body]
 */
async function ask(path, body) {
  const headers = headersWith(token, Boolean(body));
  const answer = await fetch(path, { method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body), cache: "no-store" });
  const said = await answer.json();
  if (!answer.ok) throw new Error(sayRefusal(said.error));
  return said;
}

async function look() {
  clearTimeout(timer);
  try {
    ({ runs } = await ask("v1/runs"));
    find("enter").hidden = true;
    find("class").hidden = false;
    setText(find("said"), "");
    show();
  } catch (error) {
    setText(find("said"), /** @type {Error} */ (error).message);
    if (find("class").hidden) find("enter").hidden = false;
  }
  if (field("updates").checked) timer = setTimeout(look, PAUSE);
}

/** @param {number} value */
const number = (value) => make("td", { class: "number" }, value >= 0.01 || !value ? value.toFixed(2) : value.toExponential(0));

/** @param {Run} run */
function row(run) {
  const address = `runs/${encodeURIComponent(run.name)}`;
  const box = make("input", { type: "checkbox", "aria-label": `choose the run ${run.text.slice(0, 40)}` });
  box.type = "checkbox";
  box.checked = chosen.includes(run.name);
  box.addEventListener("change", () => choose(run.name, box.checked));
  const sign = SIGNS[/** @type {keyof typeof SIGNS} */ (run.verdict)] ?? "";
  return make("tr", {},
    make("td", {}, box),
    make("td", { class: "number" }, new Date(run.began * 1000).toLocaleTimeString()),
    make("td", {}, run.enforced || "nothing"),
    make("th", { scope: "row" }, make("a", { href: address }, sign + run.verdict)),
    make("td", { class: "number" }, make("a", { href: `${address}?step=${run.step}` }, run.least >= 0.01 ? run.least.toFixed(2) : run.least.toExponential(0))),
    make("td", { class: "number" }, String(run.tokens)),
    number(run.model_ms), number(run.mask_ms),
    make("td", {}, run.text));
}

function show() {
  const wanted = field("verdict").value;
  const rows = runs.filter((run) => !wanted || run.verdict === wanted).map(row);
  const focused = document.activeElement?.closest("tr")?.rowIndex ?? 0;
  find("runs").replaceChildren(...rows);
  if (focused) rows[focused - 1]?.querySelector("input")?.focus();
  find("runs-none").hidden = rows.length > 0;
}

/**
 * @param {string} name
 * @param {boolean} on
 */
function choose(name, on) {
  chosen = [...chosen.filter((other) => other !== name), ...(on ? [name] : [])].slice(-2);
  field("beside").disabled = chosen.length < 2;
  show();
}

async function inspect() {
  const constraint = field("constraint").value;
  try {
    const body = { text: field("text").value, structured_outputs: { [field("kind").value]: constraint } };
    const prompt = field("prompt").value;
    const said = await ask("v1/inspect", prompt ? { ...body, prompt } : body);
    setText(find("found"), said.words);
    find("inspected").hidden = false;
    find("inspected").setAttribute("href", new URL(said.run).pathname);
    look();
  } catch (error) {
    find("inspected").hidden = true;
    setText(find("found"), /** @type {Error} */ (error).message);
  }
}

for (const id of ["constraint", "prompt", "text"]) {
  const area = find(id);
  area.addEventListener("dragover", (event) => event.preventDefault());
  area.addEventListener("drop", async (event) => {
    const file = event.dataTransfer?.files[0];
    if (!file) return;
    event.preventDefault();
    if (file.size > LARGEST) setText(find("found"), `${file.name}: more than ${LARGEST} bytes`);
    else field(id).value = await file.text();
  });
}
find("enter").addEventListener("submit", (event) => {
  event.preventDefault();
  token = field("token").value.trim();
  look();
});
find("inspect").addEventListener("submit", (event) => {
  event.preventDefault();
  inspect();
});
find("verdict").addEventListener("change", show);
find("updates").addEventListener("change", look);
find("beside").addEventListener("click", () => location.assign(`runs/${chosen.map(encodeURIComponent).join("/")}`));
look();
