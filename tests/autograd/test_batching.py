"""A batch in one pass: `vmap` and Jacobians give at once what they give one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from minigrad.func import grad, hessian, jacrev, vmap

import minigrad as torch
from minigrad.extra.batching import BatchedArray, NotBatched

F: Any = torch.nn.functional
torch.manual_seed(0)
rows, weight, few = torch.randn(4, 5), torch.randn(5, 5), torch.randn(3, 5)
target = torch.tensor([2])

AT_ONCE = {
    "entries": lambda v: (v.sin() * 2 - v.abs().sqrt()) / (v * v + 1) + F.gelu(v) * v.sigmoid(),
    "layers": lambda v: F.linear(torch.tanh(F.linear(v[None], few, few[:, 0])), few.T),
    "vectors": lambda v: (weight @ v) * (v @ weight) + v.dot(v) * (torch.outer(v, v) @ v),
    "likelihood": lambda v: F.cross_entropy(F.linear(v, few)[None], target) + v.logsumexp(0),
    "reduced": lambda v: v.softmax(-1) * v.log_softmax(0) + v.mean() - v.norm() + v.var(),
    "extremes": lambda v: v.max() * v.sort().values + v.cumsum(0) * v.max(0).values,
    "put together": lambda v: torch.stack([torch.cat([v, torch.ones(1)]), F.pad(v, (1, 0))]),
    "chosen": lambda v: torch.where(v > 0, v, v * 3).clamp(-1, 1).flip(0) * F.relu(v),
    "checked": lambda v: v if bool((v * v >= 0).all()) else -v,
    "diagonal": lambda v: torch.outer(v, v).trace() + torch.outer(v, v + 1).T.diagonal(),
    "wide": lambda v: v.double() * 2 + torch.ones(5, dtype=torch.float64),
}
ONE_BY_ONE = {
    "number": lambda v: v * v.sum().item(),
    "branch": lambda v: v if v[0] > rows[0, 0] else -v,
    "random": lambda v: v * torch.rand(5),
    "memory": lambda v: torch.zeros(5).copy_(v),
    "swallowed": lambda v: v * _number(v),
}


def _number(v: Any) -> float:
    try:
        return float(v[0])
    except Exception:
        return 0.0


def _alike(found: Any, expected: Any) -> None:
    together = torch.stack([*expected]).detach()
    assert found.dtype == together.dtype
    # float32, added up in another order
    np.testing.assert_allclose(found, together, rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize("name", [*AT_ONCE, *ONE_BY_ONE])
def test_all_examples_are_as_each_is(name):
    calls, function = [], (AT_ONCE | ONE_BY_ONE)[name]

    def counted(v: Any) -> Any:
        calls.append(torch.manual_seed(1))
        return function(v)

    found = vmap(counted, in_dims=1, out_dims=-1)(rows.T)
    assert len(calls) == (1 if name in AT_ONCE else 5)
    _alike(found.movedim(-1, 0), map(counted, rows))
    jacobian = torch.autograd.functional.jacobian
    slow = [jacobian(counted, v) for v in rows]
    _alike(vmap(jacrev(counted))(rows), slow)
    _alike(jacrev(counted)(rows[0])[None], slow[:1])
    gradient = grad(lambda v: (counted(v) ** 2).sum() + v.sum())
    _alike(vmap(gradient)(rows), map(gradient, rows))


def test_what_is_shared_and_what_lies_deeper():
    def loss(w: Any, v: Any) -> Any:
        return torch.tanh(F.linear(v, w)).square().sum()

    slow = [torch.autograd.functional.hessian(lambda v: loss(few, v), v) for v in rows]
    _alike(vmap(hessian(loss, argnums=1), (None, 0))(few, rows), slow)
    _alike(vmap(grad(loss), (None, 0))(few, rows), [grad(loss)(few, v) for v in rows])
    products = vmap(vmap(torch.dot, (None, 0)), (0, None))(rows, weight)
    np.testing.assert_allclose(products, rows @ weight.T, rtol=1e-5)
    places = torch.tensor([[0, 1], [2, 0]])
    chosen = vmap(vmap(lambda v, k: v.gather(0, k), (None, 0)), (0, None))(rows, places)
    _alike(chosen, [v[places] for v in rows])
    w, v = few.clone().requires_grad_(), rows.clone().requires_grad_()
    slow = torch.autograd.grad(sum(loss(w, each) ** 2 for each in v), (w, v))
    for values in (vmap(lambda v: loss(w, v))(rows), vmap(loss, (None, 0))(w, v)):
        _alike(torch.autograd.grad((values**2).sum(), w)[0][None], slow[:1])


ARRAYS = (
    lambda a, b: np.stack([np.expand_dims(a, -1) + np.add.reduce(b, axis=-1), b], axis=-1),
    lambda a, b: np.clip(a, -0.5, b[1]) @ b + np.vecdot(b, a) + b.T @ a,
    lambda a, b: np.moveaxis(np.zeros_like(b, shape=(2, 3)), -1, 0) + b.swapaxes(0, -1)[:, :2],
    lambda a, b: b.copy().__setitem__(..., a) or np.concatenate([b, np.ones((1, 3))], -2),
    lambda a, b: np.linalg.inv(b) + np.multiply.outer(a, a) + np.maximum.accumulate(b, 1),
    lambda a, b: np.full_like(a, 3) + np.squeeze(b[None], 0).argmax(-1) + next(iter(b.flat)),
)


@pytest.mark.parametrize("compute", ARRAYS)
def test_numpy_computes_for_all(compute):
    a, b = np.random.RandomState(0).randn(2, 4, 3, 3)
    found = compute(BatchedArray(a[:, 0], 1), BatchedArray(b, 1))._data
    np.testing.assert_allclose(found, [*map(compute, a[:, 0], b)])


def test_what_is_seen_outside_is_done_for_each():
    w, memory, kept = torch.ones(5, requires_grad=True), torch.zeros(5), []

    def noted(v: Any) -> Any:
        y = v * 2
        y.register_hook(lambda g: kept.append(g.sum().item()))
        return (y * y).sum()

    vmap(grad(noted))(rows)
    np.testing.assert_allclose(kept, 4 * rows.sum(1), rtol=1e-5)
    vmap(lambda v: (w * v).sum().backward() or v)(rows)
    vmap(lambda v: memory.add_(v) * 1)(rows)
    _alike(torch.stack([w.grad, memory]), [rows.sum(0)] * 2)
    doubled = rows.clone()
    same = vmap(lambda v: (v.mul_(2), v.sum().item())[0])(doubled)
    _alike(torch.stack([same, vmap(lambda v: v, in_dims=1)(same.T).add_(0)]), [doubled, rows * 2])
    with torch.inference_mode():
        assert vmap(lambda v: v * 2)(rows).is_inference()
    batched, plain = BatchedArray(rows.numpy(), 1), np.zeros(5, np.float32)
    refused = [bool, np.asarray, np.ravel, plain.dot, plain.__iadd__]
    refused += [lambda x: np.copyto(plain, x), lambda x: np.add.at(plain, 0, x[0])]
    for act in refused:
        with pytest.raises((NotBatched, ValueError)):
            act(batched)
    assert not plain.any()
