"""A backward pass that a hook starts within another one."""

from __future__ import annotations


def test_a_backward_within_a_backward(torch, draw):
    x, other = draw(2, requires_grad=True), draw(2, requires_grad=True)
    cotangent, factor = draw(2), draw(2)

    def inner(grad):
        with torch.enable_grad():
            (other * other).backward(grad)
        return grad * factor

    middle = x * 3
    middle.register_hook(inner)
    middle.sin().backward(cotangent)
    arrived = cotangent * middle.detach().cos()
    assert torch.allclose(other.grad, 2 * other.detach() * arrived)
    assert torch.allclose(x.grad, 3 * arrived * factor)


def test_two_thousand_passes_within_each_other(torch):
    finished = []

    def run(depth):
        def deeper(grad):
            if depth < 2000:
                with torch.enable_grad():
                    run(depth + 1)

        y = torch.tensor(1.0, requires_grad=True) * 2
        y.register_hook(deeper)
        y.backward()
        finished.append(depth)

    run(0)
    assert finished == [*range(2000, -1, -1)]
