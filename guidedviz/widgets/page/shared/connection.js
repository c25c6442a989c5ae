// The connection to the kernel: sends what a person does, paints at most one message per frame, and answers when it has
// painted. The kernel stops sending while too many answers are missing.

/** @import { Model } from "../types.js" */
import { download } from "./export.js";

const KERNEL_IS_SILENT = "The kernel does not answer. It is busy, or it was restarted: then run this cell again.";
const KERNEL_IS_GONE = "The kernel was restarted or shut down. What is known stays; run this cell again for more.";
const SILENCE = 2500; // milliseconds without an answer that count as silence
const ANSWER = 40; // milliseconds that one answer waits for more: an answer costs the kernel more than a picture

/**
 * Calls back at the next frame. A hidden page has no frames, so it waits at most a fifth of a second.
 * @param {() => void} act
 */
export function nextFrame(act) {
  let done = false;
  const once = () => {
    if (!done) act();
    done = true;
  };
  requestAnimationFrame(once);
  setTimeout(once, 200);
}

/** @param {Model} model */
export function connect(model) {
  /** @type {any[]} */
  const waiting = [];
  let [silence, answerTimer, toAnswer] = [/** @type {any} */ (0), /** @type {any} */ (0), 0];
  /** @type {(all: any[]) => void} */
  let paint;
  /** @type {(words: string) => void} */
  let warn;
  let gone = false;
  /** @type {any} the page of a recording */
  let shown = null;

  /** @param {Record<string, unknown>} content */
  function say(content) {
    if (shown) return answerAlone(content);
    send(content);
    clearTimeout(silence);
    if (!gone) silence = setTimeout(() => warn(KERNEL_IS_SILENT), SILENCE);
  }

  // A recording holds its pages, and which of them answers what a person does.
  /** @param {Record<string, unknown>} content */
  function answerAlone(content) {
    const page = shown.moves?.[JSON.stringify(content)];
    if (page === undefined) return model.send(content); // the page of a run has a host
    const saved = model.get("saved");
    shown = { ...saved, ...saved.pages[page] };
    paint([shown]);
  }

  // A restarted kernel does not know this widget any more, and sending to it throws an error.
  /** @param {Record<string, unknown>} content */
  function send(content) {
    if (gone) return;
    try {
      model.send(content);
    } catch {
      lose();
    }
  }

  function lose() {
    if (gone) return;
    gone = true;
    clearTimeout(silence);
    warn(KERNEL_IS_GONE);
  }

  function answer() {
    answerTimer = 0;
    send({ do: "painted", number: toAnswer });
  }

  // Messages come in bunches: one per frame, or all of them if there are many.
  function paintWaiting() {
    const now = waiting.splice(0, waiting.length > 4 ? waiting.length : 1);
    paint(now);
    if (gone && !shown) warn(KERNEL_IS_GONE); // the last messages of a lost kernel come without this note
    toAnswer = now.at(-1).number;
    answerTimer ||= setTimeout(answer, ANSWER);
    if (waiting.length) nextFrame(paintWaiting);
  }

  /** @param {any} message */
  function receive(message) {
    clearTimeout(silence);
    if (message.code) return; // another view of this widget asked for it
    if (message.file) return download(new Blob([message.file.text], { type: message.file.type }), message.file.name);
    if (waiting.push(message) === 1) nextFrame(paintWaiting);
  }

  /**
   * Paints what the notebook kept, then asks the kernel for the present state.
   * @param {(all: any[]) => void} onNews takes the messages of one frame, oldest first
   * @param {(words: string) => void} onSilence takes a warning that the kernel does not answer, or is gone
   */
  function start(onNews, onSilence) {
    [paint, warn] = [onNews, onSilence];
    const saved = model.get("saved");
    if (Object.keys(saved ?? {}).length) onNews([saved]);
    model.on("msg:custom", receive);
    if (model.get("recorded")) {
      gone = true;
      shown = saved;
      return onSilence("");
    }
    model.on("comm_live_update", lose);
    say({ do: "hello" });
  }

  function stop() {
    clearTimeout(silence);
    clearTimeout(answerTimer);
    model.off("msg:custom", receive);
    model.off("comm_live_update", lose);
  }

  return { say, start, stop };
}
