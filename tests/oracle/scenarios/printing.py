"""See how tensors, parameters, dtypes, sizes and modules are printed."""

from __future__ import annotations

from .tools import Family, linear

family = Family()


def show(log, torch, values, **options):
    """Write down the printed form of some numbers."""
    tensor = torch.tensor(values, **options)
    log(str(values)[:60], repr(tensor), str(tensor) == repr(tensor))


@family
def numbers(torch, log):
    """Floats: whole, fractional, large, small, mixed, special."""
    for values in (
        1.0,
        0.1,
        -2.5,
        [1.0, 2.0, 3.0],
        [1.0, -2.0],
        [0.5, 1.25, -3.0],
        [0.1, 22.5, 333.0],
        [1000.0, 2000.5],
        [10000.0, 0.5],
        [100000.0, 1.5],
        [123456.0, 2.0],
        [1e8, 1.0],
        [1e10],
        [1e-3, 1.0],
        [1e-4, 1.0],
        [1e-5, 1.0],
        [1e-5],
        [0.001],
        [0.0001],
        [0.00012345, 0.5],
        [123.456789, 0.001],
        [1.5e-7, 2.5e-7],
        [float("nan"), 1.0],
        [float("inf"), -1.5],
        [float("-inf"), float("nan")],
        [float("inf"), 2.0],
        [0.0, -0.0],
        3.14159265,
        12345678.0,
        1e-10,
        [0.19, 0.276, 0.076176],
        [-0.40796, -1.0199],
        [0.99999, 1.0],
        [0.99995, 9.99995],
    ):
        show(log, torch, values)


@family
def other_dtypes(torch, log):
    """Integers, booleans, double precision: the dtype is printed where it is not the default."""
    for values in (3, [1, 2, 300], [-1, 20], [[1, 2], [-30, 4]], True, [True, False]):
        show(log, torch, values)
    for dtype in (
        torch.float64,
        torch.float16,
        torch.int32,
        torch.int64,
        torch.uint8,
        torch.bool,
        torch.float32,
    ):
        show(log, torch, [1, 0], dtype=dtype)
    show(log, torch, 0.5, dtype=torch.float64)
    show(log, torch, [0.5, 1.5], dtype=torch.float64, requires_grad=True)


@family
def shapes(torch, log):
    """Matrices, stacks, empty tensors, tensors of one entry."""
    for values in (
        [[1.0, 2.0], [3.0, 4.0]],
        [[1.5, -2.0, 3.0]],
        [[1.0], [22.25]],
        [[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]],
        [[[[1.0]]]],
        [],
        [[], []],
    ):
        show(log, torch, values)
    for shape in ((0,), (0, 3), (2, 0), (2, 1, 3)):
        log(str(shape), repr(torch.zeros(shape)))


@family
def long_ones(torch, log):
    """Long rows are broken, large tensors are shortened with dots."""
    log("30", repr(torch.arange(30)))
    log("25 floats", repr(torch.arange(25) / 4))
    log("12 wide", repr(torch.arange(12) * 1000.5))
    log("1001", repr(torch.arange(1001)))
    log("1001 floats", repr(torch.arange(1001) / 8))
    log("1000", len(repr(torch.arange(1000))))
    log("40 x 40", repr(torch.arange(1600).reshape(40, 40)))
    log("7 x 200", repr((torch.arange(1400) / 2).reshape(7, 200)))
    log("8 x 20", repr(torch.arange(160).reshape(8, 20) / 16))
    log("stack", repr(torch.zeros(10, 11, 12)))


@family
def in_the_graph(torch, log):
    """requires_grad and grad_fn at the end."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    for name, value in (
        ("leaf", x),
        ("mul", x * 2),
        ("add", x + 1),
        ("sum", x.sum()),
        ("row", x[0]),
        ("slice", x[:1]),
        ("unbind", next(iter(x))),
        ("view", x.view(2, 1)),
        ("detached", (x * 2).detach()),
        ("double", x.double()),
        ("comparison", x > 1),
        ("matmul", x.reshape(1, 2) @ x.reshape(2, 1)),
        ("matrix", x.reshape(2, 1) * x),
        ("long line", torch.stack([x.sum() * k + 0.0625 for k in range(20)])),
    ):
        log(name, repr(value), f"{value}")
    log("scalar parameter", repr(torch.nn.Parameter(torch.tensor(0.5))))


@family
def formats(torch, log):
    """Format codes apply to scalars; printing in lists and tuples uses repr."""
    x = torch.tensor(0.123456)
    log("scalar", f"{x:.3f}", f"{x.item():.4f}", f"{x}", str(x))
    log("list", str([torch.tensor([1.0]), torch.tensor(2)]))
    log("tuple", str((torch.tensor([1.0, 2.0]), None)))
    log.raises("vector", lambda: f"{torch.tensor([1.0, 2.0]):.3f}")


@family
def dtypes_and_sizes(torch, log):
    """dtypes and sizes."""
    for dtype in (
        torch.float32,
        torch.float64,
        torch.int64,
        torch.bool,
        torch.float,
        torch.double,
        torch.long,
    ):
        log("dtype", repr(dtype), str(dtype))
    log("size", repr(torch.zeros(2, 3).shape), str(torch.tensor(1.0).shape))
    log("same", torch.float is torch.float32, torch.get_default_dtype() is torch.float32)


@family
def parameters(torch, log):
    """Parameters say what they are."""
    log("parameter", repr(torch.nn.Parameter(torch.tensor([1.0, 2.0]))))
    log("frozen", repr(torch.nn.Parameter(torch.tensor([[1.0], [2.5]]), requires_grad=False)))
    layer = linear(torch, [[0.4]], [0.2])
    log(
        "weight",
        repr(layer.weight),
        repr(layer.bias),
        repr(layer.weight[0]),
        repr(layer.weight.data),
    )
    log("list", repr(list(layer.parameters())))


@family
def modules(torch, log):
    """Modules print as a tree."""
    nn = torch.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.f0 = nn.Linear(2, 3)
            self.body = nn.Sequential(
                nn.ReLU(), nn.Sequential(nn.Linear(3, 3, bias=False), nn.Tanh())
            )
            self.loss = nn.MSELoss()

    class Described(nn.Module):
        def extra_repr(self):
            return "factor=2"

    class DescribedParent(Described):
        def __init__(self):
            super().__init__()
            self.inner = nn.Sigmoid()

    for module in (
        nn.Linear(2, 3),
        nn.Linear(1, 1, bias=False),
        nn.ReLU(),
        nn.ReLU(inplace=True),
        nn.Tanh(),
        nn.Sigmoid(),
        nn.Identity(),
        nn.MSELoss(),
        nn.Sequential(),
        nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1)),
        nn.Sequential(nn.Tanh(), nn.Tanh(), nn.Tanh()),
        Net(),
        Described(),
        DescribedParent(),
        nn.Module(),
    ):
        log(type(module).__name__, repr(module))
