"""Recurrent layers and attention among the other modules: hooks, copies, state, modes."""

from __future__ import annotations

import copy
import weakref

import pytest


def layers(torch):
    nn = torch.nn
    return {
        "lstm": (nn.LSTM(4, 4), 1),
        "gru": (nn.GRU(4, 4), 1),
        "attention": (nn.MultiheadAttention(4, 2, batch_first=True), 3),
        "encoder": (nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), 1),
        "decoder": (nn.TransformerDecoderLayer(4, 2, 8, batch_first=True), 2),
    }


NAMES = ("lstm", "gru", "attention", "encoder", "decoder")


@pytest.mark.parametrize("name", NAMES)
def test_forward_and_backward_hooks_run(torch, name):
    layer, count = layers(torch)[name]
    seen = []
    layer.register_forward_pre_hook(lambda module, args: seen.append(("before", len(args))))
    layer.register_forward_hook(lambda module, args, result: seen.append(("after", type(result))))
    layer.register_full_backward_hook(
        lambda module, inputs, outputs: seen.append(("backward", inputs[0].shape))
    )
    x = torch.randn(2, 3, 4, requires_grad=True)
    result = layer(*[x] * count)
    (result[0] if isinstance(result, tuple) else result).sum().backward()
    kinds = [kind for kind, _ in seen]
    assert kinds == ["before", "after", "backward"]
    assert seen[0][1] == count and seen[2][1] == x.shape and x.grad is not None


@pytest.mark.parametrize("name", NAMES)
def test_a_copy_and_a_loaded_state_compute_the_same(torch, name):
    layer, count = layers(torch)[name]
    layer.eval()
    x = torch.randn(2, 3, 4)

    def output(module):
        result = module(*[x] * count)
        return result[0] if isinstance(result, tuple) else result

    other, _ = layers(torch)[name]
    other.eval().load_state_dict(layer.state_dict())
    assert torch.equal(output(copy.deepcopy(layer)), output(layer))
    assert torch.equal(output(other), output(layer))


def test_dropout_only_in_training(torch):
    layer = torch.nn.LSTM(4, 4, num_layers=2, dropout=0.5)
    x = torch.randn(2, 3, 4)
    assert not torch.equal(layer(x)[0], layer(x)[0])
    layer.eval()
    assert torch.equal(layer(x)[0], layer(x)[0])


def test_weights_that_are_replaced_are_used(torch):
    layer = torch.nn.GRU(2, 2)
    x = torch.randn(3, 1, 2)
    before = layer(x)[0]
    layer.weight_hh_l0 = torch.nn.Parameter(torch.zeros(6, 2))
    assert not torch.equal(layer(x)[0], before)
    assert layer.all_weights[0][1] is layer.weight_hh_l0
    layer.flatten_parameters()


def test_a_causal_mask_hides_what_comes_later(torch):
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True)
    mask = torch.nn.Transformer.generate_square_subsequent_mask(3)
    x = torch.randn(1, 3, 4, requires_grad=True)
    for options in ({"src_mask": mask}, {"src_mask": mask, "is_causal": True}):
        y = layer(x, **options)
        (gradient,) = torch.autograd.grad(y[0, 0].pow(2).sum(), x)
        assert gradient[0, 0].abs().sum() > 1e-6
        assert gradient[0, 1:].abs().sum() == 0


def test_padding_does_not_matter(torch):
    torch.manual_seed(0)
    attention = torch.nn.MultiheadAttention(4, 2, batch_first=True)
    x = torch.randn(2, 3, 4)
    padding = torch.tensor([[False, False, True], [False, True, True]])
    other = torch.where(padding[..., None], torch.full_like(x, 9.0), x)
    for weights in (True, False):
        a, _ = attention(x, x, x, key_padding_mask=padding, need_weights=weights)
        b, _ = attention(other, other, other, key_padding_mask=padding, need_weights=weights)
        assert torch.allclose(a[~padding], b[~padding], atol=1e-6)
        alone, _ = attention(x[1:, :1], x[1:, :1], x[1:, :1])
        assert torch.allclose(a[1, 0], alone[0, 0], atol=1e-6)


