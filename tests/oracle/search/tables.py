"""What random programs are made of: tables of statements, whose holes are filled at random.

A line has a weight, if it's not 1, and alternatives. A hole in braces is the name of a table, or of
a method of `Holes` in `programs.py`; the same hole twice is filled twice with the same.
"""

from __future__ import annotations

import re

TABLES_TEXT = """
[compute]
4: {x}.tanh() | torch.sigmoid({x}) | {x}.sin() | torch.cos({x}) | {x}.relu() | {x}.abs() | -{x}
2: {x}.exp() | {pos}.sqrt() | torch.log({pos}) | {pos}.rsqrt() | {pos}.reciprocal() | {x}.sign()
4: {x} + {number} | {number} - {x} | {x} * {number} | {x} / 2 | {x} ** 2 | {pos} ** -1 | 2 ** {x}
2: {x}.clamp(-1, 1) | {x}.clone() | {x}.detach() | {x}.data | {x}.to(torch.{dtype})
{x}.atan() | {x}.asinh() | {x}.erf() | {x}.erfc() | {x}.frac() | {x}.sgn() | {unit}.acos()
{unit}.asin() | {unit}.atanh() | {unit}.tan() | {above}.acosh() | {pos}.log2() | {pos}.log10()
F.softsign({x}) | F.hardtanh({x}, -0.5, 1.0) | F.relu6({x}) | F.normalize({x}, dim={dim})
{x}.deg2rad() | {x}.signbit() | {x}.isnan() | {x}.logical_not() | {x}.isfinite() | {x}.ceil()
{x}.floor() | {x}.round() | {x}.trunc() | {x}.fix() | {x}.nan_to_num() | {x}.round(decimals=1)
{x}.positive() | +{x} | {x}.negative() | {x}.absolute() | {x}.sgn() | F.celu({x}, 0.5)
F.elu({x}) | F.selu({x}) | F.leaky_relu({x}, 0.1) | F.gelu({x})
F.gelu({x}, approximate='tanh') | F.silu({x}) | F.softplus({x}, 2.0) | F.tanhshrink({x})
F.logsigmoid({x}) | F.threshold({x}, 0.5, -1.0) | {x}.clamp_min({number}) | {x}.clamp_max({y})
{x}.clamp({number}) | {x}.clip(max={number}) | {x}.logit(0.1) | F.prelu({x}, {one})
F.dropout({x}, training=False) | {x}.masked_fill({y} > 0, 1) | torch.special.expit({x})
F.layer_norm({x}, {x}.shape[-1:]) | {x}.sinh() | {x}.cosh() | {x}.exp2() | {x}.rad2deg()
{x}.square() | {x}.pow(3) | {x} ** 2.0 | {x} ** 0 | {x} ** 1
9: {x} + {y} | {x} - {y} | {x} * {y} | {x} * {y} | {x} / {py}
4: torch.maximum({x}, {y}) | torch.minimum({x}, {y}) | torch.where({x} > {y}, {x}, {y})
4: {x} > {y}
3: {x}.add({y}, alpha=2) | {x}.sub({y}, alpha=-1) | {x}.masked_fill({x} > {y}, 1.5) | {x} @ {y}
3: torch.cat([{x}, {y}]) | torch.stack([{x}, {y}]) | {x} @ {x}.t()
{x}.eq({y}) | {x}.logical_and({y}) | {x}.logical_xor({y})
{x}.less({y}) | {x}.not_equal({y}) | {x} <= {y} | {x}.lerp({y}, 0.25) | {x}.lerp({y}, {unit})
torch.remainder({x}, {py}) | {x} // {py} | {x} % 0.75 | {x}.remainder(-0.75)
{x}.floor_divide(0.75) | 2 // {pos} | torch.div({x}, {py}, rounding_mode='floor')
{x}.div({py}, rounding_mode='trunc') | {x}.div(1.5, rounding_mode='trunc')
torch.where({y} > 0, {x}, {number}) | torch.where({x} > 0, {number}, {y}) | {x}.maximum({y})
{x}.where({x} > {y}, {y}) | torch.clamp({x}, {y}, {y} + 1) | {x}.clamp(min={y})
F.smooth_l1_loss({x}, {eq}) | F.mse_loss({x}, {eq}) | F.l1_loss({x}, {eq}, reduction='none')
F.huber_loss({x}, {eq}, delta=0.5) | F.mse_loss({x}, {eq}, reduction='sum')
F.binary_cross_entropy_with_logits({x}, {eq})
F.binary_cross_entropy({x}.sigmoid(), {eq}.sigmoid()) | F.kl_div({x}, {eq}.softmax({dim}))
F.kl_div({x}, {eq}, log_target=True, reduction='batchmean')
F.pairwise_distance({x}, {eq})
{x}.sub({y}, alpha=2) | F.triplet_margin_loss({x}, {eq}, {x} * 2)
{x}.abs().xlogy({x}.abs() + 1) | {x}.addcmul({y}, {y}, value=0.5) | {pos} ** {y}
torch.addcmul({x}, {x}, {y}) | {x}.true_divide({py}) | {x}.multiply({y})
torch.outer({vec}, {vec}) | torch.dot({vec}, {vec}) | torch.tensordot({x}, {eq}, dims=1)
6: {x}.sum() | {x}.sum({dims}{keep}) | {x}.mean() | {x}.mean({dim}) | {x}.amax({dim})
3: {x}.max() | {x}.min({dim}).values | {x}.norm() | {x}.softmax({dim}) | {x}.log_softmax({dim})
{x}.var() | {x}.std() | {x}.var({dim}) | {x}.std({dim}{keep}) | {x}.var({dim}, correction=0)
{x}.std(unbiased=False) | {x}.median() | {x}.median({dim}{keep}) | {x}.kthvalue(1, {dim}{keep})
{x}.max({dim}{keep}) | {x}.min({dim}{keep}) | {x}.amax({dims}{keep}) | {x}.amin({dims})
{x}.logsumexp({dims}{keep}) | {x}.sort({dim}) | {x}.sort({dim}, descending=True)
{x}.topk(1, {dim}) | {x}.diff(dim={dim}) | {x}.mean({dims}{keep}) | {x}.all({dim}) | {x}.any()
{x}.any({dim}{keep}) | {x}.argmax({dim}) | {x}.argmin() | {x}.argsort(dim={dim}, stable=True)
{x}.count_nonzero() | {x}.cumsum({dim}) | {x}.norm() | {x}.norm(1) | {x}.norm(dim={dim}{keep})
{x}.norm(3, {dim}) | torch.linalg.vector_norm({x}, 2, {dim})
torch.linalg.vector_norm({x}, 0.5) | torch.linalg.vector_norm({x}, float('inf'), {dim}{keep})
{x}.sum({dims}{keep}) | {x}.nonzero() | {x}.prod()
{x}.prod({dim}{keep}) | {x}.cumprod({dim})
{x}.index_select({dim}, {list}) | {x}.gather({dim}, {grid}) | {x}[{list0}] | {x}[..., {last}]
{x}.index_add({dim}, {list}, {listed}) | {x}.index_add({dim}, {list}, {listed}, alpha=2)
{x}.scatter({dim}, {apart}, {number}) | {x}.scatter({dim}, {apart}, {gridded})
{x}.scatter_add({dim}, {grid}, {gridded}) | {x}[{x} > 0] | {x}[{list0}, ..., None]
F.embedding({list0}, {x}) | F.one_hot({list0}, 4) | {x}.repeat_interleave(2, {dim})
{x}.repeat_interleave(2) | {x}.tile(2) | {x}.repeat(2, {ones}) | {x}.flip({dims}) | {x}.tril()
{x}.triu(1) | {x}.diag() | {x}.diag_embed() | {x}.tril(-1) | torch.cat([{x}, {eq}], {dim})
torch.stack([{x}, {eq}], {dim}) | torch.hstack([{x}, {eq}]) | torch.vstack([{x}, {eq}])
F.pad({x}, (1, 1)) | F.pad({x}, (0, 1, 1, 0)) | {x}.clone()
F.pad({line}, (1, 1), 'reflect') | F.pad({line}, (1, 2), 'replicate')
torch.zeros_like({x}) + {x} | {x}.double() | {x}.float() | {x}.to({y}) | {x}.type_as({y})
{square}.inverse() | torch.linalg.inv({square}) | torch.linalg.solve({square}, {beside})
torch.linalg.eigvalsh({square}) | {square}.diagonal().prod() | torch.linalg.norm({x})
{square}.mT | {square}.det() | {plane} @ {plane}.mT | torch.mm({plane}, {plane}.t())
{plane}.matmul({plane}.mT) | torch.addmm({one}, {plane}, {plane}.t()) | {plane}.mv({row})
torch.einsum('ij,ij->i', {plane}, {plane}) | torch.einsum('ij,kj->ki', {plane}, {plane})
torch.einsum('...i->...', {vec}) | torch.bmm({batch}, {batch}.mT)
F.linear({x}, {weight})
F.linear({plane}, {weight}, {bias}) | torch.meshgrid({vec}, {vec}, indexing='ij')
F.conv1d({line}, {kernel}) | F.conv1d({line}, {kernel}, {bias1}, padding=1, stride=2)
F.conv_transpose1d({line}, {kernel}) | F.conv2d({image}, {kernel2})
F.conv2d({image}, {kernel2}, padding=1, dilation=2)
F.conv_transpose2d({image}, {kernel2}, stride=2) | F.conv2d({image}, {kernel2}, padding='same')
F.max_pool1d({line}, 2) | F.avg_pool1d({line}, 2, padding=1) | F.max_pool2d({image}, 2, 1)
F.max_pool2d({image}, 2, return_indices=True) | F.avg_pool2d({image}, (1, 2))
F.adaptive_avg_pool2d({image}, 1) | F.layer_norm({plane}, {plane}.shape[1:], {row}, {row})
F.rms_norm({x}, {x}.shape[-1:]) | F.group_norm({image}, 1) | F.instance_norm({image})
F.batch_norm({plane}, None, None, training=True)
F.batch_norm({plane}, {row}.detach(), {row}.detach().abs() + 1, {row}, {row})
F.cross_entropy({plane}, {classes}) | F.nll_loss({plane}.log_softmax(1), {classes})
F.cross_entropy({plane}, {plane}.softmax(1))
F.cross_entropy({plane}, {classes}, label_smoothing=0.25)
F.nll_loss({plane}, {classes}, ignore_index=0) | F.unfold({image}, (1, 2))
F.cosine_similarity({plane}, {plane}.flip(1)) | F.softmax({x}, {dim})
F.scaled_dot_product_attention({batch}, {batch}, {batch})
F.log_softmax({x}, {dim}, torch.float64) | F.softmax({x}, {dim}, dtype=torch.float64)
F.dropout1d({line}, 0.0)
[view]
12: {x}[{key}] | {x}.view({sizes}) | {x}.reshape({sizes}) | {x}.t() | {x}.T
12: {x}.transpose(0, {dim})
4: {x}.expand(2, *{x}.shape) | {x}.flatten() | {x}.unsqueeze({dim}) | {x}.squeeze()
4: {x}.view_as({x})
2: {x}.unbind() | {x}.split(1, {dim}) | {x}.chunk(2) | {x}.permute({order}) | {x}.detach()
{x}.unfold({dim}, {window}, 1) | {x}.as_strided({strided}) | {x}.diagonal() | {x}.diagonal(1)
{x}.diagonal(dim1=-1, dim2=0) | {x}.movedim(0, -1) | {x}.moveaxis(-1, 0)
{x}.swapaxes(0, {dim}) | {x}.swapdims(-1, 0) | {x}.unflatten({dim}, (-1, 1))
{x}.unflatten({dim}, (1, -1)) | {x}.select({dim}, 0) | {x}.select({dim}, -1)
{x}.narrow({dim}, 0, 1) | {x}.narrow({dim}, 1, 1) | {x}.split(2, {dim})
{x}.split_with_sizes([1, 1], {dim}) | {x}.chunk(2, {dim}) | {x}.unbind({dim})
{x}.mT | {x}.H | {x}.adjoint() | {x}.ravel() | {x}.reshape_as({x})
{x}.broadcast_to((2, *{x}.shape)) | {x}.expand_as({x}) | {x}.expand(-1, *{x}.shape[1:])
{x}.squeeze((0, -1)) | {x}.squeeze({dim}) | {x}.unsqueeze(-1) | {x}.flatten(0, {dim})
{x}.permute({order}) | {x}.view(-1) | {x}.real | {x}.detach() | torch.atleast_3d({x})
torch.broadcast_tensors({x}, {y}) | {x}.positive() | {x}.contiguous() | {x}.type({x}.dtype)
{x}.float() | {x}[..., ::2] | {x}[None, ..., None] | {x}[..., -1:, None]
[write]
8: {x}.add_({y}) | {x}.mul_({y}) | {x}.copy_({y}) | {x}.sub_({y}, alpha=2) | {x} += {y}
8: {x} *= {y}
6: {x}.add_(1) | {x}.mul_(2) | {x}.div_(2) | {x}.neg_() | {x}.pow_(2) | {x}.clamp_(-1, 1)
6: {x}.abs_()
4: {x}.tanh_() | {x}.sigmoid_() | {x}.sin_() | {x}.relu_() | {x}.zero_() | {x}.fill_(1.5)
9: {x}[{key}] = {number} | {x}[{key}] = {y} | {x}[{key}] += {y} | {x}[{key}] *= 2 | {x}[0] = {y}
6: {x}[{key}].mul_(2) | {x}.view(-1).add_({y}) | {x}.t().copy_({y}) | {x}.detach().mul_(2)
{x}.atan_() | {x}.erf_() | {x}.erfc_() | {x}.frac_() | {x}.sgn_() | {x}.tanh_().acos_()
{x}.tanh_().asin_() | {x}.tanh_().tan_() | {x}.abs_().add_(0.5).log2_()
{x}.abs_().add_(0.5).log10_() | {x}.abs_().add_(0.5).rsqrt_() | {x}.abs_().add_(0.5).sqrt_()
{x}.abs_().add_(1).log1p_() | {x}.ceil_() | {x}.floor_() | {x}.round_() | {x}.trunc_()
{x}.fix_() | {x}.nan_to_num_() | {x}.sign_() | F.celu_({x}) | F.elu_({x}) | F.selu_({x})
F.leaky_relu_({x}) | F.hardtanh_({x}) | F.threshold_({x}, 0.5, 2) | F.silu({x}, inplace=True)
F.relu({x}, True) | F.relu6({x}, inplace=True) | F.elu({x}, 0.5, True)
{x}.clamp_min_({number}) | {x}.clamp_max_({y}) | {x}.clip_({number}) | {x}.logit_(0.1)
{x}.deg2rad_() | {x}.lerp_({y}, 0.25) | {x}.lerp_({y}, {y}) | {x}.remainder_({py})
{x}.floor_divide_({py}) | {x}.div_({py}, rounding_mode='floor') | {x}.sub_({y}, alpha=0.5)
{x}.subtract_({y}) | {x}.absolute_() | {x}.negative_() | {x}.tril_() | {x}.triu_(1)
{x}.cumsum_({dim}) | {x}.index_add_({dim}, {list}, {listed})
{x}.scatter_({dim}, {apart}, {gridded}) | {x}.scatter_({dim}, {apart}, {number})
{x}.scatter_add_({dim}, {grid}, {gridded}) | {x}.masked_fill_({y} > 0, {number})
{x}[{list0}] += {number} | {x}[{x} > 0] *= 0.5 | {x}[..., {last}] = {number}
{x}[{x} > 0] = {number} | torch.manual_seed(3); {x}.uniform_(-1, 1)
torch.manual_seed(4); {x}.normal_() | {x}.bernoulli_(1)
{x}.swapaxes_(0, -1) | {x}.unsqueeze_(0)
{x}.squeeze_() | {x}.t_() | {x}.transpose_(0, -1) | {x}.xlogy_({py})
{x}.addcmul_({y}, {y}, value=0.5) | {x}.multiply_({y}) | {x}.sinh_() | {x}.cosh_() | {x}.exp2_()
{x}.expm1_() | {x}.square_() | {x}.cumprod_({dim}) | {x}.pow_({y}) | {x}.pow_(2)
{x}.true_divide_({py}) | {x}.rad2deg_() | {x} //= {py} | {x} %= {py} | torch.square_({x})
{x} **= 2 | {x} /= {py}
[out]
torch.tan({unit}, out={o}) | torch.exp({unit}, out={o}) | torch.add({x}, {y}, out={o})
torch.neg({x}, out={o}) | torch.sum({x}, {dim}, out={o}) | torch.mul({x}, {y}, out={o})
torch.cumsum({x}, {dim}, out={o}) | torch.prod({x}, {dim}, out={o})
torch.amax({x}, {dim}, out={o}) | torch.matmul({plane}, {plane}.t(), out={o})
torch.cat([{x}, {x}], out={o}) | torch.stack([{x}, {eq}], out={o})
torch.clamp({x}, 0, 1, out={o}) | torch.maximum({x}, {y}, out={o}) | torch.round({x}, out={o})
torch.lerp({x}, {y}, 0.5, out={o})
torch.mean({x}, {dim}, out={o}) | torch.index_select({x}, {dim}, {list}, out={o})
torch.gather({x}, {dim}, {grid}, out={o}) | torch.inverse({square}, out={o})
torch.tril({x}, out={o}) | torch.norm({x}, 2, {dim}, out={o})
torch.logsumexp({x}, {dim}, out={o}) | torch.addcmul({x}, {y}, {y}, out={o})
torch.abs({x}, out={o}) | torch.floor({x}, out={o}) | torch.pow({x}, 2, out={o})
torch.sub({x}, {y}, out={o})
[hook]
9: {h} = {g}.register_hook(log.hook('{n} on {g}'{action}))
3: {h} = {leaf}.register_post_accumulate_grad_hook(log.hook('{n} after {leaf}'{after}))
3: {h} = {inner}.grad_fn.register_prehook(log.hook('{n} before {inner}'{before}))
3: {h} = {inner}.grad_fn.register_hook(log.hook('{n} at {inner}'{at}))
1: {h} = {inner}.grad_fn.next_functions[0][0].register_hook(log.hook('{n} above {inner}'{at}))
1: {h} = {node_of}.register_prehook(log.hook('{n} at {leaf}'{before}))
3: {handle}.remove()
2: {inner}.retain_grad()
[node_of]
{leaf}.view_as({leaf}).grad_fn.next_functions[0][0]
[action]
14:
2: , lambda g: g * 2 | , lambda g: -g | , lambda g: g + 1 | , lambda g: g.clone()
2: , lambda g: g * 0
2: , lambda g: log('mode', torch.is_grad_enabled()) | , lambda g: {handle}.remove()
1: , lambda g: 3.0 | , lambda g: g.double() | , lambda g: g.sum() | , lambda g: (g,)
1: , lambda g: 1 / 0
1: , lambda g: log('late', {late}.register_hook(log.hook('late on {late}')) and None)
1: , lambda g: {inner}.grad_fn.register_hook(log.hook('late at {inner}')) and None
1: , lambda g: {inner}.retain_grad() | , lambda g: setattr({leaf}, 'grad', None)
1: , lambda g: torch.no_grad()(lambda: {x}.mul_(2))() is None or None
1: , lambda g: torch.enable_grad()(lambda: torch.ones(2, requires_grad=True).sum().backward())()
[after]
6: , lambda leaf: log('grad', leaf.grad)
1: , lambda leaf: setattr(leaf, 'grad', None) | , lambda leaf: 3.0 | , lambda leaf: leaf
1: , lambda leaf: leaf.grad.zero_() is None or None
1: , lambda leaf: leaf.grad.mul_(2) is None or None
[before]
11:
2: , lambda gs: tuple(g if g is None else g * 2 for g in gs)
2: , lambda gs: tuple(None for g in gs)
1: , lambda gs: gs[0] | , lambda gs: (gs[0],) * 5 | , lambda gs: list(gs)
1: , lambda gs: {handle}.remove()
1: , lambda gs: 1 / 0 | , lambda gs: tuple(g if g is None else g.sum() for g in gs)
1: , lambda gs: 3.0
[at]
11:
2: , lambda gi, go: tuple(g if g is None else -g for g in gi)
2: , lambda gi, go: tuple(None for g in gi)
1: , lambda gi, go: gi[0] | , lambda gi, go: (gi[0],) * 5 | , lambda gi, go: list(gi)
1: , lambda gi, go: 1 / 0 | , lambda gi, go: {handle}.remove() | , lambda gi, go: 3.0
[total]
{g}.sum() | {g}.sum() | {g}.mean() | ({g} * {g}).sum() | {g}.view(-1).sum() | ({g} * {y}).sum()
[pass]
6: {total}.backward({options}) | {g}.backward({like}, {options})
1: {g}.backward({options}) | torch.autograd.backward([{total}, {inner}.sum()], {options})
2: {new} = {leaf}.grad | {leaf}.grad.mul_(2)
1: with torch.no_grad(): {leaf}.sub_({leaf}.grad, alpha=0.5)
[like]
8: torch.full_like({g}, 0.5) | torch.ones_like({g})
1: torch.ones(2, 2) | torch.ones_like({g}).double()
[options]
3: | retain_graph=True | retain_graph=True
1: create_graph=True | retain_graph=True, inputs=[{leaf}] | inputs=[{g2}, {leaf}] | inputs=[{x}]
[grad]
4: {new}, = torch.autograd.grad({total}, {leaf}, allow_unused=True, {how})
3: {new}, = torch.autograd.grad({g}, {leaf}, {like}, allow_unused=True, {how})
2: {new}, {new2} = torch.autograd.grad({total}, [{leaf}, {g2}], allow_unused=True, {how})
1: {new}, = torch.autograd.grad({total}, {x}, {how})
[how]
3: create_graph=True | retain_graph=True
1: | create_graph=True, materialize_grads=True
[flag]
3: {inner}.retain_grad() | {leafy}.requires_grad_() | {leafy}.grad = None
1: {leafy}.requires_grad_(False) | {x}.detach_() | {x}.data = {x}.data * 2
1: {leafy}.grad = torch.full_like({leafy}, 0.5) | {x}.grad = torch.ones(2, 2)
[other]
1: torch.set_grad_enabled(False) | del {x}
3: look(log, {x}={x}) | torch.set_grad_enabled(True)
[custom]
Square.apply({f}) | Exp.apply({f}) | Scale.apply({f}, 2.0) | SumAndDifference.apply({f}, {y})
PassOn.apply({f}) | NoGradient.apply({f})
[body]
3: torch.tanh(r) | torch.relu(r) | r * 2 | 1 - r | r.clone() | r.view_as(r) | r + x | r * x | -r
2: torch.sigmoid(r) | r / 2 | r.exp() | r * r | r.view(-1).view(r.shape) | r - r.sum() / 4
1: r.detach() | r[:1] + r | torch.cat(r.chunk(2)[::-1]) | r.add_(1) | r.mul_(x) | r.relu_()
1: r.chunk(2)[0]
4: r * self.p | self.p + r
[result]
9: r
2: (r, x) | [r, r * 2] | {{'first': r, 'second': x}} | (r, None, 3.5) | (r, (x, -r))
1: x | (r,) | None | r.detach() | args
[module hook]
4: {h} = {m}.register_forward_pre_hook(log.module_hook('{n} forward-pre'{pre}){place})
4: {h} = {m}.register_forward_hook(log.module_hook('{n} forward'{post}){place})
4: {h} = {m}.register_full_backward_pre_hook(log.module_hook('{n} full-pre'{gpre}){place})
8: {h} = {m}.register_full_backward_hook(log.module_hook('{n} full'{gpost}){place})
6: {h} = {m}.register_backward_hook(log.module_hook('{n} legacy'{gpost}))
1: {h} = {m}.register_forward_hook(log.module_hook('{n} always'), always_call=True)
1: {h} = {m}.register_forward_pre_hook(log.module_hook('{n} with kwargs'), with_kwargs=True)
1: {h} = {m}.register_forward_hook(log.module_hook('{n} with kwargs'), with_kwargs=True)
2: {h} = {globals}_forward_pre_hook(log.module_hook('{n} global forward-pre'))
2: {h} = {globals}_forward_hook(log.module_hook('{n} global forward'{post}))
2: {h} = {globals}_full_backward_pre_hook(log.module_hook('{n} global full-pre'{gpre}))
2: {h} = {globals}_full_backward_hook(log.module_hook('{n} global full'{gpost}))
2: {h} = {globals}_backward_hook(log.module_hook('{n} global legacy'))
4: {handle}.remove()
[globals]
torch.nn.modules.module.register_module
[place]
3:
1: , prepend=True
[pre]
8:
2: , lambda m, a: each(torch, a, lambda t: t * 2) | , lambda m, a: a[0]
2: , lambda m, a: {handle}.remove()
1: , lambda m, a: each(torch, a, lambda t: t.detach()) | , lambda m, a: 1 / 0 | , lambda m, a: 3
[post]
8:
2: , lambda m, a, r: each(torch, r, lambda t: t * 2)
2: , lambda m, a, r: each(torch, r, lambda t: t.view_as(t))
1: , lambda m, a, r: a[0] | , lambda m, a, r: {handle}.remove() | , lambda m, a, r: 1 / 0
1: , lambda m, a, r: [r] | , lambda m, a, r: each(torch, r, lambda t: t.detach())
[gpre]
8:
3: , lambda m, go: each(torch, go, lambda t: t * 2)
1: , lambda m, go: go[0] | , lambda m, go: go[:-1] | , lambda m, go: 1 / 0
1: , lambda m, go: {handle}.remove()
1: , lambda m, go: each(torch, go, lambda t: t.sum()) | , lambda m, go: tuple(None for g in go)
[gpost]
8:
3: , lambda m, gi, go: each(torch, gi, lambda t: t * 2)
1: , lambda m, gi, go: gi[0] | , lambda m, gi, go: gi[:-1] | , lambda m, gi, go: 1 / 0
1: , lambda m, gi, go: tuple(None for g in gi) | , lambda m, gi, go: (*gi, None)
1: , lambda m, gi, go: go
1: , lambda m, gi, go: {handle}.remove()
1: , lambda m, gi, go: {m}.weight.register_hook(log.hook('late'))
[run]
6: {new} = {m}({three})
2: {new} = {m}({three}, {y}) | {new} = {m}({three}, extra={y})
1: {new} = {m}() | with torch.no_grad(): {new} = {m}({three})
[train]
1: {optimizer}.zero_grad() | {optimizer}.zero_grad(set_to_none=False)
3: {optimizer}.step()
3: {h} = {optimizer}.register_step_pre_hook(lambda *a: log('{n} before a step'))
3: {h} = {optimizer}.register_step_post_hook(lambda *a: log('{n} after a step'))
"""

