"""Typical wrong answers and differently written right ones, for the exercises of lesson 11."""

import numpy as np

import minigrad as torch


def _one_sided(f, x, h):
    slopes = torch.zeros_like(x).reshape(-1)
    for k in range(x.numel()):
        up = x.clone().reshape(-1)
        up[k] += h
        slopes[k] = (f(up.reshape(x.shape)) - f(x)) / h
    return slopes.reshape(x.shape)


def _by_index(f, x, h):
    slopes = torch.zeros_like(x)
    for index in np.ndindex(tuple(x.shape)):
        up, down = x.clone(), x.clone()
        up[index] += h
        down[index] -= h
        slopes[index] = (f(up) - f(down)) / (2 * h)
    return slopes


def _in_place_and_back(f, x, h):
    slopes = torch.zeros_like(x)
    flat, out = x.view(-1), slopes.view(-1)
    for k in range(x.numel()):
        kept = flat[k].item()
        flat[k] = kept + h
        up = f(x).item()
        flat[k] = kept - h
        down = f(x).item()
        flat[k] = kept
        out[k] = (up - down) / (2 * h)
    return slopes


def _in_place(f, x, h):
    slopes = torch.zeros_like(x)
    flat, out = x.view(-1), slopes.view(-1)
    for k in range(x.numel()):
        flat[k] += h
        up = f(x).item()
        flat[k] -= 2 * h
        out[k] = (up - f(x).item()) / (2 * h)
    return slopes


def _forgot_two(f, x, h):
    return 2 * _by_index(f, x, h)


def _turned(f, x, h):
    return _by_index(f, x, -h) * -1


def _together(f, x, h):
    return torch.full_like(x, ((f(x + h) - f(x - h)) / (2 * h)).item())


def _number(f, x, h):
    return (f(x + h) - f(x - h)) / (2 * h)


def _flat(f, x, h):
    return _by_index(f, x, h).reshape(-1)


def _as_list(f, x, h):
    return _by_index(f, x, h).tolist()


def _by_engine(f, x, h):
    x = x.clone().requires_grad_()
    f(x).backward()
    return x.grad


def _fixed_step(f, x, h):
    return _by_index(f, x, 1e-3)


def _no_return(f, x, h):
    _by_index(f, x, h)


def _share_in_two_terms(g, x):
    total = x.sum()
    return g / total - (g * x).sum() / total**2


def _share_by_jacobian(g, x):
    total = x.sum()
    jacobian = torch.eye(len(x), dtype=x.dtype) / total - x[:, None] / total**2
    return g @ jacobian


def _share_transposed(g, x):
    total = x.sum()
    jacobian = torch.eye(len(x), dtype=x.dtype) / total - x[:, None] / total**2
    return jacobian @ g


def _share_by_engine(g, x):
    x = x.clone().requires_grad_()
    (x / x.sum()).backward(g)
    return x.grad


def _walk(loss, parameters, directions, h):
    gradients = torch.autograd.grad(loss(), parameters)
    kept = [p.detach().clone() for p in parameters]

    def at(t):
        with torch.no_grad():
            for p, k, d in zip(parameters, kept, directions, strict=True):
                p.copy_(k + t * d)
            return loss()

    steps = (at(h) - at(-h)) / (2 * h)
    at(0)
    return steps, sum((g * d).sum() for g, d in zip(gradients, directions, strict=True))


def _walk_by_data(loss, parameters, directions, h):
    def move(t):
        for p, d in zip(parameters, directions, strict=True):
            p.data += t * d

    predicted = 0.0
    for g, d in zip(torch.autograd.grad(loss(), parameters), directions, strict=True):
        predicted += float((g * d).sum())
    move(h)
    up = float(loss())
    move(-2 * h)
    down = float(loss())
    move(h)
    return [(up - down) / (2 * h), predicted]


def _walk_one_sided(loss, parameters, directions, h):
    gradients = torch.autograd.grad(loss(), parameters)
    here = float(loss())
    for p, d in zip(parameters, directions, strict=True):
        p.data += h * d
    there = float(loss())
    for p, d in zip(parameters, directions, strict=True):
        p.data -= h * d
    return (there - here) / h, float(
        sum((g * d).sum() for g, d in zip(gradients, directions, strict=True))
    )


