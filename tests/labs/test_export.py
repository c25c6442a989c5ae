"""The exported assignments: the solved answers get all points, the open ones none, in cells that both graders know."""

import io
import json
import subprocess
import sys
import zipfile
from contextlib import redirect_stdout
from functools import cache

import nbformat
import pytest
import yaml

import guidedviz as gv
from guidedviz.commands import export
from guidedviz.commands.exercises import numbered_labs, read_exercises
from tests.labs.sources import NUMBERED as LABS_OF_THE_COURSE
from tests.labs.sources import build

WIDGETS = ("gv.stage", "gv.film", "gv.predict", "gv.score", "_slider", "_map(", "bias_sliders", "gv.folded")
CHEATS = {
    "another module": "gv.checks = Yes()",
    "another check inside": "import guidedviz.checks as c; vars(c)['CHECK'] = Yes(); vars(c)['__getattr__'] = Yes()",
    "every entry": "import sys; gv.checks.CHECK; sys.modules |= {n: Yes() for n in sys.modules if 'checks' in n}",
    "another library": "import sys; sys.modules['guidedviz'] = gv = guidedviz = Yes()",
    "another comparison": "from guidedviz.checks import function as f; f.alike = f.agrees = f.check_function = Yes()",
    "another guard": "from guidedviz.checks import guard; guard.run = lambda f, given: []",
    "another loader": "import guidedviz.lazy as l; l.attach = lambda *given: (lambda name: Yes(), dir, [])",
    "another sign": "import guidedviz.errors, guidedviz.views.figure as f; f.Figure = guidedviz.errors.shorten = Yes()",
    "another report": "import guidedviz.models.remote as r; r.report = lambda name, result: Yes()",
    "another library in place": "import sys; vars(sys.modules['guidedviz']).update(checks=Yes(), __path__=[])",
}
YES = """
class Yes:
    def __getattr__(self, name):
        return self
    def __call__(self, *args, **more):
        return True
"""
NUMBERED = [*LABS_OF_THE_COURSE, build.PROJECT]  # what is exported
each_lab = pytest.mark.parametrize("name", NUMBERED)


@cache
def exercises(name):
    return list(read_exercises(name))


@cache
def assignment(name, form):
    """An assignment as nbformat reads it."""
    return nbformat.reads(json.dumps(export.assignment(name, form)), as_version=4)


def grade(name, which, anew):
    """The points of each exercise of an assignment whose answers are the solved or the open ones.

    A check imports the library anew, which takes most of its time: as many of the first do so as `anew` says, and the
    others use the library that is loaded.
    """
    namespace, points = {}, []
    with redirect_stdout(io.StringIO()):
        for number, exercise in enumerate(exercises(name)):
            check = exercise.check
            if number >= anew:
                check = check.replace("sys.modules.pop(name)", "sys.modules[name]")
            try:
                for code in (*exercise.needed, getattr(exercise, which), check):
                    exec(code, namespace)
            except AssertionError:
                points.append(0)
            else:
                points.append(exercise.points)
    return points


@each_lab
@pytest.mark.quick("03_fsm")
def test_the_solved_answers_get_all_points_and_the_open_ones_none(name, monkeypatch):
    monkeypatch.setenv("GUIDEDVIZ_HEADLESS", "1")
    points = [exercise.points for exercise in exercises(name)]
    assert grade(name, "solved", anew=1) == points
    assert not any(grade(name, "opened", anew=0))


@pytest.mark.parametrize("cheat", CHEATS.values(), ids=CHEATS)
@pytest.mark.quick("another library in place")
def test_an_answer_that_replaces_the_checks_gets_no_points(cheat):
    exercise = exercises("07_pda")[0]
    replaced = cheat.replace("CHECK", exercise.name)
    answer = f"{exercise.opened}\n{YES}\n{replaced}\nprint('answered')"
    code = "\n".join([*exercise.needed, answer, exercise.check, "print('scored')"])
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "answered" in done.stdout, done.stderr
    assert "scored" not in done.stdout


def test_a_check_leaves_the_library_of_the_notebook_as_it_was():
    exercise, space = exercises("03_fsm")[0], {}
    before = {name: module for name, module in sys.modules.items() if name.startswith("guidedviz")}
    code = "\n".join([*exercise.needed, exercise.solved, exercise.check])
    with redirect_stdout(io.StringIO()):
        exec(code, space)
    for name, module in before.items():
        assert sys.modules[name] is module
    assert space["guidedviz"] is not gv


