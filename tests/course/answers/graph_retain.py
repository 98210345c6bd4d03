"""Answers to the exercise of "Twice backward", and the feedback that each receives."""

import minigrad


def parts(x):
    h = x**3
    return 2 * h, h**2


def unrepaired(x):
    a, b = parts(x)
    a.backward()
    b.backward()
    return x.grad


def retained(x):
    a, b = parts(x)
    a.backward(retain_graph=True)
    b.backward()
    return x.grad


def retained_last(x):
    a, b = parts(x)
    a.backward()
    b.backward(retain_graph=True)
    return x.grad


def summed(x):
    a, b = parts(x)
    (a + b).backward()
    return x.grad.item()


def anew(x):
    parts(x)[0].backward()
    parts(x)[1].backward()
    return x.grad


def by_grad(x):
    a, b = parts(x)
    return minigrad.autograd.grad(a, x, retain_graph=True)[0] + minigrad.autograd.grad(b, x)[0]


def cut(x):
    h = x**3
    (2 * h).backward()
    h = h.detach().requires_grad_()
    (h**2).backward()
    return x.grad


def emptied(x):
    parts(x)[0].backward()
    x.grad = None
    parts(x)[1].backward()
    return x.grad


def without_return(x):
    retained(x)


ANSWERS = {
    "": [
        (retained, "right"),
        (summed, "right"),
        (anew, "right"),
        (by_grad, "right"),
        (unrepaired, "again"),
        (retained_last, "again"),
        (cut, "only_a"),
        (emptied, "only_b"),
        (without_return, "nothing"),
        (lambda x: 216.0, "other"),
        (lambda x: "216", "other"),
        (lambda: None, "raised"),
        (lambda x: x.no_such_thing, "raised"),
        (minigrad.tensor(216.0), "no_function"),
        (216, "no_function"),
        ("x", "no_function"),
        (None, "no_function"),
        ([1, 2], "no_function"),
    ]
}
