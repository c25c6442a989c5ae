"""What a notebook finds when only the extra `lab` is installed: the packages of the other extras cannot be imported.

`make test` puts this folder into PYTHONPATH while it runs the notebooks, so each lab proves that it needs no more. A
page in `labs/deeper` may show a package of another extra.
"""

import gc
import sys
from pathlib import Path

BLOCKED = {"torch", "transformers", "safetensors", "xgrammar", "llguidance", "outlines_core", "mistral_common", "gguf"}


class Absent:
    """A finder that has none of the blocked packages."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]
# jsonschema would build 38 parsers with it, in a second or more, to check addresses that no lab asks for

gc.set_threshold(50_000)  # as in the other tests: at its usual 700 the collector takes a twelfth of the time

if Path.cwd().name != "deeper":
    sys.meta_path.insert(0, Absent())
