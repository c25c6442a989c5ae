"""Claims about a hub's class list and settings: unsafe ones are refused, and no student's work is overwritten."""

import importlib.util
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from guidedviz.errors import SettingError

DEPLOY = Path(__file__).resolve().parents[2] / "deploy" / "jupyterhub"
FIRST = "00_start_here.ipynb"
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="JupyterHub needs accounts as Linux has them")


@pytest.fixture(scope="module")
def hub():
    """The module class_list.py."""
    spec = importlib.util.spec_from_file_location("class_list", DEPLOY / "class_list.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def students(hub, tmp_path):
    """A class list of two."""
    hub.add_students(tmp_path / "students.txt", ["Ada", "grace"])
    return tmp_path / "students.txt"


def test_a_class_list_is_closed_and_its_passwords_can_be_typed(hub, students):
    assert students.stat().st_mode & 0o077 == 0
    read = hub.read_class(students)
    assert list(read) == ["ada", "grace"]
    assert all(re.fullmatch("([a-z]{4}-){3}[a-z]{4}", password) for password in read.values())
    hub.add_students(students, ["ada", "eve"])
    assert list(hub.read_class(students).items())[:2] == list(read.items()), "who is in it keeps the password"


def test_a_password_is_right_for_one_student_only(hub, students):
    read = hub.read_class(students)
    assert hub.is_right(read, "ada", read["ada"])
    for name, password in (("grace", read["ada"]), ("ada", ""), ("eve", read["ada"]), ("ada", "é\ud800")):
        assert not hub.is_right(read, name, password)


@pytest.mark.parametrize("name", ["root", "nobody", "../ada", "a b", "-ada", "x" * 40, "", "{ada}"])
def test_accounts_of_the_system_and_names_that_are_no_accounts_are_refused(hub, students, name):
    with pytest.raises(SettingError):
        hub.add_students(students, [name])
    students.write_text(f"{name} bcdf-ghjk-mnpq-rstv\n")
    with pytest.raises(SettingError):
        hub.read_class(students)


def test_a_list_that_is_open_short_or_not_there_is_refused(hub, students):
    students.chmod(0o644)
    with pytest.raises(SettingError, match="others can read, expected mode 600; try: chmod 600"):
        hub.read_class(students)
    students.chmod(0o600)
    students.write_text("ada 1234\n")
    with pytest.raises(SettingError, match="a token of 4 characters"):
        hub.read_class(students)
    students.unlink()
    with pytest.raises(SettingError, match="no such file"):
        hub.read_class(students)


def test_tokens_stay_at_the_next_start_and_go_with_the_student(hub, tmp_path):
    first = hub.keep_tokens(tmp_path / "tokens", ["ada", "grace"])
    again = hub.keep_tokens(tmp_path / "tokens", ["grace", "eve"])
    assert again["grace"] == first["grace"]
    assert hub.read_tokens(tmp_path / "tokens") == again
    assert len({*first.values(), *again.values()}) == 3
    assert (tmp_path / "tokens").stat().st_mode & 0o077 == 0


def test_an_account_is_made_once_and_a_home_from_before_keeps_its_owner(hub, tmp_path, monkeypatch):
    ran = []
    monkeypatch.setattr(hub.subprocess, "run", lambda words, check: ran.append(words[7:]))
    monkeypatch.setattr(hub.pwd, "getpwall", lambda: [SimpleNamespace(pw_name="grace")])
    monkeypatch.setattr(hub, "PEOPLE", range(os.getuid(), os.getuid() + 1))
    (tmp_path / "zoe").mkdir()
    hub.make_accounts(["ada", "grace", "zoe"], tmp_path)
    assert ran == [["--uid", str(os.getuid()), "zoe"], ["ada"]]
    monkeypatch.setattr(hub, "PEOPLE", range(0))
    with pytest.raises(SettingError, match="home of zoe: saw owner"):
        hub.make_accounts(["zoe"], tmp_path)


@pytest.mark.parametrize(
    ("url", "root", "trial", "https", "said"),
    [
        ("http://0.0.0.0:8000", True, False, False, "no HTTPS"),
        ("nonsense", True, False, False, "no HTTPS"),
        ("http://127.0.0.1.school:8000", True, False, False, "no HTTPS"),
        ("http://127.0.0.1:8000", True, True, True, "a trial: one account for all"),
        ("http://127.0.0.1:8000", False, False, False, "not root"),
        ("http://127.0.0.1:8000", True, True, False, "a trial as root, expected another account"),
    ],
)
def test_unsafe_settings_are_refused(hub, url, root, trial, https, said):
    with pytest.raises(SettingError, match=said):
        hub.check_safety(url, root, trial, https)
    for safe, behind_https in (("http://[::1]:8000", False), ("http://0.0.0.0:8000", True)):
        hub.check_safety(safe, root=True, trial=False, behind_https=behind_https)


def test_code_that_students_cannot_read_is_refused_at_the_start(hub, tmp_path):
    hub.check_reach([Path("/bin/sh")])
    file = tmp_path / "closed" / "student.py"
    file.parent.mkdir()
    file.touch()
    (tmp_path / "link").symlink_to(file)
    file.parent.chmod(0o700)
    for path in (file, tmp_path / "link"):
        with pytest.raises(SettingError, match="closed to students"):
            hub.check_reach([path])


class Settings:
    """A config of traitlets: any name of any class can be set."""

    def __getattr__(self, name):
        self.__dict__[name] = SimpleNamespace()
        return self.__dict__[name]


def read_config(monkeypatch, folder, **settings):
    """What the config sets; JupyterHub itself is not needed."""
    monkeypatch.setitem(sys.modules, "jupyterhub", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "jupyterhub.auth", SimpleNamespace(Authenticator=object))
    for name, value in settings.items():
        monkeypatch.setenv(f"GUIDEDVIZ_{name}", value)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)  # a trial as root is refused
    monkeypatch.chdir(folder)
    mask = os.umask(0o022)
    path = [*sys.path]
    config = Settings()
    try:
        runpy.run_path(str(DEPLOY / "jupyterhub_config.py"), {"get_config": lambda: config})
    finally:
        os.umask(mask)
        sys.path[:] = path
        sys.modules.pop("class_list", None)
    return config


