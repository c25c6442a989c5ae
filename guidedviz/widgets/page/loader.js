// The script of every widget: it loads the code of the widget's kind, which a notebook stores once.

/** @import { Model } from "./types.js" */

/** @param {{ model: Model & { widget_manager: { get_model(id: string): Promise<any> } }, el: HTMLElement }} place */
async function render({ model, el }) {
  const id = String(model.get("code")).replace("IPY_MODEL_", "");
  const code = await model.widget_manager.get_model(id);
  const lines = [code.get("script"), "export default guidedvizKind.default;"];
  code.loaded ??= import(URL.createObjectURL(new Blob(lines, { type: "text/javascript" })));
  const { default: widget } = await code.loaded;
  const style = document.createElement("style");
  style.textContent = code.get("style");
  el.append(style);
  return widget.render({ model, el });
}

export default { render };
