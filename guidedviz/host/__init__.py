"""One model for a class: `python -m guidedviz host`, or `serve run guidedviz.host:app` on a cluster of Ray.

The application is one, `app.py`; uvicorn serves it here, Ray Serve in each replica. README.md has the protocol.
"""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    """`app`, the application for Ray Serve, is built when it is asked for."""
    if name == "app":
        from guidedviz.host.replicas import build_app

        return build_app({})
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
