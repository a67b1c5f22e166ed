"""Print the worked example under a backward hook: ``python worked_example.py full|doubled|legacy``.

Two layers, x1 = 0.3 x + 0.1 and y = (0.4 x1 + 0.2)^2, at x = 0.3 with the loss (y - 1)^2. The
program runs on PyTorch with nothing changed but the import.
"""

import sys

import minigrad as torch

nn = torch.nn


def one_by_one(weight, bias):
    """Make a Linear layer of one number in, one out."""
    layer = nn.Linear(1, 1, bias=True)
    with torch.no_grad():
        layer.weight[0, 0] = weight
        layer.bias[0] = bias
    return layer


class SLinear(nn.Module):
    """The square of a linear function: s = 0.4 x1 + 0.2, y = s^2."""

    def __init__(self):
        super().__init__()
        self.f = one_by_one(0.4, 0.2)

    def forward(self, x):
        return self.f(x) ** 2


class Net(nn.Module):
    """A linear layer f0 followed by f1, the module that is hooked."""

    def __init__(self):
        super().__init__()
        self.f0 = one_by_one(0.3, 0.1)
        self.f1 = SLinear()

    def forward(self, x):
        return self.f1(self.f0(x))


def show(layer, grad_input, grad_output):
    """Print what the hook is given."""
    print("grad_input: ", grad_input)
    print("grad_output: ", grad_output)


def show_and_double(layer, grad_input, grad_output):
    """Print what the hook is given and hand twice the gradient on."""
    show(layer, grad_input, grad_output)
    return (grad_input[0] * 2,)


def describe(name, layer):
    """Print a layer's parameters and their gradients (the words of the text that is reproduced say
    f1 for both).
    """
    weight, bias = layer.weight.detach(), layer.bias.detach()
    print(
        f"{name} weight: ", weight[0], "bias: ", bias[0],
        "f1 weight grad: ", layer.weight.grad, "f1 bias grad: ", layer.bias.grad,
    )  # fmt: skip


def main(variant):
    """Run forward and backward once and print everything on the way."""
    print(torch.__version__)
    net = Net()
    if variant == "full":
        net.f1.register_full_backward_hook(show)
    elif variant == "doubled":
        net.f1.register_full_backward_hook(show_and_double)
    else:
        net.f1.register_backward_hook(show)
    x = torch.tensor([0.3], requires_grad=True)
    y = net(x)
    loss = (y - 1) ** 2
    print("y: ", y)
    print("loss:", loss)
    print(net.f1)
    loss.backward()
    print("x.grad: ", x.grad)
    describe("f1", net.f1.f)
    describe("f0", net.f0)


if __name__ == "__main__":
    main(sys.argv[1])
