"""Build the course for a browser tab: JupyterLab as static files, with all labs, our wheel and Python in WebAssembly.

    python assets/lite/build.py              build into lite/
    python assets/lite/build.py --offline    ask no distribution for the wheels that are compiled
    python assets/lite/build.py --without-numpy    go on where NumPy is not reached; no lab runs in such a site

JupyterLite is JupyterLab without a server; its kernel is Pyodide, whose core comes from the npm registry. NumPy and
three other compiled wheels are part of the Pyodide distribution only. They are taken from it, each with the hash that
the lock file says, and lie in the site, so that it asks nobody else. Where the distribution is not reached, the build
says what is missing; no lab runs without NumPy, so the build fails then unless it is told to go on. Models, recordings
and the vocabulary of Llama 3 are files beside the wheel: a lab fetches what it uses.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.request
from base64 import b64encode
from collections.abc import Iterable, Mapping
from hashlib import sha256, sha512
from importlib.metadata import distribution
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile
from zlib import compress

from hatchling.builders.wheel import WheelBuilder

from guidedviz.files import LIST, PACKED

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BESIDE = ("guidedviz/assets/models/", "guidedviz/assets/traces/", "guidedviz/assets/labs/")  # not in the wheel
KERNEL = ("micropip", "packaging", "ipython", "traitlets", "jedi")  # what the kernel needs, from the distribution
OWN = ("piplite", "ipykernel", "pyodide-kernel")  # what it needs and brings itself
COURSE = ("numpy", "pydantic", "jsonschema")  # what labs import, from the distribution
MORE = ("comm", "ipywidgets", "psygnal", "anywidget", "lark")  # pure, and in no distribution
# what nothing in a tab reads; names are completed by IPython itself, which knows the objects, instead of jedi
UNREAD = re.compile(
    r"[^/]*\.data/|(?!guidedviz/).*\.(pyi|h|a)$|(jedi|parso|numpy/f2py|anywidget/(lab|nb)extension)/|"
    r"pygments/lexers/(?!(__init__|_mapping|python|special)\.py)"
)
EXTENSIONS = "share/jupyter/labextensions"
KERNEL_PLUGIN = "@jupyterlite/pyodide-kernel-extension:kernel"
KERNEL_EXTENSION = f"{EXTENSIONS}/@jupyterlite/pyodide-kernel-extension"
NEEDS = {"guidedviz": ("numpy", "anywidget", "lark"), "anywidget": ("ipywidgets", "psygnal", "typing-extensions"),
         "ipywidgets": ("comm", "ipython", "traitlets"), "piplite": ("micropip",),
         "pyodide-kernel": ("ipykernel", "ipython", "jedi", "comm")}  # fmt: skip
LOCK, STDLIB = "pyodide-lock.json", "python_stdlib.zip"
AT_START = ("piplite", "pyodide-kernel", "guidedviz")  # with what they need, fetched while Python starts
JUPYTERLITE, PYODIDE, PYTHON = "0.8.6", "314.0.6", "3.14"  # that fit each other
# of the archive: what `npm view pyodide@VERSION dist.integrity` says. Its lock file has the digests of all wheels.
PYODIDE_INTEGRITY = "sha512-BKDTJyIqFxC4BExLqeRS3f5xvXZIjOt8C3zGLN/Cc7tFxSwvKVhVkchQQ2AGLOtR4YrVOIFxbV8poyDOOmWwxQ=="
DISTRIBUTION = f"https://cdn.jsdelivr.net/pyodide/v{PYODIDE}/full"
Lock = dict[str, Any]


def plain(name: str) -> str:
    """A package's name as registries compare it."""
    return name.lower().replace("_", "-")


def name_of(wheel: Path) -> str:
    """The package of a wheel."""
    return plain(wheel.name.split("-")[0])


# -- JupyterLite, Pyodide and its wheels ------------------------------------------------------------------------------


