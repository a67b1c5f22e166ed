"""See what is seldom done with graphs: inputs by name, nested blocks, views of changed memory."""

from __future__ import annotations

import warnings

from .tools import Family, leaf

family = Family()


@family
def arguments(torch, log):
    """What does not fit, and what is out of use."""
    x = leaf(torch, (3,), 1)
    grad = torch.autograd.grad
    log.raises("number", lambda: grad([1.0], x))


@family
def anomalies_beside_hooks(torch, log):
    """A block that ends leaves those around it as they are."""
    detect, packed = torch.autograd.set_detect_anomaly, []
    hooks = torch.autograd.graph.saved_tensors_hooks
    x = torch.tensor([-1.0, 4.0], requires_grad=True)
    with hooks(lambda t: packed.append(tuple(t.shape)) or t, lambda t: t):
        with detect(True):
            x.exp()
        x.exp()
    x.exp()
    log("packed", packed)
    with detect(True):
        with detect(False):
            torch.autograd.grad(x.sqrt().sum(), x)
        with hooks(lambda t: t, lambda t: t):
            x.exp()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it tells the line
            log.raises("inner", lambda: torch.autograd.grad(x.sqrt().sum(), x))
    log("after", *torch.autograd.grad(x.sqrt().sum(), x))


@family
def data_of_inference_tensors(torch, log):
    """The data of an inference tensor is one, that of a normal tensor is not."""
    x = leaf(torch, (2, 3), 1)
    with torch.inference_mode():
        inner = torch.ones(2)
    log("data", inner.data.is_inference(), x.data.is_inference())


@family
def edges_by_hand(torch, log):
    """Edges put together of a node with several outputs."""
    x = leaf(torch, (2, 3), 1)
    node = x.unbind()[0].grad_fn
    edge = torch.autograd.graph.GradientEdge(node, 1)
    log("given", *torch.autograd.grad(edge, x, torch.arange(3.0)))
    log.raises("shape", lambda: torch.autograd.grad(edge, x, torch.arange(2.0)))
    log.raises("not given", lambda: torch.autograd.grad(edge, x))
