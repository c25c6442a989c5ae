"""What differs where Python runs in a browser tab (Pyodide, as JupyterLite has it). This place decides it for all.

There are no threads and no processes, and the files that ship with the library are not in its wheel: they lie beside
the site, and each is fetched when it is first used. So a lab loads only what it shows.
"""

import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

IN_TAB = sys.platform == "emscripten"
LIST = "beside.json"  # in the wheel of a site: the size of each file that lies beside it


class NoNumPy(ImportError):
    """A site that was built without a network has no NumPy. A notebook shows one sentence and no traceback."""

    def __init__(self, wanted: str) -> None:
        super().__init__(f"{wanted} needs NumPy, which this site lacks: it was built without a network", name="numpy")

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


@cache
def beside(folder: Path) -> dict[str, int]:
    """The files that lie beside the site, and their sizes in bytes; none anywhere else."""
    return dict(json.loads((folder / LIST).read_bytes())) if (folder / LIST).exists() else {}


def fetch(folder: Path, name: str) -> None:
    """Fetch a file that lies beside the site, and what lies in the same folder of a model."""
    own = name.rpartition("/")[0] + "/" if name.startswith("models/") else name
    for each in (one for one in beside(folder) if one.startswith(own)):
        path = folder / each
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_get(each))


def _get(name: str) -> bytes:
    """The content of a file of the site. The kernel is a worker, which may wait for it."""
    import js  # type: ignore[import-not-found]
    import pyodide_js  # type: ignore[import-not-found]

    request: Any = js.XMLHttpRequest.new()
    request.open("GET", f"{pyodide_js.lockfileBaseUrl}guidedviz/{name}", False)
    request.responseType = "arraybuffer"
    request.send()
    if request.status != 200:
        raise OSError(f"the site answers {request.status} for {name}")
    return bytes(request.response.to_bytes())
