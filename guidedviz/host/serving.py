"""Answer HTTP in this process, and say where."""

from __future__ import annotations

import argparse
import asyncio
import ipaddress
import socket
import ssl

from guidedviz.errors import SettingError
from guidedviz.host.plain import serve_plain
from guidedviz.host.service import Service

MB = 1 << 20


def serve_here(
    service: Service, options: argparse.Namespace, context: ssl.SSLContext | None, about: str, guarded: bool
) -> None:
    """Answer HTTP in this process, until it is interrupted or told to end."""

    def tell(port: int) -> None:
        print(say_start(options, port, about, guarded), flush=True)

    try:
        asyncio.run(serve_plain(service, options.bind, options.port, context, tell))
    except OSError as error:
        seen = error.strerror or str(error)
        raise SettingError(f"--port {options.port}", seen=seen, expected="a free port and an address here") from None


def is_loopback(bind: str) -> bool:
    """Whether only this machine can reach an address.

    >>> is_loopback("localhost"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(bind).is_loopback
    except ValueError:
        return bind == "localhost"


def say_start(options: argparse.Namespace, port: int, about: str, guarded: bool) -> str:
    """Where the host is, and what a student writes."""
    name = options.bind if is_loopback(options.bind) else socket.getfqdn()
    name = f"[{name}]" if ":" in name else name
    address = f"{'https' if options.certfile else 'http'}://{name}:{port}"
    token = ', token="..."' * guarded
    return f'{about}\nlistening on {options.bind}, port {port}\nin a lab: gv.load_model("{address}"{token})'
