// A picture that the kernel draws anew, beside other widgets.

/** @import { Model } from "../types.js" */
import { connect } from "../shared/connection.js";
import { make } from "../shared/elements.js";
import { draw } from "../shared/shapes.js";

/** @param {{ model: Model, el: HTMLElement }} place */
function render({ model, el }) {
  const { start, stop } = connect(model);
  const root = make("div", { class: "gv gv-picture" });
  el.append(root);
  start((all) => root.replaceChildren(draw(all.at(-1).drawing)), () => {}); // without a kernel it stays as it was
  return stop;
}

export default { render };
