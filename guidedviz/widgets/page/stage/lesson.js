// A line that says what the stage does in a class: it is shown to the students, or it follows the teacher's.

/** @import { Say, StageView } from "../types.js" */
import { make, setText } from "../shared/elements.js";

/** @typedef {ReturnType<typeof buildLesson>} Lesson */

/** @param {Say} say */
export function buildLesson(say) {
  const [words, keys] = [make("span", { role: "status" }), make("span", { class: "gv-lesson-keys" })];
  const node = make("div", { role: "group", class: "gv-panel gv-lesson", "aria-label": "class", hidden: true }, words, keys);
  keys.addEventListener("click", (event) => {
    const key = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest("[data-say]"));
    if (!key) return;
    say({ do: key.dataset.say });
    node.parentElement?.focus({ preventScroll: true }); // the key may go
  });
  return { words, keys, node };
}

/**
 * @param {Lesson} ui
 * @param {StageView} view
 */
export function paintLesson({ node, words, keys }, { lesson, alone }) {
  node.hidden = !lesson || alone;
  if (!lesson) return;
  setText(words, lesson.words);
  const wanted = JSON.stringify(lesson.keys);
  if (keys.dataset.keys === wanted) return;
  keys.dataset.keys = wanted;
  keys.replaceChildren(...lesson.keys.map(([say, label]) => make("button", { type: "button", class: "gv-key", "data-say": say }, label)));
}
