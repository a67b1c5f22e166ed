"""Read which calls of the many operations random tensor programs are made of.

Each template is an expression with places in braces, which `program_filling.py` fills: `{x}` is the
tensor it starts from, `{y}` another one that broadcasts with it, `{dim}` one of its dimensions, and
so on. A name before a colon says how large the result may be: `tame` (below 4), `same` (about
as large as the tensor), `sums` (times the number of entries), `grows` (up to 60; only of small
tensors).
"""

from __future__ import annotations

ENTRYWISE = """
tame: {x}.atan() | {x}.asinh() | {x}.erf() | {x}.erfc() | {x}.frac() | {x}.sgn()
tame: {unit}.acos() | {unit}.asin() | {unit}.atanh() | {unit}.tan()
tame: {above}.acosh() | {pos}.log2() | {pos}.log10() | F.softsign({x})
tame: F.hardtanh({x}, -0.5, 1.0) | F.relu6({x}) | F.normalize({x}, dim={dim})
tame: {x}.deg2rad() | {x}.signbit() | {x}.isnan() | {x}.logical_not() | {x}.isfinite()
same: {x}.ceil() | {x}.floor() | {x}.round() | {x}.trunc() | {x}.fix() | {x}.nan_to_num()
same: {x}.round(decimals=1) | {x}.positive() | +{x} | {x}.negative() | {x}.absolute() | {x}.sgn()
same: F.celu({x}, 0.5) | F.elu({x}) | F.selu({x}) | F.leaky_relu({x}, 0.1) | F.gelu({x})
same: F.gelu({x}, approximate='tanh') | F.silu({x}) | F.softplus({x}, 2.0)
same: F.tanhshrink({x})
same: F.logsigmoid({x}) | F.threshold({x}, 0.5, -1.0)
same: {x}.clamp_min({number}) | {x}.clamp_max({y}) | {x}.clamp({number}) | {x}.clip(max={number})
same: {x}.logit(0.1) | F.prelu({x}, {one}) | F.dropout({x}, training=False)
same: {x}.masked_fill({y} > 0, 1)
same: torch.special.expit({x})
same: F.layer_norm({x}, {x}.shape[-1:])
grows: {x}.sinh() | {x}.cosh() | {x}.exp2() | {x}.rad2deg() | {x}.square()
grows: {x}.pow(3) | {x} ** 2.0 | {x} ** 0 | {x} ** 1
"""

PAIRS = """
tame: {x}.eq({y}) | {x}.logical_and({y}) | torch.isclose({x}, {y})
tame: {x}.logical_xor({y}) | {x}.less({y}) | {x}.not_equal({y}) | {x} <= {y}
same: {x}.lerp({y}, 0.25)
same: {x}.lerp({y}, {unit}) | torch.remainder({x}, {py}) | {x} // {py}
same: {x} % 0.75 | {x}.remainder(-0.75) | {x}.floor_divide(0.75) | 2 // {pos}
same: torch.div({x}, {py}, rounding_mode='floor') | {x}.div({py}, rounding_mode='trunc')
same: {x}.div(1.5, rounding_mode='trunc')
same: torch.where({y} > 0, {x}, {number}) | torch.where({x} > 0, {number}, {y}) | {x}.maximum({y})
same: {x}.where({x} > {y}, {y}) | torch.clamp({x}, {y}, {y} + 1) | {x}.clamp(min={y})
same: F.smooth_l1_loss({x}, {eq}) | F.mse_loss({x}, {eq}) | F.l1_loss({x}, {eq}, reduction='none')
same: F.huber_loss({x}, {eq}, delta=0.5) | F.mse_loss({x}, {eq}, reduction='sum')
same: F.binary_cross_entropy_with_logits({x}, {eq})
same: F.binary_cross_entropy({x}.sigmoid(), {eq}.sigmoid()) | F.kl_div({x}, {eq}.softmax({dim}))
same: F.kl_div({x}, {eq}, log_target=True, reduction='batchmean')
same: torch.dist({x}, {y}) | torch.dist({x}, {y}, 1)
same: F.cosine_similarity({x}, {y}, {dim}) | F.pairwise_distance({x}, {eq}) | {x}.sub({y}, alpha=2)
same: F.triplet_margin_loss({x}, {eq}, {x} * 2)
grows: {x}.abs().xlogy({x}.abs() + 1) | {x}.addcmul({y}, {y}, value=0.5) | {pos} ** {y}
grows: torch.addcmul({x}, {x}, {y}) | {x}.true_divide({py})
grows: {x}.multiply({y})
grows: torch.outer({vec}, {vec}) | torch.dot({vec}, {vec})
grows: torch.tensordot({x}, {eq}, dims=1)
"""

