"""What shows the output: a notebook, a terminal or a script; and what Colab and VS Code need to show widgets.

Neither was tried with the real one: tests have stand-ins. In Colab the package anywidget switches on the manager of
custom widgets. VS Code loads the scripts of anywidget from the folder of the kernel, or from a network that its user
allows.
"""

import os
import sys
from typing import Any

COLAB = "google.colab"
VS_CODE = ("VSCODE_PID", "VSCODE_CWD")  # variables of a kernel that it started


def find_shell() -> Any:
    """The shell of IPython; None in a script."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None


def in_terminal() -> bool:
    """Whether IPython runs in a terminal."""
    return any(kind.__name__ == "TerminalInteractiveShell" for kind in type(find_shell()).__mro__)


def in_notebook() -> bool:
    """Whether a kernel runs this code."""
    return find_shell() is not None and not in_terminal()


def say_front_end() -> str:
    """What a person should know of the widgets here; "" where they just work."""
    if COLAB in sys.modules:
        return "Colab: live widgets need its manager of custom widgets, which anywidget switches on"
    if in_notebook() and any(name in os.environ for name in VS_CODE):
        return (
            "VS Code: live widgets need the package anywidget beside the kernel, or downloads that you allow "
            "(setting jupyter.widgetScriptSources); the pictures work without"
        )
    return ""
