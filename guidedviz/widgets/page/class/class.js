// The teacher's page: who is connected, where they stand, and how they answered. It asks the host every two seconds with
// the teacher's token, and keeps nothing.

import { make, setText } from "../shared/elements.js";
import { headersWith } from "../shared/host.js";

/** @typedef {{ id: string, lab: string, text: string, answers: number, sessions?: number, bars: [answer: string, count: number][] }} Question */
/** @typedef {{ nickname: string, lab: string, place: string, state: keyof typeof SIGNS, ago: number }} Standing */
/** @typedef {{ name: string, steps: number, ms: number, ago: number }} Student */
/**
 * The project of a student: the state of each milestone, and the ratios of compile, first and warm mask.
 * @typedef {{ nickname: string, milestones: [name: string, state: keyof typeof SIGNS][], ratios: (number | null)[] }} Project
 */
/**
 * What the host says about the class.
 * @typedef {{ facts: string, run: { steps: number, followers: number } | null, students: Student[], standing: Standing[], projects: Project[], questions: Question[], open: string }} Class
 */

const PAUSE = 2000; // milliseconds between two looks
const LONGEST = 80; // characters of a question in the list of questions
const SIGNS = { open: "○ not done yet", answered: "● answered", right: "✓ right", wrong: "✗ not yet right" };
const RESTARTED = "What it knew of the class is gone. Students report again with their next step or check.";
let token = "";
let start = ""; // which start of the host has answered last
/** @type {any} */
let timer = 0;
/** @type {Question[]} */
let questions = [];
let open = "";

/** @param {string} id */
const find = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
/** @param {string} id */
const field = (id) => /** @type {HTMLInputElement} */ (find(id));

/**
 * @param {"GET" | "POST"} method
 * @param {string} path
 */
async function ask(method, path) {
  const body = method === "POST" ? "{}" : undefined;
  const headers = headersWith(token, Boolean(body));
  const answer = await fetch(path, { method, headers, body, cache: "no-store" });
  hear(answer.headers.get("X-Guidedviz-Start") ?? "");
  const said = await answer.json();
  if (!answer.ok) throw new Error(`${said.error.seen}; expected ${said.error.expected}`);
  return said;
}

/**
 * Says that the host has started again, if this answer comes from another start than the last one.
 * @param {string} now
 */
function hear(now) {
  if (start && now && now !== start) {
    setText(find("restarted"), `The host restarted; noticed at ${new Date().toLocaleTimeString()}. ${RESTARTED}`);
  }
  start = now || start;
}

async function look() {
  clearTimeout(timer);
  try {
    show(await ask("GET", "v1/class"));
    find("enter").hidden = true;
    find("class").hidden = false;
    tell("");
  } catch (error) {
    tell(/** @type {Error} */ (error).message);
    if (find("class").hidden) find("enter").hidden = false;
  }
  if (field("updates").checked) timer = setTimeout(look, PAUSE);
}

/** @param {string} words */
function tell(words) {
  setText(find("said"), words);
}

/**
 * @param {number} count
 * @param {string} what
 */
const say = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;

/** @param {number} seconds */
const sayAgo = (seconds) => (seconds < 90 ? `${seconds} s ago` : `${Math.round(seconds / 60)} min ago`);

/**
 * A text as nodes: what stands between two backticks is code, as in the notebook.
 * @param {string} text
 */
function marked(text) {
  const parts = text.split("`");
  return parts.length % 2 ? parts.map((part, place) => (place % 2 ? make("code", {}, part) : part)) : [text];
}

/**
 * Fills a table, or says that there is nothing.
 * @param {string} id
 * @param {HTMLElement[][]} rows
 */
function fill(id, rows) {
  const body = find(id);
  body.replaceChildren(...rows.map((cells) => make("tr", {}, ...cells)));
  find(`${id}-none`).hidden = rows.length > 0;
  /** @type {HTMLElement} */ (body.parentElement).hidden = rows.length === 0;
}

