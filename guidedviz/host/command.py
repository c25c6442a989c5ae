"""`python -m guidedviz host`: one model for a class, in this process or as replicas on Ray Serve."""

from __future__ import annotations

import argparse
import asyncio
import ipaddress
import os
import signal
import socket
import ssl
from pathlib import Path

from guidedviz.errors import SettingError, escaped, quoted
from guidedviz.host.engine import CACHE, LocalEngine
from guidedviz.host.limits import Guard, Limits, check_token, make_token, read_tokens
from guidedviz.host.plain import serve_plain
from guidedviz.host.service import Service
from guidedviz.models.load import DEVICES, load_here

PORT = 8765
MB = 1 << 20


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--model", default="clerk", help="an embedded model, a folder or a hub name")
    parser.add_argument("--device", default="auto", help=", ".join(DEVICES))
    parser.add_argument(
        "--replicas", type=int, default=0, help="processes on Ray Serve, each with the model; 0: no Ray"
    )
    parser.add_argument("--bind", default="127.0.0.1", help="the address to listen on; outside this machine: 0.0.0.0")
    parser.add_argument("--port", type=int, default=PORT)
    parser.add_argument("--token", default="", help="of the whole class; better: the variable GUIDEDVIZ_TOKEN")
    parser.add_argument("--tokens", type=Path, help="a file with a line per student: name token")
    parser.add_argument("--certfile", type=Path, help="the certificate for HTTPS")
    parser.add_argument("--keyfile", type=Path, help="the key of the certificate")
    parser.add_argument("--rate", type=float, default=Limits.rate, help="requests per second and student")
    parser.add_argument("--cache-mb", type=int, default=CACHE // MB, help="keys and values that a replica keeps")


def run_host(options: argparse.Namespace) -> None:
    """Serve until interrupted."""
    tokens = find_tokens(options)
    check_bind(options.bind, bool(tokens))
    check_numbers(options)
    context = make_context(options.certfile, options.keyfile)
    limits = Limits(rate=options.rate, burst=2 * options.rate)
    if options.replicas:
        from guidedviz.host.on_ray import serve_on_ray

        serve_on_ray(options, tokens, limits, context)
        return
    model = load_here(options.model, options.device)
    engine = LocalEngine(model, options.cache_mb * MB, str(os.getpid()))
    serve_here(Service(engine, Guard(tokens, limits)), options, context, repr(model), bool(tokens))


def serve_here(
    service: Service, options: argparse.Namespace, context: ssl.SSLContext | None, about: str, guarded: bool
) -> None:
    """Answer HTTP in this process, until it is interrupted or told to end."""

    def tell(port: int) -> None:
        print(say_start(options, port, about, guarded), flush=True)

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        asyncio.run(serve_plain(service, options.bind, options.port, context, tell))
    except OSError as error:
        seen = error.strerror or str(error)
        raise SettingError(f"--port {options.port}", seen=seen, expected="a free port and an address here") from None


def find_tokens(options: argparse.Namespace) -> dict[str, str]:
    """The tokens by student, from a file, the command or the environment."""
    if options.tokens:
        return read_tokens(options.tokens)
    token = options.token or os.environ.get("GUIDEDVIZ_TOKEN", "")
    return {"": check_token("--token", token)} if token else {}


def check_bind(bind: str, has_token: bool) -> None:
    """Refuse to listen outside this machine without a token.

    >>> check_bind("127.0.0.1", has_token=False)
    """
    if has_token or is_loopback(bind):
        return
    hint = f"GUIDEDVIZ_TOKEN={make_token()} python -m guidedviz host --bind {escaped(bind)}"
    raise SettingError(f"--bind {quoted(bind)}", seen="no token", expected="a token outside of this machine", hint=hint)


def is_loopback(bind: str) -> bool:
    """Whether only this machine can reach an address.

    >>> is_loopback("localhost"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(bind).is_loopback
    except ValueError:
        return bind == "localhost"


def check_numbers(options: argparse.Namespace) -> None:
    """Refuse numbers out of their range."""
    ranges = {"replicas": (0, 1000), "port": (0, 65535), "rate": (1, 1e6), "cache_mb": (1, 1 << 20)}
    for name, (low, high) in ranges.items():
        if not low <= getattr(options, name) <= high:
            where = f"--{name.replace('_', '-')}"
            raise SettingError(where, seen=str(getattr(options, name)), expected=f"{low:g} to {high:g}")


def make_context(certificate: Path | None, key: Path | None) -> ssl.SSLContext | None:
    """The settings for HTTPS; None for plain HTTP."""
    if not certificate:
        if key:
            raise SettingError("--keyfile", seen="no certificate", expected="--certfile, too")
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError) as error:
        seen = error.strerror or type(error).__name__
        raise SettingError("--certfile", seen=seen, expected="a certificate and its key, as PEM files") from None
    return context


def say_start(options: argparse.Namespace, port: int, about: str, guarded: bool) -> str:
    """Where the host is, and what a student writes."""
    name = options.bind if is_loopback(options.bind) else socket.getfqdn()
    name = f"[{name}]" if ":" in name else name
    address = f"{'https' if options.certfile else 'http'}://{name}:{port}"
    token = ', token="..."' * guarded
    return f'{about}\nlistening on {options.bind}, port {port}\nin a lab: gv.load_model("{address}"{token})'
