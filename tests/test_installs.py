"""Claims about a bare install: a wheel in an environment of its own, with NumPy and nothing else."""

import json
import os
import re
import shutil
import subprocess
import sys
import venv
from functools import partial
from pathlib import Path
from zipfile import ZipFile

import numpy
import pytest

import guidedviz as gv
from guidedviz.commands.exercises import numbered_labs
from guidedviz.commands.export import assignment
from guidedviz.commands.labs import find_labs, find_pages

ROOT = Path(__file__).resolve().parent.parent
HEAVY = "torch transformers graphviz pygraphviz ipywidgets anywidget plotly IPython resvg_py jupyterlab llama_models"
MODELS = """
import contextlib, io, json, sys
import guidedviz as gv
from guidedviz.__main__ import main
assert "bare" in gv.__file__, gv.__file__
said = {"ready": repr(gv.readiness())}
for name in gv.__all__:
    getattr(gv, name)
for name, size in (("bard", 65), ("clerk", 4096)):
    model = gv.load_model(name)
    assert len(model.vocabulary) == size
guide = gv.guide(gv.regex("[0-9]{4}-[0-9]{2}"), model.vocabulary)
said["text"] = gv.record(model, "We met on March 3rd 2024.\\nDate as YYYY-MM:\\n", guide, max_tokens=20).text
with contextlib.redirect_stdout(io.StringIO()) as terminal:
    assert main(["demo"]) == 0
said["demo"] = terminal.getvalue()
for shown in (
    gv.stage(model, "Price:\\n", guide, max_tokens=9),
    gv.bias_sliders(model, "Price:\\n", ["$"]),
    gv.fraction_slider(model),
    gv.film(gv.views.dfa_frames("a|b")),
    gv.folded(gv.regex("abc")),
):
    said[type(shown).__name__] = shown._repr_mimebundle_()
print(json.dumps(said))
"""
PICTURES = """
import json, sys
import guidedviz as gv
from guidedviz.files import shipped
heavy = sys.argv[1].split()
assert not [name for name in heavy if name in sys.modules]
json_machine, date = gv.json(), gv.regex("[0-9]{4}-[0-9]{2}")
vocabulary = gv.Vocabulary([b"<eos>", b"1", b"2", b"-", b"{", b"}", b"\\x22"], eos={0})
drawn = [gv.draw_machine(json_machine), gv.draw_machine(date, [0, 1]), gv.draw_stack_table(json_machine, b"[{")]
for engine in ("index", "split", "trie"):
    drawn.append(gv.draw_map(gv.guide(date if engine == "index" else json_machine, vocabulary, engine)))
drawn.append(gv.draw_machine(gv.json_schema({"type": "object", "properties": {"a": {"type": "integer"}}})))
chart = gv.views.draw_break_even({"table": (40, 0.02), "walk": (0, 1.02)})
for number, figure in enumerate([*drawn, chart]):
    assert figure._repr_mimebundle_()["text/plain"]
    figure.save(f"{number}.svg")
    figure.save(f"{number}.html")
gv.decoding.Overlap.load(shipped("traces/overlap-cpu.json"))
wanted = {
    "lab graphviz": lambda: gv.to_dot(date),
    "lab plotly": lambda: chart.plotly,
    "lab resvg_py": lambda: chart.save("x.png"),
    "lab anywidget": lambda: gv.folded(date).display.widget,
    "lab llama_models": gv.Vocabulary.llama3,
    "engines xgrammar": lambda: gv.guide(date, vocabulary, "xgrammar"),
    "hub torch": lambda: gv.load_model("clerk", device="torch"),
}
errors = {}
for name, ask in wanted.items():
    try:
        ask()
    except gv.GuidedVizError as error:
        errors[name] = str(error)
print(json.dumps(errors))
"""


