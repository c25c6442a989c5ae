// On the page of a notebook: start Python, open the notebook at the cell that the address names, say where the work stays.
const python = new URL("../static/pyodide-DIGEST/", location.href);
const told = "This lab runs in this tab. Your answers stay in this browser, on this device; its data can be cleared.";

// Python starts in a worker as soon as its core is there, and the first kernel takes this worker over. On a first visit the
// core comes after JupyterLab's scripts, so that the kernel may be there before; on a second one it is there at once.
const Usual = window.Worker;
let early = null, begun = crossOriginIsolated;  // then the kernel wants another worker

window.Worker = function (url, options) {
  if (!String(url).includes("/comlink.worker.")) return new Usual(url, options);
  const first = early ?? new Usual(url, options);
  [begun, early] = [true, null];
  return first;
};

const core = ["pyodide.asm.wasm", "python_stdlib.zip"].map(name => new Promise(onload => {
  const href = new URL(name, python);
  const about = {rel: "preload", as: "fetch", crossOrigin: "", fetchPriority: "low", href, onload};
  document.head.append(Object.assign(document.createElement("link"), about));
}));
Promise.all(core).then(() => { if (!begun) early = new Usual(new URL("worker.mjs", python), {type: "module"}); });

function ready() {
  const shown = window.jupyterapp?.shell?.currentWidget;
  return shown?.context?.isReady && shown.content?.widgets?.length ? shown : null;
}

function openAtCell(notebook) {
  const wanted = new URLSearchParams(location.hash.slice(1)).get("cell-id");
  const place = notebook.widgets.findIndex(cell => cell.model.id === wanted);
  if (place < 0) return;
  notebook.activeCellIndex = place;
  notebook.scrollToCell(notebook.widgets[place]);
}

// What the lab will load is fetched while Python starts, after what Python itself needs. A model is a folder of files.
async function prefetch({ content, sessionContext }) {
  while (!sessionContext.session?.kernel) await new Promise(done => setTimeout(done, 100));
  const settings = JSON.parse(document.getElementById("jupyter-config-data").textContent).litePluginSettings;
  const { packages } = settings["@jupyterlite/pyodide-kernel-extension:kernel"].loadPyodideOptions;
  const known = (await (await fetch(new URL("pyodide-lock.json", python))).json()).packages;
  await Promise.all(packages.map(async name => (await fetch(new URL(known[name].file_name, python))).arrayBuffer()));
  const code = content.widgets.map(cell => cell.model.sharedModel.source).join("\n");
  const named = new Set([...code.matchAll(/load_model\("[^"]*?(clerk-small|clerk|bard|scout)"\)/g)].map(found => found[1]));
  const files = [...named].flatMap(name => [`models/${name}/model.safetensors`, `models/${name}/tokenizer.json`]);
  if (code.includes("Vocabulary.llama3")) files.push("llama_models/llama3/tokenizer.model");
  for (const file of files) await fetch(new URL(`guidedviz/${file}.z`, python));
}

function addBar() {
  const bar = document.createElement("div");
  const button = document.createElement("button");
  bar.className = "gv-tab-bar";
  bar.style.cssText = "position:fixed;right:12px;bottom:8px;z-index:99;padding:4px 10px;font:12px sans-serif;" +
    "background:var(--jp-layout-color1);color:var(--jp-ui-font-color1);border:1px solid var(--jp-border-color1)";
  button.textContent = "download my work";
  button.style.marginLeft = "8px";
  button.onclick = () => window.jupyterapp.commands.execute("docmanager:download");
  const close = Object.assign(document.createElement("button"), {textContent: "×", title: "hide this line"});
  close.style.marginLeft = "4px";
  close.onclick = () => bar.remove();
  bar.append(told, button, close);
  document.body.append(bar);
}

const waiting = setInterval(() => {
  const shown = ready();
  if (!shown) return;
  clearInterval(waiting);
  openAtCell(shown.content);
  prefetch(shown);
  addBar();
}, 200);
