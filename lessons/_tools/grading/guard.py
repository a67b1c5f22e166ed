"""Refuse what a student's code has no business with: an audit hook that can't be taken away.

It is made of closures alone. A class, or a function that hangs in a module, a student could find
and change.
"""

from __future__ import annotations

import _posixsubprocess
import _signal  # type: ignore[import-not-found]
import builtins
import os
import posix
import posixpath
import signal
import sys
import sysconfig
import threading
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType, SimpleNamespace
from typing import Any

import minigrad
from minigrad.classroom.execution import Endless, Watch

# of our own: a student may put others there
__builtins__ = dict(vars(builtins))  # type: ignore[assignment]
OWN_FILES = str(Path(__file__).resolve().parent) + os.sep
_THREADING = threading.__file__
_STDLIB = os.path.dirname(os.__file__) + os.sep
_MINIGRAD = str(Path(minigrad.__file__).resolve().parent) + os.sep
_PATHS = ("stdlib", "platstdlib", "purelib", "platlib")
_LIBRARIES = (*{sysconfig.get_path(name) + os.sep for name in _PATHS}, _MINIGRAD, "<frozen")
# Of these the caller counts, because they hand on the frames that they see.
_SEES_FRAMES = tuple(f"{_STDLIB}{name}.py" for name in ("inspect", "pdb", "bdb"))
_TELLS_NOTHING = ("/cpuinfo", "/meminfo", "/status")  # of what is in /proc
_FRAMES = ("tb_frame", "gi_frame", "cr_frame", "ag_frame")

# Events of Python's, by how they begin, and what to call them.
_PROGRAMS = ("os.fork", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "subprocess.", "pty.")
_NEVER: dict[str, str | tuple[str, ...]] = {
    "start a program": _PROGRAMS,
    "use the network": "socket.",
    "send a signal to a process": "os.kill",
    "call into memory by ctypes": "ctypes.",
    "make a link": ("os.symlink", "os.link"),
    "change the limits it runs under": "resource.",
    "open a database": "sqlite3.connect",
    "add an audit hook": "sys.addaudithook",
    "look into other threads": "sys._current",
    "write to the system's log": "syslog.",
}
_CHANGES = ("remove", "rmdir", "mkdir", "rename", "chdir", "chmod", "chown", "chflags", "lockf")
_MORE = ("truncate", "utime", "setxattr", "removexattr")
_WRITES = [f"os.{name}" for name in (*_CHANGES, *_MORE)]
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# What Python does not report is taken away instead, from where it is and from what stands below.
_TAKEN_AWAY = {
    (os, posix): ("mkfifo", "mknod", "setsid", "setpgid", "setpriority", "pidfd_open", "unshare"),
    (signal, _signal): ("signal", "setitimer", "alarm", "pidfd_send_signal", "set_wakeup_fd",
                        "pthread_sigmask"),
    (_posixsubprocess,): ("fork_exec",),
}  # fmt: skip
_TAKEN = "minigrad.taken_away"


class Refused(PermissionError):
    """What a submission tried, and may not do."""


def take_away() -> None:
    """Replace what Python doesn't report by something that does nothing but report."""
    for modules, names in _TAKEN_AWAY.items():
        for module, name in product(modules, names):
            if hasattr(module, name):
                what = f"call {modules[0].__name__}.{name}"
                setattr(module, name, partial(sys.audit, _TAKEN, what))


