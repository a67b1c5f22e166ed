"""Layers: how each starts, prints, what it computes, and what it refuses."""

from __future__ import annotations

from .table import layer

LINE, PLANE, VOLUME = (2, 2, 6), (2, 2, 4, 4), (1, 1, 3, 3, 3)
TOKENS, STEPS, ROWS = (2, 3, 4), (2, 2, 2), (2, 2)
HEADS = ((2, 2, 4), (3, 2, 4))
CAUSAL = "torch.ones(2, 3).triu(1) > 0"
PADDING = "torch.tensor([[False, False, True], [False] * 3])"
WEIGHTS = "torch.tensor([1.0, 0.5, 2.0])"
SQUARE = "nn.Transformer.generate_square_subsequent_mask(2)"

# fmt: off
LAYERS = [
    layer("Linear(3, 2)", (2, 3)),
    layer("Linear(3, 2, bias=False)", (2, 2, 3)),
    layer("Identity()", (2, 3)),
    # ------------------------------------------------------------ convolutions and windows
    layer("Conv1d(2, 4, 3, padding='valid')", LINE),
    layer("Conv2d(2, 4, (3, 2), stride=2, padding=1, dilation=2, groups=2)", PLANE,
          faults=["nn.Conv2d(3, 4, 3, groups=2)", "nn.Conv2d(4, 3, 3, groups=2)",
                  "nn.Conv2d(4, 4, 3, groups=0)", "nn.Conv2d(3, 4, 3, padding='same', stride=2)"]),
    layer("Conv2d(3, 4, 3, padding='same', bias=False)", (1, 3, 3, 4)),
    layer("Conv2d(1, 2, 3, padding=(1, 2), padding_mode='reflect')", (1, 1, 4, 3)),
    layer("Conv2d(1, 2, 3, padding='same', padding_mode='replicate')", (1, 1, 3, 3)),
    layer("Conv3d(1, 2, 2)", VOLUME),
    layer("ConvTranspose1d(2, 2, 3)", LINE),
    layer("ConvTranspose2d(2, 4, 3, stride=2, padding=1, output_padding=1, groups=2)", (1, 2, 2, 3),
          faults=["nn.ConvTranspose2d(3, 4, 3, padding_mode='reflect')",
                  "nn.ConvTranspose2d(1, 1, 3, 2)(torch.zeros(1, 1, 4, 4), (11, 10))",
                  "nn.ConvTranspose2d(1, 1, 3, 2)(torch.zeros(1, 1, 4, 4), (1, 2, 3))"]),
    layer("ConvTranspose2d(1, 1, 3, stride=2)", (1, 1, 2, 2), calls=["m(x, output_size=(6, 5))"]),
    layer("ConvTranspose3d(1, 2, 2, bias=False)", VOLUME),
    layer("Unfold((2, 3), padding=1)", PLANE), layer("Fold((3, 4), 2)", (1, 4, 6)),
    # ------------------------------------------------------------ pooling and resizing
    layer("MaxPool1d(2)", LINE), layer("MaxPool2d((3, 2), 2, 1, 1, ceil_mode=True)", PLANE),
    layer("MaxPool3d(2)", VOLUME), layer("AvgPool1d(2, padding=1)", LINE),
    layer("AvgPool2d(2, 1, 1, True, False)", PLANE), layer("AvgPool3d(2, divisor_override=3)",
          VOLUME),
    layer("AdaptiveAvgPool1d(2)", LINE), layer("AdaptiveAvgPool2d((2, None))", PLANE),
    layer("AdaptiveAvgPool3d(2)", VOLUME), layer("AdaptiveMaxPool1d(2)", LINE),
    layer("AdaptiveMaxPool2d(2)", PLANE), layer("Upsample(scale_factor=2)", PLANE),
    layer("Upsample((3, 5), mode='bilinear', align_corners=True)", PLANE),
    layer("PixelShuffle(2)", (1, 4, 1, 2)), layer("Flatten(0, 1)", TOKENS),
    layer("Unflatten(1, (2, -1))", (2, 4)),
    *(layer(f"{kind}({given})", shape) for kind, given, shape in (
        ("ConstantPad1d", "2, 3.5", LINE), ("ConstantPad2d", "(1, 0, 2, 1), 0", PLANE),
        ("ConstantPad3d", "1, 0", VOLUME), ("ZeroPad1d", "(1, 0)", LINE), ("ZeroPad2d", "1", PLANE),
        ("ZeroPad3d", "1", VOLUME), ("ReflectionPad1d", "1", LINE),
        ("ReflectionPad2d", "(1, 0, 1, 1)", PLANE), ("ReflectionPad3d", "1", VOLUME),
        ("ReplicationPad1d", "1", LINE), ("ReplicationPad2d", "(1, 0, 2, 1)", PLANE),
        ("ReplicationPad3d", "1", VOLUME),
    )),
    # ------------------------------------------------------------ normalization
    layer("BatchNorm1d(2)", (4, 2), faults=[f"nn.BatchNorm1d(3)(torch.zeros({each}))" for each in (
        "3", "1, 3", "2, 4", "2, 3, dtype=torch.float64", "2, 3, dtype=torch.int64")]),
    layer("BatchNorm2d(2, eps=0.01, momentum=None)", PLANE,
          faults=["nn.BatchNorm2d(3)(torch.zeros(2, 3))"]),
    layer("BatchNorm2d(2, affine=False)", PLANE), layer("BatchNorm2d(2, bias=False)", PLANE),
    layer("BatchNorm3d(1, track_running_stats=False)", VOLUME,
          faults=["nn.BatchNorm3d(3)(torch.zeros(2, 3))"]),
    layer("LayerNorm(4)", TOKENS), layer("LayerNorm((3, 4), elementwise_affine=False)", TOKENS),
    layer("LayerNorm([4], bias=False)", TOKENS),
    layer("GroupNorm(2, 4)", (2, 4, 3), faults=["nn.GroupNorm(3, 4)"]),
    layer("GroupNorm(1, 2, affine=False)", PLANE),
    layer("InstanceNorm1d(2)", LINE,
          faults=["nn.InstanceNorm1d(3, affine=True)(torch.zeros(2, 4, 3))"]),
    layer("InstanceNorm2d(2, affine=True, track_running_stats=True)", PLANE,
          faults=["nn.InstanceNorm2d(3)(torch.zeros(2, 3))"]),
    layer("InstanceNorm3d(1)", VOLUME), layer("RMSNorm(4)", TOKENS),
    layer("RMSNorm((3, 4), 0.5, False)", TOKENS),
    # ------------------------------------------------------------ activations
    *(layer(text, (2, 4)) for text in (
        "ReLU()", "ReLU6()", "Hardtanh(-2, 3)", "CELU(2.0)", "SELU()", "GELU()", "GELU('tanh')",
        "PReLU()",
        "PReLU(4, 0.5)", "LogSigmoid()", "Softsign()", "Tanhshrink()", "Threshold(0.1, 20)",
        "Softmin(1)",
        "ELU(0.5)", "Softplus(2, 10)", "GLU(1)", "Hardshrink(0.5)", "Softshrink()", "Hardsigmoid()",
        "Hardswish()", "Mish()", "SiLU()", "LeakyReLU(0.2)", "Tanh()", "Sigmoid()", "Softmax(1)",
        "LogSoftmax(1)",
    )),
    *(layer(text, (2, 4), calls=["m(x * 1)"]) for text in (
        "ReLU(True)", "ReLU6(True)", "Hardtanh(-2, 3, True)", "CELU(2.0, True)", "SELU(True)",
        "Threshold(0, 1, True)", "Mish(True)", "LeakyReLU(0.25, inplace=True)", "ELU(2.0, True)",
    )),
    # ------------------------------------------------------------ lookups, dropout, distances
    layer("Embedding(3, 2)", calls=["m(classes)"], faults=["nn.Embedding(3, 2, padding_idx=3)",
          "nn.Embedding(3, 2, _weight=torch.ones(2, 2))",
          "nn.Embedding.from_pretrained(torch.ones(2))"]),
    layer("Embedding(3, 2, padding_idx=-1)", calls=["m(classes)"]),
    layer("Embedding(3, 2, 0, norm_type=3.0, scale_grad_by_freq=True)", calls=["m.weight * 1"]),
    layer("Embedding.from_pretrained(torch.ones(3, 2))", calls=["m(classes)"]),
    layer("EmbeddingBag(3, 2)", calls=["m(bag, starts)"],
          faults=["nn.EmbeddingBag(3, 2, padding_idx=5)"]),
    layer("EmbeddingBag(3, 2, mode='sum', padding_idx=1)", calls=["m(bag, starts)"]),
    layer("Dropout()", (2, 4), faults=["nn.Dropout(1.5)"]), layer("Dropout(0.3, True)", (2, 4),
          calls=["m(x * 1)"]),
    layer("Dropout1d()", LINE), layer("Dropout2d(0.1)", PLANE), layer("Dropout3d()", VOLUME),
    layer("CosineSimilarity()", (2, 3), (2, 3)),
    layer("PairwiseDistance(p=1.0, keepdim=True)", (2, 3), (2, 3)),
    # ------------------------------------------------------------ losses
    *(layer(text, (2, 3), (2, 3)) for text in (
        "MSELoss()", "L1Loss()", "SmoothL1Loss(beta=0.5)", "HuberLoss(delta=2.0)",
        "BCEWithLogitsLoss()",
        f"BCEWithLogitsLoss({WEIGHTS}, pos_weight={WEIGHTS})",
        "KLDivLoss(reduction='batchmean', log_target=True)",
    )),
    layer(f"BCELoss({WEIGHTS})", (2, 3), (2, 3),
          calls=["m(x.sigmoid(), y.sigmoid())"]),
    layer("TripletMarginLoss(p=1.0)", (2, 3), (2, 3), (2, 3)),
    layer(f"NLLLoss({WEIGHTS}, ignore_index=1)", (2, 3),
          calls=["m(x, classes)"]),
    layer(f"CrossEntropyLoss({WEIGHTS}, label_smoothing=0.5)", (2, 3),
          calls=["m(x, classes)"]),
    # ------------------------------------------------------------ recurrent layers
    *(layer(text, STEPS, calls=["m(x)", "m(x, h)", "m(x[0])"]) for text in (
        "RNN(2, 3)", "RNN(2, 3, 1, 'relu', bidirectional=True)", "GRU(2, 3)",
        "GRU(2, 3, bias=False)", "LSTM(2, 3)", "LSTM(2, 3, bias=False)",
    )),
    *(layer(text, STEPS) for text in (
        "RNN(2, 3, num_layers=2, batch_first=True)",
        "GRU(2, 2, 2, bidirectional=True, batch_first=True)",
        "LSTM(2, 2, 2, bidirectional=True, batch_first=True)",
    )),
    *(layer(text, ROWS, calls=["m(x)", "m(x, h)", "m(x[0])"]) for text in (
        "RNNCell(2, 3)", "RNNCell(2, 3, bias=False, nonlinearity='relu')", "GRUCell(2, 3)",
        "LSTMCell(2, 3)",
    )),
    *(layer(f"{kind}(2, 3)", (3, 2), (1, 2),
      calls=["m(rnn.pack_sequence([y, x], enforce_sorted=False))"])
      for kind in ("RNN", "GRU", "LSTM")),
    layer("RNN(2, 3, num_layers=2, dropout=0.5)", STEPS, faults=[
        "nn.LSTM(0, 2)", "nn.LSTM(2, 0)", "nn.GRU(2.0, 2)", "nn.RNN(2, 2, 0)",
        "nn.LSTM(2, 2, dropout=2)",
        "nn.RNN(2, 2, nonlinearity='sin')", "nn.RNN(2, 2)(torch.zeros(1, 1, 1, 2))",
        "nn.LSTM(2, 2)(torch.zeros(1, 1, 1, 2))", "nn.LSTM(2, 2)(torch.zeros(1, 1, 3))",
        "nn.LSTM(2, 2)(torch.zeros(1, 1, 2).double())", "nn.LSTM(2, 2)(torch.zeros(0, 1, 2))",
        "nn.LSTM(2, 2)(torch.zeros(1, 1, 2), (torch.zeros(1, 1, 3), torch.zeros(1, 1, 2)))",
        "nn.LSTM(2, 2)(torch.zeros(1, 1, 2), (torch.zeros(1, 1, 2), torch.zeros(1, 2, 2)))",
        "nn.GRU(2, 2)(torch.zeros(1, 1, 2), torch.zeros(1, 2))",
        "nn.LSTM(2, 2)(torch.zeros(1, 2), (torch.zeros(1, 1, 2),) * 2)",
        "nn.RNNCell(2, 2)(torch.zeros(1, 3))",
        "nn.GRUCell(2, 2)(torch.zeros(1, 2), torch.zeros(1, 3))",
        "nn.LSTMCell(2, 2)(torch.zeros(1, 2), (torch.zeros(3, 2),) * 2)",
        "nn.LSTMCell(2, 2)(torch.zeros(1, 1, 2))",
        "nn.GRUCell(2, 2)(torch.zeros(1, 2), torch.zeros(1, 1, 2))",
    ]),
    # ------------------------------------------------------------ attention
    layer("MultiheadAttention(4, 2)", *HEADS, calls=[
        "m(x, y, y)", "m(x, y, y, need_weights=False)", "m(x, y, y, average_attn_weights=False)",
        f"m(x, y, y, attn_mask={CAUSAL})", f"m(x, y, y, key_padding_mask={PADDING})",
        f"m(x, y, y, attn_mask={CAUSAL}, key_padding_mask={PADDING}, need_weights=False)",
        "m(x, y, y, attn_mask=torch.arange(6.0).view(2, 3).double())",
        "m(x, y, y, attn_mask=torch.arange(24.0).view(4, 2, 3).double(), need_weights=False)",
        "m(x[:, 0], y[:, 0], y[:, 0])", "m(x, x, x)", "m(x, x, x, need_weights=False)",
        f"m(x, x, x, attn_mask={SQUARE}.double(), is_causal=True, need_weights=False)",
    ], faults=["nn.MultiheadAttention(4, 0)", "nn.MultiheadAttention(5, 2)",
    *(f"m({each})" for each in (
        "torch.zeros(1, 2, 2, 4), x, x", "x, x[0], x[0]", "x, x, torch.zeros(3, 2, 4)",
        "*[torch.zeros(2, 2, 3)] * 3", "x, x, x, attn_mask=torch.zeros(3, 3), need_weights=False",
        "x, x, x, attn_mask=torch.zeros(3, 2, 2)", "x, x, x, is_causal=True",
        "x, x, x, attn_mask=torch.zeros(2, 2, dtype=torch.int64)",
    ))]),
    layer("MultiheadAttention(4, 1, bias=False, batch_first=True)", (2, 2, 4), (2, 3, 4), calls=[
        "m(x, y, y)", f"m(x, y, y, attn_mask={CAUSAL})", f"m(x, y, y, key_padding_mask={PADDING})",
    ]),
    layer("TransformerEncoderLayer(4, 2, 3, 0.0)", (2, 2, 4), calls=["m(x)",
          f"m(x, src_mask={SQUARE}.double())"],
          faults=["nn.TransformerEncoderLayer(4, 2, activation='sin')"]),
    layer("TransformerEncoderLayer(4, 2, 3, 0.0, 'gelu', norm_first=True)", (2, 2, 4)),
    layer("TransformerEncoderLayer(4, 1, 3, 0.0, bias=False, layer_norm_eps=0.01)", (2, 2, 4)),
    layer("TransformerDecoderLayer(4, 2, 3, 0.0, batch_first=True)", (2, 2, 4), (2, 3, 4),
          calls=["m(x, y)", f"m(x, y, tgt_mask={SQUARE}.double())", "m(x[0], y[0])"]),
    layer("TransformerDecoderLayer(4, 2, 3, 0.0, norm_first=True)", *HEADS),
    layer("TransformerEncoder("
          "nn.TransformerEncoderLayer(4, 2, 3, 0.0, batch_first=True), 2, nn.LayerNorm(4))",
          (2, 2, 4)),
    layer("TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 3, 0.0), 2)", *HEADS),
    layer("Transformer(4, 2, 1, 2, 3, 0.0, batch_first=True)", (2, 2, 4), (2, 3, 4),
          faults=["m(torch.zeros(1, 2, 4).double(), y)", "m(torch.zeros(2, 2, 3).double(), y)"]),
]
# fmt: on
