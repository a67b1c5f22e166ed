"""See operations at their edges: kinks, ties, infinities, NaN, zeros, nothing at all."""

from __future__ import annotations

from .tools import Family, leaf

family = Family()
NAN = float("nan")


@family
def kinks_of_functions(torch, log):
    """Gradients of relu, abs, clamp, maximum exactly where they have a kink."""
    for name, function in (
        ("relu", lambda x: x.relu()),
        ("abs", lambda x: x.abs()),
        ("clamp", lambda x: x.clamp(0.0, 1.0)),
        ("maximum", lambda x: torch.maximum(x, torch.tensor([0.0, 0.0, 1.0]))),
        ("minimum", lambda x: torch.minimum(x, torch.tensor([0.0, 0.0, 1.0]))),
        ("sqrt", lambda x: x.sqrt()),
        ("log", lambda x: x.log()),
        ("square", lambda x: x**2),
        ("power zero", lambda x: x**0),
        ("reciprocal", lambda x: 1 / x),
        ("rsqrt", lambda x: x.rsqrt()),
    ):
        x = torch.tensor([0.0, -0.0, 1.0], requires_grad=True)
        value = function(x)
        log(name, value, torch.autograd.grad(value, x, torch.tensor([2.0, 3.0, 5.0])))


@family
def both_need_grad_at_a_tie(torch, log):
    """Where two inputs of maximum are equal each gets half."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.tensor([1.0, 3.0], requires_grad=True)
    log("maximum", torch.autograd.grad(torch.maximum(x, y), (x, y), torch.tensor([10.0, 20.0])))
    log("minimum", torch.autograd.grad(torch.minimum(x, y), (x, y), torch.tensor([10.0, 20.0])))


@family
def kinks_of_limits(torch, log):
    """Ties, NaN and zeros."""
    inf, nan = float("inf"), float("nan")
    x = torch.tensor([0.0, 1.0, 2.0, 3.0], requires_grad=True)
    low = torch.tensor([0.0, 2.0, 0.0, 4.0], requires_grad=True)
    high = torch.tensor([0.0, 3.0, 2.0, 1.0], requires_grad=True)
    for wanted, limits in (((x, low), (low, None)), ((x, high), (None, high))):
        z = torch.clamp(x, *limits)
        log("one limit", z.detach(), *torch.autograd.grad(z, wanted, torch.arange(1.0, 5.0)))
    z = torch.clamp(x * 1, low - 0.5, high[:1] + 1)
    log("broadcast", z.detach(), *torch.autograd.grad(z, (x, low, high), torch.arange(1.0, 5.0)))
    z = torch.clamp(x, low, high)
    log("clamp", z.detach(), *torch.autograd.grad(z, (x, low, high), torch.arange(1.0, 5.0)))
    x = torch.tensor([0.0, 1.0, 2.0, 3.0, nan])
    for limits in ((nan, None), (2.0, 1.0), (inf, None)):
        log("clamp", torch.clamp(x, *limits))


@family
def edges_of_tests(torch, log):
    """Infinities, NaN and zeros of both signs; shifts that are too far."""
    inf, nan = float("inf"), float("nan")
    x = torch.tensor([0.0, -0.0, inf, -inf, nan, -1.0])
    for name in ("signbit", "isnan", "isinf", "isfinite", "logical_not"):
        log(name, getattr(torch, name)(x), getattr(torch, name)(x.half()))
    log("close", torch.isclose(x, x), torch.isclose(x, x, equal_nan=True), x.isclose(-x))
    log("all close", torch.allclose(x, x), torch.allclose(x, x, equal_nan=True))
    near = torch.tensor([1.0, 1.0 + 1e-6, 1.0 + 1e-4, 100.0, 100.001])
    log("tolerance", torch.isclose(near, torch.ones(5)), near.isclose(near + 0.01, 0, 0.02))
    whole = torch.tensor([100, 101, 200])
    log("whole", torch.isclose(whole, torch.tensor([100, 100, 100]), rtol=0.01))
    log("equal", torch.equal(near, near), torch.equal(near, near[:2]), torch.equal(x, x))
    log("shifts", whole << 70, whole >> 70, -whole >> 70, whole << -1)
    log("types", whole & torch.tensor(3), whole.int() & 1, (whole > 100) & 1, whole.byte() | 1)


@family
def edges_of_rounding(torch, log):
    """Infinities, NaN, zeros of both signs and halves."""
    inf, nan = float("inf"), float("nan")
    values = [0.0, -0.0, 0.5, 1.5, 2.5, -0.5, -2.5, 1e30, inf, -inf, nan]
    x = torch.tensor(values)
    for name in ("floor", "ceil", "trunc", "round", "frac", "sgn", "nan_to_num"):
        log(name, getattr(torch, name)(x), getattr(torch, name)(x.double()))
    log("nan_to_num", torch.nan_to_num(x, 1.0, 2.0, 3.0), torch.nan_to_num(x.half()))
    for y in (1.0, -1.0, 0.0, -0.0, 2.0, -0.3, inf, -inf, nan):
        for name in ("remainder", "floor_divide"):
            log(f"{name} {y}", getattr(torch, name)(x, y))
        for mode in ("floor", "trunc"):
            log(f"div {mode} {y}", torch.div(x, torch.tensor(y), rounding_mode=mode))


@family
def whole_numbers(torch, log):
    """Signs of quotients and remainders of whole numbers."""
    x = torch.tensor([7, -7, 7, -7, 6, 0])
    y = torch.tensor([2, 2, -2, -2, 3, 5])
    log("floored", x // y, x % y)
    log("truncated", torch.div(x, y, rounding_mode="trunc"))
    for dtype in (torch.int8, torch.int32, torch.uint8):
        a, b = x.abs().to(dtype), y.abs().to(dtype)
        log("types", a // b, a % b, a // 2.0, a % 2, a // True)
    log("numbers", 7 // y, -7 % y, 7.5 % y, 7.5 // y)
    zero = torch.tensor([1, 0])
    for label, call in {
        "//": lambda: x[:2] // zero,
        "// 0": lambda: x // 0,
        "%": lambda: x[:2] % zero,
        "% 0": lambda: x % 0,
        "div floor": lambda: torch.div(x, 0, rounding_mode="floor"),
        "div trunc": lambda: torch.div(x[:2], zero, rounding_mode="trunc"),
        "//= 0": lambda: x.floor_divide_(0),
        "%= 2.5": lambda: x.remainder_(2.5),
        "//= 2.5": lambda: x.floor_divide_(2.5),
    }.items():
        log.raises(label, call)


@family
def of_zero_and_of_complex_numbers(torch, log):
    """Zero to the power of a tensor; whole powers of complex numbers."""
    exponent = torch.tensor([0.0, 1.0, 2.5, -1.0], requires_grad=True)
    for base in (0, 0.0, 2.0):
        powers = torch.pow(base, exponent)
        weights = torch.tensor([2.0, 3.0, -4.0, 5.0])
        log("power", powers, torch.autograd.grad(powers, exponent, weights))
    z = torch.tensor([1 + 2j, -2j])
    log("complex", (z**4).real, (z**5).imag)
    many = torch.complex(torch.arange(70.0) % 4, torch.arange(70.0) % 3)
    log("many", (many**4).real, (many**5).imag)


@family
def positions_of_the_largest(torch, log):
    """The first of equal ones counts, and the last NaN."""
    nan, inf = float("nan"), float("inf")
    F = torch.nn.functional
    for name, rows in (
        ("equal", [[1.0, 3.0, 0.0, 0.0], [3.0, 3.0, 0.0, 0.0]]),
        ("nan", [[1.0, nan, nan, 2.0], [nan, 3.0, 0.0, -inf]]),
        ("infinite", [[-inf, -inf, -inf, -inf], [-inf, -inf, inf, inf]]),
    ):
        x = torch.tensor([rows])
        log(name, *F.max_pool2d(x, 2, return_indices=True))
        log(f"{name}, padded", *F.max_pool2d(x, 2, padding=1, return_indices=True))
        log(f"{name}, overlapping", *F.max_pool2d(x, 2, 1, return_indices=True))
        log(f"{name}, in one dimension", *F.max_pool1d(x[0], 3, 1, return_indices=True))
        if name == "nan":
            continue
        log(f"{name}, adaptive", *F.adaptive_max_pool2d(x, (1, 3), return_indices=True))
        log(f"{name}, of a line", *F.adaptive_max_pool1d(x[0], 3, return_indices=True))


@family
def products_with_zeros(torch, log):
    """Where an entry is 0 the gradient of a product is found without dividing."""
    for row in ([2.0, 0.0, 3.0], [0.0, 0.0, 3.0], [0.0], [1.0, 2.0, 4.0]):
        for name, product in (
            ("all", lambda x: x.prod()),
            ("axis", lambda x: x.prod(0)),
            ("running", lambda x: (x.cumprod(0) * torch.arange(1.0, len(x) + 1)).sum()),
        ):
            x = torch.tensor(row, requires_grad=True)
            (grad,) = torch.autograd.grad(product(x), x, create_graph=True)
            weights = torch.arange(1.0, len(row) + 1)
            log(name, grad.detach())
            if grad.requires_grad:
                log("second", torch.autograd.grad((grad * weights).sum(), x, allow_unused=True))


@family
def medians_of_equal_numbers_and_nan(torch, log):
    """What the median of equal entries is, and what NaN does."""
    rows = torch.tensor(
        [[2.0, 1.0, 2.0, 2.0, 1.0], [1.0] * 5, [3.0, NAN, 1.0, 2.0, NAN], [NAN] * 5]
    )
    for name in ("median",):
        log(name, getattr(rows, name)(1).values)
    log("all", rows.median(), rows[1].median())
    y = torch.tensor([1.0, NAN, NAN, 3.0], requires_grad=True)
    log("of nan", torch.autograd.grad(y.median(), y))


@family
def correction(torch, log):
    """Corrections of variances, and what nothing left gives."""
    x = torch.tensor([[1.0, 5.0, 3.0], [7.0, -1.0, 0.5]])
    for each in (0, 1, 2, 1.5, -1):
        log(str(each), x.var(1, correction=each), x.std(correction=each))
    log("nan", torch.tensor([1.0, NAN]).var(), torch.tensor([1.0, float("inf")]).std())
    constant = torch.ones(3, requires_grad=True)
    log("constant", torch.autograd.grad(constant.std(), constant))


@family
def equal_entries(torch, log):
    """In which order equal entries come."""
    rows = torch.tensor(
        [[2, 1, 2, 1, 2, 1, 1, 2], [1, 1, 1, 1, 1, 1, 1, 1], [0, 3, 0, 3, 0, 1, 2, 3]]
    )
    log("sort", *rows.sort(stable=True, dim=1), *rows.sort(stable=True, dim=1, descending=True))
    for k in (1, 2, 5, 8):  # where they come from is left open, what they are is not
        log("topk", rows.topk(k).values, rows.topk(k, largest=False).values)
        log("kthvalue", rows.kthvalue(k).values)
    many = torch.arange(200) * 7 % 5
    log("many", many.topk(12).values, many.float().topk(40, largest=False).values)
    log("ranks", many.kthvalue(100).values, many.float().median(0).values)
    log("first", rows.argmax(1), rows.argmin(1), *rows.max(1), *rows.min(1))


@family
def nan(torch, log):
    """NaN is the largest, and comes first where extremes are looked for."""
    x = torch.tensor([[1.0, NAN, 3.0, NAN], [NAN, 2.0, float("inf"), -float("inf")]])
    log("sort", *x.sort(stable=True), *x.sort(stable=True, descending=True))
    log("topk", *x.topk(2), *x.topk(2, largest=False), *x.kthvalue(2))
    log("extremes", *x.max(1), *x.min(1), x.argmax(1), x.argmin(1), x.amax(1), x.amin(1))
    log("running", x.cumsum(1))
    log("tests", x.any(), x.all(1), x.count_nonzero(), x.nonzero())
    log("unique", x.unique())


@family
def arguments(torch, log):
    """The many ways to say which dimension, and nothing to look at."""
    x = torch.tensor([[1.0, 5.0, 3.0], [7.0, -1.0, 0.5]])
    log("axis", x.sum(axis=1), x.mean(axis=0, keepdims=True), x.argmax(axis=0), *x.max(axis=1))
    log("no axes", x.all(dim=None, keepdim=True), x.argmax(None, True))
    log("scalar", torch.tensor(3.0).argmax(0), torch.tensor(3.0).all(0), *torch.tensor(3).max(0))
    empty = torch.zeros(2, 0)
    log("empty", empty.sum(1), empty.prod(1), empty.all(1), empty.any(1), empty.cumsum(1))
    log("empty ranks", *empty.sort(), *empty.max(0), empty.argmax(0), *empty.median(0))
    log("empty sums", empty.logsumexp(1), empty.norm(2, 1), empty.count_nonzero(1))
    log("empty finds", empty.nonzero(), empty.unique(), empty.diff())
    log("out", torch.sum(x, 1, out=torch.zeros(2)), torch.all(x, 1, out=torch.zeros(2) > 0))


@family
def named_results(torch, log):
    """Results have names, and print under the name of their function."""
    x = leaf(torch, (2, 3), 3)
    for result in (
        x.sort(),
        x.topk(1),
        x.kthvalue(1),
        x.max(1),
        x.min(0),
    ):
        log(type(result).__name__, repr(result), result.values, result.indices)
    values, indices = torch.zeros(2), torch.zeros(2, dtype=torch.int64)
    y = x.detach()
    log("out", *torch.max(y, 1, out=(values, indices)), values, indices)
    log("out", *torch.kthvalue(y, 1, out=(values, indices)), values)
    log("out", torch.cumsum(y, 0, out=torch.zeros(2, 3)), torch.amax(y, 1, out=values))
    log.raises("gradient", lambda: torch.sort(x, out=(torch.zeros(2, 3), torch.zeros(2, 3).long())))


@family
def ties(torch, log):
    """The gradient of max over all entries is shared among equal ones; along an axis it is not."""
    x = torch.tensor([2.0, 5.0, 5.0], requires_grad=True)
    log("all", torch.autograd.grad(x.max(), x))
    log("axis", torch.autograd.grad(x.max(dim=0).values, x))


@family
def halves_whose_squares_are_too_large(torch, log):
    """Squares and sums on the way are float32, where only the result has to fit."""
    x = (torch.tensor([[3.0, -4.0], [1.0, 2.0]]) * 100).half().requires_grad_()
    F = torch.nn.functional
    for name, call in (
        ("norm", lambda: x.norm()),
        ("small", lambda: torch.linalg.vector_norm(x / 1000, 20, 1)),
        ("mean", lambda: (x * 150).mean()),
        ("mean of rows", lambda: (x.abs() * 150).mean(1)),
        ("unit", lambda: F.normalize(x)),
        ("cosine", lambda: F.cosine_similarity(x, x.flip(0))),
        ("attention", lambda: F.scaled_dot_product_attention(x, x, x)),
        ("heads", lambda: F.scaled_dot_product_attention(*[x.view(1, 1, 2, 2)] * 3)),
    ):
        y = call()
        (gradient,) = torch.autograd.grad(y.sum(), x)
        near = [torch.round(each.detach().float(), decimals=1) for each in (y, gradient)]
        log(name, y.dtype, *near)


@family
def numbers_of_the_edge(torch, log):
    """Infinities, NaN, zeros of both signs, and steps of tensors with few entries."""
    odd = torch.tensor([float("inf"), float("nan"), 0.0, -0.0])

    log("relu", torch.relu(odd[2:]), torch.relu(odd[2:].double()), torch.relu(odd[2:].half()))
    log("relu_", odd[2:].clone().relu_())
    for sizes in ((0,), (2, 0, 3), (0, 0), (1, 0), (0, 3)):
        log(f"stride {sizes}", torch.zeros(sizes).stride())
    m = torch.zeros(4, 5)
    for part in (m[None], m[:, None], m[:1], m[:, :1], m[:1].t(), m[::4], m.view(1, 20)):
        log("stride", part.stride(), part.is_contiguous())
    log("expanded", torch.zeros(5).expand(1, 5).stride(), torch.zeros(1, 5).expand(4, 5).stride())
    log("powers", torch.tensor([True, False]) ** True, torch.tensor([1, 2]) ** True)
    log("var", torch.ones(2, 3).var(()))


def parts(result):
    """Give one result or several as a tuple."""
    return tuple(result) if isinstance(result, tuple) else (result,)


@family
def nothing_in_them(torch, log):
    """Matrices without entries."""
    none, flat = torch.zeros(0, 0), torch.zeros(0, 3)
    batch = torch.zeros(0, 2, 2)
    L = torch.linalg
    for name, function in (
        ("inv", L.inv), ("det", L.det),
        ("eigh", L.eigh), ("svd", L.svd), ("qr", L.qr),
    ):  # fmt: skip
        log(name, *parts(function(none)), *parts(function(batch)))
    for name, function in (("svd", L.svd), ("qr", L.qr)):
        log(f"{name}, flat", *parts(function(flat)))
    log("solve", L.solve(none, none))


@family
def corners_of_matrices(torch, log):
    """Wide and tall matrices, a weight of one row, zeros in norms, few entries."""
    for sizes in ((2, 3), (3, 2)):
        matrix = torch.tensor([0.5, -2.0, 1.5, 3.0, 0.25, -1.0]).reshape(sizes).requires_grad_()
        inverse = torch.linalg.pinv(matrix)
        weights = torch.arange(6.0).reshape(inverse.shape)
        log("pinv", inverse, torch.autograd.grad(inverse, matrix, weights))
    x, weight, bias = torch.tensor([1.0, 2.0]), torch.tensor([3.0, -1.0]), torch.tensor(0.5)
    log("linear", torch.nn.functional.linear(x, weight, bias))
    for order in (0.5, 2.5):
        entries = torch.tensor([0.0, 4.0, -1.0], requires_grad=True)
        norm = torch.linalg.vector_norm(entries, order)
        log("norm", norm, torch.autograd.grad(norm, entries))
    for values, correction in (([2.0], 1), ([2.0, 2.0], 2)):
        entries = torch.tensor(values, requires_grad=True)
        log("variance", torch.autograd.grad(entries.var(correction=correction), entries))


@family
def of_nothing(torch, log):
    """A batch without samples gives one, too."""
    x, w = torch.zeros(0, 2, 3, 3), leaf(torch, (1, 2, 2, 2), 2)
    y = torch.nn.functional.conv2d(x, w)
    log("value", y)
    y.sum().backward()
    log("gradient", w.grad)
    F = torch.nn.functional
    for name, call in (
        ("strides", lambda x: F.conv2d(x, torch.ones(4, 2, 2, 2), stride=2, groups=2)),
        ("spread", lambda x: F.conv_transpose2d(x, torch.ones(4, 2, 2, 2), stride=2)),
        ("largest parts", lambda x: F.adaptive_max_pool2d(x, 2)),
        ("flat", lambda x: x.flatten(1)),
        ("layer", lambda x: torch.nn.Linear(64, 2)(torch.nn.Flatten()(x))),
    ):
        x = torch.zeros(0, 4, 4, 4, requires_grad=True)
        y = call(x)
        y.sum().backward()
        log(name, y.shape, x.grad.shape)


@family
def old_arguments(torch, log):
    """size_average and reduce warn, and kl_div warns of its mean."""
    f = torch.nn.functional
    x, y = torch.tensor([0.5, 0.25]), torch.tensor([1.0, 0.0])
    log("size_average", f.smooth_l1_loss(x, y, size_average=False))
    log("reduce", f.binary_cross_entropy(x, y, reduce=False))
    log("mean of kl_div", f.kl_div(x, y))
    log("module", torch.nn.BCELoss(size_average=True).reduction)


@family
def softmax_without_an_axis(torch, log):
    """F.softmax without dim warns and chooses."""
    log("vector", torch.nn.functional.softmax(torch.tensor([1.0, 2.0])))
    log("matrix", torch.nn.functional.softmax(torch.tensor([[1.0, 2.0]])))


@family
def ends_of_logarithms(torch, log):
    """Values and gradients at infinities, NaN and 0."""
    inf, nan = float("inf"), float("nan")
    for name in ("exp2", "log2", "log10"):
        x = torch.tensor([0.0, -0.0, 1.0, -1.0, inf, -inf, nan, 1e30], requires_grad=True)
        y = getattr(torch, name)(x)
        log(name, y, *torch.autograd.grad(y, x, torch.ones_like(y)))
    x = torch.tensor([0.0, 1.0, 0.5, -1.0, 2.0, nan], requires_grad=True)
    for eps in (None, 0.25):
        y = torch.logit(x, eps)
        log(f"logit {eps}", y, *torch.autograd.grad(y, x, torch.ones_like(y)))
    for name in ("xlogy",):
        x = torch.tensor([0.0, 0.0, 0.0, 1.0, inf, -inf, inf, nan], requires_grad=True)
        y = torch.tensor([0.0, nan, -1.0, 0.0, inf, -inf, -inf, 1.0], requires_grad=True)
        z = getattr(torch, name)(x, y)
        log(name, z, *torch.autograd.grad(z, (x, y), torch.ones_like(z)))