def _walk_stays(loss, parameters, directions, h):
    pair = _walk(loss, parameters, directions, h)
    for p, d in zip(parameters, directions, strict=True):
        p.data += h * d
    return pair


def _walk_without_h(loss, parameters, directions, h):
    steps, predicted = _walk(loss, parameters, directions, h)
    return 2 * steps, predicted


def _walk_by_backward(loss, parameters, directions, h):
    for p in parameters:
        p.grad = None
    loss().backward()
    predicted = sum(float((p.grad * d).sum()) for p, d in zip(parameters, directions, strict=True))
    return _walk(loss, parameters, directions, h)[0], predicted


def _walk_at_moved_place(loss, parameters, directions, h):
    with torch.no_grad():
        for p, d in zip(parameters, directions, strict=True):
            p.add_(h * d)
    up = loss()
    gradients = torch.autograd.grad(up, parameters)
    with torch.no_grad():
        for p, d in zip(parameters, directions, strict=True):
            p.sub_(2 * h * d)
    down = loss()
    with torch.no_grad():
        for p, d in zip(parameters, directions, strict=True):
            p.add_(h * d)
    return (up - down) / (2 * h), sum(
        (g * d).sum() for g, d in zip(gradients, directions, strict=True)
    )


def _walk_swapped(loss, parameters, directions, h):
    steps, predicted = _walk(loss, parameters, directions, h)
    return predicted, steps


def _walk_twice_predicted(loss, parameters, directions, h):
    predicted = float(_walk(loss, parameters, directions, h)[1])
    return predicted, predicted


def _walk_honest_twice(loss, parameters, directions, h):
    gradients = torch.autograd.grad(loss(), parameters)
    predicted = float(sum((g * d).sum() for g, d in zip(gradients, directions, strict=True)))
    return predicted, predicted


def _walk_unweighted(loss, parameters, directions, h):
    steps, _ = _walk(loss, parameters, directions, h)
    return steps, sum(float(g.sum()) for g in torch.autograd.grad(loss(), parameters))


def _walk_first_only(loss, parameters, directions, h):
    return _walk(loss, parameters[:1], directions[:1], h)


def _walk_needs_no_grad(loss, parameters, directions, h):
    for p, d in zip(parameters, directions, strict=True):
        p += h * d
    return loss(), loss()


def _walk_one_number(loss, parameters, directions, h):
    return _walk(loss, parameters, directions, h)[0]


_ROOT32, _CUBE32 = 2**-11.5, 2 ** (-23 / 3)