@pytest.fixture(scope="module")
def bare(tmp_path_factory, exported):
    """Runs Python in an environment with the wheel that the export wrote, and NumPy; its output."""
    here = tmp_path_factory.mktemp("bare")
    (built,) = exported[0]["otter"].glob("*.whl")
    wheel = shutil.copy(built, here)
    venv.create(here / "env", with_pip=False, symlinks=os.name != "nt")
    python = here / "env" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    code = "import sysconfig; print(sysconfig.get_paths()['purelib'])"
    site = Path(subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip())
    for found in Path(numpy.__file__).parents[1].iterdir():
        if re.match(r"numpy\b", found.name):
            (site / found.name).symlink_to(found)
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps", "--no-index", wheel]
    subprocess.run([*install, "--quiet", "--no-compile"], check=True)
    away = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "GUIDEDVIZ_HEADLESS")}

    def run(*words: str, program: Path = python) -> str:
        done = subprocess.run([program, *words], cwd=here, env=away, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run.site = site
    run.wheel = Path(wheel)
    run.guidedviz = partial(run, program=python.with_name(f"guidedviz{python.suffix}"))
    return run


def test_models_and_every_widget_work_as_stills(bare):
    said = json.loads(bare("-c", MODELS))
    ready = said.pop("ready")
    for extra, package in (("lab", "anywidget"), ("hub", "torch"), ("engines", "xgrammar")):
        line = rf'^{extra}\b.*\b{package} not installed.*pip install "guidedviz\[{extra}\]"'
        assert re.search(line, ready, re.MULTILINE), ready
    assert re.fullmatch(r"\d{4}-\d\d", said.pop("text"))
    assert re.search(r"^with mask     \d{4}-\d\d-\d\d ", said.pop("demo"), re.MULTILINE)
    for name, bundle in said.items():
        assert bundle["text/html"].startswith("<img "), name
        assert 'pip install "guidedviz[lab]"' in bundle["text/plain"].splitlines()[-1], name
    assert len(said) == 5


def test_pictures_need_nothing_and_the_rest_names_its_extra(bare):
    errors = json.loads(bare("-c", PICTURES, HEAVY))
    for name, error in errors.items():
        extra, package = name.split()
        assert f'pip install "guidedviz[{extra}]"' in error, name
        assert package in error, name
    assert len(errors) == 7


def test_the_labs_come_out_of_the_wheel(bare):
    said = bare("-m", "guidedviz", "labs", "mine", "--no-open", "--solutions")
    assert said == f"{len(find_labs(solutions=True))} notebooks copied to mine\n"
    inside = bare.site / "guidedviz/assets/labs"
    found = {path.relative_to(inside).as_posix() for path in inside.rglob("*") if path.is_file()}
    assert found == {*find_labs(solutions=True), *find_pages()}


def test_the_command_of_a_wheel_says_its_version_and_copies_what_a_teacher_needs(bare):
    assert bare.guidedviz("--version") == f"guidedviz {gv.__version__}\n"
    said = bare.guidedviz("teach", "teacher", "--no-open")
    copied = len(find_pages()) + len(find_labs(solutions=True))
    assert said.startswith(f"{copied} pages and notebooks copied to teacher\n")
    for name, source in find_pages().items():
        assert (bare.wheel.parent / "teacher" / name).read_bytes() == source.read_bytes()


@pytest.fixture(scope="module")
def grader(bare):
    """What the wheel exports for Otter."""
    bare.guidedviz("export", "otter", "grader")
    return bare.wheel.parent / "grader"


@pytest.mark.slow
def test_a_wheel_is_enough_to_export_the_assignments(bare, grader):
    names = numbered_labs()
    assert bare.guidedviz("export", "nbgrader", "course").count("\n") == len(names)
    for name in names:
        of_course = bare.wheel.parent / f"course/source/{name}/{name}.ipynb"
        assert json.loads(of_course.read_text(encoding="utf-8")) == assignment(name, "nbgrader")
        of_otter = grader / f"{name}.ipynb"
        assert json.loads(of_otter.read_text(encoding="utf-8")) == assignment(name, "otter", bare.wheel.name)


@pytest.mark.slow
def test_the_wheel_for_the_grader_of_otter_is_the_one_that_was_installed(bare, grader):
    found = []
    for wheel in (bare.wheel, grader / bare.wheel.name):
        with ZipFile(wheel) as packed:
            names = [name for name in packed.namelist() if ".data/" not in name]
            record = next(name for name in names if name.endswith("/RECORD"))
            files = {name: packed.read(name) for name in names if name != record}
            lines = [line for line in packed.read(record).splitlines() if b".data/" not in line]
        found.append((files, sorted(lines)))
    assert found[0] == found[1]


def test_the_wheel_carries_bundles_and_records_and_nothing_they_are_made_of(bare):
    page = bare.site / "guidedviz/widgets/page"
    assert {path.name for path in page.iterdir()} == {"dist", "loader.js"}
    assert {"film.js", "class.html", "class.js", "class.css"} <= {path.name for path in (page / "dist").iterdir()}
    assert {path.name for path in (bare.site / "guidedviz/assets").iterdir()} == {"labs", "models", "traces"}
    own = [path for path in (bare.site / "guidedviz").rglob("*") if path.is_file()]
    assert not [path for path in own if ".ipynb_checkpoints" in path.parts]
    assert sum(path.stat().st_size for path in own) < 44e6, "with NumPy and pip the install stays below 120 MB"
