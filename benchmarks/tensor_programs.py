"""Programs of a first course, with tensors alone.

A program is a function that takes the library, minigrad or PyTorch, prepares data and returns the part that
is timed. What that part returns is compared between the two libraries. The function's name is the name of
the row, its docstring the title.
"""

from __future__ import annotations

from typing import Any

from workload import Run

Torch = Any  # minigrad or PyTorch: the same text runs on both


# ── a few numbers
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def descent(torch: Torch) -> Run:
    """gradient descent on a scalar: x -= lr * x.grad; x.grad.zero_()"""

    def run() -> Any:
        x = torch.tensor(4.0, requires_grad=True)
        for _ in range(20):
            y = (x - 2) ** 2 + 3
            y.backward()
            with torch.no_grad():
                x -= 0.1 * x.grad
            x.grad.zero_()
        return x

    return run


def newton(torch: Torch) -> Run:
    """Newton's method: grad with create_graph, then grad again"""

    def run() -> Any:
        x = torch.tensor(1.5, requires_grad=True)
        for _ in range(10):
            y = x**4 - 3 * x**2 + torch.exp(-x)
            (slope,) = torch.autograd.grad(y, x, create_graph=True)
            (curvature,) = torch.autograd.grad(slope, x)
            x = (x - slope / curvature).detach().requires_grad_()
        return x

    return run


def neuron(torch: Torch) -> Run:
    """two inputs, tanh, one output, every intermediate gradient kept"""

    def run() -> Any:
        x1, x2 = torch.tensor([2.0]).double(), torch.tensor([0.0]).double()
        w1, w2, b = torch.tensor([-3.0]).double(), torch.tensor([1.0]).double(), torch.tensor([6.88]).double()
        for leaf in (leaves := [x1, x2, w1, w2, b]):
            leaf.requires_grad = True
        n = x1 * w1 + x2 * w2 + b
        n.retain_grad()
        o = torch.tanh(n)
        o.backward()
        return [*(leaf.grad for leaf in leaves), n.grad, o.data.item()]

    return run


def points(torch: Torch) -> Run:
    """a line fitted to 4 points, one by one"""
    data = [(0.5, 1.5), (1.0, 2.0), (-1.0, -2.5), (2.0, 4.0)]

    def run() -> Any:
        w, b = torch.tensor(0.5, requires_grad=True), torch.tensor(0.1, requires_grad=True)
        for _ in range(10):
            loss: Any = 0.0
            for x, y in data:
                error = w * x + b - y
                loss = loss + error * error
            loss.backward()
            with torch.no_grad():
                w -= 0.01 * w.grad
                b -= 0.01 * b.grad
            w.grad = b.grad = None
        return w, b

    return run


def scalar_network(torch: Torch, update: Any) -> Run:
    """A network 2-4-1 whose weights are scalars, on four points."""
    rows, wanted = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [-1.0, 1.0, 1.0, -1.0]
    start = torch.linspace(-0.9, 0.9, 17).tolist()

    def run() -> Any:
        leaves = [torch.tensor(number, requires_grad=True) for number in start]
        taken = iter(leaves)
        hidden = [([next(taken), next(taken)], next(taken)) for _ in range(4)]
        last, bias = [next(taken) for _ in range(4)], next(taken)
        for _ in range(5):
            loss: Any = 0.0
            for row, target in zip(rows, wanted):
                h = [torch.tanh(sum(w * x for w, x in zip(weights, row)) + b) for weights, b in hidden]
                loss = loss + (sum(w * x for w, x in zip(last, h)) + bias - target) ** 2
            loss.backward()
            update(leaves)
        return [*leaves, loss]

    return run


def scalars_data(torch: Torch) -> Run:
    """a network of scalar weights, updates by p.data -= …"""

    def update(leaves: Any) -> None:
        for p in leaves:
            p.data -= 0.05 * p.grad
            p.grad = None

    return scalar_network(torch, update)


def scalars_no_grad(torch: Torch) -> Run:
    """a network of scalar weights, updates under no_grad"""

    def update(leaves: Any) -> None:
        with torch.no_grad():
            for p in leaves:
                p -= 0.05 * p.grad
                p.grad.zero_()

    return scalar_network(torch, update)


# ── lines and curves
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def line_data(torch: Torch) -> Run:
    """linear regression, w.data = w.data - lr * w.grad.data"""
    x = torch.linspace(0.0, 1.0, 50).reshape(-1, 1)
    y = 2 * x + 1

    def run() -> Any:
        w, b = torch.zeros(1, requires_grad=True), torch.zeros(1, requires_grad=True)
        for _ in range(10):
            loss = ((x * w + b - y) ** 2).mean()
            loss.backward()
            w.data = w.data - 0.1 * w.grad.data
            b.data = b.data - 0.1 * b.grad.data
            w.grad = b.grad = None
        return w, b, loss

    return run


