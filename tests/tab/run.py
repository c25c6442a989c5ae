"""A browser tab, simulated on CPython: no threads, no processes, none of the packages that a tab lacks.

    python tests/tab/run.py labs/solutions/07_pda.ipynb ...    run notebooks; print what each check says, as JSON

The cells run one after the other on an event loop that, like Pyodide's, has no executor: it runs a function at once.
"""

import asyncio
import gc
import json
import os
import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import anywidget  # noqa: F401  (before the platform is another one)
import numpy as np  # noqa: F401
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

ABSENT = {
    "pygraphviz", "resvg_py", "torch", "transformers", "xgrammar", "llguidance", "outlines_core", "threadpoolctl",
    "platformdirs", "gguf", "jinja2", "plotly", "jupyterlab", "starlette", "uvicorn", "requests", "yaml",
    "rfc3987_syntax", "openai",
}  # fmt: skip


def refuse(*given, **more):
    raise RuntimeError("can't start new thread")


class Absent:
    """Finds none of the packages that a tab lacks."""

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ABSENT:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


class Loop(asyncio.SelectorEventLoop):
    """An event loop that runs at once what others give to a thread."""

    def run_in_executor(self, executor, function, *given):
        done = self.create_future()
        try:
            done.set_result(function(*given))
        except Exception as error:
            done.set_exception(error)
        return done


def simulate():
    """Make this process a tab, before the library is imported."""
    sysconfig.get_config_vars()  # read now, as it asks for a file of the platform
    Thread.start = refuse
    os.fork = subprocess.Popen = refuse
    sys.meta_path.insert(0, Absent())
    sys.modules["pyodide.ffi"] = SimpleNamespace(jsnull=None)
    sys.platform = "emscripten"


def is_compared(cell):
    """Whether a cell's output says the same everywhere, and is of a check."""
    source = "".join(cell["source"])
    return "gv.checks." in source and "NBVAL_IGNORE_OUTPUT" not in source


async def run(path):
    """Run the cells of a notebook; what each cell with a check says."""
    shell = InteractiveShell(config=Config({"HistoryManager": {"enabled": False}}), user_ns={})
    said = {}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            done = shell.run_cell("".join(cell["source"]))
            done.raise_error()
            await asyncio.sleep(0.01)  # a stage takes steps meanwhile
            if is_compared(cell):
                shown, _ = shell.display_formatter.format(done.result)
                said[cell["id"]] = shown["text/plain"]
    return said


def main():
    """Print what the checks of each notebook say, and its seconds."""
    simulate()
    from guidedviz.checks import guard
    from guidedviz.decoding import timing

    if sys.version_info < (3, 12):
        guard.CPU_SECONDS *= 10  # there an answer is watched at each instruction, which no tab does
    timing.TRIES = 2  # measurements of a slider; beside other tests no two agree, and it would try for 3 s
    gc.set_threshold(500_000)  # at its usual 700 the collector takes a twelfth of the time
    out, sys.stdout = sys.stdout, open(os.devnull, "w")  # noqa: SIM115
    for name in sys.argv[1:]:
        began = time.process_time()
        said = Loop().run_until_complete(run(Path(name)))
        print(json.dumps([name, said, time.process_time() - began]), file=out, flush=True)


if __name__ == "__main__":
    main()