def install(
    folder: str, hidden: Sequence[tuple[str, str]], own: CodeType, tell: Callable[[str], None]
) -> tuple[list[str], list[bool]]:
    """Begin, for as long as this process lives.

    Args:
        folder: The only place that may be written to. The lesson's own cells are run under names
            that begin with this folder and `lesson_`.
        hidden: Folders that may not be read, and what to call them: first the checks, then the
            solutions.
        own: Code of the grading that may do anything.
        tell: Gets what was refused, in words.

    Returns:
        A list that takes what was refused; and one that holds something while checks are
        loaded and no student's code runs.
    """
    tried: list[str] = []
    loading: list[bool] = []
    published, (checks, solutions) = f"{folder}/lesson_", (path for path, _ in hidden[:2])
    owners = ((published, "published"), (OWN_FILES, "grading"), (checks, "checks"))
    # of posixpath, which nobody can replace from outside
    copied: dict[str, Any] = {**vars(posixpath), "__builtins__": __builtins__}
    for name, each in list(copied.items()):
        if isinstance(each, ModuleType):
            copied[name] = SimpleNamespace(**vars(each))
        elif isinstance(each, FunctionType):
            copied[name] = FunctionType(each.__code__, copied, name, each.__defaults__)
            copied[name].__kwdefaults__ = each.__kwdefaults__
    real, is_folder = copied["realpath"], copied["isdir"]
    get_frame, get_trace, here = sys._getframe, sys.gettrace, threading.local()
    trusted = (checks, OWN_FILES)

    def resolved(path: Any) -> str | None:
        """Give the absolute path without links; None where it isn't a text."""
        try:
            return str(real(path)) if type(path) is str else None
        except (OSError, ValueError):
            return None

    def speaker(frame: FrameType | None, past: str = "") -> str:
        """Tell whose code is behind a frame: "published", "student", "checks" or "grading"."""
        while frame is not None:
            file = frame.f_code.co_filename
            who = next((who for begins, who in owners if file.startswith(begins)), "")
            if who and who != past:
                return who
            if not who and not file.startswith(_LIBRARIES):
                return "student"
            frame = frame.f_back
        return "student"  # a thread begins in a library

    def importing(frame: FrameType | None) -> bool:
        """Tell whether an installed package does this while it is imported."""
        while frame is not None and frame.f_code.co_filename.startswith(_LIBRARIES):
            if frame.f_code.co_name == "<module>":
                return True
            frame = frame.f_back
        return False

    def notes(what: str) -> None:
        if what not in tried and len(tried) < 20:
            tried.append(what)
            tell(what)

    def refuse(frame: FrameType, what: str) -> None:
        # What a lesson or a package does by itself is nobody's doing: it does without.
        honest = speaker(frame) == "published" or importing(frame)
        if not honest:
            notes(what)
        raise Refused(f"It tried to {what}.")

    def opens(frame: FrameType, _: str, path: Any, mode: Any, flags: Any) -> None:
        if isinstance(path, int):  # it is open already
            return
        if (flags or 0) & _WRITING or any(letter in "wax+" for letter in mode or ""):
            writes(frame, "write to", path)
        else:
            reads(frame, "open" if mode is None else "", path)

    def writes(frame: FrameType, verb: str, path: Any) -> None:
        place = resolved(path)
        inside = place is not None and f"{place}/".startswith(f"{folder}/")
        # where ".." leads may change until it is used
        if place != "/dev/null" and (not inside or ".." in path.split("/")):
            refuse(frame, f"{verb} {place}")

    def changes(frame: FrameType, event: str, *args: Any) -> None:
        if event == "os.mkdir" and is_folder(resolved(args[0]) or ""):
            return  # the system says that it is there
        for path in args[: 2 if event == "os.rename" else 1]:
            writes(frame, f"call {event} on", path)

    def reads(frame: FrameType, event: str, path: Any = None, *_: Any) -> None:
        if isinstance(path, int):
            return
        place = resolved("." if path is None else path)
        # A folder that is open leads around all names.
        if place is None or (event == "open" and is_folder(place)):
            refuse(frame, f"open the folder {place}")
        elif place.startswith("/proc/") and not place.endswith(_TELLS_NOTHING):
            refuse(frame, f"read {place}")
        for kept, name in hidden:
            if f"{place}/".startswith(kept) and not may_read(frame, kept):
                refuse(frame, f"read {name} ({place})")

    def may_read(frame: FrameType, kept: str) -> bool:
        """Tell whether the lesson asks for its checks, or has them read the solutions."""
        if kept == checks:
            return bool(loading) or speaker(frame) in ("published", "checks")
        return kept == solutions and (bool(loading) or speaker(frame, "checks") == "published")

    def compiles(frame: FrameType, _: str, __: Any, file: Any = None, *more: Any) -> None:
        if file is None:
            return
        known = type(file) is not str or file.startswith((*_LIBRARIES, *trusted, published))
        if known and not frame.f_code.co_filename.startswith((*_LIBRARIES, *trusted)):
            refuse(frame, f"pass code off as {file}")

    def runs(frame: FrameType, event: str, *args: Any) -> None:
        """Let nobody run code of a library with other globals: it would pass for the library."""
        code = args[-1] if event == "object.__setattr__" else args[0]
        if isinstance(code, CodeType):
            compiles(frame, event, None, code.co_filename)

    def looks(frame: FrameType, *_: Any) -> None:
        """Hand no frames to a student: the grading's own are among them."""
        file, up = frame.f_code.co_filename, frame.f_back
        if file == f"{_STDLIB}traceback.py":
            if frame.f_code.co_name != "walk_tb" or up is None or up.f_code.co_filename == file:
                return
        elif file.startswith(_LIBRARIES) and file not in _SEES_FRAMES:
            return
        if speaker(frame) == "student":
            refuse(frame, "look into the frames of the program that runs it")

    def traces(frame: FrameType, event: str, *_: Any) -> None:
        """Let nobody watch each line but the machinery of the exercises."""
        now = get_trace() if event == "sys.settrace" else None
        file = frame.f_code.co_filename
        if not (file.startswith(_MINIGRAD) or file == _THREADING):
            if type(now) is Watch and now.is_over:
                raise Endless  # Python itself takes a watch off that has ended a loop: it stays on
            refuse(frame, "trace the program that runs it")
        if now is not None and type(now) is not Watch:
            notes("trace the program that runs it")

    def collects(frame: FrameType, event: str, *_: Any) -> None:
        if speaker(frame) == "student":
            refuse(frame, f"look through all objects ({event})")

    def never(what: str, frame: FrameType, event: str, *_: Any) -> None:
        refuse(frame, f"{what} ({event})")

    handlers = {
        event: handle
        for handle, events in (
            (opens, ["open"]),
            (changes, _WRITES),
            (reads, ["os.listdir", "os.scandir"]),
            (compiles, ["compile", "code.__new__"]),
            (runs, ["exec", "function.__new__", "object.__setattr__"]),
            (looks, ["sys._getframe", "object.__getattr__"]),
            (traces, ["sys.settrace", "sys.setprofile", "sys.monitoring.register_callback"]),
            (collects, ["gc.get_objects", "gc.get_referrers", "gc.get_referents"]),
            (lambda frame, _, what, *more: refuse(frame, what), [_TAKEN]),
        )
        for event in events
    }

    forbidden = [(begins, partial(never, what)) for what, begins in _NEVER.items()]

    def hook(event: str, args: tuple[Any, ...]) -> None:
        handle = handlers.get(event) or next((h for b, h in forbidden if event.startswith(b)), None)
        busy, read = getattr(here, "busy", False), event == "object.__getattr__"
        looks_itself = busy and (read or event == "sys._getframe")
        if not handle or looks_itself or (read and args[1] not in _FRAMES):
            return
        here.busy = True
        try:
            frame = get_frame(1)
            if frame.f_code is not own:  # equal code could be anybody's
                handle(frame, event, *args)
        finally:
            here.busy = busy

    sys.addaudithook(hook)
    return tried, loading
