"""The labs keep their own laws, and what is committed is what their sources give."""

import re
import symtable
from functools import cache
from statistics import median

import nbformat
import pytest

from tests.labs.sources import BUILT, LABS, NAMES, NUMBERED, build

BOTH = [(name, solved) for name in BUILT for solved in (False, True)]
each_lab = pytest.mark.parametrize("name", NAMES)
each_source = pytest.mark.parametrize("name", BUILT)
each_notebook = pytest.mark.parametrize(("name", "solved"), BOTH, ids=[f"{n}{' solved' * s}" for n, s in BOTH])


@cache
def committed(name, solved):
    return nbformat.read(build.target(name, solved), as_version=4)


@cache
def built(name, solved):
    """A notebook as its source gives it, which the tests only read: to build it takes a tenth of a second."""
    return build.build_notebook(name, solved)


def code_of(name, solved=True):
    cells = built(name, solved).cells
    return [cell.source for cell in cells if cell.cell_type == "code"]


def prose_of(name):
    cells = built(name, True).cells
    return [cell.source for cell in cells if cell.cell_type == "markdown"]


def outputs_of(name, solved):
    cells = [cell for cell in committed(name, solved).cells if cell.cell_type == "code"]
    return [output for cell in cells for output in cell.outputs]


# -- committed notebooks -------------------------------------------------------------------------------------------


@each_notebook
def test_a_notebook_is_valid_and_ran_from_top_to_bottom(name, solved):
    notebook = committed(name, solved)
    nbformat.validate(notebook)
    counts = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code"]
    assert counts == list(range(1, len(counts) + 1))


@each_notebook
def test_no_output_is_an_error_or_needs_a_living_kernel(name, solved):
    for output in outputs_of(name, solved):
        assert output.output_type != "error"
        assert output.get("name") != "stderr"
        kinds = output.get("data", {})
        assert not any("widget" in kind for kind in kinds)
        assert "not found" not in str(output.get("data", ""))


@each_notebook
def test_every_picture_says_in_words_what_it_shows(name, solved):
    outputs = [output for output in outputs_of(name, solved) if "data" in output]
    pages = [output.data.get("text/html", "") for output in outputs]
    pictures = [page for page in pages if "<img" in page]
    assert pictures
    assert all('alt="' in page and 'alt=""' not in page for page in pictures)


SHOWN_CHECK = re.compile(r"^gv\.checks\.", re.MULTILINE)


@pytest.mark.parametrize(("solved", "word"), [(False, "not done yet"), (True, "right")], ids=["open", "solved"])
@each_source
def test_checks_are_open_for_students_and_right_in_solutions(name, solved, word):
    cells = committed(name, solved).cells
    checks = [cell for cell in cells if SHOWN_CHECK.search(cell.source)]
    texts = [cell.outputs[-1].data["text/plain"] for cell in checks]
    assert texts
    for text in texts:
        assert text.split(": ")[0].endswith(word)


SECTIONS = re.compile(r"^# ## (\d+) ·", re.MULTILINE)
OF_A_LAB = re.compile(
    r"lab\s(\d\d)(?:\]\(\S+\))?,\ssections?\s(\d)(?:\sand\s(\d))?"
    r"|sections?\s(\d)(?:\sand\s(\d))?\sof\s\[?lab\s(\d\d)",
    re.IGNORECASE,
)


def test_every_section_of_a_lab_that_a_text_names_is_there():
    headings = {path.stem[:2]: set(SECTIONS.findall(path.read_text())) for path in (LABS / "src").glob("[0-9]*.py")}
    pages = [*LABS.glob("src/**/*.py"), *LABS.glob("teaching/*.md"), LABS.parent / "assets" / "guide.md"]
    found = 0
    for page in pages:
        text = page.read_text().replace("\n#", "\n")
        for first, one, two, other_one, other_two, last in OF_A_LAB.findall(text):
            named = {one, two, other_one, other_two} - {""}
            assert named <= headings[first or last], f"{page.name}: {named} of lab {first or last}"
            found += 1
    assert found > 10


