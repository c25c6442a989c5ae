"""What a student who gave a nickname tells the host of the class: the lab, and the check or the question there.

Without a nickname nothing is sent. A report is sent from a thread of its own, and is never an error: no check waits for
a host. After a failure nothing is sent for a while, and then all that the host lacks. A host that has started again
lacks all; each of its answers says which start it is, also an answer to another request of this kernel.
"""

import hashlib
import json
import os
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Any, Literal

from guidedviz.errors import GuidedVizError, SettingError, quoted, shorten
from guidedviz.extras import headless, need
from guidedviz.files import read_bounded
from guidedviz.models.connection import HEARD, Address, Connection, read_address
from guidedviz.models.remote import Background, mark_used

REPORT_TIMEOUT = 2.0  # seconds
REPORT_PAUSE = 30.0  # seconds without reports after a failure
LONGEST_PAUSE = 600.0  # after many
AGAIN = 5.0  # seconds at least between two times that all is told again
MOST_REPORTS = 64  # an older one is dropped
NICKNAME = 32  # characters
PLACE_LENGTH = 300
ANSWER = 120
LAB = re.compile(r"(\d\d_[a-z0-9_]{1,40}|project)(-fresh(-\d+)?)?")
BLANK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL
RACE_PLACES = ("race, compile", "race, first mask", "race, warm mask")
State = Literal["open", "answered", "right", "wrong"]


def find_secret() -> str:
    """The secret of this account's students: all kernels share it, in a file that only the account can read.

    So a student whose kernel starts again stays the same one. Without such a file each kernel has a secret of its own.
    """
    made = secrets.token_urlsafe(24)
    try:
        folder = Path(need("platformdirs", "lab").user_state_dir("guidedviz", appauthor=False))
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError), open(os.open(folder / "secret", NEW_FILE, 0o600), "w") as file:
            file.write(made)
        found = read_bounded(folder / "secret", 2 * len(made)).decode("ascii")
    except (GuidedVizError, OSError, UnicodeDecodeError):
        return made
    return found if len(found) == len(made) else made


class Reporter:
    """Sends the reports of one student."""

    def __init__(self, place: Address, nickname: str) -> None:
        self.place = place
        self.nickname = nickname
        own = hashlib.sha256(f"{find_secret()} {nickname} {place}".encode()).hexdigest()  # no host learns another's
        self._wire = Connection(place, patience=0.0, timeout=REPORT_TIMEOUT, secret=own)
        self._told: OrderedDict[Any, dict[str, Any]] = OrderedDict()  # the last report about each place
        self._untold: OrderedDict[Any, None] = OrderedDict()  # the places of which the host lacks it
        self._start = ""  # of the host
        self._deaf_until = 0.0  # when another start may be heard
        self._quiet_until = 0.0
        self._pause = REPORT_PAUSE
        self._background = Background(self._send)

    def tell(self, report: dict[str, Any]) -> None:
        """Send a report soon."""
        said = {"nickname": self.nickname, "lab": name_lab(), **report}
        place = said["lab"], said["place"]
        before = self._told.pop(place, said)
        is_open = "choices" not in before or before.get("answer") is None
        self._told[place] = said if is_open else before  # the first answer to a question counts
        mark_used(self._told, place, MOST_REPORTS)
        self._untold[place] = None
        self._wake()

    def hear(self, start: str) -> None:
        """A host that has started again knows nothing of the class: tell it all again, at once."""
        now = time.monotonic()
        if start != self._start and now >= self._deaf_until:
            if self._start:
                self._untold = OrderedDict.fromkeys(self._told)  # in this order, so that the last place is told last
                self._quiet_until = 0.0
                self._deaf_until = now + AGAIN
            self._start = start
        self._wake()

    @property
    def _may_send(self) -> bool:
        return bool(self._untold) and time.monotonic() >= self._quiet_until

    def _wake(self) -> None:
        if self._may_send:
            self._background.wake()

    def _send(self) -> None:
        while self._may_send:
            place, _ = self._untold.popitem(last=False)
            told = self._told.get(place)
            if told is None:  # newer ones took its room
                continue
            try:
                self._wire.ask("POST", "/v1/class", json.dumps(told).encode())
                self._pause = REPORT_PAUSE
            except SettingError:  # the host never takes this report
                self._told.pop(place, None)
            except Exception:  # a lost host, one of another version: the lab goes on
                self._untold[place] = None
                self._untold.move_to_end(place, last=False)
                self._quiet_until = time.monotonic() + self._pause
                self._pause = min(2 * self._pause, LONGEST_PAUSE)
        self._wire.close()


