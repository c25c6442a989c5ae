// The script of every widget: it loads the code of the widget's kind, which a notebook stores once. A page that was opened
// again on a kernel that lives on may not have it: then the kernel sends it.

/** @import { Model } from "./types.js" */

/** @typedef {Model & { widget_manager: { get_model(id: string): Promise<any> } }} Loaded */

const PATIENCE = 3000; // milliseconds
const LOST = "The code of this widget is missing on this page. Run this cell again; if nothing changes, restart the kernel and run all cells.";

/**
 * The code of the notebook, a model.
 * @param {Loaded} model
 */
async function findCode(model) {
  const id = String(model.get("code")).replace("IPY_MODEL_", "");
  const late = new Promise((_, fail) => setTimeout(fail, PATIENCE));
  return Promise.race([model.widget_manager.get_model(id), late]);
}

/**
 * The code of the kernel.
 * @param {Loaded} model
 */
const askForCode = (model) => new Promise((found, fail) => {
  /** @param {any} message */
  const hear = ({ code }) => {
    if (code) found({ get: (/** @type {string} */ name) => code[name] });
  };
  model.on("msg:custom", hear);
  model.send({ do: "code" });
  setTimeout(() => {
    model.off("msg:custom", hear);
    fail();
  }, PATIENCE);
});

/** @param {string} script a bundle */
async function run(script) {
  const lines = [script, "export default guidedvizKind.default;"];
  return (await import(URL.createObjectURL(new Blob(lines, { type: "text/javascript" })))).default;
}

/** @param {{ model: Loaded, el: HTMLElement }} place */
async function render({ model, el }) {
  const code = await findCode(model).catch(() => askForCode(model)).catch(() => null);
  if (!code) return el.append(LOST);
  code.loaded ??= {};
  const load = (/** @type {string} */ name) => (code.loaded[name] ??= run(code.get(name)));
  const widget = await load("script");
  const style = document.createElement("style");
  style.textContent = code.get("style");
  el.append(style);
  return widget.render({ model, el, load });
}

export default { render };
