"""Claims about the house: what an import loads, where dependencies are declared, what a wheel carries."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import guidedviz as gv

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def run(code: str, **options) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, **options)
    return done.stdout.strip()


def test_import_is_light():
    heavy = "torch transformers plotly ipywidgets anywidget numpy IPython"
    code = f"import sys, guidedviz; print([m for m in {heavy.split()!r} if m in sys.modules])"
    assert run(code) == "[]"


def test_regex_and_masks_need_no_torch():
    code = (
        "import sys, guidedviz as gv; v = gv.Vocabulary((b'a', b'1'));"
        "g = gv.guide(gv.regex('[0-9]+'), v); g.mask(g.initial); gv.masked_softmax([1, 2], {0});"
        "print([m for m in ('torch', 'transformers', 'ipywidgets') if m in sys.modules])"
    )
    assert run(code) == "[]"


def test_every_name_of_the_front_door_opens():
    assert [name for name in gv.__all__ if getattr(gv, name, None) is None] == []
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = gv.nothing


def test_environment_yml_declares_nothing_of_its_own():
    wanted = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    conda = [d for d in wanted if isinstance(d, str)]
    assert [d for d in wanted if not isinstance(d, str)] == [{"pip": ["-e .[lab]"]}]
    assert {d.split("=")[0] for d in conda} == {"python", "pip", "graphviz"}
    python = next(d for d in conda if d.startswith("python")).split("=")[1]
    assert tuple(map(int, python.split("."))) >= tuple(map(int, PROJECT["requires-python"].strip(">=").split(".")))


def test_all_extras_are_there_and_lab_has_what_the_user_chose():
    extras = PROJECT["optional-dependencies"]
    names = {d.split(">")[0].split("=")[0] for d in [*PROJECT["dependencies"], *extras["lab"]]}
    assert {"lab", "engines", "test"} == set(extras)
    assert {"jupyterlab", "ipywidgets", "torch", "transformers", "graphviz", "pygraphviz", "plotly", "numpy"} <= names
    assert "torch>=2.11,<2.14" in PROJECT["dependencies"]


def test_a_wheel_carries_models_and_museum(tmp_path):
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    install = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--no-deps",
        "--quiet",
        "--target",
        str(tmp_path / "site"),
        str(wheel),
    ]
    subprocess.run(install, check=True)
    code = (
        "import guidedviz as gv; assert 'site' in gv.__file__;"
        "print(len(gv.load_model('bard').vocabulary), len(gv.load_model('clerk').vocabulary))"
    )
    assert run(code, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(tmp_path / "site")}) == "65 4096"
    assert (tmp_path / "site/guidedviz/widgets/stage.js").exists()
    for name in ("differences.json", "traces/overlap-cpu.json"):
        assert (tmp_path / "site/guidedviz" / name).exists()


def test_jupyterlab_is_told_to_keep_the_pictures_of_saved_stages():
    (told,) = (Path(sys.prefix) / "share/jupyter/lab/settings/overrides.d").glob("guidedviz.json")
    assert json.loads(told.read_text())["@jupyter-widgets/jupyterlab-manager:plugin"] == {"saveState": True}


def test_the_readme_names_every_lab_and_both_commands():
    readme = (ROOT / "README.md").read_text()
    assert "make lab" in readme
    assert "make test" in readme
    for source in sorted((ROOT / "labs/src").glob("*.py")):
        assert source.stem in readme
