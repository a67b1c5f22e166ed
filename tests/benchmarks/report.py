"""Tell what was measured: as a table, as a page for readers, as a bar chart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

OTHERS = ("PyTorch", "NumPy by hand", "HIPS autograd", "MyGrad", "micrograd", "tinygrad")
Figures = dict[str, Any]


def time(seconds: float) -> str:
    """Give a time in the unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def line(name: str, figures: Figures) -> str:
    """Give the line of a workload for the terminal."""
    ratios, goals = figures["ratios"], figures["goals"]
    parts = [f"{name:46s}{time(figures['seconds']['minigrad']):>9s}"]
    for other in ("PyTorch", "NumPy by hand", "the plain step"):
        if other in ratios:
            goal = f" (goal {goals[other]:g})" if other in goals else ""
            parts.append(f"/ {other} {ratios[other]:.2f}{goal}")
    return "  ".join(parts)


def page(report: Figures) -> str:
    """Write the page "where the time goes"."""
    names = [n for n in OTHERS if any(n in f["ratios"] for f in report["workloads"].values())]
    rows = [
        "| workload | minigrad | " + " | ".join(names) + " |",
        "|---" * (len(names) + 2) + "|",
    ]
    for name, figures in report["workloads"].items():
        ratios = figures["ratios"]
        cells = [f"{ratios[n]:.2f}" if n in ratios else "" for n in names]
        first = f"| {name} | {time(figures['seconds']['minigrad'])} | "
        rows.append(first + " | ".join(cells) + " |")
    pieces = [f"| {name} | {value:.0f} |" for name, value in report["pieces"].items()]
    sizes = [
        f"| {row['entries']:,} | {time(row['hand'])} | {time(row['tape'])} | "
        f"{row['tape'] / row['hand']:.2f} |"
        for row in report["sizes"]
    ]
    imports = [
        f"| {name} | {time(seconds)} | {seconds / report['imports']['numpy']:.2f} |"
        for name, seconds in report["imports"].items()
    ]
    hooks = [
        f"| {name} | {figures['ratios']['the plain step']:.2f} |"
        for name, figures in report["workloads"].items()
        if "the plain step" in figures["ratios"]
    ]
    return PAGE.format(
        machine=report["machine"],
        chart=report["chart"],
        table="\n".join(rows),
        pieces="\n".join(pieces),
        sizes="\n".join(sizes),
        hooks="\n".join(hooks),
        imports="\n".join(imports),
        memory="\n".join(_memory(report["memory"])),
    )


def _memory(figures: Figures) -> list[str]:
    rows = []
    for library, each in figures.items():
        name = "PyTorch" if library == "torch" else library
        rows.append(
            f"| {name} | {each['chain']['seconds']:.2f} s | {each['chain']['bytes']:.0f} | "
            f"{each['long']['megabytes']:.0f} MB |"
        )
    return rows


PAGE = """# Where the time goes

*Written by `python3 tests --benchmarks`; the figures are of one run on one machine: {machine}.*

How fast is a package that does [so much of what PyTorch does](pytorch.md), and records every
operation in Python? This page compares the times of the same work in minigrad, in PyTorch, in
handwritten NumPy without a tape, and in other packages. All run in one process on one thread, in
turns. Before anything is timed, their gradients are compared.

![Times of minigrad, PyTorch and other packages as multiples of NumPy by hand]({chart})

The first column is a time. The others are minigrad's time divided by theirs: below 1, minigrad is
faster. From the LSTM on, a row is a layer, a function of functions, or a single operation on a
million numbers. Some of these are also written by hand in NumPy.

{table}

## What the pieces cost

With arrays of {few} numbers, in nanoseconds:

| piece | ns |
|---|---|
{pieces}

A step of a small model is a sum of these. A NumPy call costs time before it looks at the first
number. A recorded operation also costs a tensor, a node and its share of the backward pass. A full
backward hook costs two more nodes, which guard the module's input and output, and gradients that
it sees as tensors.

If nobody looks at a node, minigrad doesn't make it. In PyTorch a linear layer leaves two to four
nodes. Here it leaves one, which is replaced by those as soon as somebody asks for a `grad_fn`,
follows `next_functions`, registers a hook or records the pass.

## Where that stops mattering

Forward and backward of `tanh(x * y) * y`, by hand and with the tape:

| entries | NumPy by hand | minigrad | ratio |
|---|---|---|---|
{sizes}

The tape costs the same for one number and for a million. So it dominates for small arrays. For
large ones, the time depends on how often memory is read and written.

## What hooks and pictures cost

The table gives a training step with hooks, as a multiple of the same step without. For LeNet it
gives what it takes to record the forward and backward pass, to draw its graph and to make its
player, each as a multiple of the plain pass. A graph of the same form was laid out before: the
first picture of a form takes longer.

| work | times as long |
|---|---|
{hooks}

## What importing costs

A process starts, imports a package and ends:

| package | time | of NumPy's |
|---|---|---|
{imports}

## Memory

The table shows a chain of a million multiplications, forward and backward, with the bytes that an
operation keeps until then. The last column shows how much a process grows while it computes
sum(tanh(x * w + b)) of ten million numbers, forward and backward. Each has a process of its own.

| package | chain | bytes an operation | ten million numbers |
|---|---|---|---|
{memory}
""".replace("{few}", "16")


def chart(report: Figures, path: Path) -> None:
    """Draw the bar chart: each package's time as a multiple of NumPy's by hand, or of PyTorch's."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    colors = {  # told apart by people who see few colours, and in print by their lightness
        "minigrad": "#0072b2",
        "PyTorch": "#e69f00",
        "HIPS autograd": "#56b4e9",
        "MyGrad": "#009e73",
        "micrograd": "#cc79a7",
        "tinygrad": "#999999",
    }
    rows = {n: f for n, f in report["workloads"].items() if "NumPy by hand" in f["seconds"]}
    ink = "#7a7a7a"  # to be read on white and on black
    matplotlib.rcParams.update(
        {"svg.hashsalt": "speed", "svg.fonttype": "none", "text.color": ink, "font.size": 9}
    )
    figure, axes = plt.subplots(figsize=(8, 0.55 * len(rows) + 1))
    seen, least = set(), 1.0
    for place, (_name, figures) in enumerate(rows.items()):
        seconds = figures["seconds"]
        shown = [n for n in colors if n in seconds]
        for number, package in enumerate(shown):
            height = 0.8 / len(shown)
            multiple = seconds[package] / seconds["NumPy by hand"]
            least = min(least, multiple)
            label = package if package not in seen else None
            seen.add(package)
            at = place + (number - (len(shown) - 1) / 2) * height
            axes.barh(at, multiple, height, color=colors[package], label=label)
    axes.axvline(1, color=ink, linewidth=1)
    axes.set_xscale("log")
    axes.set_xlim(left=0.9 * least)
    ticks = (0.5, 1, 2, 5, 10, 20, 50)
    axes.set_xticks(ticks, [f"{tick}" for tick in ticks])
    axes.minorticks_off()
    axes.set_yticks(range(len(rows)), list(rows))
    axes.tick_params(colors=ink)
    axes.invert_yaxis()
    label = "time, as a multiple of NumPy by hand (logarithmic; 1 is no overhead at all)"
    axes.set_xlabel(label, color=ink)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.legend(loc="lower right", frameon=False)
    figure.savefig(path, transparent=True, bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)