@each_lab
def test_the_answer_to_a_prediction_is_folded_until_a_student_has_answered(name):
    folded = [[cell.id for cell in built(name, way).cells if cell.metadata.get("jupyter")] for way in (False, True)]
    assert len(folded[0]) >= 2
    assert folded[1] == []


# -- the laws of a lab ---------------------------------------------------------------------------------------------


@each_lab
def test_code_cells_are_short(name):
    shown = ["one line" if "gv.predict(" in code else code for code in code_of(name)]  # a question is folded
    lengths = []
    for code in shown:
        lines = [line for line in code.splitlines() if line.strip()]
        lengths.append(len(lines))
    assert median(lengths) <= 4
    assert max(lengths) <= 12


@each_source
def test_prose_cells_are_short(name):
    assert [text[:60] for text in prose_of(name) if len(text.replace("|", " ").split()) >= 120] == []


@each_source
def test_imports_stand_in_the_first_cell_only(name):
    first, *rest = code_of(name)
    assert "import guidedviz as gv" in first
    assert not [code for code in rest if "import " in code]


@each_source
def test_nothing_is_installed_and_no_path_is_touched(name):
    assert not re.search(r"^\s*[!%]|\bsys\.|\bos\.|Path\(", "\n".join(code_of(name)), re.MULTILINE)


OPENING = ["**Question.**", "**Goal.**", "**Time.**"]
CLOSING = ["## Often said", "## Recap", "production engines", "## Further reading"]


def assert_in_order(text, parts):
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


@each_lab
def test_a_lab_opens_with_question_goal_and_time_and_closes_with_recap_source_and_three_readings(name):
    text = "\n\n".join(prose_of(name))
    if name not in NUMBERED:
        assert_in_order(text, [*OPENING, *CLOSING[1:3]])
        return
    assert_in_order(text, [*OPENING, *CLOSING])
    readings = text.split("## Further reading")[1].split("\n## ")[0]
    assert readings.count("\n* [") == 3
    assert readings.count("](http") >= 3


@each_lab
def test_an_exercise_has_stars_and_two_hints(name):
    cells = build.read_cells(build.read_source(name))
    parts = [text if kind == "markdown" else "# code" for kind, text in cells]
    together = "\n\n".join(parts)
    exercises = re.findall(r"^## Exercise .*?(?=^# code)", together, re.MULTILINE | re.DOTALL)
    assert 1 <= len(exercises) <= 4
    assert all(build.STARS.search(text) for text in exercises)
    for text in exercises:
        assert len(build.HINT.findall(text)) == 2


@pytest.mark.parametrize("name", NUMBERED)
def test_what_follows_a_homework_exercise_in_class_has_a_heading_of_its_own(name):
    """A student who leaves out the homework leaves out all that stands under its heading."""
    source = build.read_source(name)
    at_home = solved = False
    for (kind, text), slide in zip(build.read_cells(source), build.read_slides(source), strict=True):
        headings = re.findall(r"^#+ .*$", text, re.MULTILINE) if kind == "markdown" else []
        if headings:
            at_home, solved = headings[-1].endswith(" · home"), False
        elif at_home and solved:
            in_class = kind == "question" or slide or build.WIDGET.search(text)
            assert not in_class, f"give it a heading: {text}"
        solved = solved or "# solution:" in text


@pytest.mark.parametrize("name", NUMBERED)
def test_every_source_is_a_link(name):
    text = "\n\n".join(prose_of(name)).split("production engines")[1]
    sources = re.findall(r"^\* .*(?:\n  .*)*", text, re.MULTILINE)
    assert len(sources) >= 5
    assert not [source for source in sources if "](http" not in source]


@pytest.mark.parametrize("name", NUMBERED)
def test_a_lab_has_a_page_for_the_teacher(name):
    page = LABS / "teaching" / f"{name[:2]}.md"
    text = page.read_text(encoding="utf-8")
    assert_in_order(
        text, ["## Goals", "## Fifty minutes", "## Ask", "## Misconceptions", "## Answers", "## In two minutes"]
    )
    plan = text.split("## Fifty minutes")[1].split("\n## ")[0]
    minutes = re.findall(r"^\| *(\d+) *\|", plan, re.MULTILINE)
    assert sum(map(int, minutes)) == 50


