"""Longer programs of a first course, in the form that `tensor_programs` describes."""

from __future__ import annotations

from typing import Any

from tensor_programs import Torch
from workload import Run


def minibatches(torch: Torch) -> Run:
    """batches by randperm and slices, losses in a list, momentum by hand"""
    torch.manual_seed(0)
    x, start = torch.randn(64, 5), torch.randn(5, 1)
    y = x @ torch.tensor([[1.0], [-2.0], [0.5], [0.0], [3.0]]) + 0.1

    def run() -> Any:
        torch.manual_seed(1)
        w, velocity, losses = start.clone().requires_grad_(), torch.zeros(5, 1), []
        for _ in range(3):
            order = torch.randperm(64)
            for i in range(0, 64, 16):
                chosen = order[i : i + 16]
                loss = ((x[chosen] @ w - y[chosen]) ** 2).mean()
                loss.backward()
                with torch.no_grad():
                    velocity = 0.9 * velocity + w.grad
                    w -= 0.01 * velocity
                    w.grad.zero_()
                losses.append(loss.item())
        return w, torch.tensor(losses).mean()

    return run


def batchnorm_by_hand(torch: Torch) -> Run:
    """batch normalization by hand: mean, var, running statistics"""
    torch.manual_seed(0)
    x, weight, y = torch.randn(32, 30), torch.randn(30, 50) * 0.2, torch.randint(0, 50, (32,))

    def run() -> Any:
        w = weight.clone().requires_grad_()
        gain, bias = torch.ones(1, 50, requires_grad=True), torch.zeros(1, 50, requires_grad=True)
        mean_running = torch.zeros(1, 50)
        for _ in range(5):
            h = x @ w
            mean, var = h.mean(0, keepdim=True), h.var(0, keepdim=True)
            normal = gain * (h - mean) * (var + 1e-5) ** -0.5 + bias
            loss = torch.nn.functional.cross_entropy(torch.tanh(normal), y)
            for p in (w, gain, bias):
                p.grad = None
            loss.backward()
            with torch.no_grad():
                mean_running = 0.9 * mean_running + 0.1 * mean
                for p in (w, gain, bias):
                    p -= 0.1 * p.grad
        return w, gain, bias, mean_running

    return run


def backprop_by_hand(torch: Torch) -> Run:
    """a network without autograd: gradients written out as tensors"""
    torch.manual_seed(0)
    x, y, start1, start2 = torch.randn(32, 20), torch.randn(32, 4), torch.randn(20, 30), torch.randn(30, 4)

    def run() -> Any:
        w1, w2 = start1.clone(), start2.clone()
        for _ in range(10):
            h = x.mm(w1)
            relu = h.clamp(min=0)
            predicted = relu.mm(w2)
            loss = (predicted - y).pow(2).sum().item()
            g = 2.0 * (predicted - y)
            g2 = relu.t().mm(g)
            g_relu = g.mm(w2.t())
            g_h = g_relu.clone()
            g_h[h < 0] = 0
            w1 -= 1e-6 * x.t().mm(g_h)
            w2 -= 1e-6 * g2
        return w1, w2, loss

    return run


def names(torch: Torch) -> Run:
    """letters drawn by multinomial from softmax, one after the other"""
    torch.manual_seed(0)
    scores = torch.randn(27, 27)

    def run() -> Any:
        generator, drawn, letter = torch.Generator().manual_seed(5), [], 0
        for _ in range(40):
            p = torch.softmax(scores[letter], dim=0)
            letter = torch.multinomial(p, num_samples=1, replacement=True, generator=generator).item()
            drawn.append(float(letter))
        return [drawn]

    return run


