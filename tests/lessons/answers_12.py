"""Typical wrong answers and differently written right ones, for the exercises of lesson 12."""

import math

import numpy as np

import minigrad as torch
from minigrad.autograd import grad


def _hvp(f, x, v):
    x = x.clone().detach().requires_grad_(True)
    gradient = grad(f(x), x, create_graph=True)[0]
    return grad(gradient @ v, x)[0]


def _hvp_by_cotangent(f, x, v):
    x = x.detach().requires_grad_()
    (gradient,) = grad(f(x), x, create_graph=True)
    (product,) = grad(gradient, x, grad_outputs=v)
    return product


def _hvp_by_backward(f, x, v):
    x = x.detach().requires_grad_()
    grad(f(x), x, create_graph=True)[0].mul(v).sum().backward()
    return x.grad


def _hvp_without_graph(f, x, v):
    x = x.detach().requires_grad_()
    (gradient,) = grad(f(x), x)
    return grad((gradient * v).sum(), x)[0]


def _hvp_detached(f, x, v):
    x = x.detach().requires_grad_()
    (gradient,) = grad(f(x), x, create_graph=True)
    return grad((gradient.detach() * v).sum(), x)[0]


def _hvp_plain_x(f, x, v):
    (gradient,) = grad(f(x), x, create_graph=True)
    return grad((gradient * v).sum(), x)[0]


def _hvp_no_sum(f, x, v):
    x = x.detach().requires_grad_()
    (gradient,) = grad(f(x), x, create_graph=True)
    return grad(gradient * v, x)[0]


def _hvp_one_number(f, x, v):
    x = x.detach().requires_grad_()
    return grad(f(x), x)[0] @ v


def _hvp_gradient(f, x, v):
    x = x.detach().requires_grad_()
    return grad(f(x), x)[0]


def _hvp_of_ones(f, x, v):
    x = x.detach().requires_grad_()
    (gradient,) = grad(f(x), x, create_graph=True)
    return grad(gradient.sum(), x)[0]


def _hvp_v_late(f, x, v):
    return _hvp_of_ones(f, x, v) * v


def _hvp_row_by_row(f, x, v):
    x = x.detach().requires_grad_()
    (gradient,) = grad(f(x), x, create_graph=True)
    return torch.stack([grad(entry, x, retain_graph=True)[0] for entry in gradient]) @ v


def _hvp_library(f, x, v):
    return torch.autograd.functional.hvp(f, x, v)[1]


def _hvp_changes_x(f, x, v):
    x.requires_grad_()
    (gradient,) = grad(f(x), x, create_graph=True)
    return grad((gradient * v).sum(), x)[0].detach()


def _hvp_no_return(f, x, v):
    _hvp(f, x, v)


def _hvp_v_early(f, x, v):
    x = x.detach().requires_grad_()
    (gradient,) = grad(f(x), x, v, create_graph=True)
    return grad(gradient.sum(), x)[0]


def _hvp_by_steps(f, x, v):
    return (_hvp_gradient(f, x + 1e-3 * v, v) - _hvp_gradient(f, x, v)) / 1e-3


def _hvp_keeping(f, x, v, kept=[]):  # noqa: B006
    x = x.detach().requires_grad_()
    kept.append((x, grad(f(x), x, create_graph=True)[0]))
    x, gradient = kept[0]
    return grad((gradient * v).sum(), x, retain_graph=True)[0]


def _hvp_fills(f, x, v):
    leaf = x if x.requires_grad else x.detach().requires_grad_()
    (gradient,) = grad(f(leaf), leaf, create_graph=True)
    (gradient * v).sum().backward()
    return leaf.grad


def _hvp_negative(f, x, v):
    return -_hvp(f, x, v)


def _penalty(f, x, limit):
    x = x.clone().detach().requires_grad_()
    slopes = grad(f(x).sum(), x, create_graph=True)[0]
    return torch.mean(torch.relu((slopes**2).sum(dim=1).sqrt() - limit).square())


def _penalty_by_ones(f, x, limit):
    x = x.detach().requires_grad_()
    out = f(x)
    (slopes,) = grad(out, x, grad_outputs=torch.ones_like(out), create_graph=True)
    excess = torch.linalg.vector_norm(slopes, dim=-1) - limit
    return torch.where(excess > 0, excess**2, torch.zeros_like(excess)).sum() / len(x)


