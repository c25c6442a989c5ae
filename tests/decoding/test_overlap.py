"""A record of forward and mask: who waits for whom, and that a file gives back what was saved."""

import time
from argparse import Namespace
from dataclasses import replace

import numpy as np
import pytest

import guidedviz as gv
from bench.decoding import overlap
from bench.decoding.forward import SHAPES, Decoder, Shape, ThreadForward
from bench.decoding.overlap import print_record, record_overlap
from guidedviz.decoding.overlap import Overlap, Run, Turn, record_runs, time_turns
from guidedviz.errors import TraceError

V = gv.Vocabulary([b"(", b")", b"x", b"x)", b"</s>"], eos={4})
NESTED = gv.grammar('root ::= "(" root ")" | "x"')
TEXT = [0, 0, 3, 1]
TINY = Shape("tiny", 2, 16, 4, 2, 32, length=8)


class SlowForward:
    """A device that takes ten milliseconds a token and leaves the CPU alone."""

    def begin(self):
        self.began = time.perf_counter()

    def start(self, token):
        self.started = time.perf_counter()

    def wait(self):
        ready = self.started + 0.01
        time.sleep(max(0.0, ready - time.perf_counter()))
        return (self.started - self.began) * 1e3, (ready - self.began) * 1e3

    def choose(self, mask):
        return int(mask.argmax())


class SlowGuide:
    """A guide whose masks take four milliseconds."""

    def __init__(self):
        self.inner = gv.guide(NESTED, V)
        self.initial, self.advance = self.inner.initial, self.inner.advance

    def mask(self, state):
        time.sleep(0.004)
        return self.inner.mask(state)


def test_one_by_one_the_logits_wait_for_the_mask_and_side_by_side_they_do_not():
    runs = record_runs(SlowForward(), {"slow": SlowGuide}, TEXT)
    one_by_one, side_by_side = Overlap(runs, "", "", "", "", len(V)).pair("slow")
    assert all(turn.mask[0] >= turn.forward[1] - 0.01 for turn in one_by_one.turns)
    assert all(turn.mask[0] < turn.forward[1] for turn in side_by_side.turns)
    assert one_by_one.overhead >= 4
    assert side_by_side.overhead < 4
    assert one_by_one.per_token > side_by_side.per_token


def test_of_several_rounds_the_quickest_is_kept():
    class Uneven(SlowForward):
        rounds = 0

        def begin(self):
            self.rounds += 1
            super().begin()

        def choose(self, mask):
            time.sleep(0.05 * (self.rounds not in (3, 4)))  # each round begins two runs
            return 0

    runs = record_runs(Uneven(), {"slow": SlowGuide}, TEXT, rounds=3)
    assert all(run.per_token < 50 for run in runs)


def test_a_token_is_chosen_after_both_are_there():
    for beside in (False, True):
        turns = time_turns(SlowForward(), SlowGuide(), TEXT, beside)
        assert len(turns) == len(TEXT)
        assert all(turn.chosen >= max(turn.forward[1], turn.mask[1]) - 0.01 for turn in turns)
        chosen = [turn.chosen for turn in turns]
        assert chosen == sorted(chosen)


def test_overhead_is_never_less_than_nothing():
    assert Turn((0, 5), (1, 2), 5.1).overhead == 0
    assert Turn((0, 5), (5, 7), 7.1).overhead == 2


def record():
    turns = (Turn((0.0, 4.0), (0.0, 1.0), 4.5), Turn((4.5, 8.5), (4.5, 9.0), 9.5))
    return Overlap((Run("trie", False, turns), Run("trie", True, turns)), "toy", "cpu", "2026-11-21", "JSON", 5)


def test_a_file_gives_back_what_was_saved_and_says_recorded(tmp_path):
    record().save(tmp_path / "overlap.json")
    assert Overlap.load(tmp_path / "overlap.json") == replace(record(), source="RECORDED")


def test_a_toy_stays_a_toy(tmp_path):
    toy = replace(record(), source="TOY")
    toy.save(tmp_path / "overlap.json")
    assert Overlap.load(tmp_path / "overlap.json") == toy


