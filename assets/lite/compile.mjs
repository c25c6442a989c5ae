// node compile.mjs FOLDER TO PACKAGE...: let the Python of a tab compile the modules that a start imports, into TO.
// Otherwise each start compiles these 850 modules again, which takes 5 of its 7 seconds.
import { pathToFileURL } from "node:url";

const [folder, to, ...packages] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`));
// a traceback has no columns to mark where there is no source
const python = await loadPyodide({ indexURL: `${folder}/`, packages, env: { PYTHONNODEBUGRANGES: "1" } });
python.FS.mkdirTree("/to");
python.FS.mount(python.FS.filesystems.NODEFS, { root: to }, "/to");
python.runPython(`
import contextlib, importlib.util, marshal, sys
from pathlib import Path

codes = {}  # of the modules that are imported from here on, so that they are not compiled twice
sys.addaudithook(lambda event, given: event == "exec" and codes.__setitem__(given[0].co_filename, given[0]))
sys.modules["jedi"] = None  # as it is in a tab
for name in ("piplite.piplite", "pyodide_kernel", "anywidget", "guidedviz.checks"):
    with contextlib.suppress(ImportError):
        importlib.import_module(name)
import guidedviz

for name in guidedviz.__all__:
    with contextlib.suppress(Exception):  # what needs NumPy where there is none
        getattr(guidedviz, name)
for spec in [getattr(module, "__spec__", None) for module in sys.modules.values()]:
    root = next((root for root in sys.path if spec and root and str(spec.origin).startswith(root + "/")), None)
    if root and spec.origin.endswith(".py"):
        file = Path("/to", spec.origin.removeprefix(root + "/") + "c")
        file.parent.mkdir(parents=True, exist_ok=True)
        code = codes.get(spec.origin) or spec.loader.get_code(spec.name)
        unchecked = bytes([1, *[0] * 11])  # it is not compared with a source
        file.write_bytes(importlib.util.MAGIC_NUMBER + unchecked + marshal.dumps(code))
`);
