"""Tell the reader what is going on: messages, advice in trouble, what other programs print."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

WRITABLE = "Free some space there, or name another place that you can read and write."


class Trouble(Exception):
    """What went wrong, what the reader can do about it, and what a program said."""

    def __init__(self, happened: str, advice: str, said: Sequence[str] = ()) -> None:
        """Keep the parts of the message."""
        super().__init__(happened)
        self.happened, self.advice, self.said = happened, advice, said


def say(message: str) -> None:
    """Print one line at once, to stderr, so that stdout stays free for results."""
    print(message, file=sys.stderr, flush=True)


def guarded(work: Callable[[], int]) -> int:
    """Run `work`; turn trouble and Ctrl-C into messages and exit codes, never a traceback."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a title may not fit a console's letters
    try:
        return work()
    except (Trouble, OSError) as error:
        if isinstance(error, OSError):
            happened = f"{error.filename or 'a file'}: {error.strerror or error}."
            error = Trouble(happened, WRITABLE)
        said = "".join(f"\n    {line}" for line in error.said)
        say(f"\nThis didn't work: {error.happened}{said}\nWhat to do: {error.advice}")
        return 1
    except KeyboardInterrupt:
        say("\nStopped. Nothing is lost: run the same command again to continue.")
        return 130


def run(command: Sequence[str | Path], env: Mapping[str, str]) -> tuple[int, list[str]]:
    """Run a long command, and show what it prints.

    Args:
        command: What to run.
        env: The environment variables of the command.

    Returns:
        The exit code and every line that the command printed.
    """
    lines: list[str] = []
    process = subprocess.Popen(
        command, env=env, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, encoding="utf-8", errors="replace",
    )  # fmt: skip
    assert process.stdout is not None
    with process:
        for line in process.stdout:
            lines.append(line.rstrip())
            say(f"  {lines[-1]}")
    return process.returncode, lines


def call(command: Sequence[str | Path], **options: object) -> int:
    """Run a command in the reader's terminal, and wait for it through Ctrl-C, which it gets too."""
    process = subprocess.Popen(command, **options)  # type: ignore[call-overload]
    while True:
        try:
            return int(process.wait())
        except KeyboardInterrupt:
            continue
