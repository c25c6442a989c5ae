"""The class of a hub: names, passwords, tokens. `python class_list.py students.txt ada grace` adds students."""

from __future__ import annotations

import hmac
import ipaddress
import os
import pwd
import re
import secrets
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from guidedviz.errors import GuidedVizError, SettingError, quoted
from guidedviz.host.access import make_token, read_tokens
from guidedviz.host.limits import digest

NAME = re.compile(r"[a-z][a-z0-9_-]{0,30}")
LETTERS = "bcdfghjkmnpqrstvwxyz"  # none that look alike, no words
PEOPLE = range(1000, 60000)  # the user ids that Linux gives to people


def read_class(path: Path) -> dict[str, str]:
    """The passwords by student, from a file that nobody else can read, with a line per student: name password."""
    where = f"class list {quoted(str(path))}"
    if not path.is_file():
        hint = f"python {Path(__file__).name} {path} ada grace"
        raise SettingError(where, seen="no such file", expected="a line per student: name password", hint=hint)
    if path.stat().st_mode & 0o077:
        raise SettingError(where, seen="a file that others can read", expected="mode 600", hint=f"chmod 600 {path}")
    students = read_tokens(path)
    for name in students:
        check_name(where, name)
    return students


def check_name(where: str, name: str) -> None:
    """Refuse names that do not fit an account, and accounts of the system such as root."""
    if not NAME.fullmatch(name):
        expected = "a small letter, then at most 30 small letters, digits, - and _"
        raise SettingError(where, seen=f"the name {quoted(name)}", expected=expected)
    try:
        number = pwd.getpwnam(name).pw_uid
    except KeyError:
        return
    if number not in PEOPLE:
        raise SettingError(where, seen=f"{name}, an account of the system", expected="names of students")


def make_accounts(names: Iterable[str], homes: Path = Path("/home")) -> None:
    """Make an account of the system per student that has none; a home from before stays with its owner."""
    there = {account.pw_name for account in pwd.getpwall()}
    lacking = sorted((not (homes / name).exists(), name) for name in names if name not in there)
    for new, name in lacking:  # the homes from before come first: no new account takes their number
        words = ["useradd", "--create-home", "--user-group", "--shell", "/bin/bash", "-K", "HOME_MODE=0700"]
        owner = 0 if new else (homes / name).stat().st_uid
        if not new and owner not in PEOPLE:
            raise SettingError(f"home of {name}", seen=f"owner {owner}", expected="a student's home")
        subprocess.run([*words, *(() if new else ("--uid", str(owner))), name], check=True)


def is_right(students: Mapping[str, str], name: str, password: str) -> bool:
    """Whether this is the student's password, compared in constant time."""
    return hmac.compare_digest(digest(students.get(name, make_token())), digest(password))


def add_students(path: Path, names: Iterable[str]) -> None:
    """Add students with new passwords to a file; who is in it stays."""
    there = read_class(path) if path.exists() else {}
    new = {}
    for name in map(str.lower, names):
        check_name("name", name)
        new |= {} if name in there else {name: make_password()}
    write_secret(path, there | new)


def make_password() -> str:
    """A password of 69 random bits that can be typed: four groups of four letters."""
    return "-".join("".join(secrets.choice(LETTERS) for _ in range(4)) for _ in range(4))


def keep_tokens(path: Path, names: Iterable[str]) -> dict[str, str]:
    """A token of the host per student; those of an earlier start stay, because servers may still use them."""
    there = read_tokens(path) if path.exists() else {}
    tokens = {name: there.get(name) or make_token() for name in names}
    write_secret(path, tokens)
    return tokens


def write_secret(path: Path, lines: Mapping[str, str]) -> None:
    """Write a file with a line per name, in one move; only its owner can read it."""
    beside = path.with_name(path.name + ".new")
    beside.unlink(missing_ok=True)
    with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.writelines(f"{name} {secret}\n" for name, secret in lines.items())
    beside.replace(path)


def check_safety(url: str, root: bool, trial: bool, behind_https: bool) -> None:
    """Refuse a hub that others can reach without HTTPS or in a trial, and accounts that only root can make.

    >>> check_safety("http://127.0.0.1:8000", root=False, trial=True, behind_https=False)
    """
    where, name = f"GUIDEDVIZ_BIND {quoted(url)}", urlsplit(url).hostname or ""
    try:
        inside = ipaddress.ip_address(name).is_loopback
    except ValueError:
        inside = name == "localhost"
    if trial and (behind_https or not inside):
        hint = "start it as root without GUIDEDVIZ_TRIAL"
        raise SettingError(where, seen="a trial: one account for all", expected="http://127.0.0.1:8000", hint=hint)
    if not inside and not behind_https:
        hint = "README.md, HTTPS; then GUIDEDVIZ_BEHIND_HTTPS=1"
        raise SettingError(where, seen="no HTTPS", expected="http://127.0.0.1:8000", hint=hint)
    if trial and root:
        hint = "start it without root, or without GUIDEDVIZ_TRIAL: then each student has an account"
        expected = "another account: a student's server does not start as root"
        raise SettingError("GUIDEDVIZ_TRIAL", seen="a trial as root", expected=expected, hint=hint)
    if not trial and not root:
        hint = "sudo, or GUIDEDVIZ_TRIAL=1 to look at it on this machine"
        raise SettingError("accounts of students", seen="not root", expected="root", hint=hint)


def check_reach(files: Iterable[Path]) -> None:
    """Refuse files that students cannot read: their servers would end at once, and the hub would wait 30 seconds."""
    for file in files:
        for path in (file, *file.parents, *file.resolve().parents):
            if not path.stat().st_mode & (0o001 if path.is_dir() else 0o004):
                seen = f"{quoted(str(path), 200)}, closed to students"
                expected = "files and folders that everyone can read"
                hint = "install guidedviz outside /root, such as in /opt"
                raise SettingError(f"a student's {file.name}", seen=seen, expected=expected, hint=hint)


if __name__ == "__main__":
    try:
        if len(sys.argv) < 3:
            raise SettingError("class_list.py", seen="no names", expected="a file and the names of students")
        add_students(Path(sys.argv[1]), sys.argv[2:])
    except GuidedVizError as error:
        sys.exit(str(error))
