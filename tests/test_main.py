"""Claims about the command `guidedviz`: its words, `demo`, `labs` and `teach`."""

import os
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import guidedviz as gv
from guidedviz.__main__ import main
from guidedviz.commands import demo as demo_command
from guidedviz.commands.labs import FIRST_LAB, PLAN, copy_files, copy_fresh, find_labs, find_pages

ROOT = Path(__file__).resolve().parent.parent
HOSTILE = [b"<eos>", b"a", b"\x1b[31mred\x07", b"\xc2\x9b2J", "\u202etxt".encode(), b"\xff", b"\r\n"]


@pytest.fixture
def demo(monkeypatch, capsys):
    """Runs the command `demo` with this model; its exit code, output and errors."""

    def run(model, *arguments: str):
        monkeypatch.setattr(demo_command, "load_model", lambda name: model)
        code = main(["demo", *arguments])
        return code, *capsys.readouterr()

    return run


def test_the_demo_shows_what_the_mask_changes(demo, clerk):
    code, said, complaint = demo(clerk)
    assert (code, complaint) == (0, "")
    free, masked = re.findall(r"^with(?:out)? mask +(.*)", said, re.MULTILINE)
    assert not re.match(r"\d{4}-\d\d-\d\d\b", free)
    assert re.match(r"\d{4}-\d\d-\d\d    the model ended its output", masked)
    steps = re.findall(r"^ +\d+  (\S+) +([\d.<>]+) +(.*)", said, re.MULTILINE)
    assert "".join(token for token, _, _ in steps[:-1]) == masked[:10]
    assert float(steps[0][1]) < 0.5, "most of what the model wanted first is forbidden"
    assert "[x]Sure 0." in steps[0][2]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--regex", "["], "regex, position 0: saw unterminated"),
        (["--prompt", ""], "prompt"),
        (["--seed", "-1"], "seed"),
        (["--regex", "\x1b[31m["], "regex, position"),
    ],
)
def test_a_wrong_setting_is_one_error_without_a_traceback(demo, clerk, arguments, said):
    code, output, complaint = demo(clerk, *arguments)
    assert (code, output) == (1, "")
    assert complaint.startswith(said)
    assert "\x1b" not in complaint


def test_hostile_pieces_cannot_write_to_the_terminal():
    model = gv.ToyModel(HOSTILE, lambda tokens: [-9, *[1.0] * 6], eos={0})
    lines = list(demo_command.decode_in_words(model, "a\x1b[31mred\x07", r"(.|\n|\r){3,9}", 0))
    assert all(line.isprintable() for line in lines)
    assert "<0x1B>" in "".join(lines)


@pytest.fixture
def lab(monkeypatch):
    """A JupyterLab that only notes how it was started."""
    started: list[list[str]] = []
    monkeypatch.setitem(sys.modules, "jupyterlab.labapp", SimpleNamespace(main=started.append))
    return started


def files_of(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_labs_are_copied_and_opened(tmp_path, lab, capsys):
    folder = tmp_path / "a class" / "labs"
    assert main(["labs", str(folder)]) == 0
    labs = find_labs()
    assert files_of(folder) == {*labs}
    assert (folder / FIRST_LAB).read_bytes() == labs[FIRST_LAB].read_bytes()
    assert lab[0][0] == str(folder / FIRST_LAB)
    assert capsys.readouterr().out == f"{len(labs)} notebooks copied to {folder}\n"


def test_without_a_command_it_says_which_there_are(capsys):
    assert main([]) == 0
    named = re.findall(r"^    (\w+) ", capsys.readouterr().out, re.MULTILINE)
    assert named == "labs teach slides export demo get host".split()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["help"], "invalid choice: 'help' (choose from"),
        (["labs", "a", "\x1b[31mb"], r"unrecognized arguments: \x1b[31mb"),
        (["export", "moodle", "x"], "invalid choice: 'moodle'"),
        (["teach", "--port", "x"], "--port: invalid int value: 'x'"),
    ],
)
def test_a_wrong_word_is_one_line_that_says_what_to_try(words, said, capsys):
    with pytest.raises(SystemExit) as ended:
        main(words)
    complaint = capsys.readouterr().err
    assert ended.value.code == 2
    assert said in complaint
    assert re.search(r"; try: guidedviz( \w+)? --help\n$", complaint)
    assert complaint.count("\n") == 1
    assert "\x1b" not in complaint


@pytest.mark.parametrize("command", ["labs", "teach"])
def test_the_port_of_jupyterlab_can_be_chosen(tmp_path, lab, capsys, command):
    assert main([command, str(tmp_path / "wrong"), "--port", "70000"]) == 1
    assert f"{command}, --port: saw 70000, expected 0 to 65535" in capsys.readouterr().err
    assert not (tmp_path / "wrong").exists()
    assert main([command, str(tmp_path), "--port", "9000"]) == 0
    assert "--port=9000" in lab[0]


