"""See what is made of other functions: values, gradients, and errors of what is seldom called."""

from __future__ import annotations

import warnings

from .tools import Family, leaf

family = Family()

# m and n are matrices of 3 by 3, v and w vectors, b a batch of matrices, i whole numbers.
PRODUCTS = """
t.addmm(m, n, n, beta=0.5, alpha=2); m.addmm(n, n, beta=0); m.clone().addmm_(n, n, alpha=2)
t.spmm(m, n)
t.linalg.pinv(m[:2]).abs()
t.linalg.pinv((m.T @ m).double(), rtol=0.25)
t.linalg.lstsq(m + 3 * t.eye(3), n).solution
t.linalg.matrix_rank(m); t.linalg.matrix_rank(m, 0.1); t.linalg.matrix_rank(m, rtol=0.01); m.H
"""
PLACES = """
t.roll(m, 1); t.roll(m, (1, -1), (0, 1)); m.roll(2, 0); t.roll(v, -1, 0); t.roll(b, (1, 2), (0, 2))
t.take(m, i); m.take(i)
"""
SUMS = """
t.nansum(v * t.tensor([1.0, float("nan"), 1.0])); m.nansum(0)
"""
NUMBERS = """
t.addcmul(m, v, w, value=2); v.addcmul(w, w); (v * 1).addcmul_(w, w, value=0.5)
t.addcdiv(m, v, w.exp(), value=2); v.addcdiv(w, w + 9); (v * 1).addcdiv_(w, w.exp(), value=0.5)
v % 2; m % -0.75; (v * 1).remainder_(0.4)
t.round(v, decimals=1); (v * 37).round(decimals=-1); (v / 3).round_(decimals=2); i % 2
"""
WHOLE = """
t.addmm(t.eye(2).long(), i[:, None], i[None], beta=1.6, alpha=-1.6)
t.linalg.lstsq(t.eye(2).double(), i[:, None].double())
"""
LAYERS = """
F.glu(t.cat([m, n])[:, :2]); nn.GLU(0)(t.cat([m, n])); nn.Hardshrink(0.5)(m); nn.Softshrink()(m)
nn.Hardsigmoid()(m * 3); nn.Hardswish()(m * 3); nn.Mish()(m); nn.Mish(); nn.Softshrink()
nn.Mish(True)(m * 1)
"""
BORDERS = """
t.cdist(m, n, 3.0); t.cdist(m, m[:2] * t.tensor([1, 1, 0]), 1.5); t.cdist(m, m * 1, 2.5)
t.clamp(v * 0 + 1, w * 0 + 1, v + 9); t.clamp(v * 0 + 1, w * 0 + 2, v * 0 + 2)
F.softplus(m * 0 + 1, 1, 1.0); F.hardtanh(v * 0 + 1); F.softshrink(v * 0 - 0.5)
F.hardshrink(v * 0 + 0.5); F.threshold(v * 0 + 2, 2.0, 1.0); F.smooth_l1_loss(v * 0 + 1, w * 0)
F.huber_loss(v * 0 + 1, w * 0)
F.smooth_l1_loss(v[:1], w[:1]); F.huber_loss(v[:1], w[:1], delta=0.5); F.mse_loss(v[:1], w[:1])
F.kl_div(v[:1], w[:1].exp(), reduction="sum")
F.binary_cross_entropy(v[:1].sigmoid(), w[:1].sigmoid()); F.l1_loss(v[:1], w[:1])
F.binary_cross_entropy_with_logits(v[:1], w[:1])
F.binary_cross_entropy(v * 0 + t.tensor([0.0, 1.0, 0.0]), t.tensor([0.5, 0.25, 0.0]))
t.linalg.det(t.stack([m, n]).view(2, 1, 3, 3))
F.softmax(m.half(), 1); F.softmax(v[0].half(), 0)
m[:0].as_strided((0,), (1,))
v.as_strided((2, 2), (2, 0)).diagonal()
F.max_pool1d(v[None] * 0 - float("inf"), 2, 1, 1, 3, return_indices=True)
"""
TWICE = """
m.repeat(1, 1); m.repeat(2, 1, 2); t.mm(m.T, n); t.mm(m, n.T)
t.addmm(m, n.T, m.T)
t.linalg.vector_norm(m * (m > 0), 1.5, dim=1)
t.linalg.vector_norm(m, 0.5); t.linalg.vector_norm(m, -2, 0); t.dist(m, v, 1.5); t.dist(m, n, 4)
t.linalg.pinv(n.double()[:2]); t.linalg.pinv(n.double()[:, :2])
t.cat([m, n.double()]); t.cat([m, n.double().detach()]); t.cat([m.detach(), n.double()], 1)
t.stack([m, n.double()], 1); t.cat([v, t.zeros(0).double(), w]); t.hstack([m.half(), n])
F.nll_loss(m, t.tensor([0, 2, 1]), t.tensor([2.0, 0.0, 1.0]))
F.cross_entropy(m, t.tensor([1, -100, 2]), label_smoothing=0.25)
F.binary_cross_entropy(t.tensor([1e-12, 0.5, 1.0]) + v * 0, t.tensor([0.5, 0.25, 1.0]))
m.index_add(0, i, n[:2], alpha=0); m.index_add(1, i, n[:, :2], alpha=2)
F.unfold(m[None], 2, padding=1); F.fold(m[:, :2].repeat(4, 3)[:4], (3, 4), 2)
F.pad(m, (-1, 2, 0, -1)); F.pad(m[None], (2, 1), "replicate"); F.pad(m[None], (2, 0), "reflect")
F.pad(m[None, None], (0, 2, -1, 3), "replicate")
F.embedding(t.tensor([0, 2, 0]), m, padding_idx=2); F.embedding(t.tensor([[0, 1]]), m, 2)
F.linear(m.T, n, v); F.linear(b.transpose(0, 1), m, v); F.linear(b, m.T, v); F.linear(m, n.T, v)
v.expand(3, 3).diagonal(1); (v * 0) ** 1.5; v**0; v**3.0
(m * 0).amax(1); (m * 0).max(); m.flip(0, 1); m.T.flip(1); t.where(m > 0, v, n); m.T.roll(1, 0)
"""
RESIZED = """
F.interpolate(b, scale_factor=1.5); F.interpolate(b[None], scale_factor=2)
F.interpolate(b[None, None], size=(3, 2, 4)); F.interpolate(b, 4, mode="nearest-exact")
F.interpolate(b[None], (2, 5), mode="nearest-exact")
F.interpolate(b[None, None], 3, mode="nearest-exact")
F.interpolate(b, scale_factor=1.7, mode="linear")
F.interpolate(b, scale_factor=1.7, mode="linear", recompute_scale_factor=True)
F.interpolate(b[None], (4, 4), mode="bilinear")
F.interpolate(b[None], (4, 4), mode="bilinear", align_corners=True)
F.interpolate(b[None, None], (3, 2, 3), mode="trilinear"); F.interpolate(b[None], 2, mode="area")
F.interpolate((m * 0 + 3).byte()[None, None], 4)
F.pixel_shuffle(t.cat([b, b]), 2)
F.pixel_shuffle(i.view(2, 1, 1).repeat(2, 1, 1), 2)
F.adaptive_avg_pool1d(b, 2); F.adaptive_avg_pool2d(b, (2, 2)); F.adaptive_avg_pool2d(b, (None, 4))
F.adaptive_avg_pool3d(b[None], 2); F.adaptive_avg_pool2d(b.double(), 2)
F.adaptive_max_pool1d(b, 2); F.adaptive_max_pool1d(b[0], 2); F.adaptive_max_pool2d(b, (2, 2))
F.adaptive_max_pool2d(b[None], (2, 4)); F.adaptive_max_pool2d(b, 2, return_indices=True)
F.adaptive_max_pool1d(b, 2, True)
"""
ERRORS = """
F.interpolate(b); F.interpolate(b, 2, 2); F.interpolate(b, (2, 2)); F.interpolate(m, 2)
F.interpolate(b, scale_factor=(2, 2)); F.interpolate(b, 2, mode="cubic")
F.interpolate(b, 2, mode="bilinear")
F.interpolate(b, 2, align_corners=True); F.interpolate(b, scale_factor=0.1)
F.interpolate(i[None, None], 2)
F.pixel_shuffle(b, 3)
F.adaptive_avg_pool1d(v, 2); F.adaptive_avg_pool2d(b, -1); F.adaptive_avg_pool2d(b[..., :0], 2)
F.adaptive_max_pool2d(v, 2); F.adaptive_max_pool2d(b, -1); F.adaptive_max_pool1d(b[..., :0], 2)
F.adaptive_avg_pool2d(i.view(1, 1, 2), 2)
t.stack([m, v]); t.stack([v, v, v[:2]])
F.nll_loss(m, t.tensor([0, 3, 1]))
t.roll(m, (1, 2), (0,))
t.addmm(v, m, b)
"""