def _squared(lengths, limit):
    return (lengths - limit).clamp(min=0) ** 2


def _slopes(f, x, **options):
    x = x.detach().requires_grad_()
    return grad(f(x).sum(), x, **options)[0]


def _penalty_plain_x(f, x, limit):
    (slopes,) = grad(f(x).sum(), x, create_graph=True)
    return _squared(slopes.norm(dim=1), limit).mean()


def _penalty_retained(f, x, limit):
    return _squared(_slopes(f, x, retain_graph=True).norm(dim=1), limit).mean()


def _penalty_pretends(f, x, limit):
    return _squared(_slopes(f, x).requires_grad_().norm(dim=1), limit).mean()


def _penalty_detached(f, x, limit):
    slopes = _slopes(f, x, create_graph=True).detach()
    return _squared(slopes.norm(dim=1), limit).mean()


def _penalty_item(f, x, limit):
    return _squared(_slopes(f, x, create_graph=True).norm(dim=1), limit).mean().item()


def _penalty_one_norm(f, x, limit):
    return _squared(_slopes(f, x, create_graph=True).norm(), limit)


def _penalty_columns(f, x, limit):
    return _squared(_slopes(f, x, create_graph=True).norm(dim=0), limit).mean()


def _penalty_of_mean(f, x, limit):
    x = x.detach().requires_grad_()
    (slopes,) = grad(f(x).mean(), x, create_graph=True)
    return _squared(slopes.norm(dim=1), limit).mean()


def _penalty_two_sided(f, x, limit):
    return ((_slopes(f, x, create_graph=True).norm(dim=1) - limit) ** 2).mean()


def _penalty_not_squared(f, x, limit):
    return (_slopes(f, x, create_graph=True).norm(dim=1) - limit).clamp(min=0).mean()


def _penalty_squares(f, x, limit):
    return _squared((_slopes(f, x, create_graph=True) ** 2).sum(dim=1), limit).mean()


def _penalty_summed(f, x, limit):
    return _squared(_slopes(f, x, create_graph=True).norm(dim=1), limit).sum()


def _spoiled(last):
    return lambda f, x, limit: last(_slopes(f, x, create_graph=True).norm(dim=1) - limit, limit)


def _penalty_of_one(f, x, limit):
    return _squared(_slopes(f, x, create_graph=True).norm(1), limit)


def _penalty_not_recorded(f, x, limit):
    x = x.detach().requires_grad_()
    with torch.no_grad():
        output = f(x)
    return grad(output.sum(), x, create_graph=True)[0].norm(dim=1).mean()


def _penalty_of_stranger(f, x, limit):
    output = f(x)
    return grad(output.sum(), x.detach().requires_grad_(), create_graph=True)[0].mean()


def _penalty_empties(f, x, limit):
    f.zero_grad()
    return _penalty(f, x, limit)


def _penalty_by_maximum(f, x, limit=1.0):
    slopes = _slopes(f, x, create_graph=True, retain_graph=True)
    excess = slopes.norm(2, 1) - limit
    return torch.maximum(excess, torch.zeros_like(excess)).square().sum() / x.shape[0]


def _network(x):
    return (x**2).sum(dim=1)


def _penalty_by_backward(f, x, limit):
    x = x.detach().requires_grad_()
    f(x).sum().backward(create_graph=True)
    return _squared(x.grad.norm(dim=1), limit).mean()


def _penalty_changes_x(f, x, limit):
    x.requires_grad_()
    (slopes,) = grad(f(x).sum(), x, create_graph=True)
    return _squared(slopes.norm(dim=1), limit).mean()


def _tower(f, x, n):
    x = torch.tensor(x, requires_grad=True)
    floors = [f(x)]
    while len(floors) <= n:
        last = floors[-1]
        found = None
        if last.requires_grad:
            (found,) = grad(last, x, create_graph=True, allow_unused=True)
        floors.append(torch.zeros_like(x) if found is None else found)
    return floors


def _tower_added_zero(f, x, n):
    x = torch.tensor(x, dtype=torch.float64, requires_grad=True)
    value, floors = f(x) + 0 * x, []
    for _ in range(n):
        floors.append(value.item())
        value = grad(value, x, create_graph=True)[0] + 0 * x
    return [*floors, value.item()]


