"""Claims about the commands: `python -m guidedviz`, `demo` and `labs`."""

import re
import sys
from types import SimpleNamespace

import pytest

import guidedviz as gv
import guidedviz.__main__ as commands

FIRST = commands.FIRST
HOSTILE = [b"<eos>", b"a", b"\x1b[31mred\x07", b"\xc2\x9b2J", "\u202etxt".encode(), b"\xff", b"\r\n"]


@pytest.fixture
def demo(monkeypatch, capsys):
    """Runs the command `demo` with this model; its exit code, output and errors."""

    def run(model, *arguments: str):
        monkeypatch.setattr(commands, "load_model", lambda name: model)
        code = commands.main(["demo", *arguments])
        return code, *capsys.readouterr()

    return run


def test_the_demo_shows_what_the_mask_changes(demo, clerk):
    code, said, complaint = demo(clerk)
    assert (code, complaint) == (0, "")
    free, masked = (re.search(rf"^{name} mask +(.*)", said, re.MULTILINE)[1] for name in ("without", "with"))
    assert not re.match(r"\d{4}-\d\d-\d\d\b", free)
    assert re.match(r"\d{4}-\d\d-\d\d    the model ended its output", masked)
    steps = re.findall(r"^ +\d+  (\S+) +([\d.<>]+) +(.*)", said, re.MULTILINE)
    assert "".join(token for token, _, _ in steps[:-1]) == masked[:10]
    assert float(steps[0][1]) < 0.5, "most of what the model wanted first is forbidden"
    assert "[x]Sure 0." in steps[0][2]
    assert "\x1b" not in said


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
    lines = list(commands.decode_in_words(model, "a\x1b[31mred\x07", r"(.|\n|\r){3,9}", 0))
    assert all(line.isprintable() for line in lines)
    assert "<0x1B>" in "".join(lines)


@pytest.fixture
def lab(monkeypatch):
    """A JupyterLab that only notes how it was started."""
    started: list[list[str]] = []
    monkeypatch.setitem(sys.modules, "jupyterlab.labapp", SimpleNamespace(main=started.append))
    return started


def test_labs_are_copied_and_opened(tmp_path, lab, capsys):
    folder = tmp_path / "a class" / "labs"
    assert commands.main(["labs", str(folder)]) == 0
    source = commands.find_labs()[FIRST].parent
    wanted = {path.relative_to(source) for path in source.rglob("*.ipynb") if "solutions" not in path.parts}
    assert {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()} == wanted
    assert (folder / FIRST).read_bytes() == (source / FIRST).read_bytes()
    assert lab[0][0] == str(folder / FIRST)
    assert capsys.readouterr().out == f"{len(wanted)} notebooks copied to {folder}\n"


def test_solutions_are_copied_only_when_they_are_asked_for(tmp_path, capsys):
    commands.main(["labs", str(tmp_path), "--no-open"])
    assert not (tmp_path / "solutions").exists()
    assert commands.main(["labs", str(tmp_path), "--fresh", "solutions/03"]) == 1
    assert commands.main(["labs", str(tmp_path), "--no-open", "--solutions"]) == 0
    names = {path.relative_to(tmp_path / "solutions") for path in tmp_path.glob("solutions/**/*.ipynb")}
    assert names == {path.relative_to(tmp_path) for path in tmp_path.rglob("*.ipynb") if "solutions" not in path.parts}
    assert len(names) > 10
    assert commands.main(["labs", str(tmp_path), "--fresh", "solutions/03", "--solutions"]) == 0


def test_a_changed_notebook_is_kept_and_named(tmp_path, lab, capsys):
    (tmp_path / FIRST).write_text("my work")
    (tmp_path / "01_logit_bias.ipynb").mkdir()
    (tmp_path / "02_static_masks.ipynb").symlink_to(tmp_path / "elsewhere")
    commands.main(["labs", str(tmp_path), "--no-open"])
    assert (tmp_path / FIRST).read_text() == "my work"
    assert not (tmp_path / "elsewhere").exists()
    kept = re.findall(r"^kept (\S+): it was changed", capsys.readouterr().out, re.MULTILINE)
    assert kept == [FIRST, "01_logit_bias.ipynb", "02_static_masks.ipynb"]
    assert lab == []
    new, changed = commands.copy_labs(tmp_path)
    assert (new, changed) == ([], kept), "a second run writes nothing and says the same"


def test_a_folder_that_cannot_be_written_is_one_error_and_names_are_escaped(tmp_path, capsys):
    (tmp_path / "file").touch()
    assert commands.main(["labs", str(tmp_path / "file" / "\x1bx"), "--no-open"]) == 1
    complaint = capsys.readouterr().err
    assert "expected a folder that can be written" in complaint
    assert "\x1b" not in complaint
    assert commands.main(["labs", str(tmp_path / "\x1b]0;x\x07"), "--no-open"]) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_without_jupyterlab_the_labs_are_copied_and_the_extra_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "jupyterlab", None)
    monkeypatch.delitem(sys.modules, "jupyterlab.labapp", raising=False)
    assert commands.main(["labs", str(tmp_path)]) == 1
    assert (tmp_path / FIRST).exists()
    assert re.search(r"package jupyterlab.*pip install .*\[lab\]", capsys.readouterr().err)


def test_a_fresh_copy_stands_beside_the_work(tmp_path, capsys):
    commands.copy_labs(tmp_path)
    (tmp_path / FIRST).write_text("my work")
    assert commands.main(["labs", str(tmp_path), "--fresh", "00"]) == 0
    assert capsys.readouterr().out == f"a fresh copy: {tmp_path / '00_start_here-fresh.ipynb'}\n"
    (tmp_path / "00_start_here-fresh-2.ipynb").symlink_to(tmp_path / "elsewhere")
    third = commands.copy_fresh(tmp_path, "00_start")
    assert third.name == "00_start_here-fresh-3.ipynb"
    assert third.read_bytes() == commands.find_labs()[FIRST].read_bytes()
    assert (tmp_path / FIRST).read_text() == "my work"
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("lab", ["0", "99", "../labs/00", "/etc/passwd", "\x1b["])
def test_a_fresh_copy_is_of_one_lab(tmp_path, lab, capsys):
    assert commands.main(["labs", str(tmp_path), "--fresh", lab]) == 1
    assert "expected the start of one name, such as 03" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
    (tmp_path / "file").touch()
    assert commands.main(["labs", str(tmp_path / "file"), "--fresh", "00"]) == 1
    assert "expected a folder that can be written" in capsys.readouterr().err
