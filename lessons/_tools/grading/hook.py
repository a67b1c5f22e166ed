"""Refuse what a student's code has no business with: an audit hook that cannot be taken away."""

from __future__ import annotations

import os
import signal
import sys
import sysconfig
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import minigrad
from minigrad.classroom.execution import Watch

try:
    import _posixsubprocess
except ImportError:  # Windows, where this is only imported
    _posixsubprocess = None  # type: ignore[assignment]

MOST_FILES = 2000  # that one submission may open for writing
OWN_FILES = str(Path(__file__).resolve().parent) + os.sep
_MINIGRAD = str(Path(minigrad.__file__).resolve().parent) + os.sep
_PATHS = ("stdlib", "platstdlib", "purelib", "platlib")
_LIBRARIES = (*{sysconfig.get_path(name) + os.sep for name in _PATHS}, _MINIGRAD, "<frozen")
# Of these the caller counts, as they hand on what they see.
_SEES_FRAMES = tuple(
    str(Path(os.__file__).with_name(name)) for name in ("inspect.py", "pdb.py", "bdb.py")
)
_TRACEBACK = str(Path(os.__file__).with_name("traceback.py"))
_FRAMES = ("tb_frame", "gi_frame", "cr_frame", "ag_frame")

# Events of Python's, by how they begin, and what to call them.
_NEVER = {
    "os.fork": "start a process",
    "os.exec": "start a program",
    "os.posix_spawn": "start a program",
    "os.spawn": "start a program",
    "os.system": "start a program",
    "os.startfile": "start a program",
    "subprocess.": "start a program",
    "pty.": "start a program",
    "socket.": "use the network",
    "os.kill": "send a signal to a process",
    "ctypes.": "call into memory by ctypes",
    "os.symlink": "make a link",
    "os.link": "make a link",
    "resource.": "change the limits it runs under",
    "sqlite3.connect": "open a database",
    "sys.addaudithook": "add an audit hook",
    "sys._current": "look into other threads",
    "syslog.": "write to the system's log",
}
_WRITES = {
    "os.remove": "delete",
    "os.rmdir": "delete",
    "os.mkdir": "make the folder",
    "os.rename": "rename",
    "os.chmod": "change the mode of",
    "os.chown": "change the owner of",
    "os.chdir": "go to",
    "os.chflags": "change the flags of",
    "os.lockf": "lock",
    "os.truncate": "cut off",
    "os.utime": "change the date of",
    "os.setxattr": "change",
    "os.removexattr": "change",
}
_READS = ("os.listdir", "os.scandir")
# What Python does not report: taken away instead.
_TAKEN_AWAY = {
    os: ("mkfifo", "mknod", "setpriority", "chroot", "setsid", "setpgid", "pidfd_open",
         "setuid", "setgid", "setresuid", "unshare", "setns"),
    signal: ("signal", "setitimer", "alarm", "pidfd_send_signal", "set_wakeup_fd"),
}  # fmt: skip
_BELOW = {os: "posix", signal: "_signal"}
_REFUSED = "It tried to "


class Refused(PermissionError):
    """What a submission tried, and may not."""


