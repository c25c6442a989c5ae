// On the page of a notebook: open it at the cell that the address names, and say where the work stays.
const told = "This lab runs in this tab. Your answers stay in this browser, on this device; its data can be cleared.";

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

function addBar() {
  const bar = document.createElement("div");
  const button = document.createElement("button");
  bar.className = "gv-tab-bar";
  bar.style.cssText = "position:fixed;right:12px;bottom:8px;z-index:99;padding:4px 10px;font:12px sans-serif;" +
    "background:var(--jp-layout-color1);color:var(--jp-ui-font-color1);border:1px solid var(--jp-border-color1)";
  button.textContent = "download my work";
  button.style.marginLeft = "8px";
  button.onclick = () => window.jupyterapp.commands.execute("docmanager:download");
  bar.append(told, button);
  document.body.append(bar);
}

const waiting = setInterval(() => {
  const shown = ready();
  if (!shown) return;
  clearInterval(waiting);
  openAtCell(shown.content);
  addBar();
}, 200);
