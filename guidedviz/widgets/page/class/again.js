// The page of a run asks its host to decode the run again with what a person changes on the stage. The page of both runs, side
// by side, then takes the place of this one. The token of whoever looks waits in the tab until that page is there; nothing
// else is kept.

import { make } from "../shared/elements.js";
import { headersWith, sayRefusal } from "../shared/host.js";

const PAUSE = 500; // milliseconds after a change before the host is asked: another change may follow
const SHOWN = 60; // letters of the text that grows
const TOLD = 1000; // milliseconds between two looks at it, for those who hear the page
const READS_AGAIN = "The model reads the text again, each time without one part of it …";
const KEY = "guidedviz.again";
let came = sessionStorage.getItem(KEY); // the token, on a page that a change has opened; else null
sessionStorage.removeItem(KEY);
let token = came ?? "";
let going = new AbortController(); // what the host decodes now; another change ends it
/** @type {any} */
let timer = 0;

/**
 * The text of a stream of events as it grows; an error on the way is thrown.
 * @param {ReadableStream<Uint8Array>} body
 * @param {(text: string) => void} tell
 */
async function readEvents(body, tell) {
  const reader = body.pipeThrough(/** @type {any} */ (new TextDecoderStream())).getReader();
  let [left, text, told] = ["", "", -Infinity];
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const events = `${left}${part.value}`.split("\n\n");
    left = events.pop() ?? "";
    for (const event of events) {
      const data = event.replace(/^data: /, "");
      const { error, choices = [] } = data === "[DONE]" ? {} : JSON.parse(data);
      if (error) throw new Error(sayRefusal(error));
      for (const { text: plain, delta } of choices) text += plain ?? delta.reasoning_content ?? delta.content ?? "";
    }
    if (performance.now() < told + TOLD) continue;
    told = performance.now();
    tell(text.slice(-SHOWN));
  }
}

/**
 * Opens the page of two runs. It takes the token over, which waits in the tab meanwhile.
 * @param {string} path
 */
function open(path) {
  sessionStorage.setItem(KEY, token);
  location.assign(path);
}

/**
 * A field for the token, before a stage whose host wants one.
 * @param {HTMLElement} place
 * @param {() => void} then
 */
function askForToken(place, then) {
  place.parentElement?.querySelector(".gv-token")?.remove();
  const field = make("input", { type: "password", autocomplete: "off", "aria-label": "your token" });
  /** @param {Event} event */
  const submit = (event) => {
    event.preventDefault();
    token = field.value.trim();
    form.remove();
    then();
  };
  const form = make("form", { class: "gv-token", on: { submit } }, make("label", {}, "Your token ", field), " ", make("button", {}, "Run again"));
  place.before(form);
  field.focus();
}

/**
 * What stands in for the kernel of a stage on the page of a run.
 * @param {HTMLElement} place
 * @param {any} saved
 */
function answerFor(place, saved) {
  const { run, asked, settings, other, branches = [], beside } = JSON.parse(place.dataset.again ?? "");
  Object.assign(saved, settings, { again: true, branches, beside: came === null ? null : beside }); // a new run has the one before beside it
  if (asked !== null) saved.head.asked = asked;
  /** @type {(news: any) => void} */
  let paint = () => {};
  /** @type {Record<string, number>} */
  const changed = {};
  const tell = (/** @type {Record<string, unknown>} */ news) => paint({ from: Infinity, add: [], turn: -1, ...news });

  /**
   * Asks the host for something about the run; a host with tokens is asked again with one.
   * @param {string} path
   * @param {Record<string, unknown>} about
   * @param {(answer: Response) => Promise<void>} take
   */
  async function ask(path, about, take) {
    clearTimeout(timer);
    going.abort();
    const { signal } = (going = new AbortController());
    try {
      const answer = await fetch(path, { method: "POST", headers: headersWith(token, true), body: JSON.stringify({ run, ...about }), signal });
      if (answer.status === 401) askForToken(place, () => ask(path, about, take));
      if (!answer.ok) throw new Error(sayRefusal((await answer.json()).error));
      await take(answer);
    } catch (error) {
      if (!signal.aborted) tell({ note: /** @type {Error} */ (error).message, looked: null });
    }
  }

  /** @param {Record<string, unknown>} changes */
  function runAgain(changes) {
    tell({ note: "The host decodes the run again …" });
    ask("/v1/again", { stream: true, ...changes }, async ({ body, headers }) => {
      await readEvents(/** @type {any} */ (body), (text) => tell({ note: `The host decodes the run again: … ${text}` }));
      open(`${new URL(headers.get("X-Guidedviz-Run") ?? "").pathname}/${run}`);
    });
  }

  /** @param {number} step */
  function look(step) {
    tell({ note: "", looked: { place: step, words: [READS_AGAIN], rows: [] } });
    ask("/v1/look", { step }, async (answer) => tell({ looked: await answer.json() }));
  }

  /** @param {any} said */
  function send({ do: move, name, value, text, token: chosen, branch }) {
    const step = Number(/** @type {HTMLElement} */ (place.lastElementChild).dataset.cursor);
    if (move === "look") look(step);
    if (move === "turn") open(`/runs/${other}/${run}`);
    if (move === "beside") tell({ beside: branch < 0 ? null : beside });
    if (move === "prompt") runAgain({ ...changed, prompt: text });
    if (move === "insert") runAgain({ forced: { step, text } });
    if (move === "choose") runAgain({ forced: { step, token: chosen } });
    if (move !== "set") return;
    changed[name] = value;
    tell({ [name]: value });
    clearTimeout(timer);
    timer = setTimeout(() => runAgain(changed), PAUSE);
  }

  /**
   * @param {string} name
   * @param {typeof paint} act
   */
  function on(name, act) {
    if (name === "msg:custom") paint = act;
    if (came !== null) place.scrollIntoView(); // the stage is there now
    came = null;
  }

  return { send, on };
}

/** @type {any} */ (globalThis).guidedvizAgain = answerFor;