def test_another_model_in_the_name_of_the_lab_s_gets_no_points():
    exercise = next(one for one in exercises("01_logit_bias") if one.name == "only_answers")
    space = {"gv": gv, "only": {0: 100}, "clerk": gv.ToyModel([b"yes", b"no"], lambda tokens: [0.0, 0.0])}
    with pytest.raises(AssertionError, match="yours gave"):
        exec(exercise.check, space)


def test_the_text_of_an_exercise_begins_with_its_own_heading():
    named = {one.name: one for one in read_exercises("13_when_it_goes_wrong")}
    assert named["broken"].text.startswith("## Exercise 2 · Your own run ★")
    broken = named["broken"]
    assert "broken_run(SEED)" in "".join(broken.needed) + broken.text
    assert named["one_blank"].text.startswith("### At most one ★")


@each_lab
def test_nbgrader_knows_every_answer_and_every_check(name):
    every_cell = assignment(name, "nbgrader").cells
    cells = [cell for cell in every_cell if "nbgrader" in cell.metadata]
    for answer, check, exercise in zip(cells[::2], cells[1::2], exercises(name), strict=True):
        assert answer.metadata.nbgrader.solution
        assert not answer.metadata.nbgrader.locked
        assert "### BEGIN SOLUTION\n" in answer.source
        assert "\n### END SOLUTION" in answer.source
        assert check.metadata.nbgrader.points == exercise.points
        assert check.metadata.nbgrader.grade is True
        assert "import guidedviz.checks  # anew" in check.source
    ids = {cell.metadata.nbgrader.grade_id for cell in cells}
    assert len(ids) == len(cells)


@each_lab
def test_otter_finds_its_marks_in_order(name):
    marks = [cell.source.split("\n")[0] for cell in assignment(name, "otter").cells if cell.cell_type == "raw"]
    names = ("BEGIN QUESTION", "BEGIN SOLUTION", "END SOLUTION", "BEGIN TESTS", "END TESTS", "END QUESTION")
    question = [f"# {name}" for name in names]
    assert marks == ["# ASSIGNMENT CONFIG", *question * len(exercises(name))]


@each_lab
def test_the_library_reads_of_the_notebooks_what_the_source_of_the_lab_says(name):
    wanted = []
    for _, code in build.read_cells(build.read_source(name)):
        if "# solution:" in code:
            settled = [build.settle_exercise(code, solved) for solved in (True, False)]
            before_checks = [one.partition("gv.checks.")[0].rstrip() for one in settled]
            wanted.append(tuple(before_checks))
    assert [(exercise.solved, exercise.opened) for exercise in exercises(name)] == wanted
    assert name in numbered_labs()


def test_an_unknown_lab_is_an_error_of_the_library():
    with pytest.raises(gv.SettingError, match="saw no solution, expected a lab such as 03_fsm"):
        exercises("99_nothing")


@each_lab
@pytest.mark.parametrize("form", export.FORMATS)
@pytest.mark.quick(every=4)
def test_an_assignment_is_a_notebook_without_widgets(name, form):
    notebook = assignment(name, form)
    nbformat.validate(notebook)
    codes = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    for code in codes:
        assert not any(widget in code for widget in WIDGETS)


def test_the_export_writes_one_assignment_per_lab(exported):
    folders, said = exported
    assert said.count("\n") == 2 * len(NUMBERED)
    for form, place in (("nbgrader", "source/{0}/{0}.ipynb"), ("otter", "{0}.ipynb")):
        for name in NUMBERED:
            assert (folders[form] / place.format(name)).exists()


def test_the_grader_of_otter_installs_the_wheel_beside_the_assignment_and_nothing_by_name(exported):
    folder = exported[0]["otter"]
    for name in NUMBERED:
        said = yaml.safe_load(nbformat.read(folder / f"{name}.ipynb", as_version=4).cells[0].source)
        (wheel,), (needed,) = said["autograder_files"], said["requirements"]
        assert needed == f"guidedviz[lab] @ file:///autograder/source/files/{wheel}"
        assert zipfile.is_zipfile(folder / wheel)
