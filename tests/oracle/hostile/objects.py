"""Uses of objects that work: layers, modules, hooks, optimizers, schedules, loaders, functions.

Hostile ones are made of them as of the calls of functions: an argument of one call at a time.
`m()` is a model, `o()` an optimizer; see `values.names`. In forward mode an argument that counts
from the end gets zeros for its gradient from PyTorch: `jacfwd` and `hessian` get no `argnums`.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from types import ModuleType
from typing import Any

LAYERS = """
Linear(3, 2, True)(g(2,3))
Bilinear(3, 2, 4)(g(2,3), t(2,2))
Identity()(g(2,3))
Flatten(1, -1)(g(2,3,4))
Unflatten(1, (3, 2))(g(2,6))
Conv1d(2, 3, 2, stride=1, padding=1)(g(1,2,5))
Conv2d(2, 4, (2, 2), 1, 0, 1, 2, False)(g(1,2,5,5))
Conv2d(2, 3, 2, padding=1, padding_mode='reflect')(g(1,2,5,5))
Conv3d(1, 2, 2)(t(1,1,3,3,3))
ConvTranspose1d(2, 3, 2, 2)(g(1,2,5))
ConvTranspose2d(2, 3, 2, 2, 1, 1)(g(1,2,3,3))
MaxPool1d(2, 1, 0, 1)(g(1,2,6))
MaxPool2d(2, stride=2, padding=0, return_indices=True, ceil_mode=False)(g(1,2,6,6))
AvgPool1d(2, 1)(g(1,2,6))
AvgPool2d(2, 2, 0, False, True, None)(g(1,2,6,6))
AdaptiveAvgPool1d(3)(g(1,2,6))
AdaptiveAvgPool2d((3, 2))(g(1,2,6,6))
AdaptiveMaxPool1d(3)(g(1,2,6))
AdaptiveMaxPool2d(2, False)(g(1,2,6,6))
LPPool1d(2, 2)(g(1,2,6))
BatchNorm1d(3, 1e-05, 0.1, True, True)(g(4,3))
BatchNorm2d(2, affine=False)(g(2,2,3,3))
InstanceNorm1d(3, affine=True)(g(2,3,4))
LayerNorm((3,), 1e-05, True)(g(2,3))
GroupNorm(2, 4)(g(2,4,3))
RMSNorm(3, eps=0.1)(g(2,3))
LocalResponseNorm(2, 0.0001, 0.75, 1.0)(g(1,4,3))
Embedding(5, 3, padding_idx=1, max_norm=None)(i(4))
EmbeddingBag(5, 3, mode='sum')(i(4), i(2) * 0)
RNN(3, 2, 1, 'tanh')(g(4,1,3))
LSTM(3, 2, num_layers=1, batch_first=True)(g(1,4,3))
GRU(3, 2, bias=True)(g(4,1,3), t(1,1,2))
RNNCell(3, 2)(g(2,3), t(2,2))
LSTMCell(3, 2)(g(2,3))
GRUCell(3, 2)(g(2,3))
MultiheadAttention(4, 2, batch_first=True)(g(1,3,4), t(1,3,4), t(1,3,4), need_weights=True)
TransformerEncoderLayer(4, 2, 8, 0.0, 'relu')(g(3,1,4))
ReLU(False)(g(2,3))
LeakyReLU(0.1)(g(2,3))
PReLU(1, 0.25)(g(2,3))
ELU(1.0)(g(2,3))
GELU('tanh')(g(2,3))
Softplus(1.0, 20.0)(g(2,3))
Hardtanh(-0.5, 0.5)(g(2,3))
Threshold(0.2, 1.0)(g(2,3))
Softshrink(0.3)(g(2,3))
Softmax(dim=1)(g(2,3))
LogSoftmax(1)(g(2,3))
GLU(1)(g(2,4))
Dropout(0.0)(g(2,3))
Dropout2d(0.0)(g(1,2,3,3))
ReflectionPad1d((1, 1))(g(1,2,4))
ZeroPad2d(1)(g(1,1,3,3))
ConstantPad1d(1, 2.0)(g(1,2,4))
Upsample(scale_factor=2, mode='nearest')(g(1,1,3,3))
PixelShuffle(2)(g(1,4,2,2))
Fold((4, 4), (2, 2))(g(1,8,9))
Unfold(2, stride=1)(g(1,2,4,4))
CosineSimilarity(1, 1e-08)(g(2,3), t(2,3))
PairwiseDistance(2.0)(g(2,3), t(2,3))
MSELoss(reduction='mean')(g(2,3), t(2,3))
L1Loss()(g(2,3), t(2,3))
SmoothL1Loss(beta=0.5)(g(2,3), t(2,3))
HuberLoss('mean', 1.0)(g(2,3), t(2,3))
CrossEntropyLoss(t(3), ignore_index=-100, label_smoothing=0.1)(g(2,3), z(2))
NLLLoss(reduction='sum')(g(2,3), z(2))
BCELoss()(g(2,3), t(2,3))
BCEWithLogitsLoss(pos_weight=t(3))(g(2,3), t(2,3))
KLDivLoss(reduction='batchmean', log_target=False)(g(2,3), t(2,3))
PoissonNLLLoss(log_input=True, eps=0.1)(g(2,3), t(2,3))
MarginRankingLoss(0.5)(g(3), t(3), t(3))
HingeEmbeddingLoss(1.0)(g(3), t(3))
TripletMarginLoss(1.0, 2.0)(g(2,3), t(2,3), t(2,3))
Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU())(g(2,3))
ModuleList([torch.nn.ReLU()]).append(torch.nn.Tanh())
ModuleDict({'a': torch.nn.ReLU()}).pop('a')
ParameterList([t(2)]).append(t(3))
ParameterDict({'a': t(2)}).get('a')
Parameter(t(2,3), requires_grad=True)
utils.clip_grad_norm_([grown(2,3)], 1.0, 2.0)
utils.clip_grad_value_([grown(2,3)], 0.5)
utils.parameters_to_vector([g(2,3), g(3)])
utils.vector_to_parameters(t(6), [torch.nn.Parameter(t(2,3))])
utils.rnn.pad_sequence([t(2), t(3)], batch_first=True, padding_value=0.5)
utils.rnn.pack_padded_sequence(g(3,2,1), [3, 2], batch_first=False)
utils.weight_norm(torch.nn.Linear(3, 2), 'weight', 0)
utils.remove_weight_norm(torch.nn.utils.weight_norm(torch.nn.Linear(3, 2)), 'weight')(g(2,3))
utils.spectral_norm(torch.nn.Linear(3, 2), 'weight', 1, 1e-12, 0)
utils.remove_spectral_norm(torch.nn.utils.spectral_norm(torch.nn.Linear(3, 2)), 'weight')
utils.rnn.pack_sequence([t(3,1), t(2,1)], enforce_sorted=True)
utils.rnn.pad_packed_sequence(same(torch.nn.utils.rnn.pack_sequence([t(3), t(2)])), True, 0.5, 4)
utils.rnn.invert_permutation(torch.tensor([1, 0]))
utils.rnn.PackedSequence(t(3), torch.tensor([2, 1]))
AdaptiveAvgPool3d((2, 1, 2))(g(1,1,3,3,3))
AvgPool3d(2, 1)(g(1,1,3,3,3))
MaxPool3d(2, 1, 0)(t(1,1,3,3,3))
ConvTranspose3d(1, 2, 2)(g(1,1,2,2,2))
BatchNorm3d(2)(g(1,2,2,2,2))
InstanceNorm2d(2)(g(1,2,3,3))
InstanceNorm3d(2, 0.1, 0.1, True)(g(1,2,2,2,2))
SyncBatchNorm(2).eval()(g(3,2))
LazyLinear(2)(g(2,3))
LazyConv1d(2, 2)(g(1,2,5))
LazyConv2d(2, 2, padding=1)(g(1,2,4,4))
LazyConv3d(2, 2)(g(1,1,3,3,3))
LazyConvTranspose1d(2, 2)(g(1,2,4))
LazyConvTranspose2d(2, 2)(g(1,2,3,3))
LazyConvTranspose3d(2, 2)(g(1,1,2,2,2))
LazyBatchNorm1d()(g(4,3))
LazyBatchNorm2d(0.1)(g(2,2,3,3))
LazyBatchNorm3d()(g(1,2,2,2,2))
LazyInstanceNorm1d()(g(2,3,4))
LazyInstanceNorm2d()(g(1,2,3,3))
LazyInstanceNorm3d()(g(1,2,2,2,2))
AlphaDropout(0.0)(g(2,3))
Dropout1d(0.0)(g(1,2,3))
Dropout3d(0.0, False)(g(1,2,2,2,2))
CELU(0.5)(g(2,3))
SELU()(g(2,3))
SiLU(False)(g(2,3))
ReLU6()(g(2,3))
RReLU(0.1, 0.3).eval()(g(2,3))
Hardsigmoid()(g(2,3))
Hardswish()(g(2,3))
LogSigmoid()(g(2,3))
Sigmoid()(g(2,3))
Softmin(1)(g(2,3))
Softsign()(g(2,3))
Tanh()(g(2,3))
Tanhshrink()(g(2,3))
ConstantPad2d((1, 0, 0, 1), 0.5)(g(1,1,3,3))
ConstantPad3d(1, 0.5)(g(1,1,2,2,2))
ZeroPad1d((1, 0))(g(1,2,4))
ZeroPad3d(1)(g(1,1,2,2,2))
ReflectionPad2d(1)(g(1,1,3,3))
ReflectionPad3d(1)(g(1,1,3,3,3))
ReplicationPad1d((0, 1))(g(1,2,4))
ReplicationPad2d((1, 0, 1, 0))(g(1,1,3,3))
ReplicationPad3d(1)(g(1,1,2,2,2))
CosineEmbeddingLoss(0.5, reduction='sum')(g(2,3), t(2,3), t(2))
MultiLabelMarginLoss()(g(2,3), z(2,3))
SoftMarginLoss(reduction='none')(g(2,3), t(2,3))
Transformer(4, 2, 1, 1, 8, 0.0)(g(3,1,4), t(2,1,4))
TransformerEncoder(torch.nn.TransformerEncoderLayer(4, 2, 8, 0.0), 2, None)(g(3,1,4), mask=None)
TransformerDecoderLayer(4, 2, 8, 0.0, batch_first=True)(g(1,3,4), t(1,2,4), t(3,3))
TransformerDecoder(torch.nn.TransformerDecoderLayer(4, 2, 8, 0.0), 1)(g(3,1,4), t(2,1,4))
Transformer.generate_square_subsequent_mask(3)
DataParallel(torch.nn.Linear(3, 2), None, 0)(g(2,3))
RNNBase('GRU', 3, 2, num_layers=1).flatten_parameters()
Buffer(t(2), persistent=True)
UninitializedParameter(True, dtype=torch.float32).materialize((2, 3))
UninitializedBuffer().materialize((2,))
Module()
Linear(3, 2, device='cpu', dtype=torch.float64)(d(2,3))
LSTM(3, 2, 2, bidirectional=True, dropout=0.0)(g(4,1,3), (t(4,1,2), t(4,1,2)))
RNN(3, 2, nonlinearity='relu')(torch.nn.utils.rnn.pack_sequence([t(3,3), t(2,3)]))
Embedding(5, 3)(same(i(4)))
Embedding.from_pretrained(t(5,3), freeze=False)(i(4))
ModuleList([torch.nn.ReLU()]).insert(0, torch.nn.Tanh())
ModuleList([torch.nn.ReLU(), torch.nn.Tanh()]).extend([torch.nn.ReLU()])
ModuleList([torch.nn.ReLU(), torch.nn.Tanh()])[0]
Sequential(torch.nn.ReLU(), torch.nn.Tanh())[1]
ModuleDict({'a': torch.nn.ReLU()}).update({'b': torch.nn.Tanh()})
ModuleDict({'a': torch.nn.ReLU()})['a']
ParameterDict({'a': t(2)}).update({'b': t(3)})
ParameterDict({'a': t(2)}).setdefault('b', t(3))
ParameterDict({'a': t(2)}).fromkeys(['a'], 1)
ParameterList([t(2), t(3)])[0]
ParameterList([t(2)]).extend([t(3)])
init.uniform_(t(2,3), -1.0, 1.0)
init.normal_(t(2,3), 0.0, 1.0)
init.trunc_normal_(t(2,3), 0.0, 1.0, -2.0, 2.0)
init.constant_(t(2,3), 0.5)
init.xavier_normal_(t(2,3), gain=1.0)
init.kaiming_uniform_(t(2,3), a=0, mode='fan_in', nonlinearity='leaky_relu')
init.orthogonal_(t(2,3), gain=1)
init.calculate_gain('leaky_relu', 0.1)
"""
MODULES = """
m()(g(2,3))
m().train(True)
m().eval()
m().requires_grad_(False)
m().zero_grad(set_to_none=True)
m().to(torch.float64)
m().to(dtype=torch.float64)
m().type(torch.float64)
m().half()
m().apply(len_of)
m().state_dict(prefix='a.', keep_vars=False)
m().load_state_dict(m().state_dict(), strict=True)
m().get_submodule('0')
m().get_parameter('0.weight')
m().get_buffer('1.running_mean')
m().register_buffer('a', t(2), persistent=True)
m().register_parameter('a', torch.nn.Parameter(t(2)))
m().register_module('a', torch.nn.ReLU())
m().add_module('a', None)
m().named_parameters(prefix='a', recurse=True)
m().named_buffers('a', True)
m().named_modules(prefix='a')
m().register_forward_hook(keep, prepend=True, with_kwargs=False, always_call=False)
m().register_forward_pre_hook(keep, prepend=False)
m().register_full_backward_hook(keep, prepend=False)
m().register_full_backward_pre_hook(keep)
m().register_backward_hook(keep)
m().register_state_dict_post_hook(keep)
m().register_load_state_dict_pre_hook(keep)
m().append(torch.nn.ReLU())
m().insert(1, torch.nn.ReLU())
m().extend([torch.nn.ReLU()])
m().pop(0)
hooked(m(), 'register_forward_hook', give(None))
hooked(m(), 'register_forward_pre_hook', give(None))
hooked(m(), 'register_full_backward_hook', give(None))
hooked(m(), 'register_full_backward_pre_hook', give(None))
hooked(m(), 'register_backward_hook', give(None))
hooked(m(), 'register_forward_hook', give(None), with_kwargs=True, always_call=True)
hooked(m(), 'register_forward_pre_hook', give(None), with_kwargs=True)
hooked(m(), 'register_forward_pre_hook', lambda module, given: same((given[0] * 2,)))
hooked(m(), 'register_forward_hook', lambda module, given, made: same(made * 2))
hooked(m(), 'register_full_backward_hook', lambda module, grad, out: same((grad[0] * 2,)))
hooked(m(), 'register_full_backward_pre_hook', lambda module, out: same((out[0] * 2,)))
everywhere('register_module_forward_hook', give(None), always_call=True)
everywhere('register_module_forward_pre_hook', give(None))
everywhere('register_module_full_backward_hook', give(None))
everywhere('register_module_full_backward_pre_hook', give(None))
everywhere('register_module_buffer_registration_hook', give(None))
everywhere('register_module_parameter_registration_hook', give(None))
everywhere('register_module_module_registration_hook', give(None))
after(m(), 'register_state_dict_pre_hook', keep).state_dict()
after(m(), 'register_state_dict_post_hook', give(None)).state_dict()
after(m(), 'register_load_state_dict_pre_hook', keep).load_state_dict(m().state_dict())
after(m(), 'register_load_state_dict_post_hook', keep).load_state_dict(m().state_dict())
after(m(), 'register_buffer', 'a', t(2), persistent=False).state_dict()
after(m(), 'register_parameter', 'a', None).state_dict()
after(m(), '__setattr__', 'a', torch.nn.Parameter(t(2))).state_dict()
after(m(), '__setattr__', '0', torch.nn.ReLU())(g(4,2))
after(m(), '__delattr__', '1')(g(2,3))
after(m()[0], '__setattr__', 'weight', torch.nn.Parameter(t(2,3)))(g(2,3))
after(m()[0], '__setattr__', 'bias', None)(g(2,3))
m().load_state_dict({**m().state_dict(), '0.bias': same(t(2))}, strict=True)
m().load_state_dict({'0.weight': t(2,3)}, strict=False, assign=True)
m().state_dict(destination={})
m().set_submodule('0', torch.nn.Linear(3, 2))
m().double()
m().float()
m().cpu()
m().share_memory()
m().parameters(recurse=True)
list(m().parameters(True))
list(m().buffers(True))
list(m().children())
list(m().named_children())
list(m().modules())
dict(m().named_parameters('a', True, remove_duplicate=True))
dict(m().named_modules(set(), 'a', True))
dict(m().named_buffers('', recurse=True))
m().to(d(2))
m().to('cpu', torch.float64, non_blocking=False)
m().to_empty(device='cpu', recurse=True)
m().compile()
m()(input=g(2,3))
torch.func.functional_call(m(), dict(m().named_parameters()), (g(2,3),))
torch.nn.utils.stateless.functional_call(m(), {'0.bias': t(2)}, g(2,3))
"""
TENSORS = """
g(2,3).register_hook(keep)
g(2,3).register_post_accumulate_grad_hook(keep)
(g(2,3) * 2).retain_grad()
(g(2,3) * 2).grad_fn.register_hook(keep)
(g(2,3) * 2).grad_fn.register_prehook(keep)
with_hook(g(2,3), give(None))
(g(2,3) * 2).sum().backward(retain_graph=False, create_graph=False)
(g(2,3) * 2).backward(t(2,3), inputs=None)
torch.autograd.backward([g(2,3).sum()], [t()], retain_graph=False)
torch.autograd.grad([squares().sum()], [squares()], allow_unused=True, materialize_grads=True)
torch.autograd.grad(squares(), squares(), t(2,3), True, False, allow_unused=True)
torch.autograd.functional.jacobian(half_of, g(2), create_graph=False, strict=False)
torch.autograd.functional.hessian(sum_of, g(2))
torch.autograd.functional.vjp(half_of, g(2), t(2))
torch.autograd.functional.jvp(half_of, g(2), t(2))
torch.autograd.functional.hvp(sum_of, g(2), t(2))
torch.autograd.gradcheck(half_of, (d(2).requires_grad_(),), eps=1e-06, atol=0.0001)
torch.utils.checkpoint.checkpoint(half_of, g(2), use_reentrant=False)
torch.set_grad_enabled(True)
torch.autograd.set_detect_anomaly(False)
torch.manual_seed(3)
torch.set_default_dtype(torch.float32)
with_hook(g(2,3), lambda grad: same(grad * 2))
after(g(2,3), 'register_post_accumulate_grad_hook', give(None)).sum().backward()
after(g(2,3).exp().grad_fn, 'register_prehook', give(None))(t(2,3))
after(g(2,3).exp().grad_fn, 'register_hook', give(None))(t(2,3))
after(g(2,3).exp().grad_fn, 'register_hook', lambda a, b: same((t(2,3),)))(t(2,3))
after(g(2,3), '__setattr__', 'grad', t(2,3)).grad
after(g(2,3), '__setattr__', 'data', t(2,3)).data
after(t(2,3), '__setattr__', 'requires_grad', True)
g(2,3).register_hook(keep).remove()
g(2,3).requires_grad_(True)
(g(2,3) * 2).grad_fn.next_functions[0][0](t(2,3))
torch.autograd.backward((g(2,3), g(3)), (t(2,3), t(3)), inputs=squares())
torch.autograd.grad(squares().sum(), squares(), create_graph=True)
torch.autograd.grad((squares() * 2, squares()), (squares(),), [t(2,3), t(2,3)])
torch.autograd.grad(squares() * 2, squares(), same(torch.nn.Parameter(t(2,3))), create_graph=True)
torch.autograd.functional.vhp(sum_of, g(2), t(2), create_graph=False, strict=False)
torch.autograd.functional.jacobian(lambda x: same(x * 2), (g(2),), vectorize=False)
torch.autograd.functional.hessian(lambda x: same(sum_of(x)), g(2), vectorize=False)
torch.autograd.gradcheck(lambda x: same(x * 2), d(2).requires_grad_(), rtol=0.001, nondet_tol=0.0)
torch.autograd.gradcheck(half_of, d(2).requires_grad_(), raise_exception=False)
torch.autograd.gradgradcheck(half_of, d(2).requires_grad_(), d(2).requires_grad_(), eps=1e-06)
torch.autograd.graph.register_multi_grad_hook((g(2), g(3)), keep, mode='any')
torch.autograd.backward(torch.autograd.graph.get_gradient_edge(g(2) * 2), t(2))
torch.autograd.backward(torch.autograd.graph.GradientEdge((g(2) * 2).grad_fn, 0), t(2))
torch.autograd.graph.increment_version(t(2))
within(torch.autograd.graph.saved_tensors_hooks(half_of, same), sum_of, g(2))
within(torch.autograd.graph.saved_tensors_hooks(lambda x: same(x), lambda x: same(x)), sum_of, g(2))
within(torch.autograd.graph.save_on_cpu(pin_memory=False), sum_of, g(2))
within(torch.autograd.graph.disable_saved_tensors_hooks('a'), sum_of, g(2))
within(torch.autograd.graph.allow_mutation_on_saved_tensors(), with_hook, g(2), keep)
within(torch.no_grad(), sum_of, g(2))
within(torch.enable_grad(), sum_of, g(2))
within(torch.inference_mode(True), sum_of, g(2))
within(torch.set_grad_enabled(False), sum_of, g(2))
within(torch.autograd.detect_anomaly(check_nan=True), sum_of, g(2))
within(torch.autograd.set_detect_anomaly(True, check_nan=True), sum_of, g(2))
within(torch.random.fork_rng([], True), sum_of, g(2))
torch.no_grad()(sum_of)(g(2))
ran(lambda ctx, x: x * 2, lambda ctx, grad: same(grad * 2), g(2,3))
ran(lambda ctx, x: same(x * 2), lambda ctx, grad: grad * 2, g(2,3))
ran(lambda ctx, x, y: (x * y, x + y), lambda ctx, a, b: (same(a), same(b)), g(2,3), g(2,3))
ran(lambda ctx, x: ctx.save_for_backward(x) or x * 2, lambda ctx, a: ctx.saved_tensors[0], g(2))
ran(lambda ctx, x: ctx.mark_dirty(x) or x, lambda ctx, grad: grad, g(2,3) * 2)
ran(lambda ctx, x: ctx.set_materialize_grads(False) or x * 2, lambda ctx, grad: grad, g(2,3))
ran(lambda ctx, x: ctx.mark_non_differentiable(same(x)) or x * 2, lambda ctx, grad: grad, g(2,3))
ran(lambda ctx, x: (x * 2, ctx.needs_input_grad[0])[0], lambda ctx, grad: grad, g(2,3))
ran(lambda ctx, x: x * 2, torch.autograd.function.once_differentiable(lambda ctx, grad: grad), g(2))
torch.utils.checkpoint.checkpoint(half_of, g(2), use_reentrant=True, preserve_rng_state=True)
torch.utils.checkpoint.checkpoint_sequential([half_of, half_of], 2, g(2), use_reentrant=False)
within(torch.utils.checkpoint.set_checkpoint_early_stop(True), sum_of, g(2))
torch.func.grad(sum_of, argnums=0, has_aux=False)(t(2))
torch.func.grad_and_value(sum_of)(t(2))
torch.func.jacrev(half_of, argnums=0)(t(2))
torch.func.jacfwd(torch.exp)(t(2))
torch.func.hessian(sum_of)(t(2))
torch.func.vmap(sum_of, in_dims=0, out_dims=0)(t(2,3))
torch.func.vjp(half_of, t(2))[1](t(2))
torch.inference_mode()(torch.func.grad_and_value(sum_of))(t(2))
torch.Generator(device='cpu').manual_seed(3)
torch.Generator().set_state(torch.Generator().get_state())
torch.random.set_rng_state(torch.random.get_rng_state())
torch.load(file(t(2)), map_location='cpu', weights_only=True)
torch.load(file(same({'a': t(2), 'b': [1, 2.0, 'c', None]})))
torch.load(file(m().state_dict()), weights_only=False)
torch.save(t(2), io.BytesIO())
torch.save(m().state_dict(), f=io.BytesIO(), pickle_protocol=2)
torch.load(file(1))
"""
OPTIMIZERS = """
step(torch.optim.SGD([grown(2,3)], lr=0.1, momentum=0.9, dampening=0.0, weight_decay=0.1))
step(torch.optim.SGD([grown(2,3)], 0.1, 0.9, nesterov=True))
step(torch.optim.Adam([grown(2,3)], lr=0.01, betas=(0.9, 0.999), eps=1e-08, amsgrad=True))
step(torch.optim.AdamW([grown(2,3)], 0.01, weight_decay=0.1, maximize=False))
step(torch.optim.Adagrad([grown(2,3)], lr=0.1, lr_decay=0.1))
step(torch.optim.Adadelta([grown(2,3)], rho=0.9))
step(torch.optim.Adamax([grown(2,3)], 0.1))
step(torch.optim.RMSprop([grown(2,3)], 0.1, alpha=0.9, centered=True))
step(torch.optim.Rprop([grown(2,3)], etas=(0.5, 1.2), step_sizes=(1e-06, 50)))
step(torch.optim.SGD([{'params': [grown(2)], 'lr': 0.5}], lr=0.1))
step(torch.optim.ASGD([grown(2,3)], 0.1, lambd=0.0001, alpha=0.75, t0=1000000.0, weight_decay=0.0))
step(torch.optim.Adam([grown(2,3)], 0.1, (0.9, 0.999), foreach=False, capturable=False, fused=None))
step(torch.optim.Adam(same([grown(2,3)]), lr=torch.tensor(0.1), weight_decay=0.1))
step(torch.optim.Adamax([grown(2,3)], betas=(0.9, 0.999), eps=1e-08, weight_decay=0.1))
step(torch.optim.Adadelta([grown(2,3)], lr=1.0, eps=1e-06, weight_decay=0.1, maximize=True))
step(torch.optim.RMSprop([grown(2,3)], eps=1e-08, weight_decay=0.1, momentum=0.5))
step(torch.optim.Adagrad([grown(2,3)], initial_accumulator_value=0.5, eps=1e-10, weight_decay=0.1))
step(torch.optim.Rprop([grown(2,3)], lr=0.1, maximize=True, differentiable=False))
step(torch.optim.SGD(m().parameters(), lr=0.1))
step(torch.optim.SGD([{'params': same([grown(2)]), 'momentum': same(0.5)}], lr=0.1))
least(torch.optim.LBFGS([grown(2)], lr=0.1, max_iter=3, max_eval=None, history_size=5))
least(torch.optim.LBFGS([grown(2)], tolerance_grad=1e-07, tolerance_change=1e-09))
least(torch.optim.LBFGS([grown(2)], line_search_fn='strong_wolfe'))
least(torch.optim.SGD([grown(2)], lr=0.1))
step(after(o(), 'register_step_pre_hook', give(None)))
step(after(o(), 'register_step_post_hook', give(None)))
after(o(), 'register_state_dict_pre_hook', keep, prepend=False).state_dict()
after(o(), 'register_state_dict_post_hook', give(None), prepend=True).state_dict()
after(o(), 'register_load_state_dict_pre_hook', give(None)).load_state_dict(o().state_dict())
after(o(), 'register_load_state_dict_post_hook', keep).load_state_dict(o().state_dict())
after(o(), 'load_state_dict', {**o().state_dict(), 'state': same({})}).state_dict()
after(o(), 'add_param_group', {'params': grown(2), 'lr': same(0.5)}).state_dict()
torch.optim.Optimizer([grown(2)], {'lr': 0.1})
o().state_dict()
o().add_param_group({'params': [grown(2)]})
o().zero_grad(set_to_none=True)
o().load_state_dict(o().state_dict())
o().step(None)
rate(torch.optim.lr_scheduler.StepLR(o(), step_size=2, gamma=0.1))
rate(torch.optim.lr_scheduler.MultiStepLR(o(), [1, 2], 0.5))
rate(torch.optim.lr_scheduler.ExponentialLR(o(), 0.5))
rate(torch.optim.lr_scheduler.CosineAnnealingLR(o(), T_max=4, eta_min=0.0))
rate(torch.optim.lr_scheduler.LinearLR(o(), 0.5, 1.0, total_iters=3))
rate(torch.optim.lr_scheduler.LambdaLR(o(), half))
rate(torch.optim.lr_scheduler.OneCycleLR(o(), max_lr=0.1, total_steps=5))
rate(torch.optim.lr_scheduler.ReduceLROnPlateau(o(), 'min', factor=0.5, patience=1), 1.0)
rate(torch.optim.lr_scheduler.ReduceLROnPlateau(o(), threshold=0.1, threshold_mode='abs'), 1.0)
rate(torch.optim.lr_scheduler.ReduceLROnPlateau(o(), cooldown=1, min_lr=0.0, eps=1e-08), 1.0)
rate(torch.optim.lr_scheduler.ConstantLR(o(), factor=0.5, total_iters=2, last_epoch=-1))
rate(torch.optim.lr_scheduler.PolynomialLR(o(), 4, power=2.0))
rate(torch.optim.lr_scheduler.LambdaLR(o(), [lambda epoch: same(0.5)]))
rate(torch.optim.lr_scheduler.OneCycleLR(o(), 0.1, epochs=2, steps_per_epoch=3, pct_start=0.3))
rate(torch.optim.lr_scheduler.OneCycleLR(o(), 0.1, 9, anneal_strategy='cos', div_factor=25.0))
rate(torch.optim.lr_scheduler.SequentialLR(*two(o()), milestones=[1]))
after(torch.optim.lr_scheduler.StepLR(o(), 2), 'step', 3).get_last_lr()
after(torch.optim.lr_scheduler.StepLR(o(), 2), 'load_state_dict', {'last_epoch': 3}).state_dict()
"""
DATA = """
list(torch.utils.data.DataLoader(pairs(), batch_size=2, shuffle=False, drop_last=True))
list(torch.utils.data.DataLoader([1, 2, 3], 2, num_workers=0, collate_fn=None))
list(torch.utils.data.TensorDataset(t(3), t(3,2)))
torch.utils.data.TensorDataset(t(3), t(3,2))[1]
torch.utils.data.Subset(pairs(), [0, 2])[1]
torch.utils.data.random_split(pairs(), [2, 1])
torch.utils.data.ConcatDataset([pairs(), pairs()])[4]
list(torch.utils.data.SequentialSampler(pairs()))
list(torch.utils.data.BatchSampler(torch.utils.data.SequentialSampler(pairs()), 2, False))
list(torch.utils.data.RandomSampler(pairs(), replacement=False, num_samples=2))
list(torch.utils.data.WeightedRandomSampler([0.5, 0.5], 3))
torch.utils.data.default_collate([t(2), t(2)])
torch.utils.data.default_collate([{'a': same(1), 'b': (2.0, 'c')}, {'a': 2, 'b': (3.0, 'd')}])
torch.utils.data.default_convert(same([1, np.ones(2)]))
list(torch.utils.data.SubsetRandomSampler([1, 2], generator=None))
list(torch.utils.data.DataLoader(numbers(), batch_size=2, collate_fn=len))
list(torch.utils.data.DataLoader(numbers(), sampler=[2, 0], batch_size=same(2)))
list(torch.utils.data.DataLoader(numbers(), batch_sampler=[[0, 1], [2]]))
list(torch.utils.data.DataLoader(stream(), batch_size=None, timeout=0, pin_memory=False))
list(torch.utils.data.DataLoader(stream(), 2, generator=torch.Generator().manual_seed(1)))
len(torch.utils.data.DataLoader(numbers(), 2, shuffle=True, worker_init_fn=None))
torch.utils.data.ConcatDataset.cumsum([pairs(), pairs()])
torch.utils.data.Subset(numbers(), same([0, 1]))[1]
torch.utils.data.random_split(numbers(), [0.5, 0.5], generator=torch.Generator())
list(torch.utils.data.WeightedRandomSampler(t(3), 2, replacement=False, generator=None))
list(torch.utils.data.BatchSampler(range(5), batch_size=2, drop_last=True))
numbers() + pairs()
torch.utils.data.Sampler()
"""


def uses() -> list[str]:
    """Give the source of each use."""
    layers = [f"torch.nn.{line}" for line in LAYERS.strip().splitlines()]
    rest = (MODULES, TENSORS, OPTIMIZERS, DATA)
    return layers + [line for table in rest for line in table.strip().splitlines()]


def same(value: Any) -> Any:
    """Give what is given: an argument of this call may be changed where none else is."""
    return value


def half_of(x: Any) -> Any:
    """Give half of a tensor."""
    return x / 2


def sum_of(x: Any) -> Any:
    """Give a number that depends on each entry of a tensor."""
    return (x**3).sum()


def tools(torch: ModuleType, known: dict[str, Any]) -> dict[str, Any]:
    """Give what uses of objects call besides PyTorch.

    Args:
        torch: PyTorch, or minigrad in its place.
        known: The names that calls know already, with `t`, `g`, `m` and `leaves`.
    """
    t, g, m = known["t"], known["g"], known["m"]

    def grown(*sizes: int) -> Any:
        leaf = torch.nn.Parameter(t(*sizes))
        leaf.grad = t(*sizes) - 0.3
        return leaf

    def step(optimizer: Any) -> list[Any]:
        optimizer.step()
        optimizer.step()
        return [p.detach() for group in optimizer.param_groups for p in group["params"]]

    def least(optimizer: Any) -> Any:
        parameter = optimizer.param_groups[0]["params"][0]

        def closure() -> Any:
            optimizer.zero_grad()
            loss = (parameter**2).sum()
            loss.backward()
            return loss

        optimizer.step(closure)
        return parameter.detach()

    def rate(scheduler: Any, *metrics: Any) -> list[Any]:
        for _ in range(3):
            scheduler.optimizer.step()
            scheduler.step(*metrics)
        return [group["lr"] for group in scheduler.optimizer.param_groups]

    def two(optimizer: Any) -> Any:
        kinds = torch.optim.lr_scheduler
        return optimizer, [kinds.ConstantLR(optimizer, 0.5), kinds.ExponentialLR(optimizer, 0.9)]

    def passed(module: Any) -> list[Any]:
        x = g(2, 3)
        module(x).sum().backward()
        return [x.grad, *(p.grad for p in module.parameters())]

    def hooked(module: Any, register: str, *hook: Any, **settings: Any) -> list[Any]:
        getattr(module, register)(*hook, **settings)
        return passed(module)

    def everywhere(register: str, *hook: Any, **settings: Any) -> list[Any]:
        handle = getattr(torch.nn.modules.module, register)(*hook, **settings)
        try:
            return passed(m())
        finally:
            handle.remove()

    def after(thing: Any, name: str, *given: Any, **settings: Any) -> Any:
        getattr(thing, name)(*given, **settings)
        return thing

    def within(mode: Any, function: Any, *given: Any) -> Any:
        with mode:
            return function(*given)

    def with_hook(leaf: Any, hook: Any) -> Any:
        leaf.register_hook(hook)
        (leaf * 2).sum().backward()
        return leaf.grad

    def ran(forward: Any, backward: Any, *given: Any) -> Any:
        methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
        return type("Ran", (torch.autograd.Function,), methods).apply(*given)

    def file(thing: Any) -> io.BytesIO:
        written = io.BytesIO()
        torch.save(thing, written)
        written.seek(0)
        return written

    def squares() -> Any:
        known["kept"] = known.get("kept", g(2, 3))
        return known["kept"]

    class Numbers(torch.utils.data.Dataset):  # type: ignore[name-defined,misc]
        def __len__(self) -> int:
            return 3

        def __getitem__(self, place: Any) -> Any:
            return [1.0, 2.0, 3.0][place]

    class Stream(torch.utils.data.IterableDataset):  # type: ignore[name-defined,misc]
        def __iter__(self) -> Iterator[int]:
            return iter([1, 2, 3])

    made = {
        "grown": grown, "step": step, "least": least, "rate": rate, "two": two, "hooked": hooked,
        "everywhere": everywhere, "after": after, "within": within, "with_hook": with_hook,
        "ran": ran, "file": file, "squares": squares, "numbers": Numbers, "stream": Stream,
        "io": io, "same": same,
        "o": lambda: torch.optim.SGD([grown(2, 3)], lr=0.1),
        "keep": lambda *given: None, "give": lambda value: lambda *given, **named: value,
        "len_of": lambda module: None, "half": lambda epoch: 0.5, "half_of": half_of,
        "sum_of": sum_of,
        "pairs": lambda: torch.utils.data.TensorDataset(t(3), t(3, 2)),
    }  # fmt: skip
    for name, each in made.items():
        if hasattr(each, "__qualname__"):
            each.__qualname__ = name  # as Python's errors name it
    return made
