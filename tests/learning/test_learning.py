"""Networks learn: from a seed, the loss falls below a number, and unseen examples are known."""

from __future__ import annotations

from minigrad.utils.data import DataLoader, TensorDataset, random_split

import minigrad as torch
from minigrad import nn
from minigrad.classroom.data import digits, two_moons
from minigrad.nn import functional as F
from minigrad.optim.lr_scheduler import CosineAnnealingLR, OneCycleLR


def accuracy(model, x, y):
    model.eval()
    with torch.no_grad():
        return (model(x).argmax(1) == y).sum().item() / len(y)


def test_an_mlp_tells_two_moons_apart():
    torch.manual_seed(0)
    train = TensorDataset(*two_moons(200))
    unseen = two_moons(400)
    model = nn.Sequential(
        nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 2)
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    schedule = CosineAnnealingLR(optimizer, T_max=40)
    losses = []
    for _ in range(40):
        for x, y in DataLoader(train, batch_size=25, shuffle=True):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        schedule.step()
    # a straight line leaves about one point in eight on the wrong side, at a loss of about 0.25
    assert sum(losses[-8:]) / 8 < 0.05 < 0.3 < losses[0]
    assert accuracy(model, *unseen) > 0.98


def test_a_convolutional_network_reads_digits():
    """LeNet's two convolutions and three layers, for images of 8 by 8."""
    torch.manual_seed(0)
    images, labels = digits()
    data = TensorDataset(images, labels)
    train, unseen = random_split(data, [1437, 360], torch.Generator().manual_seed(0))
    model = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(8, 16, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(256, 120),
        nn.ReLU(),
        nn.Linear(120, 84),
        nn.ReLU(),
        nn.Linear(84, 10),
    )
    epochs = 5
    loader = DataLoader(train, batch_size=32, shuffle=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-2)
    schedule = OneCycleLR(optimizer, max_lr=8e-3, total_steps=epochs * len(loader))
    losses = []
    for _ in range(epochs):
        model.train()
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
    assert sum(losses[-10:]) / 10 < 0.02 < 2 < losses[0]
    assert accuracy(model, images[unseen.indices], labels[unseen.indices]) >= 0.98