_joined: Reporter | None = None


def hear(place: Address, start: str) -> None:
    """Hear which start of a host has answered."""
    if _joined and start and str(place) == str(_joined.place):
        _joined.hear(start)


HEARD.append(hear)


def join_class(place: Address, nickname: str) -> None:
    """Report to this host from now on."""
    global _joined
    _joined = Reporter(place, check_nickname(nickname))


def report(
    place: str, state: State, choices: Sequence[str] | None = None, answer: str | int | float | None = None
) -> None:
    """Tell where this student stands, if they gave a nickname; it neither waits nor raises an error.

    The nickname is that of `gv.load_model(..., nickname=...)`, or of two variables.
    `choices` are those of a question, () for one that asks for a number. An answer without choices is a number that is
    told anew each time.
    """
    with suppress(GuidedVizError):
        host, nickname = (os.environ.get(f"GUIDEDVIZ_{name}", "") for name in ("HOST", "NICKNAME"))
        if _joined is None and host and nickname and not headless():
            join_class(read_address(host), nickname)
        if _joined:
            told = {"place": shorten(place, PLACE_LENGTH), "state": state}
            _joined.tell(told | write_answer(choices, answer))


def write_answer(choices: Sequence[str] | None, answer: str | int | float | None) -> dict[str, Any]:
    """The fields of an answer in a report; none for a check.

    >>> write_answer(None, None), write_answer(["yes", "no"], None), write_answer(None, 2.5)
    ({}, {'choices': ['yes', 'no'], 'answer': None}, {'answer': 2.5})
    """
    told: dict[str, Any] = {}
    if choices is not None:
        told["choices"] = [shorten(choice, ANSWER) for choice in choices]
    if told or answer is not None:
        told["answer"] = shorten(answer, ANSWER) if isinstance(answer, str) else answer
    return told


def can_be_seen(text: str) -> bool:
    r"""Whether a name has no control, bidirectional, zero-width or blank characters, and no lone surrogates.

    >>> can_be_seen("Ada L."), can_be_seen("A\u202eda"), can_be_seen("Ada\u200b"), can_be_seen("\ud800")
    (True, False, False, False)
    """
    return text.isprintable() and not BLANK.search(text)


def check_nickname(nickname: object) -> str:
    """A short name of characters that can be seen.

    >>> check_nickname(" Ada ")
    'Ada'
    """
    found = nickname.strip() if isinstance(nickname, str) else ""
    if not 0 < len(found) <= NICKNAME or not can_be_seen(found):
        expected = f"1 to {NICKNAME} characters that can be seen"
        raise SettingError("nickname", seen=quoted(nickname), expected=expected, hint='nickname="Ada"')
    return found


def name_lab() -> str:
    """The name of the lab that runs here; another notebook has none, because its name may say more.

    >>> name_lab()
    ''
    """
    path = PurePath(os.environ.get("JPY_SESSION_NAME", ""))  # set by Jupyter's server
    if path.parent.name == "deeper" and re.fullmatch(r"[a-z0-9_]{1,40}", path.stem):
        return path.stem
    found = LAB.fullmatch(path.stem)
    return found[1] if found else ""
