"""Activation functions, losses and normalization. See `op_case`."""

from __future__ import annotations

from typing import Any

from op_case import Case


def functional(name: str, inputs: Any = ((2, 3),), low: float = -2, high: float = 2, **how: Any) -> Case:
    """A function of `nn.functional`; what is no field of `Case` is its argument."""
    fields = {k: how.pop(k) for k in ("smooth", "twice", "forward") if k in how}
    return Case(
        name,
        lambda L, *t: getattr(L.nn.functional, name.partition(" ")[0])(*t, **how),
        inputs,
        low,
        high,
        numbers="real",
        **fields,
    )


def of_class(name: str, classes: Any, inputs: Any = ((2, 3),), far: float = 2, **how: Any) -> Case:
    """A loss of scores and classes."""
    return Case(
        name,
        lambda L, a: getattr(L.nn.functional, name.partition(" ")[0])(a, L.tensor(classes), **how),
        inputs,
        -far,
        far,
        numbers="real",
    )


def normed(name: str, shape: Any, parameters: Any, *args: Any, far: float = 2) -> Case:
    """A normalization with weight and bias."""
    return Case(
        name,
        lambda L, x, w, b: getattr(L.nn.functional, name)(x, *args, w, b),
        (shape, parameters, parameters),
        -far,
        far,
        numbers="real",
    )


def with_weights(L: Any, a: Any, b: Any, w: Any) -> Any:
    """Cross entropy of logits with both kinds of weights."""
    entropy = L.nn.functional.binary_cross_entropy_with_logits
    return entropy(a, b, w.detach(), pos_weight=w.detach()[0] + 1)


def of_batch(L: Any, x: Any, w: Any, b: Any) -> Any:
    """Batch normalization that keeps running statistics."""
    mean, var = L.zeros(3, dtype=x.dtype), L.ones(3, dtype=x.dtype)
    return L.nn.functional.batch_norm(x, mean, var, w, b, training=True)


def evaluated(L: Any, x: Any, w: Any, b: Any) -> Any:
    """Batch normalization with given statistics."""
    mean, var = L.full((3,), 0.25, dtype=x.dtype), L.full((3,), 2.0, dtype=x.dtype)
    return L.nn.functional.batch_norm(x, mean, var, w, b)


ONCE: Any = {"twice": False, "forward": False}  # no derivative of the derivative

NETWORKS: list[Case] = [
    functional("elu", alpha=1.5),
    functional("selu"),
    functional("leaky_relu", negative_slope=0.25),
    functional("prelu", ((2, 3), (3,))),
    functional("gelu"),
    functional("gelu by tanh", approximate="tanh"),
    functional("silu"),
    functional("mish"),
    functional("softplus", beta=2, threshold=3),
    functional("logsigmoid"),
    functional("hardtanh", min_val=-0.9, max_val=1.1),
    functional("relu6", low=-9, high=9),
    functional("threshold", threshold=0.3, value=-0.5),
    functional("hardshrink", smooth=False),
    functional("softshrink"),
    functional("tanhshrink"),
    functional("softsign"),
    functional("mse_loss", ((2, 3), (2, 3))),
    functional("mse_loss of each", ((2, 3), (2, 3)), reduction="none"),
    functional("l1_loss", ((2, 3), (2, 3)), reduction="sum"),
    functional("smooth_l1_loss", ((2, 3), (2, 3)), beta=0.7),
    functional("huber_loss", ((2, 3), (2, 3)), delta=0.7),
    functional("binary_cross_entropy", ((2, 3), (2, 3)), 0.1, 0.9, smooth=False),
    functional("binary_cross_entropy_with_logits", ((2, 3), (2, 3))),
    Case("logits with weights", with_weights, ((2, 3), (2, 3), (2, 3)), smooth=False, numbers="real"),
    functional("kl_div", ((2, 3), (2, 3)), 0.1, 0.9, reduction="batchmean"),
    of_class("nll_loss", [2, 0]),
    of_class("nll_loss of a picture", [[[0, 1], [2, -100]]], ((1, 3, 2, 2),), reduction="sum"),
    of_class("cross_entropy", [2, 0], far=0.5),
    of_class("cross_entropy smoothed", [2, 0], far=0.5, label_smoothing=0.1),
    functional("margin_ranking_loss", ((3,), (3,), (3,))),
    functional("triplet_margin_loss", ((2, 3), (2, 3), (2, 3))),
    functional("cosine_similarity", ((2, 3), (2, 3))),
    functional("pairwise_distance", ((2, 3), (2, 3))),
    functional("normalize"),
    normed("layer_norm", (2, 2, 3), (2, 3), (2, 3), far=6),
    normed("group_norm", (1, 4, 3), (4,), 2, far=6),
    Case("batch_norm", of_batch, ((4, 3, 2), (3,), (3,)), -2, 2, numbers="real"),
    Case("batch_norm evaluated", evaluated, ((4, 3, 2), (3,), (3,)), -2, 2, numbers="real"),
    functional("rms_norm", normalized_shape=(3,)),
]
