"""Claims about a running hub: two students open a lab in Chromium, decode on the host, and stay apart.

CI has no JupyterHub. To run it: pip install -e ".[test,classroom]" && pytest tests/deploy
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from guidedviz.extras import is_missing
from guidedviz.host.access import read_tokens
from tests.browser.jupyter import SETTINGS, Notebook, Workbench, free_port, wait_for_server

DEPLOY = Path(__file__).resolve().parents[2] / "deploy" / "jupyterhub"
LAB = "labs/00_start_here.ipynb"
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(is_missing("jupyterhub"), reason="JupyterHub is not installed: the extra classroom has it"),
    pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="a trial does not start as root"),
]


class Hub(NamedTuple):
    address: str
    host: str
    proxy: str
    state: Path
    passwords: dict[str, str]


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    """A hub on loopback, started as its README says, with homes in a folder of its own."""
    folder = tmp_path_factory.mktemp("hub")
    state = folder / "state"
    students = folder / "students.txt"
    subprocess.run([sys.executable, DEPLOY / "class_list.py", students, "ada", "grace"], check=True)
    for name in ("ada", "grace"):
        write_settings(state / "homes" / name / ".jupyter")
    port, host, proxy, inner = (free_port() for _ in range(4))
    address = f"http://127.0.0.1:{port}"
    env = {key: value for key, value in os.environ.items() if not key.startswith(("GUIDEDVIZ", "JUPYTER"))}
    own = {"TRIAL": "1", "BIND": address, "HOST_PORT": host, "CLASS": students, "STATE": state}
    env |= {f"GUIDEDVIZ_{name}": str(value) for name, value in own.items()}
    words = ["-f", DEPLOY / "jupyterhub_config.py", f"--JupyterHub.hub_port={inner}"]
    words += [f"--ConfigurableHTTPProxy.api_url=http://127.0.0.1:{proxy}"]
    with (folder / "log").open("w") as log:
        words = [sys.executable, "-m", "jupyterhub", *words]
        process = subprocess.Popen(words, env=env, cwd=folder, stdout=log, stderr=log)
    try:
        wait_for_server(f"{address}/hub/health", process, folder / "log")
        wait_for_server(f"http://127.0.0.1:{host}/v1/health", process, folder / "log")
        places = (address, f"http://127.0.0.1:{host}", f"http://127.0.0.1:{proxy}")
        yield Hub(*places, state, read_tokens(students))
    finally:
        process.terminate()
        process.wait(timeout=30)
        print((folder / "log").read_text())


def write_settings(folder: Path) -> None:
    """What the other tests of JupyterLab set, too."""
    for name, content in SETTINGS.items():
        path = folder / "lab" / "user-settings" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))
    server = {"LabApp": {"expose_app_in_browser": True}}
    (folder / "jupyter_server_config.json").write_text(json.dumps(server))


def log_in(browser, hub, name, password):
    """A browser of a student's own, after the login page."""
    context = browser.browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(f"{hub.address}/hub/login")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()
    return context, page


@pytest.fixture(scope="module")
def students(browser, hub):
    """Each student's browser with the first lab open in JupyterLab."""
    opened = {}
    for name, password in hub.passwords.items():
        context, page = log_in(browser, hub, name, password)
        page.wait_for_url(f"{hub.address}/user/{name}/lab**", timeout=90000)
        page.close()
        bench = Workbench(context, (f"{hub.address}/user/{name}", "", hub.state / "homes" / name))
        opened[name] = (context, Notebook(bench, LAB))
    yield opened
    for context, _ in opened.values():
        context.close()


@pytest.mark.parametrize("name", ["ada", "grace"])
def test_a_students_lab_decodes_on_the_host(hub, students, name):
    notebook = students[name][1]
    notebook.run_all(timeout=300)
    assert notebook.failed_cells() == []
    stage = notebook.stage()
    stage.go_on(3)
    assert f"{hub.host.removeprefix('http://')} · clerk" in stage.root.inner_text()


@pytest.mark.parametrize("path", ["lab", "api/contents/labs", "api/kernels", "files/labs/00_start_here.ipynb"])
def test_a_student_cannot_reach_another_ones_server(hub, students, path):
    ada = students["ada"][0]
    assert ada.request.get(f"{hub.address}/user/ada/{path}").ok
    answer = ada.request.get(f"{hub.address}/user/grace/{path}")
    assert answer.status == 403, answer.text()


def test_a_stranger_reaches_no_server_and_not_the_proxy(browser, hub, students):
    context, page = log_in(browser, hub, "ada", hub.passwords["grace"])
    page.get_by_text("Invalid username or password").wait_for()
    assert context.request.get(f"{hub.address}/user/ada/api/contents").status == 403
    assert context.request.get(f"{hub.address}/hub/api/users").status == 403
    assert context.request.get(f"{hub.proxy}/api/routes").status == 403
    context.close()


def test_the_host_refuses_who_has_no_token(hub, students):
    tokens = read_tokens(hub.state / "tokens")
    assert (hub.state / "tokens").stat().st_mode & 0o077 == 0
    assert len(set(tokens.values())) == 2
    for header, status in {"Bearer no-token-of-the-class": 401, f"Bearer {tokens['ada']}": 200}.items():
        card = students["ada"][0].request.get(f"{hub.host}/v1/card", headers={"Authorization": header})
        assert card.status == status
