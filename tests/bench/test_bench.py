"""The bench times what it says it times, and says in one line what is not here."""

import json
import sys
from argparse import Namespace
from functools import cache
from importlib import import_module
from itertools import pairwise
from types import SimpleNamespace

import pytest
from hypothesis import assume, given

import guidedviz as gv
from guidedviz.bench import __main__ as command
from guidedviz.bench.decoding import jump
from guidedviz.bench.decoding.forward import Shape
from guidedviz.bench.decoding.replay import build_random, measure_passes, replay
from guidedviz.bench.masks import ablation, engines, grammars, latency, tensors
from guidedviz.bench.masks.cases import CASES
from guidedviz.bench.masks.languages import build_languages
from guidedviz.errors import PatternError, SettingError, VocabularyError
from guidedviz.tokens.guide import lazy_guide
from guidedviz.tokens.vocabulary import longest_tokens
from tests.strategies import grammars as pda_grammars
from tests.strategies import regexes, vocabularies

DATE, LANGUAGES = CASES[0], build_languages()
DIGITS = gv.Vocabulary([*(str(digit).encode() for digit in range(10)), b"-", b"20", b"</s>", b"x", b"<p>"],
                       eos={12}, special={14})  # fmt: skip


@cache
def found_engines():
    return engines.find_engines(DIGITS)[0]


def engine(name):
    found = (each for each in found_engines() if each.name.startswith(name))
    return next(found, None) or pytest.skip(f"no {name} here")


@pytest.mark.parametrize("case", CASES + LANGUAGES, ids=lambda case: case.name)
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
    compute = gv.tokens.index.find_kinds
    monkeypatch.setattr(gv.tokens.index, "find_kinds", lambda *pair: asked.append("built") or compute(*pair))
    for _ in range(2):
        ours.forget()
        session = ours.compile(DATE).open()
        session.mask()
        assert session.advance(2)
        session.mask()  # the second state asks for the index
    assert asked == ["built", "built"]


def test_one_row_has_every_column_and_counts_what_it_timed():
    ours = engine("guidedviz 0")
    sample = latency.time_case(DATE, [ours], DIGITS, rounds=3)[ours.name]
    steps = sum(len(list(longest_tokens(DIGITS, text.encode()))) + 1 for text in DATE.texts)
    assert (len(sample.compile), len(sample.first), len(sample.again)) == (3, 3, 3 * steps)
    assert len(sample.mask) == 3 * (1 + steps)
    row = sample.figures()
    assert row["compile"] < row["first"]
    assert row["again"] <= row["again_p99"]
    assert row["legal"] == 11
    assert row["nbytes"] == gv.build_index(gv.regex(DATE.regex), DIGITS).nbytes


SIGNS = gv.Vocabulary(
    [bytes([byte]) for byte in range(256)]
    + [b'{"', b'": ', b'"}', b'"}}]', b"</", b"/>", b"><", b"SELECT", b" FROM ", b"))", b"):\n", b"    "]
    + [b"</s>", b"<p>"],
    eos={268}, special={269},
)  # fmt: skip


@pytest.mark.parametrize("case", LANGUAGES, ids=lambda case: case.name)
def test_all_engines_read_one_language_along_the_texts(case):
    """The counts at every step are those of the whole walk; xgrammar's own faults are not in these texts."""
    found, _ = engines.find_engines(SIGNS, grammars.OURS, ("xgrammar", "llguidance"))
    guide = gv.guide(gv.grammar(case.grammar), SIGNS, "trie")
    compiled = {timed.name: timed.compile(case) for timed in found}
    for text in case.texts:
        sessions, state = {name: each.open() for name, each in compiled.items()}, guide.initial
        for token in longest_tokens(SIGNS, text.encode()):
            counts = {timed.name: timed.legal(sessions[timed.name]) for timed in found}
            assert set(counts.values()) == {int(guide.mask(state).sum())}, (text, counts)
            assert all(session.advance(token) for session in sessions.values())
            state = guide.advance(state, token)
        assert guide.is_accepting(state)


@pytest.mark.parametrize("case", LANGUAGES, ids=lambda case: case.name)
def test_on_128k_tokens_the_masks_along_the_texts_are_those_of_the_lazy_walk(case):
    v, machine = gv.Vocabulary.llama3(), gv.grammar(case.grammar)
    built, walked = grammars.build_all(machine, v), gv.guide(machine, v, "trie")
    for text in case.texts:
        own, state = built.initial, walked.initial
        for token in longest_tokens(v, text.encode()):
            assert (built.mask(own) == walked.mask(state)).all()
            own, state = built.advance(own, token), walked.advance(state, token)
        assert (built.mask(own) == walked.mask(state)).all()


def test_ours_builds_all_nodes_when_it_compiles():
    built = grammars.build_all(gv.json(), SIGNS)
    before = built.split.nbytes
    built.split.build()
    assert before == built.split.nbytes > 0