def get_jupyterlite(cache: Path) -> Path:
    """JupyterLite in a folder of its own: an environment that has it shows its extensions in each JupyterLab."""
    to = cache / f"jupyterlite-{JUPYTERLITE}"
    if not to.exists():
        packages = (f"{name}=={JUPYTERLITE}" for name in ("jupyterlite-core", "jupyterlite-pyodide-kernel"))
        pip("install", "--target", str(to), *packages)
    return to


def pip(*words: str) -> None:
    """Let pip do something; what it says is shown if it fails."""
    done = subprocess.run([sys.executable, "-m", "pip", *words, "--quiet"], capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stderr.strip()[-500:], file=sys.stderr)


def get_pyodide(folder: Path) -> Path:
    """The core of Pyodide, from the npm registry."""
    core = folder / f"pyodide-{PYODIDE}"
    if not core.exists():
        folder.mkdir(parents=True, exist_ok=True)
        words = ["npm", "pack", "--silent", f"pyodide@{PYODIDE}"]
        try:
            packed = subprocess.run(words, cwd=folder, check=True, capture_output=True, text=True).stdout.split()[-1]
        except (OSError, subprocess.CalledProcessError) as error:
            raise SystemExit(f"npm gives no pyodide {PYODIDE}: {error}") from None
        check_archive(folder / packed)
        with tarfile.open(folder / packed) as archive:
            archive.extractall(folder / "unpacked", filter="data")
        (folder / "unpacked" / "package").rename(core)
    return core


def check_archive(archive: Path) -> None:
    """Refuse an archive of Pyodide with another digest than this file has, and delete it."""
    digest = b64encode(sha512(archive.read_bytes()).digest()).decode()
    if f"sha512-{digest}" != PYODIDE_INTEGRITY:
        archive.unlink()
        raise SystemExit(f"{archive.name}: saw sha512-{digest}, expected {PYODIDE_INTEGRITY}; try: build again, or ask "
                         "why the registry changed a version that was published")  # fmt: skip


def read_lock(path: Path) -> Lock:
    """A lock file, with the names of all packages as registries compare them."""
    lock: Lock = json.loads(path.read_bytes())
    lock["packages"] = {plain(name): about for name, about in lock["packages"].items()}
    for about in lock["packages"].values():
        about["depends"] = [*map(plain, about["depends"])]
    return lock


def with_needs(lock: Lock, names: Iterable[str]) -> list[str]:
    """These packages of the lock file, and what they need."""
    known = lock["packages"]
    found = [name for name in names if name in known]
    for name in found:  # it grows
        found += [need for need in known[name]["depends"] if need in known and need not in found]
    return found


def fetch_wheels(lock: Lock, names: Iterable[str], to: Path, offline: bool) -> dict[str, Path]:
    """The wheels of these packages, as far as a place has them: the distribution, or for pure ones the registry."""
    found, pure = dict[str, Path](), []
    for name in names:
        about = lock["packages"][name]
        file = to / "distribution" / about["file_name"]
        if file.exists() or (not offline and download(f"{DISTRIBUTION}/{file.name}", file, about["sha256"])):
            found[name] = file
            continue
        offline = True  # one that does not answer is not asked again
        if file.name.endswith("-none-any.whl"):
            pure.append(name)
    return found | from_registry(lock, pure, to / "registry")


def download(address: str, file: Path, digest: str) -> bool:
    """Whether a file was there; one with another hash than the lock file says is refused."""
    try:
        with urllib.request.urlopen(address, timeout=20) as answer:
            content = answer.read()
    except OSError:
        return False
    if sha256(content).hexdigest() != digest:
        raise SystemExit(f"{address} has another hash than the lock file says")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    return True


def from_registry(lock: Lock, names: Iterable[str], to: Path) -> dict[str, Path]:
    """Pure wheels of the versions that the lock file has, or the newest of a package that it does not have."""
    known = lock["packages"]
    wanted = {name: f"{name}=={known[name]['version']}" if name in known else name for name in names}
    if wanted:
        pip("download", "--no-deps", "--only-binary", ":all:", "--platform", "any", "--python-version", PYTHON,
            "--dest", str(to), *wanted.values())  # fmt: skip
    wheels = {name_of(wheel): wheel for wheel in sorted(to.glob("*.whl"))}
    return {name: wheels[name] for name in wanted if name in wheels}