def _tower_naive(f, x, n):
    x = torch.tensor(x, requires_grad=True)
    floors = [f(x)]
    for _ in range(n):
        floors.append(grad(floors[-1], x, create_graph=True)[0])
    return [floor.item() for floor in floors]


def _tower_half_asked(f, x, n):
    x = torch.tensor(x, requires_grad=True)
    floors = [f(x)]
    for _ in range(n):
        last = floors[-1]
        if last.requires_grad:
            floors.append(grad(last, x, create_graph=True)[0])
        else:
            floors.append(torch.zeros_like(x))
    return floors


def _tower_unused_only(f, x, n):
    x = torch.tensor(x, requires_grad=True)
    floors = [f(x)]
    for _ in range(n):
        floors.append(grad(floors[-1], x, create_graph=True, materialize_grads=True)[0])
    return floors


def _tower_without_ground(f, x, n):
    return _tower(f, x, n)[1:]


def _tower_too_high(f, x, n):
    return _tower(f, x, n + 1)


def _tower_too_low(f, x, n):
    return _tower(f, x, n)[:n] if n else _tower(f, x, n)


def _tower_stops(f, x, n):
    floors = _tower(f, x, n)
    while len(floors) > 1 and floors[-1].item() == 0:
        floors.pop()
    return floors


def _tower_by_backward(f, x, n):
    x = torch.tensor(x, requires_grad=True)
    value = f(x)
    floors = [value.item()]
    for _ in range(n):
        if value.requires_grad:
            value.backward(create_graph=True)
            value = x.grad if x.grad is not None else torch.zeros_like(x)
        else:
            value = torch.zeros_like(x)
        floors.append(value.item())
    return floors


def _tower_tuple(f, x, n):
    return tuple(_tower(f, x, n))


def _tower_fills_grad(f, x, n):
    floors = _tower(f, x, n)
    x = torch.tensor(x, requires_grad=True)
    if f(x).requires_grad:
        f(x).backward()
    return floors


def _numbered(f, x, n):
    return list(enumerate(floor.item() for floor in _tower(f, x, n)))


def _tower_without_graph(f, x, n):
    x = torch.tensor(x, requires_grad=True)
    floors = [f(x)]
    for _ in range(n):
        try:
            floors.append(grad(floors[-1], x)[0])
        except RuntimeError:
            floors.append(torch.zeros_like(x))
    return floors


def _tower_repeats(f, x, n):
    x = torch.tensor(x, requires_grad=True)
    floors = [f(x)]
    for _ in range(n):
        try:
            floors.append(grad(floors[-1], x, create_graph=True)[0])
        except RuntimeError:
            floors.append(floors[-1])
    return floors


def _tower_impatient(f, x, n):
    floors = [floor for _, floor in _numbered(f, x, n)]
    ends = next((k for k in range(1, n + 1) if floors[k] == 0), n + 1)
    return floors[:ends] + [0.0] * (n + 1 - ends)


def _tower_composed(f, x, n):
    x = torch.tensor(x, requires_grad=True)
    value, floors = f(x), [f(x).item()]
    for _ in range(n):
        floors.append(grad(value + 0 * x, x, create_graph=True)[0].item())
        value = f(value)
    return floors


def _tower_by_steps(f, x, n):
    def slope_of(g):
        return lambda t: (g(t + 1e-3) - g(t)) / 1e-3

    level, floors = f, []
    for _ in range(n + 1):
        floors.append(level(torch.tensor(x)).item())
        level = slope_of(level)
    return floors


def _tower_by_func(f, x, n):
    level, floors = lambda t: f(t) + 0 * t, []
    for _ in range(n + 1):
        floors.append(level(torch.tensor(x)).item())
        level = torch.func.grad(level)
    return floors


def _tower_caught(f, x, n):
    x = torch.tensor(x, requires_grad=True)
    floors = [f(x)]
    while len(floors) <= n:
        try:
            floors += grad(floors[-1], x, create_graph=True)
        except RuntimeError:
            floors += [torch.tensor(0.0)] * (n + 1 - len(floors))
    return [floor.item() for floor in floors]


