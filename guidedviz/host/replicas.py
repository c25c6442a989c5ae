"""Several processes with the model: on this machine as actors of Ray, on a cluster as replicas of Ray Serve.

`python -m guidedviz host --replicas N` answers HTTP in one process, which checks, counts and groups the requests and
sends each group to a replica in one call. Ray Serve is left out there: each of its replicas has a port that any machine
can reach and that reads pickles. On a cluster (`serve run deploy/serve.yaml`) Ray's proxies bring each request to a
replica, which has the same application. A request names its whole text, so any replica can answer it; one that dies
takes only its kept prefixes with it.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from guidedviz.errors import ModelError, SettingError, quoted
from guidedviz.extras import need
from guidedviz.host.app import Service
from guidedviz.host.batcher import CACHE, MB, Batcher, Card, Job, LocalEngine
from guidedviz.host.limits import Counts, Guard, Limits, find_tokens
from guidedviz.models.frames import Ask, pack_ask, read_ask
from guidedviz.models.load import load_here

WHERE = "python -m guidedviz host"
ARGUMENTS = {"model", "device", "tokens", "rate", "cache_mb", "open"}
TRIES = 4  # replicas that are asked for the same rows
SECONDS = 30.0  # that a replica may take for a group of texts
PAUSE = 0.2  # seconds after which a replica that has failed is asked again
TO_START = 120.0  # seconds
ALONE = {  # Ray reads these when it is imported
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # everywhere: its address is 127.0.0.1, and so are its ports
    "RAY_enable_metrics_collection": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
}
DEPLOYMENT = {
    "name": "model",
    "max_ongoing_requests": 200,
    "max_queued_requests": 2000,
    "health_check_period_s": 2,
    "health_check_timeout_s": 20,
    "graceful_shutdown_timeout_s": 5,
}


class Replica:
    """One process with the model; on a cluster it answers HTTP, too."""

    def __init__(self, model: str, device: str, tokens: Mapping[str, str], limits: Limits, cache: int) -> None:
        self._engine = LocalEngine(load_here(model, device), cache, str(os.getpid()))
        self._service = Service(self._engine, Guard(tokens, limits), whole=False)

    def __serve_build_asgi_app__(self) -> Any:  # Ray's name: `serve.ingress` mounts what it returns
        return self._service.app

    async def about(self) -> tuple[Card, bytes, str]:
        """The card, the vocabulary, and the model in words."""
        return self._engine.card, self._engine.words, repr(self._engine.model)

    async def encode(self, text: str) -> bytes:
        """The tokens of a text."""
        return await self._engine.encode(text)

    async def read(self, asks: Sequence[bytes]) -> tuple[dict[str, Counts], list[bytes]]:
        """The rows that several requests want, and what this process has read so far."""
        rows = await self._engine.read_all([read_ask(ask) for ask in asks])
        return self._engine.counts(), rows


class RayEngine:
    """Replicas on this machine; each has one call at a time, and one that has failed rests until it answers again."""

    def __init__(self, replicas: Sequence[Any], about: tuple[Card, bytes, str]) -> None:
        self.card, self.words, self.said = about
        self._free: asyncio.Queue[Any] = asyncio.Queue()
        for replica in replicas:
            self._free.put_nowait(replica)
        self.batcher = Batcher(self._turn, lanes=len(replicas), tries=TRIES)
        self._counts: dict[str, Counts] = {}
        self._resting: set[asyncio.Task[None]] = set()

    @property
    def waiting(self) -> int:
        """How many texts wait for a replica."""
        return self.batcher.turns.count

    async def encode(self, text: str) -> bytes:
        """The tokens of a text."""
        found: bytes = await self._ask("encode", text)
        return found

    async def rows(self, student: str, ask: Ask) -> bytes:
        """The logits that a request wants."""
        return await self.batcher.answer(student, ask)

    def counts(self) -> dict[str, Counts]:
        """What each process had read when it answered last."""
        return self._counts

    def close(self) -> None:
        """Nothing: Ray ends the replicas."""

    async def _turn(self, jobs: list[Job]) -> None:
        counts, bodies = await self._ask("read", [pack_ask(job.ask) for job in jobs])
        self._counts |= counts
        for job, body in zip(jobs, bodies, strict=True):
            job.body = body

    async def _ask(self, name: str, what: Any) -> Any:
        """Ask a free replica."""
        replica = await self._free.get()
        try:
            found = await asyncio.wait_for(getattr(replica, name).remote(what), SECONDS)
        except BaseException:
            rest = asyncio.ensure_future(self._rest(replica))
            self._resting.add(rest)
            rest.add_done_callback(self._resting.discard)
            raise
        self._free.put_nowait(replica)
        return found

    async def _rest(self, replica: Any) -> None:
        """Wait until a replica answers; Ray starts one that has died again."""
        while True:
            try:
                await asyncio.wait_for(replica.about.remote(), SECONDS)
            except Exception:
                await asyncio.sleep(PAUSE)
            else:
                self._free.put_nowait(replica)
                return


@contextmanager
def start_replicas(options: argparse.Namespace, limits: Limits) -> Iterator[RayEngine]:
    """So many replicas on this machine; no other machine reaches a port of Ray."""
    os.environ |= ALONE
    ray = need("ray", "classroom", WHERE)
    try:
        try:
            ray.init(include_dashboard=False, log_to_driver=False, logging_level="ERROR", configure_logging=False)
            resources = share(ray.cluster_resources(), options.replicas, options.device)
            kind = ray.remote(Replica).options(max_restarts=-1, **resources)
            arguments: Any = options.model, options.device, {}, limits, options.cache_mb * MB
            replicas = [kind.remote(*arguments) for _ in range(options.replicas)]
            (card, words, said), *_ = ray.get([one.about.remote() for one in replicas], timeout=TO_START)
        except Exception as error:  # Ray raises all kinds
            raise ModelError("Ray", seen=str(error)[-200:], expected="replicas that start") from None
        yield RayEngine(replicas, (card, words, f"{said}\n{options.replicas} replicas"))
    finally:
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
    serve = need("ray.serve", "classroom", WHERE)
    deployment = serve.deployment(serve.ingress()(Replica), **DEPLOYMENT)
    return deployment.bind(str(model or "clerk"), str(device or "auto"), tokens, limits, cache)
