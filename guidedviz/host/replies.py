"""Requests and replies: what the host hears and says, without a server."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from guidedviz.errors import GuidedVizError, SettingError

HTML = "text/html; charset=utf-8"
JSON, BYTES, TEXT = "application/json", "application/octet-stream", "text/plain; version=0.0.4; charset=utf-8"


@dataclass(frozen=True)
class Request:
    """A request; the names of its headers are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    peer: str = ""


@dataclass(frozen=True)
class Reply:
    """An answer."""

    status: int
    body: bytes
    kind: str = JSON
    headers: tuple[tuple[str, str], ...] = ()


Handler = Callable[[str, Request], Awaitable[Reply]]


def say(value: Any) -> Reply:
    """A value as JSON."""
    return Reply(200, json.dumps(value).encode())


def refusal(status: int, where: str, seen: str, expected: str, hint: str = "") -> Reply:
    """An error as a reply."""
    return failure(status, SettingError(where, seen=seen, expected=expected, hint=hint))


def failure(status: int, error: GuidedVizError) -> Reply:
    """An error of ours as a reply."""
    parts = {"where": error.where, "seen": error.seen, "expected": error.expected, "try": error.hint}
    return Reply(status, json.dumps({"error": parts}).encode())
