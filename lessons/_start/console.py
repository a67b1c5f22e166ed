"""Tell the reader what is going on: messages, progress of long commands, advice in trouble."""

from __future__ import annotations

import io
import os
import queue
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

QUIET_SECONDS = 10.0  # in a log file, say at least this often that work goes on
# "minigrad" where that command is what the reader types, and the folder named behind it
_called = {"as": "", "folder": ""}


class Trouble(Exception):
    """What went wrong, what the reader can do about it, and what a program said."""

    def __init__(self, happened: str, advice: str, said: Sequence[str] = ()) -> None:
        """Keep the parts of the message."""
        super().__init__(happened)
        self.happened, self.advice, self.said = happened, advice, said


def say(message: str) -> None:
    """Print one line at once, to stderr, so that stdout stays free for results."""
    print(message, file=sys.stderr, flush=True)


def called_as(command: str, folder: str = "") -> None:
    """Name the command that the reader has typed, so that advice names it too.

    Args:
        command: Such as "minigrad"; nothing for `python3 lessons`.
        folder: The folder of lessons that was named, if one was.
    """
    _called.update({"as": command, "folder": f'"{folder}"' if " " in folder else folder})


def python_command(arguments: str) -> str:
    """Write what to type in a terminal; a stock system may have `python3` alone, Windows has not.

    Args:
        arguments: What follows the name of Python, such as "lessons --check".
    """
    if _called["as"]:
        arguments = re.sub("^lessons --(?=check|progress|release)", "", arguments)
        what, *options = arguments.split(" ")
        return " ".join(filter(None, [_called["as"], what, _called["folder"], *options]))
    return f"{'python' if os.name == 'nt' else 'python3'} {arguments}"


def guarded(work: Callable[[], int]) -> int:
    """Run `work`; turn trouble and Ctrl-C into messages and exit codes, never a traceback."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a title may not fit a console's letters
    try:
        return work()
    except Trouble as trouble:
        said = "".join(f"\n    {line}" for line in trouble.said)
        say(f"\nThis did not work: {trouble.happened}{said}\nWhat to do: {trouble.advice}")
        return 1
    except KeyboardInterrupt:
        say("\nStopped. Nothing is lost: run the same command again to go on.")
        return 130


class ProgressLine:
    """One line that is rewritten on a terminal, and repeated now and then in a log file."""

    def __init__(self, title: str) -> None:
        """Start the clock and print the title."""
        self.title = title
        self.terminal = sys.stderr.isatty()
        self.start = self.said = time.monotonic()
        self.width = 0
        if not self.terminal:
            say(f"{title} ...")

    def show(self, detail: str) -> None:
        """Show where the work stands."""
        now = time.monotonic()
        text = f"{self.title}: {detail} ({now - self.start:.0f} s)"[:78]
        if self.terminal:
            print(f"\r{text:<{self.width}}", end="", file=sys.stderr, flush=True)
            self.width = len(text)
        elif now - self.said >= QUIET_SECONDS:
            say(f"  {text}")
            self.said = now

    def end(self, outcome: str) -> None:
        """Close the line with the outcome and the time it took."""
        text = f"{self.title}: {outcome} in {time.monotonic() - self.start:.0f} s"
        if self.terminal:
            print(f"\r{text:<{self.width}}", file=sys.stderr, flush=True)
        else:
            say(f"  {text}")


def run_with_progress(
    command: Sequence[str | Path],
    title: str,
    env: Mapping[str, str],
    describe: Callable[[list[str]], str],
) -> tuple[int, list[str]]:
    """Run a long command behind a progress line.

    Args:
        command: What to run.
        title: What the reader is waiting for.
        env: The environment variables of the command.
        describe: Makes of the lines printed so far a few words about where the command stands.

    Returns:
        The exit code and every line that the command printed.
    """
    line = ProgressLine(title)
    try:
        process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=dict(env),
            text=True,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:
        line.end("could not start")
        return 127, [str(error)]
    lines: list[str] = []
    arrived: queue.Queue[str | None] = queue.Queue()
    threading.Thread(target=_read, args=(process, arrived), daemon=True).start()
    try:
        while True:
            try:
                text = arrived.get(timeout=1.0)
            except queue.Empty:
                line.show(describe(lines))
                continue
            if text is None:
                break
            lines.append(text.rstrip())
            line.show(describe(lines))
        code = process.wait()
    except BaseException:
        process.kill()
        process.wait()
        raise
    line.end("done" if code == 0 else "failed")
    return code, lines


def _read(process: subprocess.Popen[str], arrived: queue.Queue[str | None]) -> None:
    """Pass the lines of a process on as they come, then None."""
    assert process.stdout is not None
    with process.stdout:
        for text in process.stdout:
            arrived.put(text)
    arrived.put(None)