def test_the_config_gives_each_student_a_token_that_the_host_knows(hub, students, monkeypatch):
    c = read_config(monkeypatch, students.parent, TRIAL="1", HOST_PORT="8777")
    state = students.parent / "guidedviz-hub"
    assert c.JupyterHub.bind_url == "http://127.0.0.1:8000"
    assert c.Authenticator.allowed_users == {"ada", "grace"}
    model, culler = c.JupyterHub.services
    assert model["command"][-4:] == ["--port", "8777", "--tokens", str(state / "tokens")]
    assert c.JupyterHub.load_roles[0]["services"] == [culler["name"]]
    environment = c.Spawner.environment
    tokens = hub.read_tokens(state / "tokens")
    ada = SimpleNamespace(user=SimpleNamespace(name="ada"))
    assert environment["GUIDEDVIZ_HOST"] == "http://127.0.0.1:8777"
    assert environment["GUIDEDVIZ_TOKEN"](ada) == tokens["ada"]


def test_the_config_refuses_before_it_writes(students, monkeypatch):
    with pytest.raises(SettingError, match="no HTTPS"):
        read_config(monkeypatch, students.parent, BIND="http://0.0.0.0:8000")
    students.chmod(0o640)
    with pytest.raises(SettingError, match="others can read"):
        read_config(monkeypatch, students.parent, TRIAL="1", BIND="http://127.0.0.1:8000")
    assert [path.name for path in students.parent.iterdir()] == ["students.txt"]


def test_a_students_server_keeps_the_work_and_becomes_jupyter(tmp_path, monkeypatch):
    start = runpy.run_path(str(DEPLOY / "student.py"))
    (tmp_path / "labs").mkdir()
    (tmp_path / "labs" / FIRST).write_text("my work")
    ran = []
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MEM_LIMIT", "")
    monkeypatch.setattr(os, "execv", lambda path, words: ran.append(words))
    start["main"](["--port=1"])
    assert ran == [[sys.executable, "-m", "jupyterhub.singleuser", "--port=1"]]
    assert (tmp_path / "labs" / FIRST).read_text() == "my work"
    assert (tmp_path / "labs" / "01_logit_bias.ipynb").is_file()
    assert not (tmp_path / "labs" / "solutions").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="Linux bounds it")
def test_beyond_the_memory_limit_there_is_a_memory_error():
    code = "import runpy; runpy.run_path('student.py')['bound_memory'](str(300 << 20)); print(1); bytearray(400 << 20)"
    done = subprocess.run([sys.executable, "-c", code], cwd=DEPLOY, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr.split()[-1]) == ("1\n", "MemoryError")
