"""Claims about `python -m guidedviz host`: it is safe by default, and says what it needs."""

import argparse
import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

import guidedviz as gv
from guidedviz.__main__ import main
from guidedviz.errors import SettingError
from guidedviz.extras import is_missing
from guidedviz.host import server
from guidedviz.host.app import Replica, Service, build_app
from guidedviz.host.batcher import Engine
from guidedviz.host.limits import Guard

TOKEN = "a-token-of-the-class"
ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--bind", "0.0.0.0"], "no token, expected a token outside of this machine"),
        (["--bind", "::"], "no token, expected a token outside of this machine"),
        (["--bind", "gpu.school"], "no token"),
        (["--token", "short"], "a token of 5 characters"),
        (["--tokens", "/no/such/file"], "No such file"),
        (["--port", "70000"], "--port"),
        (["--rate", "nan"], "--rate"),
        (["--keyfile", "key.pem"], "no certificate"),
        (["--certfile", "/no/cert.pem"], "--certfile: saw No such file"),
        (["--model", "nonsense/../x"], "no such folder"),
        (["--device", "tpu"], "no such device"),
    ],
)
def test_what_is_not_safe_or_not_there_is_refused(words, said, capsys, monkeypatch):
    monkeypatch.delenv("GUIDEDVIZ_TOKEN", raising=False)
    assert main(["host", *words]) == 1
    assert said in capsys.readouterr().err


def test_with_a_token_it_may_listen_outside():
    server.check_bind("0.0.0.0", has_token=True)
    bound = argparse.Namespace(bind="0.0.0.0", certfile=None)
    assert 'token="..."' in server.say_start(bound, 1, "clerk", True)


def test_the_start_names_what_the_host_has(capsys):
    bound = argparse.Namespace(bind="127.0.0.1", certfile=None)
    said = server.say_start(bound, 8765, "clerk", False)
    for path in ("/v1", "/runs", "/class"):
        assert f"http://127.0.0.1:8765{path}: " in said


def test_the_help_names_the_defaults(capsys):
    with pytest.raises(SystemExit):
        main(["host", "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert re.findall(r"default: ([^\s;,)]+)", shown) == ["clerk", "auto", "127.0.0.1", "8765", "100", "256"]


def hear_interrupts():
    """A run in the background of a shell ignores interrupts, and so would its children: a test would never end."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def start(words):
    """A host in a process of its own, which an interrupt ends."""
    env = os.environ | {"GUIDEDVIZ_TOKEN": TOKEN}
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=env, preexec_fn=hear_interrupts) as host:
        try:
            yield host
        finally:
            host.send_signal(signal.SIGINT)
        assert host.wait(60) in (0, 130)


@pytest.mark.skipif(sys.platform == "win32", reason="a signal ends it")
def test_it_starts_serves_and_ends_on_a_signal():
    words = [sys.executable, "-m", "guidedviz", "host", "--model", "bard", "--port", "0"]
    with start(words) as host:
        said = [host.stdout.readline() for _ in range(3)]
        address = re.search(r'gv\.load_model\("(\S+)", token="\.\.\."\)', said[2]).group(1)
        assert gv.load_model(address, token=TOKEN).logits([1]).shape == (65,)


@pytest.mark.parametrize("package", ["uvicorn", "starlette"])
def test_without_its_server_the_host_names_the_extra(monkeypatch, capsys, package):
    monkeypatch.setitem(sys.modules, package, None)
    assert main(["host", "--model", "bard"]) == 1
    said = f"expected the package {package} of the extra 'classroom'; try: pip install"
    assert said in capsys.readouterr().err


def test_the_config_of_a_cluster_names_what_there_is(monkeypatch):
    (app,) = yaml.safe_load((ROOT / "deploy/serve.yaml").read_text())["applications"]
    assert app["import_path"] == f"{build_app.__module__}:{build_app.__name__}"
    assert [deployment["name"] for deployment in app["deployments"]] == ["model"]
    monkeypatch.delenv("GUIDEDVIZ_TOKEN", raising=False)
    for arguments, said in ((app["args"], "no token"), ({"modle": "clerk"}, "saw 'modle'")):
        with pytest.raises(SettingError, match=said):
            build_app(arguments)


async def test_the_application_agrees_to_start_and_to_end(bard):
    asked = iter(["lifespan.startup", "lifespan.shutdown"])
    said = []

    async def receive():
        return {"type": next(asked)}

    async def send(message):
        said.append(message["type"])

    service = Service(Engine(bard), Guard({}))
    await service({"type": "lifespan"}, receive, send)
    assert said == ["lifespan.startup.complete", "lifespan.shutdown.complete"]


@pytest.mark.skipif(is_missing("ray.serve"), reason="Ray is not installed")
def test_ray_serve_mounts_the_same_application(monkeypatch):
    from ray import serve

    monkeypatch.setenv("GUIDEDVIZ_TOKEN", TOKEN)
    replica = serve.ingress()(Replica)
    made = replica.__serve_build_asgi_app__(Replica({"": TOKEN}, "bard", "numpy", 100, 1))
    assert isinstance(made, Service)
    assert build_app({"model": "bard"}) is not None
