"""See functions of functions: grad, jacrev, jacfwd, hessian, and vmap."""

from __future__ import annotations

import importlib
import warnings

from .tools import Family, leaf

family = Family()


def tools(torch):
    """Give the library's functions, and three tensors."""
    func = importlib.import_module(f"{torch.__name__}.func")
    x = torch.tensor([1.0, 2.0, 3.0])
    with warnings.catch_warnings():  # PyTorch warns of itself when forward mode is first used
        warnings.simplefilter("ignore")
        func.jacfwd(torch.sin)(x)
    return func, x, torch.tensor(2.0), leaf(torch, (3,), 5)


def cubes(v):
    return (v**3).sum()


def product(a, b):
    return (a * b).sum()


@family
def errors_of_gradients(torch, log):
    """What grad refuses."""
    func, x, _, _ = tools(torch)
    grad = func.grad
    log.raises("no number", lambda: grad(lambda v: v)(x))
    log.raises("one entry", lambda: grad(lambda v: v[:1])(x))
    log.raises("a tuple", lambda: grad(lambda v: (v.sum(), v))(x))
    log.raises("a float", lambda: grad(lambda v: 1.0)(x))
    log.raises("no extra", lambda: grad(cubes, has_aux=True)(x))
    log.raises("no tensor", lambda: grad(lambda v: v * 2)(1.0))
    log.raises("integers", lambda: grad(lambda v: v.sum())(torch.tensor([1, 2])))
    log.raises("in place", lambda: grad(lambda v: v.mul_(2).sum())(x))


@family
def matrices(torch, log):
    """jacrev, jacfwd and hessian, and what they refuse."""
    func, x, s, _ = tools(torch)
    for name in ("jacrev", "jacfwd"):
        jacobian = getattr(func, name)
        log(name, jacobian(lambda v: v**2)(x))
        log(f"{name} of several", jacobian(lambda v: (v.sum(), {"twice": v * 2}))(x))
        log(f"{name} argnums", jacobian(lambda a, b: a * b, argnums=(0, 1))(x, x))
        log(f"{name} container", jacobian(lambda p: p["a"] * 2)({"a": x}))
        log(f"{name} extra", jacobian(lambda v: (v * 2, v), has_aux=True)(x))
        log(f"{name} of a constant", jacobian(lambda v: torch.ones(2))(x))
        log(f"{name} of a matrix", jacobian(lambda v: v.view(1, 3).expand(2, 3))(x))
        log.raises(f"{name}, a float", lambda jacobian=jacobian: jacobian(lambda v: 1.0)(x))
    log("hessian", func.hessian(cubes)(x))
    log("hessian argnums", func.hessian(product, argnums=(0, 1))(s, s))
    log("twice", func.jacrev(func.jacrev(cubes))(x))


@family
def batches(torch, log):
    """Vmap: dimensions in and out, containers, derivatives of each example."""
    func, _, s, g = tools(torch)
    m = torch.arange(6.0).view(2, 3)
    vmap = func.vmap
    log("the same function", vmap is torch.vmap)
    log("sums", vmap(lambda v: v.sum())(m), vmap(lambda v: v.sum(), in_dims=1)(m))
    log("dot", vmap(torch.dot)(m, m), vmap(torch.mul, in_dims=(0, None))(m, s))
    log("out", vmap(lambda v: v * 2, out_dims=1)(m), vmap(lambda v: v, in_dims=-1)(m))
    log("two outs", vmap(lambda v: (v, v), out_dims=(0, 1))(m))
    log("containers", vmap(lambda v: {"sum": v.sum(), "all": [v]})(m))
    log(
        "nested dims",
        vmap(lambda p: p["a"] + p["b"], in_dims=({"a": 0, "b": None},))({"a": m, "b": s}),
    )
    log("each gradient", vmap(func.grad(cubes))(m))
    log("gradients for shared weights", vmap(func.grad(product), in_dims=(None, 0))(g, m))
    log("constant", vmap(lambda v: torch.ones(2))(m))
    log("nested", vmap(vmap(lambda v: v * 2))(m))
    log("keyword", vmap(lambda v, k: v * k)(m, k=m))
    log("a gradient passes", *torch.autograd.grad(vmap(cubes, in_dims=0)(g * m).sum(), g))
    log("chunks", vmap(lambda v: v, chunk_size=1)(m))


@family
def errors_of_batches(torch, log):
    """What vmap refuses."""
    func, _, s, _ = tools(torch)
    m = torch.arange(6.0).view(2, 3)
    vmap = func.vmap

    def same(v):
        return v

    log.raises("sizes", lambda: vmap(torch.mul)(m, m.t()))
    log.raises("no dims", lambda: vmap(same, in_dims=None)(m))
    log.raises("a text", lambda: vmap(same, in_dims="x")(m))
    log.raises("a list", lambda: vmap(torch.mul, in_dims=[0, 0])(m, m))
    log.raises("dim outside", lambda: vmap(same, in_dims=3)(m))
    log.raises("no dimensions", lambda: vmap(same)(s))
    log.raises("no tensor", lambda: vmap(same)(1.0))
    log.raises("gives a float", lambda: vmap(lambda v: 1.0)(m))
    log.raises("no inputs", lambda: vmap(same)())
    log.raises("out None", lambda: vmap(same, out_dims=None)(m))
    log.raises("randomness", lambda: vmap(same, randomness="x")(m))


@family
def forward_mode_where_something_is_cut_off(torch, log):
    """What `where` or a mask cuts off adds no NaN to a column, though it does to a row."""
    func = torch.func
    functions = {
        "root": lambda t: torch.where(t > 0, t.sqrt(), t),
        "logarithm": lambda t: torch.where(t > 0, t.log(), 2 * t),
        "mask": lambda t: t.log().masked_fill(t <= 0, 0.0) + t,
        "norm": lambda t: t.norm(),
        "constant": lambda t: torch.ones(2),
        "whole numbers": lambda t: (2 * t).int(),
        "nothing": lambda t: t[:0],
        "matrix": lambda t: torch.stack([t * t, t.flip(0), t**3]),
    }
    for name, function in functions.items():
        for values in ([-4.0, 2.0], [0.0, 0.0]):
            x = torch.tensor(values)
            log(name, func.jacfwd(function)(x))
            if name != "whole numbers":
                log("rows", func.jacrev(function)(x))
    log("number", func.jacfwd(functions["root"])(torch.tensor(-4.0)))
    log("Hessian of a norm at 0", func.hessian(functions["norm"])(torch.zeros(2)))
    log("Hessian", func.hessian(lambda t: functions["root"](t).prod())(torch.tensor([-4.0, 9.0])))
    pair = func.jacfwd(lambda a, b: (a.sum() * b, a), (0, 1))
    log("two of two", pair(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0, 5.0])))
    rows = func.jacrev(func.jacfwd(lambda t: (t**3).sum()))
    log("rows of columns", rows(torch.tensor([1.0, -2.0])))