def test_the_ablation_switches_one_idea_on_after_the_other():
    on = [row.on for row in ablation.ROWS]
    assert on[0] == ()
    assert all(before == after[:-1] for before, after in pairwise(on))
    assert on[-1] == ablation.IDEAS
    first, *_, last = (ablation.build(row, SIGNS) for row in ablation.ROWS)
    assert (first.cache, first.expand, first.remember) == (False, False, False)
    assert (last.cache, last.expand, last.remember) == (True, True, True)
    for one, other in zip(ablation.states_of(first), ablation.states_of(last), strict=True):
        assert (first.mask(one) == last.mask(other)).all()


def test_an_engine_that_fails_or_refuses_says_so_and_the_others_go_on(capsys):
    def fail(case):
        raise RuntimeError("too hard\nfor me")

    broken = engines.Engine("broken 1", fail, lambda session: 0)
    stubborn = engines.Engine("stubborn 1", lambda case: engines.Compiled(
        lambda: engines.Session(lambda: None, lambda token: False)), lambda session: 0)  # fmt: skip
    samples = latency.time_case(DATE, [engine("guidedviz 0"), broken, stubborn], DIGITS, rounds=1)
    latency.print_case(DATE, samples)
    ours, failed, refused = capsys.readouterr().out.splitlines()[-3:]
    assert "1.00x" in ours
    assert failed.endswith("RuntimeError: too hard")
    assert refused.endswith("refuses token 0 of a text that is right")


def test_an_engine_that_is_not_installed_is_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "xgrammar", None)
    found, missing = engines.find_engines(DIGITS)
    assert not any(each.name.startswith("xgrammar") for each in found)
    assert [line.split(":")[0] for line in missing if "xgrammar" in line] == ["xgrammar is not available"]


@given(vocabularies(), regexes)
def test_the_walk_as_tensors_is_the_walk(v, pattern):
    machine = gv.regex(pattern)
    lazy = lazy_guide(machine, v)
    found = tensors.TensorWalk(v, "cpu").masks(machine)
    assert found.tolist() == [lazy.mask(state).tolist() for state in range(len(machine))]


@given(vocabularies(), pda_grammars)
def test_the_nodes_of_a_split_walk_as_tensors_as_well(v, text):
    try:
        split = gv.build_split(gv.grammar(text), v)
        parts = split.build()
    except PatternError:
        assume(False)
    found = tensors.TensorWalk(v, "cpu").answers(tensors.find_moves(split))
    assert found.tolist() == [part.verdicts.tolist() for part in parts]


def test_the_walk_as_tensors_is_the_walk_on_128k_tokens():
    v, machine = gv.Vocabulary.llama3(), gv.regex(r'[^"\\\x00-\x1f]*"')
    index = gv.build_index(machine, v)
    found = tensors.TensorWalk(v, "cpu").masks(machine).numpy()
    assert all((found[state] == index.mask(state)).all() for state in range(len(machine)))


@pytest.mark.parametrize(("name", "said"), [("cuda", "no CUDA device"), ("tpu9", "expected cpu or cuda")])
def test_a_device_that_is_not_here_is_one_line(monkeypatch, name, said):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(SettingError, match=said):
        tensors.TensorWalk(DIGITS, name)


@pytest.fixture
def quiet(monkeypatch):
    """The command sets the environment and stays on one core; here it is put back."""
    for name in (f"{library}_NUM_THREADS" for library in ("OMP", "OPENBLAS", "MKL", "RAYON")):
        monkeypatch.setenv(name, "")
    for subject in (latency, grammars, ablation, jump):
        monkeypatch.setattr(subject, "pin_thread", lambda: "not pinned in a test")


