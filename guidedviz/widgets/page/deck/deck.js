// A deck: one slide at a time. The keys of a presenter move it; a question first gets its answer. The speaker's view is a
// second window of the same page; the two tell each other at which slide they are.
//
// The script stands in the head before the player, so that the page has its theme before a recording plays.

import { make, setText } from "../shared/elements.js";

const speaks = location.hash.startsWith("#speaker");
const WIDGET = ".gv-stage, input, button, a, summary";
const HELP = "→ or space: next · ←: back · Home, End · f: full screen · s: speaker's view · d: dark or light · Ctrl+P: print or save as PDF · Esc: from a stage back to the deck";
/** @type {Window | null} */
let peer = speaks ? window.opener : null;
/** @type {HTMLElement[]} */
let slides = [];
let at = 0;
const LEAST = 0.5; // of its size, for what plays
const SMALLEST = 0.2; // of the room of a slide, for a picture of an answer
const GAP = 8; // pixels between two of them
const began = Date.now();
const count = make("output", { class: "count" });
const clock = make("p", { class: "clock" });
const help = make("p", { class: "help", role: "status" });

/** @param {HTMLElement} slide */
const answerOf = (slide) => /** @type {HTMLDetailsElement | null} */ (slide.matches(".question") ? slide.querySelector(".shown details") : null);

/**
 * Opens or closes the answer of a question, and marks the true choice.
 * @param {HTMLElement} slide
 * @param {boolean} open
 */
function reveal(slide, open) {
  const answer = answerOf(slide);
  if (!answer) return;
  answer.open = open;
  slide.classList.toggle("told", open);
  const truth = answer.querySelector("p")?.textContent;
  for (const choice of slide.querySelectorAll(".shown ul > li")) choice.classList.toggle("true", open && choice.textContent === truth);
  if (open) giveRoom(slide, answer);
}

/**
 * The pictures of an answer share the room that its texts leave. What has no room is left out: it is in the notes.
 * @param {HTMLElement} slide
 * @param {HTMLDetailsElement} answer
 */
function giveRoom(slide, answer) {
  const shown = /** @type {HTMLElement} */ (slide.querySelector(".shown"));
  const texts = /** @type {HTMLElement} */ (shown.firstElementChild);
  const pictures = answer.querySelectorAll("img, svg:not(svg svg)").length;
  slide.classList.remove("brief");
  answer.style.setProperty("--picture", "0");
  const room = shown.clientHeight - texts.offsetHeight - GAP;
  const each = Math.floor(room / Math.max(pictures, 1)) - GAP;
  slide.classList.toggle("brief", room < 0 || (pictures > 0 && each < SMALLEST * shown.clientHeight));
  answer.style.setProperty("--picture", String(each));
}

/**
 * @param {number} place
 * @param {boolean} told whether the answer of a question is shown
 */
function show(place, told) {
  at = Math.max(0, Math.min(place, slides.length - 1));
  slides.forEach((slide, number) => {
    slide.classList.toggle("now", number === at);
    slide.classList.toggle("next", number === at + 1);
    slide.inert = speaks && number !== at;
  });
  reveal(slides[at], told);
  shrink(slides[at]);
  setText(count, `${at + 1} / ${slides.length}`);
  history.replaceState(null, "", speaks ? `#speaker=${at + 1}` : `#${at + 1}`);
}

const isTold = () => Boolean(answerOf(slides[at])?.open);

/**
 * @param {number} place
 * @param {boolean} told
 */
function move(place, told) {
  show(place, told);
  peer?.postMessage({ slide: at, told: isTold() }, "*"); // a page from a file has no origin
}

function forward() {
  const answer = answerOf(slides[at]);
  if (answer && !answer.open) move(at, true);
  else if (at + 1 < slides.length) move(at + 1, false);
}

function back() {
  if (isTold()) move(at, false);
  else if (at > 0) move(at - 1, Boolean(answerOf(slides[at - 1])));
}

