"""JupyterHub for a class: accounts from a list, the labs in each home, one model for all. README.md says more."""

import os
import shutil
import sys
from pathlib import Path

from jupyterhub.auth import Authenticator

import guidedviz

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from class_list import check_reach, check_safety, is_right, keep_tokens, make_accounts, read_class  # noqa: E402

c = get_config()  # noqa: F821
os.umask(0o077)  # of the hub and of all it starts: students do not read each other's files

setting = os.environ.get
BIND, PORT = setting("GUIDEDVIZ_BIND", "http://127.0.0.1:8000"), setting("GUIDEDVIZ_HOST_PORT", "8765")
MODEL = setting("GUIDEDVIZ_SERVE", "clerk")
TRIAL, STATE = setting("GUIDEDVIZ_TRIAL") == "1", Path(setting("GUIDEDVIZ_STATE", "guidedviz-hub")).resolve()
check_safety(BIND, os.geteuid() == 0, TRIAL, behind_https=setting("GUIDEDVIZ_BEHIND_HTTPS") == "1")
if not TRIAL:
    check_reach(map(Path, (sys.executable, HERE / "student.py", guidedviz.__file__)))
STUDENTS = read_class(Path(setting("GUIDEDVIZ_CLASS", "students.txt")))

STATE.mkdir(parents=True, exist_ok=True)
STATE.chmod(0o711)  # its files are closed
TOKEN_FILE = str(STATE / "tokens")
TOKENS = keep_tokens(Path(TOKEN_FILE), STUDENTS)
SERVANT = "" if TRIAL else "nobody"  # an account that owns nothing runs the host and the culler
if not TRIAL:
    make_accounts(STUDENTS)
    shutil.chown(TOKEN_FILE, SERVANT)


class ClassList(Authenticator):
    """Knows the passwords of the class list."""

    async def authenticate(self, handler, data):
        """The student's name, if the password is right."""
        return data["username"] if is_right(STUDENTS, data["username"], data["password"]) else None


c.JupyterHub.bind_url = BIND
c.JupyterHub.db_url = f"sqlite:///{STATE / 'jupyterhub.sqlite'}"
c.JupyterHub.cookie_secret_file = str(STATE / "cookie_secret")
c.JupyterHub.authenticator_class = ClassList
c.Authenticator.allowed_users = set(STUDENTS)
c.Authenticator.allow_existing_users = False  # who was on an earlier list
if TRIAL:
    c.JupyterHub.spawner_class = "simple"
    c.SimpleLocalProcessSpawner.home_dir_template = str(STATE / "homes" / "{username}")

# the proxy in Python: no node is needed
c.ConfigurableHTTPProxy.command = [
    str(Path(sys.executable).parent / "configurable-http-proxy"),
    "--proxy-timeout=3600000",  # milliseconds; after 20 s it would cut streams such as the progress of a start
]
c.ConfigurableHTTPProxy.pid_file = str(STATE / "proxy.pid")

c.Spawner.cmd = [sys.executable, str(HERE / "student.py")]
c.Spawner.notebook_dir = "~"
c.Spawner.default_url = "/lab/tree/labs/00_start_here.ipynb"
c.Spawner.mem_limit = setting("GUIDEDVIZ_MEMORY", "1G")
c.Spawner.environment = {
    "GUIDEDVIZ_HOST": f"http://127.0.0.1:{PORT}",
    "GUIDEDVIZ_TOKEN": lambda spawner: TOKENS[spawner.user.name],
    "OMP_NUM_THREADS": "1",  # thirty kernels share the cores
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{setting('PATH', os.defpath)}",
}
# a kernel that nobody looks at ends after 30 minutes, a server after an hour; the notebooks stay
c.Spawner.args = [
    "--MappingKernelManager.cull_idle_timeout=1800",
    "--MappingKernelManager.cull_interval=60",
]

c.JupyterHub.services = [
    {
        "name": "model",
        "command": [sys.executable, *f"-m guidedviz host --model {MODEL} --port {PORT} --tokens".split(), TOKEN_FILE],
        "environment": {"OMP_NUM_THREADS": setting("OMP_NUM_THREADS", "1")},
        "user": SERVANT,
    },
    {
        "name": "idle-culler",
        "command": [sys.executable, "-m", "jupyterhub_idle_culler", "--timeout=3600"],
        "user": SERVANT,
    },
]
c.JupyterHub.load_roles = [
    {
        "name": "idle-culler",
        "scopes": ["list:users", "read:users:activity", "read:servers", "delete:servers"],
        "services": ["idle-culler"],
    }
]
