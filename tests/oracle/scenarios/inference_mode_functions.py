"""See custom functions, modules and training around inference mode."""

from __future__ import annotations

from .inference_mode import facts, made, tensors
from .tools import Family, leaf, linear

family = Family()


class Recorded:
    """Functions that log what they see."""

    def __init__(self, torch, log):
        class Square(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                log("forward", torch.is_grad_enabled(), torch.is_inference_mode_enabled())
                log("needs", ctx.needs_input_grad, facts(x))
                ctx.save_for_backward(x)
                return x * x

            @staticmethod
            def backward(ctx, grad):
                (x,) = ctx.saved_tensors
                return 2 * x * grad

        class Same(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x

            @staticmethod
            def backward(ctx, grad):
                return grad * 2

        class Viewed(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x.view(3, 1)

            @staticmethod
            def backward(ctx, grad):
                return grad.view(3)

        class Changed(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                x.add_(1)
                ctx.mark_dirty(x)
                return x

            @staticmethod
            def backward(ctx, grad):
                return grad

        class Exponential(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                result = x.exp()
                ctx.save_for_backward(result)
                return result

            @staticmethod
            def backward(ctx, grad):
                (result,) = ctx.saved_tensors
                return grad * result

        self.all = (Square, Same, Viewed, Changed, Exponential)


@family
def functions_in_the_mode(torch, log):
    """A custom Function in the mode: nothing is recorded."""
    for function in Recorded(torch, log).all:
        for kind, tensor in tensors(torch).items():
            with torch.inference_mode():
                log(function.__name__, kind, facts(function.apply(tensor)))


@family
def functions_outside_the_mode(torch, log):
    """A custom Function outside, called with an inference tensor."""
    for function in Recorded(torch, log).all:
        log.raises(function.__name__, lambda function=function: facts(function.apply(made(torch))))

    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.save_for_backward(factor)
            return x * factor

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.saved_tensors[0], None

    x = leaf(torch, (3,), 1)
    log.raises("saves it", lambda: Scaled.apply(x, made(torch)))
    Scaled.apply(x, made(torch).clone()).sum().backward()
    log("saves a clone", x.grad)


@family
def modules_with_hooks(torch, log):
    """Forward hooks run in the mode, backward hooks are set up only where something is recorded."""
    layer = linear(torch, [[1.0, 2.0, 3.0]], [4.0])
    for name in ("forward_pre_hook", "forward_hook", "full_backward_hook"):
        getattr(layer, f"register_{name}")(log.module_hook(name))
    layer.register_full_backward_pre_hook(log.module_hook("full_backward_pre_hook"))
    for kind, tensor in tensors(torch).items():
        with torch.inference_mode():
            result = layer(tensor[None])
            log(kind, facts(result))
    log.raises("outside", lambda: layer(made(torch)[None]))
    layer(torch.ones(1, 3)).sum().backward()
    log("still trains", layer.weight.grad)


@family
def training_and_looking(torch, log):
    """The usual loop: train outside, evaluate in the mode, and go on."""
    layer = linear(torch, [[0.5, -1.0]], [0.25])
    inputs, target = torch.tensor([[1.0, 2.0], [3.0, -1.0]]), torch.tensor([[1.0], [0.0]])
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.0625)

    @torch.inference_mode()
    def evaluate():
        return ((layer(inputs) - target) ** 2).mean()

    for _ in range(3):
        loss = ((layer(inputs) - target) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        log("step", loss, evaluate(), facts(evaluate()), layer.weight)
    saved = {name: value.clone() for name, value in layer.state_dict().items()}
    with torch.inference_mode():
        zeros = {name: torch.zeros_like(value) for name, value in saved.items()}
        log("loaded in the mode", str(layer.load_state_dict(zeros)))
    log("weight", layer.weight, facts(layer.weight))
    log("loaded outside", str(layer.load_state_dict(zeros)), facts(layer.weight))
    layer(inputs).sum().backward()
    log("trains", layer.weight.grad)


@family
def optimizer_in_the_mode(torch, log):
    """A step in the mode changes normal parameters, which count it."""
    layer = linear(torch, [[0.5, -1.0]], [0.25])
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.5)
    with torch.inference_mode():
        layer.weight.grad = torch.ones(1, 2)
        before = layer.weight._version
        optimizer.step()
        log("stepped", layer.weight, layer.weight._version - before, facts(layer.weight.grad))
        optimizer.zero_grad(set_to_none=False)
    log("gradient", layer.weight.grad)
    log.raises("zeroed outside", lambda: optimizer.zero_grad(set_to_none=False))
    optimizer.zero_grad()
    log("let go", layer.weight.grad)


@family
def gradients_given_from_the_mode(torch, log):
    """A gradient that was made in the mode starts a backward outside."""
    x = leaf(torch, (3,), 1)
    for create_graph in (False, True):
        for name, action in (("doubled", lambda t: t * 2), ("exponential", lambda t: t.exp())):
            x.grad = None
            log.raises(
                name,
                lambda action=action, create_graph=create_graph: action(x).backward(
                    made(torch), create_graph=create_graph
                ),
            )
            log("gradient", x.grad)
    log("grad", torch.autograd.grad(x * 2, x, made(torch)))
    with torch.inference_mode():
        log.raises("no graph in the mode", lambda: (x * 2).sum().backward())
        log.raises("nothing to retain", lambda: (x * 2).retain_grad())
