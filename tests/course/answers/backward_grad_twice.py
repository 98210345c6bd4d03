"""Answers to the exercise on autograd.grad, and the feedback that each receives."""

from minigrad import autograd


def second(f, x):
    (grad_x,) = autograd.grad(f(x), x, create_graph=True)
    (grad_grad_x,) = autograd.grad(grad_x, x)
    return grad_grad_x


def no_graph(f, x):
    (grad_x,) = autograd.grad(f(x), x)
    return autograd.grad(grad_x, x)[0]


def kept_only(f, x):
    (grad_x,) = autograd.grad(f(x), x, retain_graph=True)
    return autograd.grad(grad_x, x)[0]


def by_backward(f, x):
    f(x).backward(create_graph=True)
    grad_x = x.grad
    x.grad = None
    grad_x.backward()
    return x.grad


def first(f, x):
    return autograd.grad(f(x), x, create_graph=True)[0]


def forgets_return(f, x):
    second(f, x)


ANSWERS = {
    "": [
        (second, "right"),
        (lambda f, x: second(f, x).item(), "right"),
        (no_graph, "no_graph"),
        (kept_only, "no_graph"),
        (by_backward, "stored"),
        (first, "first"),
        (lambda f, x: (second(f, x),), "tuple"),
        (forgets_return, "nothing"),
        (lambda f, x: first(f, x) ** 2, "other"),
        (lambda f, x: 6 * x, "other"),
        (lambda f, x: "12", "other"),
        (lambda f: None, "raised"),
        (lambda f, x: 1 / 0, "raised"),
        (12.0, "no_function"),
        (None, "no_function"),
        ([1, 2], "no_function"),
    ]
}
