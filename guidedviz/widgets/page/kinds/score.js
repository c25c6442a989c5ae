// The score of a notebook's predictions, in one line.

/** @import { Model } from "../types.js" */
import { connect } from "../shared/connection.js";
import { widgetRoot } from "../shared/controls.js";
import { make, setText } from "../shared/elements.js";

/** @param {{ model: Model, el: HTMLElement }} place */
function render({ model, el }) {
  const { start, stop } = connect(model);
  const words = make("strong", { role: "status" });
  el.append(widgetRoot("gv-chart gv-score", "score of the predictions", {}, words));
  start((all) => setText(words, all.at(-1).words), () => {}); // without a kernel the line stays as it was
  return stop;
}

export default { render };