REDUCTIONS = """
same: {x}.var() | {x}.std() | {x}.var({dim}) | {x}.std({dim}{keep}) | {x}.var({dim}, correction=0)
same: {x}.std(unbiased=False)
same: {x}.median() | {x}.median({dim}{keep}) | {x}.kthvalue(1, {dim}{keep})
same: {x}.max({dim}{keep}) | {x}.min({dim}{keep}) | {x}.amax({dims}{keep}) | {x}.amin({dims})
same: {x}.logsumexp({dims}{keep}) | {x}.sort({dim}) | {x}.sort({dim}, descending=True)
same: {x}.topk(1, {dim}) | {x}.diff(dim={dim})
same: {x}.mean({dims}{keep})
tame: {x}.all({dim}) | {x}.any() | {x}.any({dim}{keep})
sums: {x}.argmax({dim}) | {x}.argmin() | {x}.argsort(dim={dim}, stable=True) | {x}.count_nonzero()
sums: {x}.cumsum({dim}) | {x}.norm() | {x}.norm(1)
sums: {x}.norm(dim={dim}{keep}) | {x}.norm(3, {dim}) | torch.linalg.vector_norm({x}, 2, {dim})
sums: torch.linalg.vector_norm({x}, 0.5) | torch.linalg.vector_norm({x}, float('inf'), {dim}{keep})
sums: {x}.sum({dims}{keep})
sums: {x}.trace() | {x}.round().unique() | {x}.nonzero()
grows: {x}.prod() | {x}.prod({dim}{keep}) | {x}.cumprod({dim})
"""

PLACES = """
same: {x}.index_select({dim}, {list}) | {x}.gather({dim}, {grid}) | {x}[{list0}]
same: {x}[..., {last}]
same: {x}.index_add({dim}, {list}, {listed})
same: {x}.index_add({dim}, {list}, {listed}, alpha=2) | {x}.scatter({dim}, {apart}, {number})
same: {x}.scatter({dim}, {apart}, {gridded}) | {x}.scatter_add({dim}, {grid}, {gridded})
same: {x}[{x} > 0] | {x}[{list0}, ..., None]
same: F.embedding({list0}, {x}) | F.one_hot({list0}, 4)
same: {x}.repeat_interleave(2, {dim}) | {x}.repeat_interleave(2) | {x}.tile(2)
same: {x}.repeat(2, {ones})
same: {x}.flip({dims})
same: {x}.tril() | {x}.triu(1) | {x}.diag() | {x}.diag_embed() | {x}.tril(-1)
same: torch.cat([{x}, {eq}], {dim}) | torch.stack([{x}, {eq}], {dim}) | torch.hstack([{x}, {eq}])
same: torch.vstack([{x}, {eq}])
same: F.pad({x}, (1, 1)) | F.pad({x}, (-1, 2), value=1.5) | F.pad({x}, (0, 1, 1, 0)) | {x}.clone()
same: F.pad({line}, (1, 1), 'reflect') | F.pad({line}, (1, 2), 'replicate')
same: torch.zeros_like({x}) + {x} | {x}.double() | {x}.float()
same: {x}.to({y})
same: {x}.type_as({y})
"""

MATRICES = """
same: {square}.inverse() | torch.linalg.inv({square}) | torch.linalg.solve({square}, {beside})
same: torch.linalg.eigvalsh({square})
same: {square}.diagonal().prod()
same: torch.linalg.norm({x})
same: {square}.mT
grows: {square}.det()
grows: {plane} @ {plane}.mT | torch.mm({plane}, {plane}.t()) | {plane}.matmul({plane}.mT)
grows: torch.addmm({one}, {plane}, {plane}.t())
grows: {plane}.mv({row})
grows: torch.einsum('ij,ij->i', {plane}, {plane})
grows: torch.einsum('ij,kj->ki', {plane}, {plane}) | torch.einsum('...i->...', {vec})
grows: torch.bmm({batch}, {batch}.mT)
grows: torch.cdist({plane}, {plane} + 1)
grows: F.linear({x}, {weight})
grows: F.linear({plane}, {weight}, {bias})
same: torch.meshgrid({vec}, {vec}, indexing='ij')
"""

