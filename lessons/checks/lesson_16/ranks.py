"""Run a function in several processes that talk by MPI; without one, tell what it once gave."""

from __future__ import annotations

import dis
import hashlib
import importlib.util
import inspect
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, ModuleType
from typing import Any

from minigrad.classroom.data import of_the_lessons
from minigrad.classroom.watching import watched

MODE = "MINIGRAD_RANKS"
"""The environment's word: `recorded` never starts MPI, `record` writes down what came."""

_SETTINGS = {
    "OMP_NUM_THREADS": "1",
    "PYTHONUTF8": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",  # Open MPI: more ranks than cores
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}
# What each process runs. If it hangs it says where, and a second later the system ends it, so that
# nothing is left over whatever happens to the notebook.
_RUN = """
import faulthandler, json, os, signal, sys, threading, time, traceback
from mpi4py import MPI
comm, (worker, options, seconds) = MPI.COMM_WORLD, json.loads(sys.argv[1])
me = str(comm.Get_rank())
waiting, sys.stdout = open(me + ".waiting", "w"), open(me + ".printed", "w", buffering=1)
try:
    import program
    comm.Barrier()
    faulthandler.dump_traceback_later(seconds, file=waiting)
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds + 1)
    else:  # Windows
        timer = threading.Timer(seconds + 1, os._exit, [1])
        timer.daemon = True
        timer.start()
    result = json.dumps(getattr(program, worker)(comm, **options), default=lambda a: a.tolist())
except BaseException as error:
    lines = [each.line for each in traceback.extract_tb(error.__traceback__)
             if each.filename.endswith("program.py")]
    where = f', in the line "{lines[-1]}"' if lines else ""
    with open(me + ".raised", "w") as file:
        file.write(f"raised {type(error).__name__}: {error}{where}")
    time.sleep(0.3)  # others that fail in the same way say so, too
    comm.Abort(1)
    os._exit(1)  # Abort may come back while others are at their end already
sys.stdout.close()
with open(me + ".result", "w") as file:
    file.write(result)
"""


class RanksError(RuntimeError):
    """A process raised an error, or they waited for each other."""


class _NoMPI(Exception):
    """There is no MPI that works; why, in words."""


class Ranks(list[Any]):
    """What each process returned, in order.

    Attributes:
        note: Empty, or in words that this was not computed here but recorded.
    """

    note = ""


def run_ranks(
    worker: Callable[..., Any], ranks: int = 2, *, seconds: float = 30.0, **options: Any
) -> Ranks:
    """Call `worker(comm, **options)` in several processes at once, started by `mpiexec`.

    The function takes along what it uses of its own file or notebook: functions (no classes),
    modules and plain values. What the processes print is printed when they are done, in order.
    Where there is no MPI, what is given is what the lesson's own run once gave.

    Args:
        worker: Gets MPI's communicator; returns numbers, text, arrays, tensors, lists or dicts of
            these. Arrays and tensors come back as lists.
        ranks: How many processes.
        seconds: How long the worker may take.
        **options: Handed on, and simple enough for JSON.

    Returns:
        A list of what each process returned.

    Raises:
        RanksError: If a process raised an error or did not come to an end, and says where; if
            there is neither an MPI nor a recording.
    """
    parts = dict(_sources(worker, worker.__module__, set()))
    source = "\n\n".join(["from __future__ import annotations", *parts.values()])
    key = ", ".join(
        [worker.__name__, f"{ranks} ranks", *map("{0[0]}={0[1]}".format, options.items())]
    )
    stamps = {each: hashlib.sha256(text.encode()).hexdigest()[:12] for each, text in parts.items()}
    path, mode = (of_the_lessons("data") or Path()) / "ranks.json", os.environ.get(MODE)
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    note = ""
    try:
        if mode == "recorded":
            raise _NoMPI(f"{MODE} is set to {mode!r}")
        found = _live(source, [worker.__name__, options, seconds], ranks)
        if mode == "record":
            known[key] = {"program": stamps, **found}
            text = json.dumps(dict(sorted(known.items())), indent=1)
            path.write_text(text + "\n", encoding="utf-8")
    except _NoMPI as why:
        if key not in known:
            raise RanksError(f"no MPI: {why}. Get one by: pip install mpi4py mpich") from None
        found, note = known[key], "recorded on another machine"
        if any(stamps.get(each, mark) != mark for each, mark in found["program"].items()):
            print(f"No MPI here ({why}): recorded from the lesson's own program, not from yours.")
        elif watched():
            print(f"No MPI here ({why}): what follows was recorded on another machine.")
    for rank, printed in enumerate(found.get("printed", ())):
        for line in printed.splitlines():
            print(f"rank {rank}: {line}")
    if "error" in found:
        raise RanksError(found["error"])
    results = Ranks(found["results"])
    results.note = note
    return results


