"""The worked example, 0.3 and 0.4: what both kinds of backward hook see and do."""

from __future__ import annotations

from fractions import Fraction

import pytest

X, W0, B0, W1, B1 = (Fraction(n, 10) for n in (3, 3, 1, 4, 2))
S = W1 * (W0 * X + B0) + B1
GRAD_Y = 2 * (S**2 - 1)
GRAD_S = GRAD_Y * 2 * S
GRAD_X1 = GRAD_S * W1


def layer(nn, weight, bias):
    linear = nn.Linear(1, 1)
    nn.init.constant_(linear.weight, weight)
    nn.init.constant_(linear.bias, bias)
    return linear


def network(torch):
    nn = torch.nn

    class Squared(nn.Module):
        def __init__(self):
            super().__init__()
            self.f = layer(nn, 0.4, 0.2)

        def forward(self, x):
            return self.f(x) ** 2

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.f0 = layer(nn, 0.3, 0.1)
            self.f1 = Squared()

        def forward(self, x):
            return self.f1(self.f0(x))

    return Net()


def gradients(torch, net):
    x = torch.tensor([0.3], requires_grad=True)
    y = net(x)
    ((y - 1) ** 2).sum().backward()
    f0, f = net.f0, net.f1.f
    tensors = (x, f0.weight, f0.bias, f.weight, f.bias)
    return y, [tensor.grad.item() for tensor in tensors]


def near(*exact):
    # float32: eight operations on numbers near 1
    return pytest.approx([float(each) for each in exact], rel=1e-6)


PLAIN = (GRAD_X1 * W0, GRAD_X1 * X, GRAD_X1, GRAD_S * (W0 * X + B0), GRAD_S)


def test_without_a_hook(torch):
    y, grads = gradients(torch, network(torch))
    assert repr(y) == "tensor([0.0762], grad_fn=<PowBackward0>)"
    assert grads == near(*PLAIN)


def test_a_full_hook_doubles_what_comes_before_the_module(torch):
    net, seen = network(torch), []

    def doubling(module, grad_input, grad_output):
        seen.extend([grad_input[0].item(), grad_output[0].item()])
        return (grad_input[0] * 2,)

    net.f1.register_full_backward_hook(doubling)
    y, grads = gradients(torch, net)
    assert repr(y) == "tensor([0.0762], grad_fn=<BackwardHookFunctionBackward>)"
    assert seen == near(GRAD_X1, GRAD_Y)
    assert grads == near(*(2 * exact for exact in PLAIN[:3]), *PLAIN[3:])


def test_a_legacy_hook_doubles_the_modules_own_gradients_too(torch):
    net, seen = network(torch), []

    def doubling(module, grad_input, grad_output):
        seen.extend([grad_input[0].item(), grad_output[0].item()])
        return (grad_input[0] * 2,)

    net.f1.register_backward_hook(doubling)
    with pytest.warns(FutureWarning, match="the forward contains multiple autograd Nodes"):
        y, grads = gradients(torch, net)
    assert repr(y) == "tensor([0.0762], grad_fn=<PowBackward0>)"
    assert seen == near(GRAD_S, GRAD_Y)
    assert grads == near(*(2 * exact for exact in PLAIN))
