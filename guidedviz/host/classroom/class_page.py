"""The teacher's page, `/class`: who is connected, where they stand, and how they answered. All of it is in memory only.

The page itself holds nothing; it asks `/v1/class` with the teacher's token, every two seconds. What it shows is set as
text, never as HTML.
"""

from __future__ import annotations

import base64
import hashlib

STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; --bar: #1f6fb2; }
@media (prefers-color-scheme: dark) { :root { --bar: #6db3f2; } }
body { max-width: 64rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin: 2rem 0 0.5rem; font-size: 1.25rem; }
table { border-collapse: collapse; width: 100%; }
caption { text-align: left; padding: 0.25rem 0; }
th, td { text-align: left; vertical-align: top; padding: 0.25rem 0.75rem 0.25rem 0; border-bottom: 1px solid; }
th, td { overflow-wrap: anywhere; }
thead th, .name { overflow-wrap: break-word; }
.state { white-space: nowrap; }
.number { text-align: right; white-space: nowrap; }
.bar { width: 50%; }
.bar div { height: 1.1rem; background: var(--bar); }
input, button, select { font: inherit; padding: 0.25rem 0.5rem; max-width: 100%; }
:focus-visible { outline: 3px solid var(--bar); outline-offset: 2px; }
#question { font-weight: bold; overflow-wrap: anywhere; }
@media (forced-colors: active) { .bar div { background: CanvasText; forced-color-adjust: none; } }
"""
SCRIPT = """
const find = (id) => document.getElementById(id);
const SIGNS = { open: "○ not done yet", answered: "● answered", right: "✓ right", wrong: "✗ not yet right" };
let token = "", timer = 0, questions = [], open = "";
async function ask(path, method) {
  const headers = token ? { Authorization: "Bearer " + token } : {};
  const answer = await fetch(path, { method, headers, cache: "no-store" });
  const said = await answer.json();
  if (!answer.ok) throw new Error(said.error.seen + "; expected " + said.error.expected);
  return said;
}
async function look() {
  clearTimeout(timer);
  try {
    show(await ask("v1/class", "GET"));
    find("enter").hidden = true;
    find("class").hidden = false;
    tell("");
  } catch (error) {
    tell(String(error.message));
    if (find("class").hidden) find("enter").hidden = false;
  }
  if (find("updates").checked) timer = setTimeout(look, 2000);
}
function tell(words) {
  if (find("said").textContent !== words) find("said").textContent = words;
}
function make(tag, text, kind) {
  const node = document.createElement(tag);
  node.textContent = String(text);
  if (kind) node.className = kind;
  return node;
}
function fill(id, rows) {
  find(id).replaceChildren(...rows.map((cells) => {
    const row = document.createElement("tr");
    row.append(...cells);
    return row;
  }));
  find(id + "-none").hidden = rows.length > 0;
  find(id).parentElement.hidden = rows.length === 0;
}
const since = (seconds) => seconds < 90 ? seconds + " s" : Math.round(seconds / 60) + " min";
function write(node, text) {  // what stands between two backticks is code, as in the notebook
  const parts = text.split("`"), paired = parts.length % 2;
  node.replaceChildren(...(paired ? parts.map((part, place) => make(place % 2 ? "code" : "span", part)) : [text]));
  return node;
}
function show(said) {
  ({ questions, open } = said);
  find("facts").textContent = said.facts;
  find("run").textContent = said.run
    ? "A run is shown to everyone. Steps: " + said.run.steps + ", students who follow it: " + said.run.followers
    : "No run is shown.";
  fill("students", said.students.map((one) => [
    make("td", one.name), make("td", one.steps, "number"), make("td", one.ms, "number"), make("td", one.ago, "number"),
  ]));
  fill("standing", said.standing.map((one) => [
    make("td", one.nickname, "name"), make("td", one.lab, "name"), write(make("td", ""), one.place),
    make("td", SIGNS[one.state], "state"), make("td", since(one.ago), "number"),
  ]));
  showChoice();
  showQuestion();
}
function showChoice() {
  const chosen = find("choice"), names = ["", ...questions.map((one) => one.id)];
  if (chosen.dataset.names === names.join()) return;
  const before = chosen.value;
  chosen.dataset.names = names.join();
  const words = (one) => (one.lab && one.lab + ": ") + (one.text.length > 80 ? one.text.slice(0, 79) + "…" : one.text);
  const first = make("option", "the one that most students answered last");
  chosen.replaceChildren(first, ...questions.map((one) => make("option", words(one))));
  [...chosen.options].forEach((option, place) => (option.value = names[place]));
  chosen.value = names.includes(before) ? before : "";
}
function showQuestion() {
  const shown = questions.find((one) => one.id === (find("choice").value || open));
  write(find("question"), shown ? shown.text : "");
  find("answers").textContent = shown ? shown.answers + (shown.answers === 1 ? " answer" : " answers") : "";
  const most = Math.max(1, ...(shown ? shown.bars.map((bar) => bar[1]) : []));
  fill("bars", (shown ? shown.bars : []).map(([label, count]) => {
    const bar = document.createElement("td"), inside = document.createElement("div");
    bar.className = "bar";
    bar.setAttribute("aria-hidden", "true");
    inside.style.width = (100 * count) / most + "%";
    bar.append(inside);
    const name = write(make("th", ""), label);
    name.scope = "row";
    return [name, make("td", count, "number"), bar];
  }));
}
find("enter").addEventListener("submit", (event) => {
  event.preventDefault();
  token = find("token").value.trim();
  look();
});
find("choice").addEventListener("change", showQuestion);
find("updates").addEventListener("change", look);
find("forget").addEventListener("click", async () => {
  try {
    await ask("v1/class/forget", "POST");
    await look();
    tell("Forgotten: where students stand, and their answers.");
  } catch (error) {
    tell(String(error.message));
  }
});
look();
"""
PAGE = f"""<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>The class</title>
<style>{STYLE}</style></head>
<body><main>
<h1>The class</h1>
<p id="said" role="status"></p>
<form id="enter" hidden><label for="token">Token of the teacher</label>
<input id="token" type="password" autocomplete="off"> <button>Show</button></form>
<div id="class" hidden>
<p id="facts"></p>
<p id="run"></p>
<p><label><input id="updates" type="checkbox" checked> update every two seconds</label></p>
<h2>Predictions</h2>
<p id="bars-none">No answers yet. Students who gave a nickname send the answers to the questions of the labs.</p>
<p><label for="choice">Question</label> <select id="choice"></select></p>
<p id="question"></p>
<table><caption id="answers"></caption>
<thead><tr><th scope="col">answer</th><th scope="col" class="number">students</th><td></td></tr></thead>
<tbody id="bars"></tbody></table>
<h2>Where students stand</h2>
<p id="standing-none">No student has given a nickname.</p>
<table><caption>Students who gave a nickname</caption>
<thead><tr><th scope="col">nickname</th><th scope="col">lab</th><th scope="col">check or question</th>
<th scope="col">state</th><th scope="col" class="number">since</th></tr></thead>
<tbody id="standing"></tbody></table>
<p><button id="forget" type="button">Forget where students stand, and their answers</button></p>
<h2>Steps</h2>
<p id="students-none">Nobody has taken a step in the last minute.</p>
<table><caption>Students of the last minute</caption>
<thead><tr><th scope="col">student</th><th scope="col" class="number">steps</th>
<th scope="col" class="number">median, ms</th>
<th scope="col" class="number">seconds since the last step</th></tr></thead>
<tbody id="students"></tbody></table>
</div>
</main><script>{SCRIPT}</script></body>
</html>
"""


def digest(text: str) -> str:
    """The digest by which a page allows one script or style."""
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


POLICY = (
    f"default-src 'none'; script-src {digest(SCRIPT)}; style-src {digest(STYLE)}; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
