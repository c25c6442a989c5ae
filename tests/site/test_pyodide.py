"""Python for a browser tab is the archive whose digest stands in the repository."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.site.load import load

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def lite():
    return load("lite_build", ROOT / "assets/lite/build.py")


@pytest.fixture
def registry(monkeypatch, tmp_path):
    """A registry whose archive of Pyodide holds these bytes."""

    def answer(content):
        def pack(words, **options):
            assert words[:2] == ["npm", "pack"]
            (tmp_path / "pyodide.tgz").write_bytes(content)
            return subprocess.CompletedProcess(words, 0, "pyodide.tgz\n")

        monkeypatch.setattr(subprocess, "run", pack)

    return answer


def test_an_archive_with_another_digest_is_refused_before_it_is_unpacked(lite, registry, tmp_path):
    registry(b"another archive")
    expected = rf"^pyodide\.tgz: saw sha512-\S{{88}}, expected {re.escape(lite.PYODIDE_INTEGRITY)}; try: "
    with pytest.raises(SystemExit, match=expected):
        lite.get_pyodide(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_digest_is_a_whole_one(lite):
    assert re.fullmatch(r"sha512-[A-Za-z0-9+/]{86}==", lite.PYODIDE_INTEGRITY)
