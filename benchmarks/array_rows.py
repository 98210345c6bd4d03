"""Rows e to i: networks and array ops."""

from __future__ import annotations

from typing import Any

import numpy as np
from conv_by_hand import by_filters, by_input, conv, pool, pool_back
from moons import moons, parameters
from workload import Workload, normal, of_arrays


def moons_step(batch: int) -> Workload:
    """A step of training a network 2-16-16-1 on two moons: hinge loss, and a penalty on the weights."""
    penalty = 1e-4

    def forward(ops: Any, x: Any, sign: Any, w1: Any, b1: Any, w2: Any, b2: Any, w3: Any, b3: Any) -> Any:
        h1 = ops.relu(x @ w1 + b1)
        h2 = ops.relu(h1 @ w2 + b2)
        loss = ops.relu(1.0 - (h2 @ w3 + b3) * sign).mean()
        return loss + penalty * ((w1 * w1).sum() + (w2 * w2).sum() + (w3 * w3).sum())

    def by_hand(x: Any, sign: Any, w1: Any, b1: Any, w2: Any, b2: Any, w3: Any, b3: Any) -> Any:
        h1 = np.maximum(x @ w1 + b1, 0)
        h2 = np.maximum(h1 @ w2 + b2, 0)
        slack = np.maximum(1 - (h2 @ w3 + b3) * sign, 0)
        slack.mean() + penalty * ((w1 * w1).sum() + (w2 * w2).sum() + (w3 * w3).sum())
        g = (slack > 0) * sign * np.float32(-1 / len(x))
        g2 = (g @ w3.T) * (h2 > 0)
        g1 = (g2 @ w2.T) * (h1 > 0)
        twice = 2 * penalty
        return (
            *(x.T @ g1 + twice * w1, g1.sum(0)),
            *(h1.T @ g2 + twice * w2, g2.sum(0)),
            *(h2.T @ g + twice * w3, g.sum(0)),
        )

    title = f"MLP on two moons, tensors, batch {batch}"
    return of_arrays("e tensors", title, forward, parameters(), by_hand, data=moons(batch), rate=0.01)