class Guard:
    """What is allowed to whom, and what was tried.

    Args:
        folder: The only place that may be written to.
        hidden: Folders that may not be read, and what to call them.
        checks: One of them, which the lesson's own cells and the grading may load.
        published: How the names of the lesson's own cells begin.

    Attributes:
        tried: What was refused, in words, each once.
        loading: Whether the checks are being loaded, while no student's code runs.
    """

    def __init__(
        self, folder: str, hidden: Sequence[tuple[str, str]], checks: str, published: str
    ) -> None:
        self.tried: list[str] = []
        self.loading = False
        self._folder, self._hidden, self._checks = folder, tuple(hidden), checks
        self._published = published
        self._own: tuple[CodeType, ...] = ()
        self._files = 0

    def install(self, own: Sequence[Callable[..., Any]]) -> None:
        """Begin, for as long as this process lives.

        Args:
            own: Functions of the grading that may do anything.
        """
        self._own = tuple(function.__code__ for function in own)
        for module, names in _TAKEN_AWAY.items():
            for name in names:
                for holder in (module, sys.modules.get(_BELOW[module])):
                    if hasattr(holder, name):
                        setattr(holder, name, self._taken_away(f"call {module.__name__}.{name}"))
        if _posixsubprocess is not None:
            vars(_posixsubprocess)["fork_exec"] = self._taken_away("start a program")
        sys.addaudithook(_hook(self))

    def _taken_away(self, what: str) -> Callable[..., None]:
        def refused(*args: object, **options: object) -> None:
            self.note(what)
            self.refuse(what)

        return refused

    def refuse(self, what: str) -> None:
        """Raise what the code that tried it gets.

        Args:
            what: As it follows "tried to".
        """
        raise Refused(f"{_REFUSED}{what}.")

    def note(self, what: str) -> None:
        """Keep what was tried, to be told.

        Args:
            what: As it follows "tried to".
        """
        if what not in self.tried and len(self.tried) < 20:
            self.tried.append(what)

    def speaker(self, frame: FrameType | None) -> str:
        """Tell whose code is behind a frame: "published", "student", "checks" or "grading".

        Args:
            frame: Where something is about to happen.
        """
        while frame is not None:
            file = frame.f_code.co_filename
            if file.startswith(self._published):
                return "published"
            if file.startswith(OWN_FILES):
                return "grading"
            if file.startswith(self._checks):
                return "checks"
            if not file.startswith(_LIBRARIES):
                return "student"
            frame = frame.f_back
        return "student"  # a thread begins in a library

    def importing(self, frame: FrameType | None) -> bool:
        """Tell whether it is an installed package that does this while it is imported.

        Args:
            frame: Where something is about to happen.
        """
        while frame is not None and frame.f_code.co_filename.startswith(_LIBRARIES):
            if frame.f_code.co_name == "<module>":
                return True
            frame = frame.f_back
        return False

    def looks_at_frames(self, frame: FrameType, event: str) -> None:
        """Refuse to hand frames to a student: the grading's own are among them.

        Args:
            frame: Who asks.
            event: Which way.
        """
        file = frame.f_code.co_filename
        if file == _TRACEBACK:
            up = frame.f_back
            if frame.f_code.co_name != "walk_tb" or up is None:
                return
            if up.f_code.co_filename == _TRACEBACK:
                return
        elif file.startswith(_LIBRARIES) and file not in _SEES_FRAMES:
            return
        if self.speaker(frame) == "student":
            self.refuse("look into the frames of the program that runs it")

    def traces(self, frame: FrameType, now: object) -> None:
        """Let nobody watch each line but the machinery of the exercises.

        Args:
            frame: Who asks.
            now: Who watches already.
        """
        if type(now) is Watch and now.is_over:
            return  # Python takes a watch away that has ended a loop, and says the loop asks for it
        what = "trace the program that runs it"
        file = frame.f_code.co_filename
        if not (file.startswith((_MINIGRAD, OWN_FILES)) or file == threading.__file__):
            self.refuse(what)
        if now is not None and type(now) is not Watch:
            self.note(what)

    def compiles(self, frame: FrameType, file: Any) -> None:
        """Refuse code that says it comes from a library.

        Args:
            frame: Who compiles.
            file: The name that the code shall have.
        """
        if not isinstance(file, str):
            return
        if not file.startswith((*_LIBRARIES, self._checks, OWN_FILES, self._published)):
            return
        if not frame.f_code.co_filename.startswith((*_LIBRARIES, self._checks, OWN_FILES)):
            self.refuse(f"pass code off as {file}")

    def opens(self, frame: FrameType, path: Any, mode: Any, flags: int) -> None:
        """Look at a file about to be opened.

        Args:
            frame: Who opens it.
            path: As given; a number is a file that is open already.
            mode: Letters, or None where flags say it all.
            flags: Of the system's `open`.
        """
        if isinstance(path, int):
            return
        writes = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
        if writes or any(letter in "wax+" for letter in mode or ""):
            self.writes(path, "write to")
            self._files += 1
            if self._files > MOST_FILES:
                self.refuse(f"write more than {MOST_FILES} files")
        else:
            # A folder that is open would lead around all names.
            self.reads(frame, path, folder=mode is None)

    def writes(self, path: Any, verb: str) -> None:
        """Look at a path about to be changed.

        Args:
            path: As given.
            verb: What would be done to it.
        """
        place = _resolved(path)
        if place == "/dev/null":
            return
        if ".." in str(path).split("/"):  # where that leads may change until it is used
            place = None
        if place is None or not f"{place}/".startswith(f"{self._folder}/"):
            self.refuse(f"{verb} {_shown(path)}")

    def reads(self, frame: FrameType, path: Any, folder: bool = False) -> None:
        """Look at a path about to be read.

        Args:
            frame: Who reads it.
            path: As given; None is the current folder.
            folder: Whether only a folder would do harm.
        """
        if isinstance(path, int):
            return
        place = _resolved("." if path is None else path)
        if place is None:
            self.refuse(f"read {_shown(path)}")
            return
        if folder and _is_folder(place):
            self.refuse(f"open the folder {_shown(path)}")
        if place.startswith("/proc/") and not place.endswith(("/cpuinfo", "/meminfo", "/status")):
            self.refuse(f"read {_shown(path)}")
        for hidden, name in self._hidden:
            if not f"{place}/".startswith(hidden):
                continue
            by_lesson = self.loading or self.speaker(frame) in ("published", "checks")
            if hidden == self._checks and by_lesson:
                return
            self.refuse(f"read {name} ({_shown(path)})")


