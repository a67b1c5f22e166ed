"""Several threads: each runs its own graph, shares leaves, or shares a part of a graph."""

from __future__ import annotations

import threading
import traceback

from .tools import Family, leaf

family = Family()


def in_threads(count, function):
    """Run a function in several threads at once; give what each returned or raised."""
    results = [None] * count

    def run(index):
        try:
            results[index] = function()
        except RuntimeError as error:
            results[index] = f"{type(error).__name__}: {error}"

    threads = [threading.Thread(target=run, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


@family
def graphs_of_their_own(torch, log):
    """Threads with leaves of their own do not meet."""

    def train():
        x = leaf(torch, (2, 2), 1)
        ((x + 3) * (x + 4) * 0.5).sum().backward()
        return x.grad

    log("gradients", in_threads(5, train))


@family
def shared_leaves(torch, log):
    """Threads that share a leaf add to one gradient; autograd.grad gives each its own."""
    x = torch.ones(2, 2, requires_grad=True)

    def train():
        ((x + 3) * (x + 4) * 0.5).sum().backward()

    in_threads(10, train)
    log("sum", x.grad)
    y = torch.ones(2, requires_grad=True)
    log("grad", in_threads(10, lambda: torch.autograd.grad(((y + 3) * y).sum(), y)))


@family
def a_shared_part(torch, log):
    """A part of a graph that threads share has to be retained."""
    x = torch.ones(2, 2, requires_grad=True)
    middle = x + x**2

    def train():
        (middle + middle**2).sum().backward(retain_graph=True)

    in_threads(5, train)
    log("retained", x.grad)
    x = torch.ones(2, 2, requires_grad=True)
    middle = x + x**2
    lock = threading.Lock()

    def once():
        with lock:
            (middle + middle**2).sum().backward()

    outcomes = in_threads(5, once)
    log("released", sum(outcome is None for outcome in outcomes), x.grad)
    log("the others", {outcome for outcome in outcomes if outcome is not None})


@family
def what_hooks_find(torch, log):
    """Hooks run in the thread that runs backward, in the mode of that pass."""
    x = leaf(torch, (2,), 1)
    y = x * 2
    names = []

    def hook(grad):
        names.append(threading.current_thread().name)
        log("mode", torch.is_grad_enabled())

    y.register_hook(hook)

    def backward():
        names.append(threading.current_thread().name)
        with torch.no_grad():
            y.backward(torch.ones(2), retain_graph=True)
        return torch.is_grad_enabled()

    log("mode after", in_threads(1, backward))
    log("same thread", names[0] == names[1])


@family
def saved_tensor_hooks(torch, log):
    """Saved-tensor hooks hold for the thread that entered them."""
    x = leaf(torch, (2,), 1)

    def pack(tensor):
        log("packed")
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        in_threads(2, lambda: (x * x).sum().backward())
        log("here")
        (x * x).sum().backward()
    log("gradient", x.grad)


@family
def errors_keep_their_line(torch, log):
    """An error in a Function's backward shows the line that raised it."""

    class Fails(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            raise ValueError("something went wrong here")

    try:
        Fails.apply(leaf(torch, (2,), 1)).sum().backward()
    except ValueError as error:
        lines = "".join(traceback.format_tb(error.__traceback__))
        log("shown", 'raise ValueError("something went wrong here")' in lines)
