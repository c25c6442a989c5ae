"""The host without Ray: HTTP/1.1 by the standard library, in one process.

It reads what the protocol needs, within limits, and refuses the rest: chunked bodies, long heads, slow senders.
"""

from __future__ import annotations

import asyncio
import signal
import ssl
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from typing import Any

from guidedviz.host.replies import Reply, Request, refusal
from guidedviz.host.service import Service

MOST_HEAD = 1 << 14  # bytes
SECONDS_TO_SEND = 20.0  # for a request that has begun
SECONDS_IDLE = 120.0
CONNECTIONS = 4000
LOOK = 0.05  # seconds between two looks whether the other side has hung up


class Malformed(Exception):
    """A request that cannot be read; the connection is closed after the reply."""

    def __init__(self, status: int, seen: str, expected: str) -> None:
        super().__init__(seen)
        self.reply = refusal(status, "request", seen, expected)


class PlainHost:
    """A server for one service."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self._server: asyncio.Server | None = None
        self._lines: dict[asyncio.Task[Any], asyncio.StreamWriter] = {}

    async def start(self, bind: str, port: int, context: ssl.SSLContext | None = None) -> int:
        """Listen; gives the port, which the system chooses for port 0."""
        self._server = await asyncio.start_server(self._serve, bind, port, limit=MOST_HEAD, ssl=context)
        found: int = self._server.sockets[0].getsockname()[1]
        return found

    async def stop(self) -> None:
        """Close all connections and end."""
        if self._server:
            self._server.close()
        for writer in self._lines.values():
            writer.transport.abort()
        await asyncio.gather(*self._lines, return_exceptions=True)
        self.service.engine.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None or len(self._lines) >= CONNECTIONS:
            writer.close()
            return
        self._lines[task] = writer
        try:
            with suppress(ConnectionError, TimeoutError, asyncio.IncompleteReadError, asyncio.CancelledError):
                await self._talk(reader, writer)
        finally:
            del self._lines[task]
            writer.close()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        peer = str((writer.get_extra_info("peername") or ("",))[0])
        while True:
            try:
                request = await read_request(reader, peer, self.service.most_body)
            except Malformed as error:
                await send(writer, error.reply, close=True)
                return
            if request is None:
                return
            reply = await self._answer_or_leave(request, reader)
            if reply is None:
                return
            close = request.headers.get("connection", "").lower() == "close"
            await send(writer, reply, close, empty=request.method == "HEAD")
            if close:
                return

    async def _answer_or_leave(self, request: Request, reader: asyncio.StreamReader) -> Reply | None:
        """The reply; None if the student hangs up before it is there: then nothing more is computed for it."""
        work = asyncio.ensure_future(self.service.answer(request))
        try:
            while not work.done():
                await asyncio.wait({work}, timeout=LOOK)
                if reader.at_eof() and not work.done():
                    return None
            return work.result()
        finally:
            work.cancel()


async def read_request(reader: asyncio.StreamReader, peer: str, most: int) -> Request | None:
    """The next request of a connection; None if there is none."""
    try:
        async with asyncio.timeout(SECONDS_IDLE):
            first = await reader.readuntil(b"\n")
        async with asyncio.timeout(SECONDS_TO_SEND):
            method, path = read_first_line(first)
            headers = await _read_headers(reader, MOST_HEAD - len(first))
            body = await reader.readexactly(_body_length(method, headers, most))
    except asyncio.IncompleteReadError:
        return None
    except asyncio.LimitOverrunError:
        raise Malformed(431, "a long line", f"at most {MOST_HEAD} bytes of headers") from None
    return Request(method, path, headers, body, peer)


def read_first_line(line: bytes) -> tuple[str, str]:
    """The method and the path.

    >>> read_first_line(b"GET /v1/card HTTP/1.1\\r\\n")
    ('GET', '/v1/card')
    """
    parts = line.decode("latin-1").rstrip("\r\n").split(" ")
    if len(parts) != 3 or not parts[0].isalpha() or parts[2] not in ("HTTP/1.1", "HTTP/1.0"):
        raise Malformed(400, "another first line", "METHOD /path HTTP/1.1")
    return parts[0], parts[1]


async def _read_headers(reader: asyncio.StreamReader, left: int) -> dict[str, str]:
    headers: dict[str, str] = {}
    while (line := await reader.readuntil(b"\n")) not in (b"\r\n", b"\n"):
        left -= len(line)
        if left < 0:
            raise Malformed(431, "long headers", f"at most {MOST_HEAD} bytes")
        name, colon, value = line.decode("latin-1").partition(":")
        if not colon or not name or name != name.strip() or name.lower() in headers:
            raise Malformed(400, "a header without a name, or twice", "Name: value")
        headers[name.lower()] = value.strip()
    return headers


def _body_length(method: str, headers: dict[str, str], most: int) -> int:
    if "transfer-encoding" in headers:
        raise Malformed(411, "a transfer encoding", "a Content-Length")
    said = headers.get("content-length", "0" if method in ("GET", "HEAD") else "")
    if not (said.isascii() and said.isdecimal()):
        raise Malformed(411 if not said else 400, "no length of the body", "a Content-Length")
    if len(said) > 12 or int(said) > most:
        raise Malformed(413, f"{said[:12]} bytes", f"at most {most}")
    return int(said)


async def send(writer: asyncio.StreamWriter, reply: Reply, close: bool = False, empty: bool = False) -> None:
    """Send a reply."""
    lines = [
        f"HTTP/1.1 {reply.status} {HTTPStatus(reply.status).phrase}",
        f"Content-Type: {reply.kind}",
        f"Content-Length: {len(reply.body)}",
        "X-Content-Type-Options: nosniff",
        *(f"{name}: {value}" for name, value in reply.headers),
        *(["Connection: close"] if close else []),
    ]
    writer.write("\r\n".join([*lines, "", ""]).encode() + (b"" if empty else reply.body))
    async with asyncio.timeout(SECONDS_TO_SEND):
        await writer.drain()


async def serve_plain(
    service: Service, bind: str, port: int, context: ssl.SSLContext | None, ready: Callable[[int], None]
) -> None:
    """Serve until the process is interrupted or told to end; `ready` hears the port."""
    host, end = PlainHost(service), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError):  # on Windows an interrupt cancels this task
            asyncio.get_running_loop().add_signal_handler(number, end.set)
    ready(await host.start(bind, port, context))
    try:
        await end.wait()
    finally:
        await host.stop()
