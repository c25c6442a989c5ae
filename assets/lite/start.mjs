// Python in the worker of a kernel. The page begins this before it has read JupyterLab, and its first kernel takes it over.
import { loadPyodide as load } from "./pyodide.mjs";

const packages = PACKAGES;
const started = load({ packages, indexURL: new URL(".", import.meta.url).href }).then((python) => {
  python.runPython(`
import contextlib, piplite.piplite, pyodide_kernel
pyodide_kernel.ipython_shell.Completer.use_jedi = False  # it is not there, and IPython knows the objects
with contextlib.suppress(ImportError):  # NumPy may not be there
    import anywidget, guidedviz.checks
`);
  return python;
});

export async function loadPyodide({ stdout, stderr }) {
  const python = await started;
  python.setStdout({ batched: stdout });
  python.setStderr({ batched: stderr });
  return python;
}
