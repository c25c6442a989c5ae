"""A cached index is a hint: damaged, stale, foreign or unwritable, the masks stay right."""

import errno
import io
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import guidedviz as gv
from guidedviz.tokens import cache, index

MACHINE = gv.regex(r"[0-9]+(\.[0-9]+)?")
TOY = gv.Vocabulary([b"3", b".5", b".", b"42", b"x", b"</s>"], eos={5})


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("GUIDEDVIZ_CACHE", str(tmp_path / "kept"))
    monkeypatch.setattr(index, "WORTH_KEEPING", 0)
    index.forget()
    yield tmp_path / "kept"
    index.forget()


def same(one, other):
    return all((a == b).all() and a.dtype == b.dtype for a, b in zip(one, other, strict=True))


def save(machine=MACHINE, vocabulary=TOY):
    assert cache.save_arrays(machine, vocabulary, index.compute_index(machine, vocabulary).arrays)
    return cache.cache_file(machine, vocabulary)


def test_the_next_process_reads_what_this_one_built(folder, monkeypatch):
    first = gv.build_index(MACHINE, TOY)
    assert [file.suffix for file in folder.iterdir()] == [cache.SUFFIX]
    index.forget()
    monkeypatch.setattr(index, "compute_index", lambda *_: pytest.fail("it was there"))
    second = gv.build_index(MACHINE, TOY)
    assert second is not first
    assert same(first.arrays, second.arrays)
    assert gv.guide(MACHINE, TOY).mask(1).tolist() == [True, True, True, True, False, True]


def test_a_small_index_is_not_worth_a_file(folder, monkeypatch):
    monkeypatch.setattr(index, "WORTH_KEEPING", 1_000_000)
    gv.build_index(MACHINE, TOY)
    assert not folder.exists()


def test_any_damaged_byte_is_seen(folder):
    path = save()
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert cache.load_arrays(MACHINE, TOY) is None
    path.write_bytes(whole)
    assert cache.load_arrays(MACHINE, TOY) is not None


def test_a_file_cut_short_or_grown_is_seen(folder):
    path = save()
    whole = path.read_bytes()
    for damaged in [*(whole[:end] for end in range(len(whole))), whole + b"\0", whole * 2]:
        path.write_bytes(damaged)
        assert cache.load_arrays(MACHINE, TOY) is None


def test_a_damaged_file_is_built_anew_and_replaced(folder):
    path = save()
    path.write_bytes(b"nonsense")
    assert gv.build_index(MACHINE, TOY).mask(0).tolist() == [True, False, False, True, False, False]
    assert cache.load_arrays(MACHINE, TOY) is not None


def test_a_file_of_another_machine_or_vocabulary_is_not_taken_under_this_name(folder):
    mine = cache.cache_file(MACHINE, TOY)
    for machine, vocabulary in [
        (gv.regex("[0-9]+"), TOY),
        (MACHINE, gv.Vocabulary(TOY.pieces[::-1], eos={0})),
        (MACHINE, gv.Vocabulary(TOY.pieces, eos={4})),
        (MACHINE, gv.Vocabulary(TOY.pieces, eos={5}, special={0})),
    ]:
        other = save(machine, vocabulary)
        assert other != mine
        os.replace(other, mine)
        assert cache.load_arrays(MACHINE, TOY) is None


def test_a_changed_vocabulary_gets_its_own_index(folder):
    gv.build_index(MACHINE, TOY)
    changed = gv.Vocabulary([b"x", *TOY.pieces[1:]], eos={5})
    assert gv.build_index(MACHINE, changed).mask(0).tolist() == [False, False, False, True, False, False]
    assert len(list(folder.iterdir())) == 2


@pytest.mark.parametrize("what", ["kind", "after", "row", "wide", "kinds", "nothing"])
def test_a_file_with_a_right_checksum_and_impossible_numbers_is_not_taken(folder, what):
    path = save()
    kind, after, row, bits = (array.copy() for array in cache.load_arrays(MACHINE, TOY))
    if what == "kind":
        kind[0] = len(after)
    if what == "after":
        after[0, 0] = len(MACHINE)
    if what == "wide":
        bits = np.hstack([bits, bits])
    if what == "row":
        row[0] = len(bits)
    cache.save_arrays(MACHINE, TOY, cache.Arrays(kind, after, row, bits))
    if what in ("kinds", "nothing"):
        head = cache._head(MACHINE, TOY)
        body = b""
        if what == "kinds":
            np.savez(file := io.BytesIO(), kind=np.array([None]), after=after)
            body = file.getvalue()
        path.write_bytes(head + cache.hashlib.sha256(body).digest() + body)
    assert cache.load_arrays(MACHINE, TOY) is None


