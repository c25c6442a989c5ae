"""The host on Ray Serve: replicas of the service behind one address, on one machine or on a cluster.

A request names its whole text, so any replica can answer it. A replica that dies takes only its kept prefixes with it.
"""

from __future__ import annotations

import argparse
import os
import signal
import threading
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Any

from guidedviz.errors import ModelError, SettingError, quoted
from guidedviz.extras import need
from guidedviz.host.command import MB, find_tokens, say_start
from guidedviz.host.limits import Guard, Limits
from guidedviz.host.service import CACHE, Request, Service, refusal
from guidedviz.models.load import load_here

WHERE = "python -m guidedviz host"
ARGUMENTS = {"model", "device", "tokens", "rate", "cache_mb", "open"}
DEPLOYMENT = {
    "name": "model",
    "max_ongoing_requests": 200,
    "max_queued_requests": 2000,
    "health_check_period_s": 2,
    "health_check_timeout_s": 20,
    "graceful_shutdown_timeout_s": 5,
}


class Replica:
    """One process with the model."""

    def __init__(self, model: str, device: str, tokens: Mapping[str, str], limits: Limits, cache: int) -> None:
        from starlette.responses import Response

        self._response = Response
        self._service = Service(load_here(model, device), Guard(tokens, limits), cache, replica=str(os.getpid()))

    async def __call__(self, request: Any) -> Any:
        """Answer a request of Starlette."""
        headers = {name.lower(): value for name, value in request.headers.items()}
        peer = request.client.host if request.client else ""
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > self._service.most_body:
                reply = refusal(413, "body", "too many bytes", f"at most {self._service.most_body}")
                break
        else:
            reply = await self._service.answer(Request(request.method, request.url.path, headers, body, peer))
        more = {"X-Content-Type-Options": "nosniff", **dict(reply.headers)}
        return self._response(reply.body, reply.status, more, media_type=reply.kind)


def build_app(arguments: Mapping[str, Any]) -> Any:
    """The application for `serve run`, from the arguments of a config file (deploy/serve.yaml explains them).

    Without a token (the variable GUIDEDVIZ_TOKEN, or a file of tokens) it is refused, unless `open` says that only this
    machine can reach it.
    """
    if unknown := sorted(set(arguments) - ARGUMENTS):
        raise SettingError("args", seen=quoted(unknown[0]), expected=", ".join(sorted(ARGUMENTS)))
    file = arguments.get("tokens")
    tokens = find_tokens(argparse.Namespace(tokens=Path(file) if file else None, token=""))
    if not tokens and arguments.get("open") is not True:
        hint = "set GUIDEDVIZ_TOKEN, or `open: true` if only this machine can reach it"
        raise SettingError("args", seen="no token", expected="a token", hint=hint)
    rate = float(arguments.get("rate", Limits.rate))
    wanted = {name: str(arguments.get(name, known)) for name, known in (("model", "clerk"), ("device", "auto"))}
    return bind(wanted, tokens, Limits(rate=rate, burst=2 * rate), int(arguments.get("cache_mb", CACHE // MB)) * MB)


def bind(wanted: Mapping[str, str], tokens: Mapping[str, str], limits: Limits, cache: int, **options: Any) -> Any:
    """The deployment with its model."""
    serve = need("ray.serve", "classroom", WHERE)
    deployment = serve.deployment(Replica, **DEPLOYMENT, **options)
    return deployment.bind(wanted["model"], wanted["device"], dict(tokens), limits, cache)


def serve_on_ray(options: argparse.Namespace, tokens: Mapping[str, str], limits: Limits) -> None:
    """Start Ray Serve on this machine with so many replicas, and serve until interrupted."""
    ray, serve = (need(name, "classroom", WHERE) for name in ("ray", "ray.serve"))
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    wanted = {"model": options.model, "device": options.device}
    about = repr(load_here(**{"name": options.model, "device": "cpu" if "cuda" in options.device else options.device}))
    ray.init(include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    try:
        resources = share(ray.cluster_resources(), options.replicas, options.device)
        http = {"host": options.bind, "port": options.port, "request_timeout_s": 60}
        if options.certfile:
            http |= {"ssl_certfile": str(options.certfile), "ssl_keyfile": str(options.keyfile or options.certfile)}
        quiet = {"enable_access_log": False, "log_level": "ERROR"}
        serve.start(http_options=http, logging_config=quiet)
        app = bind(wanted, tokens, limits, options.cache_mb * MB, num_replicas=options.replicas,
                   ray_actor_options=resources, logging_config=quiet)  # fmt: skip
        try:
            serve.run(app, name="guidedviz", route_prefix="/")
        except RuntimeError as error:
            raise ModelError("Ray Serve", seen=str(error)[:200], expected="replicas that start") from None
        print(say_start(options, options.port, f"{about}\n{options.replicas} replicas", bool(tokens)), flush=True)
        wait_for_signal()
    finally:
        serve.shutdown()
        ray.shutdown()


def share(cluster: Mapping[str, float], replicas: int, device: str) -> dict[str, float]:
    """What each replica takes: at most one core and one GPU, and equal parts where there are fewer.

    >>> share({"CPU": 2.0, "GPU": 1.0}, 4, "cuda")
    {'num_cpus': 0.5, 'num_gpus': 0.25}
    """
    cores, cards = cluster.get("CPU", 1.0), cluster.get("GPU", 0.0)
    out = {"num_cpus": min(1.0, cores / replicas)}
    if "cuda" in device or (device == "auto" and cards):
        out["num_gpus"] = min(1.0, cards / replicas)
    return out


def wait_for_signal() -> None:
    """Return on an interrupt, or when the process is told to end."""
    done = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        done.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    done.wait()