@pytest.mark.parametrize("name", NUMBERED)
def test_the_course_plan_lists_the_exercises(name):
    text = (LABS / "teaching" / "course.md").read_text(encoding="utf-8")
    course = text.split("## Exercises by lab")[1]
    found = re.findall(r"^## Exercise \d+ · (.+?)( · home)?$", "\n".join(prose_of(name)), re.MULTILINE)
    in_class, at_home = (", ".join(title for title, home in found if bool(home) == asked) for asked in (False, True))
    assert f"| {name[:2]} | {in_class} | {at_home} |" in course


@each_lab
def test_at_most_six_words_are_new(name):
    words = next(text for text in prose_of(name) if "| word | meaning |" in text)
    assert words.count("\n| **") <= 6


@each_lab
def test_one_predicts_before_one_presses(name):
    in_prose = sum("**Predict before you press.**" in text for text in prose_of(name))
    in_code = sum("gv.predict(" in code for code in code_of(name))
    assert in_prose + in_code >= 3


@each_lab
def test_every_question_is_folded_for_students_and_the_score_comes_after_the_last_one(name):
    every_cell = built(name, False).cells
    cells = [cell for cell in every_cell if cell.cell_type == "code"]
    sources = [cell.source for cell in cells]
    asking = [place for place, source in enumerate(sources) if "gv.predict(" in source]
    hidden = [place for place, cell in enumerate(cells) if cell.metadata.get("jupyter", {}).get("source_hidden")]
    assert asking == hidden
    firsts = {sources[place].partition("\n")[0] for place in asking}
    assert firsts <= {"gv.predict(", "# NBVAL_IGNORE_OUTPUT"}, "JupyterLab shows the first line of a folded cell"
    scores = [place for place, source in enumerate(sources) if source == "gv.score()"]
    assert len(scores) == bool(asking)
    assert max(asking, default=-1) < max(scores, default=0)


def read_names(code):
    """The names that a cell binds, those that it reads when it runs or later, and what each of its functions reads."""
    table = symtable.symtable(code, "cell", "exec")
    bound = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned()}
    later = {inner.get_name(): globals_of(inner) for inner in table.get_children()}
    here = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_referenced()}
    return bound, here.union(*later.values()), later


def globals_of(table):
    """The global names that a function or a comprehension reads, with those inside it."""
    own = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global()}
    return own.union(*map(globals_of, table.get_children()))


@each_lab
def test_no_later_cell_changes_what_a_question_reads(name):
    """A student may answer after all cells have run: the truth must not depend on that."""
    names = [read_names(code) for code in code_of(name)]
    for place, code in enumerate(code_of(name)):
        if "gv.predict(" not in code:
            continue
        wanted = list(names[place][1])
        for one in wanted:  # it grows by what the functions of earlier cells read
            wanted += [n for _, _, later in names[:place] for n in later.get(one, ()) if n not in wanted]
        changed = {one for bound, _, _ in names[place + 1 :] for one in bound.intersection(wanted)}
        assert not changed, code.splitlines()[1]


@each_notebook
def test_the_answer_to_a_question_stands_folded_below_it(name, solved):
    for cell in committed(name, solved).cells:
        if "gv.predict(" in cell.source:
            assert cell.outputs[-1].data["text/html"].count("<details><summary>Answer</summary>") == 1


@each_source
def test_few_outputs_may_vary(name):
    assert sum("NBVAL_IGNORE_OUTPUT" in code for code in code_of(name)) <= 2


# -- the builder ---------------------------------------------------------------------------------------------------