# Functions of our own; the definition stands before the first line that applies one.
FUNCTION_TEXT = """
class {name}(torch.autograd.Function):
    @staticmethod
    def forward(ctx, {takes}):
        {forward}
        return {result}

    @staticmethod
    def backward(ctx, {gets}):
        return {gives}
"""
PLACES = ("name", "takes", "forward", "result", "gets", "gives")
FUNCTIONS = {
    name: FUNCTION_TEXT.strip().format_map(
        dict(
            zip(("name", "takes", "forward", "result", "gets", "gives"), [name, *rest], strict=True)
        )
    )
    for name, *rest in (
        ("Square", "x", "ctx.save_for_backward(x)", "x * x", "g", "g * 2 * ctx.saved_tensors[0]"),
        ("Exp", "x", "ctx.save_for_backward(y := x.exp())", "y", "g", "g * ctx.saved_tensors[0]"),
        ("Scale", "x, k", "ctx.k = k", "x * k", "g", "g * ctx.k, None"),
        ("SumAndDifference", "x, y", "pass", "x + y, x - y", "g, h", "g + h, g - h"),
        ("PassOn", "x", "pass", "x", "g", "g"),
        ("Doubled_", "x", "ctx.mark_dirty(x)", "x.mul_(2)", "g", "g * 2"),
        ("NoGradient", "x", "pass", "x * 3", "g", "None"),
    )
}


def read(text: str) -> dict[str, dict[str, int]]:
    """Give the tables by name: the weight of each alternative."""
    tables: dict[str, dict[str, int]] = {}
    for line in text.strip().splitlines():
        if heading := re.fullmatch(r"\[([\w ]+)\]", line):
            table = tables[heading[1]] = {}
            continue
        weight = re.match(r"(\d+):", line)
        for alternative in f" {line[weight.end() if weight else 0 :]} ".split(" | "):
            text = alternative.strip()
            table[text] = table.get(text, 0) + int(weight[1] if weight else 1)
    return tables


TABLES = read(TABLES_TEXT)
