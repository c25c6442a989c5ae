"""Load a model by name: an embedded one or a Llama folder in NumPy, any other through torch and transformers."""

import os
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, overload

from guidedviz.errors import ModelError, SettingError, quoted
from guidedviz.extras import Extra, how_to_install, installed, is_missing, need
from guidedviz.files import read_bounded, shipped
from guidedviz.models.chat import ChatTemplate
from guidedviz.models.hub import as_model_error, fetch, has_torch, load_torch
from guidedviz.models.model import SMALLER, LanguageModel, with_eos
from guidedviz.models.registry import SMOLLM2, find_gguf, find_smollm2
from guidedviz.models.remote import RemoteModel, find_host, is_address, join_class, load_from_host, load_remote
from guidedviz.models.tokenizer import Tokenizer
from guidedviz.models.weights import read_json, read_llama
from guidedviz.tokens.vocabulary import Vocabulary

EMBEDDED = ("clerk", "clerk-small", "bard")
MISSING = "not installed"
LARGE = 50_000_000  # weights; from there on a pass waits for the memory, and one core is enough
MOST_TEMPLATE = 1 << 20  # bytes
MOST_NAME = 200  # characters of a hub name
DEVICES = ("auto", "numpy", "cpu", "torch", "cuda", "mps")


def embedded_folder(name: str) -> Path:
    """The folder of an embedded model."""
    try:
        return shipped(f"models/{name}/model.safetensors").parent
    except SettingError as error:
        raise ModelError(f"embedded model {name!r}", seen="no weights", hint=error.hint) from None


def find_model(name: str) -> tuple[str, Path | str]:
    """A model's short name, and the folder or hub name to load it from."""
    if not isinstance(name, str) or not name:
        raise ModelError("model", seen=quoted(name), expected=f"a folder, a hub name, or {SMALLER}")
    if name in EMBEDDED:
        return name, embedded_folder(name)
    if name == SMOLLM2:
        return name, find_smollm2()
    folder = Path(os.path.expanduser(name))
    if name.endswith(".gguf") and folder.is_file():
        return folder.stem, find_gguf(folder)
    if os.path.isdir(folder):  # it never raises
        return folder.resolve().name, folder
    if folder.is_absolute() or name.count("/") > 1 or name.startswith(".") or len(name) > MOST_NAME:
        raise ModelError(f"model {quoted(name)}", seen="no such folder", expected=f"a folder, a hub name, or {SMALLER}")
    return name, name


@overload
def load_model(name: Literal["clerk", "clerk-small", "bard"], device: str = "auto") -> LanguageModel: ...
@overload
def load_model(
    name: str = "auto", device: str = "auto", *, token: str | None = None, nickname: str | None = None
) -> LanguageModel | RemoteModel: ...
def load_model(
    name: str = "auto", device: str = "auto", *, token: str | None = None, nickname: str | None = None
) -> LanguageModel | RemoteModel:
    """An embedded model ("clerk", "clerk-small", "bard"), a folder or a hub name; "auto": GUIDEDVIZ_MODEL, else clerk.

    "smollm2" is SmolLM2-135M-Instruct, which `python -m guidedviz get smollm2` downloads once; a GGUF file of Llama's
    kind is converted when it is used first. Both run on NumPy.

    The embedded models run on NumPy, other models on torch: "cuda", else "mps", else "cpu". Without torch a folder of
    Llama's kind runs on NumPy, too. `device` chooses: "numpy", or "torch" (on the CPU), "cuda", "mps" for any model.
    An address such as `http://host:8765` is a model on a shared host, which may ask for a `token` (else the variable
    GUIDEDVIZ_TOKEN). Where the variable GUIDEDVIZ_HOST has the address of a host, the model that it serves is taken
    from there, unless `device` is given.
    With a `nickname` (else the variable GUIDEDVIZ_NICKNAME) the teacher sees on the host's page which lab and which
    check or question the student of this name has reached, and counts of answers without names.

    >>> load_model("bard")
    bard · NumPy · cpu: 2.7 million weights, 65 tokens
    """
    if name == "auto":
        name = os.environ.get("GUIDEDVIZ_MODEL") or os.environ.get("GUIDEDVIZ_HOST") or "clerk"
    model = _find(name, device, token)
    if nickname is not None:
        join_class(find_host(model, "gv.load_model, nickname"), nickname)
    return model