def entry(name: str, wheel: Path, known: Iterable[str]) -> dict[str, Any]:
    """What a lock file says of a wheel that is not in the distribution; what is missing is not needed."""
    return {
        "name": name, "version": wheel.name.split("-")[1], "package_type": "package", "install_dir": "site",
        "imports": [name.replace("-", "_")], "depends": [need for need in NEEDS.get(name, ()) if need in known],
        "unvendored_tests": False,
    }  # fmt: skip


# -- our wheel, and the files beside it ----------------------------------------------------------------------------


def build_wheel(to: Path, files: Path) -> Path:
    """Our wheel without models, recordings and notebooks, which lie in `files`; it says which there are."""
    built = Path(next(iter(WheelBuilder(str(ROOT)).build(directory=str(to / "whole"), versions=["standard"]))))
    thin, sizes = to / built.name, dict[str, int]()
    with ZipFile(built) as whole, ZipFile(thin, "w", ZIP_DEFLATED) as wheel:
        for name in whole.namelist():
            content = whole.read(name)
            if name.startswith(BESIDE[:2]):
                keep(files, name.removeprefix("guidedviz/assets/"), content, sizes)
            elif name.endswith(".dist-info/RECORD"):
                lines = [line for line in content.decode().splitlines() if not line.startswith(BESIDE)]
                wheel.writestr(name, "\n".join([*lines, f"guidedviz/assets/{LIST},,"]) + "\n")
            elif not name.startswith(BESIDE) and ".data/" not in name:
                wheel.writestr(name, content)
        ranks = "llama_models/llama3/tokenizer.model"
        keep(files, ranks, distribution("llama-models").locate_file(ranks).read_bytes(), sizes)
        wheel.writestr(f"guidedviz/assets/{LIST}", json.dumps(sizes))
    shutil.rmtree(to / "whole")
    return thin


def keep(files: Path, name: str, content: bytes, sizes: dict[str, int]) -> None:
    """Lay a file beside the wheel, compressed, as no host compresses a model."""
    path = files / f"{name}{PACKED}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(compress(content, 9))
    sizes[name] = len(content)


# -- the site ------------------------------------------------------------------------------------------------------


def require_numpy(missing: Iterable[str], cache: Path) -> None:
    """Refuse to build a site in which the second cell of each lab would fail."""
    if "numpy" in missing:
        raise SystemExit(
            f"the course in a tab: saw no NumPy for Pyodide {PYODIDE}, expected its wheel from {DISTRIBUTION}\n"
            "try: build where this address is reached; make it with `bash tests/tab/numpy.sh FOLDER` and copy it "
            f"to {cache / 'distribution'}; or build a site without live labs: make lite LITE_FLAGS=--without-numpy"
        )


def lay_python(folder: Path, cache: Path, offline: bool, without_numpy: bool) -> list[str]:
    """Pyodide with its wheels and ours in a folder of the site; what is missing."""
    shutil.copytree(get_pyodide(cache), folder, ignore=shutil.ignore_patterns("console*", "*.map", "*.d.ts"))
    lock = read_lock(folder / LOCK)
    wanted = with_needs(lock, (*KERNEL, *COURSE, *NEEDS["anywidget"], *NEEDS["ipywidgets"]))
    wheels = fetch_wheels(lock, wanted, cache, offline)
    missing = [name for name in wanted if name not in wheels]
    if not without_numpy:
        require_numpy(missing, cache)
    lock["packages"] = {name: about for name, about in lock["packages"].items() if name in wheels}
    for about in lock["packages"].values():
        about["depends"] = [need for need in about["depends"] if need in wheels]
    wheels |= from_registry(lock, MORE, cache / "registry")
    wheels |= {name_of(wheel): wheel for wheel in (get_jupyterlite(cache) / KERNEL_EXTENSION).rglob("*.whl")
               if name_of(wheel) in OWN}  # fmt: skip
    wheels["guidedviz"] = build_wheel(cache / "ours", folder / "guidedviz")
    for name, wheel in wheels.items():
        shutil.copy(wheel, folder)
        lock["packages"].setdefault(name, entry(name, wheel, wheels))["file_name"] = wheel.name
    write_lock(lock, folder)
    compiled = compile_modules(folder, with_needs(lock, AT_START))
    for archive in (STDLIB, *(wheel.name for wheel in wheels.values())):
        thin_out(folder / archive, compiled)
    write_lock(lock, folder)
    return missing