def _add(name, table, errors=False, twice=False):
    def scenario(torch, log):
        torch.manual_seed(0)
        given = {"t": torch, "nn": torch.nn, "F": torch.nn.functional, "i": torch.tensor([0, 2])}
        shapes = {"m": (3, 3), "n": (3, 3), "v": (3,), "w": (3,), "b": (2, 3, 3)}
        given |= {key: leaf(torch, shape, len(key + str(shape))) for key, shape in shapes.items()}
        for line in table.strip().replace("\n", "; ").split("; "):
            if errors:
                log.raises(line, lambda line=line: eval(line, dict(given)))
                continue
            result = eval(line, dict(given))
            parts = result if isinstance(result, tuple) else (result,)
            if isinstance(parts[0], torch.nn.Module):
                log(line, repr(result))
                continue
            log(line, *(each.detach() for each in parts))
            if parts[0].requires_grad:
                leaves = [each for key, each in given.items() if key in shapes]
                weights = torch.arange(1.0, parts[0].numel() + 1, dtype=parts[0].dtype)
                weights.requires_grad_(twice)
                first = torch.autograd.grad(
                    parts[0], leaves, weights.view(parts[0].shape), create_graph=twice,
                    allow_unused=True,
                )  # fmt: skip
                log("its gradients", *(each if each is None else each.detach() for each in first))
                bent = [each for each in first if each is not None and each.requires_grad]
                if bent:
                    squares = sum((each * each).sum() for each in bent)
                    log("and theirs", *torch.autograd.grad(squares, leaves, materialize_grads=True))

    scenario.__doc__ = f"What is composed of other functions: {name}."
    family.add(name, scenario)