def polynomial(torch: Torch) -> Run:
    """a polynomial of degree 3 fitted to a sine, 2,000 points"""
    x = torch.linspace(-3.14159, 3.14159, 2000)
    y = torch.sin(x)

    def run() -> Any:
        a, b, c, d = (torch.full((), number, requires_grad=True) for number in (0.1, -0.2, 0.3, 0.05))
        for _ in range(10):
            loss = (a + b * x + c * x**2 + d * x**3 - y).pow(2).sum()
            loss.backward()
            with torch.no_grad():
                for p in (a, b, c, d):
                    p -= 1e-6 * p.grad
                    p.grad = None
        return a, b, c, d

    return run


def logistic(torch: Torch) -> Run:
    """logistic regression, 1 / (1 + exp(-z)) and the loss by hand"""
    torch.manual_seed(0)
    x = torch.randn(100, 3)
    y = (x[:, 0] > 0).float()

    def run() -> Any:
        w, b = torch.zeros(3, requires_grad=True), torch.zeros(1, requires_grad=True)
        for _ in range(10):
            q = 1 / (1 + torch.exp(-(x @ w + b)))
            loss = -(y * torch.log(q) + (1 - y) * torch.log(1 - q)).mean()
            loss.backward()
            with torch.no_grad():
                for p in (w, b):
                    p -= 0.5 * p.grad
                    p.grad.zero_()
        return w, b, loss

    return run


def factorization(torch: Torch) -> Run:
    """matrix factorization 20×30 of rank 4, SGD by hand"""
    torch.manual_seed(0)
    matrix, left, right = torch.rand(20, 30), torch.rand(20, 4), torch.rand(4, 30)

    def run() -> Any:
        u, v = left.clone().requires_grad_(), right.clone().requires_grad_()
        for _ in range(10):
            loss = torch.norm(matrix - u @ v) ** 2 + 0.01 * (u.norm() + v.norm())
            loss.backward()
            with torch.no_grad():
                for p in (u, v):
                    p -= 0.005 * p.grad
                    p.grad.zero_()
        return u, v

    return run


# ── indices
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def assign(torch: Torch) -> Run:
    """elements assigned in a loop: out[i] = x[i] * x[i-1]"""
    start = torch.linspace(0.5, 1.5, 30)

    def run() -> Any:
        x = start.clone().requires_grad_()
        out = torch.zeros(30)
        for i in range(30):
            out[i] = x[i] * x[i - 1]
        out.sum().backward()
        return x.grad

    return run


def indexing(torch: Torch) -> Run:
    """gather, where, cat, stack, clamp, masks, x[x > 0], x[:, 0]"""
    torch.manual_seed(0)
    start, columns = torch.randn(16, 8), torch.randint(0, 8, (16, 3))

    def run() -> Any:
        x = start.clone().requires_grad_()
        picked = x.gather(1, columns)
        kept = torch.where(x > 0, x, 0.1 * x)
        both = torch.cat([picked, kept], dim=1)
        layers = torch.stack([x, kept, x.clamp(-1, 1)])
        masked = x * (x < 0.5).float()
        loss = both.pow(2).mean() + layers.mean() + masked.sum() + x[x > 0].sum() + (x[:, 0] * x[:, -1]).sum()
        loss.backward()
        with torch.no_grad():
            x -= 0.1 * x.grad
        return x

    return run


def bigrams(torch: Torch) -> Run:
    """bigrams counted by N[i, j] += 1, and their mean log-likelihood"""
    words = ["emma", "olivia", "ava", "isabella", "sophia", "charlotte"]
    index = {letter: i for i, letter in enumerate(".abcdefghijklmnopqrstuvwxyz")}
    pairs = [(index[a], index[b]) for word in words for a, b in zip(f".{word}", f"{word}.")]

    def run() -> Any:
        counts = torch.zeros((27, 27), dtype=torch.int32)
        for i, j in pairs:
            counts[i, j] += 1
        p = (counts + 1).float()
        p /= p.sum(1, keepdim=True)
        total = 0.0
        for i, j in pairs:
            total += torch.log(p[i, j])
        return p, -total / len(pairs)

    return run


def one_hot(torch: Torch) -> Run:
    """one-hot, exp, normalize, log, mean; updates by W.data += …"""
    torch.manual_seed(0)
    xs, ys, start = torch.randint(0, 27, (200,)), torch.randint(0, 27, (200,)), torch.randn(27, 27)

    def run() -> Any:
        weight = start.clone().requires_grad_()
        for _ in range(5):
            encoded = torch.nn.functional.one_hot(xs, num_classes=27).float()
            counts = (encoded @ weight).exp()
            probabilities = counts / counts.sum(1, keepdim=True)
            loss = -probabilities[torch.arange(200), ys].log().mean() + 0.01 * (weight**2).mean()
            weight.grad = None
            loss.backward()
            weight.data += -10 * weight.grad
        return weight, loss

    return run


TENSOR_PROGRAMS = [
    *(descent, newton, neuron, points, scalars_data, scalars_no_grad),
    *(line_data, polynomial, logistic, factorization),
    *(assign, indexing, bigrams, one_hot),
]
