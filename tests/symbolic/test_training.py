"""Training runs on symbols: hooks, functions of one's own, optimizers' steps, clipping."""

import pytest

import minigrad as torch
from minigrad import autograd, nn, optim
from minigrad.symbolic import equal, expression, symbolic_like, symbols

from .sameness import agree_model, close, inputs, numbered

# ---------------------------------------------------------------------- hooks


HOOKS = {
    "register_forward_pre_hook": lambda module, args: (args[0] * 3,),
    "register_forward_hook": lambda module, args, output: output**2,
    "register_full_backward_pre_hook": lambda module, grad_output: (grad_output[0] * 5,),
    "register_full_backward_hook": lambda module, grad_input, grad_output: (
        grad_input[0].clamp(-0.1, 0.1) * grad_output[0].sum(),
    ),
}


@pytest.mark.parametrize("kind", HOOKS)
def test_module_hooks_change_formulas_as_they_change_numbers(kind):
    model = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 1))
    getattr(model[2], kind)(HOOKS[kind])
    agree_model(model, [(1, 2)])
    handle = getattr(torch.nn.modules.module, kind.replace("register", "register_module"))(
        HOOKS[kind]
    )
    try:
        agree_model(nn.Sequential(nn.Linear(2, 1), nn.Sigmoid()), [(1, 2)])
    finally:
        handle.remove()


def test_tensor_node_and_parameter_hooks_see_formulas():
    def run(on_symbols):
        model = numbered(nn.Linear(2, 1))
        formulas, data = inputs([(1, 2)])
        model, x = (symbolic_like(model), formulas[0]) if on_symbols else (model, data[0])
        seen = []
        model.weight.register_hook(lambda grad: grad * 2)
        model.bias.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf.grad.clone()))
        hidden = model(x)
        hidden.retain_grad()
        hidden.register_hook(lambda grad: grad.clamp(max=0.5))
        loss = (hidden**2).sum()
        loss.grad_fn.register_prehook(lambda gradients: (gradients[0] * 3,))
        loss.grad_fn.register_hook(lambda given, got: seen.append(given[0].clone()))
        with autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t):
            loss = loss + (hidden.exp() * x).sum()
        loss.backward()
        return model, x, [*seen, hidden.grad, x.grad, model.weight.grad, model.bias.grad]

    symbolic, x, formulas = run(True)
    model, data, figures = run(False)
    values = {symbolic.weight: model.weight, symbolic.bias: model.bias, x: data}
    assert len(formulas) == len(figures) == 6
    for place, (formula, number) in enumerate(zip(formulas, figures, strict=True)):
        close(formula, number, values, f"what was seen as number {place}")


class Cube(autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * grad


def _square(x):
    return x.tanh() ** 2


# ---------------------------------------------------------------------- steps of optimizers


OPTIMIZERS = {
    "SGD": lambda p: optim.SGD(p, lr=0.1),
    "momentum": lambda p: optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01),
    "Nesterov": lambda p: optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "Adam": lambda p: optim.Adam(p, lr=0.1),
    "AMSGrad": lambda p: optim.Adam(p, lr=0.1, amsgrad=True),
    "AdamW": lambda p: optim.AdamW(p, lr=0.1),
    "RMSprop": lambda p: optim.RMSprop(p, lr=0.1, momentum=0.5, centered=True),
    "Adagrad": lambda p: optim.Adagrad(p, lr=0.1),
    "Adadelta": lambda p: optim.Adadelta(p, lr=0.1),
}


def _trained(model, x, make, steps, before=lambda p: None):
    optimizer = make(list(model.parameters()))
    for _ in range(steps):
        optimizer.zero_grad()
        (model(x) ** 2).sum().backward()
        before(list(model.parameters()))
        optimizer.step()
    return list(model.parameters())


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps_of_optimizers(name):
    model = numbered(nn.Linear(1, 1))
    symbolic = symbolic_like(model)
    (x,), (data,) = inputs([(1,)])
    values = {x: data}
    for formula, number in zip(symbolic.parameters(), model.parameters(), strict=True):
        values[formula.detach().clone()] = number.detach().clone()
    after = _trained(symbolic, x, OPTIMIZERS[name], 2)
    expected = _trained(model, data, OPTIMIZERS[name], 2)
    for formula, number in zip(after, expected, strict=True):
        close(formula, number, values, name)


def test_a_step_is_the_textbooks_formula():
    eta = symbols("eta", positive=True)
    w = symbols("w", requires_grad=True)
    before = expression(w)
    optimizer = optim.SGD([w], lr=eta)
    loss = (w**2 - 1) ** 2
    loss.backward()
    gradient = expression(w.grad)
    optimizer.step()
    assert equal(w, before - expression(eta) * gradient)
