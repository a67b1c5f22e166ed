"""What minigrad may take: lines of code and files by room, and what a step costs. One table.

The recorded figures are what is there today. Who makes something smaller or cheaper lowers them.
Where code has to come into a room, as much goes out of this or another one; only a file that
becomes two may cost its opening. A step may take more calls only where that makes it quicker, as
convolutions by lines did. The goals say where the rooms are going.
"""

from __future__ import annotations

from typing import NamedTuple

# A room may be so many lines below its figure before the figure has to follow.
SLACK = 25


class Size(NamedTuple):
    """Lines of code, without docstrings, comments and blanks, and files."""

    lines: int
    files: int


# Today's figures: upper bounds.
ROOMS = {
    "autograd": Size(2856, 15),
    "classroom": Size(1485, 9),
    "core": Size(899, 8),
    "creation": Size(1098, 7),
    "data": Size(279, 1),
    "extra": Size(1748, 13),
    "fast": Size(497, 4),
    "nn": Size(2566, 19),
    "ops": Size(5252, 25),
    "optim": Size(642, 4),
    "saving": Size(460, 3),
    "signatures": Size(736, 9),
    "symbolic": Size(3351, 16),
    "viz": Size(2684, 17),
}
HOUSE = Size(24930, 158)  # all of it, with the files that stand beside the rooms

# Where they are going, in lines of code; rooms that share a budget stand together.
GOALS = {
    ("autograd",): 2300,
    ("extra",): 2500,
    ("classroom",): 1300,
    ("core",): 900,
    ("creation",): 1500,
    ("data", "saving"): 800,
    ("signatures",): 700,
    ("fast",): 500,
    ("nn", "optim"): 4300,
    ("ops",): 6000,
    ("symbolic",): 3000,
    ("viz",): 2400,
}
GOAL_OF_HOUSE = Size(24000, 170)

# How many lines and files of the package one run of the worked example touches, once the functions
# of its operations are written.
WORKED_EXAMPLE = Size(820, 26)

# What a step costs: Python calls, NumPy's (an operator isn't one), nodes run backward, and the
# objects that it creates and the collector has to know. A newer Python calls less: comprehensions
# are no calls there.
STEPS = {
    "worked example": (120, 37, 11, 45),
    "training step": (190, 100, 13, 58),
    "training step, full backward hooks": (392, 100, 23, 192),
    "training step, tensor hooks": (250, 100, 13, 70),
    "addition": (2, 0, 0, 6),
    "images": (379, 366, 11, 58),
    "sequences": (625, 265, 20, 123),
    "broadcasting": (73, 16, 7, 31),
    "chosen": (101, 8, 8, 2),
}


def complaints(room: str, recorded: Size, found: Size) -> list[str]:
    """Tell what does not fit between a recorded figure and what is there."""
    goal = next((goal for rooms, goal in GOALS.items() if room in rooms), None)
    told = f"{room} has {found.lines} lines in {found.files} files"
    if found.lines > recorded.lines or found.files > recorded.files:
        most = f"at most {recorded.lines} in {recorded.files} were recorded"
        return [f"{told}, {most}, and the goal is {goal}: take out as many as came in"]
    if found.lines < recorded.lines - SLACK or found.files < recorded.files:
        return [f"{told}: lower the figures of tests/budgets.py to that"]
    return []
