"""Answers to the exercise of the training on digits, and the feedback that each receives."""

import minigrad
from minigrad.autograd import grad


def of_copy(image):
    return image.clone().requires_grad_()


def by_grad(model, image, digit):
    image = of_copy(image)
    return grad(model(image)[0, digit], image)[0]


def by_backward(model, image, digit):
    image = of_copy(image)
    model(image)[0, digit].backward()
    return image.grad


def from_there(model, image, root, start=None):
    image.grad = None
    root(model(image.requires_grad_())).backward(start)
    return image.grad


def through_weights(model, image, digit):
    image = of_copy(image)
    model(image)[0, digit].backward()
    return next(model.parameters()).grad


def in_place(model, image, digit):
    model(image.requires_grad_())[0, digit].backward()
    return image.grad.clone()


def forgotten(model, image, digit):
    model(image)[0, digit].backward()
    return image.grad


def detached(model, image, digit):
    image = of_copy(image)
    return grad(model(image.detach())[0, digit], image)[0]


def loss(model, image, digit):
    image = of_copy(image)
    return grad(minigrad.nn.functional.cross_entropy(model(image), minigrad.tensor([digit])), image)[0]


ANSWERS = {
    "": [
        (by_grad, "right"),
        (by_backward, "right"),
        (lambda model, image, digit: from_there(model, image, lambda scores: scores[0, digit]), "right"),
        (lambda model, image, digit: grad(model(image)[0, digit], image)[0], "not_asked"),
        (detached, "not_asked"),
        (forgotten, "unfinished"),
        (lambda model, image, digit: ..., "unfinished"),
        (lambda model, image, digit: model(of_copy(image))[0, digit].backward(), "unfinished"),
        (lambda model, image, digit: (by_grad(model, image, digit),), "tuple"),
        (lambda model, image, digit: from_there(model, image, lambda scores: scores), "no_root"),
        (in_place, "added"),
        (lambda model, image, digit: from_there(model, image, lambda scores: scores.sum()), "all_scores"),
        (loss, "loss"),
        (through_weights, "shape"),
        (lambda model, image, digit: by_grad(model, image, digit)[0, 0], "shape"),
        (lambda model, image, digit: model(image), "shape"),
        (lambda model, image, digit: image, "other"),
        (lambda model, image, digit: -by_grad(model, image, digit), "other"),
        (lambda model, image, digit: 3.0, "other"),
        (lambda model, image, digit: model, "other"),
        (lambda image: image, "raised"),
        (lambda model, image, digit: image.nothing, "raised"),
        (int, "raised"),
        ("sensitivity", "no_function"),
        ([1, 2], "no_function"),
        (None, "no_function"),
        (minigrad.tensor(1.0), "no_function"),
    ]
}
