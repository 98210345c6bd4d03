"""Programs about derivatives themselves, in the form that `tensor_programs` describes."""

from __future__ import annotations

from typing import Any

from tensor_programs import Torch
from workload import Run


def layer(torch: Torch, n: int) -> tuple[Any, Any]:
    """A tanh layer n→n, and the point at which its Jacobian is wanted."""
    torch.manual_seed(0)
    weight, bias, point = torch.randn(n, n) * n**-0.5, torch.randn(n), torch.randn(n)
    return lambda x: torch.tanh(weight @ x + bias), point


def jacrev(torch: Torch) -> Run:
    """Jacobian of a tanh layer 50→50 by func.jacrev"""
    f, point = layer(torch, 50)
    return lambda: torch.func.jacrev(f)(point)


def jacfwd(torch: Torch) -> Run:
    """Jacobian of a tanh layer 50→50 by func.jacfwd"""
    f, point = layer(torch, 50)
    return lambda: torch.func.jacfwd(f)(point)


def grad_loop(torch: Torch) -> Run:
    """Jacobian of a tanh layer 50→50, rows by grad(y[i], x, retain_graph=True)"""
    f, point = layer(torch, 50)

    def run() -> Any:
        x = point.clone().requires_grad_()
        y = f(x)
        return torch.stack([torch.autograd.grad(y[i], x, retain_graph=True)[0] for i in range(50)])

    return run


def backward_loop(torch: Torch) -> Run:
    """the same, rows by y.backward(row, retain_graph=True)"""
    f, point = layer(torch, 50)

    def run() -> Any:
        x = point.clone().requires_grad_()
        y, rows = f(x), []
        for row in torch.eye(50):
            y.backward(row, retain_graph=True)
            rows.append(x.grad.clone())
            x.grad.zero_()
        return torch.stack(rows)

    return run


def small_jacobians(torch: Torch) -> Run:
    """functional.jacobian and hessian of functions of 2 and 3 variables"""
    derivatives = torch.autograd.functional
    point = torch.tensor([1.0, 2.0, 3.0])

    def curve(x: Any) -> Any:
        return torch.stack([x[0] * x[1], torch.sin(x[2]), x.sum()])

    def run() -> Any:
        first = derivatives.jacobian(curve, point)
        second = derivatives.hessian(lambda x: (x**3).sum() + x[0] * x[1] * x[2], point)
        mixed = derivatives.hessian(lambda a, b: a**2 * b + torch.exp(a * b), (point[0], point[1]))
        return [first, second, *mixed[0], *mixed[1]]

    return run


def func_hessian(torch: Torch) -> Run:
    """func.grad, func.hessian and vmap(grad(f)) of small functions"""
    func = torch.func
    torch.manual_seed(0)
    point, batch = torch.randn(4), torch.randn(10, 4)

    def f(x: Any) -> Any:
        return torch.log(1 + (x**2).sum()) + torch.prod(torch.cos(x))

    return lambda: [func.grad(f)(point), func.hessian(f)(point), func.vmap(func.grad(f))(batch)]


def functions(torch: Torch) -> Run:
    """a custom Function (a Legendre polynomial) in a fit of a sine"""

    class Legendre(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return 0.5 * (5 * x**3 - 3 * x)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return g * 1.5 * (5 * x**2 - 1)

    x = torch.linspace(-3.14159, 3.14159, 2000)
    y = torch.sin(x)

    def run() -> Any:
        a, b, c, d = (torch.full((), number, requires_grad=True) for number in (0.1, -1.0, 0.2, 0.3))
        for _ in range(10):
            loss = (a + b * Legendre.apply(c + d * x) - y).pow(2).sum()
            loss.backward()
            with torch.no_grad():
                for p in (a, b, c, d):
                    p -= 5e-6 * p.grad
                    p.grad = None
        return a, b, c, d

    return run


def gradient_penalty(torch: Torch) -> Run:
    """a penalty on the gradient of a network, create_graph=True"""
    nn = torch.nn
    torch.manual_seed(0)
    model, x = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1)), torch.randn(32, 2)

    def run() -> Any:
        points = x.clone().requires_grad_()
        (slope,) = torch.autograd.grad(model(points).sum(), points, create_graph=True)
        model.zero_grad()
        ((slope.norm(dim=1) - 1) ** 2).mean().backward()
        return [p.grad for p in model.parameters() if p.grad is not None]

    return run


def hooks(torch: Torch) -> Run:
    """register_hook and retain_grad on the way of a small graph"""

    def run() -> Any:
        seen: list[Any] = []
        x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
        y = x * 2
        y.retain_grad()
        y.register_hook(seen.append)
        z = torch.log(y**2)
        z.register_hook(lambda g: 2 * g)
        z.sum().backward()
        return [x.grad, y.grad, *seen]

    return run


def gradcheck(torch: Torch) -> Run:
    """gradcheck of a small function in float64"""
    torch.manual_seed(0)
    start = torch.randn(4, 3, dtype=torch.double), torch.randn(3, 2, dtype=torch.double)

    def run() -> Any:
        inputs = [t.clone().requires_grad_() for t in start]
        return [float(torch.autograd.gradcheck(lambda a, b: torch.tanh(a @ b).sum(0), inputs))]

    return run


DERIVATIVE_PROGRAMS = [
    *(jacrev, jacfwd, grad_loop, backward_loop, small_jacobians, func_hessian),
    *(functions, gradient_penalty, hooks, gradcheck),
]
