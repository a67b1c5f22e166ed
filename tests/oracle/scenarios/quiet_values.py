"""See what raises nothing and has to be the same all the same: shapes, dtypes and shared memory."""

from __future__ import annotations

import numpy as np

from .tools import Family, leaf

family = Family()


@family
def settings_of_other_types(torch, log):
    """NumPy's numbers and tensors without dimensions as settings change no dtype."""
    F, nn = torch.nn.functional, torch.nn
    target = torch.tensor([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    calls = {
        "Softplus": lambda x, n: nn.Softplus(n)(x),
        "ELU": lambda x, n: nn.ELU(n)(x),
        "LeakyReLU": lambda x, n: nn.LeakyReLU(n)(x),
        "Hardtanh": lambda x, n: nn.Hardtanh(-n, n)(x),
        "Threshold": lambda x, n: nn.Threshold(n, n)(x),
        "Dropout": lambda x, n: nn.Dropout(n)(x) * 0 + x,
        "LayerNorm": lambda x, n: F.layer_norm(x, (3,), eps=n),
        "BatchNorm1d": lambda x, n: nn.BatchNorm1d(3, eps=n, momentum=n)(x),
        "huber_loss": lambda x, n: F.huber_loss(x, target, delta=n),
        "smooth_l1_loss": lambda x, n: F.smooth_l1_loss(x, target, beta=n),
        "smoothing": lambda x, n: F.cross_entropy(x, torch.tensor([0, 1]), label_smoothing=n),
    }
    numbers = (np.float64(0.5), np.float32(0.5), torch.tensor(0.5), torch.tensor(0.5).double())
    for name, call in calls.items():
        for number in (*numbers, "0.5", np.array([0.5])):
            x = leaf(torch, (2, 3), 1, dtype=torch.float32)
            kind = f"{name} {type(number).__name__}"
            try:
                y = call(x, number)
                y.sum().backward()
            except TypeError:
                log(f"{kind} is a TypeError")
            else:
                log(kind, y, x.grad)
    for each in (nn.MaxPool2d(np.int64(2)), nn.AvgPool2d(np.int64(2)), nn.ZeroPad2d(np.int64(1))):
        log(type(each).__name__, each(torch.ones(1, 1, 4, 4)))
    log("norms", nn.LayerNorm(np.int64(3))(target), nn.GroupNorm(np.int64(1), 3)(target))
