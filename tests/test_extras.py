"""Claims about missing packages: the error names the extra, and the command works for a clone and for a wheel."""

import sys

import pytest

import guidedviz.extras as extras
from guidedviz.errors import SettingError
from guidedviz.extras import how_to_install, is_missing, need


def test_a_missing_package_is_an_error_in_four_parts(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(SettingError) as caught:
        need("torch", "hub", "gv.load_model")
    error = caught.value
    assert (error.where, error.seen) == ("gv.load_model", "it is not installed")
    assert error.expected == "the package torch of the extra 'hub'"
    assert error.hint == how_to_install("hub")
    assert isinstance(error.__cause__, ImportError)


def test_a_package_that_is_there_and_broken_says_what_broke(tmp_path, monkeypatch):
    (tmp_path / "half_installed.py").write_text("import a_part_that_is_missing")
    monkeypatch.syspath_prepend(tmp_path)
    assert is_missing("half_installed")
    with pytest.raises(SettingError, match="saw No module named 'a_part_that_is_missing'"):
        need("half_installed", "lab")


def test_the_command_fits_a_clone_and_a_wheel(tmp_path, monkeypatch):
    monkeypatch.setattr(extras, "PACKAGE", tmp_path / "guidedviz")
    assert how_to_install("lab") == 'pip install "guidedviz[lab]"'
    (tmp_path / "pyproject.toml").touch()
    assert how_to_install("lab") == f'pip install -e ".[lab]" in {tmp_path}'