ANSWERS = {
    "12.1": {
        "wrong": [
            ("The sum of both", (-0.4524,)),
            ("w_0 moves x_1", (-3.085888 * 0.3 * 0.12, -0.40796)),
            ("own factor", (-3.085888 * 0.12, -0.40796)),
            ("how far does s move", (-3.085888, -0.40796)),
            ("Which one stands beside", (-0.044437, -1.019902)),
            ("not contain w_0", (-0.044437, -0.122388)),
            ("one by one", (-0.4524, 0.0)),
            ("2 are asked for", -0.452398),
            ("opposite order", (-0.40796, -0.044437)),
            ("sign", (0.044437, 0.40796)),
            ("carry more digits", (-0.0440, -0.413)),
            ("entry [1]", (-0.044437, 0.0)),
            ("sign of the first term", (0.044437, -0.40796)),
            ("sign of the second term", (-0.044437, 0.40796)),
            ("other entries", (-0.148122, -0.3763)),
            ("Two halves", (-0.226199, -0.226199)),
            ("added, not multiplied", (-0.40796, 1.10893)),
            ("factor of 2", (-0.044437, -0.20398)),
            ("4s^3 - 4s", ((12 * 0.276**2 - 1) * 0.0144, -0.40796)),
            ("both stay", (-0.044437, 4 * 0.276 * 0.4)),
            ("decimal point is not", (-0.044437, -0.040796)),
        ],
        "right": [
            (-0.0444, -0.408),
            (-0.044437, -0.40796),
            [-0.04443679, -0.40796068],
            np.array([-0.04444, -0.408]),
            torch.tensor([-0.0444368, -0.4079607]),
        ],
    },
    "12.2": {
        "wrong": [
            ("has no past", _hvp_without_graph),
            ("has no past", _hvp_detached),
            ("has no past", _hvp_plain_x),
            ("one number to start from", _hvp_no_sum),
            ("The Hessian's product is the gradient", _hvp_one_number),
            ("differentiated once", _hvp_gradient),
            ("vector of ones", _hvp_of_ones),
            ("after the second gradient", _hvp_v_late),
            ("a backward pass for each row", _hvp_row_by_row),
            ("has to work without", _hvp_library),
            ("caller's x requires a gradient", _hvp_changes_x),
            ("is a return missing", _hvp_no_return),
            ("sign", _hvp_negative),
            ("it takes f", lambda f: f),
            (
                "The first gradient is still in there",
                lambda f, x, v: _hvp(f, x, v) + _hvp_gradient(f, x, v),
            ),
            ("v has the shape of", _hvp_v_early),
            ("Take the tensor out", lambda f, x, v: (_hvp(f, x, v),)),
            ("for no other", lambda f, x, v: 8 * (x @ v) * x + 4 * (x @ x) * v),
            (
                "no second derivative",
                lambda f, x, v: _hvp_gradient(f, x, v) * _hvp_one_number(f, x, v),
            ),
            ("entry by entry", lambda f, x, v: _hvp_gradient(f, x, v) * v),
            ("no closer than its step", _hvp_by_steps),
            ("kept from the first", _hvp_keeping),
            ("grad of the caller's x was filled", _hvp_fills),
        ],
        "right": [
            _hvp,
            _hvp_by_cotangent,
            _hvp_by_backward,
            lambda f, x, v: torch.func.grad(lambda t: (torch.func.grad(f)(t) * v).sum())(
                x.detach()
            ),
        ],
    },
    "12.3": {
        "wrong": [
            ("x came without requires_grad", _penalty_plain_x),
            ("no way leads", _penalty_retained),
            ("no way leads", _penalty_pretends),
            ("no way leads", _penalty_detached),
            ("no way leads", _penalty_item),
            ("one norm for the whole batch", _penalty_one_norm),
            ("runs over the points", _penalty_columns),
            ("divides each slope", _penalty_of_mean),
            ("should cost nothing", _penalty_two_sided),
            ("its square is asked for", _penalty_not_squared),
            ("square of the length", _penalty_squares),
            ("the mean over them", _penalty_summed),
            ("filled the .grad", _penalty_by_backward),
            ("caller's x requires a gradient", _penalty_changes_x),
            ("without brackets", 2.0),
            ("The mean comes too early", _spoiled(lambda e, limit: e.mean().clamp(min=0) ** 2)),
            ("squared the mean", _spoiled(lambda e, limit: e.clamp(min=0).mean() ** 2)),
            ("too flat", _spoiled(lambda e, limit: (e.clamp(max=0) ** 2).mean())),
            ("number of steep rows", _spoiled(lambda e, limit: (e[e > 0] ** 2).mean())),
            (
                "subtract first",
                _spoiled(lambda e, limit: (e * (e + 2 * limit)).clamp(min=0).mean()),
            ),
            ("Only the steepest row", _spoiled(lambda e, limit: e.max().clamp(min=0) ** 2)),
            ("has not come in", _spoiled(lambda e, limit: ((e + limit) ** 2).mean())),
            ("use the one that is given", lambda f, x, limit: _penalty(f, x, 0.5)),
            ("says which norm", _penalty_of_one),
            ("Was the forward pass recorded", _penalty_not_recorded),
            ("that f has not seen", _penalty_of_stranger),
            ("call it", lambda f, x, limit: grad(f.sum(), x)),
            ("f was not called", lambda f, x, limit: _penalty(_network, x, limit)),
            ("is empty now", _penalty_empties),
        ],
        "right": [_penalty, _penalty_by_ones, _penalty_by_maximum],
    },
    "12.4": {
        "wrong": [
            ("By what is the penalty", ("a", "because the second derivative of ReLU is zero")),
            ("computes nothing", ("b", "because the graph has to be retained for it")),
            ("does not", ("d", "because PyTorch smooths the kink of the ReLU function")),
            ("Add your reason", "c"),
            ("letters a, b, c", ("e", "none of these will do it at all")),
        ],
        "right": [
            ("c", "because for f(x) = w*relu(x) the slope is w, and its derivative by w is 1"),
            (
                "c",
                "turning a weight tilts the flat pieces, and the penalty feels how steep they are",
            ),
            ["(C)", "twice by x gives zero, once by x and once by a weight does not"],
            ("c", "because the slope is a product of the weights that are switched on"),
        ],
    },
    "12.5": {
        "wrong": [
            ("without the hook", (75, 30)),
            ("plain second derivative", (5625, 900)),
            ("what the hook made", (5625, 30)),
            ("inner derivative", (5625, 150)),
            ("once too often", (5625, 20250000)),
            ("squares the gradient", (15625, 1)),
            ("is doubled", (150, 60)),
            ("opposite order", (4500, 5625)),
            ("2 are asked for", (5625,)),
            ("Write g as a formula", (5625, 4501.5 * 3)),
            ("the 2 of the square", (5625, 2250)),
            ("what stands inside", (5625, 11250)),
            ("which doubles", (5625, 120)),
            ("once too often: grad(g, x)", (5625, 2700)),
            ("the 3 is squared", (1875, 1500)),
            ("before differentiating", (18750, 18750)),
            ("first pass already", (75, 4500)),
            ("rounded", (6000, 5000)),
            ("wrong sign", (-5625, -4500)),
        ],
        "right": [(5625, 4500), [5625.0, 4500.0], torch.tensor([5625.0, 4500.0])],
    },
    "12.6": {
        "wrong": [
            ("has no past", _tower_naive),
            ("has no past", _tower_unused_only),
            ("no way leads from it", _tower_half_asked),
            ("before any derivative", _tower_without_ground),
            ("One derivative too many", _tower_too_high),
            ("One entry too few", _tower_too_low),
            ("Zeros are derivatives too", _tower_stops),
            ("on top of the last one", _tower_by_backward),
            ("was filled", _tower_fills_grad),
            ("it takes f", lambda f: f),
            ("before any derivative", lambda f, x, n: _tower(f, x, n + 1)[1:]),
            ("factorials", lambda f, x, n: [t / math.factorial(k) for k, t in _numbered(f, x, n)]),
            ("Does the first step leave a graph", _tower_without_graph),
            ("you repeat the last one", _tower_repeats),
            ("zero elsewhere", _tower_impatient),
            ("put f into f", _tower_composed),
            ("highest derivative last", lambda f, x, n: _tower(f, x, n)[::-1]),
            (
                "height of its own",
                lambda f, x, n: [t if k < 4 else 0.0 for k, t in _numbered(f, x, n)],
            ),
            ("the next one fewer", _tower_by_steps),
            ("It should not be", lambda f, x, n: [*_tower(f, x, n), []]),
            ("a thing of type", lambda f, x, n: _tower(f, x, n)[-1].item()),
            ("all that tensors can do", lambda f, x, n: [f(x)] * (n + 1)),
        ],
        "right": [_tower, _tower_added_zero, _tower_tuple, _tower_by_func, _tower_caught],
    },
}