def test_packed_sequences_are_read_as_each_alone(torch):
    torch.manual_seed(0)
    rnn = torch.nn.utils.rnn
    layer = torch.nn.LSTM(2, 3, bidirectional=True)
    sequences = [torch.randn(length, 2) for length in (2, 4, 1)]
    output, (h, _) = layer(rnn.pack_sequence(sequences, enforce_sorted=False))
    padded, lengths = rnn.pad_packed_sequence(output)
    assert lengths.tolist() == [2, 4, 1]
    for place, sequence in enumerate(sequences):
        alone, (h_alone, _) = layer(sequence)
        assert torch.allclose(padded[: len(sequence), place], alone, atol=1e-6)
        assert torch.allclose(h[:, place], h_alone, atol=1e-6)


@pytest.mark.parametrize("used", [(0,), (1, 2), (2,), (0, 1, 2)])
@pytest.mark.parametrize(
    "settings", [{}, {"bias": False}, {"num_layers": 2, "bidirectional": True, "batch_first": True}]
)
def test_an_lstm_in_one_node_gives_what_its_steps_give(torch, settings, used):
    """It is one node in float32; in float64 the steps are recorded."""
    found = []
    for dtype in (torch.float32, torch.float64):
        torch.manual_seed(0)
        layer = torch.nn.LSTM(3, 4, **settings)
        count = len(layer.all_weights)
        shapes = (3, 3, 3), (count, 3, 4), (count, 3, 4), (3, 3, 4 * (1 + layer.bidirectional))
        x, h, c, *factors = (torch.randn(shape).to(dtype) for shape in (*shapes, shapes[1]))
        leaves = [each.requires_grad_() for each in (x, h, c, *layer.to(dtype).parameters())]
        output, states = layer(x, (h, c))
        results = (output, *states)
        total = sum((results[n] * factors[min(n, 1)]).sum() for n in used)
        assert "Mkldnn" in repr(states[0].grad_fn.next_functions) or dtype == torch.float64
        first = torch.autograd.grad(total, leaves, retain_graph=True)
        again = torch.autograd.grad(total, leaves, create_graph=True)
        second = torch.autograd.grad(sum((each**2).sum() for each in again), leaves)
        found.append([each.double() for each in (*results, *first, *again, *second)])
    for a, b in zip(*found, strict=True):
        assert torch.allclose(a, b, atol=1e-5 * (1 + float(b.detach().abs().max())))


def test_hooks_of_an_lstm_see_one_node(torch):
    layer = torch.nn.LSTM(2, 3, bidirectional=True, batch_first=True)
    layer.bias_hh_l0_reverse.requires_grad_(False)
    x = torch.ones(2, 4, 2).requires_grad_()
    packed = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t):
        output, _ = layer(x)
    assert [each.output_nr for each in packed[7:11]] == [0, 1, 2, 0]
    joined = output.grad_fn.next_functions[0][0]
    node, seen = joined.next_functions[1][0], []
    assert node.next_functions[0][0].name() == "CloneBackward0"
    assert all(each.is_contiguous() for each in (node._saved_result0, node._saved_hx_))
    node.register_hook(lambda into, _: seen.append([each is not None for each in into]))
    node.register_hook(lambda into, _: seen.append(into[0].stride()))
    layer.weight_hh_l0_reverse.register_hook(lambda grad: seen.append(grad.shape))
    leaves = [x, *(each for each in layer.parameters() if each.requires_grad)]
    torch.autograd.grad(output.sum(), leaves, retain_graph=True)
    torch.autograd.grad(output.sum(), leaves, create_graph=True)
    assert seen[:3] == [[True, True, True, True, False, False, False], (4, 2, 1), (12, 3)]
    assert len(seen) == 6 and seen[3] == seen[0]
    assert layer(x * float("inf"))[0].isnan().any()  # and nothing warns
    if torch.__name__ == "minigrad":
        joined = layer(x)[0].grad_fn.next_functions[0][0]
        node, joined = weakref.ref(joined.next_functions[1][0]), None
        assert node() is None  # without the garbage collector
