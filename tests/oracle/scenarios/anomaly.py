"""Anomaly detection: what warns, what raises, the forward's lines."""

from __future__ import annotations

import contextlib
import io
import re
import sys
import warnings
from pathlib import Path

from .tools import Family, leaf

family = Family()


_FRAME = re.compile(r'File "([^"]*)", line (\d+), in (\w+)\n\s*([^\n]*)')


def told(log, action, label="told"):
    """Run an action; write down its error and its warnings, of stack traces the lines of this file.

    Line numbers count from the first line of the scenario, so that they hold still.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            action()
        except Exception as error:
            log.error(label, error)
        else:
            log(label, "no error")
    for warning in caught:
        write(log, str(warning.message), warning.category.__name__)


def write(log, text, category):
    """Write down the first line of a warning, and the frames of this file under it."""
    first = text.strip().split("\n")[0].split(" (Triggered internally")[0]
    frames = [
        (name, line)
        for file, _, name, line in _FRAME.findall(text)
        if Path(file).stem.startswith("anomaly") and name != "told"
    ]
    log("warning", category, first, frames[-1:])


def invalid(torch):
    """Give a Function whose backward makes NaN."""

    class Invalid(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * 1, y * 1

        @staticmethod
        def backward(ctx, first, second):
            return first * 2, second * float("nan")

    return Invalid


@family
def double_backward(torch, log):
    """In a second derivative the parent's line is reported as well, and its parent's."""

    def run(create_graph):
        x = torch.tensor([0.0, 4.0], requires_grad=True)
        with torch.autograd.detect_anomaly():
            y = x**1.5
            (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
            second = torch.autograd.grad(first.sum(), x, create_graph=create_graph)
            log("second", second)
            if create_graph:
                torch.autograd.grad(second[0].sum(), x)

    told(log, lambda: run(False))

    def run_function():
        x, y = leaf(torch, (2,), 1), leaf(torch, (2,), 2)

        class Square(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x * x

            @staticmethod
            def backward(ctx, grad):
                (x,) = ctx.saved_tensors
                first, second = invalid(torch).apply(x, y)
                return grad * (first + second)

        with torch.autograd.detect_anomaly():
            square = Square.apply(x)
            (first,) = torch.autograd.grad(square.sum(), x, create_graph=True)
            torch.autograd.grad(first.sum(), [x, y])

    told(log, run_function)


@family
def parent_made_outside(torch, log):
    """A parent of which no line is known."""

    def run():
        x, y = leaf(torch, (2,), 1), leaf(torch, (2,), 2)

        class Square(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x * x

            @staticmethod
            def backward(ctx, grad):
                (x,) = ctx.saved_tensors
                first, second = invalid(torch).apply(x, y)
                return grad * (first + second)

        square = Square.apply(x)
        with torch.autograd.detect_anomaly():
            (first,) = torch.autograd.grad(square.sum(), x, create_graph=True)
            torch.autograd.grad(first.sum(), [x, y])

    told(log, run)


@family
def warnings_as_errors(torch, log):
    """Where warnings are errors the text goes to stderr, and the first error stays."""
    x = torch.tensor([-1.0, 4.0], requires_grad=True)
    printed = io.StringIO()

    def run():
        with torch.autograd.set_detect_anomaly(True):
            y = x.sqrt()
            y.sum().backward()

    with warnings.catch_warnings(), contextlib.redirect_stderr(printed):
        warnings.simplefilter("error")
        log.raises("error", run)
    said = printed.getvalue()
    log("printed", "Error detected in SqrtBackward0" in said, "y = x.sqrt()" in said)
    log("stderr is back", sys.stderr is not printed)


@family
def notes_on_nodes(torch, log):
    """What anomaly mode notes in the metadata of nodes."""
    x = leaf(torch, (2,), 1)
    with torch.autograd.set_detect_anomaly(True):
        y = x * x
        (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    z = x * 2
    log("keys", list(y.grad_fn.metadata), list(z.grad_fn.metadata))
    noted = y.grad_fn.metadata["traceback_"]
    log("traceback", type(noted).__name__, "y = x * x" in noted[-1])
    log("second", list(first.grad_fn.metadata))
    y.grad_fn.metadata["mine"] = 1
    log("mine", y.grad_fn.metadata["mine"])


@family
def in_place_operations(torch, log):
    """The line of an in-place operation, and of one through a view."""

    def run(view):
        x = torch.tensor([-1.0, 4.0], requires_grad=True)
        with torch.autograd.detect_anomaly():
            y = x * 1
            if view:
                y[:1].sqrt_()
            else:
                y.sqrt_()
            y.sum().backward()

    told(log, lambda: run(False), "tensor")
    told(log, lambda: run(True), "view")


@family
def modules(torch, log):
    """The line inside of a module's forward."""

    class Root(torch.nn.Module):
        def forward(self, x):
            return torch.sqrt(x)

    def run():
        x = torch.tensor([-1.0, 4.0], requires_grad=True)
        with torch.autograd.detect_anomaly():
            Root()(x).sum().backward()

    told(log, run)