/** @param {number | string} value */
const number = (value) => make("td", { class: "number" }, String(value));
/** @param {...(Node | string)} words */
const cell = (...words) => make("td", {}, ...words);

/** @param {Class} said */
function show(said) {
  ({ questions, open } = said);
  const { run } = said;
  setText(find("facts"), said.facts);
  setText(find("run"), run ? `A run is shown to everyone. Steps: ${run.steps}, students who follow it: ${run.followers}` : "No run is shown.");
  fill("students", said.students.map((one) => [cell(one.name), number(one.steps), number(one.ms), number(sayAgo(one.ago))]));
  fill("standing", said.standing.map((one) => [
    cell(one.nickname), cell(one.lab), cell(...marked(one.place)), cell(SIGNS[one.state]), number(sayAgo(one.ago)),
  ]));
  fill("projects", said.projects.map((one) => {
    const right = one.milestones.filter(([, state]) => state === "right");
    const signs = one.milestones.map(([name, state]) => `${SIGNS[state].slice(0, 1)}\u00a0${name}`);
    return [cell(one.nickname), number(`${right.length} of ${signs.length}`), cell(signs.join(" · "))];
  }));
  showBoard(said.projects);
  showChoice();
  showQuestion();
}

/**
 * The board of the races, the fastest warm mask first; a race that was not run has no row.
 * @param {Project[]} projects
 */
function showBoard(projects) {
  const run = projects.filter((one) => one.ratios.some((ratio) => ratio !== null));
  const warm = (/** @type {Project} */ one) => one.ratios[2] ?? Infinity;
  run.sort((one, other) => (warm(one) < warm(other) ? -1 : 1));
  fill("ratios", run.map((one) => [cell(one.nickname), ...one.ratios.map((ratio) => number(ratio === null ? "" : `${spell(ratio)}×`))]));
}

/** @param {number} ratio */
const spell = (ratio) => (ratio >= 10 ? Math.round(ratio).toLocaleString("en") : Number(ratio.toPrecision(2)).toString());

/** The list of questions; what is chosen stays chosen. */
function showChoice() {
  const choice = field("choice"), names = questions.map((one) => one.id).join();
  if (choice.dataset.names === names) return;
  const before = choice.value;
  choice.dataset.names = names;
  const options = questions.map(({ id, lab, text }) => {
    const short = text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;
    return make("option", { value: id }, lab ? `${lab}: ${short}` : short);
  });
  const newest = make("option", {}, "the one that most students answered last");
  newest.value = ""; // it has its text as value else
  choice.replaceChildren(newest, ...options);
  choice.value = questions.some((one) => one.id === before) ? before : "";
}

/** The chosen question with its bars. */
function showQuestion() {
  const id = field("choice").value || open;
  const { text, answers, sessions, bars } = questions.find((one) => one.id === id) ?? { text: "", answers: 0, bars: [] };
  find("question").replaceChildren(...marked(text));
  setText(find("answers"), say(answers, "answer") + (sessions === undefined ? "" : ` from ${say(sessions, "session")}`));
  const most = Math.max(1, ...bars.map(([, count]) => count));
  fill("bars", bars.map(([answer, count]) => {
    const bar = make("div");
    bar.style.width = `${(100 * count) / most}%`;
    return [make("th", { scope: "row" }, ...marked(answer)), number(count), make("td", { class: "bar", "aria-hidden": "true" }, bar)];
  }));
}

async function forget() {
  try {
    await ask("POST", "v1/class/forget");
    await look();
    tell("Forgotten: where students stand, and their answers.");
  } catch (error) {
    tell(/** @type {Error} */ (error).message);
  }
}

find("enter").addEventListener("submit", (event) => {
  event.preventDefault();
  token = field("token").value.trim();
  look();
});
find("choice").addEventListener("change", showQuestion);
find("updates").addEventListener("change", look);
find("board").addEventListener("change", () => {
  find("race").hidden = !field("board").checked;
});
find("forget").addEventListener("click", forget);
look();
