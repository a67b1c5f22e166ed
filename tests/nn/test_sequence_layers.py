"""Recurrent layers and attention among the other modules: hooks, copies, state, modes."""

from __future__ import annotations

import copy

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
