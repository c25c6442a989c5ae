"""The bench times what it says it times, and says in one line what is not here."""

import json
import sys

import pytest
from hypothesis import given, settings

import guidedviz as gv
from guidedviz.bench import __main__ as command
from guidedviz.bench import engines, masks, tensors
from guidedviz.bench.cases import CASES
from guidedviz.errors import SettingError, VocabularyError
from guidedviz.tokens.engines import lazy_guide
from guidedviz.tokens.longest import longest_tokens
from tests.strategies import regexes, vocabularies

DATE = CASES[0]
DIGITS = gv.Vocabulary([*(str(digit).encode() for digit in range(10)), b"-", b"20", b"</s>", b"x", b"<p>"],
                       eos={12}, special={14})  # fmt: skip
FOUND, MISSING = engines.find_engines(DIGITS)


def engine(name):
    return next((each for each in FOUND if each.name.startswith(name)), None) or pytest.skip(f"no {name} here")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_text_of_a_case_is_one_of_its_texts(case):
    machine = engines.build_machine(case)
    assert all(machine.accepts(text.encode()) for text in case.texts)


def test_a_text_is_cut_into_the_longest_tokens_and_specials_are_no_text():
    assert list(longest_tokens(DIGITS, b"2026-x")) == [11, 2, 6, 10, 13]
    with pytest.raises(VocabularyError, match="a byte that some token has"):
        list(longest_tokens(DIGITS, b"<p>"))


@pytest.mark.parametrize("name", ["guidedviz 0", "guidedviz, lazy", "outlines-core", "xgrammar", "llguidance"])
def test_each_engine_allows_what_brute_force_allows_all_along_a_date(name):
    timed, guide = engine(name), gv.guide(gv.regex(DATE.regex), DIGITS, "trie")
    session, state = timed.compile(DATE).open(), guide.initial
    for token in longest_tokens(DIGITS, b"2026-11-20"):
        assert timed.legal(session) == guide.mask(state).sum()
        assert session.advance(token)
        state = guide.advance(state, token)
    assert timed.legal(session) == 1  # EOS


@pytest.mark.parametrize("name", ["guidedviz 0", "outlines-core", "xgrammar", "llguidance"])
def test_each_engine_refuses_a_wrong_token(name):
    assert not engine(name).compile(DATE).open().advance(13)


def test_ours_starts_from_nothing_each_time(monkeypatch):
    ours, asked = engine("guidedviz 0"), []
    monkeypatch.setattr(gv.tokens.index, "load_arrays", lambda *_: asked.append("disk"))
    for _ in range(2):
        ours.forget()
        session = ours.compile(DATE).open()
        session.mask()
        assert session.advance(2)
        session.mask()  # the second state asks for the index
    assert asked == ["disk", "disk"]


def test_one_row_has_every_column_and_counts_what_it_timed():
    ours = engine("guidedviz 0")
    sample = masks.time_case(DATE, [ours], DIGITS, rounds=3)[ours.name]
    steps = sum(len(list(longest_tokens(DIGITS, text.encode()))) + 1 for text in DATE.texts)
    assert (len(sample.compile), len(sample.first), len(sample.again)) == (3, 3, 3 * steps)
    assert len(sample.mask) == 3 * (1 + steps)
    row = sample.figures()
    assert row["compile"] < row["first"]
    assert row["again"] <= row["again_p99"]
    assert row["legal"] == 11
    assert row["nbytes"] == gv.build_index(gv.regex(DATE.regex), DIGITS).nbytes


def test_an_engine_that_fails_or_refuses_says_so_and_the_others_go_on(capsys):
    def fail(case):
        raise RuntimeError("too hard\nfor me")

    broken = engines.Engine("broken 1", fail, lambda session: 0)
    stubborn = engines.Engine("stubborn 1", lambda case: engines.Compiled(
        lambda: engines.Session(lambda: None, lambda token: False)), lambda session: 0)  # fmt: skip
    samples = masks.time_case(DATE, [engine("guidedviz 0"), broken, stubborn], DIGITS, rounds=1)
    masks.print_case(DATE, samples)
    ours, failed, refused = capsys.readouterr().out.splitlines()[-3:]
    assert "1.00x" in ours
    assert failed.endswith("RuntimeError: too hard")
    assert refused.endswith("refuses token 0 of a text that is right")


def test_an_engine_that_is_not_installed_is_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "xgrammar", None)
    found, missing = engines.find_engines(DIGITS)
    assert not any(each.name.startswith("xgrammar") for each in found)
    assert [line.split(":")[0] for line in missing if "xgrammar" in line] == ["xgrammar is not here"]


@settings(deadline=None, max_examples=60)
@given(vocabularies(), regexes)
def test_the_walk_as_tensors_is_the_walk(v, pattern):
    machine = gv.regex(pattern)
    lazy = lazy_guide(machine, v)
    found = tensors.TensorWalk(v, "cpu").masks(machine)
    assert found.tolist() == [lazy.mask(state).tolist() for state in range(len(machine))]


def test_the_walk_as_tensors_is_the_walk_on_128k_tokens():
    v, machine = gv.Vocabulary.llama3(), gv.regex(r'[^"\\\x00-\x1f]*"')
    index = gv.build_index(machine, v)
    found = tensors.TensorWalk(v, "cpu").masks(machine).numpy()
    assert all((found[state] == index.mask(state)).all() for state in range(len(machine)))


@pytest.mark.parametrize(("name", "said"), [("cuda", "no CUDA device here"), ("tpu9", "expected cpu or cuda")])
def test_a_device_that_is_not_here_is_one_line(monkeypatch, name, said):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(SettingError, match=said):
        tensors.TensorWalk(DIGITS, name)


def test_the_command_prints_tables_and_keeps_figures(monkeypatch, tmp_path, capsys):
    for name in ("GUIDEDVIZ_CACHE", *(f"{library}_NUM_THREADS" for library in ("OMP", "OPENBLAS", "MKL", "RAYON"))):
        monkeypatch.setenv(name, "")  # the command sets them; here they are put back
    monkeypatch.setattr(masks, "pin_thread", lambda: "not pinned in a test")
    monkeypatch.setattr(masks.Vocabulary, "llama3", lambda: DIGITS)
    kept = tmp_path / "masks.json"
    assert command.main(["masks", "--rounds", "1", "--only", "date", "--device", "cpu", "--json", str(kept)]) == 0
    out, figures = capsys.readouterr().out, json.loads(kept.read_text())
    assert "date: [0-9]{4}" in out
    assert "the same masks" in out
    assert list(figures["cases"]) == ["date"]
    assert figures["cases"]["date"]["torch"]["same"] is True
    assert {"date", "machine", "versions", "vocabulary", "threads"} <= set(figures["about"])
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    command.main(["masks", "--rounds", "1", "--only", "nothing", "--device", "cuda"])
    assert "device: saw no CUDA device here, expected cuda; try: --device cpu" in capsys.readouterr().out
