"""Run the command `minigrad`, also as `python3 -m minigrad`; its code comes with the lessons."""

from __future__ import annotations

import sys
from pathlib import Path


def main() -> int:
    """Hand the command line to the lessons, which stand beside the package."""
    beside = Path(__file__).resolve().parents[1]
    for folder in (beside / "lessons", beside / "minigrad_lessons"):
        if (folder / "_start" / "commands.py").is_file():
            sys.path.insert(0, str(folder))
            try:
                from _start import commands

                return int(commands.main())
            except ModuleNotFoundError as error:
                sys.exit(f'{error.name} is missing: pip install "minigrad-lessons[lessons]"')
    print(
        "This copy of minigrad came without the lessons, which bring the command. "
        'What to do: pip install --force-reinstall "WHEEL[lessons]", with a wheel that has them.',
        file=sys.stderr,
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
