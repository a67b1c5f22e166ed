"""Run the same code on symbols and on numbers, and compare values and gradients."""

import numpy as np

import minigrad as torch
from minigrad import nn
from minigrad.creation import dtypes
from minigrad.symbolic import evaluate, symbolic_like, symbols, tensor_of

# Some dozens of operations in double precision, sums of both signs included; the formulas are
# evaluated exactly. A wrong term would be off by a thousandth and more.
RTOL, ATOL = 1e-10, 1e-12


def numbers(*shape, seed=0):
    """Give numbers of both signs that lie apart, none of them 0, the same on every machine."""
    count = int(np.prod(shape))
    places = (np.arange(count) * 7 + 3 * seed) % (2 * count + 5) + 1
    signs = np.where((np.arange(count) * 5 + seed) % 3 == 0, -1, 1)
    return np.round(signs * places / (count + 3) + 0.01 * seed, 3).reshape(shape)


def all_tensors(output):
    """Give the tensors in nested results, in order."""
    if isinstance(output, torch.Tensor):
        return [output]
    if not isinstance(output, (tuple, list, dict)):
        return []
    parts = output.values() if isinstance(output, dict) else output
    return [tensor for part in parts for tensor in all_tensors(part)]


def backward(outputs):
    """Go backward from every output with its own numbers; ones would hide too much."""
    total = None
    for seed, output in enumerate(outputs):
        weights = torch.tensor(numbers(*output.shape, seed=seed + 1), dtype=torch.float64)
        part = (output * weights).sum()
        total = part if total is None else total + part
    total.backward()


def close(formula, number, values, what):
    found = evaluate(formula, values)
    expected = number.detach().numpy()
    assert found.shape == number.shape, what
    np.testing.assert_allclose(found.numpy(), expected, RTOL, ATOL, err_msg=what)


def numbered(model):
    """Give all parameters numbers that are not special, in double precision."""
    model = model.to(torch.float64)
    with torch.no_grad():
        for seed, parameter in enumerate(model.parameters()):
            parameter.copy_(torch.tensor(numbers(*parameter.shape, seed=seed) / 2 + 0.01))
        for name, buffer in model.named_buffers():
            if name.endswith("running_mean"):
                buffer.copy_(torch.tensor(numbers(*buffer.shape, seed=5)))
            if name.endswith("running_var"):
                buffer.copy_(torch.tensor(np.abs(numbers(*buffer.shape, seed=6))))
    return model


def inputs(shapes, **assumptions):
    """Make symbols and numbers of some shapes; what is no shape goes to both runs as it is."""
    formulas, data = [], []
    for position, shape in enumerate(shapes):
        if isinstance(shape, tuple) and all(isinstance(size, int) for size in shape):
            given = numbers(*shape, seed=position)
            given = np.abs(given) if assumptions.get("positive") else given
            data.append(torch.tensor(given, dtype=torch.float64, requires_grad=True))
            formulas.append(symbols("xyzuv"[position], shape, requires_grad=True, **assumptions))
        else:
            formulas.append(shape)
            data.append(shape)
    return formulas, data


def agree_model(model, shapes, run=None, buffers=False, **assumptions):
    """Run a model on symbols, forward and backward, and on numbers; all has to be the same."""
    run = run or (lambda model, *given: model(*given))
    model = numbered(model)
    symbolic = symbolic_like(model, buffers=buffers)
    formulas, data = inputs(shapes, **assumptions)
    state = torch.get_rng_state()
    results = all_tensors(run(symbolic, *formulas))
    torch.set_rng_state(state)
    known = {name: buffer.detach().clone() for name, buffer in model.named_buffers()}
    expected = all_tensors(run(model, *data))
    assert len(results) == len(expected) > 0
    assert any(result.dtype is dtypes.symbolic for result in results)
    values = {
        f: d.detach()
        for f, d in zip(formulas, data, strict=True)
        if isinstance(f, torch.Tensor) and f.dtype is dtypes.symbolic
    }
    named = dict(model.named_parameters())
    for name, parameter in symbolic.named_parameters():
        values[parameter] = named[name].detach()
    if buffers:
        fresh = symbolic_like(model, buffers=True)
        for name, buffer in fresh.named_buffers():
            if buffer.dtype is dtypes.symbolic:
                values[buffer] = known[name]
    for formula, number in zip(results, expected, strict=True):
        assert formula.requires_grad == number.requires_grad
        close(formula, number, values, "the result")
    backward([each for each in results if each.requires_grad])
    backward([each for each in expected if each.requires_grad])
    for position, (formula, number) in enumerate(zip(formulas, data, strict=True)):
        if isinstance(number, torch.Tensor) and number.grad is not None:
            close(formula.grad, number.grad, values, f"the gradient of input {position}")
    for name, parameter in symbolic.named_parameters():
        if named[name].grad is None:
            assert parameter.grad is None, name
        else:
            close(parameter.grad, named[name].grad, values, f"the gradient of {name}")
    for name, buffer in symbolic.named_buffers():
        close(tensor_of(buffer), dict(model.named_buffers())[name], values, f"buffer {name}")
    return symbolic


class Calls(nn.Module):
    """A model that is one function."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *given):
        return self.function(*given)


def agree(function, *shapes, **assumptions):
    """Run a function on symbols and on numbers; values and gradients have to be the same."""
    agree_model(Calls(function), shapes, **assumptions)
