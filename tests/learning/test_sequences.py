"""Networks learn to read sequences: an LSTM adds marked numbers, a transformer sorts."""

from __future__ import annotations

import minigrad as torch
from minigrad import nn
from minigrad.nn import functional as F


def marked_numbers(count: int, length: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Make sequences of numbers with two marks, and the sums of the marked numbers."""
    numbers = torch.rand(count, length)
    places = torch.stack([torch.randint(0, length // 2, (count,)) for _ in range(2)], 1)
    places[:, 1] += length // 2
    marks = torch.zeros(count, length).scatter_(1, places, 1.0)
    return torch.stack([numbers, marks], 2), (numbers * marks).sum(1)


class Adder(nn.Module):
    """An LSTM that reads a sequence, and a linear layer that says what it remembers."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(2, 24, batch_first=True)
        self.out = nn.Linear(24, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        _, (h, _) = self.lstm(x)
        return self.out(h[-1]).squeeze(1)


def test_an_lstm_adds_two_marked_numbers():
    """Hochreiter and Schmidhuber's problem of 1997, with short sequences."""
    torch.manual_seed(0)
    model = Adder()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    losses = []
    for _ in range(300):
        x, y = marked_numbers(50, 8)
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    with torch.no_grad():
        x, y = marked_numbers(500, 8)
        unseen = F.mse_loss(model(x), y).item()
    # saying 1 each time has a loss of 1/6
    assert unseen < 0.01 < 0.1 < losses[0]


class Sorter(nn.Module):
    """A transformer's encoder that says for each place which symbol belongs there."""

    def __init__(self, symbols: int, length: int, width: int) -> None:
        super().__init__()
        self.symbols = nn.Embedding(symbols, width)
        self.places = nn.Parameter(0.1 * torch.randn(length, width))
        layer = nn.TransformerEncoderLayer(width, 2, 2 * width, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(width, symbols)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(self.encoder(self.symbols(x) + self.places))


def test_a_transformer_sorts():
    torch.manual_seed(0)
    symbols, length = 6, 5
    model = Sorter(symbols, length, 16)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    losses = []
    for _ in range(500):
        x = torch.randint(0, symbols, (32, length))
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x).reshape(-1, symbols), x.sort(1).values.reshape(-1))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    with torch.no_grad():
        model.eval()
        x = torch.randint(0, symbols, (300, length))
        right = (model(x).argmax(2) == x.sort(1).values).float().mean().item()
    # guessing knows one symbol in five or so
    assert right > 0.9 and sum(losses[-20:]) / 20 < 0.3 < 1.5 < losses[0]