LAYERS = """
grows: F.conv1d({line}, {kernel}) | F.conv1d({line}, {kernel}, {bias1}, padding=1, stride=2)
grows: F.conv_transpose1d({line}, {kernel}) | F.conv2d({image}, {kernel2})
grows: F.conv2d({image}, {kernel2}, padding=1, dilation=2)
grows: F.conv_transpose2d({image}, {kernel2}, stride=2)
grows: F.conv2d({image}, {kernel2}, padding='same')
same: F.max_pool1d({line}, 2) | F.avg_pool1d({line}, 2, padding=1) | F.max_pool2d({image}, 2, 1)
same: F.max_pool2d({image}, 2, return_indices=True) | F.avg_pool2d({image}, (1, 2))
same: F.adaptive_avg_pool2d({image}, 1)
same: F.layer_norm({plane}, {plane}.shape[1:], {row}, {row}) | F.rms_norm({x}, {x}.shape[-1:])
same: F.group_norm({image}, 1) | F.instance_norm({image})
same: F.batch_norm({plane}, None, None, training=True)
same: F.batch_norm({plane}, {row}.detach(), {row}.detach().abs() + 1, {row}, {row})
same: F.cross_entropy({plane}, {classes})
same: F.nll_loss({plane}.log_softmax(1), {classes})
same: F.cross_entropy({plane}, {plane}.softmax(1))
same: F.cross_entropy({plane}, {classes}, label_smoothing=0.25)
same: F.nll_loss({plane}, {classes}, ignore_index=0)
same: F.unfold({image}, (1, 2)) | F.cosine_similarity({plane}, {plane}.flip(1))
same: F.softmax({x}, {dim})
same: F.scaled_dot_product_attention({batch}, {batch}, {batch})
same: F.log_softmax({x}, {dim}, torch.float64)
same: F.softmax({x}, {dim}, dtype=torch.float64) | F.dropout1d({line}, 0.0)
"""

VIEWS = """
{x}.unfold({dim}, {window}, 1)
{x}.as_strided({strided})
{x}.diagonal()
{x}.diagonal(1)
{x}.diagonal(dim1=-1, dim2=0)
{x}.movedim(0, -1)
{x}.moveaxis(-1, 0)
{x}.swapaxes(0, {dim})
{x}.swapdims(-1, 0)
{x}.unflatten({dim}, (-1, 1))
{x}.unflatten({dim}, (1, -1))
{x}.select({dim}, 0)
{x}.select({dim}, -1)
{x}.narrow({dim}, 0, 1)
{x}.narrow({dim}, 1, 1)
{x}.split(2, {dim})
{x}.split_with_sizes([1, 1], {dim})
{x}.chunk(2, {dim})
{x}.unbind({dim})
{x}.hsplit([1])
{x}.vsplit([1])
{x}.mT
{x}.H
{x}.adjoint()
{x}.ravel()
{x}.reshape_as({x})
{x}.broadcast_to((2, *{x}.shape))
{x}.expand_as({x})
{x}.expand(-1, *{x}.shape[1:])
{x}.squeeze((0, -1))
{x}.squeeze({dim})
{x}.unsqueeze(-1)
{x}.flatten(0, {dim})
{x}.permute({order})
{x}.view(-1)
{x}.real
{x}.detach()
torch.atleast_3d({x})
torch.broadcast_tensors({x}, {y})
{x}.positive()
{x}.contiguous()
{x}.type({x}.dtype)
{x}.float()
{x}[..., ::2]
{x}[None, ..., None]
{x}[..., -1:, None]
"""

