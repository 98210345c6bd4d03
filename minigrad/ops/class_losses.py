"""Losses that pick a class by number."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import F, differentiable, zeros
from ..core.dtypes import of
from .half_precision import MEAN, NONE, SUM, not_implemented, reduced

# ── one class of the scores (N, C) or (C,), or of (N, C, H, W)
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def check_target(self: Any, target: Any, weight: Any) -> None:
    """RuntimeError with PyTorch's text for shapes and dtypes that do not fit."""
    if self.dtype.kind != "f":
        raise not_implemented("nll_loss_out_frame", of(self))
    if target.dtype.kind not in "iu" or target.dtype not in (np.int64, np.uint8):
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {of(target).title}")
    if weight is not None and weight.dtype != self.dtype:
        raise RuntimeError(f"expected scalar type {of(self).title} but found {of(weight).title}")


def one_class(self: Any, target: Any) -> Any:
    """Return the class of the scores (C,), which may be given in a vector; ValueError for a longer one."""
    if self.ndim > 1 or target.ndim == 0:
        return target
    if target.size != 1:
        raise ValueError(f"For 1D input, 1D target must have size 1, but got target size: {target.size}")
    return target.reshape(())


def chosen(target: Any, classes: int, ignore_index: int) -> tuple[Any, Any]:
    """The class of each element, 0 for those to ignore, and which are not to be ignored, None if all are; an
    IndexError for a class that there is not.
    """
    # read without a sign, negative ones are the largest
    unsigned = target.view(np.uint64) if target.dtype == np.int64 else target
    most = np.maximum.reduce(unsigned, axis=None, initial=0)
    if (most < classes or not target.size) and not 0 <= ignore_index < classes:
        return target, None
    used = target != ignore_index
    wrong = used & ((target < 0) | (target >= classes))
    if np.any(wrong):
        raise IndexError(f"Target {np.asarray(target)[wrong].ravel()[0]} is out of bounds.")
    return np.where(used, target, 0), used


def weights_of(index: Any, used: Any, weight: Any, kind: Any) -> Any:
    """Return the weight of each element, 0 for those to ignore; None if it is 1 for all."""
    if used is None:
        return None if weight is None else weight[index]
    weights = kind.type(1) if weight is None else weight[index]
    return np.where(used, weights, kind.type(0)).astype(kind)


def at_class(self: Any, index: Any, axis: int) -> Any:
    """Return the scores of the classes `index`."""
    if self.ndim == 2:
        return self[np.arange(len(self)), index]
    return np.take_along_axis(self, np.expand_dims(index, axis), axis).squeeze(axis)


def likelihoods(self: Any, target: Any, weight: Any, reduction: int, ignore_index: int) -> tuple[Any, Any]:
    """Return the kernel of `nll_loss_forward`: the loss, and the sum of the weights."""
    check_target(self, target, weight)
    axis = 0 if self.ndim == 1 else 1
    target = one_class(self, target)
    index, used = chosen(target, self.shape[axis], ignore_index)
    w = weights_of(index, used, weight, self.dtype)
    picked = at_class(self, index, axis)
    loss = -picked if w is None else -w * picked
    if reduction == NONE and self.ndim > 1:
        return loss, self.dtype.type(0)
    total = self.dtype.type(picked.size) if w is None else reduced(w, SUM)
    out = reduced(loss, SUM)
    return (out / total if reduction == MEAN else out), total


def spread(
    grad_output: Any, self: Any, target: Any, weight: Any, reduction: int, ignore_index: int, total: Any
) -> Any:
    """Return the kernel of `nll_loss_backward`: `-weight · grad_output` at the class, 0 elsewhere."""
    axis = 0 if self.ndim == 1 else 1
    target = one_class(self, target)
    index, used = chosen(target, self.shape[axis], ignore_index)
    w = weights_of(index, used, weight, self.dtype)
    sent = -grad_output if w is None else -w * grad_output
    if reduction == MEAN:
        sent = sent / total
        if used is not None:
            sent = np.where(used, sent, self.dtype.type(0)).astype(self.dtype)
    out = np.zeros(self.shape, self.dtype)
    if self.ndim == 2:
        out[np.arange(len(self)), index] = sent
    else:
        sent = np.broadcast_to(sent, index.shape)
        np.put_along_axis(out, np.expand_dims(index, axis), np.expand_dims(sent, axis), axis)
    return out


def declare(title: str, node: str) -> None:
    """Declare the loss, which is linear in the scores, and its gradient, which is linear in what is sent."""

    def vjp(grads, ignore_index, reduction, self, target, total_weight, weight):
        back = getattr(F, title + "_backward")
        return back(grads[0], self, target, weight, reduction, ignore_index, total_weight)

    def twice(g, ignore_index, reduction, target, weight):
        return getattr(F, title + "_forward")(g, target, weight, reduction, ignore_index)[0]

    @differentiable(
        name=title + "_forward",
        self=vjp,
        several=("output", "total_weight"),
        constants=("total_weight",),
        kernel=likelihoods,
        node=node + "Backward0",
    )
    def forward(self, target, weight, reduction, ignore_index):
        """Return `-weight[t] · self[t]` of the class t, and the sum of weights, by which a mean divides."""

    @differentiable(
        name=title + "_backward",
        grad_output=twice,
        self=zeros,
        linear=True,
        kernel=spread,
        node=node + "BackwardBackward0",
    )
    def backward(grad_output, self, target, weight, reduction, ignore_index, total_weight):
        """Return the gradient of the scores."""


declare("nll_loss", "NllLoss")
declare("nll_loss2d", "NllLoss2D")  # scores (N, C, H, W) of classes (N, H, W)
