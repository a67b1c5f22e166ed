"""Processes that talk by MPI: what comes back, what goes wrong, and what happens without an MPI."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from minigrad.classroom.desk import checks

ranks = checks("16").ranks
MODE, RanksError, run_ranks = ranks.MODE, ranks.RanksError, ranks.run_ranks

INSTALLED = importlib.util.find_spec("mpi4py") is not None and (
    Path(sys.executable).with_name("mpiexec").exists() or shutil.which("mpiexec") is not None
)
needs_mpi = pytest.mark.skipif(not INSTALLED, reason="there is no MPI (Windows, say)")
FACTOR = 3


def times_factor(number):
    return FACTOR * number


def adds_up(comm, shift=0.0):
    print("before", comm.Get_rank())
    mine = np.full(2, times_factor(comm.Get_rank() + 1.0) + shift)
    total = np.empty_like(mine)
    comm.Iallreduce(mine, total).Wait()
    return {"total": total, "size": comm.Get_size(), "processor": os.getpid() > 0}


def one_raises(comm):
    if comm.Get_rank() == 1:
        raise ValueError("not I")
    comm.Barrier()


def one_raises_late(comm):
    print("here", comm.Get_rank())
    if comm.Get_rank() == 1:
        raise ValueError("late")
    return 3


def one_stays_away(comm):
    if comm.Get_rank() == 0:
        comm.Barrier()
    return comm.Get_rank()


def dies(comm):
    os._exit(3)


@pytest.fixture
def live(monkeypatch):
    monkeypatch.delenv(MODE, raising=False)


@pytest.fixture
def elsewhere(monkeypatch, tmp_path):
    """A folder of data of its own."""
    monkeypatch.setattr(ranks, "of_the_lessons", lambda *parts: tmp_path)
    return tmp_path / "ranks.json"


@needs_mpi
@pytest.mark.parametrize(("many", "total"), [(2, 9.0), (4, 30.0)])
def test_what_each_process_returned_comes_back(live, many, total, capsys):
    results = run_ranks(adds_up, many)
    assert results == [{"total": [total, total], "size": many, "processor": True}] * many
    assert results.note == ""
    assert capsys.readouterr().out.splitlines() == [
        f"rank {rank}: before {rank}" for rank in range(many)
    ]


@needs_mpi
def test_an_error_is_told_with_its_rank_and_line(live):
    said = 'rank 1 raised ValueError: not I, in the line "raise ValueError("not I")"'
    with pytest.raises(RanksError) as raised:
        run_ranks(one_raises)
    assert str(raised.value) == said


@needs_mpi
def test_an_error_is_told_when_others_are_done_and_what_was_printed_stays(live, capsys):
    with pytest.raises(RanksError, match="rank 1 raised ValueError: late"):
        run_ranks(one_raises_late)
    assert capsys.readouterr().out.splitlines() == ["rank 0: here 0", "rank 1: here 1"]


@needs_mpi
@pytest.mark.parametrize("timer", ['hasattr(signal, "setitimer")', "False"])  # Windows has none
def test_a_deadlock_ends_and_leaves_nothing_behind(live, monkeypatch, timer):
    monkeypatch.setattr(ranks, "_RUN", ranks._RUN.replace('hasattr(signal, "setitimer")', timer))
    with pytest.raises(
        RanksError, match=r"not finished after 1 seconds; rank 0 was waiting in the"
    ) as raised:
        run_ranks(one_stays_away, seconds=1)
    told = str(raised.value).partition("; ")[2]
    assert told == 'rank 0 was waiting in the line "comm.Barrier()"; rank 1 had returned'
    if Path("/proc").exists():
        deadline = time.monotonic() + 120
        while own_ranks() and time.monotonic() < deadline:
            time.sleep(0.1)
        assert own_ranks() == []


def own_ranks():
    """Processes that run this file's worker."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes()
        except OSError:
            continue
        if b"run.py" in words and b"one_stays_away" in words:
            found.append(path)
    return found


@needs_mpi
def test_a_crash_is_no_deadlock(live):
    with pytest.raises(RanksError, match="a rank crashed"):
        run_ranks(dies)


def test_what_cannot_be_taken_along_is_named():
    outside = np.ones(3)

    def worker(comm):
        return outside

    namespace = {"array": outside, "__name__": __name__}
    exec("def worker(comm):\n    return array", namespace)
    with pytest.raises(RanksError, match="worker uses array, a ndarray, of outside"):
        run_ranks(namespace["worker"])


# ------------------------------------------------------------------ without an MPI


def test_without_an_mpi_and_a_recording_it_says_what_to_do(elsewhere, monkeypatch):
    monkeypatch.setenv(MODE, "recorded")
    with pytest.raises(RanksError, match="pip install mpi4py mpich"):
        run_ranks(adds_up)


@needs_mpi
def test_a_recording_gives_the_same_as_a_run(elsewhere, monkeypatch, capsys):
    monkeypatch.setenv(MODE, "record")
    for shift in (0.0, 1.0):
        run_ranks(adds_up, shift=shift)
    with pytest.raises(RanksError) as first:
        run_ranks(one_raises)
    assert len(json.loads(elsewhere.read_text())) == 3
    capsys.readouterr()
    monkeypatch.setenv(MODE, "recorded")
    results = run_ranks(adds_up, shift=1.0)
    assert results == [{"total": [11.0, 11.0], "size": 2, "processor": True}] * 2
    assert results.note == "recorded on another machine"
    assert capsys.readouterr().out == "rank 0: before 0\nrank 1: before 1\n"
    with pytest.raises(RanksError) as second:
        run_ranks(one_raises)
    assert str(first.value) == str(second.value)
    monkeypatch.setattr(ranks, "watched", lambda: True)
    run_ranks(adds_up, shift=1.0)
    assert "recorded on another machine" in capsys.readouterr().out


@needs_mpi
def test_a_changed_program_is_not_what_was_recorded(elsewhere, monkeypatch, capsys):
    monkeypatch.setenv(MODE, "record")
    run_ranks(adds_up)
    known = json.loads(elsewhere.read_text())
    known["adds_up, 2 ranks"]["program"]["times_factor"] = "another"
    elsewhere.write_text(json.dumps(known))
    capsys.readouterr()
    monkeypatch.setenv(MODE, "recorded")
    run_ranks(adds_up)
    assert "not from yours" in capsys.readouterr().out


@pytest.mark.parametrize("refuses", ["exit 1", "echo you are root >&2; exit 1"])
def test_an_mpi_that_does_not_start_is_none(elsewhere, live, monkeypatch, tmp_path, refuses):
    fake = tmp_path / "mpiexec"
    fake.write_text(f"#!/bin/sh\n{refuses}\n")
    fake.chmod(0o755)
    if os.name == "nt":
        pytest.skip("no shell")
    monkeypatch.setattr(ranks.sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(ranks.importlib.util, "find_spec", lambda name: object())
    words = "you are root" if "root" in refuses else "mpiexec says"
    with pytest.raises(RanksError, match=words):
        run_ranks(adds_up)


def test_the_index_s_mpi_works():
    """It comes with the lessons: where it is installed, it has to run."""
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("mpi4py is not installed")
    mpiexec = Path(sys.executable).with_name("mpiexec")
    if not mpiexec.exists():
        pytest.skip("the package index's MPICH is not installed")
    program = "from mpi4py import MPI; print(MPI.COMM_WORLD.allreduce(1))"
    done = subprocess.run(
        [str(mpiexec), "-n", "2", sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert "".join(done.stdout.split()) == "22"  # line ends may come late
