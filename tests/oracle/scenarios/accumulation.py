"""See what `.grad` becomes when gradients arrive: the same object or another, in which layout."""

from __future__ import annotations

from .tools import Family, leaf, numbers

family = Family()


@family
def gradients_lie_in_memory_like_their_leaf(torch, log):
    """A dense leaf's first gradient gets the leaf's strides, so that it can be viewed alike."""
    turned = torch.tensor(numbers((3, 4), 1)).t().requires_grad_()
    straight = leaf(torch, (4, 3), 2)
    sparse = torch.ones(4, 4)[::2, ::2].requires_grad_()
    weight = torch.tensor(numbers((2, 2), 3))

    def run(label, result, *leaves):
        result.backward()
        for each in leaves:
            log(label, each.stride(), each.grad.stride(), each.grad)
            each.grad = None

    run("broadcast", turned.sum(), turned)
    run("product", (turned * straight).sum(), turned, straight)
    run("other order", (straight * turned.detach()).sum(), straight)
    run("through a view", (turned.t() * 2).sum(), turned)
    run("part of a memory", sparse.sum(), sparse)
    run("part of a memory, product", (sparse * weight).sum(), sparse)
    (straight * turned.detach()).sum().backward()
    log("viewed", straight.grad.view(-1))


@family
def gradients_handed_over_or_copied(torch, log):
    """What a leaf keeps is never the memory of the gradient that was given to start from."""
    given = torch.tensor([1.5, 2.5])
    for create_graph in (False, True):
        x = leaf(torch, (2,), 1)
        x.backward(given, create_graph=create_graph)
        first = x.grad
        log("own memory", first is given, first.data_ptr() == given.data_ptr())
        (x * 2).backward(given, create_graph=create_graph)
        log("second", x.grad is first, x.grad, first, given)
    x, y = leaf(torch, (2,), 1), leaf(torch, (2,), 2)
    torch.autograd.backward((x + y, x.clone(), y.view(2)), (given, given, given))
    log("apart", x.grad.data_ptr() == y.grad.data_ptr(), x.grad, y.grad, given)


@family
def one_gradient_for_two_inputs(torch, log):
    """A Function that gives one tensor to both inputs: the leaves do not share memory."""
    seen = {}

    class Both(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            return a + b

        @staticmethod
        def backward(ctx, grad):
            seen["grad"] = grad.data_ptr()
            return grad, grad

    x, y = leaf(torch, (2, 3), 1), leaf(torch, (2, 3), 2)
    (Both.apply(x, y) * 3).sum().backward()
    places = (x.grad.data_ptr(), y.grad.data_ptr())
    log("apart", places[0] == places[1])
    x.grad.add_(10)
    log("gradients", x.grad, y.grad)
    x.grad = y.grad = None

    class Repeated(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.size = a.size()
            return a.sum()

        @staticmethod
        def backward(ctx, grad):
            return torch.ones(1).expand(ctx.size)

    Repeated.apply(Both.apply(x, y)).backward()
    log("repeated entries", x.grad.stride(), y.grad.stride(), x.grad.data_ptr() == seen["grad"])


@family
def more_gradients_than_tensors(torch, log):
    """Gradients that no tensor is there for are not looked at; too few are an error."""
    x, one = leaf(torch, (2,), 1), torch.ones(2)
    y = x * x
    log("grad", torch.autograd.grad([y], x, [one, one * 5], retain_graph=True))
    torch.autograd.backward([y], [one, "no gradient"], retain_graph=True)
    log("backward", x.grad)
    log.raises("too few", lambda: torch.autograd.backward([y, y], [one], retain_graph=True))
    log.raises("none", lambda: torch.autograd.grad([y], x, [], retain_graph=True))
    log.raises(
        "shape first", lambda: torch.autograd.backward([y, y], [torch.ones(3)], retain_graph=True)
    )
