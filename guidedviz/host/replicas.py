"""Several processes with the model: replicas of Ray Serve (`serve run deploy/serve.yaml`).

Ray's proxies bring each request to a replica, which has the same application as the host of one process. A request
names its whole text, so any replica can answer it; one that dies takes only its kept prefixes with it.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from guidedviz.errors import SettingError, quoted
from guidedviz.extras import need
from guidedviz.host.app import Service
from guidedviz.host.batcher import CACHE, MB, Engine
from guidedviz.host.limits import Guard, Limits, find_tokens
from guidedviz.models.load import load_here

ARGUMENTS = {"model", "device", "tokens", "rate", "cache_mb", "open"}


class Replica:
    """One process with the model."""

    def __init__(self, model: str, device: str, tokens: Mapping[str, str], limits: Limits, cache: int) -> None:
        self._service = Service(Engine(load_here(model, device), cache), Guard(tokens, limits), whole=False)

    def __serve_build_asgi_app__(self) -> Any:  # Ray's name: `serve.ingress` mounts what it returns
        return self._service


def build_app(arguments: Mapping[str, Any]) -> Any:
    """The application for `serve run`, from the arguments of a config file (deploy/serve.yaml explains them).

    Without a token (the variable GUIDEDVIZ_TOKEN, or a file of tokens) it is refused, unless `open` says that only this
    machine can reach it.
    """
    if unknown := sorted(set(arguments) - ARGUMENTS):
        raise SettingError("args", seen=quoted(unknown[0]), expected=", ".join(sorted(ARGUMENTS)))
    file = arguments.get("tokens")
    tokens = find_tokens(Path(file) if file else None)
    if not tokens and arguments.get("open") is not True:
        hint = "set GUIDEDVIZ_TOKEN, or `open: true` if only this machine can reach it"
        raise SettingError("args", seen="no token", expected="a token", hint=hint)
    rate, model, device = (arguments.get("rate", Limits.rate), arguments.get("model"), arguments.get("device"))
    cache = int(arguments.get("cache_mb", CACHE // MB)) * MB
    limits = Limits(rate=float(rate), burst=2 * float(rate))
    serve = need("ray.serve", "classroom", "serve run")
    deployment = serve.deployment(serve.ingress()(Replica), name="model")
    return deployment.bind(str(model or "clerk"), str(device or "auto"), tokens, limits, cache)
