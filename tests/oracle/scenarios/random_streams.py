"""See that a seed gives the same random numbers in both libraries."""

from __future__ import annotations

from .tools import Family, graph

family = Family()


def _fill(name, *arguments, **options):
    """Give a call that fills a fresh tensor, of the shape and type in the options."""

    def fill(torch):
        shape = options.get("shape", (7,))
        tensor = torch.empty(shape, dtype=getattr(torch, options.get("dtype", "float32")))
        return getattr(tensor, name)(*arguments)

    return fill


DRAWS = {
    "rand": lambda t: t.rand(5),
    "rand of two dimensions": lambda t: t.rand(2, 3),
    "rand, float64": lambda t: t.rand(4, dtype=t.float64),
    "rand, float16": lambda t: t.rand(4, dtype=t.float16),
    "randn, few": lambda t: t.randn(5),
    "randn, 15": lambda t: t.randn(15),
    "randn, 16": lambda t: t.randn(16),
    "randn, 20": lambda t: t.randn(4, 5),
    "randn, 100": lambda t: t.randn(100),
    "randn, float64, few": lambda t: t.randn(4, dtype=t.float64),
    "randn, float64, many": lambda t: t.randn(40, dtype=t.float64),
    "randint": lambda t: t.randint(0, 10, (8,)),
    "randint, high": lambda t: t.randint(7, (3, 2)),
    "randint, negative": lambda t: t.randint(-5, 2, (6,), dtype=t.int8),
    "randint, floats": lambda t: t.randint(0, 9, (4,), dtype=t.float32),
    "randint, wide": lambda t: t.randint(0, 2**40, (4,)),
    "randint, at the limit": lambda t: (t.randint(0, 2**28 - 1, (2,)), t.randint(0, 2**28, (2,))),
    "randperm": lambda t: t.randperm(12),
    "randperm of nothing": lambda t: (t.randperm(0), t.randperm(1)),
    "randperm, int32": lambda t: t.randperm(5, dtype=t.int32),
    "rand_like": lambda t: t.rand_like(t.zeros(2, 2)),
    "rand_like, transposed": lambda t: t.rand_like(t.zeros(2, 3).t()),
    "randn_like": lambda t: t.randn_like(t.zeros(3)),
    "randn_like, transposed": lambda t: t.randn_like(t.zeros(5, 4).t()),
    "uniform_": _fill("uniform_", -0.3, 0.7),
    "uniform_, float64": _fill("uniform_", -2, 3, dtype="float64"),
    "normal_": _fill("normal_", 2.0, 0.3),
    "normal_, many": _fill("normal_", 2.0, 0.3, shape=(5, 7)),
    "random_": _fill("random_", dtype="int64"),
    "random_, bytes": _fill("random_", dtype="uint8"),
    "random_, booleans": _fill("random_", dtype="bool"),
    "random_, floats": _fill("random_"),
    "random_, float64": _fill("random_", dtype="float64"),
    "random_, to": _fill("random_", 5, dtype="int64"),
    "random_, from and to": _fill("random_", -3, 5, dtype="int32"),
    "bernoulli_": _fill("bernoulli_", 0.3, shape=(20,)),
    "bernoulli_, tensor": lambda t: t.empty(4).bernoulli_(t.tensor([0.1, 0.4, 0.6, 0.9])),
    "bernoulli": lambda t: t.bernoulli(t.full((9,), 0.4)),
    "bernoulli, float64": lambda t: t.bernoulli(t.full((9,), 0.4, dtype=t.float64)),
    "bernoulli, p": lambda t: t.bernoulli(t.zeros(9), 0.4),
    "multinomial": lambda t: t.multinomial(t.tensor([0.1, 0.2, 0.3, 0.4]), 2),
    "multinomial, one": lambda t: t.multinomial(t.tensor([[0.1, 0.9], [3.0, 1.0]]), 1),
    "multinomial, again and again": lambda t: t.multinomial(
        t.tensor([[0.1, 0.2, 0.7], [5.0, 1.0, 0.0]]), 6, replacement=True
    ),
    "normal": lambda t: t.normal(t.tensor([0.0, 10.0]), t.tensor([1.0, 2.0])),
    "normal of means": lambda t: t.normal(t.arange(20.0)),
    "normal of deviations": lambda t: t.normal(0.5, t.arange(1.0, 4.0)),
    "normal of a size": lambda t: t.normal(0.5, 2.0, (3,)),
    "normal of a tensor's number": lambda t: t.normal(t.tensor(1), t.tensor(2.0), (3,)),
    "dropout": lambda t: t.nn.functional.dropout(t.ones(10), 0.25),
    "dropout, transposed": lambda t: t.nn.functional.dropout(t.ones(3, 4, 2).permute(2, 0, 1), 0.5),
    "Linear": lambda t: t.nn.Linear(3, 2).weight.detach(),
    "kaiming": lambda t: t.nn.init.kaiming_normal_(t.empty(3, 6)),
    "xavier": lambda t: t.nn.init.xavier_uniform_(t.empty(3, 2)),
}


