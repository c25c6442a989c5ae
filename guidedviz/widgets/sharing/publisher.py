"""The teacher's stage is shown to the class: a thread sends each move to the host, and skips what is outdated."""

from __future__ import annotations

import json
import time
from operator import is_not
from secrets import token_hex
from typing import Any

from guidedviz.decoding.player import Player, shared_steps
from guidedviz.decoding.sharing import Head, make_head, write_changes
from guidedviz.decoding.trace import Trace
from guidedviz.errors import GuidedVizError, ModelError, SettingError
from guidedviz.models.background import Background
from guidedviz.models.remote import Address, Connection
from guidedviz.tokens.guide import Guide
from guidedviz.widgets.runner import running_loop
from guidedviz.widgets.sharing.role import Shown, make_bar

SEND_PATIENCE, SEND_TIMEOUT = 2.0, 5.0  # seconds
PAUSE = 2.0  # seconds after which a lost host gets the run again
Published = tuple[Trace, Guide | None, Player]


class Publisher:
    """Shows a stage to the class."""

    follows = False

    def __init__(self, place: Address, vocabulary: str) -> None:
        self._wire, self._vocabulary = Connection(place, patience=SEND_PATIENCE, timeout=SEND_TIMEOUT), vocabulary
        self._scene: Published | None = None
        self._told: tuple[Published, Head, Player] | None = None  # what the host has
        self._run, self._loop = "", running_loop()
        self._state, self.followers, self.trouble = "shows", 0, ""
        self._background = Background(self._work)

    def start(self, stage: Shown) -> None:
        """Show the stage; an error says why this is not possible."""
        self._publish(self._begin(stage))

    def _begin(self, stage: Shown) -> Published:
        """Show the stage as a new run."""
        self._run, self._state, self._told = token_hex(8), "shows", None
        self._tell = stage.display.tell
        self._scene = scene = stage.head, stage.guide, stage.player
        return scene

    def moved(self, stage: Shown) -> None:
        """Send what has changed."""
        scene = stage.head, stage.guide, stage.player
        if self._state == "shows" and (self._scene is None or any(map(is_not, scene, self._scene))):
            self._scene = scene
            self._background.wake()

    def hear(self, said: Any, stage: Shown) -> bool:
        """Stop, or show the run again."""
        match said:
            case {"do": "unshare"}:
                self.stop()
            case {"do": "share"}:
                self._begin(stage)
                self._background.wake()
            case _:
                return False
        stage.tell()
        return True

    def bar(self) -> dict[str, Any]:
        """Whether the class sees the run."""
        if self._state == "shows" and not self.trouble:
            students = "1 student follows" if self.followers == 1 else f"{self.followers} students follow"
            return make_bar(f"The class sees this run; {students}.", unshare="stop showing it")
        words = self.trouble or "The class does not see this run."
        return make_bar(words, share="show it to the class")

    def stop(self) -> None:
        """Show the run no longer; it stays on the students' stages."""
        if self._state == "shows":
            self._state = "ends"
            self._background.wake()

    def _work(self) -> None:
        """Send the latest scene."""
        before, scene, lost = self.bar(), self._scene, False
        try:
            if scene and self._state != "ended":
                self._publish(scene)
        except ModelError as error:  # a lost host
            self.trouble, self._told, lost = str(error), None, self._state == "shows"
        except GuidedVizError as error:
            self.trouble, self._state = str(error), "ended"
        if self._loop and before != self.bar() and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._tell)
        if lost:
            time.sleep(PAUSE)
            self._background.wake()

    def _publish(self, scene: Published) -> None:
        """Send what the host lacks of a scene."""
        trace, guide, player = scene
        told, ended = self._told, self._state == "ends"
        same_head = told is not None and told[0][:2] == (trace, guide) and told[2].settings == player.settings
        head = told[1] if told and same_head else make_head(trace, guide, self._vocabulary, player.settings)
        known = told if same_head and told and told[2].walk is player.walk else None
        start = shared_steps(known[2].taken, player.taken) if known else 0
        messages = write_changes(self._run, None if same_head else head, player, start, ended)
        try:
            for message in messages:
                self.followers = int(json.loads(self._wire.ask("POST", "/v1/run", message)).get("followers", 0))
        except SettingError as error:
            if told is None or "no run" not in error.seen:
                raise
            self._told = None  # the host was restarted: it gets everything
            return self._publish(scene)
        self._told, self.trouble = (scene, head, player), ""
        self._state = "ended" if ended else self._state
