"""Small trainings, written once and run in both libraries: the same losses from the same first weights."""

from __future__ import annotations

import importlib
import math

import numpy as np
import pytest

import minigrad


def moons(L, count):
    """Two half circles that reach into each other, with noise: points and their classes."""
    L.manual_seed(0)
    angle = L.rand(count) * math.pi
    label = (L.arange(count) % 2).to(L.float32)
    x = L.cos(angle) * (1 - 2 * label) + label
    y = L.sin(angle) * (1 - 2 * label) + 0.5 * label
    return L.stack([x, y], dim=1) + 0.1 * L.randn(count, 2), label.long()


def classify(L, epochs=8):
    """A net with one hidden layer learns the moons: the losses of all batches, and the accuracy after."""
    data = importlib.import_module(f"{L.__name__}.utils.data")
    points, labels = moons(L, 64)
    model = L.nn.Sequential(L.nn.Linear(2, 16), L.nn.Tanh(), L.nn.Linear(16, 2))
    optimizer = L.optim.Adam(model.parameters(), lr=0.05)
    schedule = L.optim.lr_scheduler.StepLR(optimizer, step_size=4, gamma=0.5)
    loss_of = L.nn.CrossEntropyLoss()
    losses = []
    for _ in range(epochs):
        for batch, wanted in data.DataLoader(data.TensorDataset(points, labels), batch_size=16, shuffle=True):
            optimizer.zero_grad()
            loss = loss_of(model(batch), wanted)
            loss.backward()
            L.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
        schedule.step()
    with L.no_grad():
        right = (model(points).argmax(dim=1) == labels).to(L.float32).mean().item()
    return losses, right


TEXT = "the sea sees the sun and the sun sees the sea. "


def characters(L, steps=6):
    """A small transformer learns which letter comes next; the losses of its steps."""
    letters = sorted(set(TEXT))
    numbers = L.tensor([letters.index(letter) for letter in TEXT * 3])
    width, length = 16, 12

    class Block(L.nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.three = L.nn.LayerNorm(width), L.nn.Linear(width, 3 * width)
            self.back = L.nn.Linear(width, width)
            self.more = L.nn.Sequential(
                L.nn.LayerNorm(width), L.nn.Linear(width, 32), L.nn.GELU(), L.nn.Linear(32, width)
            )

        def forward(self, x):
            query, key, value = self.three(self.norm(x)).chunk(3, dim=-1)
            scores = query @ key.transpose(-2, -1) / math.sqrt(width)
            later = L.ones(length, length).triu(1).bool()
            x = x + self.back(scores.masked_fill(later, -math.inf).softmax(-1) @ value)
            return x + self.more(x)

    class Letters(L.nn.Module):
        def __init__(self):
            super().__init__()
            self.letter, self.place = L.nn.Embedding(len(letters), width), L.nn.Embedding(length, width)
            self.blocks = L.nn.Sequential(Block(), Block())
            self.out = L.nn.Linear(width, len(letters))

        def forward(self, x):
            return self.out(self.blocks(self.letter(x) + self.place(L.arange(length))))

    L.manual_seed(1)
    model = Letters()
    optimizer = L.optim.AdamW(model.parameters(), lr=0.01)
    losses = []
    for _ in range(steps):
        starts = L.randint(0, len(numbers) - length - 1, (8,))
        batch = L.stack([numbers[i : i + length] for i in starts.tolist()])
        wanted = L.stack([numbers[i + 1 : i + length + 1] for i in starts.tolist()])
        loss = L.nn.functional.cross_entropy(model(batch).flatten(0, 1), wanted.flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_two_moons():
    losses, right = classify(minigrad)
    assert losses[-1] < 0.5 * losses[0] and right > 0.85


def test_two_moons_as_in_pytorch(torch):
    (mine, right), (theirs, right_there) = classify(minigrad), classify(torch)
    np.testing.assert_allclose(mine, theirs, rtol=2e-4)
    assert right == pytest.approx(right_there)


def test_letters():
    losses = characters(minigrad, 30)
    assert losses[-1] < 0.6 * losses[0]


def test_letters_as_in_pytorch(torch):
    np.testing.assert_allclose(characters(minigrad), characters(torch), rtol=2e-4)
