"""Claims about the bench of production: the load is skewed, and the caches are measured as they are named."""

from bench.schemas.sample import build_sample
from bench.serving import run_caches, time_packed
from guidedviz.tokens.vocabulary import Vocabulary


def test_the_ways_of_caching_differ_as_they_should(monkeypatch):
    monkeypatch.setattr("bench.serving.REQUESTS", 40)
    vocabulary = Vocabulary([bytes([byte]) for byte in range(256)] + [b"</s>"], eos={256})
    smallest = sorted(build_sample(), key=lambda case: len(str(case.schema)))[:4]
    runs = {run.name: run for run in run_caches(smallest, vocabulary)}
    assert runs["no cache"].hit_rate == runs["unique schemas"].hit_rate == 0
    assert runs["no limit"].hit_rate == 36 / 40
    assert runs["no limit, 50 warmed up"].hit_rate == 1


def test_packed_masks_are_timed_on_numpy_and_torch():
    for device in ("numpy", "cpu"):
        found = time_packed(device, 1000)
        assert found.device == device
        assert found.pack_ms > 0 < found.apply_ms
