"""`python -m guidedviz host`: one model for a class, in one process."""

import argparse
import ssl
from pathlib import Path

from guidedviz.errors import SettingError, escaped, quoted
from guidedviz.extras import need
from guidedviz.host.batcher import CACHE, MB, Engine
from guidedviz.host.limits import Guard, Limits, find_tokens, is_loopback, make_token
from guidedviz.models.load import DEVICES, load_here

PORT = 8765
WHERE = "python -m guidedviz host"


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--model", default="clerk", help="an embedded model, a folder or a hub name")
    parser.add_argument("--device", default="auto", help=", ".join(DEVICES))
    parser.add_argument("--bind", default="127.0.0.1", help="the address to listen on; outside this machine: 0.0.0.0")
    parser.add_argument("--port", type=int, default=PORT)
    parser.add_argument("--token", default="", help="of the whole class; better: the variable GUIDEDVIZ_TOKEN")
    parser.add_argument("--tokens", type=Path, help="a file with a line per student: name token")
    parser.add_argument("--certfile", type=Path, help="the certificate for HTTPS")
    parser.add_argument("--keyfile", type=Path, help="the key of the certificate")
    parser.add_argument("--rate", type=float, default=Limits.rate, help="requests per second and student")
    parser.add_argument("--cache-mb", type=int, default=CACHE // MB, help="keys and values that it keeps")


def run_host(options: argparse.Namespace) -> None:
    """Serve until interrupted."""
    tokens = find_tokens(options.tokens, options.token)
    check_bind(options.bind, bool(tokens))
    check_numbers(options)
    check_certificate(options.certfile, options.keyfile)
    for package in ("uvicorn", "starlette"):
        need(package, "classroom", WHERE)
    from guidedviz.host.app import Service
    from guidedviz.host.server import serve_here

    limits = Limits(rate=options.rate, burst=2 * options.rate)
    model = load_here(options.model, options.device)
    service = Service(Engine(model, options.cache_mb * MB), Guard(tokens, limits))
    serve_here(service, options, repr(model))


def check_bind(bind: str, has_token: bool) -> None:
    """Refuse to listen outside this machine without a token.

    >>> check_bind("127.0.0.1", has_token=False)
    """
    if has_token or is_loopback(bind):
        return
    hint = f"GUIDEDVIZ_TOKEN={make_token()} python -m guidedviz host --bind {escaped(bind)}"
    raise SettingError(f"--bind {quoted(bind)}", seen="no token", expected="a token outside of this machine", hint=hint)


def check_numbers(options: argparse.Namespace) -> None:
    """Refuse numbers out of their range."""
    ranges = {"port": (0, 65535), "rate": (1, 1e6), "cache_mb": (1, 1 << 20)}
    for name, (low, high) in ranges.items():
        if not low <= getattr(options, name) <= high:
            where = f"--{name.replace('_', '-')}"
            raise SettingError(where, seen=str(getattr(options, name)), expected=f"{low:g} to {high:g}")


def check_certificate(certificate: Path | None, key: Path | None) -> None:
    """Refuse a certificate for HTTPS that cannot be read, or a key alone."""
    if key and not certificate:
        raise SettingError("--keyfile", seen="no certificate", expected="--certfile, too")
    if certificate:
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key)
        except (OSError, ssl.SSLError) as error:
            seen = error.strerror or type(error).__name__
            raise SettingError("--certfile", seen=seen, expected="a certificate and its key, as PEM files") from None