SOURCE = """# question: What is twice a number?

# %% [markdown]
# # Lab 42 · Double
#
# Text. **Time.** {minutes} minutes in class, {with_home} with the homework.
#
# ## Exercise 1 · Double ★★ · home

# %%
def double(x):
    # solution:
    return 2 * x
    # open:
    # ...  # twice
    # end


double(1)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of labs with one source and its two notebooks, as if they had been run."""
    (tmp_path / "src").mkdir()
    (tmp_path / "solutions").mkdir()
    (tmp_path / "src" / "42_lab.py").write_text(SOURCE)
    monkeypatch.setattr(build, "LABS", tmp_path)
    monkeypatch.setattr(build, "README", tmp_path / "README.md")
    build.README.write_text("<!-- labs: written by labs/build.py -->\n<!-- end of labs -->\n")
    build.README.write_text(build.with_table(build.README, build.table_of_labs()))
    for solved in (False, True):
        notebook = build.build_notebook("42_lab", solved)
        code_cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
        for count, cell in enumerate(code_cells, 1):
            cell.execution_count = count
        nbformat.write(notebook, build.target("42_lab", solved))
    return tmp_path


def test_a_student_gets_the_open_exercise_and_the_solution_keeps_the_solved_one(folder):
    opened, solved = (build.build_notebook("42_lab", solved).cells[-1].source for solved in (False, True))
    assert opened == "def double(x):\n    ...  # twice\n\n\ndouble(1)"
    assert solved == "def double(x):\n    return 2 * x\n\n\ndouble(1)"


def test_cell_ids_do_not_change_from_build_to_build(folder):
    notebooks = [build.build_notebook("42_lab", True) for _ in range(2)]
    ids = [[cell.id for cell in notebook.cells] for notebook in notebooks]
    assert ids[0] == ids[1] == ["42-lab-00", "42-lab-01", "42-lab-02"]


def test_fresh_notebooks_have_not_drifted(folder, capsys):
    assert build.main(["--check"]) == 0
    assert capsys.readouterr().out == ""


def test_the_minutes_and_the_table_of_labs_are_written_by_the_build(folder, capsys):
    text = build.build_notebook("42_lab", False).cells[0].source
    row = "[42 · Double](labs/42_lab.ipynb) | What is twice a number? | 5 | 15 |"
    assert "**Time.** 5 minutes in class, 15 with the homework." in text
    assert row in build.README.read_text()
    build.README.write_text(build.README.read_text().replace("| 5 |", "| 45 |"))
    assert build.main(["--check"]) == 1
    assert "README.md has another table of labs" in capsys.readouterr().out


def assert_drift(said, capsys):
    assert build.main(["--check"]) == 1
    told = capsys.readouterr().out
    assert said in told
    assert "run: python labs/build.py 42_lab" in told


CHANGES = {  # of the notebook
    "differs from its source in cell 2": lambda book: book.cells[1].update(source="double(2)"),
    "differs from its source in cell 3": lambda book: book.cells.append(nbformat.v4.new_markdown_cell("more", id="a")),
    "has other metadata": lambda book: book.metadata.update(author="me"),
    "has cells that were not run": lambda book: book.cells[-1].update(execution_count=None),
}


@pytest.mark.parametrize("said", CHANGES)
def test_a_changed_notebook_is_found_and_says_what_to_run(folder, capsys, said):
    notebook = nbformat.read(folder / "42_lab.ipynb", as_version=4)
    CHANGES[said](notebook)
    nbformat.write(notebook, folder / "42_lab.ipynb")
    assert_drift(said, capsys)


def test_a_changed_source_and_a_missing_notebook_are_found(folder, capsys):
    (folder / "src" / "42_lab.py").write_text(SOURCE.replace("Text.", "Other text."))
    assert_drift("differs from its source in cell 1", capsys)
    (folder / "42_lab.ipynb").unlink()
    assert_drift("is missing", capsys)


def test_an_unknown_lab_is_named(folder, capsys):
    with pytest.raises(SystemExit):
        build.main(["43_other"])
    assert "42_lab" in capsys.readouterr().err


@each_source
def test_a_student_finds_no_solution(name):
    for cell in built(name, False).cells:
        assert "# solution" not in cell.source
        assert "# open" not in cell.source
        assert "# end" not in cell.source


def test_an_exercise_without_an_open_version_gets_dots():
    assert build.settle_exercise("    # solution:\n    return 1\n    # end", solved=False) == "    ..."