def test_a_record_without_runs_or_tokens_is_refused(tmp_path):
    for runs in ((), (Run("trie", False, ()),)):
        replace(record(), runs=runs).save(tmp_path / "overlap.json")
        with pytest.raises(TraceError, match="runs: saw no tokens"):
            Overlap.load(tmp_path / "overlap.json")


def test_a_missing_file_and_an_engine_that_did_not_run_are_named(tmp_path):
    with pytest.raises(TraceError, match="No such file"):
        Overlap.load(tmp_path / "none.json")
    with pytest.raises(TraceError, match="overlap, engine: saw 'split', expected 'trie'"):
        record().pair("split")


def test_the_cached_step_gives_what_the_whole_text_gives():
    torch, decoder = pytest.importorskip("torch"), Decoder(TINY, 11, "cpu")
    tokens = torch.tensor([3, 1, 4, 1, 5])
    stepped = torch.stack([decoder.step(token[None]) for token in tokens])
    assert torch.allclose(stepped, decoder.network(input_ids=tokens[None]).logits[0], atol=1e-4)


def test_a_step_copies_nothing_to_the_device_and_waits_for_nothing():
    """As a graph on CUDA needs it: here on a device without data, where a read of a number is an error."""
    torch, decoder = pytest.importorskip("torch"), Decoder(TINY, 11, "cpu")
    from torch.utils._python_dispatch import TorchDispatchMode

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, operation, types, args=(), given=None):
            made = operation(*args, **(given or {}))
            devices.update({made.device.type} if isinstance(made, torch.Tensor) else ())
            return made

    devices, token = set(), torch.zeros(1, dtype=torch.long, device="meta")
    decoder.network.to("meta")
    decoder.step(token)
    with Watch():
        decoder.step(token)
    assert devices == {"meta"}


def test_the_large_shape_has_half_a_billion_weights():
    assert 0.45e9 < SHAPES["cuda"].weights(128_256) < 0.55e9
    matrices = [part for part in Decoder(TINY, 11, "cpu").network.parameters() if part.dim() == 2]
    assert sum(part.numel() for part in matrices) == TINY.weights(11)


def test_a_forward_in_a_thread_tells_when_it_ran_and_gives_the_steps_logits():
    torch = pytest.importorskip("torch")
    forward = ThreadForward(Decoder(TINY, len(V), "cpu"))
    forward.begin()
    ends = 0.0
    for token in TEXT * 3:  # longer than its cache
        forward.start(token)
        began, ended = forward.wait()
        assert ends <= began < ended
        ends = ended
    mask = np.array([False, True, False, True, False])
    assert mask[forward.choose(mask)]
    again = ThreadForward(Decoder(TINY, len(V), "cpu"))
    again.begin()
    again.start(2)
    again.wait()
    assert torch.allclose(again.logits, Decoder(TINY, len(V), "cpu").step(torch.tensor([2])))


def test_the_bench_records_json_by_two_engines_and_prints_them(capsys):
    v = gv.Vocabulary([bytes([byte]) for byte in range(256)] + [b"</s>"], eos={256})
    made = record_overlap("cpu", v, 2, TINY)
    assert [(run.engine, run.beside) for run in made.runs] == [
        ("trie", False), ("trie", True), ("split", False), ("split", True)]  # fmt: skip
    assert "tiny, random weights" in made.model
    assert print_record(made)["split, one by one"]["overhead"] > 0
    assert "split, side by side" in capsys.readouterr().out


def test_the_command_keeps_a_record_only_where_a_device_is_named(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(overlap, "TRACES", tmp_path)
    monkeypatch.setattr("sys.setswitchinterval", lambda seconds: None)
    monkeypatch.setattr(overlap, "record_overlap", lambda *asked: record())
    for device, kept in (("", False), ("cpu", True)):
        overlap.bench(Namespace(device=device, rounds=1))
        assert (tmp_path / "overlap-cpu.json").exists() is kept
    assert gv.views.draw_overlap(gv.decoding.Overlap.load(tmp_path / "overlap-cpu.json")).text.startswith(
        "trie, 2 of 2 tokens"
    )


def test_a_device_that_is_not_here_is_said_in_one_line(monkeypatch, capsys):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    monkeypatch.setattr("sys.setswitchinterval", lambda seconds: None)
    overlap.bench(Namespace(device="cuda", rounds=1))
    assert "device: saw no CUDA device" in capsys.readouterr().out