def autoencoder(torch: Torch) -> Run:
    """an autoencoder 64-16-64, MSELoss, Adam, StepLR"""
    nn = torch.nn
    torch.manual_seed(0)
    x = torch.rand(32, 64)

    def run() -> Any:
        torch.manual_seed(1)
        encoder = nn.Sequential(nn.Linear(64, 16), nn.ReLU())
        decoder = nn.Sequential(nn.Linear(16, 64), nn.Sigmoid())
        parameters = [*encoder.parameters(), *decoder.parameters()]
        descent = torch.optim.Adam(parameters, lr=1e-3)
        schedule, loss_of = torch.optim.lr_scheduler.StepLR(descent, step_size=3, gamma=0.5), nn.MSELoss()
        for _ in range(10):
            loss = loss_of(decoder(encoder(x)), x)
            descent.zero_grad()
            loss.backward()
            descent.step()
            schedule.step()
        return loss

    return run


def gan(torch: Torch) -> Run:
    """two networks against each other: detach, BCEWithLogitsLoss, two optimizers"""
    nn = torch.nn
    torch.manual_seed(0)
    real, noise = torch.randn(32, 2) + 2, torch.randn(32, 4)

    def run() -> Any:
        torch.manual_seed(1)
        maker = nn.Sequential(nn.Linear(4, 16), nn.LeakyReLU(0.2), nn.Linear(16, 2))
        judge = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
        loss_of, ones, zeros = nn.BCEWithLogitsLoss(), torch.ones(32, 1), torch.zeros(32, 1)
        judging, making = (torch.optim.SGD(net.parameters(), lr=0.05) for net in (judge, maker))
        for _ in range(5):
            made = maker(noise)
            judging.zero_grad()
            (loss_of(judge(real), ones) + loss_of(judge(made.detach()), zeros)).backward()
            judging.step()
            making.zero_grad()
            loss_of(judge(made), ones).backward()
            making.step()
        return [*maker.parameters(), *judge.parameters()]

    return run


def lstm(torch: Torch) -> Run:
    """nn.Embedding and nn.LSTM over 12 steps, cross_entropy of every step"""
    nn = torch.nn
    torch.manual_seed(0)
    letters = torch.randint(0, 20, (4, 13))
    embedding, recurrent, head = nn.Embedding(20, 8), nn.LSTM(8, 16, batch_first=True), nn.Linear(16, 20)
    parameters = [p for layer in (embedding, recurrent, head) for p in layer.parameters()]

    def run() -> Any:
        outputs, _ = recurrent(embedding(letters[:, :-1]))
        loss = nn.functional.cross_entropy(head(outputs).reshape(-1, 20), letters[:, 1:].reshape(-1))
        for p in parameters:
            p.grad = None
        loss.backward()
        return [p.grad for p in parameters]

    return run


def transformer(torch: Torch) -> Run:
    """a Transformer block: LayerNorm, heads of attention, GELU, residuals"""
    nn, functional = torch.nn, torch.nn.functional
    torch.manual_seed(0)
    x, keep = torch.randn(4, 8, 32), torch.tril(torch.ones(8, 8, dtype=torch.bool))
    first, second, joined, out = nn.LayerNorm(32), nn.LayerNorm(32), nn.Linear(32, 96), nn.Linear(32, 32)
    feed = nn.Sequential(nn.Linear(32, 128), nn.GELU(), nn.Linear(128, 32))
    parameters = [p for layer in (first, second, joined, out, feed) for p in layer.parameters()]

    def run() -> Any:
        q, k, v = (t.view(4, 8, 4, 8).transpose(1, 2) for t in joined(first(x)).split(32, dim=2))
        weights = (q @ k.transpose(-2, -1) * 8**-0.5).masked_fill(~keep, float("-inf"))
        mixed = (functional.softmax(weights, dim=-1) @ v).transpose(1, 2).contiguous().view(4, 8, 32)
        h = x + out(mixed)
        h = h + feed(second(h))
        for p in parameters:
            p.grad = None
        h.pow(2).mean().backward()
        return [p.grad for p in parameters]

    return run


TRAINING_PROGRAMS = [
    *(minibatches, batchnorm_by_hand, backprop_by_hand, names),
    *(autoencoder, gan, lstm, transformer),
]
