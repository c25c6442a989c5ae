"""Work in a thread of its own, which lives only while there is work."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Background:
    """Calls `work` in a thread once for each burst of `wake`; the work handles its own errors."""

    def __init__(self, work: Callable[[], None]) -> None:
        self._work, self._lock = work, threading.Lock()
        self._asked = self._runs = False

    def wake(self) -> None:
        """Let the work be done; returns at once."""
        with self._lock:
            self._asked = True
            if self._runs:
                return
            self._runs = True
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._asked:
                    self._runs = False
                    return
                self._asked = False
            self._work()