def test_a_teacher_gets_the_pages_with_all_labs_and_solutions(tmp_path, lab, capsys):
    solutions, pages = find_labs(solutions=True), find_pages()
    assert main(["teach", str(tmp_path)]) == 0
    assert files_of(tmp_path) == {*solutions, *pages}
    assert lab[0][:2] == [f"--ServerApp.root_dir={tmp_path}", f"--LabApp.default_url=/lab/tree/{PLAN}"]
    said = capsys.readouterr().out
    assert said.startswith(f"{len(pages) + len(solutions)} pages and notebooks copied to {tmp_path}\n")
    (tmp_path / PLAN).write_text("my plan")
    assert main(["teach", str(tmp_path), "--no-open"]) == 0
    assert (tmp_path / PLAN).read_text() == "my plan"
    assert f"kept {PLAN}: it was changed\n" in capsys.readouterr().out


def test_the_links_of_the_teachers_pages_lead_to_files_that_a_copy_has():
    inside = {*find_labs(solutions=True), *find_pages()}
    for name, page in find_pages().items():
        for link in re.findall(r"\]\(([^):#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            place = (Path("/") / Path(name).parent / link).as_posix()
            assert os.path.normpath(place).lstrip("/") in inside, f"{name}: {link}"


def test_solutions_are_copied_only_when_they_are_asked_for(tmp_path, capsys):
    main(["labs", str(tmp_path), "--no-open"])
    assert not (tmp_path / "solutions").exists()
    assert main(["labs", str(tmp_path), "--fresh", "solutions/03"]) == 1
    assert main(["labs", str(tmp_path), "--no-open", "--solutions"]) == 0
    assert files_of(tmp_path / "solutions") == {*find_labs()}
    assert main(["labs", str(tmp_path), "--fresh", "solutions/03", "--solutions"]) == 0


def test_a_changed_notebook_is_kept_and_named(tmp_path, lab, capsys):
    (tmp_path / FIRST_LAB).write_text("my work")
    (tmp_path / "01_logit_bias.ipynb").mkdir()
    (tmp_path / "02_static_masks.ipynb").symlink_to(tmp_path / "elsewhere")
    main(["labs", str(tmp_path), "--no-open"])
    assert (tmp_path / FIRST_LAB).read_text() == "my work"
    assert not (tmp_path / "elsewhere").exists()
    kept = re.findall(r"^kept (\S+): it was changed", capsys.readouterr().out, re.MULTILINE)
    assert kept == [FIRST_LAB, "01_logit_bias.ipynb", "02_static_masks.ipynb"]
    assert lab == []
    assert copy_files(find_labs(), tmp_path) == ([], kept), "a second run writes nothing and says the same"


def test_a_folder_that_cannot_be_written_is_one_error_and_names_are_escaped(tmp_path, capsys):
    (tmp_path / "file").touch()
    for place, option in (("file/\x1bx", "--no-open"), ("file", "--fresh=00")):
        assert main(["labs", str(tmp_path / place), option]) == 1
        complaint = capsys.readouterr().err
        assert "expected a folder that can be written" in complaint
        assert "\x1b" not in complaint
    assert main(["labs", str(tmp_path / "\x1b]0;x\x07"), "--no-open"]) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_without_jupyterlab_the_labs_are_copied_and_the_extra_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "jupyterlab", None)
    monkeypatch.delitem(sys.modules, "jupyterlab.labapp", raising=False)
    assert main(["labs", str(tmp_path)]) == 1
    assert (tmp_path / FIRST_LAB).exists()
    assert re.search(r"package jupyterlab.*pip install .*\[lab\]", capsys.readouterr().err)


def test_a_fresh_copy_stands_beside_the_work(tmp_path, capsys):
    copy_files(find_labs(), tmp_path)
    (tmp_path / FIRST_LAB).write_text("my work")
    assert main(["labs", str(tmp_path), "--fresh", "00"]) == 0
    assert capsys.readouterr().out == f"a fresh copy: {tmp_path / '00_start_here-fresh.ipynb'}\n"
    (tmp_path / "00_start_here-fresh-2.ipynb").symlink_to(tmp_path / "elsewhere")
    third = copy_fresh(tmp_path, "00_start")
    assert (third.name, third.read_bytes()) == ("00_start_here-fresh-3.ipynb", find_labs()[FIRST_LAB].read_bytes())
    assert (tmp_path / FIRST_LAB).read_text() == "my work"
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("lab", ["0", "../labs/00", "\x1b["])
def test_a_fresh_copy_is_of_one_lab(tmp_path, lab, capsys):
    assert main(["labs", str(tmp_path), "--fresh", lab]) == 1
    assert "expected the start of one name, such as 03" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