def write_lock(lock: Lock, folder: Path) -> None:
    """Write the lock file, with the hash of each package that lies beside it."""
    for about in lock["packages"].values():
        about["sha256"] = sha256((folder / about["file_name"]).read_bytes()).hexdigest()
    (folder / LOCK).write_text(json.dumps(lock))


def compile_modules(folder: Path, packages: Iterable[str]) -> dict[str, bytes]:
    """The modules that a start imports, compiled, by their paths in a wheel or in the standard library."""
    with tempfile.TemporaryDirectory() as to:
        words = ["node", str(HERE / "compile.mjs"), str(folder), to, *packages]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"Python did not start in node:\n{done.stderr[-2000:]}")
        return {path.relative_to(to).as_posix(): path.read_bytes() for path in Path(to).rglob("*.pyc")}


def thin_out(archive: Path, compiled: Mapping[str, bytes]) -> None:
    """Put what is compiled into an archive in place of its source, and leave out what nobody reads."""
    whole = archive.rename(archive.with_suffix(".whole"))
    with ZipFile(whole) as old, ZipFile(archive, "w", ZIP_DEFLATED, compresslevel=9) as new:
        for name in old.namelist():
            if f"{name}c" in compiled:
                new.writestr(f"{name}c", compiled[f"{name}c"])
            elif not UNREAD.match(name):
                new.writestr(name, old.read(name))
    whole.unlink()


def copy_labs(to: Path) -> None:
    """The notebooks of the students, for the kernel of the tab, with the pictures that they have before a run."""
    for path in [*(ROOT / "labs").glob("*.ipynb"), *(ROOT / "labs" / "deeper").glob("*.ipynb")]:
        notebook = json.loads(path.read_bytes())
        notebook["metadata"]["kernelspec"] |= {"name": "python", "display_name": "Python (Pyodide)"}
        file = to / path.relative_to(ROOT)
        file.parent.mkdir(parents=True, exist_ok=True)
        write_json(file, notebook)


def write_settings(folder: Path) -> None:
    """How JupyterLab looks, and what the kernel loads while Python starts."""
    lock = read_lock(folder / "static" / "pyodide" / LOCK)
    kernel = {"loadPyodideOptions": {"packages": with_needs(lock, AT_START)}}
    site = {
        "appName": "guidedviz",
        "exposeAppInBrowser": True,
        "disabledExtensions": ["@jupyterlite/javascript-kernel-extension"],
        "litePluginSettings": {KERNEL_PLUGIN: kernel},
    }
    write_json(folder / "jupyter-lite.json", {"jupyter-lite-schema-version": 0, "jupyter-config-data": site})
    overrides = {"notification": {"fetchNews": "false"}, "themes": {"adaptive-theme": True}}
    write_json(folder / "overrides.json", {f"@jupyterlab/apputils-extension:{k}": v for k, v in overrides.items()})


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")