WRITES = """
same: {x}.atan_() | {x}.erf_() | {x}.erfc_() | {x}.frac_() | {x}.sgn_()
same: {x}.tanh_().acos_() | {x}.tanh_().asin_()
same: {x}.tanh_().tan_()
same: {x}.abs_().add_(0.5).log2_()
same: {x}.abs_().add_(0.5).log10_() | {x}.abs_().add_(0.5).rsqrt_()
same: {x}.abs_().add_(0.5).sqrt_() | {x}.abs_().add_(1).log1p_()
same: {x}.ceil_() | {x}.floor_() | {x}.round_() | {x}.trunc_() | {x}.fix_() | {x}.nan_to_num_()
same: {x}.sign_()
same: F.celu_({x}) | F.elu_({x}) | F.selu_({x}) | F.leaky_relu_({x}) | F.hardtanh_({x})
same: F.threshold_({x}, 0.5, 2)
same: F.silu({x}, inplace=True)
same: F.relu({x}, True)
same: F.relu6({x}, inplace=True) | F.elu({x}, 0.5, True)
same: {x}.clamp_min_({number}) | {x}.clamp_max_({y}) | {x}.clip_({number}) | {x}.logit_(0.1)
same: {x}.deg2rad_()
same: {x}.lerp_({y}, 0.25)
same: {x}.lerp_({y}, {y})
same: {x}.remainder_({py}) | {x}.floor_divide_({py})
same: {x}.div_({py}, rounding_mode='floor')
same: {x}.sub_({y}, alpha=0.5) | {x}.subtract_({y}) | {x}.absolute_()
same: {x}.negative_()
same: {x}.tril_() | {x}.triu_(1)
same: {x}.cumsum_({dim})
same: {x}.index_add_({dim}, {list}, {listed})
same: {x}.scatter_({dim}, {apart}, {gridded})
same: {x}.scatter_({dim}, {apart}, {number}) | {x}.scatter_add_({dim}, {grid}, {gridded})
same: {x}.masked_fill_({y} > 0, {number})
same: {x}[{list0}] += {number} | {x}[{x} > 0] *= 0.5 | {x}[..., {last}] = {number}
same: {x}[{x} > 0] = {number}
same: torch.manual_seed(3); {x}.uniform_(-1, 1) | torch.manual_seed(4); {x}.normal_()
same: {x}.bernoulli_(1)
same: torch.manual_seed(5); {x}.random_(0, 3)
same: {x}.swapaxes_(0, -1)
same: {x}.unsqueeze_(0) | {x}.squeeze_() | {x}.t_() | {x}.transpose_(0, -1)
grows: {x}.xlogy_({py}) | {x}.addcmul_({y}, {y}, value=0.5)
grows: {x}.multiply_({y})
grows: {x}.sinh_() | {x}.cosh_() | {x}.exp2_() | {x}.expm1_() | {x}.square_() | {x}.cumprod_({dim})
grows: {x}.pow_({y}) | {x}.pow_(2) | {x}.true_divide_({py}) | {x}.rad2deg_() | {x} //= {py}
grows: {x} %= {py}
grows: torch.square_({x}) | {x} **= 2 | {x} /= {py}
"""

OUTS = """
torch.tan({unit}, out={o}) | torch.exp({unit}, out={o}) | torch.add({x}, {y}, out={o})
torch.neg({x}, out={o})
torch.sum({x}, {dim}, out={o}) | torch.mul({x}, {y}, out={o})
torch.cumsum({x}, {dim}, out={o}) | torch.prod({x}, {dim}, out={o})
torch.amax({x}, {dim}, out={o})
torch.matmul({plane}, {plane}.t(), out={o}) | torch.cat([{x}, {x}], out={o})
torch.stack([{x}, {eq}], out={o})
torch.clamp({x}, 0, 1, out={o})
torch.maximum({x}, {y}, out={o})
torch.round({x}, out={o}) | torch.eq({x}, {y}, out={o}) | torch.sign({x}, out={o})
torch.lerp({x}, {y}, 0.5, out={o})
torch.mean({x}, {dim}, out={o}) | torch.index_select({x}, {dim}, {list}, out={o})
torch.gather({x}, {dim}, {grid}, out={o}) | torch.inverse({square}, out={o})
torch.tril({x}, out={o})
torch.norm({x}, 2, {dim}, out={o}) | torch.logsumexp({x}, {dim}, out={o})
torch.addcmul({x}, {y}, {y}, out={o})
torch.abs({x}, out={o}) | torch.floor({x}, out={o}) | torch.pow({x}, 2, out={o})
torch.sub({x}, {y}, out={o})
"""


def read(text: str) -> list[tuple[str, str]]:
    """Give the templates of a text, each with the size of its result."""
    templates = []
    for line in text.strip().splitlines():
        size, found, rest = line.partition(": ")
        if not found or size not in ("tame", "same", "sums", "grows"):
            size, rest = "same", line
        templates += [(size, template.strip()) for template in rest.split(" | ")]
    return templates
