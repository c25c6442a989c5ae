"""The tokens of a class or of each student: where they come from, and what is wrong with one that others can see."""

import os
import secrets
import shlex
import sys
from pathlib import Path

from guidedviz.errors import GuidedVizError, SettingError, quoted
from guidedviz.host.limits import TEACHER

SHORTEST = 16  # characters of a token


def read_tokens(path: Path) -> dict[str, str]:
    """The tokens in a file: a line per student, with a name, a space and the token; or one token for the class."""
    where = f"tokens file {quoted(str(path))}"
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        seen = getattr(error, "strerror", None) or "other bytes than UTF-8"
        hint = "correct the path after --tokens"
        raise SettingError(where, seen=seen, expected="a text file that can be read", hint=hint) from None
    found: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        here = f"{where}, line {number}"
        name, _, token = line.strip().rpartition(" ")
        check_token(here, token)
        if name.strip() in found or token in found.values():
            hint = f"delete the line, or give it another name and the token {make_token()}"
            raise SettingError(here, seen="the same name or token twice", expected="each only once", hint=hint)
        found[name.strip()] = token
    if not found:
        expected = "a line per student: name token"
        hint = f"the line `ada {make_token()}`"
        raise SettingError(where, seen="no token", expected=expected, hint=hint)
    return found


def find_tokens(file: Path | None, token: str = "") -> dict[str, str]:
    """The tokens by student: those of a file, or one for the class, else that of the variable GUIDEDVIZ_TOKEN.

    The variable GUIDEDVIZ_TEACHER_TOKEN adds the teacher's.
    """
    token = token or os.environ.get("GUIDEDVIZ_TOKEN", "")
    found: dict[str, str] = {}
    if file:
        found = read_tokens(file)
    elif token:
        found = {"": check_token("--token", token)}
    where = "GUIDEDVIZ_TEACHER_TOKEN"
    teacher = os.environ.get(where, "")
    if teacher:
        of_students = [other for name, other in found.items() if name != TEACHER]
        if not found or teacher in of_students:
            seen = "the token of a student" if found else "no token of the students"
            expected = "a token of the teacher beside those of the students"
            hint = f"{where}={make_token()}, and GUIDEDVIZ_TOKEN or --tokens for the students"
            raise SettingError(where, seen=seen, expected=expected, hint=hint)
        found[TEACHER] = check_token(where, teacher)
    return found


def warn_of_tokens(file: Path | None, token: str = "") -> None:
    """Warn of a file of tokens that others can read, and of a token that stands in the command line.

    Windows has other rights than modes, so nothing is said about a file there.
    """
    if token:
        seen = "a token in the command line, which `ps` shows to everybody"
        expected = "a token that nobody else sees"
        hint = "the variable GUIDEDVIZ_TOKEN, or --tokens FILE"
        warn(SettingError("--token", seen=seen, expected=expected, hint=hint))
    if file and os.name == "posix":
        mode = file.stat().st_mode & 0o777
        if mode & 0o077:
            seen = f"mode {mode:o}: a file that others can read"
            where = f"tokens file {quoted(str(file))}"
            hint = f"chmod 600 {shlex.quote(str(file))}"
            warn(SettingError(where, seen=seen, expected="mode 600", hint=hint))


def warn(about: GuidedVizError) -> None:
    """Print a warning beside what the host says."""
    print(f"warning: {about}", file=sys.stderr, flush=True)


def check_token(where: str, token: str) -> str:
    """A token that cannot be guessed and that fits into a header."""
    fits_into_header = token.isascii() and token.isprintable() and " " not in token
    if len(token) < SHORTEST or not fits_into_header:
        seen = f"a token of {len(token)} characters"
        expected = f"at least {SHORTEST} printable ASCII characters without spaces"
        raise SettingError(where, seen=seen, expected=expected, hint=make_token())
    return token


def make_token() -> str:
    """A new token."""
    return secrets.token_urlsafe(24)
