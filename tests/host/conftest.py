"""Hosts that several tests ask."""

import shutil
import subprocess

import pytest

from tests.host.running import TOKEN, hosting
from tests.widgets.conftest import pytest_pyfunc_call

__all__ = ["pytest_pyfunc_call"]


@pytest.fixture(scope="module")
def host(bard):
    """A host of bard without a token."""
    with hosting(bard) as running:
        yield running


@pytest.fixture(scope="module")
def guarded(bard):
    """A host of bard that asks for a token."""
    with hosting(bard, {"": TOKEN}) as running:
        yield running


@pytest.fixture
def certificate(tmp_path):
    """The files of a certificate for 127.0.0.1, and of its key."""
    if not shutil.which("openssl"):
        pytest.skip("a certificate is needed")
    cert = tmp_path / "cert.pem"
    key = tmp_path / "key.pem"
    make = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
    where = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert]
    subprocess.run([*make.split(), *where], check=True, capture_output=True)
    return cert, key
