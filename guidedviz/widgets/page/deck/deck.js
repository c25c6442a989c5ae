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
const MOST = 1.5; // of its size, for what plays; a stage fills its room anyway
const STEP = 0.05;
const SMALLEST = 0.2; // of the room of a slide, for a picture of an answer
const SMALLEST_SCALE = 0.8; // of its own size, for a picture that stood before a question
const ASIDE = 0.6; // of the width of a slide, for a picture beside the words of an answer
const SMALLEST_TEXT = 20; // pixels of a slide of 1280 by 720
const LARGEST_TEXT = 32;
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
  giveRoom(slide, answer);
}

/**
 * What an answer shows shares the room that its words leave: texts as large as they fit; pictures below the words, side
 * by side, or one beside the words. What has no room is left out: it is in the notes. If there is room, the question
 * keeps what stood before it.
 * @param {HTMLElement} slide
 * @param {HTMLDetailsElement} answer
 */
function giveRoom(slide, answer) {
  const shown = /** @type {HTMLElement} */ (slide.querySelector(".shown"));
  const words = /** @type {HTMLElement} */ (shown.firstElementChild);
  const pictures = answer.open ? picturesIn(answer) : [];
  const many = pictures.length;
  const free = () => shown.clientHeight - words.offsetHeight - GAP;
  slide.classList.remove("brief", "beside", "aside", "recalls");
  slide.classList.toggle("pictured", many > 0);
  answer.style.setProperty("--picture", "0");
  answer.style.setProperty("--count", String(many));
  enlarge(answer, many ? SMALLEST_TEXT : LARGEST_TEXT, free);
  const below = Math.floor(free() / Math.max(many, 1)) - GAP;
  const layouts = [{ name: "", height: below, size: scale(pictures, words.clientWidth, below) }];
  if (many > 1) layouts.push({ name: "beside", height: free() - GAP, size: scale(pictures, words.clientWidth / many, free() - GAP) });
  if (many === 1) {
    slide.classList.add("aside");
    if (free() > 0 && !isBroken(answer)) layouts.push({ name: "aside", height: shown.clientHeight - GAP, size: scale(pictures, ASIDE * shown.clientWidth, shown.clientHeight - GAP) });
    slide.classList.remove("aside");
  }
  const best = layouts.reduce((most, layout) => (layout.size > most.size ? layout : most));
  if (best.name) slide.classList.add(best.name);
  slide.classList.toggle("brief", free() < 0 || (many > 0 && best.height < SMALLEST * shown.clientHeight));
  answer.style.setProperty("--picture", String(best.height));
  recall(slide, many > 0 && !slide.matches(".brief") ? 0 : free());
}

/**
 * Shows what stood before a question, if it can be read in this room.
 * @param {HTMLElement} slide
 * @param {number} room
 */
function recall(slide, room) {
  const before = slide.querySelector(".before");
  if (!before || room < SMALLEST * slide.clientHeight) return;
  if (scale(picturesIn(before), slide.clientWidth, room - GAP) < SMALLEST_SCALE * (slide.clientWidth / 1280)) return;
  slide.classList.add("recalls");
  if ([before, ...before.children].some((part) => part.scrollHeight > part.clientHeight + 1)) slide.classList.remove("recalls");
}

/** @param {Element} part */
const picturesIn = (part) => [.../** @type {NodeListOf<SVGSVGElement | HTMLImageElement>} */ (part.querySelectorAll("img, svg:not(svg svg)"))];

/**
 * The texts of an answer as large as they fit.
 * @param {HTMLElement} answer
 * @param {number} largest
 * @param {() => number} free
 */
function enlarge(answer, largest, free) {
  for (let size = largest; size >= SMALLEST_TEXT; size--) {
    answer.style.setProperty("--size", String(size));
    if (free() > 0 && !isBroken(answer)) return;
  }
}

/**
 * Whether a line of a text is too long for its place.
 * @param {HTMLElement} answer
 */
const isBroken = (answer) =>
  [...answer.querySelectorAll("pre")].some((text) => text.clientHeight > (text.textContent.trimEnd().split("\n").length + 0.5) * parseFloat(getComputedStyle(text).lineHeight));

/**
 * How large the smallest of these pictures is, if each has this room.
 * @param {(SVGSVGElement | HTMLImageElement)[]} pictures
 * @param {number} width
 * @param {number} height
 */
function scale(pictures, width, height) {
  const scales = pictures.map((picture) => {
    const { width: wide, height: high } = "viewBox" in picture ? picture.viewBox.baseVal : { width: picture.naturalWidth, height: picture.naturalHeight };
    return Math.min(width / wide, height / high);
  });
  return Math.min(...scales);
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
 * Makes what plays as large as it has room on its slide.
 * @param {HTMLElement} slide
 */
function shrink(slide) {
  const place = /** @type {HTMLElement | null} */ (slide.querySelector(".gv-place"));
  if (!place) return;
  for (let size = place.dataset.kind === "stage" ? 1 : MOST; size >= LEAST; size -= STEP) {
    place.style.setProperty("--fit", String(size));
    if (place.scrollHeight > place.clientHeight + 1 || place.scrollWidth > place.clientWidth + 1) continue;
    if (size > 1) place.style.setProperty("--fit", String(size - STEP)); // its lower edge stays in sight
    return;
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
