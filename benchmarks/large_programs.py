"""Programs on large arrays or many examples, in the form that `tensor_programs` describes.

NumPy has no fast function for some of them, so the engine must not leave them to a loop over the elements.
Each takes the number of elements along a dimension as well.
"""

from __future__ import annotations

import functools
from typing import Any

from tensor_programs import Torch
from workload import Run, Workload, of_program


def randperm(torch: Torch, n: int) -> Run:
    """randperm of n² numbers"""

    def run() -> Any:
        torch.manual_seed(0)
        return torch.randperm(n * n)

    return run


def randn(torch: Torch, n: int) -> Run:
    """randn of n² numbers"""

    def run() -> Any:
        torch.manual_seed(0)
        return torch.randn(n * n)

    return run


def vmap_grad(torch: Torch, n: int) -> Run:
    """vmap(grad(loss)) of a network 10-16-1 over n/10 examples"""
    torch.manual_seed(0)
    x, y = torch.randn(n // 10, 10), torch.randn(n // 10, 1)
    weights = [torch.randn(16, 10), torch.randn(16), torch.randn(1, 16), torch.randn(1)]
    linear = torch.nn.functional.linear

    def loss(weights: Any, x: Any, y: Any) -> Any:
        w1, b1, w2, b2 = weights
        return ((linear(torch.tanh(linear(x, w1, b1)), w2, b2) - y) ** 2).mean()

    of_examples = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))
    return lambda: of_examples(weights, x, y)


def halves(torch: Torch, n: int) -> Run:
    """x * 2.5, relu and sigmoid of n² numbers in float16"""
    x = torch.linspace(-4, 4, n * n).half()
    return lambda: [x * 2.5, torch.relu(x), torch.sigmoid(x)]


def pairs_of_halves(torch: Torch, n: int) -> Run:
    """x + y and x * y of n² numbers in float16"""
    x = torch.linspace(-4, 4, n * n).half()
    y = x.flip(0)
    return lambda: [x + y, x * y]


def product_of_halves(torch: Torch, n: int) -> Run:
    """product of matrices n/4 × n/4 in float16"""
    torch.manual_seed(0)
    a, b = ((torch.randint(-99, 99, (n // 4, n // 4)) / 16).half() for _ in range(2))
    return lambda: a @ b


def product_of_integers(torch: Torch, n: int) -> Run:
    """product of matrices n/4 × n/4 in int64"""
    torch.manual_seed(0)
    a, b = (torch.randint(-99, 99, (n // 4, n // 4)) for _ in range(2))
    return lambda: a @ b


def topk(torch: Torch, n: int) -> Run:
    """the 5 largest of n numbers in n rows"""
    torch.manual_seed(0)
    x = torch.rand(n, n, dtype=torch.double)
    return lambda: list(torch.topk(x, 5))


def bilinear(torch: Torch, n: int) -> Run:
    """8 images of 3 × n/16 × n/16 twice as large, bilinear, and back"""
    torch.manual_seed(0)
    x = torch.randn(8, 3, n // 16, n // 16).requires_grad_()

    def run() -> Any:
        larger = torch.nn.functional.interpolate(x, scale_factor=2, mode="bilinear")
        return torch.autograd.grad((larger**2).sum(), x)[0]

    return run


def row_writes(torch: Torch, n: int) -> Run:
    """n/10 rows written one by one: out[i] = rows[i]"""
    torch.manual_seed(0)
    rows = torch.randn(n // 10, 100)

    def run() -> Any:
        out = torch.zeros(n // 10, 100)
        for i in range(n // 10):
            out[i] = rows[i]
        return out

    return run


def lstm_layer(torch: Torch, n: int) -> Run:
    """nn.LSTM 32-64 over n/20 steps of a batch of 16, forward and backward"""
    torch.manual_seed(0)
    layer, x = torch.nn.LSTM(32, 64), torch.randn(n // 20, 16, 32)

    def run() -> Any:
        layer.zero_grad()
        layer(x)[0].sum().backward()
        return [p.grad for p in layer.parameters()]

    return run


LARGE_PROGRAMS = [
    *(randperm, randn, vmap_grad, halves, pairs_of_halves, product_of_halves, product_of_integers),
    *(topk, bilinear, row_writes, lstm_layer),
]
LARGE = "large"  # the word that stands for all of them on the command line
LARGE_NAMES = [program.__name__.replace("_", "-") for program in LARGE_PROGRAMS]
TOLERANCE = {"halves": 1e-3, "pairs-of-halves": 1e-3, "product-of-halves": 1e-3}


def large_programs(small: bool) -> list[Workload]:
    """All of them, with 1,000 elements along a dimension."""
    n = 100 if small else 1_000
    return [
        of_program(program, functools.partial(program, n=n), TOLERANCE.get(name, 1e-4))
        for name, program in zip(LARGE_NAMES, LARGE_PROGRAMS)
    ]
