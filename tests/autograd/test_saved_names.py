"""What nodes show of what they saved, and how they hang together, is what PyTorch's nodes show."""

import math

import pytest

import minigrad

torch = pytest.importorskip("torch")


def leaf(t, *shape):
    return t.linspace(-1.0, 2.0, math.prod(shape)).reshape(shape).requires_grad_()


def layer(make, *shape):
    def program(t):
        module = make(t.nn)
        for parameter in module.parameters():
            values = t.linspace(-0.5, 0.7, parameter.numel())
            parameter.data.copy_(values.reshape(parameter.shape))
        return module(leaf(t, *shape))

    return program


PROGRAMS = {
    "linear": layer(lambda nn: nn.Linear(3, 2), 2, 3),
    "linear without bias": layer(lambda nn: nn.Linear(3, 2, bias=False), 4, 2, 3),
    "linear, turned": lambda t: t.nn.functional.linear(
        leaf(t, 3, 2, 4).transpose(0, 1), leaf(t, 2, 4), leaf(t, 2)
    ),
    "product with a constant": lambda t: leaf(t, 2, 3) @ t.ones(3, 4),
    "constant bias": lambda t: t.addmm(t.ones(4), t.ones(2, 3), leaf(t, 3, 4)),
    "convolution": layer(lambda nn: nn.Conv2d(2, 4, 3, stride=2, padding=1), 2, 2, 5, 5),
    "convolution without bias": layer(lambda nn: nn.Conv1d(2, 3, 3, bias=False), 2, 2, 5),
    "transposed convolution": layer(lambda nn: nn.ConvTranspose2d(2, 3, 3), 2, 2, 4, 4),
    "mean": layer(lambda nn: nn.AvgPool2d(2, 2, ceil_mode=True), 2, 3, 5, 5),
    "a part": lambda t: leaf(t, 2, 3)[1, 1:].unsqueeze(1).softmax(1).sum(1),
    "transposed": lambda t: leaf(t, 2, 3, 4).transpose(1, 2).mean(2),
    "rolled": lambda t: leaf(t, 2, 3).roll(1, 1),
    "chosen": lambda t: leaf(t, 2, 3).log_softmax(1)[:, ::2],
    "bent": lambda t: t.nn.functional.selu(leaf(t, 3)),
}


def value(found):
    if hasattr(found, "dtype"):
        numbers = found.detach().reshape(-1)[:8].tolist() if found.numel() < 500 else []
        return tuple(found.shape), pytest.approx(numbers, rel=1e-4, abs=1e-5)
    return found


def told(program, t):
    """Tell of each node, once: its name, whom it leads to, and what it shows."""
    places, nodes, found = {}, [program(t).grad_fn], []
    for node in nodes:
        leads = [(each and type(each).__name__, number) for each, number in node.next_functions]
        names = [name for name in dir(node) if name.startswith("_saved_")]
        found.append((type(node).__name__, leads, {name: getattr(node, name) for name in names}))
        for each, _ in node.next_functions:
            if each is not None and places.setdefault(each, len(places)) == len(places) - 1:
                nodes.append(each)
    return [
        (name, leads, {key: value(each) for key, each in saved.items()})
        for name, leads, saved in found
    ]


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_nodes_show_what_pytorchs_show(program):
    ours, theirs = told(program, minigrad), told(program, torch)
    assert [node[:2] for node in ours] == [node[:2] for node in theirs]
    for (name, _, mine), (_, _, wanted) in zip(ours, theirs, strict=True):
        less = ("sym_sizes", "sym_strides", "numel", "sizes_opt")  # which minigrad's rules need not
        needed = [key for key in wanted if key in mine or not key.endswith(less)]
        assert list(mine) == needed, name
        for key, found in mine.items():
            if isinstance(found, tuple) and len(found) == 2 and hasattr(found[1], "expected"):
                found = (found[0], found[1].expected)
            if key != "_saved_other":  # a number beside a tensor has another dtype there
                assert found == wanted[key], f"{name}.{key}"