def softmax_gradient(scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The gradient of the mean cross-entropy by the scores, which it replaces; the loss is computed too."""
    rows = np.arange(len(labels))
    scores -= scores.max(axis=1, keepdims=True)
    picked = scores[rows, labels]
    np.exp(scores, out=scores)
    total = scores.sum(axis=1, keepdims=True)
    (np.log(total[:, 0]) - picked).mean()
    scores /= total
    scores[rows, labels] -= 1
    scores /= np.float32(len(labels))
    return scores


def digits_step(batch: int, inputs: int, hidden: int) -> Workload:
    """A step of training a network with one hidden layer and cross-entropy."""

    def forward(ops: Any, x: Any, labels: Any, w1: Any, b1: Any, w2: Any, b2: Any) -> Any:
        return ops.cross_entropy(ops.relu(x @ w1 + b1) @ w2 + b2, labels)

    def by_hand(x: Any, labels: Any, w1: Any, b1: Any, w2: Any, b2: Any) -> Any:
        h = x @ w1
        h += b1
        np.maximum(h, 0, out=h)
        scores = h @ w2
        scores += b2
        g = softmax_gradient(scores, labels)
        gh = g @ w2.T
        gh *= h > 0
        return x.T @ gh, gh.sum(0), h.T @ g, g.sum(0)

    start = [
        normal(inputs, hidden, seed=0, scale=inputs**-0.5),
        np.zeros(hidden, np.float32),
        normal(hidden, 10, seed=1, scale=hidden**-0.5),
        np.zeros(10, np.float32),
    ]
    data = (normal(batch, inputs, seed=2), np.arange(batch) % 10)
    title = f"MLP {inputs}-{hidden}-10, batch {batch}, cross-entropy, SGD"
    return of_arrays("f", title, forward, start, by_hand, data=data, rate=0.01, needs=("cross_entropy",))


def elementwise(n: int) -> Workload:
    """(x · a + b), exp, tanh, sum; a and b are numbers."""
    a, b = 0.5, -1.0

    def forward(ops: Any, x: Any) -> Any:
        return ops.tanh(ops.exp(x * a + b)).sum()

    def by_hand(x: Any) -> Any:
        e = x * a
        e += b
        np.exp(e, out=e)
        t = np.tanh(e)
        t.sum()
        t *= t
        np.subtract(1, t, out=t)
        t *= e
        t *= a
        return (t,)

    return of_arrays(f"g {n}", f"x·a+b, exp, tanh, sum on {n:,}", forward, [normal(n, seed=3)], by_hand)


def products(size: int) -> Workload:
    """A chain of four matrix products, and the gradients with respect to all five matrices."""

    def forward(ops: Any, x: Any, *weights: Any) -> Any:
        for w in weights:
            x = x @ w
        return x.sum()

    def by_hand(x: Any, *weights: Any) -> Any:
        saved = []
        for w in weights:
            saved.append(x)
            x = x @ w
        x.sum()
        g, found = np.ones_like(x), []
        for x, w in zip(reversed(saved), reversed(weights)):
            found.append(x.T @ g)
            g = g @ w.T
        return (g, *reversed(found))

    arrays = [normal(size, size, seed=i, scale=size**-0.5) for i in range(5)]
    return of_arrays("h", f"four {size}×{size} matrix products", forward, arrays, by_hand)


def conv_net(batch: int) -> Workload:
    """Two convolutions 3×3 with 8 and 16 channels, each with relu and 2×2 pooling, and a layer of 10."""

    def forward(ops: Any, x: Any, labels: Any, w1: Any, w2: Any, w3: Any, b3: Any) -> Any:
        h = ops.pool2d(ops.relu(ops.conv2d(x, w1)), 2)
        h = ops.pool2d(ops.relu(ops.conv2d(h, w2)), 2)
        return ops.cross_entropy(h.reshape(batch, -1) @ w3 + b3, labels)

    def by_hand(x: Any, labels: Any, w1: Any, w2: Any, w3: Any, b3: Any) -> Any:
        c1, columns1 = conv(x, w1)
        p1, r1 = pool(np.maximum(c1, 0, out=c1))
        c2, columns2 = conv(p1, w2)
        p2, r2 = pool(np.maximum(c2, 0, out=c2))
        flat = p2.reshape(batch, -1)
        g = softmax_gradient(flat @ w3 + b3, labels)
        g2 = pool_back((g @ w3.T).reshape(p2.shape), p2, r2)
        g1 = pool_back(by_input(g2, p1.shape, w2), p1, r1)
        return by_filters(g1, columns1, w1), by_filters(g2, columns2, w2), flat.T @ g, g.sum(0)

    start = [
        normal(8, 1, 3, 3, seed=0, scale=1 / 3),
        normal(16, 8, 3, 3, seed=1, scale=1 / 9),
        normal(64, 10, seed=2, scale=1 / 8),
        np.zeros(10, np.float32),
    ]
    data = (normal(batch, 1, 14, 14, seed=4), np.arange(batch) % 10)
    needs = ("conv2d", "pool2d", "cross_entropy")
    return of_arrays(
        "i", f"conv net 8-16-10 on 14×14, batch {batch}", forward, start, by_hand, data=data, needs=needs
    )


def array_rows(small: bool) -> list[Workload]:
    """Rows e to i; little of everything if `small`."""
    if small:
        lengths, net, digits, matrix, images = (10, 100, 1_000), 10, (4, 12, 8), 16, 2
    else:
        lengths, net, digits, matrix, images = (1_000, 100_000, 1_000_000), 100, (64, 784, 256), 512, 32
    return [
        moons_step(net),
        digits_step(*digits),
        *map(elementwise, lengths),
        products(matrix),
        conv_net(images),
    ]