function turnTheme() {
  const { dataset } = document.body;
  dataset.jpThemeLight = String(dataset.jpThemeLight === "false");
}

function turnScreen() {
  if (document.fullscreenElement) document.exitFullscreen();
  else document.documentElement.requestFullscreen();
}

function openSpeaker() {
  if (!speaks) peer = window.open(`${location.pathname}${location.search}#speaker=${at + 1}`, "guidedviz-speaker", "width=1100,height=760");
}

/** @type {Record<string, () => void>} */
const ACTS = {
  ArrowRight: forward, ArrowDown: forward, " ": forward, Enter: forward, PageDown: forward,
  ArrowLeft: back, ArrowUp: back, PageUp: back,
  Home: () => move(0, false), End: () => move(slides.length - 1, false),
  f: turnScreen, s: openSpeaker, d: turnTheme, "?": () => setText(help, help.textContent ? "" : HELP),
};

/** @param {KeyboardEvent} event */
function press(event) {
  const inside = /** @type {Element} */ (event.target).closest(WIDGET);
  if (event.key === "Escape" && inside) /** @type {HTMLElement} */ (document.activeElement)?.blur();
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (inside && !event.key.startsWith("Page")) return; // a clicker moves the deck also from inside a stage
  const act = ACTS[event.key];
  if (!act) return;
  event.preventDefault();
  act();
}

/** @param {MessageEvent} event */
function hear({ source, data }) {
  if (source !== peer || !peer || !Number.isInteger(data?.slide)) return;
  show(data.slide, data.told === true);
}

/** What plays is laid out for a window of its own size, so it is enlarged with the slide. */
function fit() {
  document.body.style.setProperty("--scale", String(Math.min(window.innerWidth / 1280, window.innerHeight / 720)));
  reveal(slides[at], isTold());
  shrink(slides[at]);
}

/**
 * Makes what plays smaller until it has room on its slide.
 * @param {HTMLElement} slide
 */
function shrink(slide) {
  const place = /** @type {HTMLElement | null} */ (slide.querySelector(".gv-place"));
  if (!place) return;
  for (let size = 1; size >= LEAST; size -= 0.05) {
    place.style.setProperty("--fit", String(size));
    if (place.scrollHeight <= place.clientHeight + 1) return;
  }
}

function tick() {
  const seconds = Math.floor((Date.now() - began) / 1000);
  setText(clock, `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")} since the start`);
}

/**
 * @param {string} sign
 * @param {string} name
 * @param {() => void} act
 */
function button(sign, name, act) {
  const made = make("button", { "aria-label": name }, sign);
  made.type = "button";
  made.addEventListener("click", () => {
    act();
    made.blur(); // the keys belong to the deck
  });
  return made;
}

function start() {
  slides = [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".slide"))];
  document.body.dataset.jpThemeLight = String(!matchMedia("(prefers-color-scheme: dark)").matches);
  document.body.classList.toggle("speaker", speaks);
  if (speaks) {
    document.querySelectorAll(".gv-place").forEach((place) => place.remove()); // only the pictures
    for (const answer of document.querySelectorAll(".notes details")) /** @type {HTMLDetailsElement} */ (answer).open = true;
    setInterval(tick, 1000);
    tick();
  }
  const bar = make("nav", { "aria-label": "slides" }, button("‹", "previous slide", back), count, button("›", "next slide", forward));
  document.querySelector("main")?.append(bar, clock, help);
  const watcher = new MutationObserver(() => shrink(slides[at])); // it plays now: its picture has left
  slides.forEach((slide) => watcher.observe(/** @type {Element} */ (slide.querySelector(".shown")), { childList: true }));
  fit();
  window.addEventListener("resize", fit);
  show(Number(/\d+/.exec(location.hash)?.[0] ?? 1) - 1, false);
  document.addEventListener("keydown", press);
  window.addEventListener("message", hear);
}

document.addEventListener("DOMContentLoaded", start);