def _sources(each: Any, module: str, done: set[str]) -> Iterator[tuple[str, str]]:
    """Give the name and the source of a function, after those of everything it uses."""
    pending, names = [each.__code__], set[str]()
    while pending:
        code = pending.pop()
        names.update(step.argval for step in dis.get_instructions(code) if "GLOBAL" in step.opname)
        pending += [inner for inner in code.co_consts if isinstance(inner, CodeType)]
    for name in sorted(names & each.__globals__.keys() - done):
        value = each.__globals__[name]
        done.add(name)
        if isinstance(value, ModuleType):
            yield name, f"import importlib\n{name} = importlib.import_module({value.__name__!r})"
        elif inspect.isfunction(value) and value.__module__ == module:
            yield from _sources(value, module, done)
        elif hasattr(value, "__qualname__"):
            yield name, f"from {value.__module__} import {value.__qualname__} as {name}"
        elif isinstance(value, int | float | str | list | tuple | dict):
            yield name, f"{name} = {value!r}"
        else:
            kind = type(value).__name__
            raise RanksError(f"{each.__name__} uses {name}, a {kind}, of outside: make it inside")
    yield each.__name__, inspect.getsource(each)


def _live(source: str, task: list[Any], ranks: int) -> dict[str, Any]:
    """Run a program under MPI: what each process returned and printed, or what went wrong."""
    beside = Path(sys.executable).with_name("mpiexec")
    mpiexec = str(beside) if beside.exists() else shutil.which("mpiexec")
    if mpiexec is None or importlib.util.find_spec("mpi4py") is None:
        raise _NoMPI(f"{'mpi4py' if mpiexec else 'mpiexec'} is missing")
    with TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "program.py").write_text(source, encoding="utf-8")
        (folder / "run.py").write_text(_RUN, encoding="utf-8")
        command = [mpiexec, "-n", str(ranks), sys.executable, "run.py", json.dumps(task)]
        paths = {"PYTHONPATH": os.pathsep.join([name, *filter(None, sys.path)])}
        process = subprocess.Popen(
            command, cwd=name, env=os.environ | _SETTINGS | paths, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        try:
            said = process.communicate(timeout=task[-1] + 30)[0]
        except subprocess.TimeoutExpired:
            said = "it did not start in time"
        finally:
            if process.poll() is None:
                if hasattr(os, "killpg"):
                    os.killpg(process.pid, signal.SIGKILL)
                else:  # Windows
                    process.kill()
                process.wait()

        def files(kind: str) -> dict[int, str]:
            paths = sorted(folder.glob(f"*.{kind}"))
            return {int(path.stem): path.read_text(encoding="utf-8") for path in paths}

        results, lines = files("result"), source.splitlines()
        if not files("waiting"):
            raise _NoMPI(f"mpiexec says: {' '.join(said.split())[:200]}")
        printed, told, stacks = files("printed"), files("raised"), files("waiting")
        lasting = {"printed": [printed.get(rank, "") for rank in range(ranks)]}
        if len(results) == ranks and not told:
            return {"results": [json.loads(results[rank]) for rank in range(ranks)]} | lasting
        if not told and not any(stacks.values()):
            crashed = "a rank crashed: was an array gone before its message had come?"
            return {"error": crashed} | lasting
        if not told:
            for rank, stack in stacks.items():
                at = re.search(r'program\.py", line (\d+)', stack)
                where = (
                    f'waiting in the line "{lines[int(at[1]) - 1].strip()}"' if at else "at work"
                )
                told[rank] = "had returned" if rank in results else f"was {where}"
            told[-1] = f"not finished after {task[-1]:g} seconds"
    said = "; ".join(f"rank {r} {t}" if r >= 0 else t for r, t in sorted(told.items()))
    return {"error": said} | lasting
