"""A small lesson, and random edits of the learner and of the authors."""

import copy
import random
import re

from _start import notebooks

# ---- a small lesson -----------------------------------------------------------------------------


def markdown(source, **metadata):
    return {"cell_type": "markdown", "metadata": metadata, "source": source}


def code(source, outputs=(), **metadata):
    return {
        "cell_type": "code",
        "metadata": metadata,
        "source": source,
        "outputs": list(outputs),
        "execution_count": 1 if outputs else None,
    }


def graded(exercise, **more):
    solution = not exercise.endswith("-check")
    return {"nbgrader": {"grade_id": exercise, "solution": solution, "grade": not solution} | more}


def answer(exercise, source):
    return code(source, **graded(exercise))


def check(exercise, name):
    return code(f'check("{exercise}", {name})', **graded(f"{exercise}-check"))


def numbered(cells):
    """What is published: ids count the cells."""
    return [{**copy.deepcopy(c), "id": f"cell-{n:03d}"} for n, c in enumerate(cells, start=1)]


PROSE = "The hook is called when the gradient of the output is known, and sees both of them."
LESSON = numbered(
    [
        markdown("# 06 · A lesson"),
        code("x = 3"),
        markdown(PROSE),
        code('guess = ...\npredict("06.a", guess)', tags=["prediction"]),
        code('compare("06.a", 7)'),
        answer("06-1", "five = ...  # Your code here"),
        check("06-1", "five"),
        answer("06-2", "def clip(module, gradient):\n    # Your code here\n    ..."),
        check("06-2", "clip"),
        markdown("## What you now know"),
    ]
)
SHOWN = [{"output_type": "stream", "name": "stdout", "text": "7\n"}]


def changed(cells, at, source, **more):
    """The cells with another source at one place (or several cells there, in a list)."""
    made = copy.deepcopy(cells)
    made[at].update(source=source, **more)
    return made


def inserted(cells, at, *further):
    return [*copy.deepcopy(cells[:at]), *further, *copy.deepcopy(cells[at:])]


def without(cells, at):
    return [copy.deepcopy(cell) for place, cell in enumerate(cells) if place != at]


# ---- any lesson, any edits ----------------------------------------------------------------------

WORDS = ["hook", "gradient", "graph", "loss", "leaf", "chain", "node", "module", "sum", "order"]


class Edits:
    """Random lessons and random edits; what the learner types is marked, to be found again."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.count = 0

    def sentence(self):
        return " ".join(self.random.choices(WORDS, k=self.random.randint(1, 25))) + "."

    def mark(self):
        self.count += 1
        return f"typed_{self.count}_"

    def demo(self):
        self.count += 1
        return code(f"value = {self.random.randint(0, 5)}\nprint(value)")

    def exercise(self):
        self.count += 1
        name = f"answer_{self.count}"
        stub = self.random.choice(["{} = ...", "{} = (..., ...)  # two", "{} = ...\nmore = ..."])
        return [
            markdown(f"### Exercise\n\n{self.sentence()}"),
            answer(f"06-{self.count}", stub.format(name)),
            check(f"06-{self.count}", name),
        ]

    def prediction(self):
        self.count += 1
        name = f"06.{self.count}"
        asks = code(f'guess = ...\npredict("{name}", guess)', tags=["prediction"])
        return [asks, code(f'compare("{name}", {self.count})')]

    def some(self):
        kinds = [
            lambda: [markdown(self.sentence())],
            lambda: [self.demo()],
            self.exercise,
            self.prediction,
        ]
        return self.random.choices(kinds, weights=[4, 4, 2, 1])[0]()

    def lesson(self):
        made = [cell for _ in range(self.random.randint(1, 12)) for cell in self.some()]
        return numbered([markdown("# Title"), *made])

    def revised(self, cells):
        """The authors' next version."""
        cells = copy.deepcopy(cells)
        for _ in range(self.random.randint(1, 5)):
            at = self.random.randrange(len(cells))
            cell, what = cells[at], self.random.random()
            marks = notebooks.grading(cell)
            if what < 0.3:
                cells[at:at] = self.some() if not marks.get("grade") else [self.demo()]
            elif what < 0.4 and not marks:
                del cells[at]
            elif what < 0.45 and marks.get("solution"):
                del cells[at : at + 2]
            elif cell["cell_type"] == "markdown":
                cell["source"] += " " + self.sentence()
            elif marks.get("solution"):
                cell["source"] += self.random.choice(["  # new", "\nfurther = ...", "\nimport re"])
            elif not marks:
                cell["source"] += "\nprint(1)"
            if not cells:
                cells = [markdown("# Title")]
        return numbered(cells)

    def worked_in(self, cells, moving=True):
        """What a learner makes of a copy."""
        cells = copy.deepcopy(cells)
        for cell in list(cells):
            marks = notebooks.grading(cell)
            if marks.get("solution") and self.random.random() < 0.7:
                own = re.sub(r"= .*", lambda _: f'= "{self.mark()}"', cell["source"])
                if self.random.random() < 0.3:  # in a cell below the stub, or instead of it
                    at = cells.index(cell)
                    cells.insert(at + 1, {**code(own), "id": f"{self.random.getrandbits(60):x}"})
                    if self.random.random() < 0.3:
                        del cells[at]
                else:
                    cell.update(source=own, outputs=SHOWN, execution_count=3)
        for _ in range(self.random.randint(0, 5)):
            at = self.random.randrange(len(cells))
            cell, what = cells[at], self.random.random()
            marks = notebooks.grading(cell)
            if what < 0.3:
                own = self.random.choice([markdown, code])(f"# {self.mark()}")
                cells.insert(at, {**own, "id": f"{self.random.getrandbits(60):x}"})
            elif what < 0.6 and not marks:
                cell["source"] += f"\n# {self.mark()}"
            elif what < 0.7 and not marks and len(cells) > 1 and "typed" not in cell["source"]:
                del cells[at]
            elif what < 0.8 and moving and not marks and "typed" not in cell["source"]:
                cells.insert(self.random.randrange(len(cells)), cells.pop(at))
            elif what < 0.85 and "kept" not in notebooks.noted(cell):
                cell.pop("id", None)  # a program that knows no ids
            elif cell["cell_type"] == "code":
                cell.update(outputs=SHOWN, execution_count=4)
        return cells


def typed(cells):
    """The marks of what a learner typed."""
    return set(re.findall(r"typed_\d+_", "\n".join(cell["source"] for cell in cells)))


def checked(cells):
    """What each check sees when all cells are run from top to bottom."""
    seen = {}
    names = {
        "check": lambda exercise, value: seen.update({exercise: value}),
        "predict": lambda *_: None,
        "compare": lambda *_: None,
        "print": lambda *_: None,
    }
    for cell in cells:
        if cell["cell_type"] == "code":
            try:
                exec(cell["source"], names)
            except NameError:
                continue
    return seen
