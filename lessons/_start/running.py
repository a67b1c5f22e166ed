"""Find the JupyterLab of this repository that runs already."""

from __future__ import annotations

import http.client
import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .environment import Environment

SECONDS_TO_ANSWER = 3.0


@dataclass(frozen=True)
class Running:
    """A JupyterLab that answers.

    Args:
        port: Where it listens.
        token: What it wants to be told.
        opener: The page on this disk by which it opens in a browser without a token in a command
            line, which others on the machine could read; None where there is none.
    """

    port: int
    token: str
    opener: Path | None

    def address(self, page: str) -> str:
        """Give the address at which one of its pages opens.

        Args:
            page: Such as "/lab".
        """
        return f"http://127.0.0.1:{self.port}{page}?token={self.token}"


def find(home: Environment) -> Running | None:
    """Look for a server that shows this repository, by the notes that Jupyter's servers write.

    The note of a server that was killed stays behind; it is removed here.

    Args:
        home: The repository and its environment.

    Returns:
        A server that answers; None where there is none.
    """
    for note in _notes(home):
        found = _read(note, home.root)
        if found is None:
            continue
        try:
            if _answers(found):
                return found
        except ConnectionRefusedError:
            _remove(note)
    return None


def forget(home: Environment, port: int) -> None:
    """Remove what a server has left that ended.

    Args:
        home: The repository and its environment.
        port: Where the server listened.
    """
    for note in _notes(home):
        found = _read(note, home.root)
        if found and found.port == port:
            _remove(note)


def _notes(home: Environment) -> list[Path]:
    folder = Path(home.variables(os.environ)["JUPYTER_RUNTIME_DIR"])
    return sorted(folder.glob("jpserver-*.json"))


def _opener(note: Path) -> Path:
    return note.with_name(f"{note.stem}-open.html")


def _read(note: Path, root: Path) -> Running | None:
    """Read a note; None where it cannot be read, or is about another directory."""
    try:
        told = json.loads(note.read_text(encoding="utf-8"))
        port, token, shown = told["port"], told["token"], told["root_dir"]
        fits = isinstance(port, int) and isinstance(token, str) and os.path.samefile(shown, root)
    except (OSError, ValueError, LookupError, TypeError):
        return None
    opener = _opener(note)
    return Running(port, token, opener if opener.is_file() else None) if fits else None


def _remove(note: Path) -> None:
    for path in (note, _opener(note)):
        with suppress(OSError):
            path.unlink(missing_ok=True)


def _answers(server: Running) -> bool:
    """Ask a server for something that it tells only to those who know its token.

    Raises:
        ConnectionRefusedError: Where nothing listens on its port.
    """
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=SECONDS_TO_ANSWER)
    try:
        connection.request("GET", "/api/status", headers={"Authorization": f"token {server.token}"})
        return connection.getresponse().status == 200
    except ConnectionRefusedError:
        raise
    except (OSError, ValueError, http.client.HTTPException):
        return False
    finally:
        connection.close()
