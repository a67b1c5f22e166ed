"""Exercises whose answer is a hook, run on real tensors: minigrad's, and PyTorch's if installed."""

import pytest

from minigrad import classroom
from minigrad.classroom import Hook, Numbers


def library(name):
    """Import the library, or skip where it is not there."""
    torch = pytest.importorskip(name)
    if not hasattr(torch, "tensor"):
        pytest.skip(f"{name} has no tensors")
    return torch


@pytest.fixture(params=["minigrad", "torch"])
def exercise(request):
    torch = library(request.param)

    def scenario(hook):
        x = torch.tensor([1.0, -2.0], requires_grad=True)
        middle = 3 * x
        middle.register_hook(hook)
        (middle * middle).sum().backward()
        return {"x.grad": x.grad, "the gradient at x[0]": x.grad[0].item()}

    def mutating(grad):
        grad *= 2
        return grad

    return torch, Hook(
        id="97.5",
        asks="a tensor hook that doubles the gradient",
        scenario=scenario,
        reference=lambda grad: 2 * grad,
        may_return=(torch.Tensor,),
        right="Yes.",
        hints=("first", "second"),
        mistakes="""
            = lambda grad: grad / 2
                It halves.
            = lambda grad: None
                It returns nothing.
        """,
    )


@pytest.mark.parametrize(
    ("hook", "says"),
    [
        (lambda grad: 2 * grad, None),
        (lambda grad: grad + grad, None),
        (lambda grad: grad * 0.5, "It halves."),
        (lambda grad: print(grad), "It returns nothing."),
        (lambda grad: -2 * grad, "x.grad is a tensor of shape (2,): [-36.0, 72.0]. Right size"),
        (lambda grad: (2 * grad,), "has to return a Tensor, or None"),
        (lambda module, grad: grad, "it takes module, grad"),
        (lambda grad: grad.doubled(), "AttributeError"),
    ],
)
def test_a_hook_is_judged_by_what_it_does(exercise, hook, says, capsys):
    _, known = exercise
    finding = known.examine(hook)
    if says is None:
        assert finding is None
    else:
        assert says in finding.says
    assert capsys.readouterr().out == ""


def test_a_hook_that_is_never_called_is_told_so(exercise):
    _, known = exercise
    idle = Hook(
        id="97.6",
        asks="a hook",
        scenario=lambda hook: {"nothing": 0},
        reference=lambda grad: None,
        right="Yes.",
        hints=("first", "second"),
    )
    assert "never called" in idle.examine(lambda grad: grad).says
    assert known.examine(lambda grad: 2 * grad) is None


def test_grad_input_tuples_are_compared_with_their_nones(exercise):
    torch, _ = exercise
    known = Numbers(
        id="97.7",
        asks="grad_input",
        expected=lambda: (torch.tensor([-1.0199]), None),
        right="Yes.",
        hints=("first", "second"),
    )
    assert known.examine((torch.tensor([-1.0199]), None)) is None
    assert known.examine([torch.tensor([-1.0199]), None]) is None
    assert "entry [1]" in known.examine((torch.tensor([-1.0199]), torch.tensor(0.0))).says
    assert "is entry [0, 0]: None" in known.examine(((None,), None)).says.replace("][", ", ")
    assert classroom.judge("demo.1", torch.tensor([24.0])).status == "right"
