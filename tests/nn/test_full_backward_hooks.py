"""What a full backward hook sees, when, and what its return value does."""

from __future__ import annotations

from collections import namedtuple

import pytest

Pair = namedtuple("Pair", "first second")


def module_of(torch, forward):
    class Given(torch.nn.Module):
        def forward(self, *args, **kwargs):
            return forward(*args, **kwargs)

    return Given()


def lists(grads):
    return [None if grad is None else grad.tolist() for grad in grads]


def leaf(torch, *values):
    return torch.tensor(values, requires_grad=True)


def test_the_hook_sees_the_gradients_of_inputs_and_outputs(torch):
    square = module_of(torch, lambda x: (x * 2) ** 2)
    seen = []
    square.register_full_backward_hook(
        lambda module, grad_input, grad_output: seen.append(
            (module, lists(grad_input), lists(grad_output))
        )
    )
    x = leaf(torch, 1.0, -3.0)
    square(x).backward(torch.tensor([0.5, -2.0]))
    assert seen == [(square, [[4.0, 48.0]], [[0.5, -2.0]])]
    assert x.grad.tolist() == [4.0, 48.0]


def test_what_the_hook_returns_goes_upstream_and_nowhere_else(torch):
    class Scale(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.factor = torch.nn.Parameter(torch.tensor([3.0]))

        def forward(self, x):
            return x * self.factor

    scale = Scale()
    x = leaf(torch, 5.0)
    scale(x).backward(torch.tensor([7.0]))
    plain = x.grad.item(), scale.factor.grad.item()
    assert plain == (21.0, 35.0)
    x.grad = scale.factor.grad = None
    scale.register_full_backward_hook(lambda module, grad_input, grad_output: (grad_input[0] * 2,))
    scale(x).backward(torch.tensor([7.0]))
    assert x.grad.item() == 2 * plain[0]
    assert scale.factor.grad.item() == plain[1]


def test_each_hook_sees_what_the_one_before_returned(torch):
    identity = torch.nn.Identity()
    seen = []

    def doubling(name):
        def hook(module, grad_input, grad_output):
            seen.append((name, grad_input[0].item(), grad_output[0].item()))
            return (grad_input[0] * 2,)

        return hook

    identity.register_full_backward_hook(doubling("first"))
    identity.register_full_backward_hook(doubling("second"))
    identity.register_full_backward_hook(doubling("in front"), prepend=True)
    x = leaf(torch, 1.0)
    identity(x).backward(torch.tensor([3.0]))
    assert seen == [("in front", 3.0, 3.0), ("first", 6.0, 3.0), ("second", 12.0, 3.0)]
    assert x.grad.item() == 24.0


def test_a_pre_hook_replaces_what_the_module_and_the_hook_get(torch):
    double = module_of(torch, lambda x: x * 2)
    seen = []
    double.register_full_backward_pre_hook(lambda module, grad_output: (grad_output[0] * 10,))
    double.register_full_backward_pre_hook(
        lambda module, grad_output: seen.append(("second", grad_output[0].item()))
    )
    double.register_full_backward_pre_hook(
        lambda module, grad_output: seen.append(("first", grad_output[0].item())), prepend=True
    )
    double.register_full_backward_hook(
        lambda module, grad_input, grad_output: seen.append(
            ("hook", grad_input[0].item(), grad_output[0].item())
        )
    )
    x = leaf(torch, 1.0)
    double(x).backward(torch.tensor([3.0]))
    assert seen == [("first", 3.0), ("second", 30.0), ("hook", 60.0, 30.0)]
    assert x.grad.item() == 60.0


def test_the_nodes_in_front_and_behind_are_identities(torch):
    double = module_of(torch, lambda x: x * 2)
    double.register_full_backward_hook(lambda *args: None)
    result = double(leaf(torch, 1.0))
    behind = result.grad_fn
    inside = behind.next_functions[0][0]
    front = inside.next_functions[0][0]
    names = [type(node).__name__ for node in (behind, inside, front)]
    assert names == ["BackwardHookFunctionBackward", "MulBackward0", "BackwardHookFunctionBackward"]
    assert "grad_fn=<BackwardHookFunctionBackward>" in repr(result)


def test_a_module_that_returns_its_input_returns_a_view_once_it_is_hooked(torch):
    identity = torch.nn.Identity()
    x = leaf(torch, 1.0)
    assert identity(x) is x
    identity.register_full_backward_hook(lambda *args: None)
    assert identity(x) is not x


def test_entries_that_are_no_tensors_are_none(torch):
    mixed = module_of(torch, lambda x, number, text: (x * number, text))
    seen = []
    mixed.register_full_backward_hook(
        lambda module, grad_input, grad_output: seen.append((lists(grad_input), lists(grad_output)))
    )
    mixed(leaf(torch, 1.0), 4, "text")[0].backward(torch.tensor([3.0]))
    assert seen == [([[12.0], None, None], [[3.0], None])]


def test_an_input_that_needs_no_gradient_beside_one_that_does_shows_zeros(torch):
    add = module_of(torch, lambda x, y: x + y)
    seen = []
    add.register_full_backward_hook(
        lambda module, grad_input, grad_output: seen.append(lists(grad_input))
    )
    y = torch.tensor([2.0])
    add(leaf(torch, 1.0), y).backward(torch.tensor([3.0]))
    assert seen == [[[3.0], [0.0]]]
    assert y.grad is None


def test_an_output_that_is_not_used_shows_none(torch):
    pair = module_of(torch, lambda x: (x * 2, x * 3))
    seen = []
    pair.register_full_backward_hook(
        lambda module, grad_input, grad_output: seen.append((lists(grad_input), lists(grad_output)))
    )
    pair(leaf(torch, 1.0))[1].backward(torch.tensor([5.0]))
    assert seen == [([[15.0]], [None, [5.0]])]


def test_keyword_arguments_do_not_count_as_inputs(torch):
    add = module_of(torch, lambda x, y: x + y)
    seen = []
    add.register_full_backward_hook(
        lambda module, grad_input, grad_output: seen.append(lists(grad_input))
    )
    x, y = leaf(torch, 1.0), leaf(torch, 2.0)
    add(x, y=y).backward(torch.tensor([3.0]))
    assert seen == [[[3.0]]]
    assert y.grad.tolist() == [3.0]


def test_a_named_tuple_stays_one(torch):
    pair = module_of(torch, lambda x: Pair(x * 2, 3))
    pair.register_full_backward_hook(lambda *args: None)
    result = pair(leaf(torch, 1.0))
    assert type(result) is Pair and result.second == 3
    assert type(result.first.grad_fn).__name__ == "BackwardHookFunctionBackward"


def test_without_an_input_that_needs_a_gradient_it_fires_at_the_outputs(torch):
    linear = torch.nn.Linear(2, 1)
    seen = []
    linear.register_full_backward_hook(
        lambda module, grad_input, grad_output: seen.append(
            (grad_input, lists(grad_output), linear.weight.grad)
        )
    )
    result = linear(torch.ones(1, 2))
    with pytest.warns(UserWarning, match="since no inputs require gradients"):
        result.backward(torch.tensor([[3.0]]))
    assert seen == [((None,), [[[3.0]]], None)]  # the weight has no gradient yet
    assert linear.weight.grad.tolist() == [[3.0, 3.0]]


@pytest.mark.parametrize("returned", [None, (None,), (None, None)])
def test_there_it_may_return_none_only(torch, returned):
    linear = torch.nn.Linear(2, 1)
    linear.register_full_backward_hook(lambda *args: returned)
    with pytest.warns(UserWarning):
        linear(torch.ones(1, 2)).backward(torch.tensor([[3.0]]))
    assert linear.bias.grad.tolist() == [3.0]


@pytest.mark.parametrize("kind", [tuple, list])
def test_there_anything_else_is_an_error(torch, kind):
    linear = torch.nn.Linear(2, 1)
    given = kind([None]) if kind is list else (torch.ones(1, 2),)
    linear.register_full_backward_hook(lambda *args: given)
    with pytest.warns(UserWarning), pytest.raises(RuntimeError) as error:
        linear(torch.ones(1, 2)).backward(torch.tensor([[3.0]]))
    assert str(error.value).startswith(
        "Backward hook for Modules where no input requires gradient should always return None "
        "or None for all gradients."
    )


def test_the_wrong_number_of_gradients_is_an_error(torch):
    identity = torch.nn.Identity()
    identity.register_full_backward_hook(lambda module, grad_input, grad_output: grad_input * 2)
    with pytest.raises(RuntimeError) as error:
        identity(leaf(torch, 1.0)).backward(torch.tensor([3.0]))
    assert str(error.value).startswith(
        "Backward hook returned an invalid number of grad_input, got 2, but expected 1"
    )


def test_the_wrong_number_from_a_pre_hook_is_an_error(torch):
    identity = torch.nn.Identity()
    identity.register_full_backward_pre_hook(lambda module, grad_output: ())
    with pytest.raises(RuntimeError) as error:
        identity(leaf(torch, 1.0)).backward(torch.tensor([3.0]))
    assert str(error.value).startswith(
        "Backward pre hook returned an invalid number of grad_output, got 0, but expected 1"
    )


def test_a_gradient_of_the_wrong_shape_is_an_error(torch):
    identity = torch.nn.Identity()
    identity.register_full_backward_hook(lambda *args: (torch.ones(3),))
    with pytest.raises(RuntimeError, match="hook 'hook' has changed the size of value"):
        identity(leaf(torch, 1.0)).backward(torch.tensor([3.0]))


def test_a_list_does_for_a_tuple(torch):
    identity = torch.nn.Identity()
    identity.register_full_backward_hook(lambda module, grad_input, _: [grad_input[0] * 2])
    x = leaf(torch, 1.0)
    identity(x).backward(torch.tensor([3.0]))
    assert x.grad.tolist() == [6.0]


@pytest.mark.parametrize("wrap", [lambda y: {"y": y}, lambda y: [y]])
def test_a_result_that_is_no_tensor_or_tuple_warns_and_is_not_hooked(torch, wrap):
    odd = module_of(torch, lambda x: wrap(x * 2))
    seen = []
    odd.register_full_backward_hook(lambda *args: seen.append(args))
    odd.register_forward_hook(lambda *args: seen.append("forward"))
    with pytest.warns(UserWarning) as caught:
        result = odd(leaf(torch, 1.0))
    assert str(caught[0].message) == (
        "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors "
        f"but received {type(result)}"
    )
    (result["y"] if isinstance(result, dict) else result[0]).backward(torch.tensor([3.0]))
    assert seen == ["forward"]


def test_under_no_grad_nothing_is_inserted(torch):
    double = module_of(torch, lambda x: x * 2)
    double.register_full_backward_hook(lambda *args: None)
    with torch.no_grad():
        result = double(leaf(torch, 1.0))
    assert result.grad_fn is None and not result.requires_grad


def test_it_runs_once_for_each_backward(torch):
    double = module_of(torch, lambda x: x * 2)
    seen = []
    double.register_full_backward_hook(lambda module, _, go: seen.append(go[0].item()))
    result = double(leaf(torch, 1.0))
    result.backward(torch.tensor([3.0]), retain_graph=True)
    result.backward(torch.tensor([4.0]))
    assert seen == [3.0, 4.0]


def test_a_gradient_that_does_not_come_through_the_outputs_calls_nothing(torch):
    inner = []

    def forward(x):
        inner.append(x * 2)
        return inner[0] * 3

    leaking = module_of(torch, forward)
    seen = []
    leaking.register_full_backward_hook(lambda module, gi, go: seen.append(gi[0].item()))
    result = leaking(leaf(torch, 1.0))
    inner[0].backward(torch.tensor([3.0]), retain_graph=True)
    assert seen == []
    result.backward(torch.tensor([3.0]))
    assert seen == [18.0]


def test_a_second_derivative_does_not_call_it_again(torch):
    cube = module_of(torch, lambda x: x**3)
    seen = []
    cube.register_full_backward_hook(lambda module, gi, go: seen.append(gi[0].item()))
    x = leaf(torch, 2.0)
    (first,) = torch.autograd.grad(cube(x), x, torch.tensor([1.5]), create_graph=True)
    (second,) = torch.autograd.grad(first, x, torch.tensor([1.0]))
    assert (first.item(), second.item()) == (18.0, 18.0)
    assert seen == [18.0]


def test_hooks_are_taken_at_the_call_not_at_the_backward(torch):
    identity = torch.nn.Identity()
    seen = []
    handle = identity.register_full_backward_hook(lambda *args: seen.append("old"))
    result = identity(leaf(torch, 1.0))
    handle.remove()
    identity.register_full_backward_hook(lambda *args: seen.append("new"))
    result.backward(torch.tensor([3.0]))
    assert seen == ["old"]


def test_inputs_and_outputs_must_not_be_changed_in_place(torch):
    changing = module_of(torch, lambda x: x.mul_(2))
    changing.register_full_backward_hook(lambda *args: None)
    text = "Output 0 of BackwardHookFunction is a view and is being modified inplace"
    with pytest.raises(RuntimeError, match=text):
        changing(leaf(torch, 1.0) * 1)
    double = module_of(torch, lambda x: x * 2)
    double.register_full_backward_hook(lambda *args: None)
    result = double(leaf(torch, 1.0))
    with pytest.raises(RuntimeError, match=text):
        result.add_(1)


def test_an_exception_in_a_hook_comes_through(torch):
    identity = torch.nn.Identity()
    identity.register_full_backward_hook(lambda *args: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        identity(leaf(torch, 1.0)).backward(torch.tensor([3.0]))


def test_it_keeps_the_module_alive_as_long_as_the_graph(torch):
    identity = torch.nn.Identity()
    seen = []
    identity.register_full_backward_hook(lambda module, gi, go: seen.append(repr(module)))
    result = identity(leaf(torch, 1.0))
    del identity
    result.backward(torch.tensor([3.0]))
    assert seen == ["Identity()"]