def test_many_writers_and_readers_at_once_never_see_half_a_file(folder):
    right = index.compute_index(MACHINE, TOY).arrays

    def write_and_read(number):
        seen = []
        for _ in range(30):
            if number % 2:
                assert cache.save_arrays(MACHINE, TOY, right)
            else:
                seen.append(cache.load_arrays(MACHINE, TOY))
        return seen

    save()
    with ThreadPoolExecutor(8) as pool:
        seen = [one for many in pool.map(write_and_read, range(8)) for one in many]
    assert len(seen) == 120
    assert all(one is not None and same(one, right) for one in seen)
    assert len(list(folder.iterdir())) == 1


@pytest.mark.parametrize("broken", ["mkstemp", "fdopen", "replace"])
def test_a_full_disk_stops_no_decode_and_leaves_no_litter(folder, monkeypatch, broken):
    def fail(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(cache.tempfile if broken == "mkstemp" else cache.os, broken, fail)
    assert gv.build_index(MACHINE, TOY).mask(0).any()
    assert list(folder.iterdir()) == []


def test_a_folder_that_cannot_be_made_or_read_stops_no_decode(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("GUIDEDVIZ_CACHE", str(tmp_path / "file" / "below"))
    assert gv.build_index(MACHINE, TOY).mask(0).any()
    index.forget()
    monkeypatch.setenv("GUIDEDVIZ_CACHE", str(tmp_path))
    cache.cache_file(MACHINE, TOY).mkdir()
    assert gv.build_index(MACHINE, TOY).mask(0).any()


@pytest.mark.parametrize("off", ["", "0"])
def test_nothing_is_kept_where_it_is_switched_off(tmp_path, monkeypatch, off):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GUIDEDVIZ_CACHE", off)
    gv.build_index(MACHINE, TOY)
    assert cache.cache_file(MACHINE, TOY) is None
    assert list(tmp_path.iterdir()) == []


def test_the_folder_is_the_platforms_own(monkeypatch):
    monkeypatch.delenv("GUIDEDVIZ_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache.cache_folder() == Path("/somewhere/guidedviz")
    monkeypatch.setenv("GUIDEDVIZ_CACHE", "~/kept")
    assert cache.cache_folder() == Path.home() / "kept"
    monkeypatch.setattr(Path, "expanduser", lambda _: (_ for _ in ()).throw(RuntimeError("no home")))
    assert cache.cache_folder() is None


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o707])
def test_a_folder_that_others_can_write_is_not_used(folder, mode):
    path = save()
    folder.chmod(mode)
    assert cache.load_arrays(MACHINE, TOY) is None
    assert not cache.save_arrays(MACHINE, TOY, index.compute_index(MACHINE, TOY).arrays)
    folder.chmod(0o755)
    assert cache.load_arrays(MACHINE, TOY) is not None
    path.chmod(0o666)
    assert cache.load_arrays(MACHINE, TOY) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFO here")
def test_a_fifo_in_the_place_of_a_file_is_not_waited_for(folder):
    folder.mkdir(mode=0o700)
    os.mkfifo(cache.cache_file(MACHINE, TOY), 0o600)
    assert cache.load_arrays(MACHINE, TOY) is None
    assert gv.build_index(MACHINE, TOY).mask(0).any()


def test_a_file_is_much_smaller_than_its_arrays(folder):
    machine = gv.regex("[a-f]{1,200}")
    v = gv.Vocabulary([bytes([a, b]) for a in range(97, 123) for b in range(97, 123)])
    assert save(machine, v).stat().st_size < index.compute_index(machine, v).nbytes / 3


def test_the_oldest_files_go_and_strangers_stay(folder, monkeypatch):
    old, new = save(), save(gv.regex("[0-9]+"))
    os.utime(old, (1, 1))
    (folder / "thesis.txt").write_text("mine")
    monkeypatch.setattr(cache, "MOST_BYTES", new.stat().st_size * 2 + 10)
    last = save(gv.regex("[0-9]*"))
    assert {file.name for file in folder.iterdir()} == {new.name, last.name, "thesis.txt"}


def test_a_cached_index_is_what_would_be_built(folder):
    machine, v = gv.regex(r"[a-z0-9._]{1,8}@[a-z]{1,4}\.com"), gv.Vocabulary.llama3()
    save(machine, v)
    loaded, built = cache.load_arrays(machine, v), index.compute_index(machine, v)
    assert same(loaded, built.arrays)
    assert np.unpackbits(loaded[-1][0]).sum() == built.legal[0] > 20_000
