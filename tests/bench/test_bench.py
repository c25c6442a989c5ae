"""Each bench runs on its smallest input, prints its table with ratios, and times what it says it times."""

import json
import sys
from functools import reduce
from pathlib import Path
from types import SimpleNamespace

import jsonschema
import pytest

import guidedviz as gv
from bench import __main__ as command
from bench import answers, cases, host, jump, masks, schemas, speculation, start
from guidedviz.models import gguf
from guidedviz.tokens.token_bytes import LLAMA3_SPECIAL
from guidedviz.tokens.vocabulary import longest_tokens
from tests.common import BYTES, assert_alike
from tests.host.running import hosting

pytestmark = pytest.mark.slow
DATE = cases.CASES[0]
SAMPLE = cases.build_sample()
TOKEN = "a-token-of-a-student"
DIGITS = gv.Vocabulary([*(str(digit).encode() for digit in range(10)), b"-", b"20", b"</s>", b"x", b"<p>"],
                       eos={12}, special={14})  # fmt: skip


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    """Runs a bench: its output and its figures. The environment is put back, and no process is pinned."""
    for name in (f"{library}_NUM_THREADS" for library in ("OMP", "OPENBLAS", "MKL", "RAYON")):
        monkeypatch.setenv(name, "")
    for module in (masks, schemas, jump, speculation):
        monkeypatch.setattr(module, "pin_thread", lambda: "not pinned in a test")

    def run(*arguments: str):
        kept = tmp_path / "figures.json"
        assert command.main([*arguments, "--json", str(kept)]) == 0
        figures = json.loads(kept.read_text())
        assert {"date", "machine", "versions"} <= set(figures["about"])
        return capsys.readouterr().out, figures

    return run


def test_masks_prints_ours_and_the_real_engines_and_all_allow_the_same(run, monkeypatch):
    monkeypatch.setattr(gv.Vocabulary, "llama3", lambda: DIGITS)
    monkeypatch.setattr(gv, "load_model", lambda name: SimpleNamespace(vocabulary=DIGITS))
    said, figures = run("masks", "--rounds", "1", "--only", "date")
    for rows in (figures["cases"]["date"], figures["smollm2"]["date"]):
        assert set(masks.OURS) <= set(rows)
        assert {row["legal"] for row in rows.values()} == {11}
    assert "1.00x" in said


def test_without_smollm2_masks_says_how_to_get_it(run, monkeypatch):
    monkeypatch.setattr(gv.Vocabulary, "llama3", lambda: DIGITS)
    monkeypatch.setattr(gguf, "kept_folder", lambda name: Path("/nowhere"))
    monkeypatch.setattr(gguf, "WHEEL_PACKAGE", "no_such_package")
    said, figures = run("masks", "--rounds", "1", "--only", "no case")
    assert "python -m guidedviz get smollm2" in said
    assert "smollm2" not in figures


@pytest.mark.parametrize("name", [*masks.OURS, *masks.PREPARE])
def test_each_engine_allows_what_brute_force_allows_all_along_a_date(name):
    (engine,), _ = masks.find_engines(DIGITS, [name])
    session = engine.compile(DATE)
    guide = gv.guide(gv.regex(DATE.regex), DIGITS, "trie")
    session = session.copy()
    state = guide.initial
    assert not session.copy().take(13)
    for token in longest_tokens(DIGITS, b"2026-11-20"):
        assert (session.mask() == guide.mask(state)).all()
        assert session.take(token)
        state = guide.advance(state, token)


def test_an_engine_that_fails_or_is_not_installed_is_one_line_and_the_others_go_on(monkeypatch, capsys):
    def fail(case):
        raise RuntimeError("too hard\nfor me")

    monkeypatch.setitem(sys.modules, "xgrammar", None)
    found, missing = masks.find_engines(DIGITS, ["guidedviz", "xgrammar"])
    assert [one.name for one in found] == ["guidedviz"]
    assert len(missing) == 1
    found.append(masks.Engine("broken", fail))
    masks.print_case(DATE, masks.time_case(DATE, found, DIGITS, rounds=1))
    assert capsys.readouterr().out.splitlines()[-1].endswith("RuntimeError: too hard")


@pytest.mark.parametrize("case", [*cases.CASES, *SAMPLE[::17]], ids=lambda case: case.name)
def test_every_text_of_a_case_is_in_its_language(case):
    machine = masks.build_machine(case)
    assert all(machine.accepts(text.encode()) for text in case.texts)
    if case.schema:
        for text in case.texts:
            jsonschema.Draft202012Validator(case.schema).validate(json.loads(text))
            more = json.loads(text) | {"another": 1}
            assert not machine.accepts(json.dumps(more).encode())


def test_a_turn_is_the_same_in_both_notations_and_its_special_tokens_are_cut_whole():
    names = [name.encode() for name in LLAMA3_SPECIAL]
    pieces = BYTES + [b""] * (128_000 - 256) + names
    vocabulary = gv.Vocabulary(pieces, special=range(128_000, 128_256))
    tokens = masks.cut_text(vocabulary, cases.TURN_TEXT)
    gbnf = gv.guide(masks.build_machine(cases.TURN), vocabulary)
    lark = gv.guide(gv.lark(cases.TURN_LARK, vocabulary=vocabulary), vocabulary)
    assert_alike(gbnf, lark, tokens)
    assert gbnf.is_accepting(reduce(gbnf.advance, tokens, gbnf.initial))


