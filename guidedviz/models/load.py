"""Load a model by name: an embedded one or a Llama folder in NumPy, any other through torch and transformers.

`readiness` says in words what is installed on this machine.
"""

import logging
import os
import platform
from pathlib import Path
from typing import Any

from guidedviz.errors import ModelError, SettingError, quoted
from guidedviz.extras import Extra, headless, how_to_install, installed, is_missing, need
from guidedviz.files import read_bounded, shipped, shipped_size
from guidedviz.front_end import say_front_end
from guidedviz.models.chat import ChatTemplate, Encoder
from guidedviz.models.gguf import SMOLLM2, find_gguf, find_smollm2
from guidedviz.models.hub import as_model_error, fetch_folder, has_torch, pick_device, read_torch
from guidedviz.models.language_model import LanguageModel, Network
from guidedviz.models.loaded import assemble, take_loaded
from guidedviz.models.model import SMALLER
from guidedviz.models.remote import RemoteModel, find_host, find_remote
from guidedviz.models.reports import join_class
from guidedviz.models.template import MOST_SOURCE
from guidedviz.models.tokenizer import Tokenizer
from guidedviz.models.weights import read_json, read_llama

log = logging.getLogger("guidedviz")
EMBEDDED = ("clerk", "clerk-small", "bard", "scout")
LARGE_MODEL = 50_000_000  # weights; from there on a pass waits for the memory, and one core is enough
MOST_NAME = 200  # characters of a hub name
DEVICES = ("auto", "numpy", "cpu", "torch", "cuda", "mps")


def embedded_folder(name: str) -> Path:
    """The folder of an embedded model."""
    return shipped(f"models/{name}/model.safetensors").parent


def find_model(name: str) -> tuple[str, Path | str, bool]:
    """A model's short name, the folder or hub name to load it from, and whether it runs on NumPy unless told else."""
    expected = f"a folder, a hub name, or {SMALLER}"
    if not isinstance(name, str) or not name:
        raise ModelError("model", seen=quoted(name), expected=expected)
    known = find_known(name)
    if known:
        return known
    first, _, other = name.partition(" or ")
    if other:
        try:
            return find_model(first)
        except (ModelError, SettingError):  # it is not there, or a package that it needs
            return find_model(other)
    is_path = name.startswith(".") or os.path.isabs(os.path.expanduser(name))
    if is_path or name.count("/") > 1 or len(name) > MOST_NAME:
        raise ModelError(f"model {quoted(name)}", seen="no such folder", expected=expected)
    return name, name, False


def find_known(name: str) -> tuple[str, Path, bool] | None:
    """A model that is embedded or on this machine, as `find_model` gives it."""
    if name in EMBEDDED:
        return name, embedded_folder(name), True
    if name == SMOLLM2:
        return name, find_smollm2(), True
    folder = Path(os.path.expanduser(name))
    if name.endswith(".gguf") and folder.is_file():
        return folder.stem, find_gguf(folder), True
    if os.path.isdir(folder):  # it never raises
        return folder.resolve().name, folder, not has_torch()
    return None