ANSWERS = {
    "11.1": {
        "wrong": [
            ("belong to float64", (1.5e-8, 1.5e-8, 6.1e-6, 3.7e-11)),
            ("exchanged the pairs", (4.9e-3, 2.4e-5, 3.5e-4, 3.5e-4)),
            ("central quotient are exchanged", (3.5e-4, 3.5e-4, 2.4e-5, 4.9e-3)),
            ("is not its step", (3.5e-4, 3.5e-4, 4.9e-3, 4.9e-3)),
            ("All four are the square root", (3.5e-4, 3.5e-4, 3.5e-4, 3.5e-4)),
            ("Epsilon itself is no step", (1.2e-7, 1.2e-7, 4.9e-3, 2.4e-5)),
            ("4 are asked for", (3.5e-4, 4.9e-3)),
            ("entry [3]", (3.5e-4, 3.5e-4, 4.9e-3, 1e-3)),
            ("entry [2]", (3.5e-4, 3.5e-4, 1e-2, 2.4e-5)),
        ],
        "right": [
            (3.5e-4, 3.5e-4, 4.9e-3, 2.4e-5),
            [_ROOT32, _ROOT32, _CUBE32, _CUBE32**2],
            (0.00034, 0.00034, 0.0049, 0.000024),
        ],
    },
    "11.2": {
        "wrong": [
            ("one-sided", _one_sided),
            ("twice as far as h", _forgot_two),
            ("sign is turned", _turned),
            ("all entries at once", _together),
            ("One number came back", _number),
            ("in one long row", _flat),
            ("type Tensor", _as_list),
            ("changed what it was given", _in_place),
            ("skip the exercise", _by_engine),
            ("first that does not fit", _fixed_step),
            ("Is a return missing", _no_return),
            ("takes x", lambda x: x),
        ],
        "right": [_by_index, _in_place_and_back],
    },
    "11.3": {
        "wrong": [
            ("still the colleague's rule", lambda g, x: (g - g.mean()) / x.sum()),
            ("One term is missing", lambda g, x: g / x.sum()),
            ("divided by the total once more", lambda g, x: (g - (g * x).sum()) / x.sum()),
            ("same sign", lambda g, x: (g + (g * x).sum() / x.sum()) / x.sum()),
            ("sums over j", lambda g, x: (g - g * x / x.sum()) / x.sum()),
            ("once too often", lambda g, x: g - (g * x).sum() / x.sum()),
            ("does not fit", _share_transposed),
            ("skip the exercise", _share_by_engine),
            ("does not fit", lambda g, x: torch.zeros_like(g)),
            ("Is a return missing", lambda g, x: None if len(x) else g),
        ],
        "right": [_share_in_two_terms, _share_by_jacobian],
    },
    "11.4": {
        "wrong": [
            ("in which digit do they differ", ("a", "because float32 gradients are not exact")),
            ("What did it complain about", ("c", "because it wants double precision inputs")),
            ("lost the other four", ("d", "because seven digits are not enough here")),
            ("what becomes of the digits", ("b", "because the step is much too small for it")),
            ("add your reason", "b"),
            ("Say a little more", ("b", "rounding")),
            ("letters a, b, c", ("e", "none of these four is the reason")),
        ],
        "right": [
            ("b", "The difference of two nearly equal numbers has lost its digits to rounding."),
            ("(B)", "eps=1e-6 is close to the spacing of float32 numbers"),
            ("b", "the difference is only a unit or two in the last place of float32"),
            ("b", "with such a small h the subtraction cancels nearly all digits"),
        ],
    },
    "11.5": {
        "wrong": [
            ("right everywhere", lambda g, x: 3 * g * x**2),
            ("right everywhere", lambda g, x: x * x * g * 3.0),
            ("gradcheck sees it", lambda g, x: g * x**2),
            ("gradcheck sees it", lambda g, x: 3 * x**2),
            ("gradcheck sees it", lambda g, x: -3 * g * x**2),
            ("gradcheck sees it", lambda g, x: 3.01 * g * x**2),
            ("gradcheck sees it", lambda g, x: 3 * g.sum() * x**2),
            ("return a tensor", lambda g, x: None if len(x) else g),
            ("takes 1 positional argument", lambda g: 3 * g),
            ("without brackets", 3.0),
        ],
        "right": [
            lambda g, x: 3 * g * x.abs() * x,
            lambda g, x: 3 * g * g * x**2,
            lambda g, x: 3.00001 * g * x**2,
            lambda g, x: g.clamp(-1, 1) * 3 * x**2,
            lambda g, x: torch.where(x > 5, 0 * g, 3 * g * x**2),
            lambda g, x: g * (3 * x**2 + (x - 0.5) * (x - 1) * (x - 2)),
        ],
    },
    "11.6": {
        "wrong": [
            ("one-sided", _walk_one_sided),
            ("not where they were", _walk_stays),
            ("it is 2 * h", _walk_without_h),
            ("without touching it", _walk_by_backward),
            ("second number", _walk_at_moved_place),
            ("other order", _walk_swapped),
            ("first number", _walk_twice_predicted),
            ("Both numbers come from backward", _walk_honest_twice),
            ("without their directions", _walk_unweighted),
            ("Only the first parameter", _walk_first_only),
            ("leaf", _walk_needs_no_grad),
            ("a pair of numbers", _walk_one_number),
            ("a pair of numbers", lambda loss, parameters, directions, h: None if h else 0),
        ],
        "right": [_walk, _walk_by_data],
    },
}
