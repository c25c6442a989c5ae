"""The library as a wheel, which Otter's grader installs without a network.

A clone builds it. Where the library was installed from a wheel, the wheel is packed again from the installed files.
"""

import subprocess
import sys
from importlib.metadata import Distribution, PackageNotFoundError, PackagePath, distribution
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from guidedviz.errors import SettingError
from guidedviz.files import PACKAGE

OF_INSTALLER = {"RECORD", "INSTALLER", "REQUESTED", "direct_url.json"}


def make_wheel(folder: Path) -> str:
    """Write the wheel into the folder; its name."""
    if (PACKAGE.parent / "pyproject.toml").exists():
        return build_wheel(folder, PACKAGE.parent)
    try:
        return pack_wheel(folder, distribution("guidedviz"))
    except PackageNotFoundError:
        where = "export otter, the wheel of the library"
        raise SettingError(where, seen="a copied folder", expected="an installed wheel or a clone") from None


def build_wheel(folder: Path, clone: Path) -> str:
    """Let pip build the wheel of a clone."""
    words = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder)]
    if find_spec("hatchling"):
        words.append("--no-build-isolation")
    done = subprocess.run([*words, str(clone)], capture_output=True, text=True, check=False)
    if done.returncode:
        expected = "pip and hatchling build it"
        raise SettingError("export otter, the wheel of the library", seen=done.stderr[-500:], expected=expected)
    return max(folder.glob("guidedviz-*.whl"), key=lambda path: path.stat().st_mtime).name


def pack_wheel(folder: Path, installed: Distribution) -> str:
    """Pack the installed files again; compiled modules and what an installer adds stay out."""
    name = f"guidedviz-{installed.version}-py3-none-any.whl"
    files = [file for file in installed.files or () if _is_packed(file)]
    record = []
    with ZipFile(folder / name, "w", ZIP_DEFLATED) as wheel:
        for file in files:
            wheel.write(str(file.locate()), file.as_posix())
            digest = f"{file.hash.mode}={file.hash.value}" if file.hash else ""
            record.append(f"{file.as_posix()},{digest},{file.size}\n")
        place = next(file.parent for file in files if file.name == "METADATA")
        record.append(f"{place.as_posix()}/RECORD,,\n")
        wheel.writestr(f"{place.as_posix()}/RECORD", "".join(record))
    return name


def _is_packed(file: PackagePath) -> bool:
    if file.parts[0] == "guidedviz":
        return "__pycache__" not in file.parts
    return file.parts[0].endswith(".dist-info") and file.name not in OF_INSTALLER