def _find(name: str, device: str, token: str | None) -> LanguageModel | RemoteModel:
    """The model of a host if it has this name, else one of this machine."""
    if isinstance(name, str) and is_address(name):
        return load_remote(name, token)
    host = os.environ.get("GUIDEDVIZ_HOST", "") if device == "auto" and isinstance(name, str) else ""
    if host and (found := load_from_host(host, name, token)):
        return found
    return load_here(name, device)


def load_here(name: str, device: str = "auto") -> LanguageModel:
    """A model that runs on this machine."""
    short, place = find_model(name)
    if not isinstance(device, str) or device.split(":")[0] not in DEVICES:
        raise ModelError(f"device {quoted(device)}", seen="no such device", expected=" or ".join(DEVICES))
    simple = short in (*EMBEDDED, SMOLLM2) or name.endswith(".gguf") or (not has_torch() and isinstance(place, Path))
    if device == "numpy" or (simple and device in ("auto", "cpu")):
        return load_numpy(short, fetch(place))
    return load_torch(short, place, device)


def load_numpy(name: str, folder: Path) -> LanguageModel:
    """A folder of Llama's kind, on NumPy."""
    about = folder / "generation_config.json"
    with as_model_error(name):
        network, tokenizer = read_llama(folder), Tokenizer(folder)
        if network.weights > LARGE and not is_missing("threadpoolctl"):
            need("threadpoolctl", "smollm").threadpool_limits(1, "blas")  # two take 20 times as long on a busy machine
        plain = Vocabulary.from_tokenizer(tokenizer, size=network.shape.vocabulary)
        vocabulary = with_eos(plain, read_json(about) if about.exists() else {})
        template = read_template(folder, tokenizer)
    return LanguageModel(name, network, tokenizer, vocabulary, template)


def read_template(folder: Path, tokenizer: Tokenizer) -> ChatTemplate | None:
    """The chat template of a folder, if it has one."""
    config, beside = folder / "tokenizer_config.json", folder / "chat_template.jinja"
    about = read_json(config) if config.exists() else {}
    source = read_bounded(beside, MOST_TEMPLATE).decode() if beside.exists() else about.get("chat_template")
    if not isinstance(source, str):
        return None
    names = {key: value.get("content") if isinstance(value, dict) else value for key, value in about.items()}
    tokens = {key: value for key, value in names.items() if key.endswith("_token") and isinstance(value, str)}
    return ChatTemplate(source, tokenizer.special, tokenizer.encode_special, tokenizer.encode_plain, tokens)


@dataclass(frozen=True)
class Readiness:
    """What is installed on this machine, in words."""

    lines: tuple[str, ...]

    def __repr__(self) -> str:
        return "\n".join(self.lines)


def readiness() -> Readiness:
    """What is installed: the embedded models, and for each extra its packages and what they are for."""
    models = ", ".join(f"{name} ({_weights_file(name)})" for name in EMBEDDED)
    lines = [
        f"Python {platform.python_version()}: ready",
        f"embedded models: {models}; they run on NumPy {installed('numpy')}, no GPU needed",
        *map(_say_extra, EXTRAS),
    ]
    return Readiness(tuple(lines))


EXTRAS: dict[Extra, tuple[str, tuple[str, ...]]] = {
    "lab": ("notebooks and widgets", ("jupyterlab", "ipywidgets", "anywidget", "plotly", "pygraphviz")),
    "hub": ("other models, on cuda, mps or cpu", ("torch", "transformers")),
    "engines": ("the real engines", ("xgrammar", "llguidance", "outlines-core")),
}


def _say_extra(extra: Extra) -> str:
    purpose, packages = EXTRAS[extra]
    found = {package: installed(package) or MISSING for package in packages}
    missing = f"; to install it: {how_to_install(extra)}" if MISSING in found.values() else ""
    return f"{extra}, {purpose}: {', '.join(map(' '.join, found.items()))}{missing}"


def _weights_file(name: str) -> str:
    return f"{(embedded_folder(name) / 'model.safetensors').stat().st_size / 1e6:.1f} MB"
