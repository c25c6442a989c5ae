"""What is installed on this machine, in words."""

import platform

from guidedviz.extras import Extra, headless, how_to_install, installed
from guidedviz.files import shipped_size
from guidedviz.models.load import EMBEDDED

NOT_INSTALLED = "not installed"


class Readiness(str):
    """What is installed on this machine, in words."""

    def __repr__(self) -> str:
        return str(self)


def readiness() -> Readiness:
    """What is installed: the embedded models, and for each extra its packages and what they are for."""
    sizes = {name: shipped_size(f"models/{name}/model.safetensors") / 1e6 for name in EMBEDDED}
    models = ", ".join(f"{name} ({size:.1f} MB)" for name, size in sizes.items())
    first = f"Python {platform.python_version()}: ready"
    own = f"embedded models: {models}; they run on NumPy {installed('numpy')}, no GPU needed"
    lines = [first, own, *map(_say_extra, EXTRAS)]
    if headless():
        lines.insert(0, "not your machine, but the one that ran this cell for the saved page:")
    return Readiness("\n".join(lines))


EXTRAS: dict[Extra, tuple[str, tuple[str, ...]]] = {
    "lab": ("notebooks and widgets", ("jupyterlab", "ipywidgets", "anywidget", "plotly", "pygraphviz")),
    "hub": ("other models, on cuda, mps or cpu", ("torch", "transformers")),
    "engines": ("the real engines", ("xgrammar", "llguidance", "outlines-core")),
}


def _say_extra(extra: Extra) -> str:
    purpose, packages = EXTRAS[extra]
    found = {package: installed(package) or NOT_INSTALLED for package in packages}
    said = f"{extra}, {purpose}: {', '.join(map(' '.join, found.items()))}"
    if NOT_INSTALLED in found.values():
        said += f"; to install it: {how_to_install(extra)}"
    return said