def _hook(guard: Guard) -> Callable[[str, tuple[Any, ...]], None]:
    """Make the hook. What it needs it holds itself, so that nobody can put something else there."""
    here, get_frame, most = threading.local(), sys._getframe, tuple(_NEVER.items())
    get_trace = sys.gettrace
    writes, reads, own = _WRITES, _READS, guard._own

    def hook(event: str, args: tuple[Any, ...]) -> None:
        watched = event in ("open", "compile", "signal.pthread_kill", "code.__new__")
        frames = event in ("sys._getframe", "object.__getattr__")
        if frames:
            if getattr(here, "busy", False) or (event[0] == "o" and args[1] not in _FRAMES):
                return
        elif not watched and not event.startswith(
            ("os.", "sys.", "socket.", "ctypes.", "subprocess.", "pty.", "gc.", "resource.",
             "sqlite3.", "syslog.")
        ):  # fmt: skip
            return
        before, here.busy = getattr(here, "busy", False), True
        try:
            frame = get_frame(1)
            code = frame.f_code
            for each in own:
                if code is each:  # equal code could be anybody's
                    return
            if frames:
                guard.looks_at_frames(frame, event)
            elif event == "open":
                guard.opens(frame, args[0], args[1], args[2] or 0)
            elif event == "compile" or event == "code.__new__":
                guard.compiles(frame, args[1])
            elif event in ("sys.settrace", "sys.setprofile", "sys.monitoring.register_callback"):
                guard.traces(frame, get_trace() if event == "sys.settrace" else None)
            elif event == "signal.pthread_kill":
                if not frame.f_code.co_filename.startswith(_MINIGRAD):
                    guard.refuse("send a signal to a thread")
            elif event.startswith("gc."):
                if event.startswith("gc.get") and guard.speaker(frame) == "student":
                    guard.refuse(f"look through all objects ({event})")
            elif event in writes:
                if event == "os.mkdir" and _is_folder(_resolved(args[0]) or ""):
                    return  # the system says that it is there
                pair = args[:2] if event == "os.rename" else args[:1]
                for path in pair:
                    guard.writes(path, writes[event])
                if any(isinstance(fd, int) and fd >= 0 for fd in _folders(event, args)):
                    guard.refuse(f"{writes[event]} {_shown(args[0])}")
            elif event in reads:
                guard.reads(frame, args[0] if args else None)
            else:
                for begins, what in most:
                    if event.startswith(begins):
                        guard.refuse(f"{what} ({event})")
        except Refused as refused:
            # What a lesson or a package does by itself is nobody's doing: it does without.
            if guard.speaker(frame) != "published" and not guard.importing(frame):
                guard.note(str(refused)[len(_REFUSED) : -1])
            raise
        finally:
            here.busy = before

    return hook


def _folders(event: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Give the arguments that are open folders, to which names would be relative."""
    counts = {"os.remove": 1, "os.rmdir": 1, "os.rename": 2, "os.mkdir": 1, "os.chmod": 1}
    counts |= {"os.chown": 1, "os.utime": 1}
    return args[-counts[event] :] if event in counts else ()


def _shown(path: Any) -> str:
    return (path if isinstance(path, str) else repr(path))[:200]


def _resolver() -> tuple[Callable[[Any], str | None], Callable[[str], bool]]:
    """Make what follows links, of parts of the system's that cannot be replaced from outside."""
    readlink, lstat, getcwd, fspath, fsdecode = os.readlink, os.lstat, os.getcwd, os.fspath, str
    paths = (type(Path()),)

    def resolved(path: Any) -> str | None:
        """Give the absolute path without links; None where it is no path."""
        if type(path) in paths:
            path = fspath(path)
        if isinstance(path, bytes):
            path = fsdecode(path, "utf-8", "surrogateescape")
        if type(path) is not str or "\0" in path:
            return None
        pending = (path if path[:1] == "/" else f"{getcwd()}/{path}").split("/")[::-1]
        done: list[str] = []
        links = 0
        while pending:
            part = pending.pop()
            if part == "..":
                done = done[:-1]
            elif part not in ("", "."):
                try:
                    to = readlink("/".join(["", *done, part]))
                except OSError:
                    done.append(part)
                    continue
                links += 1
                if links > 40:
                    return None
                done = [] if to[:1] == "/" else done
                pending.extend(to.split("/")[::-1])
        return "/" + "/".join(done)

    def is_folder(place: str) -> bool:
        try:
            return (lstat(place).st_mode & 0o170000) == 0o040000
        except OSError:
            return False

    return resolved, is_folder


_resolved, _is_folder = _resolver()
