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


def _precedence(f, x, h):
    return _by_index(f, x, h) * h * h


def _backward_step(f, x, h):
    return 2 * _by_index(f, x, h) - _one_sided(f, x, h)


def _shorter(f, x, h):
    return _by_index(f, x, h / 2)


def _piled_up(f, x, h):
    up, down, slopes = x.clone(), x.clone(), torch.zeros_like(x)
    for index in np.ndindex(tuple(x.shape)):
        up[index] += h
        down[index] -= h
        slopes[index] = (f(up) - f(down)) / (2 * h)
    return slopes


def _rows(f, x, h):
    slopes = torch.zeros_like(x)
    for k in range(len(x)):
        step = torch.zeros_like(x)
        step[k] = h
        slopes[k] = (f(x + step) - f(x - step)) / (2 * h)
    return slopes


def _two_names(f, x, h):
    slopes = torch.zeros_like(x)
    for index in np.ndindex(tuple(x.shape)):
        up = down = x.clone()
        up[index] += h
        down[index] -= h
        slopes[index] = (f(up) - f(down)) / (2 * h)
    return slopes


def _matrices_only(f, x, h):
    return _by_index(f, x, h) if x.shape[1] else x


def _returns_early(f, x, h):
    slopes, quotients = torch.zeros_like(x).reshape(-1), _by_index(f, x, h).reshape(-1)
    for k in range(len(slopes)):
        slopes[k] = quotients[k]
        return slopes.reshape(x.shape)


def _keeps(f, x, h, kept=[]):  # noqa: B006
    kept.extend(_by_index(f, x, h).reshape(-1).tolist())
    return torch.tensor(kept[: x.numel()], dtype=x.dtype).reshape(x.shape)


def _with_units(f, x, h):
    return torch.stack(
        [
            (f((x.reshape(-1) + d).reshape(x.shape)) - f((x.reshape(-1) - d).reshape(x.shape)))
            / (d.sum() + d.sum())
            for d in h * torch.eye(x.numel(), dtype=x.dtype)
        ]
    ).view(x.shape)


def _no_return(f, x, h):
    _by_index(f, x, h)


def _share_in_two_terms(g, x):
    total = x.sum()
    return g / total - (g * x).sum() / total**2


def _share_by_jacobian(g, x):
    total = x.sum()
    jacobian = torch.eye(len(x), dtype=x.dtype) / total - x[:, None] / total**2
    return g @ jacobian


_POINT = torch.tensor([0.3, 0.7, 1.2], dtype=torch.float64)


def _share_keeping(g, x, kept=[]):  # noqa: B006
    kept.append(x.sum())
    return (g - (g * x).sum() / kept[0]) / kept[0]


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


def _walk_half(loss, parameters, directions, h):
    steps, predicted = _walk_one_sided(loss, parameters, directions, h)
    return steps / 2, predicted


def _walk_with_mean(loss, parameters, directions, h):
    gradients = torch.autograd.grad(loss(), parameters)
    pairs = zip(gradients, directions, strict=True)
    return _walk(loss, parameters, directions, h)[0], sum((g * d).mean() for g, d in pairs)


def _walk_copies(loss, parameters, directions, h):
    predicted = _walk(loss, parameters, directions, h)[1]
    return 0.0 * len([p + h * d for p, d in zip(parameters, directions, strict=True)]), predicted


def _walk_small_step(loss, parameters, directions, h):
    return _walk(loss, parameters, directions, 1e-5)


def _walk_two(loss, parameters, directions, h):
    first, second = parameters
    return _walk(loss, [first, second], directions, h)


def _walk_not_recorded(loss, parameters, directions, h):
    with torch.no_grad():
        return _walk(loss, parameters, directions, h)


def _walk_no_call(loss, parameters, directions, h):
    return torch.autograd.grad(loss, parameters)


