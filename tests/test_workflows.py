"""Claims about the workflows: they only read, run what is pinned, and publish what the tests have passed."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".github" / "workflows"
FILES = sorted(FOLDER.glob("*.yml"))
PINNED = re.compile(r"[\w-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
each_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)


def read(path):
    # YAML reads the key `on` as true
    return yaml.safe_load(path.read_text(encoding="utf-8"))


TEST, SITE = (read(FOLDER / name) for name in ("test.yml", "site.yml"))


def commands(workflow):
    """What the steps of a workflow run."""
    return [step["run"] for job in workflow["jobs"].values() for step in job.get("steps", []) if "run" in step]


@each_file
def test_every_action_is_pinned_by_its_commit_with_its_version_beside_it(path):
    used = re.findall(r"^ *(?:- )?uses: (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert used
    assert [one for one in used if not PINNED.fullmatch(one) and not (FOLDER.parents[1] / one).is_file()] == []


def test_one_action_has_one_commit_in_all_workflows():
    text = "".join(path.read_text(encoding="utf-8") for path in FILES)
    pins = set(re.findall(r"uses: ([\w-]+/[\w-]+)@(\w+)", text))
    assert len({name for name, _ in pins}) == len(pins)


@each_file
def test_a_workflow_may_only_read(path):
    workflow = read(path)
    assert workflow["permissions"] == {"contents": "read"}
    writing = [name for name, job in workflow["jobs"].items() if "write" in str(job.get("permissions", ""))]
    assert writing == ["publish"] * (path.name == "site.yml")


def test_the_job_that_may_write_runs_no_code_of_the_repository():
    steps = SITE["jobs"]["publish"]["steps"]
    assert [step["uses"].partition("@")[0] for step in steps] == ["actions/deploy-pages"]


def test_the_site_is_published_from_main_only_after_the_tests():
    jobs = SITE["jobs"]
    assert jobs["test"] == {"uses": "./.github/workflows/test.yml"}
    assert jobs["build"]["needs"] == "test"
    assert jobs["publish"]["needs"] == "build"
    assert jobs["publish"]["if"] == "github.ref == 'refs/heads/main'"
    assert SITE[True]["push"] == {"branches": ["main"]}


def test_the_tests_run_on_each_push_and_pull_request_and_each_week():
    events = TEST[True]
    assert events["push"] == {"branches-ignore": SITE[True]["push"]["branches"]}, (
        "on main the site's workflow calls them"
    )
    assert {"pull_request", "workflow_call", "workflow_dispatch", "schedule"} < {*events}
    assert TEST["jobs"]["linux"]["strategy"]["matrix"]["python"] == ["3.11", "3.14"]
    assert TEST["jobs"]["light"]["strategy"]["matrix"]["system"] == ["windows-latest", "macos-latest"]
    assert [name for name, job in TEST["jobs"].items() if "if" in job] == []


def test_what_the_workflows_make_are_targets_of_the_makefile():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    made = [word for line in commands(TEST) + commands(SITE) if line.startswith("make ") for word in line.split()[1:]]
    named = {word for word in made if re.fullmatch(r"[a-z]+", word)}
    assert named == {"test", "nbval", "lite", "site"}
    assert named <= targets
    deep = TEST["jobs"]["deep"]["strategy"]["matrix"]["check"]
    assert deep == ["slow-unit", "slow-browser", "kernel"]
    assert {*deep} <= targets


def test_the_light_install_has_the_bounds_of_the_extra_test_and_runs_files_that_exist():
    (install,) = [line for line in commands(TEST) if line.startswith("python -m pip install")]
    declared = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert re.search(r'"(pytest[^"]*)"', declared)[1] in install
    assert commands(TEST).count('python -m pytest -m "not slow" @tests/light/files.txt') == 1
    for line in (ROOT / "tests/light/files.txt").read_text(encoding="utf-8").split():
        path = line.rpartition("=")[2].partition("::")[0]
        assert (ROOT / path).exists(), line


def test_newer_versions_are_proposed_for_all_that_is_pinned():
    said = read(FOLDER.parent / "dependabot.yml")
    places = {(one["package-ecosystem"], one["directory"]) for one in said["updates"]}
    assert places == {("pip", "/"), ("npm", "/guidedviz/widgets/page"), ("github-actions", "/")}
    assert (ROOT / "guidedviz/widgets/page/package.json").exists()
