"""Optimizers that somebody might write, and the feedback that each receives."""

import minigrad as torch


def right(parameters, rate):
    with torch.no_grad():
        for parameter in parameters:
            parameter -= rate * parameter.grad
            parameter.grad = None


def to_zero(parameters, rate):
    for parameter in parameters:
        parameter.data = parameter.data - rate * parameter.grad
        parameter.grad.zero_()


def by_the_library(parameters, rate):
    optimizer = torch.optim.SGD(parameters, lr=rate)
    optimizer.step()
    optimizer.zero_grad()


def uphill(parameters, rate):
    with torch.no_grad():
        for parameter in parameters:
            parameter += rate * parameter.grad


def unmoved(parameters, rate):
    for parameter in parameters:
        parameter = parameter - rate * parameter.grad


def first_only(parameters, rate):
    with torch.no_grad():
        parameters[0].sub_(rate * parameters[0].grad)


def without_rate(parameters, rate):
    with torch.no_grad():
        for parameter in parameters:
            parameter -= parameter.grad
            parameter.grad = None


def kept(parameters, rate):
    with torch.no_grad():
        for parameter in parameters:
            parameter -= rate * parameter.grad


def recorded(parameters, rate):
    for parameter in parameters:
        parameter -= rate * parameter.grad


def emptied(parameters, rate):
    for parameter in parameters:
        parameter.data = torch.zeros(3)


ANSWERS = {
    "": [
        (right, "right"),
        (to_zero, "right"),
        (by_the_library, "right"),
        (uphill, "uphill"),
        (unmoved, "unmoved"),
        (first_only, "first_only"),
        (without_rate, "rate"),
        (kept, "kept"),
        (recorded, "raised"),
        (len, "raised"),
        (emptied, "other"),
        ("x", "no_function"),
        (None, "no_function"),
        ([1, 2], "no_function"),
        (int, "no_function"),
    ]
}
