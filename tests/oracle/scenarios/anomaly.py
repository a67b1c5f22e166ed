"""See anomaly mode: which operation failed, which line called it, and what it leaves alone."""

from __future__ import annotations

import re
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
def entering_warns(torch, log):
    """The context manager warns when it is made; the switch does not."""
    told(log, lambda: torch.autograd.detect_anomaly(), "made")
    told(log, lambda: torch.autograd.set_detect_anomaly(True), "switch")
    log("on", torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
    told(log, lambda: torch.autograd.set_detect_anomaly(False), "switch")
    log("off", torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
    told(log, lambda: torch.autograd.detect_anomaly(check_nan=False), "made")


@family
def nesting(torch, log):
    """Contexts restore what was before."""

    def state():
        return torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()

    with warnings.catch_warnings(action="ignore"):
        with torch.autograd.detect_anomaly(check_nan=False):
            log("outer", state())
            with torch.autograd.detect_anomaly():
                log("inner", state())
            log("outer", state())
            with torch.autograd.set_detect_anomaly(False):
                log("switched off", state())
            log("outer", state())
        log("outside", state())
        with torch.autograd.set_detect_anomaly(mode=True, check_nan=False):
            log("switched on", state())
        log("outside", state())
        try:
            with torch.autograd.detect_anomaly():
                raise ValueError
        except ValueError:
            log("after an error", state())


@family
def not_a_number(torch, log):
    """NaN in a gradient is an error that names the node and the output; the warning the line."""

    def run():
        x = torch.tensor([-1.0, 4.0], requires_grad=True)
        with torch.autograd.detect_anomaly():
            y = x.sqrt()
            y.sum().backward()

    told(log, run)

    def run_division():
        x = torch.tensor([0.0, 4.0], requires_grad=True)
        w = torch.tensor([0.0, 4.0], requires_grad=True)
        with torch.autograd.detect_anomaly():
            quotient = w / x
            quotient.sum().backward()

    told(log, run_division)


@family
def which_output(torch, log):
    """The number of the output that holds NaN."""

    def run():
        x, y = leaf(torch, (2,), 1), leaf(torch, (2,), 2)
        with torch.autograd.detect_anomaly():
            a, b = invalid(torch).apply(x, y)
            (a + b).sum().backward()
        log("not reached")

    told(log, run)


@family
def switched_off_for_nan(torch, log):
    """check_nan=False leaves NaN alone; errors still tell their line."""

    def run():
        x = torch.tensor([-1.0, 4.0], requires_grad=True)
        with torch.autograd.detect_anomaly(check_nan=False):
            y = x.sqrt()
            y.sum().backward()
        log("x.grad", x.grad)

    told(log, run)

    def run_stale():
        x = leaf(torch, (2,), 1)
        with torch.autograd.detect_anomaly(check_nan=False):
            a = x * 2
            b = a.sin()
            a.zero_()
            b.sum().backward()

    told(log, run_stale)


@family
def infinity_is_none(torch, log):
    """Infinities are let through."""

    def run():
        x = torch.tensor([0.0, 4.0], requires_grad=True)
        with torch.autograd.detect_anomaly():
            x.sqrt().sum().backward()
        log("x.grad", x.grad)

    told(log, run)


@family
def made_outside(torch, log):
    """No forward line is known of a node that was made outside of the mode."""

    def run():
        x = torch.tensor([-1.0, 4.0], requires_grad=True)
        y = x.sqrt()
        with torch.autograd.detect_anomaly():
            y.sum().backward()

    told(log, run)

    def run_outside():
        x = torch.tensor([-1.0, 4.0], requires_grad=True)
        with torch.autograd.detect_anomaly():
            y = x.sqrt().sum()
        y.backward()
        log("x.grad", x.grad)

    told(log, run_outside, "backward outside")


@family
def exceptions_keep_their_type(torch, log):
    """What a Function's backward or a hook raises passes through, with the line told."""

    class Fails(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            raise KeyError("not today")

    def run():
        x = leaf(torch, (2,), 1)
        with torch.autograd.detect_anomaly():
            y = Fails.apply(x * 2)
            y.sum().backward()

    told(log, run, "function")

    def stop(*arguments):
        raise ValueError("stopped")

    def run_hook(register):
        x = leaf(torch, (2,), 1)
        with torch.autograd.detect_anomaly():
            y = x.exp()
            register(y)
            y.sum().backward()

    told(log, lambda: run_hook(lambda y: y.register_hook(stop)), "tensor hook")
    told(log, lambda: run_hook(lambda y: y.grad_fn.register_hook(stop)), "node hook")
    told(log, lambda: run_hook(lambda y: y.grad_fn.register_prehook(stop)), "node pre-hook")

    def run_leaf_hook():
        x = leaf(torch, (2,), 1)
        x.register_hook(stop)
        with torch.autograd.detect_anomaly():
            x.exp().sum().backward()

    told(log, run_leaf_hook, "leaf hook")
