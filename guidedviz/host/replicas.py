"""Several processes with the model: replicas of Ray Serve (`serve run deploy/serve.yaml`).

Ray's proxies bring each request to a replica, which has the same application as the host of one process. A request
names its whole text, so any replica can answer it; one that dies takes only its kept prefixes with it.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from guidedviz.errors import SettingError, quoted
from guidedviz.extras import need
from guidedviz.host.app import open_service
from guidedviz.host.batcher import CACHE, MB
from guidedviz.host.limits import Limits, find_tokens

DEFAULTS: dict[str, Any] = {"model": "clerk", "device": "auto", "tokens": "", "open": False}
DEFAULTS |= {"rate": Limits.rate, "cache_mb": CACHE // MB}


class Replica:
    """One process with the model."""

    def __init__(self, tokens: Mapping[str, str], model: str, device: str, rate: float, cache_mb: int) -> None:
        self._service = open_service(tokens, model, device, rate, cache_mb, whole=False)

    def __serve_build_asgi_app__(self) -> Any:  # Ray's name: `serve.ingress` mounts what it returns
        return self._service


def build_app(arguments: Mapping[str, Any]) -> Any:
    """The application for `serve run`, from the arguments of a config file (deploy/serve.yaml explains them).

    Without a token (the variable GUIDEDVIZ_TOKEN, or a file of tokens) it is refused, unless `open` says that only this
    machine can reach it.
    """
    if unknown := sorted(set(arguments) - set(DEFAULTS)):
        raise SettingError("args", seen=quoted(unknown[0]), expected=", ".join(sorted(DEFAULTS)))
    chosen = DEFAULTS | dict(arguments)
    tokens = find_tokens(Path(chosen["tokens"]) if chosen["tokens"] else None)
    if not tokens and chosen["open"] is not True:
        hint = "set GUIDEDVIZ_TOKEN, or `open: true` if only this machine can reach it"
        raise SettingError("args", seen="no token", expected="a token", hint=hint)
    serve = need("ray.serve", "classroom", "serve run")
    deployment = serve.deployment(serve.ingress()(Replica), name="model")
    rate, cache_mb = float(chosen["rate"]), int(chosen["cache_mb"])
    return deployment.bind(tokens, str(chosen["model"]), str(chosen["device"]), rate, cache_mb)