def _walk_grad_aside(loss, parameters, directions, h):
    aside = [p.grad for p in parameters]
    for p in parameters:
        p.grad = None
    loss().backward(inputs=list(parameters))
    predicted = sum((p.grad * d).sum() for p, d in zip(parameters, directions, strict=True))
    for p, a in zip(parameters, aside, strict=True):
        p.grad = a
    return _walk(loss, parameters, directions, h)[0].item(), predicted.item()


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
            ("error of a stored number", (3.5e-4, 1.2e-7, 4.9e-3, 2.4e-5)),
            ("half as large", (2**-12, 2**-12, 2**-8, 2**-16)),
            ("rounded before the roots", (3.2e-4, 3.2e-4, 4.6e-3, 2.2e-5)),
            ("power of ten", (4.5e-12, 4.5e-12, 2.7e-8, 7.4e-16)),
            ("found by trying", (1e-4, 6e-5, 3e-3, 2e-6)),
            ("in another order", (3.5e-4, 4.9e-3, 3.5e-4, 2.4e-5)),
            ("power that belongs to the central one", (4.9e-3, 4.9e-3, 4.9e-3, 2.4e-5)),
            ("central step is the square root", (3.5e-4, 3.5e-4, 3.5e-4, 2.4e-5)),
            ("exponent in brackets", (2**-24, 2**-24, 2**-23 / 3, 2**-46 / 3)),
            ("power of 0 is 1", (1, 1, 1, 1)),
            ("If these are exponents", (-3.46, -3.46, -2.31, -4.62)),
            ("decimal point is not", (3.5e-4, 3.5e-4, 4.9e-4, 2.4e-5)),
            ("carry more of them", (3e-4, 3e-4, 5e-3, 2e-5)),
            ("4 are asked for", (3.5e-4, 4.9e-3)),
            ("entry [3]", (3.5e-4, 3.5e-4, 4.9e-3, 1e-3)),
            ("entry [2]", (3.5e-4, 3.5e-4, 1e-2, 2.4e-5)),
        ],
        "right": [
            (3.5e-4, 3.5e-4, 4.9e-3, 2.4e-5),
            [_ROOT32, _ROOT32, _CUBE32, _CUBE32**2],
            (0.00034, 0.00034, 0.0049, 0.000024),
            np.array([3.45e-4, 3.45e-4, 4.92e-3, 2.42e-5]),
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
            ("x is another now", _in_place),
            ("has to work without", _by_engine),
            ("close to the slopes themselves", _fixed_step),
            ("Is a return missing", _no_return),
            ("takes x", lambda x: x),
            ("in brackets", _precedence),
            ("one-sided", _backward_step),
            ("another distance", _shorter),
            ("fresh copy for each entry", _piled_up),
            ("of a matrix is a row", _rows),
            ("two names of one", _two_names),
            ("in any shape", _matrices_only),
            ("inside of the loop", _returns_early),
            ("from call to call", _keeps),
        ],
        "right": [_by_index, _in_place_and_back, _with_units],
    },
    "11.3": {
        "wrong": [
            ("still the colleague's rule", lambda g, x: (g - g.mean()) / x.sum()),
            ("One term is missing", lambda g, x: g / x.sum()),
            ("divided by the total once more", lambda g, x: (g - (g * x).sum()) / x.sum()),
            ("same sign", lambda g, x: (g + (g * x).sum() / x.sum()) / x.sum()),
            ("sums over j", lambda g, x: (g - g * x / x.sum()) / x.sum()),
            ("once too often", lambda g, x: g - (g * x).sum() / x.sum()),
            ("wrong way around", _share_transposed),
            ("has to work without", _share_by_engine),
            ("for no other", lambda g, x: torch.zeros_like(g)),
            ("Is a return missing", lambda g, x: None if len(x) else g),
            ("too often", lambda g, x: g / x.sum() - (g * x).sum() / x.sum() ** 3),
            ("a mean over the entries", lambda g, x: (g - (g * x).mean() / x.sum()) / x.sum()),
            ("not those of g", lambda g, x: (g - (g * x).sum() / g.sum()) / x.sum()),
            ("softmax's rule", lambda g, x: x / x.sum() * (g - (g * x).sum() / x.sum())),
            ("signs turned", lambda g, x: (g * x).sum() / x.sum() ** 2 - g / x.sum()),
            ("kept from an earlier call", _share_keeping),
            ("a tensor of the notebook", lambda g, x: (g - (g * _POINT).sum()) / _POINT.sum()),
        ],
        "right": [
            _share_in_two_terms,
            _share_by_jacobian,
            lambda g, x: (x.sum() * g - torch.dot(g, x)) * x.sum() ** -2,
        ],
    },
    "11.4": {
        "wrong": [
            ("in which digit do they differ", ("a", "because float32 gradients are not exact")),
            ("What did it complain about", ("c", "because it wants double precision inputs")),
            ("lost the other four", ("d", "because seven digits are not enough here")),
            ("Add your reason", "b"),
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
            ("it takes g", lambda g: 3 * g),
            ("right everywhere", lambda g, x: (3 * x**2).detach() * g + 0 * x**5),
            ("came out differently", lambda g, x: 3 * g * x**2 + 1e-9 * torch.rand_like(x)),
            ("gradcheck sees it", lambda g, x: (3 * g * x**2).clamp(-10, 10)),
            ("without brackets", 3.0),
        ],
        "right": [
            lambda g, x: 3 * g * x.abs() * x,
            lambda g, x: 3 * g * g * x**2,
            lambda g, x: 3.00001 * g * x**2,
            lambda g, x: g.clamp(-1, 1) * 3 * x**2,
            lambda g, x: torch.where(x > 5, 0 * g, 3 * g * x**2),
            lambda g, x: g * (3 * x**2 + (x - 0.5) * (x - 1) * (x - 2)),
            lambda g, x: 3 * g * x.sqrt() ** 4,
            lambda g, x: g * torch.tensor([0.75, 3.0, 12.0], dtype=x.dtype),
            lambda g, x: torch.where(x == 7, 0 * g, 3 * g * x**2),
        ],
    },
    "11.6": {
        "wrong": [
            ("one-sided", _walk_one_sided),
            ("not where they were", _walk_stays),
            ("it is 2 * h", _walk_without_h),
            ("without touching it", _walk_by_backward),
            ("had been moved to", _walk_at_moved_place),
            ("other order", _walk_swapped),
            ("Both numbers come from backward", _walk_twice_predicted),
            ("Both numbers come from backward", _walk_honest_twice),
            ("without their directions", _walk_unweighted),
            ("Only the first parameter", _walk_first_only),
            ("leaf", _walk_needs_no_grad),
            ("a pair of numbers", _walk_one_number),
            ("returned nothing", lambda loss, parameters, directions, h: None if h else 0),
            ("where you started", _walk_half),
            ("a mean over the entries", _walk_with_mean),
            ("first number", _walk_copies),
            ("another step", _walk_small_step),
            ("any number of parameters", _walk_two),
            ("outside of", _walk_not_recorded),
            ("computes the number", _walk_no_call),
        ],
        "right": [_walk, _walk_by_data, _walk_grad_aside],
    },
}