@pytest.mark.usefixtures("quiet")
def test_the_command_prints_a_table_of_each_language_on_each_vocabulary(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(grammars, "VOCABULARIES", {"signs": lambda: SIGNS, "none": lambda: DIGITS})
    kept = tmp_path / "grammars.json"
    command.main(["grammars", "--rounds", "1", "--only", "signs, four", "--device", "cpu", "--json", str(kept)])
    out, figures = capsys.readouterr().out, json.loads(kept.read_text())
    assert "signs, four fields: a grammar of 4 rules" in out
    assert list(figures["cases"]) == ["signs, four fields"]
    names = [name.split(" 0")[0] for name in figures["cases"]["signs, four fields"]]
    assert figures["cases"]["signs, four fields"]["torch"]["same"] is True
    assert names[:3] == ["guidedviz", "guidedviz, as asked", "guidedviz, trie"]


@pytest.mark.usefixtures("quiet")
def test_the_command_prints_the_ablation_beside_the_papers(monkeypatch, capsys):
    monkeypatch.setattr(ablation.Vocabulary, "llama3", lambda: SIGNS)
    command.main(["ablation", "--rounds", "1"])
    out = capsys.readouterr().out
    assert [line.split("  ")[0] for line in out.splitlines() if line.startswith(("the trie", "+"))] == [
        row.name for row in ablation.ROWS]  # fmt: skip
    assert "65.800" in out
    assert "the paper's 160.00 MB -> 0.46 MB" in out


@pytest.mark.usefixtures("quiet")
def test_the_command_prints_tables_and_keeps_figures(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(latency.Vocabulary, "llama3", lambda: DIGITS)
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
    assert "device: saw no CUDA device, expected cuda; try: --device cpu" in capsys.readouterr().out


@pytest.mark.usefixtures("quiet")
def test_the_command_prints_both_ways_and_keeps_a_record_of_the_places_of_the_slider(monkeypatch, tmp_path, capsys):
    timed = jump.time_all
    some = lambda model, tasks, rows: timed(model, tasks[10::5] or tasks, rows)  # noqa: E731
    monkeypatch.setattr(jump, "time_all", some)
    monkeypatch.setattr(jump, "measure_cost", lambda model: jump.Cost(2.5, 0.2))
    monkeypatch.setattr(jump, "ROWS", (1, 2))
    monkeypatch.setattr(jump, "TRACES", tmp_path)
    command.main(["jump", "--rounds", "1", "--only", "1 row", "--json", str(tmp_path / "figures.json")])
    out, figures = capsys.readouterr().out, json.loads((tmp_path / "figures.json").read_text())
    assert "clerk: a pass by itself, and each token that it reads, with 1 row: " in out
    assert list(figures["cases"]) == ["1 row", "a form, 1 row"]
    assert [row["asked"] for row in figures["cases"]["1 row"]] == [0.5, 0.75]
    assert all(row["jump"] < row["passes"] for rows in figures["cases"].values() for row in rows)
    assert not list(tmp_path.glob("jump-*"))
    command.main(["jump", "--rounds", "1", "--device", "cpu"])
    kept = gv.decoding.Payoff.load(tmp_path / "jump-cpu.json")
    assert [(run.asked, run.rows) for run in kept.runs] == [(0.5, 1), (0.75, 1), (0.5, 2), (0.75, 2)]
    assert (kept.source, kept.way, len(kept.previews)) == ("RECORDED", "canonical", 20)
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    command.main(["jump", "--device", "cuda"])
    assert "device: saw no CUDA device, expected cuda; try: --device cpu" in capsys.readouterr().out


def test_a_model_of_random_weights_reads_a_text_in_the_passes_of_another(clerk):
    shape = Shape("tiny", 2, 16, 4, 2, 32)
    task = jump.build_tasks(clerk)[15]
    trace = gv.record(clerk, task.prompt, task.guide, temperature=0.0, jump_forward=True)
    random = build_random(shape, 5000, "cpu")
    weights = random.network.weights
    assert shape.weights(5000) <= weights <= shape.weights(5000) + 16 * (2 * shape.layers + 1)  # and those of the norms
    asked, ask = [], random.logits
    random.logits = lambda tokens: asked.append(len(tokens)) or ask(tokens)
    run = replay(random, task.fraction, clerk.encode(task.prompt), trace)
    assert (run.naive_passes, run.jump_passes, run.tokens) == (len(trace.tokens), trace.passes, len(trace.tokens))
    assert len(asked) == run.naive_passes + run.jump_passes + 2  # two read the prompt alone
    assert run.fraction == pytest.approx(1 - trace.passes / len(trace.tokens), abs=1e-4)
    assert measure_passes(random, size=8, rounds=1).prices()[0] > 0


def test_the_same_texts_are_read_with_many_rows(clerk, capsys, monkeypatch):
    monkeypatch.setattr(jump, "measure_passes", lambda model: measure_passes(model, size=4, rounds=1))
    options = Namespace(only="tiny, 8 rows", rounds=2)
    found = jump.bench_random(Shape("tiny", 2, 16, 4, 2, 32), 5000, "cpu", clerk, jump.build_tasks(clerk)[18:], options)
    assert [row["asked"] for row in found["tiny, 8 rows"]] == [0.9, 0.95]
    assert "tiny, random weights" in capsys.readouterr().out


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("subject", command.SUBJECTS)
def test_every_subject_has_a_file(monkeypatch, subject):
    asked = []
    quick = SimpleNamespace(bench=lambda options: {})
    monkeypatch.setattr(command, "import_module", lambda name: asked.append(import_module(name)) or quick)
    assert command.main([subject]) == 0
    assert callable(asked[0].bench)


@pytest.mark.usefixtures("quiet")
def test_a_subject_that_cannot_run_here_is_one_line(monkeypatch, capsys):
    def bench(options):
        raise VocabularyError("vocabulary", seen="no package mistral_common", hint="pip install it")

    monkeypatch.setattr("guidedviz.bench.masks.museum.bench", bench)
    assert command.main(["differences"]) == 1
    assert capsys.readouterr().err == "vocabulary: saw no package mistral_common; try: pip install it\n"
