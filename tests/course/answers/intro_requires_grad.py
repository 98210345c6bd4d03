"""Answers to the exercise on requires_grad, and the feedback that each receives."""

import minigrad as torch


def keyword(numbers):
    return torch.tensor(numbers, dtype=torch.float, requires_grad=True)


def method(numbers):
    return torch.tensor(numbers).double().requires_grad_()


def parameter(numbers):
    return torch.nn.Parameter(torch.FloatTensor(numbers))


def complex_numbers(numbers):
    return torch.tensor([number + 0j for number in numbers], requires_grad=True)


def converted_late(numbers):
    return torch.tensor([float(number) for number in numbers], requires_grad=True).double()


def not_asked(numbers):
    return torch.tensor(numbers).float()


def whole(numbers):
    return torch.tensor(numbers)


def whole_asks(numbers):
    return torch.tensor(numbers, requires_grad=True)


def other_numbers(numbers):
    return torch.tensor([4.0], requires_grad=True)


def column(numbers):
    return torch.tensor([[float(number)] for number in numbers], requires_grad=True)


def nothing(numbers):
    torch.tensor(numbers, dtype=torch.float, requires_grad=True)


ANSWERS = {
    "": [
        (keyword, "right"),
        (method, "right"),
        (parameter, "right"),
        (complex_numbers, "right"),
        (converted_late, "not_a_leaf"),
        (not_asked, "not_asked"),
        (whole, "whole"),
        (whole_asks, "raised"),
        (lambda: None, "raised"),
        (other_numbers, "values"),
        (column, "values"),
        (nothing, "no_tensor"),
        (list, "no_tensor"),
        (keyword([1, 2, 3]), "no_function"),
        ("x", "no_function"),
        (None, "no_function"),
        ([1, 2, 3], "no_function"),
    ]
}