def build(to: Path, cache: Path, offline: bool, without_numpy: bool) -> list[str]:
    """Build the site; what is missing."""
    work = cache / "site"
    shutil.rmtree(work, ignore_errors=True)
    shutil.rmtree(to, ignore_errors=True)
    (work / "static").mkdir(parents=True)
    missing = lay_python(work / "static" / "pyodide", cache, offline, without_numpy)
    copy_labs(work / "files")
    write_settings(work)
    jupyterlite = get_jupyterlite(cache)
    extensions = [Path(sys.prefix) / EXTENSIONS / "@jupyter-widgets/jupyterlab-manager",
                  Path(sys.prefix) / EXTENSIONS / "anywidget",
                  jupyterlite / KERNEL_EXTENSION]  # fmt: skip
    words = [sys.executable, "-m", "jupyterlite_core", "build", "--lite-dir", str(work), "--output-dir", str(to),
             "--contents", str(work / "files"), "--no-sourcemaps", "--ignore-sys-prefix",
             *(f"--LiteBuildConfig.federated_extensions={one}" for one in extensions)]  # fmt: skip
    seen = os.environ | {"PYTHONPATH": str(jupyterlite)}
    done = subprocess.run(words, cwd=work, env=seen, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"jupyter lite build failed:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    start_early(to)
    return missing


def start_early(site: Path) -> None:
    """Let the page of a notebook start Python beside JupyterLab, and a browser keep what it has loaded.

    The folder of Python gets the digest of its files for a name: what is kept there never changes.
    """
    python = site / "static" / "pyodide"
    settings = site / "jupyter-lite.json"
    worker = next(site.glob("extensions/*/*/static/comlink.worker.*.js")).relative_to(site).as_posix()
    config = json.loads(settings.read_bytes())
    kernel = config["jupyter-config-data"]["litePluginSettings"][KERNEL_PLUGIN]
    start = (HERE / "start.mjs").read_text(encoding="utf-8")
    packages = json.dumps(kernel["loadPyodideOptions"]["packages"])
    (python / "start.mjs").write_text(start.replace("PACKAGES", packages), encoding="utf-8")
    (python / "worker.mjs").write_text(f'import "../../{worker}";\nimport "./start.mjs";\n', encoding="utf-8")
    files = sorted(file for file in python.rglob("*") if file.is_file())
    digest = sha256(b"".join(sha256(file.read_bytes()).digest() for file in files)).hexdigest()[:10]
    python = python.rename(f"{python}-{digest}")
    kernel["pyodideUrl"] = f"./static/{python.name}/start.mjs"
    write_json(settings, config)
    own = site / "service-worker.js"
    own.rename(site / "jupyterlite-service-worker.js")
    own.write_text((HERE / own.name).read_text(encoding="utf-8").replace("DIGEST", digest), encoding="utf-8")
    script = (HERE / "page.js").read_text(encoding="utf-8").replace("DIGEST", digest)
    page = site / "notebooks" / "index.html"
    text = page.read_text(encoding="utf-8").replace("</head>", f"<script>\n{script}</script>\n</head>")
    page.write_text(text, encoding="utf-8")


def main() -> None:
    """Build the site, and say how large it is and what is missing."""
    parser = argparse.ArgumentParser(description="Build the course for a browser tab into lite/.")
    parser.add_argument("--to", type=Path, default=ROOT / "lite", help="the folder, which is made anew")
    parser.add_argument("--cache", type=Path, default=ROOT / "build" / "lite", help="what was fetched stays here")
    parser.add_argument("--offline", action="store_true", help="ask no distribution for compiled wheels")
    parser.add_argument("--without-numpy", action="store_true", help="go on where NumPy is not reached")
    chosen = parser.parse_args()
    began = time.perf_counter()
    missing = build(chosen.to.resolve(), chosen.cache.resolve(), chosen.offline, chosen.without_numpy)
    size = sum(file.stat().st_size for file in chosen.to.rglob("*") if file.is_file())
    print(f"{chosen.to}: {size / 1e6:.0f} MB, {time.perf_counter() - began:.0f} s")
    if missing:
        print(f"not in the site, because the Pyodide distribution was not reached: {', '.join(sorted(missing))}")
        print("run it again where there is a network; until then only what needs no NumPy works in the tab")


if __name__ == "__main__":
    main()
