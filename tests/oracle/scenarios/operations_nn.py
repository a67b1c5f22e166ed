"""See the functions of nn.functional: losses, softmax, activations."""

from __future__ import annotations

from .tools_operations import add_all

V, M = (4,), (2, 3)

TABLE = {
    "mse_loss": (lambda t, x, y: t.nn.functional.mse_loss(x, y), V, V),
    "mse_loss sum": (lambda t, x, y: t.nn.functional.mse_loss(x, y, reduction="sum"), M, M),
    "mse_loss none": (lambda t, x, y: t.nn.functional.mse_loss(x, y, reduction="none"), V, V),
    "softmax": (lambda t, x: t.softmax(x, dim=0), V),
    "softmax over 1": (lambda t, x: x.softmax(dim=1), M),
    "F.softmax over -1": (lambda t, x: t.nn.functional.softmax(x, dim=-1), M),
    "log_softmax": (lambda t, x: t.log_softmax(x, dim=1), M),
    "F.log_softmax": (lambda t, x: t.nn.functional.log_softmax(x, dim=0), M),
    "softmax by hand": (lambda t, x: x.exp() / x.exp().sum(1, keepdim=True), M),
    "cross_entropy": (lambda t, x: t.nn.functional.cross_entropy(x, t.tensor([2, 0])), M),
    "cross_entropy sum": (
        lambda t, x: t.nn.functional.cross_entropy(x, t.tensor([1, 0]), reduction="sum"),
        M,
    ),
    "cross_entropy none": (
        lambda t, x: t.nn.functional.cross_entropy(x, t.tensor([1, 1]), reduction="none"),
        M,
    ),
    "nll_loss": (lambda t, x: t.nn.functional.nll_loss(x.log_softmax(1), t.tensor([2, 0])), M),
    "CrossEntropyLoss": (lambda t, x: t.nn.CrossEntropyLoss()(x, t.tensor([0, 1])), M),
    "MSELoss": (lambda t, x, y: t.nn.MSELoss()(x, y), M, M),
    "nn.Sequential": (lambda t, x: t.nn.Sequential(t.nn.Tanh(), t.nn.Sigmoid(), t.nn.ReLU())(x), V),
}

family = add_all(TABLE)


@family
def mse_loss_broadcasts_with_a_warning(torch, log):
    """mse_loss of different shapes broadcasts, and warns."""
    x = torch.tensor([[1.0], [2.0]], requires_grad=True)
    y = torch.tensor([0.5, 3.0])
    log("loss", torch.nn.functional.mse_loss(x, y))
    log.raises("impossible", lambda: torch.nn.functional.mse_loss(x, torch.zeros(3, 3)))


@family
def cross_entropy_of_large_logits(torch, log):
    """Large logits neither overflow nor lose the gradient."""
    x = torch.tensor([[1000.0, 0.0], [0.0, -1000.0]], requires_grad=True)
    loss = torch.nn.functional.cross_entropy(x, torch.tensor([1, 0]))
    loss.backward()
    log("loss", loss, x.grad)
    log("softmax", torch.softmax(x, 1), torch.log_softmax(x, 1))


@family
def softmax_without_an_axis(torch, log):
    """F.softmax without dim warns and chooses."""
    log("vector", torch.nn.functional.softmax(torch.tensor([1.0, 2.0])))
    log("matrix", torch.nn.functional.softmax(torch.tensor([[1.0, 2.0]])))


@family
def errors(torch, log):
    """Targets and axes that do not fit."""
    x = torch.zeros(2, 3)
    cross_entropy = torch.nn.functional.cross_entropy
    log.raises("class too large", lambda: cross_entropy(x, torch.tensor([0, 3])))
    log.raises("number of targets", lambda: cross_entropy(x, torch.tensor([0, 1, 2])))
    log.raises("reduction", lambda: cross_entropy(x, torch.tensor([0, 1]), reduction="median"))
    log.raises("softmax axis", lambda: torch.softmax(x, dim=2))
