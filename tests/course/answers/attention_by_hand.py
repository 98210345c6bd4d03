"""Answers to the exercise of attention by hand, and the feedback that each receives."""

import minigrad as torch


def changed(scale=True, softmax=True, mean=True):
    def answer(Q, K, V, G):
        root = Q.shape[1] ** 0.5
        P = (Q @ K.T / root).softmax(dim=1)
        S = G @ V.T
        if softmax:
            S = P * (S - (P * S).sum(dim=1, keepdim=True) if mean else S)
        root = root if scale else 1
        return S @ K / root, S.T @ Q / root, P.T @ G

    return answer


def autograd(*given):
    *leaves, G = (each.clone().requires_grad_() for each in given)
    torch.nn.functional.scaled_dot_product_attention(*leaves).backward(gradient=G)
    return [leaf.grad for leaf in leaves]


ANSWERS = {
    "": [
        (changed(), "right"),
        (autograd, "right"),
        (lambda *given: None, "nothing"),
        (lambda *given: autograd(*given)[:2], "nothing"),
        (lambda *given: autograd(*given)[::-1], "shape"),
        (lambda *given: [None, *autograd(*given)[1:]], "shape"),
        (changed(scale=False), "no_scale"),
        (changed(softmax=False), "no_softmax"),
        (changed(mean=False), "no_mean"),
        (lambda *given: [2 * autograd(*given)[0], *autograd(*given)[1:]], "only_values"),
        (lambda *given: [2 * each for each in autograd(*given)], "other"),
        (lambda Q, K, V, G: Q @ K, "raised"),
        (5, "no_function"),
        (None, "no_function"),
    ]
}