def test_schemas_gives_each_engine_a_process_and_says_the_ratio_to_the_fastest(run, monkeypatch):
    monkeypatch.setattr(schemas, "NAMES", ("guidedviz", "llguidance"))
    said, figures = run("schemas", "--only", "union 17")
    small = figures["small closed schemas"]
    assert small["summary"]["guidedviz"]["schemas"] == "1 of 1"
    assert "x whole of fastest median, p95" in said
    assert set(small["whole"]["union 17"]) == {"guidedviz", "llguidance"}
    assert figures["public open schemas"] == {}


def test_schemas_compares_open_schemas_of_a_folder_with_another_checkout(run, tmp_path):
    (tmp_path / "split").mkdir()
    properties = {"a": {"type": "string", "format": "date"}}
    schema = {"type": "object", "properties": properties, "required": ["a"]}
    (tmp_path / "split" / "one.json").write_text(json.dumps(schema))
    checkout = str(Path(schemas.__file__).parent.parent)
    only = ("--only", "public", "--engines", "guidedviz", "--before", checkout)
    said, figures = run("schemas", "--schemas", str(tmp_path), "--rounds", "1", *only)
    assert set(figures["public open schemas"]["whole"]["split one"]) == {"guidedviz", "guidedviz before"}
    assert "x again median median, p95" in said


def test_jump_prints_speed_ups_and_keeps_the_record_of_the_slider(run, monkeypatch, tmp_path):
    timed = jump.time_task

    def time_some(model, task, rows):
        return timed(model, task, rows) if task.fraction in (0.5, 0.75) else None

    monkeypatch.setattr(jump, "time_task", time_some)
    monkeypatch.setattr(jump, "measure_cost", lambda model: jump.Cost(2.5, 0.2))
    monkeypatch.setattr(jump, "ROWS", (1, 2))
    monkeypatch.setattr(jump, "TRACES", tmp_path)
    said, figures = run("jump", "--rounds", "1", "--device", "cpu")
    assert "clerk on NumPy · cpu: a pass by itself" in said
    one_row = figures["cases"]["1 row"]
    assert [row["asked"] for row in one_row] == [0.5, 0.75]
    for rows in figures["cases"].values():
        assert all(row["jump"] < row["passes"] for row in rows)
    kept = gv.decoding.Payoff.load(tmp_path / "jump-cpu.json")
    runs = [(one.asked, one.rows) for one in kept.runs]
    assert runs == [(0.5, 1), (0.75, 1), (0.5, 2), (0.75, 2)]
    assert kept.way == "canonical"
    assert len(kept.previews) == 20


def test_speculation_times_every_way_on_every_task(run, monkeypatch):
    tasks = speculation.build_tasks
    monkeypatch.setattr(speculation, "build_tasks", lambda vocabulary: tasks(vocabulary)[:2])
    said, figures = run("speculation", "--rounds", "1", "--only", "small, 4")
    tables = figures["cases"].items()
    greedy = next(table for title, table in tables if title.endswith("greedy"))
    assert set(greedy) == {"no draft", "small, 4", "small, 4, not masked"}
    assert greedy["no draft"]["speed-up"] == 1
    assert greedy["small, 4"]["tokens"] > 2
    assert "accepted" in said


def test_start_times_fresh_processes_without_torch(run, monkeypatch):
    monkeypatch.setattr(start, "is_missing", lambda name: True)
    monkeypatch.setattr(start, "STEPS", 3)
    monkeypatch.setattr(start, "REAL_STEPS", 2)
    said, figures = run("start", "--rounds", "1")
    row = figures["figures"]["numpy"]
    assert 0 < row["first token, s"] < row["first start, s"]
    assert row["peak, MB"] < 120 or sys.platform != "linux"
    assert set(figures["smollm2"]) <= {"numpy"}
    assert "a NumPy step is" in said


def test_students_find_wrong_rows_and_steps_are_summed_up_by_when_they_were_due(clerk):
    runs, local = host.build_runs(clerk, 1)
    broken = runs[0]._replace(logits=runs[0].logits + 1)
    with hosting(clerk, {"Ada": TOKEN}) as served:
        for known, ends in ((runs, {""}), ([broken], {"wrong"})):
            students = host.Students(served.address, [TOKEN] * 3, known, rate=50)
            students.study(0.2)
            assert len(students.asked) > 5
            assert {asked.end for asked in students.asked} == ends
    asked = [host.Asked(1.0, 0.01, ""), host.Asked(2.0, 0.02, "lost"), host.Asked(9.0, 9.0, "")]
    row = host.summarize(asked, local, 1.5, 5.0)
    assert row["steps"] == 1
    assert row["lost"] == 1
    assert row["max, ms"] == 20.0


def test_clients_of_the_api_and_of_the_logits_are_timed(clerk):
    with hosting(clerk, {"Ada": TOKEN}) as served:
        for ask in (answers.ask_logits, answers.ask_answer):
            row = answers.load(ask, served.address, [TOKEN] * 2, 0.1)
            assert row["tokens"] > 20
            assert 0 < row["p50, ms"] <= row["p95, ms"] <= row["p99, ms"]


def test_frameworks_compares_texts_and_masks(run):
    said, figures = run("frameworks", "--only", "transformers")
    (row,) = figures["rows"]
    assert (row["same"], row["differ"]) == ([True, True], [])
    assert "0 of 54" in said


def test_a_device_that_is_not_here_is_one_line(monkeypatch, capsys):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert command.main(["jump", "--device", "cuda"]) == 1
    assert "cuda" in capsys.readouterr().err