def load_model(
    name: Any = "auto",
    device: Any = "auto",
    *,
    tokenizer: Any = None,
    token: str | None = None,
    nickname: str | None = None,
) -> LanguageModel | RemoteModel:
    """An embedded model, a folder or a hub name; "auto": GUIDEDVIZ_MODEL, else clerk.

    `load_model(model, tokenizer)` takes what transformers has loaded: the same weights, where and as they are.

    "clerk", "clerk-small", "bard" and "scout" are embedded; scout thinks and calls tools. "smollm2" is
    SmolLM2-135M-Instruct, which `python -m guidedviz get smollm2` downloads once; a GGUF file of Llama's kind is
    converted when it is used first. Both run on NumPy. "smollm2 or clerk" is the first that is there.

    The embedded models run on NumPy, other models on torch: "cuda", else "mps", else "cpu". Without torch a folder of
    Llama's kind runs on NumPy, too. `device` chooses: "numpy", or "torch" (on the CPU), "cuda", "mps" for any model.
    An address such as `http://host:8765` is a model on a shared host, which may ask for a `token` (else the variable
    GUIDEDVIZ_TOKEN). Where the variable GUIDEDVIZ_HOST has the address of a host, the model that it serves is taken
    from there, unless `device` is given.
    With a `nickname` (else the variable GUIDEDVIZ_NICKNAME) the teacher sees on the host's page which lab and which
    check or question the student of this name has reached, and counts of answers without names.

    >>> gv.load_model("bard")
    bard · NumPy · cpu: 2.7 million weights, 65 tokens
    """
    if hasattr(name, "config"):
        return take_loaded(name, tokenizer if isinstance(device, str) else device)
    if tokenizer is not None:
        expected = "a model of transformers with it; a name brings its own"
        raise SettingError("gv.load_model, tokenizer", seen=f"a tokenizer and {quoted(name)}", expected=expected)
    if isinstance(name, Path):
        name = str(name)
    host = os.environ.get("GUIDEDVIZ_HOST", "")
    if name == "auto":
        name = os.environ.get("GUIDEDVIZ_MODEL") or host or "clerk"
    if device != "auto":
        host = ""
    remote = isinstance(name, str) and find_remote(name, token, host)
    model = remote or load_here(name, device)
    if nickname is not None:
        join_class(find_host(model, "gv.load_model, nickname"), nickname)
    return model


def load_here(name: str, device: str) -> LanguageModel:
    """A model that runs on this machine."""
    short, place, plain = find_model(name)
    if not isinstance(device, str) or device.split(":")[0] not in DEVICES:
        raise ModelError(f"device {quoted(device)}", seen="no such device", expected=" or ".join(DEVICES))
    plain = device == "numpy" or (plain and device in ("auto", "cpu"))
    device = "" if plain else pick_device(short, device)
    folder = fetch_folder(place)
    with as_model_error(short):
        network, words = read_torch(folder, device) if device else read_numpy(folder)
        template = read_template(folder, words)
        model = assemble(short, network, words, template, read_ends(folder))
        log.info("loaded %r from %s", model, folder)
        return model


def read_numpy(folder: Path) -> tuple[Network, Encoder]:
    """The network and the tokenizer of a folder, on NumPy."""
    network = read_llama(folder)
    if network.weights > LARGE_MODEL and not is_missing("threadpoolctl"):
        need("threadpoolctl", "smollm").threadpool_limits(1, "blas")  # two take 20 times as long on a busy machine
    return network, Tokenizer(folder)


def read_ends(folder: Path) -> Any:
    """The ids that end a text, as the settings of a folder say."""
    file = folder / "generation_config.json"
    if not file.exists():
        file = folder / "config.json"
    return read_json(file).get("eos_token_id")


def read_template(folder: Path, words: Encoder) -> ChatTemplate | None:
    """The chat template of a folder, if it has one."""
    beside = folder / "chat_template.jinja"
    if beside.exists():
        return ChatTemplate(read_bounded(beside, MOST_SOURCE).decode(), words)
    config = folder / "tokenizer_config.json"
    source = read_json(config).get("chat_template") if config.exists() else None
    return ChatTemplate(source, words) if isinstance(source, str) else None


NOT_INSTALLED = "not installed"


class Readiness(str):
    """What is installed on this machine, in words."""

    def __repr__(self) -> str:
        return str(self)


def readiness() -> Readiness:
    """What is installed: the embedded models, and for each extra its packages and what they are for."""
    models = []
    for name in EMBEDDED:
        size = shipped_size(f"models/{name}/model.safetensors") / 1e6
        models.append(f"{name} ({size:.1f} MB)")
    first = f"Python {platform.python_version()}: ready"
    own = f"embedded models: {', '.join(models)}; they run on NumPy {installed('numpy')}, no GPU needed"
    lines = [first, own, *map(_say_extra, EXTRAS)]
    if say_front_end():
        lines.append(say_front_end())
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
    versions = ", ".join(map(" ".join, found.items()))
    said = f"{extra}, {purpose}: {versions}"
    if NOT_INSTALLED in found.values():
        said += f"; to install it: {how_to_install(extra)}"
    return said
