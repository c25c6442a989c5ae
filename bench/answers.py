"""Clients of the API on one host: 30 streams at once, each begun again as soon as it has ended, with `clerk`.

The same clients first ask for logits and mask at home, as students do, and then for whole answers, which the host masks
and samples. A token counts from the one before; clients and host share the machine.
"""

from __future__ import annotations

import json
import os
import secrets
import threading
import time
from argparse import Namespace
from collections.abc import Callable
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import numpy as np

import guidedviz as gv
from bench import print_about
from bench.host import NAMES, PERSON, hosting
from guidedviz.models.connection import Connection, read_address
from guidedviz.models.remote import RemoteModel

Ask = Callable[[str, str, int, list[float]], None]


def about(seed: int) -> str:
    """The prompt of a client's next answer."""
    return f"{NAMES[seed % len(NAMES)]} is {20 + seed % 60} years old and lives in London.\nJSON with name, age:\n"


def ask_logits(address: str, token: str, seed: int, times: list[float]) -> None:
    """An answer by logits: the client masks and samples."""
    model = RemoteModel(Connection(read_address(address, token), patience=60.0))
    guide = gv.guide(gv.json_schema(PERSON), model.vocabulary)
    times += (step.forward_ms for step in gv.decode(model, about(seed), guide, seed=seed, max_tokens=40))


def ask_answer(address: str, token: str, seed: int, times: list[float]) -> None:
    """An answer as a stream."""
    form = {"type": "json_schema", "json_schema": {"name": "person", "schema": PERSON}}
    body = {
        "model": "clerk",
        "prompt": about(seed),
        "response_format": form,
        "seed": seed,
        "max_tokens": 40,
        "stream": True,
    }
    line = HTTPConnection(urlsplit(address).netloc, timeout=60)
    head = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    before = time.perf_counter()
    line.request("POST", "/v1/completions", json.dumps(body), head)
    answer = line.getresponse()
    for row in answer:
        if row.startswith(b"data: {") and b'"text": ""' not in row:
            now = time.perf_counter()
            times.append(1e3 * (now - before))
            before = now
    line.close()


def load(ask: Ask, address: str, tokens: list[str], seconds: float) -> dict[str, float]:
    """All clients for so many seconds: tokens per second, and the milliseconds of one."""
    end = time.perf_counter() + seconds
    times: list[float] = []

    def run(number: int) -> None:
        seed = number
        while time.perf_counter() < end:
            ask(address, tokens[number], seed, times)
            seed += len(tokens)

    threads = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(len(tokens))]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds + 60)
    p50, p95, p99 = np.percentile(times, (50, 95, 99)).round(1).tolist()
    spent = time.perf_counter() - began
    return {
        "tokens": len(times),
        "tokens/s": round(len(times) / spent, 1),
        "p50, ms": p50,
        "p95, ms": p95,
        "p99, ms": p99,
    }


def bench(options: Namespace) -> dict[str, Any]:
    """Print the table and return the figures."""
    said = print_about(load="{:.2f} {:.2f} {:.2f} before".format(*os.getloadavg()))
    tokens = {name: secrets.token_urlsafe(24) for name in [*map(str, range(options.students)), "teacher"]}
    clients = [token for name, token in tokens.items() if name != "teacher"]
    figures = {}
    with hosting(tokens) as host:
        for name, ask in (("logits", ask_logits), ("answers", ask_answer)):
            if options.only in name:
                figures[name] = load(ask, host.address, clients, options.seconds)
                print(f"{name:10}" + "  ".join(f"{key} {value}" for key, value in figures[name].items()), flush=True)
    return {"about": said, "clients": options.students, "runs": figures}