def _add(name, draw):
    def scenario(torch, log):
        for seed in (0, 2**40 + 7):
            torch.manual_seed(seed)
            log("first", draw(torch))
            log("second", draw(torch))
            log("after", torch.rand(1))

    scenario.__doc__ = f"Seeded numbers of {name}, and that as many bits were used up."
    family.add(name, scenario)


for _name, _draw in DRAWS.items():
    _add(_name, _draw)


@family
def in_the_graph(torch, log):
    """Numbers drawn into a tensor of the graph let no gradient pass."""
    x = torch.ones(3, requires_grad=True)
    for name in ("uniform_", "normal_", "random_", "bernoulli_"):
        torch.manual_seed(0)
        y = getattr((x * 2).clone(), name)()
        log(name, graph(y), torch.autograd.grad(y.sum(), x))
    log("bernoulli", graph(torch.bernoulli(x / 2)))
    log.raises("leaf", lambda: x.uniform_())
    view = torch.zeros(2, 4)
    torch.manual_seed(0)
    view[:, ::2].uniform_()
    log("part", view, view._version)


@family
def errors(torch, log):
    """Bounds, probabilities and types that cannot be."""
    empty, whole = torch.empty(2), torch.empty(2, dtype=torch.int64)
    log.raises("uniform_ of integers", lambda: whole.uniform_())
    log.raises("normal_ of integers", lambda: whole.normal_())
    log.raises("uniform_", lambda: empty.uniform_(2, 1))
    log.raises("normal_", lambda: empty.normal_(0, -1))
    log.raises("bernoulli_", lambda: empty.bernoulli_(2))
    log.raises("bernoulli", lambda: torch.bernoulli(torch.tensor([2.0])))
    log.raises("bernoulli of integers", lambda: torch.bernoulli(torch.tensor([1, 0])))
    log.raises("random_", lambda: empty.random_(0))
    log.raises("random_, from", lambda: empty.random_(5, 2))
    log.raises("random_, bytes", lambda: torch.empty(2, dtype=torch.int8).random_(0, 300))
    log.raises("randint", lambda: torch.randint(5, 5, (2,)))
    log.raises("randint, bytes", lambda: torch.randint(0, 300, (2,), dtype=torch.uint8))
    log.raises("negative weight", lambda: torch.multinomial(torch.tensor([-1.0, 2.0]), 1))
    log.raises("no weight", lambda: torch.multinomial(torch.tensor([0.0, 0.0]), 1))
    log.raises("too many", lambda: torch.multinomial(torch.tensor([1.0, 2.0]), 3))
    log.raises("no samples", lambda: torch.multinomial(torch.tensor([1.0, 2.0]), 0))
    log.raises("no vector", lambda: torch.multinomial(torch.tensor(1.0), 1))
    log.raises("integers", lambda: torch.multinomial(torch.tensor([1, 0]), 1))
    log.raises("randperm", lambda: torch.randperm(-1))
    log.raises("randperm, bytes", lambda: torch.randperm(300, dtype=torch.uint8))
    log.raises("rand of integers", lambda: torch.rand(2, dtype=torch.int64))
    log.raises("randn of integers", lambda: torch.randn(2, dtype=torch.int64))
    log.raises("normal", lambda: torch.normal(0.0, -1.0, (2,)))
