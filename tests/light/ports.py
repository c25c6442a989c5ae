"""Kernels of notebooks get ports that nothing else asks for: each worker has a thousand of its own.

Jupyter lets the system name a free port, frees it and gives it to a kernel, which may find it taken by then, by the
kernel of another worker or by a connection. Then all cells of one notebook fail.
"""

import os
from contextlib import suppress
from itertools import count
from socket import socket

from jupyter_client.connect import LocalPortCache

PORTS = count(20_000 + 1_000 * int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]))  # the system names higher ones


def find_port(cache: LocalPortCache, ip: str) -> int:
    """The next port that is free."""
    for port in PORTS:
        with socket() as one, suppress(OSError):
            one.bind((ip, port))
            return port
    raise OSError("no port is free")


LocalPortCache.find_available_port = find_port  # type: ignore[assignment, method-assign]
