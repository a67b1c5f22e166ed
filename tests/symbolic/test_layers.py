"""Every module, unchanged, runs on symbols; its formulas give the numbers of the numeric run."""

import pytest

import minigrad as torch
from minigrad import nn

from . import sameness
from .sameness import agree_model, numbers

INDICES = torch.tensor([[0, 2], [1, 1]])
WEIGHTS = torch.tensor([0.5, 2.0, 1.0])

ACTIVATIONS = [
    "CELU", "ELU", "GELU", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU",
    "LogSigmoid", "PReLU", "ReLU", "ReLU6", "SELU", "SiLU", "Sigmoid", "Softplus",
    "Softsign", "Tanh", "Tanhshrink",
]  # fmt: skip

# name: how the module is made, and the shapes of its inputs (or inputs that are no symbols)
LAYERS = {
    "Linear": (lambda: nn.Linear(3, 2), (2, 3)),
    "Linear without bias": (lambda: nn.Linear(3, 2, bias=False), (3,)),
    "Identity": (lambda: nn.Identity(), (2,)),
    "Flatten": (lambda: nn.Flatten(), (2, 1, 2)),
    "Unflatten": (lambda: nn.Unflatten(1, (2, 1)), (2, 2)),
    # convolutions
    "Conv1d": (lambda: nn.Conv1d(2, 2, 2, padding=1, stride=2), (1, 2, 4)),
    "Conv1d same": (lambda: nn.Conv1d(1, 1, 3, padding="same"), (1, 1, 3)),
    "Conv2d": (lambda: nn.Conv2d(1, 2, 2), (1, 1, 3, 3)),
    "Conv2d dilated": (lambda: nn.Conv2d(1, 1, 2, dilation=2, padding=1), (1, 1, 3, 3)),
    "Conv2d in groups": (lambda: nn.Conv2d(2, 2, (1, 2), groups=2), (1, 2, 2, 2)),
    "Conv3d": (lambda: nn.Conv3d(1, 1, (1, 2, 2)), (1, 1, 2, 2, 2)),
    "ConvTranspose1d": (lambda: nn.ConvTranspose1d(2, 1, 2, stride=2, output_padding=1), (1, 2, 2)),
    "ConvTranspose2d": (lambda: nn.ConvTranspose2d(1, 1, 2, padding=1), (1, 1, 2, 3)),
    "ConvTranspose3d": (lambda: nn.ConvTranspose3d(1, 1, (1, 2, 1)), (1, 1, 1, 2, 2)),
    "Unfold": (lambda: nn.Unfold(2), (1, 1, 3, 2)),
    "Fold": (lambda: nn.Fold((3, 2), 2), (1, 4, 2)),
    # pooling
    "AvgPool1d": (lambda: nn.AvgPool1d(2, padding=1), (1, 1, 4)),
    "AvgPool2d": (lambda: nn.AvgPool2d(2, ceil_mode=True), (1, 1, 3, 2)),
    "AvgPool3d": (lambda: nn.AvgPool3d((1, 2, 2)), (1, 1, 1, 2, 2)),
    "AdaptiveAvgPool1d": (lambda: nn.AdaptiveAvgPool1d(2), (1, 1, 3)),
    "AdaptiveAvgPool2d": (lambda: nn.AdaptiveAvgPool2d((2, 1)), (1, 1, 3, 2)),
    "AdaptiveAvgPool3d": (lambda: nn.AdaptiveAvgPool3d(1), (1, 1, 2, 2, 1)),
    # normalization
    "BatchNorm1d": (lambda: nn.BatchNorm1d(2), (3, 2)),
    "BatchNorm1d cumulative": (lambda: nn.BatchNorm1d(1, momentum=None), (3, 1)),
    "BatchNorm1d bare": (
        lambda: nn.BatchNorm1d(1, affine=False, track_running_stats=False), (3, 1)
    ),
    "BatchNorm1d evaluated": (lambda: nn.BatchNorm1d(2).eval(), (2, 2)),
    "BatchNorm2d": (lambda: nn.BatchNorm2d(1), (1, 1, 2, 2)),
    "BatchNorm2d evaluated": (lambda: nn.BatchNorm2d(2).eval(), (1, 2, 1, 2)),
    "BatchNorm3d": (lambda: nn.BatchNorm3d(1), (1, 1, 1, 2, 2)),
    "LayerNorm": (lambda: nn.LayerNorm(3), (2, 3)),
    "LayerNorm of matrices": (lambda: nn.LayerNorm((2, 2), bias=False), (1, 2, 2)),
    "GroupNorm": (lambda: nn.GroupNorm(2, 4), (1, 4, 2)),
    "InstanceNorm1d": (lambda: nn.InstanceNorm1d(2, affine=True), (1, 2, 3)),
    "InstanceNorm1d tracking": (lambda: nn.InstanceNorm1d(1, track_running_stats=True), (1, 1, 3)),
    "InstanceNorm2d": (lambda: nn.InstanceNorm2d(1), (1, 1, 2, 2)),
    "InstanceNorm3d": (lambda: nn.InstanceNorm3d(1), (1, 1, 1, 2, 2)),
    # an eps has to be given: its default depends on the dtype, and symbols have none
    "RMSNorm": (lambda: nn.RMSNorm(3, eps=1e-5), (2, 3)),
    # activations
    **{name: (getattr(nn, name), (2, 2)) for name in ACTIVATIONS},
    "GELU by tanh": (lambda: nn.GELU("tanh"), (2, 2)),
    "Threshold": (lambda: nn.Threshold(0.1, 20), (2, 2)),
    "Softmax": (lambda: nn.Softmax(1), (2, 3)),
    "Softmax evaluated": (lambda: nn.Softmax(-3).eval(), (1, 2, 1, 2)),
    "Softmin": (lambda: nn.Softmin(1), (2, 2)),
    "LogSoftmax": (lambda: nn.LogSoftmax(1), (2, 3)),
    # dropout
    "Dropout": (lambda: nn.Dropout(0.25), (3, 2)),
    "Dropout evaluated": (lambda: nn.Dropout(0.25).eval(), (3, 2)),
    "Dropout1d": (lambda: nn.Dropout1d(), (1, 3, 2)),
    "Dropout2d": (lambda: nn.Dropout2d(), (1, 3, 1, 2)),
    "Dropout3d": (lambda: nn.Dropout3d(), (1, 3, 1, 1, 2)),
    # lookups
    "Embedding": (lambda: nn.Embedding(3, 2, padding_idx=1), INDICES),
    "EmbeddingBag": (lambda: nn.EmbeddingBag(3, 2), INDICES),
    "EmbeddingBag of sums": (lambda: nn.EmbeddingBag(3, 2, mode="sum"), INDICES),
    # recurrent
    "RNNCell": (lambda: nn.RNNCell(2, 2), (1, 2), (1, 2)),
    "RNNCell relu": (lambda: nn.RNNCell(2, 1, nonlinearity="relu"), (1, 2)),
    "LSTMCell": (lambda: nn.LSTMCell(2, 1), (1, 2)),
    "GRUCell": (lambda: nn.GRUCell(2, 1), (1, 2), (1, 1)),
    "RNN": (lambda: nn.RNN(1, 2), (2, 1)),
    "RNN both ways": (lambda: nn.RNN(1, 1, bidirectional=True, batch_first=True), (1, 2, 1)),
    "LSTM": (lambda: nn.LSTM(1, 1), (2, 1, 1)),
    "LSTM without biases": (lambda: nn.LSTM(1, 1, bias=False), (1, 1)),
    "GRU of two layers": (lambda: nn.GRU(1, 1, num_layers=2), (1, 1)),
    # attention
    "MultiheadAttention": (lambda: nn.MultiheadAttention(2, 2), (2, 1, 2), (2, 1, 2), (2, 1, 2)),
    "MultiheadAttention of one": (
        lambda: nn.MultiheadAttention(1, 1, bias=False),
        (1, 1), (1, 1), (1, 1),
    ),
    "TransformerEncoderLayer": (
        lambda: nn.TransformerEncoderLayer(2, 1, 1, dropout=0.0, batch_first=True), (1, 1, 2)
    ),
    # padding, resizing
    "ConstantPad2d": (lambda: nn.ConstantPad2d(1, 0.5), (1, 1, 2)),
    "ZeroPad3d": (lambda: nn.ZeroPad3d((0, 1, 0, 0, 1, 0)), (1, 1, 1, 2)),
    "ReflectionPad1d": (lambda: nn.ReflectionPad1d(1), (1, 1, 3)),
    "ReplicationPad2d": (lambda: nn.ReplicationPad2d(1), (1, 1, 2, 2)),
    "PixelShuffle": (lambda: nn.PixelShuffle(2), (1, 4, 1, 2)),
    "Upsample": (lambda: nn.Upsample(scale_factor=2), (1, 1, 3)),
    "Upsample linear": (lambda: nn.Upsample(size=5, mode="linear", align_corners=True), (1, 1, 3)),
    # distances
    "CosineSimilarity": (lambda: nn.CosineSimilarity(), (2, 2), (2, 2)),
    "PairwiseDistance": (lambda: nn.PairwiseDistance(), (2, 2), (2, 2)),
    # containers
    "Sequential": (
        lambda: nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.LayerNorm(2), nn.Linear(2, 1)), (1, 2)
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
def test_layers_run_on_symbols_and_agree_with_numbers(name, monkeypatch):
    make, *given = LAYERS[name]
    torch.manual_seed(0)
    with monkeypatch.context() as patch:
        if name == "Hardsigmoid":  # PyTorch's sixth has seven digits in all dtypes
            patch.setattr(sameness, "RTOL", 1e-7)
        agree_model(make(), given)


PROBABLE = torch.tensor(numbers(2, 3) ** 2 / 10)
CLASSES = torch.tensor([2, 0])
ONE, TWO = [(2, 3)], [(2, 3), (2, 3)]

# name: how the loss is made, the shapes of its inputs, and what else is given
LOSSES = {
    "L1Loss": (nn.L1Loss, TWO),
    "MSELoss": (nn.MSELoss, TWO),
    "SmoothL1Loss": (lambda **k: nn.SmoothL1Loss(beta=0.7, **k), TWO),
    "HuberLoss": (lambda **k: nn.HuberLoss(delta=0.7, **k), TWO),
    "CrossEntropyLoss": (nn.CrossEntropyLoss, ONE, CLASSES),
    "CrossEntropyLoss weighted, smooth": (
        lambda **k: nn.CrossEntropyLoss(WEIGHTS, ignore_index=1, label_smoothing=0.1, **k),
        ONE, CLASSES,
    ),
    "CrossEntropyLoss of probabilities": (nn.CrossEntropyLoss, ONE, PROBABLE),
    "NLLLoss": (lambda **k: nn.NLLLoss(WEIGHTS, **k), ONE, CLASSES),
    "KLDivLoss": (nn.KLDivLoss, ONE, PROBABLE),
    "KLDivLoss of logarithms": (lambda **k: nn.KLDivLoss(log_target=True, **k), TWO),
    "BCEWithLogitsLoss": (lambda **k: nn.BCEWithLogitsLoss(pos_weight=WEIGHTS, **k), ONE, PROBABLE),
    "TripletMarginLoss": (nn.TripletMarginLoss, [(2, 2)] * 3),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:kl_div's 'mean' divides")  # of KLDivLoss; tested elsewhere
@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("name", LOSSES)
def test_losses_run_on_symbols_and_agree_with_numbers(name, reduction):
    make, shapes, *given = LOSSES[name]
    agree_model(make(reduction=reduction), [*shapes, *given])


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
def test_losses_of_probabilities(reduction):
    agree_model(
        nn.BCELoss(reduction=reduction), ONE, run=lambda model, x: model(x.sigmoid(), PROBABLE)
    )