_add("products", PRODUCTS)
_add("places", PLACES)
_add("sums", SUMS)
_add("with numbers", NUMBERS)
_add("whole numbers", WHOLE)
_add("layers", LAYERS)
_add("borders", BORDERS)
_add("borders, twice", TWICE, twice=True)
_add("resized", RESIZED, twice=True)
_add("errors", ERRORS, errors=True)


@family
def lazy_data(torch, log):
    """To fill the data of a parameter without a shape changes nothing, and draws nothing."""
    layer = torch.nn.LazyLinear(2)
    torch.manual_seed(1)
    log("data", layer.weight.data.normal_(0, 0.01), layer.bias.data.fill_(0))
    log("drawn after", torch.rand(1), layer(torch.ones(1, 3)).shape)


@family
def sparse(torch, log):
    """What is computed of sparse tensors; how they are kept is another matter."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        v = leaf(torch, (3,), 1)
        made = torch.sparse_coo_tensor([[0, 1, 1], [2, 0, 0]], v)
        log("dense", made.to_dense().detach(), torch.sparse.mm(made, torch.ones(3, 1)).detach())
        log("gradient", torch.autograd.grad((made @ torch.arange(3.0).view(3, 1)).sum(), v)[0])
        other = torch.sparse_coo_tensor(torch.tensor([[0, 1], [2, 0]]), torch.ones(2), (2, 4))
        log("of a size", other.coalesce().to_dense(), torch.eye(2).to_sparse() @ torch.ones(2, 2))
